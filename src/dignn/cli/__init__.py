"""The command line: one file per command, collected in :func:`commands`; :func:`main` runs them.

Nothing here imports torch before a command runs, so that ``dignn --help`` answers at once.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tyro
from rich.text import Text

from dignn import __version__
from dignn.cli import datasets, evaluate, explain, export, metrics, report, train
from dignn.cli.arguments import ALL, HELP, asks_for_help, help_of, read
from dignn.cli.options import preset_of
from dignn.cli.overview import overview
from dignn.cli.signals import Terminated, termination_interrupts
from dignn.console import err, out, say
from dignn.errors import DignnError
from dignn.suggestions import did_you_mean

# As a program ends that SIGPIPE ends; not every system has that signal.
PIPE_CLOSED = 141
# Longer lines are hard to read.
WIDEST = 100


def commands(preset: str) -> dict[str, Callable[..., Any]]:
    """Every command by name; those that take settings have the preset's as defaults."""
    return {
        "demo": explain.demo_with(preset),
        "explain": explain.explain_with(preset),
        "report": report.report,
        "export": export.export,
        "evaluate": evaluate.evaluate,
        "metrics": metrics.metrics,
        "train": train.train,
        "datasets": datasets.datasets,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; a user's mistake gives one sentence and the exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        try:
            return _run(given)
        finally:
            sys.stdout.flush()  # here, because nobody could catch what it raises when Python ends
    except BrokenPipeError:
        # Whoever reads has read enough, as in `dignn explain --help | head`. What is left to write goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED


def _run(given: list[str]) -> int:
    try:
        with termination_interrupts():
            _dispatch(given)
    except DignnError as error:
        err.print(f"dignn: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt as error:
        err.print("dignn: stopped; the same command goes on where it stopped", soft_wrap=True)
        return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)
    return 0


def _dispatch(given: list[str]) -> None:
    if given[:1] == ["help"]:  # as other programs have it: `dignn help`, `dignn help explain`
        given = [*given[1:], HELP[1]]
    known = commands(preset_of(given))
    first = given[0] if given else HELP[0]
    if first == "--version":
        say(f"dignn {__version__}")
    elif first.startswith("--tyro-"):  # completion for shells
        tyro.extras.subcommand_cli_from_dict(known, prog="dignn", args=given)
    elif first in (*HELP, ALL):
        _show_help(overview(known, _width()))
    elif first not in known:
        raise _unknown_command(first, known)
    elif asks_for_help(given):
        _show_help(help_of(first, known[first], _width(), everything=ALL in given))
    else:
        read(first, known[first], given[1:])()


def _unknown_command(word: str, known: dict[str, Callable[..., Any]]) -> DignnError:
    if word.startswith("-"):
        return DignnError(f"The command comes first and options like {word} after it; for example: dignn demo --quiet")
    return DignnError(f"There is no command called '{word}'{did_you_mean(word, known)}; choose from {', '.join(known)}")


def _width() -> int:
    return min(WIDEST, shutil.get_terminal_size().columns)


def _show_help(text: str) -> None:
    """Headings and options stand out in a terminal."""
    shown = Text(text)
    shown.highlight_regex(r"(?m)^(?! |usage|$)\S[^.:`]*$", "bold")
    shown.highlight_regex(r"(?<![\w-])--?[a-z][\w.-]*", "cyan")
    shown.highlight_regex(r"\(default: [^)]*\)", "dim")
    out.print(shown, soft_wrap=True, end="")
