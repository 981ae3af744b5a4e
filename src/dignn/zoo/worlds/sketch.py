"""A world without features: nodes with hidden classes, and the edges between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dignn.graphs.schema import EdgeType


@dataclass(frozen=True)
class Sketch:
    """Nodes by type, each of a hidden class, and edges; whatever is drawn later follows the hidden classes.

    Args:
        target: the type that is classified, or of all nodes of graphs that are.
        hidden: by type, (n,) the hidden class of each node.
        edges: by relation, (E, 2) the ends of each edge, once; no loop, no pair of nodes twice.
        labels: (m,) the class of each target, or of each graph.
        tables: by type, the kind of its feature table and how many columns it has.
        directed: relations whose direction means something; the others are stored both ways.
        graph: (n,) where graphs are classified, the graph of each node, in order.
    """

    target: str
    hidden: dict[str, np.ndarray]
    edges: dict[EdgeType, np.ndarray]
    labels: np.ndarray
    tables: dict[str, tuple[str, int]]
    directed: frozenset[EdgeType] = field(default_factory=frozenset)
    graph: np.ndarray | None = None

    @property
    def distance(self) -> dict[str, int]:
        """By type, how many relations lie between it and the target."""
        found = {self.target: 0}
        while len(found) < len(self.hidden):
            for source, _, target in self.edges:
                for one, other in ((source, target), (target, source)):
                    if one in found:
                        found.setdefault(other, found[one] + 1)
        return found

    def degree(self, node_type: str) -> np.ndarray:
        """(n,) edges at each node of a type."""
        count = np.zeros(len(self.hidden[node_type]), dtype=np.int64)
        for (source, _, target), pairs in self.edges.items():
            for end, own in ((0, source), (1, target)):
                if own == node_type:
                    count += np.bincount(pairs[:, end], minlength=len(count))
        return count


def drawn_classes(count: int, share: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n,) classes in random order, each as often as its share says, rounded, and at least once."""
    ends = np.round(np.cumsum(share) * count).astype(np.int64)
    sizes = np.maximum(np.diff(ends, prepend=0), 1)
    sizes[0] += count - sizes.sum()
    return rng.permutation(np.repeat(np.arange(len(share)), sizes))
