"""Classifier two-sample test of graphs: how well a strong classifier tells generated graphs from real ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from scipy import sparse

from dignn.core.seeds import Seed
from dignn.graphs.plain_graph import PlainGraph
from dignn.metrics.c2st import MOST_PER_SIDE
from dignn.metrics.column_errors import Matrix
from dignn.metrics.counting import some
from dignn.metrics.graph_statistics import statistics, typed_statistics
from dignn.metrics.judging import told_apart
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import Figure, Metric, declare
from dignn.metrics.node_colours import node_colours
from dignn.metrics.told_apart import TwoSamples

# Columns at most; measured on DBLP, IMDB and Tree-Cycle, 400 tell graphs apart no better.
COLUMNS = 160
# Sums of rarer colours, by their last bits, so that none is lost.
BUCKETS = 32


def graph_c2st(generated: Sequence[PlainGraph], real: Sequence[PlainGraph], *, seed: Seed) -> float | None:
    """Area under the ROC curve of a classifier told to tell the graphs apart; 0.5 is ideal.

    It sees statistics of degrees, triangles, spectrum and distances, of types and pairs of types at distances up to 4,
    and how often each colour of nodes occurs (Weisfeiler and Leman: types, refined by neighbours and relations for
    three rounds), and learns and is tested as in :func:`dignn.metrics.c2st.c2st`: isomorphic graphs fall into one fold.
    Sets are compared as they are: where sizes differ, it sees that.

    Args:
        generated, real: the two sets; at most 2,000 of each are looked at.
        seed: of what is drawn.

    Returns:
        None if there are fewer than 10 graphs of a side.
    """
    return _test(generated, real, seed).area()


def foreseen_graph_tests(sets: Iterable[Sequence[PlainGraph]], reality: Reality) -> dict[Hashable, TwoSamples]:
    """What the metric will ask a classifier about several sets of graphs."""
    return dict(_asked(graphs, reality) for graphs in sets if graphs)


def _test(generated: Sequence[PlainGraph], real: Sequence[PlainGraph], seed: Seed) -> TwoSamples:
    def tables() -> tuple[Matrix, Matrix]:
        rng = seed.child("graphs").numpy()
        one, other = ([graphs[at] for at in some(len(graphs), MOST_PER_SIDE, rng)] for graphs in (generated, real))
        rows = sparse.csr_matrix(graph_table([*one, *other]) if one and other else np.zeros((len(one), 1)))
        return rows[: len(one)], rows[len(one) :]

    return TwoSamples(tables, len(generated) + len(real), seed)


def graph_table(graphs: Sequence[PlainGraph]) -> np.ndarray:
    """What the classifier sees: one row for each graph, equal for isomorphic graphs.  (graphs, at most COLUMNS)

    Columns are divided by their largest value, so that none rules the main directions by its unit.
    """
    plain = _different(statistics(graphs))
    typed = _most_frequent(_different(typed_statistics(graphs)), COLUMNS // 3)
    room = COLUMNS - plain.shape[1] - typed.shape[1]
    table = _different(np.hstack([plain, typed, _colour_counts(graphs, room)]))
    return table / np.maximum(np.abs(table).max(0, initial=0.0), 1e-9)


def _different(table: np.ndarray) -> np.ndarray:
    """The columns that are neither constant nor equal to an earlier one, which only cost time; at least one."""
    varied = table[:, (table != table[:1]).any(0)]
    if not varied.shape[1]:
        return np.zeros((len(table), 1))
    _, first = np.unique(varied, axis=1, return_index=True)
    return varied[:, np.sort(first)]


def _most_frequent(table: np.ndarray, most: int) -> np.ndarray:
    """The columns that are not 0 for most graphs."""
    order = np.argsort(-(table != 0).sum(0), kind="stable")
    return table[:, np.sort(order[:most])]


# -- colours ------------------------------------------------------------------------------------------


def _colour_counts(graphs: Sequence[PlainGraph], width: int) -> np.ndarray:
    """Nodes of each colour: the most frequent colours, and sums over the others.  (graphs, width at most)"""
    graph, colour = node_colours(graphs)
    names, column = np.unique(colour, return_inverse=True)
    counts = sparse.csr_matrix((np.ones(len(graph)), (graph, column)), shape=(len(graphs), len(names)))
    counts.sum_duplicates()
    occurs = np.bincount(counts.indices, minlength=len(names))
    order = np.lexsort((names, -occurs))
    frequent, others = order[: width - BUCKETS], order[width - BUCKETS :]
    bucket = (names[others] % np.uint64(BUCKETS)).astype(np.int64)
    pooled = sparse.csr_matrix((np.ones(len(others)), (others, bucket)), shape=(len(names), BUCKETS))
    return np.hstack([counts[:, frequent].toarray(), (counts @ pooled).toarray()])


def _asked(graphs: Sequence[PlainGraph], reality: Reality) -> tuple[Hashable, TwoSamples]:
    """What is told apart, and how that is computed."""
    test = _test(graphs, reality.held_out, reality.seed.child("graphs", "c2st"))
    return (tuple(graphs), tuple(reality.held_out)), test


def _of_sets(measured: MeasuredGraphs, reality: Reality) -> float | None:
    return reality.told(*_asked(measured.plain, reality))


declare(
    Metric("sound.graphs.c2st", "structure", 30, {"structure"}, _of_sets, told=True),
    Figure(
        "Told from real graphs",
        "How well a classifier tells generated from real graphs (C2ST); .5 is guessing.",
        better="lower",
        judge=told_apart,
        good=".6 or less, or no higher than real graphs from real graphs, and below random trees; "
        "only where real graphs are told apart at .35 to .65",
        low=0.4,
        terminal="C2ST of graphs",
    ),
)
