"""The flat view of user data: numbering, checks of shapes, and edges as cells of an adjacency."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from dignn.core.errors import SchemaError
from dignn.graphs.flattening import flatten, flatten_for
from dignn.graphs.schema import Relation, Schema
from dignn.graphs.tasks.classification import NodeClassification
from dignn.graphs.typed_edges import typed_edges_of
from strategies import PROPERTY, hetero, plain_schema

EDGE = torch.tensor([[0], [1]])


# -- numbering ----------------------------------------------------------------------------------------


def test_nodes_of_all_types_are_numbered_through() -> None:
    view = flatten(hetero({"a": 2, "b": 3}, {("b", "to", "a"): [(2, 1)]}), task=NodeClassification("a"))
    assert view.node_type.tolist() == [0, 0, 1, 1, 1]
    assert view.row.tolist() == [0, 1, 0, 1, 2]
    assert view.edges["b", "to", "a"].tolist() == [[4], [1]]


def test_rows_run_through_all_graphs_of_a_list() -> None:
    graphs = [
        hetero({"a": 1, "b": 1}, x={"a": [[1.0]], "b": [[5.0]]}),
        hetero({"b": 2}, {("b", "to", "b"): [(0, 1)]}, x={"b": [[6.0], [7.0]]}),
        hetero({"b": 1, "a": 1}, x={"a": [[2.0]], "b": [[8.0]]}),
    ]
    view = flatten(graphs)
    assert view.graph_ptr.tolist() == [0, 2, 4, 6]
    assert [view.type_names[code] for code in view.node_type] == ["a", "b", "b", "b", "b", "a"]
    values = [float(view.x[view.type_names[code]][row]) for code, row in zip(view.node_type, view.row, strict=True)]
    assert values == [1, 5, 6, 7, 8, 2]
    assert view.edges["b", "to", "b"].tolist() == [[2], [3]]


def test_a_one_hot_x_gives_types_and_rows() -> None:
    view = flatten(Data(x=torch.eye(2)[[1, 0, 1]], edge_index=EDGE), type_names=["C", "N"])
    assert view.node_type.tolist() == [1, 0, 1]
    assert view.row.tolist() == [0, 0, 1]
    assert view.edges["N", "to", "C"].tolist() == [[0], [1]]


def test_labels_are_those_of_the_target() -> None:
    view = flatten(hetero({"a": 2, "b": 2}, y={"a": [0, 1], "b": [5, 5]}), task=NodeClassification("a"))
    assert view.label.tolist() == [0, 1, -1, -1]
    assert view.graph_label.tolist() == [-1]


def test_graph_labels() -> None:
    graphs = [hetero({"a": 1}), hetero({"a": 1})]
    graphs[1].y = 3
    assert flatten(graphs).graph_label.tolist() == [-1, 3]


def test_any_negative_label_is_unknown() -> None:
    view = flatten(hetero({"a": 3}, y={"a": [-100, -1, 2]}), task=NodeClassification("a"))
    assert view.label.tolist() == [-1, -1, 2]
    assert flatten([Data(num_nodes=1, y=-100)]).graph_label.tolist() == [-1]


@pytest.mark.parametrize("labels", [np.array([0, 1, -1]), [0, 1, -1], (0, 1, -1), torch.tensor([[0], [1], [-1]])])
def test_labels_may_be_arrays_and_lists(labels: Any) -> None:
    data = Data(x=torch.rand(3, 1), edge_index=EDGE, y=labels)
    assert flatten(data, task=NodeClassification("node")).label.tolist() == [0, 1, -1]


@pytest.mark.parametrize("label", [np.array([3]), [3], 3, np.int64(3)])
def test_labels_of_graphs_may_be_arrays_lists_and_numbers(label: Any) -> None:
    assert flatten([Data(x=torch.rand(2, 1), edge_index=EDGE, y=label)]).graph_label.tolist() == [3]


@pytest.mark.parametrize("labels", [["a", "b", "c"], np.array(["a", "b", "c"])])
def test_labels_that_are_no_numbers_are_named(labels: Any) -> None:
    data = Data(x=torch.rand(3, 1), edge_index=EDGE, y=labels)
    with pytest.raises(SchemaError, match="holds no numbers; give whole-number classes"):
        flatten(data, task=NodeClassification("node"))


def test_sparse_features_are_read() -> None:
    data = hetero({"a": 2}, y={"a": [0, 1]})
    data["a"].x = torch.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse()
    assert flatten(data, task=NodeClassification("a")).x["a"].to_dense().tolist() == [[0, 2], [1, 0]]


def test_a_vector_of_features_is_one_column() -> None:
    assert flatten(hetero({"a": 3}, x={"a": [4.0, 5.0, 6.0]})).x["a"].tolist() == [[4], [5], [6]]


def test_an_empty_vector_of_features_is_one_column() -> None:
    assert flatten(hetero({"a": 0}, x={"a": torch.empty(0)})).x["a"].shape == (0, 1)


# -- checks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 2), (4, 2, 2), (8,), ()])
def test_features_of_a_wrong_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(SchemaError, match="features of type 'a' have shape .*; give one row for each of 4 nodes"):
        flatten(hetero({"a": 4}, x={"a": torch.zeros(shape)}))


def test_features_that_are_no_tensor() -> None:
    data = hetero({"a": 1})
    data["a"].x = [[1.0]]
    with pytest.raises(SchemaError, match="features of type 'a' are a list; give a tensor"):
        flatten(data)


@pytest.mark.parametrize("shape", [(3, 2), (2,), (2, 2, 2)])
def test_edges_of_a_wrong_shape(shape: tuple[int, ...]) -> None:
    data = hetero({"a": 4})
    data["a", "to", "a"].edge_index = torch.zeros(shape, dtype=torch.long)
    with pytest.raises(SchemaError, match=r"edges of 'a to a' have shape .*; give an edge_index of shape \(2, E\)"):
        flatten(data)


@pytest.mark.parametrize("pair", [(2, 0), (0, 3), (-1, 0), (0, -1)])
def test_edges_to_nowhere(pair: tuple[int, int]) -> None:
    with pytest.raises(SchemaError, match="'a to b' name a node that does not exist"):
        flatten(hetero({"a": 2, "b": 3}, {("a", "to", "b"): [pair]}))


def test_edges_that_are_no_whole_numbers() -> None:
    with pytest.raises(SchemaError, match=r"torch\.float32; give whole numbers"):
        flatten([Data(num_nodes=2, edge_index=torch.tensor([[0.0], [1.5]]))])


def test_an_empty_edge_index_may_have_any_type() -> None:
    assert flatten([Data(num_nodes=2, edge_index=torch.empty(2, 0))]).edges == {}


def test_an_edge_type_without_edges_is_named() -> None:
    data = hetero({"a": 2})
    data["a", "to", "a"].edge_attr = torch.zeros(1)
    with pytest.raises(SchemaError, match=r"Edge type \('a', 'to', 'a'\) has no edge_index"):
        flatten(data)


def test_an_edge_type_between_unknown_types_is_named() -> None:
    data = hetero({"a": 2})
    data["a", "to", "z"].edge_index = EDGE
    with pytest.raises(SchemaError, match=r"Edge type \('a', 'to', 'z'\) names the unknown node type 'z'"):
        flatten(data)


def test_an_adjacency_that_is_not_sparse_is_named() -> None:
    with pytest.raises(SchemaError, match="adj_t .* is a tensor; give a sparse matrix, or edge_index"):
        flatten([Data(num_nodes=2, adj_t=torch.eye(2))])


def test_an_unknown_number_of_nodes_is_named() -> None:
    data = HeteroData()
    data["a"].name = "nobody knows"
    with pytest.raises(SchemaError, match="Node type 'a' has no known number of nodes"):
        flatten(data)


def test_an_unknown_number_of_nodes_of_a_homogeneous_graph_is_named() -> None:
    with pytest.raises(SchemaError, match="no known number of nodes"):
        flatten([Data()])


def test_features_in_some_graphs_only() -> None:
    graphs = [Data(x=torch.ones(2, 1)), Data(num_nodes=2)]
    with pytest.raises(SchemaError, match="'node' has features in some graphs only"):
        flatten(graphs)


def test_a_width_that_changes_from_graph_to_graph() -> None:
    graphs = [Data(x=torch.ones(2, 1)), Data(x=torch.ones(2, 3))]
    with pytest.raises(SchemaError, match="'node' has a different number of columns from graph to graph"):
        flatten(graphs)


def test_a_graph_without_nodes_of_a_type_needs_no_features_of_it() -> None:
    graphs = [hetero({"a": 1}, x={"a": [[1.0]]}), hetero({"a": 0})]
    assert flatten(graphs).x["a"].tolist() == [[1]]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.ones(2, 2), "x is not one-hot"),
        (torch.zeros(2, 2), "x is not one-hot"),
        (torch.eye(2) * 2, "x is not one-hot"),
        (torch.ones(2, 3), "x is 3 columns wide, but 2 node type names were given"),
        (None, "x is missing, but 2 node type names were given"),
    ],
)
def test_types_that_are_not_one_hot(x: torch.Tensor | None, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        flatten([Data(x=x, num_nodes=2)], type_names=["C", "N"])


@pytest.mark.parametrize(
    ("edge_attr", "message"),
    [
        (torch.ones(1, 2), "edge_attr is not one-hot"),
        (torch.ones(1, 3), "edge_attr is 3 columns wide, but 2 relation names were given"),
        (torch.ones(1), "edge_attr is 1 columns wide, but 2 relation names were given"),
        (torch.eye(2), "edge_attr has 2 rows for 1 edges"),
        (None, "edge_attr is missing, but 2 relation names were given"),
    ],
)
def test_relations_that_are_not_one_hot(edge_attr: torch.Tensor | None, message: str) -> None:
    data = Data(num_nodes=2, edge_index=EDGE, edge_attr=edge_attr)
    with pytest.raises(SchemaError, match=message):
        flatten([data], edge_names=["single", "double"])


# -- cells --------------------------------------------------------------------------------------------


def cells(schema: Schema, data: Any) -> dict[tuple[int, int], int]:
    found = typed_edges_of(flatten_for(data, schema), schema)
    triples = list(zip(*(part.tolist() for part in found.ends), found.relation.tolist(), strict=True))
    assert triples == sorted(triples)
    assert len({(u, v) for u, v, _ in triples}) == len(triples)
    return {(u, v): code for u, v, code in triples}


def inside(*relations: Relation) -> Schema:
    return plain_schema(relations, node_types=("a",))


UNDIRECTED, OTHER = Relation("a", "knows", "a", "knows"), Relation("a", "likes", "a", "likes")
DIRECTED = Relation("a", "cites", "a", directed=True)
STORED_TWICE = Relation("a", "cites", "a", "cited_by", directed=True)


def test_both_directions_of_an_undirected_relation_are_filled_from_one() -> None:
    data = hetero({"a": 2}, {("a", "knows", "a"): [(0, 1)]})
    assert cells(inside(UNDIRECTED), data) == {(0, 1): 1, (1, 0): 1}


def test_a_directed_relation_fills_one_direction() -> None:
    data = hetero({"a": 3}, {("a", "cites", "a"): [(0, 1), (1, 2), (2, 1)]})
    assert cells(inside(DIRECTED), data) == {(0, 1): 1, (1, 2): 1, (2, 1): 1}


def test_a_stored_reverse_is_the_same_edge() -> None:
    data = hetero({"a": 3}, {("a", "cites", "a"): [(0, 1)], ("a", "cited_by", "a"): [(1, 0), (2, 0)]})
    assert cells(inside(STORED_TWICE), data) == {(0, 1): 1, (0, 2): 1}


def test_a_reverse_between_types_alone_is_enough() -> None:
    schema = plain_schema((Relation("a", "to", "b", "from"),), node_types=("a", "b"))
    assert cells(schema, hetero({"a": 1, "b": 1}, {("b", "from", "a"): [(0, 0)]})) == {(0, 1): 1, (1, 0): 1}


def test_an_edge_type_that_the_schema_does_not_know() -> None:
    with pytest.raises(SchemaError, match=r"Edge type \('a', 'hates', 'a'\) is not in the schema"):
        cells(inside(UNDIRECTED), hetero({"a": 2}, {("a", "hates", "a"): [(0, 1)]}))


def test_repeated_edges_are_one_edge(caplog: pytest.LogCaptureFixture) -> None:
    data = hetero({"a": 2}, {("a", "knows", "a"): [(0, 1), (0, 1), (1, 0)]})
    assert cells(inside(UNDIRECTED), data) == {(0, 1): 1, (1, 0): 1}
    assert not caplog.records


def test_self_loops_are_dropped_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    edges = {("a", "cites", "a"): [(0, 0), (1, 1), (0, 1)], ("a", "cited_by", "a"): [(0, 0), (1, 1), (1, 0)]}
    assert cells(inside(STORED_TWICE), hetero({"a": 2}, edges)) == {(0, 1): 1}
    assert [record.getMessage() for record in caplog.records] == ["2 self-loops were dropped"]


def test_of_two_relations_on_one_pair_of_nodes_the_first_stays(caplog: pytest.LogCaptureFixture) -> None:
    data = hetero({"a": 3}, {("a", "knows", "a"): [(0, 1)], ("a", "likes", "a"): [(0, 1), (1, 2)]})
    assert cells(inside(UNDIRECTED, OTHER), data) == {(0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 1): 2}
    assert cells(inside(OTHER, UNDIRECTED), data) == {(0, 1): 1, (1, 0): 1, (1, 2): 1, (2, 1): 1}
    assert all(record.levelno == logging.WARNING for record in caplog.records)
    assert caplog.records[0].getMessage().startswith("1 edges join a pair of nodes that an earlier relation joins")


@pytest.mark.parametrize(
    ("relations", "kept"),
    [
        ((UNDIRECTED, DIRECTED), {(0, 1): 1, (1, 0): 1}),
        ((DIRECTED, UNDIRECTED), {(0, 1): 1}),
    ],
)
def test_a_directed_and_an_undirected_relation_on_one_pair(
    relations: tuple[Relation, ...], kept: dict, caplog: pytest.LogCaptureFixture
) -> None:
    data = hetero({"a": 2}, {("a", "knows", "a"): [(0, 1), (1, 0)], ("a", "cites", "a"): [(0, 1)]})
    assert cells(inside(*relations), data) == kept
    assert caplog.records[0].getMessage().startswith("1 edges join")


def test_a_dropped_edge_does_not_stand_in_the_way_of_a_later_one() -> None:
    later = Relation("a", "follows", "a", directed=True)
    edges = {("a", "cites", "a"): [(0, 1)], ("a", "knows", "a"): [(0, 1)], ("a", "follows", "a"): [(1, 0)]}
    assert cells(inside(DIRECTED, UNDIRECTED, later), hetero({"a": 2}, edges)) == {(0, 1): 1, (1, 0): 3}


FOLLOWS = Relation("a", "follows", "a", "followed_by", directed=True)
PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


@PROPERTY
@given(st.permutations([UNDIRECTED, OTHER, DIRECTED, FOLLOWS]), st.lists(PAIRS, min_size=4, max_size=4))
def test_cells_are_what_adding_edge_by_edge_gives(order: list[Relation], drawn: list) -> None:
    """Relation by relation, an edge is added when all the cells it needs are free."""
    expected: dict[tuple[int, int], int] = {}
    for number, (relation, pairs) in enumerate(zip(order, drawn, strict=True), start=1):
        for u, v in sorted(set(pairs)):
            needed = [(u, v)] if relation.directed else [(u, v), (v, u)]
            if u != v and all(expected.get(cell, number) == number for cell in needed):
                expected |= dict.fromkeys(needed, number)
    data = hetero({"a": 5}, {relation.edge_type: pairs for relation, pairs in zip(order, drawn, strict=True)})
    assert cells(inside(*order), data) == expected


@PROPERTY
@given(st.lists(PAIRS, min_size=2, max_size=2))
def test_cells_of_a_list_of_graphs_are_those_of_each(drawn: list) -> None:
    graphs = [hetero({"a": 5}, {("a", "knows", "a"): pairs}) for pairs in drawn]
    one, other = (cells(inside(UNDIRECTED), graph) for graph in graphs)
    moved = {(u + 5, v + 5): code for (u, v), code in other.items()}
    assert cells(inside(UNDIRECTED), graphs) == one | moved


def test_no_relations_and_no_edges() -> None:
    found = typed_edges_of(flatten_for(hetero({"a": 3}), inside()), inside())
    assert np.size(found.key) == np.size(found.relation) == 0
