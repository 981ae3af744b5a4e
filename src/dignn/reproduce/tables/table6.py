"""Table 6: how many generated graphs are connected and consistent with the metagraph."""

from __future__ import annotations

from collections.abc import Iterator

from dignn.metrics.over_seeds import ComparedFigure
from dignn.reproduce.definition import STRONG, Cell, Definition
from dignn.reproduce.paper_setups import OUR_ROW, PAPER_SETS, PAPER_TITLES, VAE_ROW, setup_of

VALIDITY_FIGURES = (
    ComparedFigure("generated", ("validity", "generated"), 0, None),
    ComparedFigure("connected", ("validity", "connected"), 0),
    ComparedFigure("and consistent", ("validity", "valid"), 0),
    ComparedFigure("nodes per graph", ("mean_nodes",), 2, None),
)
# By data set, ours and the VAE: graphs generated, connected, valid; nodes per graph.
PUBLISHED_VALIDITY = {
    "dblp": ((1536, 1416, 231, 12.5), (1536, 1283, 210, 12.5)),
    "imdb": ((1536, 1367, 188, 7.92), (1536, 948, 513, 7.92)),
    "mutag": ((1536, 731, 731, 13), (1536, 1242, 1242, 13)),
    "ba-shapes": ((1536, 1058, 1058, 12.5), (1536, 1323, 1323, 12.5)),
    "tree-cycle": ((1536, 1398, 1398, 12.5), (1536, 1237, 1237, 12.5)),
    "tree-grids": ((1536, 1196, 1196, 12.5), (1536, 1312, 1312, 12.5)),
    "ba-3motif": ((1536, 1525, 1525, 15), (1536, 1369, 1369, 15)),
}


def _cells() -> Iterator[Cell]:
    for dataset in PAPER_SETS:
        for row, line in zip((OUR_ROW, VAE_ROW), PUBLISHED_VALIDITY[dataset], strict=True):
            setup = setup_of(row, dataset, STRONG)
            for figure, value in zip(VALIDITY_FIGURES, line, strict=True):
                yield Cell(PAPER_TITLES[dataset], row, figure, setup, value)


TABLE = Definition(
    name="table6",
    title="Valid graphs among the generated ones",
    cells=tuple(_cells()),
    sentences=(
        "Both count graphs that are connected and whose metagraph is a subgraph of the data's. Node growth never makes "
        "another, since each node comes with an edge that the metagraph allows, so its counts are a property of the "
        "method and no luck; the VAE decodes again what is not valid, and what it gives up counts as not valid.",
        "Molecules and BA-3Motif have sizes of their own, ours those of all graphs, the paper's those that it chose.",
    ),
)
