"""An option for every setting of any dataclass, and presets whose other values stay."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pytest
from cyclopts import App

from dignn.cli import explain
from dignn.cli.application import read
from dignn.cli.settings_options import changed_settings, groups_in, with_settings
from dignn.core.errors import DignnError
from dignn.explainers.methods.dignnexplainer.settings import PRESETS


@dataclass(frozen=True)
class Inner:
    """Of the inside.

    Args:
        depth: how deep.
        deep: whether it is.
    """

    depth: int = 1
    deep: bool = True

    def __post_init__(self) -> None:
        if self.depth < 0:
            raise DignnError(f"depth is {self.depth}; it must be 0 or more")


@dataclass(frozen=True)
class Parent:
    """Of many.

    Args:
        colour: of it.
    """

    colour: Literal["red", "blue"] = "red"


@dataclass(frozen=True)
class Outer(Parent):
    """Of one.

    Args:
        name: of it.
        sizes: of it.
        limit: none for no limit.
        first: its beginning.
        second_part: its end.
    """

    name: str = "x"
    sizes: tuple[int, ...] | None = None
    limit: int | None = None
    first: Inner = field(default_factory=Inner)
    second_part: Inner = field(default_factory=Inner)


def given(settings: Any, *words: str) -> Any:
    """The settings that a command is called with."""
    kept: list[Any] = []

    def command(*, config: Any, quiet: bool = False) -> None:
        """Keep the settings."""
        kept.append(config)

    app = App(result_action="return_value")
    app.default(with_settings(command, settings, everything=True))
    app(list(words), exit_on_error=False, print_error=False)
    return kept[0]


USUAL = Outer("blue", "y", (4, 5), 7, Inner(2, False), Inner(3))


def test_what_is_not_given_stays() -> None:
    assert given(USUAL) == USUAL
    assert given(USUAL, "--quiet") == USUAL


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("--colour red", replace(USUAL, colour="red")),
        ("--name z --sizes 8 9", replace(USUAL, name="z", sizes=(8, 9))),
        ("--limit None", replace(USUAL, limit=None)),
        ("--first.depth 5", replace(USUAL, first=Inner(5, False))),
        ("--first.deep --second-part.no-deep", replace(USUAL, first=Inner(2), second_part=Inner(3, False))),
    ],
)
def test_what_is_given_changes_nothing_else(words: str, changed: Outer) -> None:
    assert given(USUAL, *words.split()) == changed


def test_a_value_that_makes_no_sense_is_refused_with_its_group() -> None:
    with pytest.raises(DignnError, match=r"^second-part: depth is -1; it must be 0 or more$"):
        changed_settings(USUAL, {("second_part", "depth"): -1})


def test_groups_are_named() -> None:
    assert groups_in(USUAL) == "first and second-part"
    assert groups_in(PRESETS["fast"]) == "ditabddpm, edge-diffusion, node-growth and tabddpm"


def test_help_has_the_texts_of_parents_and_the_values_of_the_preset(capsys: pytest.CaptureFixture[str]) -> None:
    def command(*, config: Any) -> None:
        """Do nothing."""

    app = App(help_format="plaintext", result_action="return_value")
    app.default(with_settings(command, USUAL, everything=False))
    app(["--help"])
    shown = capsys.readouterr().out
    assert "of it. [choices: red, blue] [default: blue]" in " ".join(shown.split())
    assert "--first.depth" not in shown


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_keeps_its_other_values(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []

    def keep(name: str, /, *, config: Any, preset: str = "fast") -> None:
        """Keep the settings."""
        kept.append(config)

    monkeypatch.setattr(explain, "explain", keep)
    monkeypatch.setattr(keep, "__name__", "explain")
    words = ["--node-growth.width", "20", "--ditabddpm.training.steps", "7", "--top-k", "5"]
    read(["explain", "x", "--preset", preset, *words])()
    usual = PRESETS[preset]
    table = usual.ditabddpm
    assert kept == [
        replace(
            usual,
            node_growth=replace(usual.node_growth, width=20),
            ditabddpm=replace(table, training=replace(table.training, steps=7)),
            top_k=5,
        )
    ]
