"""One sentence for each mistake in the words of a command, with the right word."""

from __future__ import annotations

from typing import get_args

from cyclopts import CycloptsError
from cyclopts.exceptions import (
    CoercionError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from dignn.core.errors import DignnError
from dignn.core.suggestions import did_you_mean, not_known

NUMBER_WORDS: dict[object, str] = {int: "a whole number", float: "a number"}


def sentence(error: CycloptsError) -> DignnError:
    """What was wrong and what to do."""
    command = " ".join(error.command_chain or ())
    if isinstance(error, UnknownCommandError):
        return _unknown_command(error)
    if isinstance(error, UnknownOptionError):
        return _unknown_option(error, command)
    if isinstance(error, UnusedCliTokensError):
        word = (error.unused_tokens or [""])[0]
        return DignnError(f"{command} does not know what '{word}' is for; leave it out (see `dignn {command} --help`)")
    if isinstance(error, RepeatArgumentError):
        return DignnError(f"{error.token.keyword} is given twice; give it once")
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.argument.name
        if name.startswith("-"):
            return DignnError(f"{name} needs a value; `dignn {command} --help` says which")
        return DignnError(f"{command} needs {name}: {_help(error)}; `dignn {command} --help` shows an example")
    if isinstance(error, CoercionError) and error.argument is not None and error.token is not None:
        return _wrong_value(error.argument.name, error.token.value, error.target_type)
    error.verbose = False
    return DignnError(f"{str(error).rstrip('.')}; `dignn {command} --help` shows what there is")


def _help(error: MissingArgumentError) -> str:
    """What the docstring of a command says about an argument that is missing."""
    assert error.app is not None  # there is no argument without a command
    assert error.argument is not None
    known = error.app.assemble_argument_collection(parse_docstring=True)
    texts = [argument.parameter.help or "" for argument in known if argument.name == error.argument.name]
    return " ".join(texts[0].rstrip(".").split())


def _unknown_command(error: UnknownCommandError) -> DignnError:
    word, known = (error.unused_tokens or [""])[0], [name for name in error.app or () if not name.startswith("-")]
    if word.startswith("-"):
        return DignnError(f"The command comes first and options like {word} after it; for example: dignn demo --quiet")
    return DignnError(not_known("command", word, known))


def _unknown_option(error: UnknownOptionError, command: str) -> DignnError:
    option = (error.token.keyword or error.token.value).partition("=")[0]
    known = [name for argument in error.argument_collection for name in argument.names if name.startswith("-")]
    every = "--help-all" if "." in option else "--help"
    guess = did_you_mean(option, known)
    whose = ", with --explainer NAME those of an explainer" if "--explainer" in known else ""
    return DignnError(f"{command} has no option {option}{guess}; `dignn {command} {every}` lists all{whose}")


def _wrong_value(option: str, value: str, kind: object) -> DignnError:
    if kind in NUMBER_WORDS:
        return DignnError(f"{option} cannot be '{value}'; give {NUMBER_WORDS[kind]}")
    choices = [str(choice) for choice in get_args(kind)]
    if not choices:
        return DignnError(f"{option} is a switch and takes no value like '{value}'; give it alone, or leave it out")
    return DignnError(f"{option} cannot be '{value}'{did_you_mean(value, choices)}; choose from {', '.join(choices)}")
