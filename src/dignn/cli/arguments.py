"""Reads the words behind a command. What is wrong with them is said in one sentence, with the right word."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tyro

from dignn.cli.helptext import plain_help, words_in_boxes
from dignn.errors import DignnError
from dignn.suggestions import did_you_mean

HELP, ALL = ("-h", "--help"), "--help-all"
# Wide enough that no message is broken into lines.
UNBROKEN = 10_000
# So wide is help drawn before it is brought to the width of the terminal; wider, it would have two columns.
DRAWN = 120
NO_NUMBER = {"invalid literal for int": "a whole number", "could not convert string to float": "a number"}


def read(name: str, command: Callable[..., None], given: Sequence[str]) -> Callable[[], None]:
    """The command with what it was given, ready to be called.

    Raises:
        DignnError: something that was given is unknown or makes no sense, or something is missing.
        SystemExit: what was given asks for something else, which was done.
    """
    told = io.StringIO()
    try:
        with _columns(UNBROKEN), contextlib.redirect_stderr(told), contextlib.redirect_stdout(_Utf8()):
            ready, unknown = tyro.cli(
                _remembering(command), prog=f"dignn {name}", args=list(given), return_unknown_args=True
            )
    except SystemExit as leaving:
        if leaving.code in (0, None):
            raise
        raise _explained(name, command, given, leaving, told.getvalue()) from leaving
    if unknown:
        raise _unknown(name, command, given) or _surplus(name, unknown)
    return ready


def help_of(name: str, command: Callable[..., None], width: int, *, everything: bool) -> str:
    """What ``dignn NAME --help`` shows, or with ``everything`` ``--help-all``."""
    return plain_help(_help(name, command, DRAWN), name, width, everything=everything)


def asks_for_help(given: Sequence[str]) -> bool:
    return any(word in (*HELP, ALL) for word in given)


def _help(name: str, command: Callable[..., None], width: int) -> str:
    shown = _Utf8()
    with _columns(width), contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        tyro.cli(_remembering(command), prog=f"dignn {name}", args=["--help"])
    return shown.getvalue()


class _Utf8(io.StringIO):
    """In place of standard output, whose encoding decides whether there are boxes around what is said."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"


def _remembering(command: Callable[..., None]) -> Callable[..., Any]:
    """A function like ``command`` that does nothing yet, so that it is not called with half of what was given."""

    @functools.wraps(command)
    def remember(*given: Any, **named: Any) -> Callable[[], None]:
        return functools.partial(command, *given, **named)

    return remember


@contextlib.contextmanager
def _columns(width: int) -> Iterator[None]:
    """As if the terminal were so wide."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(width)
    try:
        yield
    finally:
        del os.environ["COLUMNS"]
        if before is not None:
            os.environ["COLUMNS"] = before


# -- one sentence for each mistake ------------------------------------------------------------------------


def _explained(
    name: str, command: Callable[..., None], given: Sequence[str], leaving: BaseException, told: str
) -> DignnError:
    """Why the words could not be read."""
    words = words_in_boxes(told)
    return (
        _unknown(name, command, given)
        or _refused(leaving, words)
        or _no_choice(words)
        or _no_number(words)
        or _no_value(name, words)
        or _missing(name, words)
        or DignnError(f"{words}; `dignn {name} --help` shows what there is")
    )


def _unknown(name: str, command: Callable[..., None], given: Sequence[str]) -> DignnError | None:
    """The first option that the command does not have."""
    known = set(re.findall(r"(?<![\w-])--?[a-z][\w.-]*", _help(name, command, UNBROKEN)))
    for word in given[: given.index("--")] if "--" in given else given:
        option = word.partition("=")[0].replace("_", "-")
        if re.match(r"--?[A-Za-z]", option) and option not in known:
            guess = did_you_mean(option, known)
            every = ALL if "." in option else HELP[1]
            return DignnError(f"{name} has no option {option}{guess}; `dignn {name} {every}` lists all")
    return None


def _surplus(name: str, unknown: Sequence[str]) -> DignnError:
    return DignnError(f"{name} does not know what '{unknown[0]}' is for; leave it out (see `dignn {name} --help`)")


def _refused(leaving: BaseException, words: str) -> DignnError | None:
    """The sentence of a setting that makes no sense, with the group of settings that it is of."""
    cause: BaseException | None = leaving
    while cause is not None:
        if isinstance(cause, DignnError):
            found = re.search(r"config\.([\w.-]+): ", words)
            return cause if found is None else DignnError(f"{found[1].replace('_', '-')}: {cause}")
        cause = cause.__context__
    return None


def _no_choice(words: str) -> DignnError | None:
    found = re.search(r"invalid choice '(.*)' for argument '?(--[\w.-]+|[A-Z]+)'?\. Expected one of \((.*?),?\)", words)
    if found is None:
        return None
    choices = [choice for choice in re.findall(r"'([^']*)'", found[3]) if choice != "None"]
    guess = did_you_mean(found[1], choices)
    return DignnError(f"{found[2]} cannot be '{found[1]}'{guess}; choose from {', '.join(choices)}")


def _no_number(words: str) -> DignnError | None:
    found = re.search(
        r"Error parsing (--[\w.-]+).*?: (invalid literal for int|could not convert string to float).*'(.*)'", words
    )
    return None if found is None else DignnError(f"{found[1]} cannot be '{found[3]}'; give {NO_NUMBER[found[2]]}")


def _no_value(name: str, words: str) -> DignnError | None:
    """A value that is not there, or that is none of those that the option may have."""
    absent = re.search(r"Missing value for argument '?(--[\w.-]+)", words)
    if absent is not None:
        return DignnError(f"{absent[1]} needs a value; `dignn {name} --help` says which")
    wrong = re.search(r"Error parsing (--[\w.-]+).*? instantiated from \[(.*?)\]", words)
    return (
        None
        if wrong is None
        else DignnError(f"{wrong[1]} cannot be {wrong[2]}; `dignn {name} --help` says what it can be")
    )


def _missing(name: str, words: str) -> DignnError | None:
    found = re.search(r"Missing from dignn [\w-]+: ([A-Z]+) (.*?)\.?( \(required\))?$", words)
    if found is None:
        return None
    return DignnError(f"{name} needs {found[1]}: {found[2]}; `dignn {name} --help` shows an example")
