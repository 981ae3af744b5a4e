"""Feature rows of whole graphs, by node type and by relation, beside rows that nobody learned from.

A real node stands in several subgraphs, and every time counts, as it does for the model that is explained. Subgraphs
are not all learned or all held out: only the node that a held-out subgraph starts from is sure to be held out, and most
nodes around it were learned. So rows are told apart one by one. Rows of edges were learned where both ends were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from torch import Tensor

from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.edge_tables import rows_in, table_in
from dignn.graphs.feature_spec import Column, FeatureKind
from dignn.metrics.column_errors import Matrix, matrix_of

# Rows of a type that are compared at most.
MOST_COMPARED_ROWS = 500
# Learned rows among which the nearest are sought at most.
MOST_KNOWN = 6 * MOST_COMPARED_ROWS
# Rows of a class of which the mean cosine is taken at most.
COSINE_ROWS = 2000
# With fewer rows that were not learned, nothing can be said about them.
LEAST_HELD_OUT_ROWS = 20

# By node type, or label of a relation, (rows of its table,) whether generators learned from the row.
Learned = Mapping[str, Tensor]


class ClassRows(NamedTuple):
    """Feature rows (n, d) of the target nodes of a class, generated and of training graphs; what mixed columns hold."""

    made: Tensor | Matrix
    real: Tensor | Matrix
    columns: tuple[Column, ...] | None = None


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Rows of one node type, or of the edges of one relation.

    Args:
        kind: what the columns hold.
        made: the rows that are measured.
        real: rows that were not learned, of held-out graphs.
        known: learned rows of training graphs.
        sides: learned rows, and rows that were not, each node once, to see which of them a row is nearer to; None where
            there are too few.
        learned: whether ``made`` are learned rows themselves.
        columns: (mixed) what each column holds.
    """

    kind: FeatureKind
    made: Matrix
    real: Matrix
    known: Matrix | None = None
    sides: tuple[Matrix, Matrix] | None = None
    learned: bool = False
    columns: tuple[Column, ...] | None = None


class _RealOfType(NamedTuple):
    """Rows that those of a type or relation are compared with, as :class:`FeatureRows` has them."""

    real: Matrix
    known: Matrix
    sides: tuple[Matrix, Matrix] | None


@dataclass(frozen=True, eq=False)
class RealRows:
    """Where real rows come from.

    Args:
        train: real graphs that generators learned from.
        held_out: real graphs that they did not learn from, of the same tables or of others.
        learned: which rows of the training graphs' tables they learned from.
        held_out_learned: the same of the held-out graphs' tables.
    """

    train: GraphBatch
    held_out: GraphBatch
    learned: Learned
    held_out_learned: Learned
    _kept: dict[str, _RealOfType | None] = field(default_factory=dict, init=False, repr=False)

    def compared_with(self, graphs: GraphBatch, *, learned: bool = False) -> dict[str, FeatureRows]:
        """Rows of graphs by node type, and by relation, at most 500 of each, evenly spread, beside as many real ones.

        Real rows are those of held-out graphs that were not learned. Where there are fewer than 20 of these, and for
        identity types, whose members are all learned, all rows of held-out graphs count. Types count that have
        generated features and rows in all sets.

        Args:
            graphs: graphs with features.
            learned: take learned rows of theirs alone; they are training graphs.
        """
        found = {}
        for name in (*graphs.schema.node_types, *graphs.schema.generated_edges):
            spec = graphs.schema.table_spec(name)
            made = _numbers(graphs, name)
            beside = self._real(name) if spec.generated and len(made) else None
            made = made[self.learned[name].numpy()[made]] if learned and beside is not None else made
            if beside is None or not len(made):
                continue
            found[name] = FeatureRows(
                spec.kind,
                made=_rows(graphs, name, made),
                real=beside.real,
                known=beside.known,
                sides=beside.sides,
                learned=learned,
                columns=spec.columns,
            )
        return found

    def class_rows(self, graphs: GraphBatch) -> list[ClassRows]:
        """Per class the rows of its target nodes in graphs and in training graphs; empty without target features."""
        made = _by_class(graphs)
        if not made or not self._train_by_class:
            return []
        columns = graphs.schema.spec(str(graphs.schema.target)).columns
        return [ClassRows(own, known, columns) for own, known in zip(made, self._train_by_class, strict=True)]

    @cached_property
    def _train_by_class(self) -> list[Matrix]:
        return _by_class(self.train)

    def _real(self, name: str) -> _RealOfType | None:
        """Real rows of a type or relation, taken once for all graphs that are compared; None where there are none."""
        if name not in self._kept:
            kind = self.train.schema.table_spec(name).kind
            of_train, real = (_numbers(batch, name) for batch in (self.train, self.held_out))
            known = of_train[self.learned[name].numpy()[of_train]] if len(of_train) and len(real) else of_train[:0]
            self._kept[name] = None
            if len(known):
                new = real[~self.held_out_learned[name].numpy()[real]]
                real = new if len(new) >= LEAST_HELD_OUT_ROWS and kind is not FeatureKind.IDENTITY else real
                rows = _rows(self.held_out, name, real), _rows(self.train, name, known)
                self._kept[name] = _RealOfType(*rows, self._sides(name, kind))
        return self._kept[name]

    def _sides(self, name: str, kind: FeatureKind) -> tuple[Matrix, Matrix] | None:
        """Learned rows and rows that were not, of all nodes in real graphs.

        Of both sets of graphs: but for the nodes that they start from, which nodes stand in a graph has nothing to do
        with which ones were learned, so that a new row is as likely to be near the one as the other. Nodes with equal
        rows are all kept for the same reason: equal rows on both sides are a tie.
        """
        one, other = table_in(self.train, name), table_in(self.held_out, name)
        of_train, of_held_out = (np.unique(_numbers(batch, name)) for batch in (self.train, self.held_out))
        parts = [(one, of_train, self.learned), (other, of_held_out, self.held_out_learned)]
        if one is other:
            parts = [(one, np.union1d(of_train, of_held_out), self.learned)]
        known = [(table, numbers, learned[name].numpy()[numbers]) for table, numbers, learned in parts]
        new = sum(int((~there).sum()) for *_, there in known)
        if kind is FeatureKind.IDENTITY or new < LEAST_HELD_OUT_ROWS or not any(there.any() for *_, there in known):
            return None
        sides = []
        for wanted, most in ((True, MOST_KNOWN), (False, MOST_COMPARED_ROWS)):
            pieces = [matrix_of(table, numbers[there == wanted]) for table, numbers, there in known]
            rows = sparse.vstack(pieces).tocsr()
            sides.append(rows[spread(rows.shape[0], most)])
        return sides[0], sides[1]


def _by_class(batch: GraphBatch) -> list[Matrix]:
    """Per class the rows of its target nodes; empty without target features.

    A real node stands in many graphs, and every time counts; of many thousands evenly spread ones are taken.
    """
    target = batch.schema.target
    if target not in batch.tables:
        return []
    of_class = [batch.row[batch.label == number] for number in range(batch.schema.num_classes)]
    chosen = [rows[spread(len(rows), COSINE_ROWS)].numpy() for rows in of_class]
    # Each row of the table is read once, however often it stands in graphs.
    different, place = np.unique(np.concatenate(chosen), return_inverse=True)
    rows = matrix_of(batch.tables[target], different)
    ends = np.cumsum([len(several) for several in chosen])[:-1]
    return [rows[several] for several in np.split(place, ends)]


def _numbers(batch: GraphBatch, name: str) -> np.ndarray:
    """Rows of the table, one for each node or edge; none where features are not filled in.  (n,)"""
    return rows_in(batch, name).numpy()


def _rows(batch: GraphBatch, name: str, numbers: np.ndarray) -> Matrix:
    """At most 500 of them.  (n, d)"""
    return matrix_of(table_in(batch, name), numbers[spread(len(numbers), MOST_COMPARED_ROWS)])
