"""The command line: one file per command, collected in :func:`commands`; :func:`main` runs them.

Nothing here imports torch before a command runs, so that ``dignn --help`` answers at once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tyro

from dignn.cli import datasets, evaluate, explain, metrics, train
from dignn.cli.options import preset_of
from dignn.cli.signals import Terminated, termination_interrupts
from dignn.console import err
from dignn.errors import DignnError

# As a program ends that SIGPIPE ends; not every system has that signal.
PIPE_CLOSED = 141


def commands(preset: str) -> dict[str, Callable[..., Any]]:
    """Every command by name; those that take settings have the preset's as defaults."""
    return {
        "demo": explain.demo_with(preset),
        "explain": explain.explain_with(preset),
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
            tyro.extras.subcommand_cli_from_dict(
                commands(preset_of(given)),
                prog="dignn",
                description="Explains trained graph neural networks: what does the model think a class looks like?",
                args=given,
            )
    except DignnError as error:
        err.print(f"dignn: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt as error:
        err.print("dignn: stopped; the same command goes on where it stopped", soft_wrap=True)
        return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)
    return 0
