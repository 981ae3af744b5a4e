"""Runs a command as the shell would."""

from __future__ import annotations

from dignn.cli import main


def run(*arguments: object) -> int:
    """The exit code."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as leaving:  # tyro's own exits: --help, wrong usage
        return int(leaving.code or 0)
