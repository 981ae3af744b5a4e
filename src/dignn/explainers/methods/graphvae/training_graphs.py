"""What GraphVAE learns from: real graphs as tokens in canonical order, with the rows that may be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.explainers.methods.graphvae.canonical_order import canonical_order
from dignn.graphs.batch import GraphBatch
from dignn.structure.vocabulary import Vocabulary

# Rows of a type that frequencies are measured on, as they stand in training graphs, and numbers in them, at most.
_MEASURED_ROWS, _MEASURED_NUMBERS = 20_000, 2**26


@dataclass(frozen=True)
class Examples:
    """Graphs as the autoencoder sees them.

    Args:
        nodes: (B, N) tokens, -1 on padding.
        edges: (B, N, N) tokens.
        label: (B,) class of each graph; -1 where there is none.
        rows: for each type whose rows are decoded, which nodes (B, N) have one that may be learned from, and those
            rows (m, d).
    """

    nodes: Tensor
    edges: Tensor
    label: Tensor
    rows: tuple[tuple[Tensor, Tensor], ...]


class TrainingGraphs:
    """Real graphs, of which some at a time are looked at.

    Args:
        graphs: with features; each has a node at least.
        learned: (B, N) nodes whose rows may be learned from; those of others are never seen.
        joint: whether rows are learned at all.
        words: the tokens; by default those that occur.

    Attributes:
        words: the tokens.
        nodes, edges: (B, N) and (B, N, N) tokens in canonical order.
        sizes: (B,) nodes of each graph.
        names: node types that have rows to learn from.
    """

    def __init__(
        self, graphs: GraphBatch, learned: Tensor, *, joint: bool = True, words: Vocabulary | None = None
    ) -> None:
        order = canonical_order(graphs)
        self._graphs, self._learned = graphs.permute(order), learned.gather(1, order) & joint
        self.words, self.sizes = words or Vocabulary.of(graphs), graphs.sizes
        self.nodes, self.edges = self.words.encode(self._graphs)
        generated = [name for name in graphs.tables if graphs.schema.spec(name).generated]
        self.names = [name for name in generated if bool(self._seen(name).any())]

    def __len__(self) -> int:
        return len(self._graphs)

    def _seen(self, name: str, index: Tensor | slice = slice(None)) -> Tensor:
        """(B, N) nodes of a type whose rows may be learned from, in some of the graphs."""
        return self._learned[index] & (self._graphs.node_type[index] == self._graphs.schema.type_index(name))

    def measured(self, name: str, seed: Seed) -> Tensor:
        """(n, d) rows of a type as they stand in the graphs, some of them where there are many."""
        row = self._graphs.row[self._seen(name)]
        table = self._graphs.tables[name]
        most = min(_MEASURED_ROWS, max(1, _MEASURED_NUMBERS // table.size(1)))
        return table[row[torch.randperm(len(row), generator=seed.torch())[:most]]]

    def some(self, index: Tensor, names: Sequence[str]) -> Examples:
        """The graphs at these places, with rows of these types."""
        rows = []
        for name in names:
            here = self._seen(name, index)
            rows.append((here, self._graphs.tables[name][self._graphs.row[index][here]]))
        return Examples(self.nodes[index], self.edges[index], self._graphs.graph_label[index], tuple(rows))
