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

Form = Literal["strong", "paper"]
By = Literal["variance", "frequency"]
Name = Annotated[str, tyro.conf.Positional]
Columns = Annotated[tuple[str, ...], tyro.conf.arg(metavar="TYPE=NUMBER ...")]


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

    model: Annotated[str | None, tyro.conf.arg(metavar="FILE.py:FUNCTION")] = None
    target: str | None = None
    classes: tuple[str, ...] = ()
    return_type: Literal["raw", "probs", "log_probs"] = "raw"
    names: Path | None = None
    type_names: tuple[str, ...] = ()
    edge_names: tuple[str, ...] = ()
    trust: bool = False

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
