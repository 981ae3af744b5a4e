"""The preset ``paper`` beside ``fast``: the published hyperparameters, whose steps take hours on a processor."""

from __future__ import annotations

from collections.abc import Iterator

from dignn.metrics.over_seeds import FURTHER, ComparedFigure
from dignn.reproduce.definition import Cell, Definition
from dignn.reproduce.sound_figures import FAITHFUL, FEATURE_REALISM, STRUCTURE_REALISM
from dignn.reproduce.tables.table5 import PAPER_STAGES, SECONDS
from dignn.reproduce.tables.table8 import CASE, CASE_GROUP


def _cells() -> Iterator[Cell]:
    stages = [ComparedFigure(stage, ("timings", stage), 1, None) for stage in PAPER_STAGES]
    cosine = ComparedFigure("cosine", (FURTHER, "paper", "cosine"), better=None)
    groups = {
        "quality": [cosine, *(figure for figure, _ in FAITHFUL)],
        "structure": [figure for figure, _ in STRUCTURE_REALISM],
        "features": [figure for figure, _ in FEATURE_REALISM],
        "seconds": [SECONDS, *stages],
    }
    for group, figures in groups.items():
        for preset in ("fast", "paper"):
            for figure in figures:
                yield Cell(f"{CASE_GROUP}, {group}", preset, figure, CASE, beside=CASE, preset=preset, most=1)


TABLE = Definition(
    name="presets",
    title="The published hyperparameters beside ours",
    cells=tuple(_cells()),
    sentences=(
        "The preset `paper` has the published hyperparameters (one DiGress model per size, 500 steps, the paper's "
        "networks), `fast` is the default. On processor cores its run takes hours, so it is of DBLP with 50 columns "
        "and the first seed, and is made only when this table is asked for by name. On other data sets it was not "
        "measured.",
    ),
    ours=(),
    by_name_only=True,
)
