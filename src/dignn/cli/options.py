"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from dignn.errors import DignnError

if TYPE_CHECKING:
    from dignn.data import Dataset

# Nothing is said about a default that is "none": what happens then is in the text of the option.
_PLAIN: dict[str, Any] = {"help_behavior_hint": ""}
Form = Literal["strong", "paper"]
By = Literal["variance", "frequency"]
# A switch is off unless it is given, so there is no second option that turns it off.
Flag = Annotated[bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(**_PLAIN)]
Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME", **_PLAIN)]
Run = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN", **_PLAIN)]
Folder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", **_PLAIN)]
File = Annotated[Path | None, tyro.conf.arg(metavar="FILE", **_PLAIN)]
Function = Annotated[str | None, tyro.conf.arg(metavar="FILE.py:FUNCTION", **_PLAIN)]
Columns = Annotated[tuple[str, ...], tyro.conf.arg(metavar="TYPE=NUMBER ...", **_PLAIN)]
Preset = Annotated[str, tyro.conf.arg(metavar="{fast,paper,smoke}")]
_Switch = Annotated[bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(prefix_name=False, **_PLAIN)]
_Names = Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME ...", prefix_name=False, **_PLAIN)]


@dataclass(frozen=True)
class FewerColumns:
    """The options that select feature columns; what is wrong without looking at data is refused at once."""

    columns: tuple[str, ...] = ()
    by: By = "variance"
    words_only: bool = False

    def __post_init__(self) -> None:
        if not self.columns and (self.words_only or self.by != "variance"):
            raise DignnError(
                "--columns-by and --words-only need columns to choose; add, for example, --columns author=50"
            )
        self.wanted()

    def wanted(self) -> dict[str, int | str]:
        if not self.columns:
            return {}
        from dignn.data import parse_columns

        return parse_columns(self.columns)

    def of(self, dataset: Dataset) -> Dataset:
        if not self.columns:
            return dataset
        from dignn.data import select_columns

        return select_columns(dataset, self.wanted(), by=self.by, words_only=self.words_only)

    def about(self) -> dict[str, Any]:
        """For a run folder's ``config.json``, whose data set has all columns unless it says otherwise."""
        if not self.columns:
            return {}
        return {"columns": {"chosen": self.wanted(), "by": self.by, "words_only": self.words_only}}


# Options of the two groups below have no prefix, and yet each is a group of its own in --help.
@dataclass(frozen=True)
class Known:
    """Of a data set that dignn knows.

    Args:
        form: which of the two models of the data set is explained.
        columns: feature columns to keep, by node type, for the model and the generators alike. A type instead of a
            number, as in director=movie, keeps the very columns that are kept of that type.
        columns_by: keep those that vary most, or those that are not 0 most often.
        words_only: keep no column named by punctuation, a number, a single letter or a stop word.
        download: fetch the data set if it is not on this machine.
    """

    form: Annotated[Form, tyro.conf.arg(prefix_name=False)] = "strong"
    columns: Annotated[tuple[str, ...], tyro.conf.arg(metavar="TYPE=NUMBER ...", prefix_name=False, **_PLAIN)] = ()
    columns_by: Annotated[By, tyro.conf.arg(prefix_name=False)] = "variance"
    words_only: _Switch = False
    download: _Switch = False

    def fewer(self) -> FewerColumns:
        return FewerColumns(self.columns, self.columns_by, self.words_only)


@dataclass(frozen=True)
class Own:
    """Of a data file of your own.

    Args:
        model: the function that returns your trained model, as FILE.py:FUNCTION or MODULE:FUNCTION. THAT CODE IS RUN.
            It is called without arguments, or with the data if it has a parameter without a default; it returns the
            model, or the pair (model, forward) where forward(model, data) calls it.
        target: the classified node type (needed for a HeteroData).
        classes: names of the classes, in the order of their numbers.
        return_type: what the model returns: raw scores, probabilities, or their logarithms.
        names: JSON file with the names of feature columns by node type, for example {"author": ["mining", "query"]}.
        type_names: where the columns of a Data's x are a one-hot node type: the names of the types.
        edge_names: where the columns of a Data's edge_attr are a one-hot relation: the names of the relations.
        trust: read the data file even if it holds more than graphs. READING IT CAN THEN RUN ANY CODE of whoever wrote
            it.
    """

    model: Annotated[str | None, tyro.conf.arg(metavar="FILE.py:FUNCTION", prefix_name=False, **_PLAIN)] = None
    target: Annotated[str | None, tyro.conf.arg(metavar="TYPE", prefix_name=False, **_PLAIN)] = None
    classes: _Names = ()
    return_type: Annotated[Literal["raw", "probs", "log_probs"], tyro.conf.arg(prefix_name=False)] = "raw"
    names: Annotated[Path | None, tyro.conf.arg(metavar="FILE", prefix_name=False, **_PLAIN)] = None
    type_names: _Names = ()
    edge_names: _Names = ()
    trust: _Switch = False

    def given(self) -> list[str]:
        """The options that were used, as on the command line."""
        return [f"--{item.name.replace('_', '-')}" for item in fields(self) if getattr(self, item.name) != item.default]

    def about(self) -> dict[str, Any]:
        """What rebuilds the model and the schema, for a run folder's ``config.json``. Trust is asked for each time."""
        found = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "trust"}
        return {name: list(value) if isinstance(value, tuple) else str(value) for name, value in found.items() if value}


def preset_of(arguments: Sequence[str]) -> str:
    """The value of --preset, which decides the defaults of all other settings."""
    for position, word in enumerate(arguments):
        if word == "--preset" and position + 1 < len(arguments):
            return arguments[position + 1]
        if word.startswith("--preset="):
            return word.removeprefix("--preset=")
    return "fast"
