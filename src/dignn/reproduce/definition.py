"""How a table is defined: by cells, each with the paper's value, the run that ours is read from, and a target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from dignn.metrics.over_seeds import FURTHER, ComparedFigure
from dignn.reproduce.setups import Setup

# Whose answers are explained: a strong model, the paper's, or that of data converted to one kind of node.
STRONG, PAPERS = "strong", "paper's"
# Which graphs that are wrong in one known way stand beside a value.
REAL_SUBGRAPHS = "real_subgraphs"
SHOWN_CONTROLS = (REAL_SUBGRAPHS, "random_trees", "column_noise", "shuffled_rows")
# A figure that is good where real graphs have it, not where it is highest or lowest.
LIKE_REAL = "like real graphs"
# What real graphs score, and where a run has figures by every rule of selection; in which layer those have a floor.
REAL_GRAPHS, SELECTION, _LAYER_OF = "floor", "selection", {"gf": "paper", "typed_gf": "sound", "coverage": "sound"}


@dataclass(frozen=True)
class Target:
    """What a value should reach.

    Args:
        relation: in which it should stand to the bound.
        bound: a number, or how many times that of real graphs.
        of: whose value that is, the floor's or a control's; empty for a mere number.
        most: what it must not exceed; nothing can be above a bound that is as high.
    """

    relation: Literal["≤", "≥", ">"]
    bound: float
    of: str = ""
    most: float | None = None


@dataclass(frozen=True)
class Cell:
    """A value of a table.

    Args:
        group: of cells that are shown together, usually a data set.
        row: what it is a value of, as the paper names it.
        figure: which value, and where it is in a run.
        setup: the runs that it is read from.
        paper: the paper's value; None where it reports none.
        spread: what the paper prints behind the sign ±.
        model: whose answers are explained.
        beside: the runs whose floor and controls stand beside it; None for none.
        target: what it should reach.
        most: how many seeds are run at most; None for as many as are asked for.
        preset: of its runs; None for the one that is asked for.
        made_by: the command that makes its runs, where that is not ``dignn reproduce``.
        made_like: read only runs that were made by the same code and on the same machine as those of this setup.
    """

    group: str
    row: str
    figure: ComparedFigure
    setup: Setup
    paper: float | None = None
    spread: float | None = None
    model: str = STRONG
    beside: Setup | None = None
    target: Target | None = None
    most: int | None = None
    preset: str | None = None
    made_by: str = ""
    made_like: Setup | None = None

    def floor(self) -> ComparedFigure | None:
        """The same figure of real graphs, among which no rule chooses."""
        path = self.figure.path
        if path[0] == SELECTION:
            path = (_LAYER_OF.get(path[-1], ""), path[-1])
        return self._among(path, REAL_GRAPHS)

    def control(self, name: str) -> ComparedFigure | None:
        """The same figure of graphs that are wrong in a known way, of which our method's own rule chooses."""
        return self._among(self.figure.path, "control", name)

    def _among(self, path: tuple[str, ...], *place: str) -> ComparedFigure | None:
        path = path[1:] if path[0] == FURTHER else path
        measured = self.beside is not None and path[0] in ("paper", "sound")
        return replace(self.figure, path=(*place, *path)) if measured else None


@dataclass(frozen=True)
class Told:
    """An explanation that a table shows in words.

    Args:
        group, row, model: as of a cell.
        setup: the runs; the first seed is shown.
        class_number: which class; None for all.
        picture: of the explanation, beside the page.
    """

    group: str
    row: str
    setup: Setup
    class_number: int | None = None
    model: str = STRONG
    picture: str = ""


@dataclass(frozen=True)
class Definition:
    """A table.

    Args:
        name: as on the command line.
        title: what it is about.
        cells: its values.
        sentences: what differs from the paper, and why; where a value of the paper cannot mean what it says.
        ours: the rows that are our method's.
        binding: whether a value of those rows, of the strong models, that is worse than the paper's is a miss.
        told: explanations in words.
        by_name_only: whether it is left out where all tables are asked for, because its runs take hours.
    """

    name: str
    title: str
    cells: tuple[Cell, ...]
    sentences: tuple[str, ...]
    ours: tuple[str, ...] = ("DiGNNExplainer",)
    binding: bool = False
    told: tuple[Told, ...] = ()
    by_name_only: bool = False
