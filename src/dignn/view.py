"""One flat view of every graph class that users have: PyTorch Geometric's ``Data`` and ``HeteroData``, one or many.

A view numbers all nodes of all graphs from 0 and keeps edges by PyTorch Geometric edge type. Schema inference,
the sampler's adjacency and :class:`~dignn.batch.GraphBatch` are built from it, so that they agree on what an
input means.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.errors import SchemaError
from dignn.schema import EdgeType, Schema
from dignn.suggestions import did_you_mean

log = logging.getLogger(__name__)

HOMOGENEOUS_TYPE = "node"
HOMOGENEOUS_RELATION = "to"


@dataclass(frozen=True)
class View:
    """All nodes of one or many graphs, numbered through; n nodes, G graphs.

    ``x[t]`` is the feature matrix of type t over all graphs (None without features), and node i has row
    ``row[i]`` of its type's matrix. ``label`` holds node labels (-1 without), ``graph_label`` graph labels.
    """

    type_names: tuple[str, ...]
    node_type: np.ndarray  # (n,)
    row: np.ndarray  # (n,)
    graph_ptr: np.ndarray  # (G + 1,)
    x: dict[str, Tensor | None]
    edges: dict[EdgeType, np.ndarray]  # (2, E) node numbers
    label: np.ndarray  # (n,)
    graph_label: np.ndarray | None  # (G,)


def view_of(
    data: Data | HeteroData | Sequence[Data | HeteroData],
    *,
    type_names: Sequence[str] | None = None,
    edge_names: Sequence[str] | None = None,
    target: str | None = None,
    homogeneous_type: str = HOMOGENEOUS_TYPE,
) -> View:
    """Flattens ``data``.

    Args:
        data: one graph (node classification) or a list of them (graph classification).
        type_names: for ``Data``: ``x`` is a one-hot node type with these names.
        edge_names: for ``Data``: ``edge_attr`` is a one-hot relation with these names.
        target: the type whose ``y`` holds node labels; None for graph classification.
        homogeneous_type: name of the only type of a ``Data`` without ``type_names``.
    """
    single = isinstance(data, (Data, HeteroData))
    if not single and not isinstance(data, Sequence):
        raise SchemaError(f"The data is a {type(data).__name__}; give a Data, a HeteroData, or a list of them")
    graphs: list[Data | HeteroData] = [data] if single else list(data)
    strange = next((graph for graph in graphs if not isinstance(graph, (Data, HeteroData))), None)
    if strange is not None:
        raise SchemaError(f"The list of graphs holds a {type(strange).__name__}; give Data or HeteroData objects")
    if not graphs:
        raise SchemaError("The list of graphs is empty; give at least one graph")
    if len({isinstance(graph, HeteroData) for graph in graphs}) > 1:
        raise SchemaError("The list mixes Data and HeteroData; give graphs of one class")
    if isinstance(graphs[0], HeteroData):
        parts = [_hetero_part(graph, target) for graph in graphs]
    else:
        names = tuple(type_names) if type_names else (homogeneous_type,)
        parts = [_homogeneous_part(graph, names, bool(type_names), edge_names, target) for graph in graphs]
    graph_label = None
    if target is None:
        graph_label = np.concatenate([_graph_label(graph, number) for number, graph in enumerate(graphs)])
    return _concatenate(parts, graph_label)


def view_for(data: Data | HeteroData | Sequence[Data | HeteroData], schema: Schema) -> View:
    """Flattens ``data`` the way ``schema`` describes it."""
    return view_of(
        data,
        type_names=schema.node_types if schema.type_in_x else None,
        edge_names=schema.edge_attr_names,
        target=schema.target,
        homogeneous_type=schema.node_types[0],
    )


# -- one graph ----------------------------------------------------------------------------------------


@dataclass
class _Part:
    counts: dict[str, int]
    node_type: np.ndarray  # (n,) index into counts' keys
    row: np.ndarray
    x: dict[str, Tensor | None]
    edges: dict[EdgeType, np.ndarray]
    label: np.ndarray


def _hetero_part(data: HeteroData, target: str | None) -> _Part:
    if not data.node_types:
        raise SchemaError("A HeteroData has no node types; set data['...'].x or .num_nodes")
    counts = {}
    for name in data.node_types:
        count = data[name].num_nodes
        if count is None:
            raise SchemaError(f"Node type '{name}' has no known number of nodes; set data['{name}'].num_nodes")
        counts[name] = int(count)
    offset = dict(zip(counts, np.cumsum([0, *counts.values()]), strict=False))
    edges = {}
    for source, name, destination in data.edge_types:
        for end in (source, destination):
            if end not in counts:
                raise SchemaError(f"Edge type {(source, name, destination)} names the unknown node type '{end}'")
        store = data[source, name, destination]
        if "edge_index" not in store:
            raise SchemaError(f"Edge type {(source, name, destination)} has no edge_index; add it or drop the type")
        index = _edge_index(store.edge_index, counts[source], counts[destination], f"{source} {name} {destination}")
        edges[source, name, destination] = index + np.array([[offset[source]], [offset[destination]]])
    label = np.full(sum(counts.values()), -1, dtype=np.int64)
    if target is not None:
        if target not in counts:
            guess = did_you_mean(target, counts)
            raise SchemaError(f"Target '{target}' is not a node type{guess}; choose from {', '.join(counts)}")
        start = offset[target]
        label[start : start + counts[target]] = _node_labels(data[target].get("y"), counts[target], target)
    return _Part(
        counts=counts,
        node_type=np.repeat(np.arange(len(counts)), list(counts.values())),
        row=np.concatenate([np.arange(count) for count in counts.values()]),
        x={name: _matrix(data[name].get("x"), counts[name], name) for name in counts},
        edges=edges,
        label=label,
    )


def _homogeneous_part(
    data: Data, names: tuple[str, ...], typed: bool, edge_names: Sequence[str] | None, target: str | None
) -> _Part:
    if data.num_nodes is None:
        raise SchemaError("A graph has no known number of nodes; give it x or num_nodes")
    count = int(data.num_nodes)
    x = _matrix(data.x, count, "node")
    node_type = np.zeros(count, dtype=np.int64)
    if typed:
        node_type = _one_hot_codes(x, len(names), "x", "node type")
    if data.edge_index is None and "adj_t" in data:
        raise SchemaError("A graph has its edges in adj_t only; give edge_index")
    edge_index = data.edge_index if data.edge_index is not None else torch.empty(2, 0, dtype=torch.long)
    index = _edge_index(edge_index, count, count, "edge_index")
    code = np.zeros(index.shape[1], dtype=np.int64)
    if edge_names is not None and len(code):
        attributes = data.edge_attr
        if attributes is not None and len(attributes) != len(code):
            raise SchemaError(f"edge_attr has {len(attributes)} rows for {len(code)} edges; give one for each")
        attributes = None if attributes is None else attributes.reshape(len(code), -1)
        code = _one_hot_codes(attributes, len(edge_names), "edge_attr", "relation")
    edges: dict[EdgeType, np.ndarray] = {}
    relation_names = tuple(edge_names) if edge_names is not None else (HOMOGENEOUS_RELATION,)
    key = (node_type[index[0]] * len(names) + node_type[index[1]]) * len(relation_names) + code
    for value in np.unique(key):
        pair, relation = divmod(int(value), len(relation_names))
        source, destination = divmod(pair, len(names))
        edges[names[source], relation_names[relation], names[destination]] = index[:, key == value]
    label = np.full(count, -1, dtype=np.int64)
    if target is not None:
        if target not in names:
            guess = did_you_mean(target, names)
            raise SchemaError(f"Target '{target}' is not a node type{guess}; choose from {', '.join(names)}")
        every = _node_labels(data.y, count, target)
        label = np.where(node_type == names.index(target), every, -1)
    row = np.arange(count)
    counts = {name: int((node_type == code).sum()) for code, name in enumerate(names)}
    if typed:
        order = np.argsort(node_type, kind="stable")
        starts = np.cumsum([0, *counts.values()])[:-1]
        row = np.empty(count, dtype=np.int64)
        row[order] = np.arange(count) - starts[node_type[order]]
    matrices: dict[str, Tensor | None] = dict.fromkeys(names) if typed else {names[0]: x}
    return _Part(counts=counts, node_type=node_type, row=row, x=matrices, edges=edges, label=label)


def _concatenate(parts: list[_Part], graph_label: np.ndarray | None) -> View:
    names = tuple(dict.fromkeys(name for part in parts for name in part.counts))
    position = {name: i for i, name in enumerate(names)}
    sizes = [len(part.node_type) for part in parts]
    graph_ptr = np.cumsum([0, *sizes])
    seen = dict.fromkeys(names, 0)
    node_type, row = [], []
    edges: dict[EdgeType, list[np.ndarray]] = {}
    for part, start in zip(parts, graph_ptr, strict=False):
        codes = np.array([position[name] for name in part.counts], dtype=np.int64)
        base = np.array([seen[name] for name in part.counts], dtype=np.int64)
        node_type.append(codes[part.node_type])
        row.append(part.row + base[part.node_type])
        for name, count in part.counts.items():
            seen[name] += count
        for edge_type, index in part.edges.items():
            edges.setdefault(edge_type, []).append(index + start)
    x: dict[str, Tensor | None] = {}
    for name in names:
        matrices = [part.x.get(name) for part in parts if part.counts.get(name)]
        with_features = [matrix for matrix in matrices if matrix is not None]
        if with_features and len(with_features) != len(matrices):
            raise SchemaError(f"Node type '{name}' has features in some graphs only; give x everywhere or nowhere")
        if len({matrix.size(1) for matrix in with_features}) > 1:
            raise SchemaError(f"Node type '{name}' has a different number of columns from graph to graph")
        if not with_features:  # empty in every graph: keep an empty matrix, it still tells the width
            with_features = [matrix for part in parts if (matrix := part.x.get(name)) is not None][:1]
        x[name] = (
            None if not with_features else with_features[0] if len(with_features) == 1 else torch.cat(with_features)
        )
    return View(
        type_names=names,
        node_type=np.concatenate(node_type),
        row=np.concatenate(row),
        graph_ptr=graph_ptr,
        x=x,
        edges={edge_type: np.concatenate(pieces, axis=1) for edge_type, pieces in edges.items()},
        label=np.concatenate([part.label for part in parts]),
        graph_label=graph_label,
    )


# -- checks -------------------------------------------------------------------------------------------


def _matrix(x: Tensor | None, count: int, name: str) -> Tensor | None:
    if x is None:
        return None
    if not isinstance(x, Tensor):
        raise SchemaError(f"The features of type '{name}' are a {type(x).__name__}; give a tensor")
    dense = x.to_dense() if x.layout is not torch.strided else x
    dense = dense[:, None] if dense.dim() == 1 else dense
    if dense.dim() != 2 or dense.size(0) != count:
        raise SchemaError(
            f"The features of type '{name}' have shape {tuple(x.shape)}; give one row for each of {count} nodes"
        )
    dense = dense.detach().to("cpu", torch.float32)
    if not torch.isfinite(dense).all():
        column = int((~torch.isfinite(dense)).any(0).nonzero()[0])
        raise SchemaError(f"The features of type '{name}' hold NaN or infinity (first in column {column}); clean them")
    return dense


def _edge_index(edge_index: Tensor, sources: int, targets: int, name: str) -> np.ndarray:
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise SchemaError(
            f"The edges of '{name}' have shape {tuple(edge_index.shape)}; give an edge_index of shape (2, E)"
        )
    if edge_index.is_floating_point() and edge_index.numel():
        raise SchemaError(f"The edges of '{name}' are {edge_index.dtype}; give whole numbers")
    index = edge_index.detach().cpu().numpy().astype(np.int64, copy=False)
    if index.size and (index.min() < 0 or index[0].max() >= sources or index[1].max() >= targets):
        raise SchemaError(f"The edges of '{name}' name a node that does not exist; check edge_index against num_nodes")
    return index


def _node_labels(y: Tensor | None, count: int, target: str) -> np.ndarray:
    if y is None:
        return np.full(count, -1, dtype=np.int64)
    labels = y.detach().cpu()
    if labels.dim() == 2 and labels.size(1) == 1:
        labels = labels[:, 0]
    if labels.dim() != 1 or len(labels) != count or labels.is_floating_point():
        raise SchemaError(
            f"The labels of type '{target}' have shape {tuple(y.shape)} and type {y.dtype}; "
            "give one whole-number class per node"
        )
    return _known(labels)


def _graph_label(data: Data | HeteroData, number: int) -> np.ndarray:
    y = data.get("y") if isinstance(data, Data) else data._global_store.get("y")
    if y is None:
        return np.array([-1])
    values = torch.as_tensor(y).reshape(-1)
    if len(values) != 1 or values.is_floating_point():
        raise SchemaError(f"Graph {number} has the label {y}; give one whole-number class per graph")
    return _known(values)


def _known(labels: Tensor) -> np.ndarray:
    """Class numbers; -1 for every negative label (PyTorch marks unknown ones with -100)."""
    return np.maximum(labels.cpu().numpy().astype(np.int64), -1)


def _one_hot_codes(matrix: Tensor | None, width: int, field: str, meaning: str) -> np.ndarray:
    if matrix is None or matrix.size(1) != width:
        found = "missing" if matrix is None else f"{matrix.size(1)} columns wide"
        raise SchemaError(
            f"{field} is {found}, but {width} {meaning} names were given; give a one-hot {field} of that width"
        )
    values = matrix.detach().cpu().numpy()
    if values.size and not (((values == 0) | (values == 1)).all() and (values.sum(1) == 1).all()):
        raise SchemaError(f"{field} is not one-hot, so it cannot be read as the {meaning}")
    return values.argmax(1).astype(np.int64) if len(values) else np.empty(0, dtype=np.int64)
