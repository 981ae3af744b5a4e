"""Reading a schema off the data: feature kinds, relations and their reverses, classes, and what cannot be read."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from dignn.core.errors import SchemaError
from dignn.graphs.feature_inference import MAX_COUNT, infer_features
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Layout, Relation, Schema
from strategies import PROPERTY, hetero

Edges = dict[tuple[str, str, str], list[tuple[int, int]]]


def kind_of(rows: list[list[float]], **options: Any) -> str:
    return infer_features(torch.tensor(rows, dtype=torch.float32), "t", **options).kind.value


def relations_of(edges: Edges, **counts: int) -> tuple[Relation, ...]:
    counts = {"a": 4, "b": 4} | counts
    return infer_schema(hetero(counts, edges, y={"a": [0] * counts["a"]}), "a").relations


# -- feature kinds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([[0, 1], [1, 1]], "binary"),
        ([[0], [2]], "count"),
        ([[0], [MAX_COUNT]], "count"),
        ([[0], [MAX_COUNT + 1]], "continuous"),
        ([[0], [-1]], "continuous"),
        ([[0], [0.5]], "continuous"),
        ([[1, 0], [0, 1]], "identity"),
        ([[0, 1], [1, 0]], "binary"),  # one-hot rows, but not in order: the columns may mean anything
        ([[3, 4], [3, 4]], "none"),
        ([[0, 0], [0, 0]], "none"),
        ([[7, 8]], "none"),
        ([[1]], "none"),
    ],
)
def test_kind(rows: list[list[float]], kind: str) -> None:
    assert kind_of(rows) == kind


@PROPERTY
@given(st.lists(st.lists(st.integers(0, MAX_COUNT), min_size=2, max_size=2), min_size=2, max_size=6))
def test_kind_does_not_depend_on_the_order_of_rows_except_for_identities(rows: list[list[int]]) -> None:
    kinds = {kind_of(rows), kind_of(rows[::-1])}
    assert len(kinds) == 1 or kinds == {"identity", "binary"}


def test_no_matrix_means_no_features() -> None:
    assert infer_features(None, "t") == FeatureSpec()


def test_a_matrix_without_columns_means_no_features() -> None:
    assert infer_features(torch.empty(3, 0), "t") == FeatureSpec()


def test_equal_rows_become_the_constant() -> None:
    spec = infer_features(torch.tensor([[0.5, -2.0], [0.5, -2.0]]), "t")
    assert spec == FeatureSpec(FeatureKind.NONE, 2, constant=(0.5, -2.0))


def test_counts_know_their_levels_by_column() -> None:
    spec = infer_features(torch.tensor([[0.0, 3.0, 0.0], [2.0, 0.0, 0.0]]), "t")
    assert spec.levels == (3, 4, 1)


def test_an_empty_type_keeps_its_width() -> None:
    assert infer_features(torch.empty(0, 3), "t").width == 3


# -- overrides ----------------------------------------------------------------------------------------


def test_categorical_must_be_said() -> None:
    rows = [[0, 2], [1, 0]]
    assert kind_of(rows) == "count"
    assert kind_of(rows, kind="categorical") == "categorical"


def test_categorical_levels() -> None:
    assert infer_features(torch.tensor([[0.0, 2.0], [1.0, 0.0]]), "t", kind="categorical").levels == (2, 3)


@pytest.mark.parametrize("kind", ["count", "categorical", "continuous", FeatureKind.CONTINUOUS])
def test_a_binary_matrix_may_be_said_to_be_more_general(kind: str) -> None:
    assert kind_of([[0, 1], [1, 1]], kind=kind) == FeatureKind(kind).value


def test_equal_rows_may_be_said_to_be_features() -> None:
    assert kind_of([[1, 0], [1, 0]], kind="binary") == "binary"


def test_large_whole_numbers_may_be_said_to_be_counts() -> None:
    assert infer_features(torch.tensor([[0.0], [1999.0]]), "t", kind="count").levels == (2000,)


def test_nodes_may_share_an_identity_when_it_is_said() -> None:
    assert kind_of([[0, 1], [0, 1], [1, 0]], kind="identity") == "identity"


@pytest.mark.parametrize(
    ("kind", "rows", "message"),
    [
        ("none", [[0], [1]], "said to have no features, but rows of x differ"),
        ("binary", [[0], [2]], "said to be binary, but x holds 2; say kind 'count'"),
        ("binary", [[0], [0.5]], "said to be binary, but x holds values that are not 0, 1, 2"),
        ("count", [[0], [-1]], "said to be count, but x holds values that are not 0, 1, 2"),
        ("categorical", [[0], [0.5]], "said to be categorical, but x holds values that are not 0, 1, 2"),
        ("identity", [[1, 1], [0, 1]], "said to carry identities, but rows of x are not one-hot"),
        ("identity", [[0, 0], [0, 1]], "said to carry identities, but rows of x are not one-hot"),
        ("identity", [[2, -1], [0, 1]], "said to be identity, but x holds values that are not 0, 1, 2"),
        ("fuzzy", [[0], [1]], "'fuzzy' is not a kind of features; choose from none, binary, count, "),
    ],
)
def test_contradictory_kind(kind: str, rows: list[list[float]], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        kind_of(rows, kind=kind)


def test_a_type_without_features_cannot_be_said_to_have_some() -> None:
    with pytest.raises(SchemaError, match="Node type 't' is said to be binary, but it has no x"):
        infer_features(None, "t", kind="binary")


def test_a_type_without_features_may_be_said_to_have_none() -> None:
    assert infer_features(None, "t", kind="none") == FeatureSpec()


def test_names_for_a_type_without_features_are_refused() -> None:
    with pytest.raises(SchemaError, match="1 names were given for the 0 columns of 't'; give one each"):
        infer_features(None, "t", names=["colour"])


def test_names_of_columns() -> None:
    data = hetero({"a": 2}, x={"a": [[0.0, 1.0], [1.0, 1.0]]}, y={"a": [0, 1]})
    assert infer_schema(data, "a", names={"a": ["red", "blue"]}).spec("a").names == ("red", "blue")


def test_too_few_names_of_columns() -> None:
    data = hetero({"a": 2}, x={"a": [[0.0, 1.0], [1.0, 1.0]]}, y={"a": [0, 1]})
    with pytest.raises(SchemaError, match="1 names were given for the 2 columns of 'a'; give one each"):
        infer_schema(data, "a", names={"a": ["red"]})


@pytest.mark.parametrize("option", ["kinds", "names"])
def test_options_for_unknown_types_are_named(option: str) -> None:
    message = rf"{option} names \['z'\], no node type and no relation with features; choose from a"
    with pytest.raises(SchemaError, match=message):
        infer_schema(hetero({"a": 2}, y={"a": [0, 1]}), "a", **{option: {"z": "binary"}})


@pytest.mark.parametrize("bad", [float("inf"), -float("inf")])
def test_values_that_are_no_numbers_are_found(bad: float) -> None:
    data = hetero({"a": 2}, x={"a": [[0.0, 1.0], [1.0, bad]]}, y={"a": [0, 1]})
    with pytest.raises(SchemaError, match=r"type 'a' hold infinity \(first in column 1\); give numbers, or NaN"):
        infer_schema(data, "a")


# -- relations ----------------------------------------------------------------------------------------

FORWARD, BACKWARD = [(0, 1), (2, 3)], [(1, 0), (3, 2)]


@pytest.mark.parametrize("reverse", ["to", "rev_to", "written_by"])
def test_opposite_edge_types_are_one_relation(reverse: str) -> None:
    found = relations_of({("a", "to", "b"): FORWARD, ("b", reverse, "a"): BACKWARD})
    assert found == (Relation("a", "to", "b", reverse),)


def test_the_order_of_edges_does_not_matter() -> None:
    found = relations_of({("a", "to", "b"): FORWARD, ("b", "rev_to", "a"): BACKWARD[::-1]})
    assert found == (Relation("a", "to", "b", "rev_to"),)


def test_repeated_edges_do_not_hide_the_reverse() -> None:
    found = relations_of({("a", "to", "b"): FORWARD * 2, ("b", "rev_to", "a"): BACKWARD})
    assert found == (Relation("a", "to", "b", "rev_to"),)


def test_edge_types_that_hold_different_edges_are_two_relations() -> None:
    found = relations_of({("a", "to", "b"): FORWARD, ("b", "rev_to", "a"): BACKWARD[:1]})
    assert found == (Relation("a", "to", "b"), Relation("b", "rev_to", "a"))


def test_an_edge_type_without_a_reverse() -> None:
    assert relations_of({("b", "to", "a"): FORWARD}) == (Relation("b", "to", "a"),)


def test_an_undirected_relation_inside_one_type_is_its_own_reverse() -> None:
    assert relations_of({("a", "knows", "a"): FORWARD + BACKWARD}) == (Relation("a", "knows", "a", "knows"),)


def test_a_directed_relation_inside_one_type() -> None:
    assert relations_of({("a", "cites", "a"): FORWARD}) == (Relation("a", "cites", "a", directed=True),)


def test_some_mutual_edges_do_not_make_a_relation_undirected() -> None:
    assert relations_of({("a", "cites", "a"): [(0, 1), (1, 0), (2, 3)]}) == (
        Relation("a", "cites", "a", directed=True),
    )


def test_a_directed_relation_whose_reverse_is_stored() -> None:
    found = relations_of({("a", "cites", "a"): FORWARD, ("a", "cited_by", "a"): BACKWARD})
    assert found == (Relation("a", "cited_by", "a", "cites", directed=True),)


def test_a_name_that_says_reverse_is_the_reverse() -> None:
    found = relations_of({("a", "rev_cites", "a"): BACKWARD, ("a", "cites", "a"): FORWARD})
    assert found == (Relation("a", "cites", "a", "rev_cites", directed=True),)


def test_several_relations_between_one_pair_of_types() -> None:
    found = relations_of(
        {
            ("a", "likes", "b"): FORWARD,
            ("a", "buys", "b"): [(0, 0)],
            ("b", "liked_by", "a"): BACKWARD,
            ("b", "bought_by", "a"): [(0, 0)],
        }
    )
    assert set(found) == {Relation("a", "likes", "b", "liked_by"), Relation("a", "buys", "b", "bought_by")}


@pytest.mark.parametrize("edges", [[], FORWARD], ids=["empty", "equal"])
def test_names_decide_between_relations_that_hold_the_same_edges(edges: list[tuple[int, int]]) -> None:
    back = [(v, u) for u, v in edges]
    found = relations_of(
        {
            ("a", "likes", "b"): edges,
            ("a", "buys", "b"): edges,
            ("b", "rev_likes", "a"): back,
            ("b", "rev_buys", "a"): back,
        }
    )
    assert set(found) == {Relation("a", "likes", "b", "rev_likes"), Relation("a", "buys", "b", "rev_buys")}


@pytest.mark.parametrize("name", ["to", "rev_to"])
def test_of_several_possible_reverses_the_one_that_is_named_so_is_taken(name: str) -> None:
    found = relations_of({("a", "to", "b"): FORWARD, ("b", "another", "a"): BACKWARD, ("b", name, "a"): BACKWARD})
    assert set(found) == {Relation("a", "to", "b", name), Relation("b", "another", "a")}


def test_relations_do_not_depend_on_the_order_of_the_edge_types() -> None:
    edges = {
        ("a", "to", "b"): FORWARD,
        ("b", "rev_to", "a"): BACKWARD,
        ("a", "cites", "a"): FORWARD,
        ("b", "knows", "b"): FORWARD + BACKWARD,
    }
    assert relations_of(edges) == relations_of(dict(reversed(edges.items())))


def test_every_edge_type_of_the_data_is_in_the_schema() -> None:
    edges: Edges = {
        ("a", "to", "b"): FORWARD,
        ("b", "rev_to", "a"): BACKWARD,
        ("a", "cites", "a"): [],
        ("a", "rev_cites", "a"): [],
        ("b", "none", "a"): [],
    }
    data = hetero({"a": 4, "b": 4}, edges, y={"a": [0, 1, 0, 1]})
    assert set(infer_schema(data, "a").edge_types) == set(edges)


# -- classes ------------------------------------------------------------------------------------------


def test_classes_are_counted_up_to_the_largest_label() -> None:
    assert infer_schema(hetero({"a": 3}, y={"a": [0, -1, 3]}), "a").classes == (
        "class 0",
        "class 1",
        "class 2",
        "class 3",
    )


def test_classes_may_be_named_also_those_that_do_not_occur() -> None:
    names = ("x", "y", "z")
    assert infer_schema(hetero({"a": 2}, y={"a": [0, 1]}), "a", classes=names).classes == names


def test_too_few_class_names() -> None:
    with pytest.raises(SchemaError, match="1 class names were given, but the labels go up to 1"):
        infer_schema(hetero({"a": 2}, y={"a": [0, 1]}), "a", classes=["x"])


@pytest.mark.parametrize("y", [{}, {"a": [-1, -1]}], ids=["none", "unknown"])
def test_missing_labels(y: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="Nodes of type 'a' have no labels; set y"):
        infer_schema(hetero({"a": 2}, y=y), "a")


def test_missing_graph_labels() -> None:
    with pytest.raises(SchemaError, match="Graphs have no labels; set y"):
        infer_schema([Data(num_nodes=2), Data(num_nodes=1)])


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ([0.0, 0.5], "are torch.float32; give whole-number classes"),
        ([0, 1, 1], r"have shape \(3,\); give one label per node"),
        ([[1, 0], [0, 1]], r"have shape \(2, 2\); give one label per node"),
    ],
    ids=["float", "too many", "one-hot"],
)
def test_labels_that_are_no_classes(labels: list, found: str) -> None:
    with pytest.raises(SchemaError, match=f"labels of nodes of type 'a' {found}"):
        infer_schema(hetero({"a": 2}, y={"a": labels}), "a")


def test_a_column_of_labels_is_as_good_as_a_row() -> None:
    assert infer_schema(hetero({"a": 2}, y={"a": [[0], [1]]}), "a").num_classes == 2


@pytest.mark.parametrize("label", [torch.tensor([0.5]), torch.tensor([0, 1])], ids=["float", "two"])
def test_graph_labels_that_are_no_classes(label: torch.Tensor) -> None:
    with pytest.raises(SchemaError, match="Graph 1 has the labels? .*; give (one label per graph|whole-number)"):
        infer_schema([Data(num_nodes=2, y=0), Data(num_nodes=2, y=label)])


@pytest.mark.parametrize("label", [1, torch.tensor(1), torch.tensor([1]), torch.tensor([[1]])])
def test_a_graph_label_may_be_a_number_or_a_tensor(label: int | torch.Tensor) -> None:
    assert infer_schema([Data(num_nodes=2, y=label)]).num_classes == 2


# -- the whole ----------------------------------------------------------------------------------------


def test_unknown_target() -> None:
    with pytest.raises(SchemaError, match="Target 'z' is not a node type; choose from a, b"):
        infer_schema(hetero({"a": 2, "b": 1}, y={"a": [0, 1]}), "z")


def test_a_heterogeneous_graph_needs_a_target() -> None:
    with pytest.raises(SchemaError, match="Say which node type is classified: target= one of a, b"):
        infer_schema(hetero({"a": 2, "b": 1}))


def test_a_typed_homogeneous_graph_needs_a_target() -> None:
    data = Data(x=torch.eye(2), y=torch.tensor([0, 1]))
    with pytest.raises(SchemaError, match="Say which node type is classified: target= one of C, N"):
        infer_schema(data, type_names=["C", "N"])


def test_a_list_of_graphs_has_no_target() -> None:
    with pytest.raises(SchemaError, match="A list of graphs is classified as graphs"):
        infer_schema([Data(num_nodes=1, y=0)], "node")


def test_an_empty_list() -> None:
    with pytest.raises(SchemaError, match="The list of graphs is empty"):
        infer_schema([])


def test_a_list_of_both_classes() -> None:
    with pytest.raises(SchemaError, match="mixes Data and HeteroData"):
        infer_schema([Data(num_nodes=1, y=0), HeteroData(y=0)])


def test_a_heterogeneous_graph_without_types() -> None:
    with pytest.raises(SchemaError, match="no node types"):
        infer_schema(HeteroData(), "a")


def test_empty_types_and_edge_types_are_kept() -> None:
    data = hetero({"a": 2, "b": 0}, {("a", "to", "b"): []}, y={"a": [0, 1]})
    schema = infer_schema(data, "a")
    assert schema.node_types == ("a", "b")
    assert schema.relations == (Relation("a", "to", "b"),)
    assert schema.spec("b") == FeatureSpec()


def test_a_homogeneous_graph() -> None:
    data = Data(x=torch.tensor([[0.0], [1.0]]), edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([0, 1]))
    assert infer_schema(data) == Schema(
        node_types=("node",),
        relations=(Relation("node", "to", "node", "to"),),
        features=(FeatureSpec(FeatureKind.BINARY, 1),),
        classes=("class 0", "class 1"),
        target="node",
        layout=Layout.HOMOGENEOUS,
    )


def test_a_homogeneous_graph_whose_type_is_named() -> None:
    assert infer_schema(Data(num_nodes=2, y=torch.tensor([0, 1])), "page").node_types == ("page",)


def molecule(types: list[int], bonds: list[tuple[int, int, int]], y: int = 0) -> Data:
    both = [(u, v, code) for a, b, code in bonds for u, v in ((a, b), (b, a))]
    index = torch.tensor([(u, v) for u, v, _ in both], dtype=torch.long).reshape(-1, 2).T
    return Data(x=torch.eye(3)[types], edge_index=index, edge_attr=torch.eye(2)[[code for *_, code in both]], y=y)


def test_molecules() -> None:
    graphs = [molecule([0, 0, 2], [(0, 1, 1), (1, 2, 0)]), molecule([2, 0], [(0, 1, 0)], 1)]
    schema = infer_schema(graphs, type_names=["C", "N", "O"], edge_names=["single", "double"])
    assert schema.node_types == ("C", "N", "O")
    assert schema.relations == (Relation("C", "double", "C", "double"), Relation("C", "single", "O", "single"))
    assert schema.features == (FeatureSpec(),) * 3
    assert (schema.target, schema.type_in_x, schema.edge_attr_names) == (None, True, ("single", "double"))


def test_a_molecule_without_bonds() -> None:
    graphs = [molecule([0, 0], [(0, 1, 0)]), molecule([1], [])]
    schema = infer_schema(graphs, type_names=["C", "N", "O"], edge_names=["single", "double"])
    assert schema.relations == (Relation("C", "single", "C", "single"),)


def test_a_molecule_without_bonds_and_edge_attr() -> None:
    graphs = [molecule([0, 0], [(0, 1, 0)]), Data(x=torch.eye(3)[[1]], y=1)]
    schema = infer_schema(graphs, type_names=["C", "N", "O"], edge_names=["single", "double"])
    assert schema.relations == (Relation("C", "single", "C", "single"),)


def test_constructors_by_name() -> None:
    data = hetero({"a": 2}, y={"a": [0, 1]})
    graphs = [Data(num_nodes=1, y=1)]
    assert Schema.from_hetero(data, "a", classes=["x", "y"]) == infer_schema(data, "a", classes=["x", "y"])
    assert Schema.from_graphs(graphs) == infer_schema(graphs)
