"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


def preset_of(arguments: Sequence[str]) -> str:
    """The value of --preset, which decides the defaults of all other settings."""
    for position, word in enumerate(arguments):
        if word == "--preset" and position + 1 < len(arguments):
            return arguments[position + 1]
        if word.startswith("--preset="):
            return word.removeprefix("--preset=")
    return "fast"
