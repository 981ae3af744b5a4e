"""The nearest real example of an explanation, in the space in which the model tells classes apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.model.scores import Scores

# Real nodes of a class whose own nearest others are sought at most: a share has an error below 0.03 then. Where there
# are more than 6 classes, fewer of each, at least 100: below 0.05.
MOST_COMPARED, LEAST_COMPARED, FULL_CLASSES = 300, 100, 6
# Rows whose distances are computed together: bounds memory.
EMBEDDINGS_AT_ONCE = 512
# Embeddings of equal graphs differ by this share of their length at most (float32 sums in another order).
_ROUNDING = 1e-5


@dataclass(frozen=True)
class NearestExample:
    """The real target node (or graph) whose embedding is nearest.

    Args:
        graph: its number among the real graphs.
        node: position of the target node in that graph; None for graph classification.
        row: the target node's number in the data; None for graph classification.
        label: its true class; None where unknown.
        predicted: the class that the model gives it.
        distance: Euclid between the embeddings.
        farther: share of the real nodes (or graphs) that the model gives the explained class whose own nearest other
            is at least as far: 1 is nearer than any, 0 is farther than all. None if there are none.
    """

    graph: int
    node: int | None
    row: int | None
    label: int | None
    predicted: int
    distance: float
    farther: float | None


def nearest_real(embedding: Tensor, classes: Sequence[int], real: Scores, graphs: GraphBatch) -> list[NearestExample]:
    """The nearest real example of each of m explanations.

    Subgraphs overlap, so one real node may stand in several of them: the nearest other of a real node is another node.

    Args:
        embedding: (m, D) of the explanations' target nodes (or graphs), from the same model as ``real``.
        classes: (m,) the class that each explains.
        real: the model's scores of ``graphs``.
        graphs: real graphs.
    """
    if not len(real.graph):
        raise DignnError("There are no real nodes to compare explanations with; give graphs that have some")
    if embedding.dim() != 2 or embedding.size(1) != real.embedding.size(1) or len(embedding) != len(classes):
        raise DignnError(
            f"The embeddings have the shape {tuple(embedding.shape)} for {len(classes)} explanations; give one row of "
            f"{real.embedding.size(1)} columns for each"
        )
    identity = real.identities(graphs)
    if bool((identity < 0).any()):  # not sampled from data: all are different
        identity = torch.arange(len(identity))
    known = _Known(real.embedding.double(), identity)
    nearest, distance = known.nearest(embedding.double(), torch.full((len(embedding),), PADDING))
    usual: dict[int, Tensor] = {}
    number = max(LEAST_COMPARED, MOST_COMPARED * FULL_CLASSES // max(FULL_CLASSES, len(set(classes))))
    for class_index in set(classes):
        members = (real.predicted == class_index).nonzero()[:, 0]
        some = members[torch.linspace(0, len(members) - 1, min(len(members), number)).round().long()]
        apart = known.nearest(known.table[some], identity[some])[1]
        usual[class_index] = apart[apart.isfinite()]
    return [
        _example(real, graphs, index, far, usual[class_index])
        for index, far, class_index in zip(nearest.tolist(), distance.tolist(), classes, strict=True)
    ]


def _example(real: Scores, graphs: GraphBatch, index: int, distance: float, usual: Tensor) -> NearestExample:
    graph, node = int(real.graph[index]), int(real.node[index])
    label = int(real.labels(graphs)[index])
    row = PADDING if node < 0 else int(graphs.row[graph, node])
    at_least = usual >= distance - _ROUNDING * float(real.embedding[index].norm())
    return NearestExample(
        graph=graph,
        node=None if node < 0 else node,
        row=None if row < 0 else row,
        label=None if label < 0 else label,
        predicted=int(real.predicted[index]),
        distance=distance,
        farther=float(at_least.double().mean()) if len(usual) else None,
    )


class _Known:
    """Embeddings of real nodes.

    Args:
        table: (n, D) one for each time that a node stands in a graph.
        identity: (n,) which node it is.
    """

    def __init__(self, table: Tensor, identity: Tensor) -> None:
        self.table = table
        self._square = (table**2).sum(1)
        self._places = _places(identity)

    def nearest(self, rows: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
        """Index and distance of the nearest to each row that is not the same node; infinite where there is none."""
        found, distances = [torch.empty(0, dtype=torch.long)], [torch.empty(0, dtype=torch.double)]
        for block, same in zip(rows.split(EMBEDDINGS_AT_ONCE), own.split(EMBEDDINGS_AT_ONCE), strict=True):
            apart = torch.addmm(self._square, block, self.table.T, alpha=-2)  # squared, less the row's own square
            for line, node in zip(apart, same.tolist(), strict=True):
                line[self._places.get(node, [])] = torch.inf
            least, index = apart.min(1)
            exact = (block - self.table[index]).norm(dim=1)  # the matrix product above rounds small distances
            distances.append(torch.where(least.isinf(), torch.inf, exact))
            found.append(index)
        return torch.cat(found), torch.cat(distances)


def _places(identity: Tensor) -> dict[int, Tensor]:
    """Where each node stands in the table."""
    ordered, place = identity.sort(stable=True)
    nodes, count = ordered.unique_consecutive(return_counts=True)
    return dict(zip(nodes.tolist(), place.split(count.tolist()), strict=True))
