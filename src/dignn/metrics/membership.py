"""Membership: do graphs tell which graphs and rows of the data they were learned from?

A generated graph, or a row of features, may equal a learned one by chance, as small graphs and short rows do; so every
share stands beside that of real ones: of rows that nobody learned from, and of graphs that start at held-out nodes,
which may overlap with training graphs beyond their start.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

import torch

from dignn.core.seeds import Seed
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.edge_tables import rows_in, table_in
from dignn.metrics.column_errors import Matrix, matrix_of
from dignn.metrics.counting import mean, share
from dignn.metrics.feature_realism import as_numbers
from dignn.metrics.feature_rows import RealRows
from dignn.metrics.measured import names_of
from dignn.metrics.memorisation import Memorisation
from dignn.sampling.division import RealGraphs


@dataclass(frozen=True)
class Membership:
    """How much of some graphs was learned from; of rows the mean over node types and relations with features.

    Args:
        graphs: share of the graphs that are isomorphic to a training graph, types of nodes and relations included.
        held_out_graphs: the same share of held-out graphs.
        rows: share of the feature rows that equal a learned row; None without features.
        held_out_rows: the same share of rows that were not learned.
        nearer: share of the feature rows that are nearer to a learned row than to one that was not, ties one half.
        held_out_nearer: the same share of real rows on neither side; None where there are too few.
    """

    graphs: float | None
    held_out_graphs: float | None
    rows: float | None
    held_out_rows: float | None
    nearer: float | None
    held_out_nearer: float | None


def membership(graphs: GraphBatch, real: RealGraphs, *, seed: Seed) -> Membership:
    """Of some graphs, beside the real graphs that were sampled for the run that made them.

    Types and relations count of which at least 20 rows were not learned; those of identity types are all learned.

    Args:
        graphs: with features.
        real: the division of the data, sampled: ``explainer.real`` after ``fit``.
        seed: of the parts of rows that are compared.
    """
    known = set(_names(real.train))
    compared = RealRows(real.train, real.held_out, real.learned_rows, real.learned_rows).compared_with(graphs)
    copied: list[float | None] = []
    copied_held_out: list[float | None] = []
    nearer: list[float | None] = []
    usual: list[float | None] = []
    for name, rows in compared.items():
        if rows.sides is None:
            continue
        learned, table = real.learned_rows[name].numpy(), table_in(real.train, name)
        there = set(_keys(matrix_of(table, learned.nonzero()[0])))
        copied.append(_share(matrix_of(table_in(graphs, name), rows_in(graphs, name).numpy()), there))
        copied_held_out.append(_share(matrix_of(table, (~learned).nonzero()[0]), there))
        made, *sides = as_numbers(rows, rows.made, *rows.sides)
        found = Memorisation(made, sides[0], sides[1], rows.kind, seed=seed.child(name))
        nearer.append(found.share)
        usual.append(found.floor)
    return Membership(
        graphs=share([name in known for name in _names(graphs)]),
        held_out_graphs=share([name in known for name in _names(real.held_out)]),
        rows=mean(copied),
        held_out_rows=mean(copied_held_out),
        nearer=mean(nearer),
        held_out_nearer=mean(usual),
    )


def _names(graphs: GraphBatch) -> list[str]:
    """Fingerprints that do not look at classes, which are given to graphs or predicted."""
    return names_of(replace(graphs, label=torch.full_like(graphs.label, PADDING)))


def _share(rows: Matrix, known: Set[bytes]) -> float | None:
    return share([key in known for key in _keys(rows)])


def _keys(rows: Matrix) -> list[bytes]:
    """What two rows share if they are equal, and only then."""
    rows = rows.copy()
    rows.eliminate_zeros()
    rows.sort_indices()
    places = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return [rows.indices[a:b].astype("int64").tobytes() + rows.data[a:b].tobytes() for a, b in places]
