"""What is fixed while a distribution is learned: how many nodes it has, their types, and what an edge would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.validity import connected
from dignn.model.scores import Scores
from dignn.structure.vocabulary import Vocabulary

# Probabilities at which logits begin are kept this far from 0 and 1.
LEAST_PROBABILITY = 0.02


@dataclass(frozen=True, eq=False)
class PairFrequencies:
    """How nodes of two types are joined in real graphs: the metagraph, with frequencies.

    Args:
        vocabulary: says what an edge token is.
        joined: (T, T) share of the pairs of nodes of these types that are joined.
        upto: (T, T, E) of the joined ones, the share with this token or an earlier one.
        types: (T,) share of the nodes.
    """

    vocabulary: Vocabulary
    joined: Tensor
    upto: Tensor
    types: Tensor

    @classmethod
    def of(cls, graphs: GraphBatch) -> PairFrequencies:
        """Counted in real graphs."""
        vocabulary = Vocabulary.of(graphs)
        kinds, tokens = len(graphs.schema.node_types), vocabulary.edge_count
        _, edge = vocabulary.encode(graphs)
        pair = graphs.mask[:, :, None] & graphs.mask[:, None, :] & ~torch.eye(edge.size(1), dtype=torch.bool)
        first, second = graphs.node_type[:, :, None].expand_as(edge), graphs.node_type[:, None, :].expand_as(edge)
        cell = (first[pair] * kinds + second[pair]) * tokens + edge[pair]
        count = torch.bincount(cell, minlength=kinds * kinds * tokens).view(kinds, kinds, tokens).double()
        joined = 1 - count[:, :, 0] / count.sum(2).clamp_min(1)
        count[:, :, 0] = 0
        upto = count.cumsum(2) / count.sum(2, keepdim=True).clamp_min(1)
        types = torch.bincount(graphs.node_type[graphs.mask], minlength=kinds).double()
        joined = joined.where(upto[:, :, -1] > 0, 0.0)
        return cls(vocabulary, joined.float(), upto, (types / types.sum()).float())

    def tokens(self, first: Tensor, second: Tensor, place: Tensor) -> Tensor:
        """The token of an edge between nodes of these types, 0 where real graphs have none; shapes are equal.

        Args:
            first, second: types of its ends; -1 where there is no node.
            place: from 0 to 1, which of the tokens, as frequent as they are: the same place gives the same one.
        """
        there = (first >= 0) & (second >= 0)
        upto = self.upto[first.clamp_min(0), second.clamp_min(0)]
        token = (upto <= place[..., None]).sum(-1)
        return token.where(there & (upto[..., -1] > 0), 0)


@dataclass(frozen=True, eq=False)
class Slots:
    """The nodes of P distributions of graphs, and the pairs of them.

    Args:
        node_type: (P, N) types; -1 on padding. Slot 0 is what is answered about, where answers are about nodes.
        ends: (2, M) pairs of slots, the first before the second.
        place: (P, M) which relation a pair has, if several are possible; see :meth:`PairFrequencies.tokens`.
        row_place: (P, M) from 0 to 1, which of the real rows an edge carries, if it carries any.
        budget: (P,) edges.
    """

    node_type: Tensor
    ends: Tensor
    place: Tensor
    row_place: Tensor
    budget: Tensor

    def __len__(self) -> int:
        return len(self.node_type)

    @property
    def sizes(self) -> Tensor:
        """(P,)"""
        return (self.node_type >= 0).sum(1)

    @classmethod
    def like_real(
        cls,
        sizes: Sequence[int],
        real: GraphBatch,
        scores: Scores,
        class_index: int,
        budget: int | None,
        seed: Seed,
    ) -> Slots:
        """Types of real connected graphs, at random, in which the model sees the class, where there are any.

        Since the real graph is connected, so can be any graph of its nodes.

        Args:
            sizes: of the distributions; each is that of a real connected graph.
            real: real graphs.
            scores: what the model says of them.
            class_index: the class.
            budget: edges; None for as many as real connected graphs of the size have on average.
            seed: decides which graphs.
        """
        random, whole = seed.numpy(), connected(real)
        seen = scores.predicted == class_index
        width = max(sizes)
        node_type = torch.full((len(sizes), width), PADDING)
        budgets = torch.empty(len(sizes))
        edges = real.undirected.triu(1).flatten(1).sum(1)
        for number, size in enumerate(sizes):
            able = whole & (real.sizes == size)
            answered = torch.isin(scores.graph, able.nonzero()[:, 0])
            rows = ((answered & seen) if bool((answered & seen).any()) else answered).nonzero()[:, 0].numpy()
            row = int(random.choice(rows))
            graph, node = int(scores.graph[row]), int(scores.node[row])
            types = real.node_type[graph][real.mask[graph]].numpy()
            order = random.permutation(size)
            if node >= 0:  # what is answered about comes first
                order = np.concatenate([[node], order[order != node]])
            node_type[number, :size] = torch.from_numpy(types[order])
            budgets[number] = float(edges[able].float().mean()) if budget is None else budget
        ends = torch.triu_indices(width, width, 1)
        place, row_place = torch.from_numpy(random.random((2, len(sizes), ends.size(1))))
        return cls(node_type, ends, place, row_place, budgets)
