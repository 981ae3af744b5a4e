"""Hypothesis strategies and plain reference forms of the core nouns, shared by the tests.

``schemas`` and ``batches`` draw anything that the classes promise to hold. ``arcs_of`` and ``pyg_of`` say in plain
loops what a batch means, so that conversions can be compared with something that shares no code with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.schema import EdgeType, Layout, Relation, Schema

# What every property test here runs with; hypothesis' own time limits say nothing about torch on a busy machine.
PROPERTY = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])

# Names as people write them, and some that only JSON must survive.
NAMES = st.text("abcdefgh_XYZéß 中", min_size=1, max_size=5).filter(lambda name: "__" not in name)
ODD_NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)


@st.composite
def feature_specs(draw: st.DrawFn, names: st.SearchStrategy[str] = NAMES) -> FeatureSpec:
    """The features of one node type, of every kind."""
    kind = draw(st.sampled_from(FeatureKind))
    width = draw(st.integers(0 if kind is FeatureKind.NONE else 1, 4))
    size = {"min_size": width, "max_size": width}
    options: dict[str, Any] = {"kind": kind, "width": width}
    if kind in (FeatureKind.COUNT, FeatureKind.CATEGORICAL):
        options["levels"] = tuple(draw(st.lists(st.integers(1, 9), **size)))
    if kind is FeatureKind.NONE and width:
        options["constant"] = tuple(draw(st.lists(FINITE, **size)))
    if kind is FeatureKind.MIXED:
        options["columns"] = tuple(draw(st.lists(columns(), **size)))
    if draw(st.booleans()):
        options["names"] = tuple(draw(st.lists(names, **size)))
    return FeatureSpec(**options)


@st.composite
def columns(draw: st.DrawFn) -> Column:
    """A column of a mixed table, of every kind but one-hot groups."""
    kind = draw(st.sampled_from([kind for kind in ColumnKind if kind is not ColumnKind.ONE_HOT]))
    options: dict[str, Any] = {}
    if kind in (ColumnKind.COUNT, ColumnKind.CATEGORICAL):
        options["levels"] = draw(st.integers(1, 9))
    if kind is ColumnKind.CONSTANT:
        options["constant"] = draw(FINITE)
    if kind is ColumnKind.DATE:
        options |= {"unit": "days", "epoch": "1970-01-01"}
    return Column(kind, **options)


@st.composite
def relations(draw: st.DrawFn, node_types: tuple[str, ...]) -> tuple[Relation, ...]:
    """Relations of a heterogeneous graph: several between one pair of types, directed or not, stored once or twice."""
    found = []
    ends = st.tuples(st.sampled_from(node_types), st.sampled_from(node_types))
    for number, (source, target) in enumerate(draw(st.lists(ends, max_size=5))):
        name = f"r{number}"
        directed = source == target and draw(st.booleans())
        if source == target and not directed:
            reverse = draw(st.sampled_from([None, name]))
        else:
            same = [] if directed else [name]
            reverse = draw(st.sampled_from([None, f"rev_{name}", *same]))
        found.append(Relation(source, name, target, reverse, directed))
    return tuple(found)


@st.composite
def atom_relations(draw: st.DrawFn, node_types: tuple[str, ...], names: tuple[str, ...]) -> tuple[Relation, ...]:
    """Relations of a homogeneous graph whose node types and relation names are one-hot columns."""
    found: list[Relation] = []
    used: set[EdgeType] = set()
    for i, source in enumerate(node_types):
        for target in node_types[i:]:
            for name in names:
                if (source, name, target) in used or not draw(st.booleans()):
                    continue
                directed = source == target and draw(st.booleans())
                if source == target and not directed:
                    reverse = name
                else:
                    free = [other for other in names if (target, other, source) not in used]
                    reverse = draw(st.sampled_from([None, *(other for other in free if not directed or other != name)]))
                found.append(Relation(source, name, target, reverse, directed))
                used |= {(source, name, target), (target, reverse or name, source)}
    return tuple(found)


@st.composite
def schemas(
    draw: st.DrawFn,
    *,
    layout: Layout | None = None,
    node_classification: bool | None = None,
    names: st.SearchStrategy[str] = NAMES,
) -> Schema:
    """Any schema that graphs of PyTorch Geometric can have."""
    layout = draw(st.sampled_from(Layout)) if layout is None else layout
    of_nodes = draw(st.booleans()) if node_classification is None else node_classification
    node_types = tuple(draw(st.lists(names, min_size=1, max_size=4, unique=True)))
    classes = tuple(draw(st.lists(names, min_size=1, max_size=3, unique=True)))
    options: dict[str, Any] = {"layout": layout, "classes": classes}
    if layout is Layout.HETERO:
        options["relations"] = draw(relations(node_types))
        options["features"] = tuple(draw(feature_specs(names)) for _ in node_types)
    else:
        options["type_in_x"] = draw(st.booleans())
        node_types = node_types if options["type_in_x"] else node_types[:1]
        if draw(st.booleans()):
            options["edge_attr_names"] = ("single", "double")
        edge_names = options.get("edge_attr_names", ("to",))
        options["relations"] = draw(atom_relations(node_types, edge_names))
        plain = (FeatureSpec(),) * len(node_types)
        options["features"] = plain if options["type_in_x"] else (draw(feature_specs(names)),)
    target = draw(st.sampled_from(node_types)) if of_nodes else None
    return Schema(node_types=node_types, target=target, **options)


@st.composite
def batches(
    draw: st.DrawFn,
    schema: Schema | st.SearchStrategy[Schema] | None = None,
    *,
    min_graphs: int = 0,
    max_graphs: int = 3,
    min_nodes: int = 0,
    max_nodes: int = 6,
) -> GraphBatch:
    """Any batch with features that keeps GraphBatch's promises; no padding beyond the largest graph."""
    if schema is None:
        schema = schemas()
    if not isinstance(schema, Schema):
        schema = draw(schema)
    sizes = draw(st.lists(st.integers(min_nodes, max_nodes), min_size=min_graphs, max_size=max_graphs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_batch(schema, sizes, rng)


def random_batch(schema: Schema, sizes: list[int], rng: np.random.Generator) -> GraphBatch:
    """A batch of graphs of these sizes with random types, relations, labels and features."""
    shape = (len(sizes), max(sizes, default=0))
    node_type = np.full(shape, -1)
    edge = np.zeros((*shape, shape[1]), dtype=np.int64)
    for number, size in enumerate(sizes):
        node_type[number, :size] = rng.integers(0, len(schema.node_types), size)
        for u in range(size):
            for v in range(u + 1, size):
                options = schema.allowed[node_type[number, u], node_type[number, v], 1:].nonzero()[0] + 1
                if len(options) and rng.random() < 0.5:
                    edge[number, u, v], edge[number, v, u] = _join(schema, options, rng)
    label = np.full(shape, -1)
    if schema.target is not None:
        here = node_type == schema.target_index
        label[here] = rng.integers(-1, schema.num_classes, int(here.sum()))
    graph_label = np.full(len(sizes), -1)
    if schema.target is None:
        graph_label = rng.integers(-1, schema.num_classes, len(sizes))
    tables = {
        name: random_rows(spec, int(rng.integers(1, 6)), rng)
        for name, spec in zip(schema.node_types, schema.features, strict=True)
        if spec.generated
    }
    row = np.full(shape, -1)
    for code, name in enumerate(schema.node_types):
        here = node_type == code
        row[here] = rng.integers(0, len(tables[name]) if name in tables else 100, int(here.sum()))
    tensors = {"node_type": node_type, "edge": edge, "label": label, "graph_label": graph_label, "row": row}
    return GraphBatch(schema=schema, tables=tables, **{key: torch.from_numpy(value) for key, value in tensors.items()})


def _join(schema: Schema, options: np.ndarray, rng: np.random.Generator) -> tuple[int, int]:
    """The two cells of a pair of nodes that are joined."""
    one = int(rng.choice(options))
    if not schema.relations[one - 1].directed:
        return one, one
    directed = [int(r) for r in options if schema.relations[r - 1].directed]
    cells = [(one, 0), (0, one), (one, int(rng.choice(directed)))]  # there, back, or both
    return cells[int(rng.integers(3))]


def random_rows(spec: FeatureSpec, count: int, rng: np.random.Generator) -> torch.Tensor:
    """Rows as a spec describes them.  (count, width)"""
    if spec.kind is FeatureKind.CONTINUOUS:
        rows = rng.normal(size=(count, spec.width))
    elif spec.kind is FeatureKind.IDENTITY:
        rows = np.eye(spec.width)[rng.integers(0, spec.width, count)]
    elif spec.columns is not None:
        rows = np.stack([_random_column(column, count, rng) for column in spec.columns], axis=1)
    else:
        rows = rng.integers(0, spec.levels or 2, (count, spec.width))
    return torch.from_numpy(rows).float()


def _random_column(column: Column, count: int, rng: np.random.Generator) -> np.ndarray:
    if column.numeric:
        return rng.normal(size=count)
    if column.constant is not None:
        return np.full(count, column.constant)
    return rng.integers(0, column.levels or 2, count).astype(float)


# -- plain reference forms ----------------------------------------------------------------------------


def arcs_of(batch: GraphBatch, number: int) -> list[tuple[EdgeType, int, int]]:
    """Every arc of one graph as (edge type, source position, target position), both directions where stored."""
    schema, found = batch.schema, []
    edge, node_type = batch.edge[number].tolist(), batch.node_type[number].tolist()
    for u, line in enumerate(edge):
        for v, code in enumerate(line):
            if not code:
                continue
            relation = schema.relations[code - 1]
            if node_type[u] != schema.type_index(relation.source):
                continue  # the other cell of an edge between two types
            found.append((relation.edge_type, u, v))
            stored_twice = relation.reverse is not None and not relation.symmetric
            if stored_twice:
                found.append(((relation.target, relation.reverse, relation.source), v, u))
    return found


def row_of(batch: GraphBatch, number: int, node: int) -> list[float]:
    """The features of one node."""
    name = batch.schema.node_types[int(batch.node_type[number, node])]
    if name in batch.tables:
        return batch.tables[name][int(batch.row[number, node])].tolist()
    return list(batch.schema.spec(name).constant or ())


def pyg_of(batch: GraphBatch) -> list[Data] | list[HeteroData]:
    """The graphs of a batch in the schema's layout, edge by edge."""
    one = _hetero_of if batch.schema.layout is Layout.HETERO else _homogeneous_of
    return [one(batch, number) for number in range(len(batch))]


def _hetero_of(batch: GraphBatch, number: int) -> HeteroData:
    schema, data = batch.schema, HeteroData()
    place: dict[int, int] = {}
    for code, name in enumerate(schema.node_types):
        nodes = [i for i, kind in enumerate(batch.node_type[number].tolist()) if kind == code]
        place |= {node: i for i, node in enumerate(nodes)}
        data[name].num_nodes = len(nodes)
        if schema.spec(name).width:
            rows = [row_of(batch, number, node) for node in nodes]
            data[name].x = torch.tensor(rows, dtype=torch.float32).reshape(len(nodes), schema.spec(name).width)
        if name == schema.target:
            data[name].y = batch.label[number, nodes]
    arcs = arcs_of(batch, number)
    for edge_type in schema.edge_types:
        pairs = [(place[u], place[v]) for kind, u, v in arcs if kind == edge_type]
        data[edge_type].edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    if schema.target is None:
        data.y = batch.graph_label[number : number + 1]
    return data


def _homogeneous_of(batch: GraphBatch, number: int) -> Data:
    schema = batch.schema
    nodes = [i for i, kind in enumerate(batch.node_type[number].tolist()) if kind >= 0]
    place = {node: i for i, node in enumerate(nodes)}
    arcs = arcs_of(batch, number)
    pairs = [(place[u], place[v]) for _, u, v in arcs]
    data = Data(num_nodes=len(nodes), edge_index=torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T)
    if schema.type_in_x:
        data.x = torch.eye(len(schema.node_types))[batch.node_type[number, nodes]]
    elif schema.features[0].width:
        rows = [row_of(batch, number, node) for node in nodes]
        data.x = torch.tensor(rows, dtype=torch.float32).reshape(len(nodes), schema.features[0].width)
    if schema.edge_attr_names is not None:
        codes = [schema.edge_attr_names.index(name) for (_, name, _), _, _ in arcs]
        data.edge_attr = torch.eye(len(schema.edge_attr_names))[codes]
    data.y = batch.graph_label[number : number + 1] if schema.target is None else batch.label[number, nodes]
    return data


def pairs_of(edge_index: torch.Tensor) -> set[tuple[int, int]]:
    """The arcs of an edge_index."""
    return {(int(u), int(v)) for u, v in edge_index.T}


def hetero(
    counts: Mapping[str, int],
    edges: Mapping[EdgeType, list[tuple[int, int]]] | None = None,
    *,
    x: Mapping[str, Any] | None = None,
    y: Mapping[str, Any] | None = None,
) -> HeteroData:
    """A HeteroData written in one expression."""
    data = HeteroData()
    for name, count in counts.items():
        data[name].num_nodes = count
    for edge_type, pairs in (edges or {}).items():
        data[edge_type].edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    for name, rows in (x or {}).items():
        data[name].x = torch.as_tensor(rows)
    for name, labels in (y or {}).items():
        data[name].y = torch.as_tensor(labels)
    return data


def plain_schema(
    relations: tuple[Relation, ...] = (Relation("node", "to", "node", "to"),),
    *,
    node_types: tuple[str, ...] = ("node",),
    classes: tuple[str, ...] = ("class 0", "class 1"),
    target: str | None = None,
    **options: Any,
) -> Schema:
    """A schema without features, for tests about structure."""
    features = options.pop("features", (FeatureSpec(),) * len(node_types))
    return Schema(
        node_types=node_types, relations=relations, features=features, classes=classes, target=target, **options
    )


def batch_of(
    schema: Schema,
    node_types: list[int],
    edges: Mapping[tuple[int, int], int],
    *,
    labels: Mapping[int, int] | None = None,
    graph_label: int = -1,
) -> GraphBatch:
    """One graph from its nodes' types and its edges; an undirected edge is given once."""
    size = len(node_types)
    edge = torch.zeros(1, size, size, dtype=torch.long)
    for (u, v), code in edges.items():
        edge[0, u, v] = code
        if not schema.relations[code - 1].directed:
            edge[0, v, u] = code
    label = torch.full((1, size), -1)
    for node, value in (labels or {}).items():
        label[0, node] = value
    return GraphBatch(
        schema=schema,
        node_type=torch.tensor([node_types], dtype=torch.long).reshape(1, size),
        edge=edge,
        label=label,
        graph_label=torch.tensor([graph_label]),
        row=torch.full((1, size), -1),
    )


def rings_and_stars() -> list[Data]:
    """Graphs of two classes, told apart by their structure alone."""
    graphs = []
    for size in (5, 6, 7) * 4:
        ring = torch.arange(size)
        for label, index in enumerate(
            (torch.stack([ring, (ring + 1) % size]), torch.stack([torch.zeros_like(ring[1:]), ring[1:]]))
        ):
            both = torch.cat([index, index.flip(0)], 1)
            graphs.append(Data(x=torch.ones(size, 1), edge_index=both, y=torch.tensor([label])))
    return graphs
