"""The schema: its JSON form, the metagraph as a mask, and what it says about bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from dignn.core.errors import SchemaError
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout, Relation, Schema
from dignn.graphs.tasks.classification import NodeClassification
from strategies import ODD_NAMES, PROPERTY, plain_schema, schemas

WRITES = Relation("author", "writes", "paper", "rev_writes")
CITES = Relation("paper", "cites", "paper", "cited_by", directed=True)
TWIN = Relation("paper", "twin", "paper", "twin")
BIBLIOGRAPHY = plain_schema((WRITES, CITES, TWIN), node_types=("author", "paper", "term"), target="author")


# -- JSON ---------------------------------------------------------------------------------------------


@PROPERTY
@given(schemas(names=ODD_NAMES))
def test_json_round_trip(schema: Schema) -> None:
    assert Schema.from_json(schema.to_json()) == schema


@PROPERTY
@given(schemas(names=ODD_NAMES))
def test_json_form_is_plain_json(schema: Schema) -> None:
    raw = json.loads(schema.to_json())
    assert raw["node_types"] == list(schema.node_types)
    assert [spec["kind"] for spec in raw["features"]] == [spec.kind.value for spec in schema.features]


@PROPERTY
@given(schemas())
def test_equal_schemas_have_equal_hashes(schema: Schema) -> None:
    assert hash(Schema.from_json(schema.to_json())) == hash(schema)


def test_lists_are_as_good_as_tuples() -> None:
    order, told = [list(edge_type) for edge_type in BIBLIOGRAPHY.edge_types], ["writes", "rev_writes", "cites"]
    given = replace(BIBLIOGRAPHY, edge_order=order, edge_type_names=[*told, "cited_by", "twin"])
    assert given.edge_order == BIBLIOGRAPHY.edge_types
    assert given.edge_type_names == (*told, "cited_by", "twin")
    assert hash(given) == hash(Schema.from_json(given.to_json()))


@pytest.mark.parametrize("text", ["", "{", "null", "3", "[]", "{}", '{"features": 3}', '{"features": [3]}'])
def test_text_that_is_no_schema_is_named(text: str) -> None:
    with pytest.raises(SchemaError, match="not the JSON form of a schema"):
        Schema.from_json(text)


@pytest.mark.parametrize("field", ["node_types", "relations", "features", "classes", "layout", "edge_attr_names"])
def test_a_missing_field_is_named(field: str) -> None:
    raw = json.loads(BIBLIOGRAPHY.to_json())
    del raw[field]
    with pytest.raises(SchemaError, match=field):
        Schema.from_json(json.dumps(raw))


def test_an_unknown_field_is_named() -> None:
    raw = json.loads(BIBLIOGRAPHY.to_json()) | {"colour": "red"}
    with pytest.raises(SchemaError, match="colour"):
        Schema.from_json(json.dumps(raw))


def test_an_unknown_layout_is_named() -> None:
    raw = json.loads(BIBLIOGRAPHY.to_json()) | {"layout": "hyper"}
    with pytest.raises(SchemaError, match="hyper"):
        Schema.from_json(json.dumps(raw))


def test_an_unknown_kind_is_named() -> None:
    raw = json.loads(BIBLIOGRAPHY.to_json())
    raw["features"][0]["kind"] = "fuzzy"
    with pytest.raises(SchemaError, match="fuzzy"):
        Schema.from_json(json.dumps(raw))


def test_json_of_a_bad_schema_says_what_is_bad() -> None:
    raw = json.loads(BIBLIOGRAPHY.to_json()) | {"target": "venue"}
    with pytest.raises(SchemaError, match="Target 'venue' is not a node type; choose from author, paper, term"):
        Schema.from_json(json.dumps(raw))


# -- the metagraph ------------------------------------------------------------------------------------


@PROPERTY
@given(schemas())
def test_allowed_says_which_types_a_relation_joins_either_way_round(schema: Schema) -> None:
    for s, source in enumerate(schema.node_types):
        for t, target in enumerate(schema.node_types):
            expected = [True]  # no edge is always allowed
            for relation in schema.relations:
                expected.append((source, target) in (relation.edge_type[::2], relation.edge_type[::-2]))
            assert schema.allowed[s, t].tolist() == expected


def test_allowed_is_symmetric_in_the_types() -> None:
    assert np.array_equal(BIBLIOGRAPHY.allowed, BIBLIOGRAPHY.allowed.transpose(1, 0, 2))


def test_edge_types_come_in_order_of_the_relations_forward_before_reverse() -> None:
    assert BIBLIOGRAPHY.edge_types == (
        ("author", "writes", "paper"),
        ("paper", "rev_writes", "author"),
        ("paper", "cites", "paper"),
        ("paper", "cited_by", "paper"),
        ("paper", "twin", "paper"),
    )


@PROPERTY
@given(schemas())
def test_edge_types_are_distinct(schema: Schema) -> None:
    assert len(set(schema.edge_types)) == len(schema.edge_types)


def test_a_relation_stored_once_has_one_edge_type() -> None:
    schema = plain_schema((replace(WRITES, reverse=None),), node_types=("author", "paper"))
    assert schema.edge_types == (("author", "writes", "paper"),)


def test_metadata_is_what_pytorch_geometric_takes() -> None:
    assert BIBLIOGRAPHY.metadata == (["author", "paper", "term"], list(BIBLIOGRAPHY.edge_types))


def test_ends_are_types_by_number() -> None:
    assert [BIBLIOGRAPHY.ends(r) for r in (1, 2, 3)] == [(0, 1), (1, 1), (1, 1)]


def test_target_index() -> None:
    assert BIBLIOGRAPHY.target_index == 0
    assert replace(BIBLIOGRAPHY, target=None, task=None).target_index is None


def test_an_unknown_type_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SchemaError, match="Unknown node type 'venue'; choose from author, paper, term"):
        BIBLIOGRAPHY.spec("venue")


def test_specs_are_found_by_name_and_by_number() -> None:
    schema = plain_schema((), node_types=("a", "b"), features=(FeatureSpec(), FeatureSpec(FeatureKind.BINARY, 2)))
    assert schema.spec("b") is schema.spec(1) is schema.features[1]


# -- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_types": ("author", "paper", "paper")}, "must be distinct"),
        ({"node_types": (), "features": ()}, "at least one"),
        ({"features": (FeatureSpec(),)}, "1 feature specs for 3 node types"),
        ({"relations": (Relation("author", "at", "venue"),)}, "unknown node type 'venue'"),
        ({"relations": (WRITES, WRITES)}, "Relations must be distinct"),
        ({"target": "venue", "task": None}, "Target 'venue' is not a node type; choose from author, paper, term"),
        ({"target": "venue"}, "The task is about nodes of type 'author', the target is 'venue'; give one of them"),
        ({"classes": ()}, "distinct and at least one"),
        ({"classes": ("x", "x")}, "distinct and at least one"),
        ({"edge_attr_names": ("writes", "cited_by")}, r"lacks the relation names \['cites', 'rev_writes', 'twin'\]"),
    ],
)
def test_bad_schema(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        replace(BIBLIOGRAPHY, **change)


def test_one_edge_type_cannot_belong_to_two_relations() -> None:
    with pytest.raises(SchemaError, match="Relations must be distinct"):
        replace(BIBLIOGRAPHY, relations=(WRITES, Relation("paper", "rev_writes", "author")))


def test_a_homogeneous_model_has_one_width() -> None:
    features = (FeatureSpec(), FeatureSpec(FeatureKind.BINARY, 2))
    with pytest.raises(SchemaError, match="same number of feature columns"):
        plain_schema((), node_types=("a", "b"), features=features, layout=Layout.HOMOGENEOUS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "a", "target": "b", "directed": True}, "joins two types"),
        ({"source": "a", "target": "a", "reverse": "back"}, "its own reverse"),
        ({"source": "a", "target": "a", "reverse": "to", "directed": True}, "cannot be its own reverse"),
    ],
)
def test_bad_relation(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Relation(name="to", **options)


def test_a_task_and_a_target_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(SchemaError, match="The task is about nodes of type 'author', the target is 'paper'"):
        replace(BIBLIOGRAPHY, target="paper")
    assert replace(BIBLIOGRAPHY, target=None, task=NodeClassification("paper")).target == "paper"
