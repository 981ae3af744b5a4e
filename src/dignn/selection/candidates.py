"""Graphs that explanations are chosen from, and what every rule asks of them for every class, computed once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dignn.graphs.batch import GraphBatch
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
    """A text that depends on the feature rows of a graph and not on the order of its nodes."""
    rows = [row.numpy().tobytes() for name in sorted(graph.tables) for row in graph.features(name)]
    return hashlib.blake2b(b"".join(sorted(rows)), digest_size=16).hexdigest()
