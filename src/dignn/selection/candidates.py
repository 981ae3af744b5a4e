"""Graphs that explanations are chosen from, and what every rule asks of them for every class, computed once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from torch import Tensor

from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import edge_values
from dignn.graphs.isomorphism import fingerprints, first_of_kind, kinds
from dignn.graphs.plain_graph import PlainGraph, plain_graphs


@dataclass(frozen=True, eq=False)
class Candidates:
    """Graphs to choose from.

    Args:
        graphs: with the classes that the generator meant.
    """

    graphs: GraphBatch
    _digests: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.graphs)

    @cached_property
    def shown(self) -> GraphBatch:
        """The graphs without labels, which neither the model nor the reader sees."""
        return self.graphs.without_labels()

    @cached_property
    def plain(self) -> list[PlainGraph]:
        """What is shown, as plain graphs."""
        return plain_graphs(self.shown)

    def distinct(self, order: Sequence[int], limit: int | None = None) -> list[int]:
        """The first ``limit`` graphs of ``order`` of which no two are isomorphic."""
        return first_of_kind(self._kinds, order, limit)

    def name(self, number: int) -> tuple[str, str]:
        """What a graph is, structure and features, whatever the order of its nodes and its place among the others."""
        if number not in self._digests:
            self._digests[number] = _feature_digest(self.shown[number])
        return self._names[number], self._digests[number]

    @cached_property
    def _kinds(self) -> list[int]:
        return kinds(self.shown)

    @cached_property
    def _names(self) -> list[str]:
        return fingerprints(self.shown)


def _feature_digest(graph: GraphBatch) -> str:
    """A text that depends on the feature rows of a graph's nodes and edges and not on the order of its nodes."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(graph.tables):
        _put(digest, name, graph.features(name))
    for label in sorted(graph.edge_tables):
        cells = (graph.edge == graph.schema.generated_edges[label].relation).nonzero(as_tuple=True)
        _put(digest, label, edge_values(graph, label, (cells[0], cells[1], cells[2])))
    return digest.hexdigest()


def _put(digest: hashlib.blake2b, name: str, rows: Tensor) -> None:
    """What is called so, and its rows in no order; nothing where there are none."""
    if len(rows):
        digest.update(f"{name} {len(rows)} {rows.size(1)}\n".encode())
        digest.update(b"".join(sorted(row.numpy().tobytes() for row in rows)))
