"""What the schema says of edges: read off the data, kept as JSON, refused where it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from any_models import people
from carrying_graphs import EVERY, bonded, citations, friends, priced_shops, rng, weighted_matrix
from dignn import infer_schema
from dignn.core.errors import SchemaError
from dignn.graphs.edge_features import EdgeFeatures, EdgeField
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.schema import Schema

NUMBERS = FeatureSpec(FeatureKind.CONTINUOUS, 1)
TARGETS = {"two types, one row": "shop", "two types, other rows back": "shop", "directed, more fields back": "paper"}


@pytest.mark.parametrize("name", EVERY)
def test_a_schema_and_its_json_are_the_same(name: str) -> None:
    schema = infer_schema(EVERY[name](), TARGETS.get(name))
    again = Schema.from_json(schema.to_json())
    assert schema.edge_features
    assert again == schema
    assert again.fingerprint == schema.fingerprint
    assert replace(schema, edge_features=()).fingerprint != schema.fingerprint


def test_fields_have_their_names_widths_and_types() -> None:
    data = friends()
    data.edge_attr = data.edge_attr.double()
    data.years = torch.randint(5, (data.num_edges,), generator=rng())
    (found,) = infer_schema(data).edge_features
    assert found.fields == (
        EdgeField("edge_weight", vector=True),
        EdgeField("edge_attr", 2, "float64"),
        EdgeField("years", 1, "int64", vector=True),
    )
    assert found.spec.names == ("edge_weight", "edge_attr 0", "edge_attr 1", "years")
    assert not found.shared  # years are others in the two directions
    assert [found.columns(field) for field in found.fields] == [slice(0, 1), slice(1, 3), slice(3, 4)]


def test_two_directions_are_one_row_or_columns_side_by_side() -> None:
    one, other = (infer_schema(priced_shops(one_row=one_row), "shop") for one_row in (True, False))
    assert [field.direction for field in one.edge_features_by_label["shop -sells- product"].fields] == ["both"]
    both = other.edge_features_by_label["shop -sells- product"]
    assert [field.direction for field in both.fields] == ["forward", "reverse"]
    assert both.spec.width == 4
    assert both.shared
    assert not other.edge_features_by_label["product -like- product"].shared
    cites = infer_schema(citations(), "paper").edge_features_by_label["paper -cites-> paper"]
    assert [(field.name, field.direction) for field in cites.fields] == [
        ("strength", "forward"),
        ("strength", "reverse"),
        ("year", "reverse"),
    ]
    assert cites.spec.names == ("strength", "strength back", "year back")


def test_values_of_a_matrix_are_a_field_unless_they_are_ones() -> None:
    data = weighted_matrix()
    assert infer_schema(data).edge_features[0].fields == (EdgeField("adj_t", vector=True),)
    ones = data.adj_t.to_sparse_coo().coalesce()
    data.adj_t = torch.sparse_coo_tensor(ones.indices(), torch.ones_like(ones.values()), ones.shape).to_sparse_csr()
    assert not infer_schema(data).edge_features


def test_what_tells_relations_is_no_feature() -> None:
    graphs = bonded()
    assert infer_schema(graphs).edge_features
    assert not infer_schema(graphs, edge_names=["single", "double", "aromatic"]).edge_features
    data = friends()
    data.edge_type = data.edge_index.sum(0) % 2
    found = infer_schema(data)
    assert len(found.relations) == len(found.edge_features) == 2
    assert {field.name for each in found.edge_features for field in each.fields} == {"edge_weight", "edge_attr"}


def test_names_and_kinds_go_by_the_label_of_the_relation() -> None:
    data = people()
    data.edge_attr = torch.randint(3, (data.num_edges, 2), generator=rng()).float()
    label = "person -to- person"
    schema = infer_schema(data, "person", names={label: ["tie", "tone"]}, kinds={label: "categorical"})
    spec = schema.table_spec(label)
    assert (spec.names, spec.kind, spec.levels) == (("tie", "tone"), FeatureKind.CATEGORICAL, (3, 3))
    with pytest.raises(SchemaError, match="choose from person, person -to- person"):
        infer_schema(data, "person", names={"friends": ["tie", "tone"]})


def test_another_number_of_rows_than_edges_is_a_mistake() -> None:
    for name in ("edge_attr", "edge_weight"):
        data = people()
        data[name] = torch.rand(data.num_edges - 1)
        with pytest.raises(SchemaError, match=f"{name} has {data.num_edges - 1} rows for {data.num_edges} edges; give"):
            infer_schema(data)
    hetero: HeteroData = priced_shops()
    hetero["shop", "sells", "product"].edge_weight = torch.rand(3)
    with pytest.raises(SchemaError, match="edge_weight has 3 rows for 120 edges"):
        infer_schema(hetero, "shop")


def test_what_cannot_be_held_is_left_out() -> None:
    data = people()
    edges = data.num_edges
    data.names = ["a"] * edges
    data.when = torch.full((edges,), 1_700_000_000) + torch.arange(edges)  # no float32
    data.cube = torch.rand(edges, 2, 2)
    data.train_mask = torch.ones(edges, dtype=torch.bool)
    data.edge_label = torch.rand(edges)
    data.complex = torch.rand(edges, dtype=torch.complex64)
    assert not infer_schema(data).edge_features


def test_nodes_and_edges_of_the_same_number_are_told_apart_by_name() -> None:
    data = people(nodes=90)
    data.edge_index = torch.stack([torch.arange(90), torch.arange(90).roll(1)])
    data.pos, data.edge_attr = torch.rand(90, 2, generator=rng(1)), torch.rand(90, 2, generator=rng(2))
    (found,) = infer_schema(data).edge_features
    assert [field.name for field in found.fields] == ["edge_attr"]


def test_descriptions_that_contradict_themselves_are_refused() -> None:
    schema = infer_schema(friends(), "person")
    (features,) = schema.edge_features
    with pytest.raises(SchemaError, match="columns and their spec has"):
        EdgeFeatures(1, (EdgeField("edge_weight"),), FeatureSpec(FeatureKind.CONTINUOUS, 2))
    with pytest.raises(SchemaError, match="is a vector, so it has one column; give width=1"):
        EdgeField("edge_weight", 2, vector=True)
    with pytest.raises(SchemaError, match=r"of the relations \[2\]; give one each, from 1 to 1"):
        replace(schema, edge_features=(replace(features, relation=2),))
    with pytest.raises(SchemaError, match="is stored in one edge type, so its 'w' is of both ways"):
        replace(schema, edge_features=(EdgeFeatures(1, (EdgeField("w", direction="reverse"),), NUMBERS),))
    shop = infer_schema(priced_shops(), "shop")
    with pytest.raises(SchemaError, match="have one row each; only undirected ones in a type have two"):
        replace(shop, edge_features=(replace(shop.edge_features_by_label["shop -sells- product"], shared=False),))
    bonds = infer_schema(bonded(), type_names=["C", "N", "O"])
    with pytest.raises(SchemaError, match="all carry the same fields; describe every relation's"):
        replace(bonds, edge_features=bonds.edge_features[:1])
    with pytest.raises(SchemaError, match="not the JSON form of a schema"):
        Schema.from_json(schema.to_json().replace('"direction": "both"', '"direction": "sideways"'))


def test_one_hot_fields_are_categories_and_large_whole_numbers_are_told_apart() -> None:
    (bonds,) = infer_schema(bonded()).edge_features
    assert bonds.spec.groups == ((0, 1, 2),)
    for first, kind in ((0, ColumnKind.COUNT), (1990, ColumnKind.IDENTITY)):
        cites = infer_schema(citations(first=first), "paper").edge_features[0].spec
        kinds = [cites.column(column).kind for column in range(3)]
        assert kinds == [ColumnKind.CONTINUOUS, ColumnKind.CONTINUOUS, kind]
    data = friends()
    data.edge_weight[::9] = torch.nan
    assert infer_schema(data).edge_features[0].spec.missing == (0,)


def coloured_friends() -> Data:
    """Friendships with a weight, one of three colours, and the number of a place."""
    data = people()
    kind = data.edge_index.sum(0)  # the same in both directions
    data.edge_weight = kind / 7
    data.edge_attr = torch.nn.functional.one_hot(kind % 3, 3).float()
    data.place = 1000 + kind % 5
    return data


LABEL = "person -to- person"


def kinds_of(said: Mapping[str | int, str]) -> tuple[ColumnKind, ...]:
    """Kinds of the weight, the three colours and the place."""
    return infer_schema(coloured_friends(), "person", kinds={LABEL: said}).edge_features[0].spec.kinds


def test_what_is_said_of_one_column_leaves_the_guesses_of_others() -> None:
    hot = (ColumnKind.ONE_HOT,) * 3
    assert kinds_of({}) == (ColumnKind.CONTINUOUS, *hot, ColumnKind.IDENTITY)
    for key in ("edge_weight", 0, "0"):
        assert kinds_of({key: "date:days:1970-01-01"}) == (ColumnKind.DATE, *hot, ColumnKind.IDENTITY)
    assert kinds_of({"place": "continuous"}) == (ColumnKind.CONTINUOUS, *hot, ColumnKind.CONTINUOUS)


def test_what_is_said_of_a_column_of_a_group_is_said_against_the_group() -> None:
    found = kinds_of({"edge_attr 1": "count"})
    assert found[1:] == (ColumnKind.BINARY, ColumnKind.COUNT, ColumnKind.BINARY, ColumnKind.IDENTITY)
    with pytest.raises(SchemaError, match=f"column 0 of '{LABEL}' is said twice; say it once"):
        kinds_of({"edge_weight": "count", 0: "count"})


def test_one_graph_may_miss_all_values_of_a_column() -> None:
    graphs = bonded()
    for graph in graphs:
        graph.edge_weight = torch.rand(graph.num_edges, generator=rng())
    graphs[3].edge_weight[:] = torch.nan
    found = infer_schema(graphs).edge_features[0]
    assert "edge_weight" in [field.name for field in found.fields]
    assert [found.spec.column_name(column) for column in found.spec.missing] == ["edge_weight"]
    for graph in graphs:
        graph.edge_weight[:] = torch.nan
    with pytest.raises(SchemaError, match="Column 'edge_weight' of 'node -to- node' has no value in any row; leave it"):
        infer_schema(graphs)


@pytest.mark.parametrize("endless", [torch.inf, -torch.inf, 1e300])  # the last is infinite as a float32
def test_infinity_is_refused(endless: float) -> None:
    data = friends()
    data.edge_attr = data.edge_attr.double()
    data.edge_attr[4, 1] = endless
    with pytest.raises(SchemaError, match="edge_attr of 'to' holds infinity .first in column 1.; give numbers, or NaN"):
        infer_schema(data)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("binary", "are said to be binary, but their table holds values that are not 0, 1, 2, ...; say kind"),
        ("none", "are said to have no features, but rows of their table differ; leave the kind out"),
    ],
)
def test_sentences_are_about_edges(kind: str, message: str) -> None:
    with pytest.raises(SchemaError, match=f"The edges '{LABEL}' {message}"):
        infer_schema(friends(), "person", kinds={LABEL: kind})
    with pytest.raises(SchemaError, match=f"1 names were given for the 3 columns of '{LABEL}'; give one each"):
        infer_schema(friends(), "person", names={LABEL: ["tie"]}, kinds={LABEL: {2: "continuous"}})
