"""The nearest real example of an explanation, in the space in which the model tells classes apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from dignn.batch import PADDING, GraphBatch
from dignn.errors import DignnError
from dignn.gnn.adapter import Scores

# Real nodes of a class whose own nearest others are sought at most: a share has an error below 0.03 then.
MOST_COMPARED = 300
# Rows whose distances are computed together: bounds memory.
BLOCK = 512
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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> NearestExample:
        return cls(**content)


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
    known = real.embedding.double()
    nearest, distance = _nearest(embedding.double(), known)
    predicted = real.logits.argmax(1)
    identity = real.graph if graphs.schema.target is None else graphs.row[real.graph, real.node]
    if graphs.schema.target is not None and bool((identity < 0).any()):  # not sampled from data: all are different
        identity = torch.arange(len(identity))
    usual: dict[int, Tensor] = {}
    for class_index in set(classes):
        members = (predicted == class_index).nonzero()[:, 0]
        some = members[torch.linspace(0, len(members) - 1, min(len(members), MOST_COMPARED)).round().long()]
        usual[class_index] = _nearest(known[some], known, identity[some], identity)[1]
    return [
        _example(real, graphs, int(index), float(far), usual[class_index], int(predicted[index]))
        for index, far, class_index in zip(nearest, distance, classes, strict=True)
    ]


def _example(
    real: Scores, graphs: GraphBatch, index: int, distance: float, usual: Tensor, predicted: int
) -> NearestExample:
    graph, node = int(real.graph[index]), int(real.node[index])
    of_graph = graphs.schema.target is None
    label = int(graphs.graph_label[graph] if of_graph else graphs.label[graph, node])
    row = PADDING if of_graph else int(graphs.row[graph, node])
    usual = usual[usual.isfinite()]
    at_least = usual >= distance - _ROUNDING * float(real.embedding[index].norm())
    return NearestExample(
        graph=graph,
        node=None if of_graph else node,
        row=None if row < 0 else row,
        label=None if label < 0 else label,
        predicted=predicted,
        distance=distance,
        farther=float(at_least.double().mean()) if len(usual) else None,
    )


def _nearest(
    rows: Tensor, table: Tensor, own: Tensor | None = None, identity: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Index and distance of the nearest row of ``table`` that is not the same node; infinite where there is none."""
    found, distances = [], []
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        apart = torch.cdist(block, table)
        if own is not None and identity is not None:
            apart = apart.masked_fill(own[start : start + BLOCK, None] == identity, torch.inf)
        index = apart.argmin(1)
        exact = (block - table[index]).norm(dim=1)  # the matrix product above rounds small distances
        distances.append(torch.where(apart.gather(1, index[:, None])[:, 0].isinf(), torch.inf, exact))
        found.append(index)
    if not found:
        return torch.empty(0, dtype=torch.long), torch.empty(0, dtype=torch.double)
    return torch.cat(found), torch.cat(distances)
