"""Every command, and how words become a call of one."""

from __future__ import annotations

import functools
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

from cyclopts import App, ArgumentCollection, CycloptsError, Group, Parameter
from cyclopts.exceptions import CoercionError
from rich.console import Console

from dignn import __version__
from dignn.cli import benchmark, compare, datasets, evaluate, explain, export, metrics, report, reproduce, train
from dignn.cli.help_page import HelpPage
from dignn.cli.mistakes import sentence
from dignn.cli.options import settings_among
from dignn.cli.settings_options import groups_in, with_settings

HELP, ALL = ("--help", "-h"), "--help-all"
OVERVIEW = """dignn explains trained graph neural networks: what does the model think a class looks like?

Begin here
  dignn demo
      a report in about two minutes, without any download

Then
  dignn explain dblp --download
      a data set by name, and dignn's own model of it
  dignn explain data.pt --model my_gnn.py:load --target author
      your own graphs and model
"""
LAST = (
    "`dignn COMMAND --help` explains a command, with an example. `dignn --version` says which dignn this is. "
    "`dignn --print-completion SHELL` prints what makes bash, zsh, fish or powershell complete options."
)
# Longer lines are hard to read.
WIDEST = 100


def read(given: Sequence[str]) -> Callable[[], Any]:
    """What the words behind ``dignn`` ask for, ready to be called.

    Raises:
        DignnError: something that was given is unknown or makes no sense, or something is missing.
    """
    words = [*given[1:], HELP[0]] if given[:1] == ["help"] else list(given)  # as other programs have it
    app = application(words)
    try:
        command, bound, _ = app.parse_args(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        raise sentence(error) from error
    return functools.partial(command, *bound.args, **bound.kwargs)


def application(given: Sequence[str] = ()) -> App:
    """All commands; the settings of ``explain`` have the values of the preset that is among the words ``given``."""
    app = App(
        name="dignn",
        help=OVERVIEW,
        help_epilogue=LAST,
        help_flags=(*HELP, ALL),
        help_format="plaintext",
        help_formatter=HelpPage(),
        version=f"dignn {__version__}",
        version_format="plaintext",
        version_flags="--version",
        console=Console(width=min(WIDEST, shutil.get_terminal_size().columns), highlight=False),
        group_commands=Group("", show=False),
        group_arguments=Group("What to give", sort_key=1),
        group_parameters=Group("Options", sort_key=2),
        default_parameter=Parameter(negative_iterable=()),
        config=_whole_numbers,
    )
    app.command(print_completion, name="--print-completion", show=False)
    everything = ALL in given
    settings = settings_among(given if "explain" in given[:2] else ())  # other commands have no options of settings
    groups = "" if everything else groups_in(settings)
    more = f"Settings of {groups} are shown by: dignn explain {ALL}" if groups else ""
    commands: dict[str, list[Callable[..., None]]] = {
        "Commands that explain": [
            explain.demo,
            with_settings(explain.explain, settings, everything=everything),
            compare.compare,
        ],
        "Commands that take a finished run": [report.report, export.export, evaluate.evaluate],
        "More commands": [datasets.datasets, train.train, metrics.metrics, benchmark.benchmark, reproduce.reproduce],
    }
    for number, (title, several) in enumerate(commands.items(), start=1):
        group = Group(title, sort_key=number)
        for place, command in enumerate(several):
            last = more if command.__name__ == explain.explain.__name__ else ""
            app.command(command, group=group, sort_key=place, help_epilogue=last)
    return app


def print_completion(shell: Literal["bash", "zsh", "fish", "powershell"], /) -> None:
    """Print a script that makes a shell complete commands and options.

    Args:
        shell: whose.
    """
    sys.stdout.write(application([ALL]).generate_completion(shell=shell))


def _whole_numbers(app: App, commands: Sequence[str], arguments: ArgumentCollection) -> None:
    """Refuses 2.5 where a whole number is wanted: the parser would round it."""
    for argument in arguments:
        if _is_whole(argument.hint):
            for token in argument.tokens:
                if not token.value.removeprefix("-").isdecimal() and token.value.lower() != "none":
                    raise CoercionError(argument=argument, token=token, target_type=int)


def _is_whole(hint: Any) -> bool:
    return hint is int or any(_is_whole(part) for part in get_args(hint))
