"""Runs a command as the shell would."""

from __future__ import annotations

from dignn.cli.main import main


def run(*arguments: object) -> int:
    """The exit code."""
    return main([str(argument) for argument in arguments])
