"""GraphBatch to and from PyTorch Geometric and networkx, against plain loops that share no code with it."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, HeteroData

from dignn.core.errors import SchemaError
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg, to_disjoint, to_networkx, to_pyg
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Layout, Relation, Schema
from networkx_graphs import from_networkx
from strategies import (
    PROPERTY,
    arcs_of,
    batch_of,
    batches,
    hetero,
    pairs_of,
    plain_schema,
    pyg_of,
    random_batch,
    row_of,
    schemas,
)

CITES = Relation("paper", "cites", "paper", directed=True)
STORED_TWICE = Relation("paper", "cites", "paper", "cited_by", directed=True)
WRITES = Relation("author", "writes", "paper", "rev_writes")
HETERO, HOMOGENEOUS = schemas(layout=Layout.HETERO), schemas(layout=Layout.HOMOGENEOUS)


def arcs(data: Data) -> list[tuple]:
    """The arcs of a Data with their attributes, sorted."""
    names = (
        [()] * data.edge_index.size(1) if data.edge_attr is None else [tuple(line) for line in data.edge_attr.tolist()]
    )
    return sorted(zip(*data.edge_index.tolist(), names, strict=True))


def assert_same_hetero(one: HeteroData, other: HeteroData) -> None:
    assert one.node_types == other.node_types
    assert set(one.edge_types) == set(other.edge_types)
    for name in one.node_types:
        assert one[name].num_nodes == other[name].num_nodes
        assert set(one[name].keys()) == set(other[name].keys())
        for key in set(one[name].keys()) - {"num_nodes"}:
            assert torch.equal(one[name][key], other[name][key])
    for edge_type in one.edge_types:
        pairs, again = one[edge_type].edge_index, other[edge_type].edge_index
        assert pairs.size(1) == again.size(1)
        assert pairs_of(pairs) == pairs_of(again)
    assert torch.equal(one._global_store.get("y", torch.empty(0)), other._global_store.get("y", torch.empty(0)))


def assert_same_homogeneous(one: Data, other: Data) -> None:
    assert one.num_nodes == other.num_nodes
    assert set(one.keys()) == set(other.keys())
    for key in set(one.keys()) - {"num_nodes", "edge_index", "edge_attr"}:
        assert torch.equal(one[key], other[key])
    assert arcs(one) == arcs(other)


# -- PyTorch Geometric --------------------------------------------------------------------------------


@PROPERTY
@given(batches(HETERO))
def test_to_hetero_data(batch: GraphBatch) -> None:
    for found, expected in zip(to_pyg(batch), pyg_of(batch), strict=True):
        assert_same_hetero(found, expected)


@PROPERTY
@given(batches(HOMOGENEOUS))
def test_to_data(batch: GraphBatch) -> None:
    for found, expected in zip(to_pyg(batch), pyg_of(batch), strict=True):
        assert_same_homogeneous(found, expected)


@PROPERTY
@given(batches(HETERO, min_graphs=1))
def test_hetero_data_round_trip(batch: GraphBatch) -> None:
    graphs = pyg_of(batch)
    for graph, again in zip(graphs, to_pyg(from_pyg(graphs, batch.schema).check()), strict=True):
        assert_same_hetero(again, graph)


@PROPERTY
@given(batches(HOMOGENEOUS, min_graphs=1))
def test_data_round_trip_keeps_the_order_of_nodes(batch: GraphBatch) -> None:
    graphs = pyg_of(batch)
    for graph, again in zip(graphs, to_pyg(from_pyg(graphs, batch.schema).check()), strict=True):
        assert_same_homogeneous(again, graph)


@PROPERTY
@given(batches(schemas(node_classification=True), min_graphs=1, max_graphs=1))
def test_a_single_graph_is_a_list_of_one(batch: GraphBatch) -> None:
    (graph,) = pyg_of(batch)
    one, several = from_pyg(graph, batch.schema), from_pyg([graph], batch.schema)
    for name in ("node_type", "edge", "label", "graph_label", "row"):
        assert torch.equal(getattr(one, name), getattr(several, name))


@PROPERTY
@given(batches(HOMOGENEOUS, min_graphs=1))
def test_batch_round_trip_through_data(batch: GraphBatch) -> None:
    again = from_pyg(to_pyg(batch), batch.schema)
    for name in ("node_type", "edge", "label", "graph_label"):
        assert torch.equal(getattr(again, name), getattr(batch, name))
    for name in batch.schema.node_types:
        assert torch.equal(again.features(name), batch.features(name))


@PROPERTY
@given(batches(HETERO, min_graphs=1))
def test_batch_round_trip_through_hetero_data_lists_nodes_by_type(batch: GraphBatch) -> None:
    again = from_pyg(to_pyg(batch), batch.schema)
    padded_last = torch.where(batch.mask, batch.node_type, 99)
    expected = batch.permute(padded_last.argsort(dim=1, stable=True))
    for name in ("node_type", "edge", "label", "graph_label"):
        assert torch.equal(getattr(again, name), getattr(expected, name))
    for name in batch.schema.node_types:
        assert torch.equal(again.features(name), expected.features(name))


@PROPERTY
@given(batches(HOMOGENEOUS, min_graphs=1), st.integers(0, 2**32 - 1))
def test_permuting_and_converting_is_relabelling(batch: GraphBatch, seed: int) -> None:
    for number in range(len(batch)):
        one = batch[number]
        order = torch.from_numpy(np.random.default_rng(seed).permutation(one.node_type.size(1)))
        (graph,), (moved,) = to_pyg(one), to_pyg(one.permute(order[None]))
        place = order.argsort()
        relabelled = Data(edge_index=place[graph.edge_index], edge_attr=graph.edge_attr)
        assert arcs(moved) == arcs(relabelled)
        for key in {"x", "y"} & set(graph.keys()) - ({"y"} if batch.schema.target is None else set()):
            assert torch.equal(moved[key], graph[key][order])


@PROPERTY
@given(batches())
def test_graphs_side_by_side(batch: GraphBatch) -> None:
    """What PyTorch Geometric's own collation gives, and in the same order of nodes."""
    if not len(batch):
        return
    expected, found = Batch.from_data_list(pyg_of(batch)), to_disjoint(batch)
    assert type(found) is type(expected)
    assert isinstance(found, Batch)
    assert found.num_graphs == found.batch_size == len(found) == len(batch)
    if isinstance(found, HeteroData):
        for name in batch.schema.node_types:
            assert torch.equal(found[name].batch, expected[name].batch)
            assert torch.equal(found[name].ptr, expected[name].ptr)
            assert found[name].num_nodes == expected[name].num_nodes
        for edge_type in batch.schema.edge_types:
            assert pairs_of(found[edge_type].edge_index) == pairs_of(expected[edge_type].edge_index)
    else:
        assert torch.equal(found.batch, expected.batch)
        assert torch.equal(found.ptr, expected.ptr)
        assert arcs(found) == arcs(expected)


def test_no_graphs_are_a_batch_of_none() -> None:
    made = to_disjoint(batch_of(plain_schema(), [0, 0], {(0, 1): 1})[:0])
    assert isinstance(made, Batch)
    assert made.num_graphs == 0
    assert made["node"].ptr.tolist() == [0]


@PROPERTY
@given(batches())
def test_single_graphs_are_no_batches(batch: GraphBatch) -> None:
    for graph in to_pyg(batch):
        assert not isinstance(graph, Batch)
        assert not any({"batch", "ptr", "classified"} & set(store.keys()) for store in graph.node_stores)


@PROPERTY
@given(batches(schemas(node_classification=True), min_graphs=1, min_nodes=1), st.randoms())
def test_one_node_of_the_target_is_marked(batch: GraphBatch, random: Any) -> None:
    batch = batch[batch.target_mask.any(1)]
    marks = [random.choice(mask.nonzero()[:, 0].tolist()) for mask in batch.target_mask]
    for number, graph in enumerate(to_pyg(batch, marks)):
        store = graph[batch.schema.target] if isinstance(graph, HeteroData) else graph
        assert store.classified.dtype == torch.bool
        assert len(store.classified) == store.num_nodes
        (row,) = store.classified.nonzero()[:, 0].tolist()
        kind = batch.node_type[number]
        same = kind == kind[marks[number]] if isinstance(graph, HeteroData) else kind >= 0
        assert row == int(same[: marks[number]].sum())
        assert int(store.y[row]) == int(batch.label[number, marks[number]])


def test_of_graphs_that_are_classified_as_a_whole_none_is_marked() -> None:
    (graph,) = to_pyg(batch_of(plain_schema(), [0, 0], {(0, 1): 1}), [None])
    assert "classified" not in graph["node"]


def test_marks_are_one_for_each_graph() -> None:
    with pytest.raises(SchemaError, match="2 marked nodes were given for 1 graphs"):
        to_pyg(batch_of(plain_schema(), [0, 0], {(0, 1): 1}), [0, 1])


@PROPERTY
@given(batches())
def test_edge_weights(batch: GraphBatch) -> None:
    """A forward arc has the weight of its cell, a reverse arc that of the forward arc it belongs to."""
    count, size = batch.node_type.shape
    weight = torch.arange(count * size * size).reshape(count, size, size).float()
    found = to_disjoint(batch, weight)
    number = torch.full_like(batch.node_type, -1)
    kinds = range(len(batch.schema.node_types)) if isinstance(found, HeteroData) else [None]
    for code in kinds:
        here = batch.mask if code is None else batch.node_type == code
        number[here] = torch.arange(int(here.sum()))
    forward = {relation.edge_type for relation in batch.schema.relations}
    expected = sorted(
        (edge_type, int(number[graph, u]), int(number[graph, v]), float(weight[cell]))
        for graph in range(count)
        for edge_type, u, v in arcs_of(batch, graph)
        for cell in [(graph, u, v) if edge_type in forward else (graph, v, u)]
    )
    if isinstance(found, HeteroData):
        listed = [
            (edge_type, int(u), int(v), float(w))
            for edge_type in found.edge_types
            for (u, v), w in zip(found[edge_type].edge_index.T, found[edge_type].edge_weight, strict=True)
        ]
        assert sorted(listed) == expected
    else:
        weights = [] if found.get("edge_weight") is None else found.edge_weight.tolist()
        listed = list(zip(*found.edge_index.tolist(), weights, strict=True))
        assert sorted(listed) == sorted(line[1:] for line in expected)


def test_edge_weights_of_a_wrong_shape() -> None:
    batch = batch_of(plain_schema(), [0, 0], {(0, 1): 1})
    with pytest.raises(SchemaError, match=r"edge_weight has shape \(1, 3, 3\); it must be \(1, 2, 2\)"):
        to_disjoint(batch, torch.ones(1, 3, 3))


def test_gradients_flow_through_edge_weights() -> None:
    batch = batch_of(plain_schema(), [0, 0, 0], {(0, 1): 1})
    weight = torch.ones(1, 3, 3, requires_grad=True)
    to_disjoint(batch, weight)["node", "to", "node"].edge_weight.sum().backward()
    assert torch.equal(weight.grad, (batch.edge > 0).float())


# -- particular graphs --------------------------------------------------------------------------------


def papers(*relations: Relation) -> Schema:
    return plain_schema(relations, node_types=("paper",))


def test_mutual_edges_of_a_directed_relation_survive() -> None:
    graph = hetero({"paper": 3}, {("paper", "cites", "paper"): [(0, 1), (1, 0), (1, 2)]})
    (again,) = to_pyg(from_pyg([graph], papers(CITES)))
    assert pairs_of(again["paper", "cites", "paper"].edge_index) == {(0, 1), (1, 0), (1, 2)}


def test_the_stored_reverse_of_a_directed_relation_is_written_too() -> None:
    graph = hetero({"paper": 3}, {("paper", "cites", "paper"): [(0, 1), (1, 0), (1, 2)]})
    (again,) = to_pyg(from_pyg([graph], papers(STORED_TWICE)))
    assert pairs_of(again["paper", "cites", "paper"].edge_index) == {(0, 1), (1, 0), (1, 2)}
    assert pairs_of(again["paper", "cited_by", "paper"].edge_index) == {(1, 0), (0, 1), (2, 1)}


def test_both_directions_are_written_whichever_was_read() -> None:
    schema = plain_schema((WRITES,), node_types=("author", "paper"))
    for edge_type in schema.edge_types:
        pair = (1, 0) if edge_type == WRITES.edge_type else (0, 1)
        (again,) = to_pyg(from_pyg([hetero({"author": 2, "paper": 1}, {edge_type: [pair]})], schema))
        assert pairs_of(again["author", "writes", "paper"].edge_index) == {(1, 0)}
        assert pairs_of(again["paper", "rev_writes", "author"].edge_index) == {(0, 1)}


def test_a_relation_between_types_that_is_stored_once_is_written_once() -> None:
    schema = plain_schema((Relation("author", "writes", "paper"),), node_types=("author", "paper"))
    (again,) = to_pyg(from_pyg([hetero({"author": 1, "paper": 1}, {("author", "writes", "paper"): [(0, 0)]})], schema))
    assert again.edge_types == [("author", "writes", "paper")]


def test_several_relations_between_one_pair_of_types_stay_apart() -> None:
    likes, buys = Relation("user", "likes", "item", "rev_likes"), Relation("user", "buys", "item", "rev_buys")
    schema = plain_schema((likes, buys), node_types=("user", "item"))
    edges = {("user", "likes", "item"): [(0, 0), (1, 1)], ("user", "buys", "item"): [(0, 1)]}
    (again,) = to_pyg(from_pyg([hetero({"user": 2, "item": 2}, edges)], schema))
    assert {kind: pairs_of(again[kind].edge_index) for kind in edges} == {kind: set(e) for kind, e in edges.items()}
    assert pairs_of(again["item", "rev_buys", "user"].edge_index) == {(1, 0)}


def test_a_homogeneous_reverse_keeps_its_own_name() -> None:
    """Between types the two directions may have different one-hot names."""
    data = Data(
        x=torch.eye(2), edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=torch.eye(2), y=0
    )  # C -donates-> N, N -accepts-> C
    schema = infer_schema([data], type_names=["C", "N"], edge_names=["donates", "accepts"])
    assert schema.relations == (Relation("C", "donates", "N", "accepts"),)
    (again,) = to_pyg(from_pyg([data], schema))
    assert arcs(again) == arcs(data)


def test_empty_types_and_isolated_nodes_survive() -> None:
    schema = plain_schema((WRITES,), node_types=("author", "paper", "venue"), target="author")
    graph = hetero({"author": 2, "paper": 0, "venue": 1}, y={"author": [1, -1]})
    (again,) = to_pyg(from_pyg(graph, schema))
    assert {name: again[name].num_nodes for name in again.node_types} == {"author": 2, "paper": 0, "venue": 1}
    assert again["author"].y.tolist() == [1, -1]
    assert again["author", "writes", "paper"].edge_index.shape == (2, 0)


def test_a_type_that_the_data_does_not_mention_comes_out_empty() -> None:
    schema = Schema(
        node_types=("author", "paper"),
        relations=(WRITES,),
        features=(FeatureSpec(FeatureKind.BINARY, 2), FeatureSpec(FeatureKind.CONTINUOUS, 3)),
        classes=("x",),
    )
    (again,) = to_pyg(from_pyg([hetero({"author": 1}, x={"author": [[0.0, 1.0]]})], schema))
    assert again["paper"].x.shape == (0, 3)


def test_a_graph_without_nodes() -> None:
    (again,) = to_pyg(from_pyg([hetero({"node": 0})], plain_schema()))
    assert again["node"].num_nodes == 0


def test_self_loops_are_dropped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    batch = from_pyg([hetero({"node": 2}, {("node", "to", "node"): [(0, 0), (0, 1), (1, 0)]})], plain_schema())
    assert batch.edge.tolist() == [[[0, 1], [1, 0]]]
    assert "1 self-loops were dropped" in caplog.text


def test_unknown_types_are_named() -> None:
    with pytest.raises(SchemaError, match=r"Node types \['venue'\] are not in the schema; it knows node"):
        from_pyg([hetero({"node": 1, "venue": 2})], plain_schema())


def test_another_width_is_named() -> None:
    with pytest.raises(SchemaError, match="Node type 'node' has 3 feature columns here and 0 in the schema"):
        from_pyg([hetero({"node": 1}, x={"node": torch.zeros(1, 3)})], plain_schema())


# -- networkx -----------------------------------------------------------------------------------------


@PROPERTY
@given(batches(min_graphs=1))
def test_networkx_has_the_types_and_arcs(batch: GraphBatch) -> None:
    for number in range(len(batch)):
        graph = to_networkx(batch, number)
        types = nx.get_node_attributes(graph, "type")
        assert types == {
            i: batch.schema.node_types[code] for i, code in enumerate(batch.node_type[number]) if code >= 0
        }
        joined = {frozenset((u, v)) for _, u, v in arcs_of(batch, number)}
        assert {frozenset(edge) for edge in graph.edges} == joined


@PROPERTY
@given(batches(min_graphs=1))
def test_networkx_round_trip(batch: GraphBatch) -> None:
    graphs = [to_networkx(batch, number) for number in range(len(batch))]
    again = from_networkx(graphs, batch.schema)
    for name in ("node_type", "edge", "label", "graph_label"):
        assert torch.equal(getattr(again, name), getattr(batch, name))
    for number, node in batch.mask.nonzero().tolist():
        assert row_of(again, number, node) == row_of(batch, number, node)


@PROPERTY
@given(batches(min_graphs=1))
def test_networkx_round_trip_of_structures_keeps_row_numbers(batch: GraphBatch) -> None:
    structure = GraphBatch(batch.schema, batch.node_type, batch.edge, batch.label, batch.graph_label, batch.row)
    again = from_networkx([to_networkx(structure, number) for number in range(len(batch))], batch.schema)
    assert torch.equal(again.row, batch.row)
    assert again.tables == {}


def test_a_schema_with_a_directed_relation_gives_a_digraph() -> None:
    batch = batch_of(papers(CITES), [0, 0], {(1, 0): 1})
    assert list(to_networkx(batch).edges) == [(1, 0)]
    assert to_networkx(batch_of(plain_schema(), [0], {})).is_directed() is False


def test_nodes_may_have_any_names_and_a_single_type_need_not_be_said() -> None:
    batch = from_networkx(nx.Graph([("x", "y"), ("y", "z")]), plain_schema())
    assert batch.edge.tolist() == [[[0, 1, 0], [1, 0, 1], [0, 1, 0]]]


LIKES, BUYS = Relation("user", "likes", "item"), Relation("user", "buys", "item")
SHOP = plain_schema((LIKES, BUYS), node_types=("user", "item"))


def shop(graph: nx.Graph, **attributes: Any) -> GraphBatch:
    graph.add_node("u", type="user")
    graph.add_node("i", type="item")
    graph.add_edge("u", "i", **attributes)
    return from_networkx(graph, SHOP)


@pytest.mark.parametrize("attributes", [{"relation": 2}, {"relation": "buys"}, {"name": "buys"}])
def test_a_relation_may_be_a_number_or_a_name(attributes: dict[str, Any]) -> None:
    assert shop(nx.Graph(), **attributes).edge.tolist() == [[[0, 2], [2, 0]]]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "The schema has several relations between 'user' and 'item'; set the edge's 'relation'"),
        ({"relation": "hates"}, "The schema has no relation hates between 'user' and 'item'"),
        ({"relation": 3}, "The schema has no relation 3 between 'user' and 'item'"),
    ],
)
def test_a_relation_that_cannot_be_known(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        shop(nx.Graph(), **attributes)


def test_the_direction_of_an_edge_between_two_types_does_not_matter() -> None:
    graph = nx.DiGraph()
    graph.add_node("u", type="user")
    graph.add_node("i", type="item")
    graph.add_edge("i", "u", relation="likes")
    assert from_networkx(graph, SHOP).edge.tolist() == [[[0, 1], [1, 0]]]


def test_of_parallel_edges_the_first_relation_stays_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    graph = nx.MultiGraph()
    graph.add_nodes_from([("u", {"type": "user"}), ("i", {"type": "item"})])
    graph.add_edge("u", "i", relation="buys")
    graph.add_edge("u", "i", relation="likes")
    assert from_networkx(graph, SHOP).edge.tolist() == [[[0, 1], [1, 0]]]
    assert "1 edges join a pair of nodes that an earlier relation joins" in caplog.text


def test_self_loops_of_networkx_are_dropped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert from_networkx(nx.Graph([(0, 0), (0, 1)]), plain_schema()).edge.tolist() == [[[0, 1], [1, 0]]]
    assert "1 self-loops were dropped" in caplog.text


def test_an_undirected_graph_cannot_hold_a_directed_relation() -> None:
    with pytest.raises(SchemaError, match="paper -cites-> paper is directed; give a DiGraph"):
        from_networkx(nx.Graph([(0, 1)]), papers(CITES))


def test_a_node_without_a_type_is_named() -> None:
    with pytest.raises(SchemaError, match="Node 0 has no attribute 'type'; set it to one of user, item"):
        from_networkx(nx.path_graph(2), SHOP)


def test_a_node_of_an_unknown_type_is_named() -> None:
    graph = nx.Graph()
    graph.add_node(0, type="shop")
    with pytest.raises(SchemaError, match="Unknown node type 'shop'; choose from user, item"):
        from_networkx(graph, SHOP)


def test_a_label_on_a_node_that_is_not_classified_is_found() -> None:
    graph = nx.Graph()
    graph.add_node(0, label=1)
    with pytest.raises(SchemaError, match="a label on a node that is not of the target type"):
        from_networkx(graph, plain_schema())


FEATURED = plain_schema(features=(FeatureSpec(FeatureKind.BINARY, 2),))


def test_features_on_some_nodes_only_are_refused() -> None:
    graph = nx.Graph()
    graph.add_node(0, x=[0.0, 1.0])
    graph.add_node(1)
    with pytest.raises(SchemaError, match="Node 1 of type 'node' has no 'x', but others have"):
        from_networkx(graph, FEATURED)


def test_features_of_another_width_are_named() -> None:
    graph = nx.Graph()
    graph.add_node(0, x=[0.0, 1.0])
    graph.add_node(1, x=[0.0])
    with pytest.raises(SchemaError, match="Node 1 of type 'node' has 1 feature columns, and 2 in the schema"):
        from_networkx(graph, FEATURED)


def test_no_graphs() -> None:
    assert len(from_networkx([], plain_schema())) == 0


def test_features_of_networkx_are_those_of_the_node() -> None:
    batch = random_batch(FEATURED, [3, 2], np.random.default_rng(0))
    graph = to_networkx(batch, 1)
    assert graph.nodes[1]["x"] == batch.tables["node"][batch.row[1, 1]].tolist()
