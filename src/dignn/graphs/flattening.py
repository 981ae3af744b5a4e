"""One flat view of every graph class that users have: PyTorch Geometric's ``Data`` and ``HeteroData``, one or many.

A view numbers all nodes of all graphs from 0 and keeps edges by PyTorch Geometric edge type. Schema inference,
the sampler's adjacency and :class:`~dignn.graphs.batch.GraphBatch` are built from it, so that they agree on what an
input means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.core.errors import SchemaError
from dignn.graphs.edge_fields import FieldNames, read_field
from dignn.graphs.edge_forms import read_edges
from dignn.graphs.edge_keys import EdgeKeys, NumberedEdges
from dignn.graphs.feature_matrix import FeatureForm, dense, read_matrix, stacked
from dignn.graphs.intake import graphs_of
from dignn.graphs.relation_codes import NUMBERS, ONE_HOT, one_hot_codes, relation_codes
from dignn.graphs.schema import EdgeType, Schema
from dignn.graphs.tasks.base import Task
from dignn.graphs.tasks.classification import GraphClassification, few

HOMOGENEOUS_TYPE = "node"
HOMOGENEOUS_RELATION = "to"
_WHOLE_GRAPHS = GraphClassification()
# What to do with one-hot labels.
_BY_NUMBER = ", y.argmax(-1) of one-hot ones"


@dataclass(frozen=True)
class FlatGraphs:
    """All nodes of one or many graphs, numbered through; n nodes, G graphs.

    ``x[t]`` is the feature matrix of type t over all graphs (None without features), sparse where the data's is, and
    ``form[t]`` is what it is outside; node i has row ``row[i]`` of its type's matrix. ``label`` holds node labels,
    ``graph_label`` graph labels (-1 without). ``edge_values[e]`` are the fields of the edges of an edge type, row by
    row, and ``edge_form[e]`` what these are outside.
    """

    type_names: tuple[str, ...]
    node_type: np.ndarray  # (n,)
    row: np.ndarray  # (n,)
    graph_ptr: np.ndarray  # (G + 1,)
    x: dict[str, Tensor | None]
    edges: Mapping[EdgeType, np.ndarray]  # (2, E) node numbers
    label: np.ndarray  # (n,)
    graph_label: np.ndarray  # (G,)
    form: dict[str, FeatureForm] = field(default_factory=dict)
    edge_values: dict[EdgeType, dict[str, Tensor]] = field(default_factory=dict)  # (E, d)
    edge_form: dict[EdgeType, dict[str, FeatureForm]] = field(default_factory=dict)

    @cached_property
    def keys(self) -> EdgeKeys:
        """Its edges, sorted."""
        return EdgeKeys(self.edges, len(self.node_type))


def flatten(
    data: Any,
    *,
    type_names: Sequence[str] | None = None,
    edge_names: Sequence[str] | None = None,
    edge_field: str = ONE_HOT,
    task: Task = _WHOLE_GRAPHS,
    homogeneous_type: str = HOMOGENEOUS_TYPE,
    edge_fields: FieldNames | None = None,
) -> FlatGraphs:
    """Flattens ``data``.

    Args:
        data: one graph (node classification) or several (graph classification), in any form that
            :func:`~dignn.graphs.intake.given_graphs` knows.
        type_names: for ``Data``: ``x`` is a one-hot node type with these names.
        edge_names: for ``Data``: ``edge_attr`` is a one-hot relation with these names,
        edge_field: or ``edge_type`` the number of one.
        task: whose ``y`` holds labels, and how they are read.
        homogeneous_type: name of the only type of a ``Data`` without ``type_names``.
        edge_fields: what edges carry that is looked at; by default nothing.
    """
    graphs = graphs_of(data)
    labels = [_graph_label(graph, number, task) for number, graph in enumerate(graphs)]
    if isinstance(graphs[0], HeteroData):
        fields = edge_fields or {}
        return _concatenate(
            [_hetero_part(graph, label, task, fields) for graph, label in zip(graphs, labels, strict=True)]
        )
    names = tuple(type_names) if type_names else (homogeneous_type,)
    return _concatenate(
        [
            _homogeneous_part(
                graph, label, names, bool(type_names), (edge_field, edge_names), task, (edge_fields or {}).get(None, ())
            )
            for graph, label in zip(graphs, labels, strict=True)
        ]
    )


def flatten_for(data: Any, schema: Schema) -> FlatGraphs:
    """Flattens ``data`` the way ``schema`` describes it."""
    return flatten(
        data,
        type_names=schema.node_types if schema.type_in_x else None,
        edge_names=schema.edge_attr_names if schema.edge_type_names is None else schema.edge_type_names,
        edge_field=ONE_HOT if schema.edge_type_names is None else NUMBERS,
        task=schema.task,
        homogeneous_type=schema.node_types[0],
        edge_fields=schema.edge_fields,
    )


# -- one graph ----------------------------------------------------------------------------------------


def _hetero_part(data: HeteroData, graph_label: np.ndarray, task: Task, fields: FieldNames) -> FlatGraphs:
    if not data.node_types:
        raise SchemaError("A HeteroData has no node types; set data['...'].x or .num_nodes")
    counts = {}
    for name in data.node_types:
        count = data[name].num_nodes
        if count is None:
            raise SchemaError(f"Node type '{name}' has no known number of nodes; set data['{name}'].num_nodes")
        counts[name] = int(count)
    offset = dict(zip(counts, np.cumsum([0, *counts.values()]), strict=False))
    edges, carried = {}, {}
    for source, name, destination in data.edge_types:
        for end in (source, destination):
            if end not in counts:
                raise SchemaError(f"Edge type {(source, name, destination)} names the unknown node type '{end}'")
        words = f"{source} {name} {destination}"
        index = read_edges(data[source, name, destination], counts[source], counts[destination], words)
        if index is None:
            raise SchemaError(f"Edge type {(source, name, destination)} has no edge_index; add it or drop the type")
        edges[source, name, destination] = index
        store, wanted = data[source, name, destination], fields.get((source, name, destination), ())
        carried[source, name, destination] = _read_fields(store, wanted, index.shape[1], words)
    task.check(list(counts))
    matrices = {name: read_matrix(data[name].get("x"), counts[name], name) for name in counts}
    label = [_node_labels(data[name].get("y") if name == task.target else None, counts[name], task) for name in counts]
    return FlatGraphs(
        type_names=tuple(counts),
        node_type=np.repeat(np.arange(len(counts)), list(counts.values())),
        row=np.concatenate([np.arange(count) for count in counts.values()]),
        graph_ptr=np.array([0, sum(counts.values())]),
        x={name: x for name, (x, _) in matrices.items()},
        edges=NumberedEdges(edges, offset),
        label=np.concatenate(label),
        graph_label=graph_label,
        form={name: form for name, (_, form) in matrices.items()},
        edge_values={name: {field: rows for field, (rows, _) in own.items()} for name, own in carried.items() if own},
        edge_form={name: {field: form for field, (_, form) in own.items()} for name, own in carried.items() if own},
    )


def _read_fields(store: Any, names: Sequence[str], count: int, words: str) -> dict[str, tuple[Tensor, FeatureForm]]:
    """What the edges of a store carry; where there are none, nothing."""
    return {name: read_field(store, name, count, words) for name in names} if count else {}


def _homogeneous_part(
    data: Data,
    graph_label: np.ndarray,
    names: tuple[str, ...],
    typed: bool,
    relations: tuple[str, Sequence[str] | None],
    task: Task,
    fields: Sequence[str],
) -> FlatGraphs:
    if data.num_nodes is None:
        raise SchemaError("A graph has no known number of nodes; give it x or num_nodes")
    count = int(data.num_nodes)
    x, form = read_matrix(data.x, count, "node")
    node_type = np.zeros(count, dtype=np.int64)
    if typed:
        node_type = one_hot_codes(None if x is None else dense(x), len(names), "x", "node type")
    found = read_edges(data.edge_stores[0], count, count, "edge_index")
    index = np.empty((2, 0), dtype=np.int64) if found is None else found
    code = np.zeros(index.shape[1], dtype=np.int64)
    field, edge_names = relations
    if edge_names is not None:
        code = relation_codes(data, index.shape[1], field, edge_names)
    carried = _read_fields(data.edge_stores[0], fields, index.shape[1], HOMOGENEOUS_RELATION)
    edges: dict[EdgeType, np.ndarray] = {}
    values: dict[EdgeType, dict[str, Tensor]] = {}
    outside: dict[EdgeType, dict[str, FeatureForm]] = {}
    relation_names = tuple(edge_names) if edge_names is not None else (HOMOGENEOUS_RELATION,)
    key = (node_type[index[0]] * len(names) + node_type[index[1]]) * len(relation_names) + code
    for value in np.unique(key):
        pair, relation = divmod(int(value), len(relation_names))
        source, destination = divmod(pair, len(names))
        edge_type = names[source], relation_names[relation], names[destination]
        edges[edge_type] = index[:, key == value]
        if carried:
            chosen = torch.from_numpy(key == value)
            values[edge_type] = {name: rows[chosen] for name, (rows, _) in carried.items()}
            outside[edge_type] = {name: form for name, (_, form) in carried.items()}
    task.check(names)
    answered = task.types(names)[node_type] & (not task.of_graphs)
    label = np.where(answered, _node_labels(data.y if answered.any() else None, count, task), -1)
    row = np.arange(count)
    for kind in range(len(names)) if typed else ():
        row[node_type == kind] = np.arange(int((node_type == kind).sum()))
    matrices: dict[str, Tensor | None] = dict.fromkeys(names) if typed else {names[0]: x}
    forms = dict.fromkeys(names, form)
    return FlatGraphs(
        *(names, node_type, row, np.array([0, count]), matrices, edges, label, graph_label, forms, values, outside)
    )


def _concatenate(parts: list[FlatGraphs]) -> FlatGraphs:
    """Graph after graph, with types in the order in which they are met."""
    if len(parts) == 1:
        return parts[0]
    names = tuple(dict.fromkeys(name for part in parts for name in part.type_names))
    graph_ptr = np.cumsum([0, *(len(part.node_type) for part in parts)])
    node_type = [np.array([names.index(name) for name in part.type_names])[part.node_type] for part in parts]
    counts = np.stack([np.bincount(codes, minlength=len(names)) for codes in node_type])  # (G, types)
    before = counts.cumsum(0) - counts
    edges: dict[EdgeType, list[np.ndarray]] = {}
    for part, start in zip(parts, graph_ptr, strict=False):
        for edge_type, index in part.edges.items():
            edges.setdefault(edge_type, []).append(index + start)
    x: dict[str, Tensor | None] = {}
    for code, name in enumerate(names):
        matrices = [part.x[name] for part, count in zip(parts, counts[:, code], strict=True) if count]
        with_features = [matrix for matrix in matrices if matrix is not None]
        if with_features and len(with_features) != len(matrices):
            raise SchemaError(f"Node type '{name}' has features in some graphs only; give x everywhere or nowhere")
        if len({matrix.size(1) for matrix in with_features}) > 1:
            raise SchemaError(f"Node type '{name}' has a different number of columns from graph to graph")
        if not with_features:  # empty in every graph: keep an empty matrix, it still tells the width
            with_features = [matrix for part in parts if (matrix := part.x.get(name)) is not None][:1]
        x[name] = stacked(with_features) if with_features else None
    return FlatGraphs(
        type_names=names,
        node_type=np.concatenate(node_type),
        row=np.concatenate(
            [part.row + seen[codes] for part, seen, codes in zip(parts, before, node_type, strict=True)]
        ),
        graph_ptr=graph_ptr,
        x=x,
        edges={edge_type: np.concatenate(pieces, axis=1) for edge_type, pieces in edges.items()},
        label=np.concatenate([part.label for part in parts]),
        graph_label=np.concatenate([part.graph_label for part in parts]),
        form={name: _form(parts, name, counts[:, code]) for code, name in enumerate(names)},
        edge_values={name: _joined([part.edge_values.get(name, {}) for part in parts]) for name in edges},
        edge_form={name: _common_forms([part.edge_form.get(name, {}) for part in parts]) for name in edges},
    )


def _joined(several: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """By field, the rows of all graphs that have such edges."""
    names = dict.fromkeys(name for own in several for name in own)
    found = {}
    for name in names:
        pieces = [own[name] for own in several if name in own]
        if len({piece.size(1) for piece in pieces}) > 1:
            raise SchemaError(f"{name} has a different number of columns from graph to graph; give the same everywhere")
        found[name] = pieces[0] if len(pieces) == 1 else torch.cat(pieces)
    return found


def _common_forms(several: Sequence[Mapping[str, FeatureForm]]) -> dict[str, FeatureForm]:
    """By field, what holds the forms of all graphs."""
    names = dict.fromkeys(name for own in several for name in own)
    return {name: FeatureForm.common([own[name] for own in several if name in own]) for name in names}


def _form(parts: list[FlatGraphs], name: str, counts: np.ndarray) -> FeatureForm:
    """Of a type's features in all graphs that have some of its nodes, or in those that have it at all."""
    forms = [part.form[name] for part, count in zip(parts, counts, strict=True) if count]
    return FeatureForm.common(forms or [part.form[name] for part in parts if name in part.form])


# -- checks -------------------------------------------------------------------------------------------


def _node_labels(y: Any, count: int, task: Task) -> np.ndarray:
    if y is None:
        return np.full(count, -1, dtype=np.int64)
    y = _label_tensor(y, f"The labels of {task.things}")
    values = y[:, 0] if y.dim() == 2 and y.size(1) == 1 else y
    if values.dim() != 1 or len(values) != count:
        advice = f"one label per node{_BY_NUMBER * _one_hot(y)}"
        raise SchemaError(f"The labels of {task.things} have shape {tuple(y.shape)}; give {advice}")
    return task.read_labels(values, f"The labels of {task.things} are {y.dtype}")


def _label_tensor(y: Any, of: str) -> Tensor:
    """Labels as a tensor: users have tensors, arrays, lists and numbers."""
    try:
        return torch.as_tensor(y)
    except (TypeError, ValueError, RuntimeError):
        raise SchemaError(f"{of} are a {type(y).__name__} that holds no numbers; give whole-number classes") from None


def _graph_label(data: Data | HeteroData, number: int, task: Task) -> np.ndarray:
    y = data.get("y") if isinstance(data, Data) else data._global_store.get("y")
    if y is None or not task.of_graphs:
        return np.array([-1])
    given = _label_tensor(y, f"The labels of graph {number}")
    values = given.reshape(-1)
    found = f"Graph {number} has the label{'s' * (len(values) != 1)} {few(values)}"
    if len(values) == 1:
        return task.read_labels(values, found)
    if len(values) == data.num_nodes:
        raise SchemaError(
            f"{found}, one for each node, but a list of graphs is classified as graphs; give one label per graph, or, "
            "to have nodes classified, the graph itself instead of a list"
        )
    raise SchemaError(f"{found}; give one label per graph{_BY_NUMBER * _one_hot(given.reshape(1, -1))}")


def _one_hot(y: Tensor) -> bool:
    """Whether labels are rows (n, C) that are 1 for one class and 0 for all others."""
    rows = y.dim() == 2 and y.size(1) > 1 and not y.is_complex()
    return rows and bool(((y == 0) | (y == 1)).all() and (y.sum(1) == 1).all())
