"""Features that are means of neighbours' features: directors that are described by the words of their movies.

Where every row of a type is the mean of its neighbours' rows in the data, a generated node's row is such a mean too: of
the neighbours that it has in its graph, and of generated rows for those that a small graph leaves out
(:mod:`dignn.features.reserve`). So the features fit the graph, which no generator that looks at one row at a time can
do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.diffusion.categorical import draw
from dignn.features.conditions import class_of_condition
from dignn.features.training_rows import some_nodes
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind

# Rows that differ from a mean by no more than this are that mean.
_EXACT = 1e-4
# Numbers that differ from whole ones by no more than this are whole.
_WHOLE = 1e-2
# A row is composed of at most so many others: the mean of a hub's neighbours is hardly another than that of some.
MOST_COMPOSED = 64
# Rows of a type that would be composed of more than this on average are learned like any other, which costs less.
MOST_ON_AVERAGE = 16

Others = Callable[[Tensor, Seed], Tensor]
"""(conditions (m, 2 C), seed) -> rows of the source (m, d)"""


@dataclass(frozen=True, eq=False)
class NeighbourMeans:
    """Rows of ``name`` as means of the rows of ``source`` nodes around them.

    Args:
        name, source: node types.
        degree: (M, K) how often a node with m neighbours in a small graph has k in the data; (0, k) for all others.
        follows: (C, C) how often a neighbour of class c has a sibling (another neighbour of the same node) of class c'.
    """

    name: str
    source: str
    degree: Tensor
    follows: Tensor

    @classmethod
    def find(cls, data: Adjacency, graphs: GraphBatch, name: str) -> NeighbourMeans | None:
        """The type whose means the rows of ``name`` are, exactly and in all rows; None if there is none.

        Of many rows those that stand in ``graphs`` are looked at, and some of the others.

        Only types whose own rows are generated from scratch can be the source, and only where rows have few neighbours
        on average in ``graphs``: what composing a row costs must not grow with the degree of its node.
        """
        schema = data.schema
        if schema.spec(name).kind is not FeatureKind.CONTINUOUS:
            return None
        here = graphs.node_type == schema.type_index(name)
        stand = data.numbers(graphs)[here.numpy()]
        nodes = some_nodes(data, name, first=stand)
        for source in schema.node_types:
            other = schema.spec(source)
            if other.kind in (FeatureKind.BINARY, FeatureKind.COUNT) and other.width == schema.spec(name).width:
                joined = _joined(data, nodes, source)
                if _are_means(data, nodes, joined, name, source):
                    degree = torch.from_numpy(np.diff(joined.indptr)).long().clamp_max(MOST_COMPOSED)
                    inside = torch.from_numpy(np.searchsorted(nodes, stand))
                    if float(degree[inside].double().mean()) > MOST_ON_AVERAGE:
                        return None
                    degrees = _degrees(graphs, degree, inside, name, source)
                    return cls(name, source, degrees, _siblings(data, joined, source))
        return None

    def fill(self, batch: GraphBatch, around: Tensor, others: Others, seed: Seed, nodes: Tensor) -> Tensor:
        """A row for each marked node of the type, in order.  (m, d)

        Args:
            batch: the graphs, filled in so far, with the rows of the source.
            around: (B, N, 2 C) condition of each node.
            others: makes rows of the source that graphs leave out.
            seed: of what the graphs leave out.
            nodes: (B, N) bool, which nodes.
        """
        schema = batch.schema
        here = nodes & (batch.node_type == schema.type_index(self.name))
        graph, node = here.nonzero(as_tuple=True)
        joined = _sources(batch, here, self.source)
        inside = joined.sum(1)
        whole = draw(self.degree[inside.clamp_max(len(self.degree) - 1)], seed.child("degree").torch()).maximum(inside)
        total = torch.zeros(len(graph), schema.spec(self.name).width)
        of, place = joined.nonzero(as_tuple=True)
        total.index_add_(0, of, batch.tables[self.source][batch.row[graph[of], place]])
        missing = torch.repeat_interleave(torch.arange(len(graph)), whole - inside)
        if len(missing):
            condition = around[graph, node][missing]
            if self.source == schema.target:
                near = class_of_condition(condition) @ self.follows
                condition = torch.cat([near, torch.zeros_like(near)], dim=1)
            total.index_add_(0, missing, others(condition, seed.child("missing")))
        return total / whole.clamp_min(1)[:, None]

    def follow(self, batch: GraphBatch, filled: GraphBatch, nodes: Tensor, kept: Tensor) -> Tensor:
        """Adapts rows to neighbours in the graph that have changed; neighbours that the graph leaves out stay the same.

        Rows of the source are whole numbers, so a mean of k rows is made of multiples of 1 / k, and its smallest entry,
        mostly a word that one of them has once, tells k.

        Args:
            batch: the graphs as they were.
            filled: with the new rows of the source.
            nodes: (B, N) bool, the nodes that have changed. Those of this type are left out here.
            kept: (m, d) a row for each node of the type, in order; changed in place.

        Returns:
            (B, N) bool: nodes of the type beside changed ones whose rows do not tell k, so that they are not adapted.
        """
        here = batch.node_type == batch.schema.type_index(self.name)
        is_source = batch.node_type == batch.schema.type_index(self.source)
        adjacent = here & ~nodes & (batch.undirected & (is_source & nodes)[:, None, :]).any(2)
        graph = adjacent.nonzero()[:, 0]
        old = kept[adjacent[here]]
        joined = _sources(batch, adjacent, self.source)
        of, place = joined.nonzero(as_tuple=True)
        before, after = (
            torch.zeros_like(old).index_add_(0, of, some.tables[self.source][some.row[graph[of], place]])
            for some in (batch, filled)
        )
        count = (1 / old.masked_fill(old <= 0, torch.inf).amin(1)).round()  # 0 for a row of zeros
        total = old * count[:, None]
        outside = total.round() - before
        known = (count >= joined.sum(1)) & (outside.amin(1) >= 0)
        known &= (total - total.round()).abs().amax(1) <= _WHOLE
        lost = adjacent.clone()
        lost[adjacent] = ~known
        kept[(adjacent & ~lost)[here]] = (outside + after)[known] / count[known, None]
        return lost


def _sources(graphs: GraphBatch, nodes: Tensor, source: str) -> Tensor:
    """Neighbours of type ``source`` of each of m marked nodes (B, N).  (m, N) bool"""
    graph, node = nodes.nonzero(as_tuple=True)
    return graphs.undirected[graph, node] & (graphs.node_type == graphs.schema.type_index(source))[graph]


def _joined(data: Adjacency, nodes: np.ndarray, source: str) -> csr_array:
    """(nodes, rows of ``source``) 1 where two are joined."""
    every = data.joined(nodes).tocoo()
    there = data.node_type[every.col] == data.schema.type_index(source)
    shape = (len(nodes), len(data.nodes_of(source)))
    place = every.row[there], data.row[every.col[there]]
    return csr_array((every.data[there].astype(np.float64), place), shape=shape)


def _are_means(data: Adjacency, nodes: np.ndarray, joined: csr_array, name: str, source: str) -> bool:
    degree = np.diff(joined.indptr)
    if not degree.any():
        return False
    others = np.unique(joined.indices)  # rows of the source beside them
    rows = csr_array(data.tables[source][torch.from_numpy(others)].double().numpy())
    mean = joined[:, others] @ rows
    mean = csr_array(mean.multiply(1.0 / np.maximum(degree, 1)[:, None]))
    own = data.tables[name][torch.from_numpy(data.row[nodes])]
    return bool(abs(mean - csr_array(own.double().numpy())).max() <= _EXACT)


def _degrees(graphs: GraphBatch, degree: Tensor, place: Tensor, name: str, source: str) -> Tensor:
    """Numbers of neighbours in the data given those in a small graph.

    Args:
        graphs: small graphs.
        degree: (n,) numbers in the data of some nodes.
        place: which of them those of ``name`` in the graphs are.
        name, source: node types.
    """
    here = graphs.node_type == graphs.schema.type_index(name)
    inside = _sources(graphs, here, source).sum(1)
    whole = degree[place]
    most = int(inside.max()) if len(inside) else 0
    table = torch.zeros(most + 1, int(degree.max()) + 1, dtype=torch.float64)
    table.index_put_((inside, whole), torch.ones(len(whole), dtype=torch.float64), accumulate=True)
    table[table.sum(1) == 0] = torch.bincount(degree, minlength=table.size(1)).double()
    return table


def _siblings(data: Adjacency, joined: csr_array, source: str) -> Tensor:
    """(C, C) classes of siblings, each row a distribution; a class without siblings keeps to itself."""
    own = torch.eye(data.schema.num_classes)
    if source != data.schema.target:
        return own
    label = data.label[data.nodes_of(source)]
    known = np.flatnonzero(label >= 0)
    shape = (joined.shape[1], len(own))
    one_hot = csr_array((np.ones(len(known)), (known, label[known])), shape=shape)
    number = joined @ one_hot  # (nodes, C)
    # nobody is a sibling of itself
    pairs = torch.from_numpy((number.T @ number).toarray() - np.diag(number.sum(0))).float()
    total = pairs.sum(1, keepdim=True)
    return torch.where(total > 0, pairs / total.clamp_min(1e-9), own)
