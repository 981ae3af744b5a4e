"""Explanations in the classes of PyTorch Geometric's ``explain``, with masks from the effects of removal.

A mask says how far the probability of the class falls when a part is taken away: 0 where it does not fall, where nobody
tried, and where the model gives no answer. Parts that were removed together are left out, since no single one of them
can be said to have done it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import Explanation as HomogeneousExplanation
from torch_geometric.explain import HeteroExplanation

from dignn.core.checks import choice
from dignn.core.errors import DignnError
from dignn.evidence.removal import Effect, Effects
from dignn.evidence.variants import Kind
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import to_disjoint, weight_field
from dignn.graphs.description import type_name
from dignn.graphs.schema import Schema

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation

Masks = Literal["nodes", "features"]
# Probabilities that differ by less are of sums in another order.
NOISE = 1e-6
PyGExplanation: TypeAlias = HomogeneousExplanation | HeteroExplanation


def pyg_explanation(explanation: Explanation, masks: Masks) -> PyGExplanation:
    """What :meth:`~dignn.explanations.explanation.Explanation.to_pyg` gives.

    Raises:
        DignnError: ``masks`` is something else, or there is nothing to make them from.
    """
    choice("masks", masks, get_args(Masks))
    if explanation.evidence is None:
        raise DignnError(
            "This explanation carries no evidence to make masks from; take one that explain() or Explanations.load gave"
        )
    graph, effects = explanation.graph, explanation.evidence.effects
    columns = {name: _column_names(graph.schema, name) for name in graph.schema.node_types}
    columns = {name: labels for name, labels in columns.items() if labels}
    about: dict[str, Any] = {"columns": columns}
    if masks == "nodes":
        found = _graph_of(explanation, _node_values(graph, effects), dict.fromkeys(graph.schema.node_types, 1))
    else:
        if not columns:
            raise DignnError("masks is 'features', but the graph's nodes have no feature columns; give masks='nodes'")
        widths = {name: len(labels) for name, labels in columns.items()}
        found = _graph_of(explanation, _column_values(graph, effects, max(widths.values())), widths)
        tried = _tried_columns(graph, effects)
        about["untried_columns"] = {
            name: [label for column, label in enumerate(labels) if (name, column) not in tried]
            for name, labels in columns.items()
        }
    _add_masks_of_edges(found, graph, effects)
    for name, value in (about | _answer(explanation, found)).items():
        if isinstance(found, Data) or name not in found.node_types:  # found[name] means the type of that name
            setattr(found, name, value)
    return found


def _column_names(schema: Schema, node_type: str) -> list[str]:
    """What the columns of ``x`` of a type are called."""
    if schema.type_in_x:
        return list(schema.node_types)
    spec = schema.spec(node_type)
    return [spec.column_name(column) for column in range(spec.width)]


# -- masks --------------------------------------------------------------------------------------------


def _fall(effects: Effects, effect: Effect) -> float:
    """How far the probability falls; 0 where it rises or is not known."""
    fall = 0.0 if effect.probability is None else effects.probability - effect.probability
    return fall if fall > NOISE else 0.0


def _node_values(graph: GraphBatch, effects: Effects) -> Tensor:
    """(N, 1), with the whole probability for the classified node, without which there is no answer at all."""
    values = torch.zeros(graph.node_type.size(1), 1)
    for effect in effects.of(Kind.NODE):
        values[effect.part.nodes[0]] = _fall(effects, effect)
    if effects.node is not None:
        values[effects.node] = effects.probability
    return values


def _column_values(graph: GraphBatch, effects: Effects, width: int) -> Tensor:
    """(N, width)"""
    values = torch.zeros(graph.node_type.size(1), width)
    for effect in effects.of(Kind.COLUMN):
        values[effect.part.nodes[0], effect.part.columns[0]] = _fall(effects, effect)
    return values


def _tried_columns(graph: GraphBatch, effects: Effects) -> set[tuple[str, int]]:
    """Type and number of the columns that were removed from some node; evidence keeps those of the largest effects."""
    return {(type_name(graph, effect.part.nodes[0]), effect.part.columns[0]) for effect in effects.of(Kind.COLUMN)}


def _edge_values(graph: GraphBatch, effects: Effects) -> Tensor:
    """(1, N, N), both directions of an undirected edge alike."""
    values = torch.zeros(graph.edge.shape)
    for effect in effects.of(Kind.EDGE):
        ((u, v),) = effect.part.edges
        values[0, u, v] = _fall(effects, effect)
        if not graph.schema.relations[int(graph.edge[0, u, v]) - 1].directed:
            values[0, v, u] = values[0, u, v]
    return values


# -- the classes of PyTorch Geometric -----------------------------------------------------------------


def _graph_of(explanation: Explanation, values: Tensor, widths: dict[str, int]) -> PyGExplanation:
    """The graph with masks of nodes: of their values (N, d) as many columns as their type has."""
    data, graph = explanation.to_hetero_data(), explanation.graph
    if isinstance(data, Data):
        homogeneous = HomogeneousExplanation.from_dict(data.to_dict())
        homogeneous.node_mask = values[graph.mask[0]]
        return homogeneous
    hetero = HeteroExplanation.from_dict(data.to_dict())
    for name, width in widths.items():
        hetero[name].node_mask = values[graph.node_type[0] == graph.schema.type_index(name), :width]
    return hetero


def _add_masks_of_edges(found: PyGExplanation, graph: GraphBatch, effects: Effects) -> None:
    weighted = to_disjoint(graph, _edge_values(graph, effects))  # values in the order of the edges
    name = weight_field(graph.schema)
    for store, known in zip(found.edge_stores, weighted.edge_stores, strict=True):
        store.edge_mask = known[name] if name in known else torch.zeros(0)


def _answer(explanation: Explanation, found: PyGExplanation) -> dict[str, Tensor]:
    """Class, probabilities and classified node as PyTorch Geometric's explainers give them.

    There, all rows of the model's output are known; here only that of the classified node.
    """
    node, row = explanation.node, explanation.row
    rows = 1
    if node is not None:
        store = found if isinstance(found, Data) else found[type_name(explanation.graph, node)]
        rows = int(store.num_nodes or 0)
    target = torch.full((rows,), -1)
    prediction = torch.full((rows, len(explanation.probability)), torch.nan)
    target[row or 0] = explanation.class_index
    prediction[row or 0] = torch.tensor(explanation.probability)
    answer = {"target": target, "prediction": prediction}
    return answer if row is None else answer | {"index": torch.tensor([row])}
