"""Help that can be read, and one sentence with the right word for every wrong one."""

from __future__ import annotations

import re

import pytest

from command_line import run
from dignn import __version__
from dignn.cli.application import application

NAMES = [name for name in application() if not name.startswith("-")]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("explian dblp", "There is no command called 'explian' (did you mean 'explain'?); choose from demo, explain"),
        ("zzz", "There is no command called 'zzz'; choose from demo"),
        ("--quiet demo", "The command comes first and options like --quiet after it"),
        (
            "explain dblp --sede 3",
            "explain has no option --sede (did you mean '--seed'?); `dignn explain --help` lists",
        ),
        ("explain --sede 3", "explain has no option --sede (did you mean '--seed'?)"),
        ("explain dblp --sede=3", "explain has no option --sede (did you mean '--seed'?)"),
        ("explain dblp --ditabddpm.nois x", "(did you mean '--ditabddpm.noise'?); `dignn explain --help-all` lists"),
        ("explain dblp -x", "explain has no option -x; "),
        ("train dblp imdb", "train does not know what 'imdb' is for; leave it out"),
        ("explain", "explain needs NAME: data set, see `dignn datasets`, or data file; `dignn explain --help`"),
        ("metrics real.json", "metrics needs GENERATED: generated ones, in the same format"),
        ("report", "report needs RUN: run folder of `dignn explain`"),
        ("explain dblp --seed x", "--seed cannot be 'x'; give a whole number"),
        ("explain dblp --refined x", "--refined cannot be 'x'; give a number"),
        ("explain dblp --seed 2.5", "--seed cannot be '2.5'; give a whole number"),
        ("explain dblp --sizes 8 9.5", "--sizes cannot be '9.5'; give a whole number"),
        ("explain dblp --seed", "--seed needs a value"),
        ("explain dblp --sizes --quiet", "--sizes needs a value"),
        ("explain dblp --seed 1 --seed 2", "--seed is given twice; give it once"),
        ("explain dblp --quiet=x", "--quiet is a switch and takes no value like 'x'"),
        ("explain dblp --no-quiet", "explain has no option --no-quiet (did you mean '--quiet'?)"),
        ("explain dblp --sizes a", "--sizes cannot be 'a'"),
        ("explain dblp --form strng", "--form cannot be 'strng' (did you mean 'strong'?); choose from strong, paper"),
        ("explain dblp --selection higest", "(did you mean 'highest'?); choose from representative, typical, highest"),
        ("explain dblp --ditabddpm.noise marginl", "--ditabddpm.noise cannot be 'marginl' (did you mean 'marginal'?)"),
        ("metrics a b --kind binry", "--kind cannot be 'binry' (did you mean 'binary'?)"),
        ("export runs/dblp --format grapml", "(did you mean 'graphml'?)"),
        (
            "explain dblp --preset fsat",
            "There is no preset of dignnexplainer called 'fsat' (did you mean 'fast'?); choose from fast,",
        ),
        ("demo --preset=fsat", "There is no preset of dignnexplainer called 'fsat' (did you mean 'fast'?)"),
        ("explain dblp --tabddpm.training.steps 0", "tabddpm.training: steps is 0; it must be at least 1"),
        ("explain dblp --node-growth.width 0", "node-growth: "),
        ("explain dblp --top-k 0", "top_k is 0; it must be at least 1"),
    ],
)
def test_a_mistake_is_one_sentence(line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*line.split()) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.err.startswith("dignn: ")
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""


def test_a_wrong_target_names_the_right_one(home: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "authors.pt", "--model", "gnn.py:load", "--target", "autor", "--quiet") == 2
    assert "Target 'autor' is not a node type (did you mean 'author'?)" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_the_overview_says_where_to_begin_and_names_every_command(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 0
    shown = capsys.readouterr().out
    assert shown.index("Begin here\n  dignn demo\n") < shown.index("Commands that explain")
    for name in NAMES:
        assert re.search(rf"^  {name} +[A-Z]", shown, re.MULTILINE)


@pytest.mark.parametrize("width", [60, 90, 300])
@pytest.mark.parametrize("name", NAMES)
def test_help_has_an_example_every_option_and_lines_that_fit(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(name, "--help") == 0
    shown = capsys.readouterr().out
    assert "Example: dignn " in shown
    assert "--quiet" in shown
    assert "--json" in shown
    assert not re.search(r"[╭│╰─]|None|\n\n\n|default: \)", shown)
    text = [line for line in shown.splitlines() if not line.startswith("  -")]  # an option cannot be broken
    assert max(map(len, text)) <= min(width, 100)


def test_settings_of_generators_are_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "--help") == 0
    short = capsys.readouterr().out
    assert "--structure NAME" in short
    assert "--ditabddpm.noise" not in short
    assert "dignn explain --help-all" in " ".join(short.split())
    assert short.index("--model") < short.index("--structure")
    assert run("explain", "--help-all") == 0
    everything = capsys.readouterr().out
    assert "--ditabddpm.noise {auto,absorbing,marginal}" in everything
    assert "--tabddpm.training.steps INT" in everything


def test_help_can_be_a_word_before_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("help", "export") == 0
    assert capsys.readouterr().out.startswith("usage: dignn export")
    assert run("help", "exprt") == 2
    assert "did you mean 'export'?" in capsys.readouterr().err


def test_help_shows_the_values_of_the_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "--preset", "paper", "--help") == 0
    assert "(default: edge-diffusion)" in " ".join(capsys.readouterr().out.split())


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"dignn {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_be_taught_to_complete(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--print-completion", shell) == 0
    script = capsys.readouterr().out
    for word in ("datasets", "node-growth.width", "log_probs"):
        assert word in script
    assert run("--print-completion", "bsh") == 2
    assert "SHELL cannot be 'bsh' (did you mean 'bash'?)" in capsys.readouterr().err
