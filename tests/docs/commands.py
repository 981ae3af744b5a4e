"""Commands of shell blocks, each run or checked without the network.

======================  =====================================================================================
``dignn ...``           runs, through the real command line
``python FILE.py ...``  an example runs; of a benchmark the real parser reads the arguments
``python -m ...``       the same for modules of benchmarks; for pytest, the files exist
``make TARGET``         ``make -n TARGET``: there is such a target, and make knows all that it depends on
``pip install ...``     of this project (``.`` or ``.[extra]``): pyproject.toml has the extra; nothing is fetched
``export NAME=VALUE``   holds for the rest of the page
======================  =====================================================================================

Anything else fails.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from command_line import run

ROOT = Path(__file__).parents[2]


class _Parsed(Exception):  # noqa: N818 (no error: what is to be checked has been)
    """A program has read its arguments."""


def split(text: str) -> list[list[str]]:
    """The commands of a block as lists of words: comments left out, lines that end with a backslash joined."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [words for line in joined.splitlines() if (words := shlex.split(line, comments=True))]


def check(words: list[str]) -> None:
    """Runs or checks one command; raises where it would not do what the page says."""
    if words[0] not in _CHECKS:
        raise AssertionError(f"nothing checks the command '{' '.join(words)}'; teach tests/docs/commands.py to")
    _CHECKS[words[0]](words[1:])


def _dignn(arguments: list[str]) -> None:
    code = run(*arguments)
    assert code == 0, f"dignn {' '.join(arguments)} ends with {code}"


def _python(arguments: list[str]) -> None:
    if arguments[:2] == ["-m", "pytest"]:
        _pytest(arguments[2:])
    elif arguments[0] == "-m" and arguments[1].split(".")[0] == "benchmarks":
        _parse(arguments[1].replace(".", "/") + ".py", arguments[2:])
    elif arguments[0].startswith("benchmarks/"):
        _parse(arguments[0], arguments[1:])
    elif arguments[0].startswith("examples/"):
        with mock.patch.object(sys, "argv", arguments):
            runpy.run_path(str(ROOT / arguments[0]), run_name="__main__")
    else:
        raise AssertionError(f"nothing checks 'python {' '.join(arguments)}'; teach tests/docs/commands.py to")


def _parse(path: str, arguments: list[str]) -> None:
    """Lets a program of benchmarks/ read its arguments by its own parser, and stops it there."""
    read = argparse.ArgumentParser.parse_args

    def stop(parser: argparse.ArgumentParser, *rest: object) -> None:
        read(parser)
        raise _Parsed

    with (
        mock.patch.object(sys, "argv", [path, *arguments]),
        mock.patch.object(sys, "path", [str(ROOT), *sys.path]),
        mock.patch.object(argparse.ArgumentParser, "parse_args", stop),
    ):
        try:
            runpy.run_path(str(ROOT / path), run_name="__main__")
        except _Parsed:
            return
    raise AssertionError(f"{path} read no arguments")


def _pytest(arguments: list[str]) -> None:
    named = [word for word in arguments if word.startswith("tests")]
    assert named, "name the tests to run"
    for word in named:
        assert (ROOT / word.split("::")[0]).exists(), f"there is no {word}"


def _make(arguments: list[str]) -> None:
    done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _pip(arguments: list[str]) -> None:
    assert arguments[0] == "install", "only pip install"
    assert len(arguments) == 2, "one thing to install"
    project = re.fullmatch(r"\.(?:\[(.+)\])?", arguments[1])
    assert project is not None, f"{arguments[1]} is not this project"
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert told["build-system"]["build-backend"]
    for extra in (project[1] or "").split(","):
        assert not extra or extra in told["project"]["optional-dependencies"], f"there is no extra '{extra}'"


def _export(arguments: list[str]) -> None:
    for word in arguments:
        name, equals, value = word.partition("=")
        assert name.isidentifier(), f"{name} is no name of a variable"
        assert equals, f"{name} gets no value"
        os.environ[name] = value


_CHECKS: dict[str, Callable[[list[str]], None]] = {
    "dignn": _dignn,
    "python": _python,
    "make": _make,
    "pip": _pip,
    "export": _export,
}
