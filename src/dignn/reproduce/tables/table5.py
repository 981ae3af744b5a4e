"""Table 5: seconds of explainers, and of the stages of ours."""

from __future__ import annotations

from collections.abc import Iterator

from dignn.metrics.over_seeds import ComparedFigure
from dignn.reproduce.definition import STRONG, Cell, Definition
from dignn.reproduce.paper_setups import OUR_ROW, PAPER_SETS, PAPER_TITLES, setup_of

SECONDS = ComparedFigure("seconds", ("seconds",), 0, "lower")
# Of our method, beside another that was timed in the same way.
TIMED_ALIKE = ComparedFigure(f"{OUR_ROW}, timed alike", ("seconds",), 0, "lower")
STAGES_GROUP = "Stages"
SIZES_GROUP, LARGE_SET, SMALL_SET = "Large and small graphs, in all", "dblp", "tree-cycle"
# By row a value for each data set.
PUBLISHED_SECONDS = {
    "XGNN": (1102, 363, 27, 351, 119, 155, 79),
    "GNNInterpreter": (79, 102, 5, 143, 73, 73, 13),
    "D4Explainer": (39175, 19406, 658, 5703, 659, 822, 801),
    OUR_ROW: (5875, 4702, 6910, 4637, 5192, 5501, 1992),
}
PAPER_STAGES = ("FFS", "GGT", "GGAT", "NFGT", "NFGAT", "PP", "GS")
# By data set a value for each stage that there is.
PUBLISHED_STAGES: dict[str, tuple[float | None, ...]] = {
    "dblp": (7.92, 5297.4, 255.5, 252.10, 41.01, 20.48, 0.72),
    "imdb": (5.08, 4054.8, 192.3, 108.73, 36.46, 304.57, 0.61),
    "mutag": (None, 6699.4, 210.2, None, None, None, 0.83),
    "ba-shapes": (3.80, 4380.5, 252.6, None, None, None, 0.69),
    "tree-cycle": (3.65, 4926.1, 253.8, None, None, None, 0.91),
    "tree-grids": (3.75, 5238.4, 258.5, None, None, None, 0.79),
    "ba-3motif": (None, 1935.6, 49.8, None, None, None, 1.49),
}


def _cells() -> Iterator[Cell]:
    for place, dataset in enumerate(PAPER_SETS):
        for row, values in PUBLISHED_SECONDS.items():
            setup = setup_of(row, dataset, STRONG)
            group = f"{PAPER_TITLES[dataset]}, in all"
            yield Cell(group, row, SECONDS, setup, values[place])
            if row != OUR_ROW:
                yield Cell(group, row, TIMED_ALIKE, setup_of(OUR_ROW, dataset, STRONG), made_like=setup)
    large, small = (setup_of(OUR_ROW, dataset, STRONG) for dataset in (LARGE_SET, SMALL_SET))
    yield Cell(SIZES_GROUP, PAPER_TITLES[LARGE_SET], SECONDS, large)
    yield Cell(SIZES_GROUP, PAPER_TITLES[SMALL_SET], SECONDS, small, made_like=large)
    for dataset, stages in PUBLISHED_STAGES.items():
        setup = setup_of(OUR_ROW, dataset, STRONG)
        for stage, value in zip(PAPER_STAGES, stages, strict=True):
            if value is not None:
                figure = ComparedFigure(stage, ("timings", stage), 2, "lower")
                yield Cell(STAGES_GROUP, PAPER_TITLES[dataset], figure, setup, value)


TABLE = Definition(
    name="table5",
    title="Seconds of explainers and of stages",
    cells=tuple(_cells()),
    sentences=(
        "The paper's seconds are of a GeForce RTX 3070, ours of processor cores, each run with one torch thread, many "
        "beside another run, so they are upper bounds; training the explained model and measuring the explanations are "
        "in neither. Stages of ours overlap, so they may add up to more than the whole.",
        "Seconds of two methods, or of two data sets, compare only where both were measured at the same commit and on "
        "the same machine: those of ours for which that is so stand beside a rival's as timed alike, where there are "
        "any.",
        "PP of ours checks all candidates at once. GS is scoring and choosing, by three rules instead of one; the "
        "evidence beside explanations, which the paper does not have, is in no stage here, but in the whole. Rivals "
        "are to be read with their departures from what is published, which spend less on some steps and more on "
        "others.",
    ),
    ours=(OUR_ROW, *PAPER_TITLES.values()),
    binding=True,
)
