"""What is printed: links only in a terminal, messages in one line each, one JSON object and nothing else."""

from __future__ import annotations

import json
import logging
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from dignn.cli import console
from dignn.cli.working import working


@pytest.mark.parametrize("terminal", [True, False])
def test_a_path_is_a_link_in_a_terminal_only(terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = StringIO()
    monkeypatch.setattr(console, "out", Console(file=file, force_terminal=terminal, width=40, color_system="truecolor"))
    path = tmp_path / "a folder [bold]with a long name[/bold] that needs more than a line" / "report.html"
    console.say_path("Report", path)
    shown = file.getvalue()
    assert (path.as_uri() in shown) is terminal
    if not terminal:
        assert shown == f"Report: {path}\n"


def test_a_message_is_one_line_and_warnings_are_always_shown(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("dignn.somewhere")
    for quiet in (False, True):
        with working(quiet, json=False):
            logger.info("doing [something] " + "x" * 200)
            logger.warning("a [warning]")
        shown = capsys.readouterr().err.splitlines()
        assert shown == ([] if quiet else ["doing [something] " + "x" * 200]) + ["a [warning]"]


def test_what_a_users_model_prints_does_not_get_between(capsys: pytest.CaptureFixture[str]) -> None:
    with working(quiet=False, json=True) as progress, progress.stage("Training the model"):
        sys.stdout.write("weights loaded\n")
    console.say_json({"name": "“x”", "none": None})
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"name": "“x”", "none": None}
    assert shown.err == "weights loaded\n"
