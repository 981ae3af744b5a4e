"""Predicates in words, as a person would say them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from dignn.goes_by.phrases import phrase, words_of
from dignn.goes_by.places import Places
from dignn.goes_by.predicate_families import families, ring_families, wheres
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count, Mean, Rings
from dignn.goes_by.traits import Holds, Shaped
from dignn.goes_by.where import Around, Edges, Step
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.schema import Schema
from goes_by.library import CITES, READS, library_schema, weighted
from strategies import PROPERTY, batches, plain_schema

AUTHOR, PAPERS, VENUES = Around("author", 0), Around("paper", 1), Around("venue", 2)


def count(where, *traits, least: int = 1) -> Predicate:
    return Predicate(Count(where, traits), least - 0.5)


SAID = [
    (count(AUTHOR, Holds(0)), "it has “query”", "it lacks “query”"),
    (
        count(AUTHOR, Holds(0), Holds(1), least=2),
        "it has at least two of “query” and “index”",
        "it has fewer than two of “query” and “index”",
    ),
    (count(VENUES, Holds(0)), "a venue two steps away is “KDD”", "no venue two steps away is “KDD”"),
    (
        count(VENUES, Holds(0), least=2),
        "at least two venues two steps away are “KDD”",
        "fewer than two venues two steps away are “KDD”",
    ),
    (
        count(VENUES, Holds(0), Holds(1)),
        "among venues two steps away there is at least one of “KDD” and “VLDB”",
        "among venues two steps away there is none of “KDD” and “VLDB”",
    ),
    (count(PAPERS, least=2), "at least two papers are next to it", "fewer than two papers are next to it"),
    (count(PAPERS), "a paper is next to it", "no paper is next to it"),
    (
        count(Around("paper", 1, (Step(READS),)), Holds(0, "above", 3.25)),
        "a paper next to it (by reads) has “price” above 3.25",
        "no paper next to it (by reads) has “price” above 3.25",
    ),
    (
        count(Around("paper", 2, (Step(READS), Step(CITES, True))), Holds(0, "missing")),
        "a paper two steps away (by reads, by cites towards it) misses “price”",
        "no paper two steps away (by reads, by cites towards it) misses “price”",
    ),
    (
        Predicate(Mean(PAPERS, 0), 3.25),
        "the mean “price” of papers next to it is above 3.25",
        "the mean “price” of papers next to it is not above 3.25 or there is none",
    ),
    (
        Predicate(Rings(("author", "paper", "paper"))),
        "it lies on a triangle of two papers and one author",
        "it lies on no triangle of two papers and one author",
    ),
    (count(AUTHOR, Shaped("cycle", 5)), "it lies on a cycle of five nodes", "it lies on no cycle of five nodes"),
    (
        count(PAPERS, Shaped("neighbours", 2), least=2),
        "at least two papers next to it have at least two neighbours",
        "fewer than two papers next to it have at least two neighbours",
    ),
    (count(PAPERS, Shaped("leaf")), "a paper next to it has one neighbour", "no paper next to it has one neighbour"),
]


@pytest.mark.parametrize(("predicate", "there", "absent"), SAID, ids=[there for _, there, _ in SAID])
def test_said(predicate: Predicate, there: str, absent: str) -> None:
    assert phrase(predicate, library_schema()) == there
    assert phrase(predicate.absent, library_schema()) == absent
    assert words_of([predicate, predicate.absent], library_schema()) == f"{there} and {absent}"


TABLE = plain_schema(
    features=(
        FeatureSpec(
            FeatureKind.MIXED,
            5,
            names=("colour", "new", "price", "votes", "id"),
            columns=(
                Column(ColumnKind.CATEGORICAL, levels=4),
                Column(ColumnKind.BINARY),
                Column(ColumnKind.CONTINUOUS, missing=True),
                Column(ColumnKind.COUNT, levels=9),
                Column(ColumnKind.IDENTITY),
            ),
        ),
    ),
    target="node",
)
NODE, NODES = Around("node", 0), Around("node", 1)
RED, BLUE, NEW, VOTED = Holds(0, "is", 2.0), Holds(0, "is", 1.0), Holds(1), Holds(3, "above", 0.5)
OF_VALUES = [
    (
        count(NODE, RED, BLUE, NEW),
        "at least one is true of it: “colour” is 2, “colour” is 1 and “new”",
        "none is true of it: “colour” is 2, “colour” is 1 and “new”",
    ),
    (
        count(NODES, RED, BLUE, Holds(4, "is", 1.0), least=2),
        "at least two are true of nodes next to it: “colour” is 2, “colour” is 1 and “id” is 1",
        "fewer than two are true of nodes next to it: “colour” is 2, “colour” is 1 and “id” is 1",
    ),
    (
        count(NODE, Holds(2, "missing"), Holds(2, "above", 3.0)),
        "at least one is true of it: “price” is missing and “price” is above 3",
        "none is true of it: “price” is missing and “price” is above 3",
    ),
    (count(NODE, NEW, VOTED), "it has at least one of “new” and “votes”", "it has none of “new” and “votes”"),
]


@pytest.mark.parametrize(("predicate", "there", "absent"), OF_VALUES, ids=[there for _, there, _ in OF_VALUES])
def test_groups_of_values_are_told_with_them(predicate: Predicate, there: str, absent: str) -> None:
    assert phrase(predicate, TABLE) == there
    assert phrase(predicate.absent, TABLE) == absent


def lossy(column: Column, target: str | None = "node") -> Schema:
    spec = FeatureSpec(FeatureKind.MIXED, 1, names=("x",), columns=(replace(column, missing=True),))
    return plain_schema(features=(spec,), target=target)


@pytest.mark.parametrize(
    ("column", "trait", "there", "absent"),
    [
        (Column(ColumnKind.CONTINUOUS), Holds(0, "above", 3.0), "is above 3", "is not above 3"),
        (Column(ColumnKind.COUNT, levels=9), Holds(0, "above", 2.5), "is at least 3", "is below 3"),
        (Column(ColumnKind.CATEGORICAL, levels=4), Holds(0, "is", 2.0), "is 2", "is not 2"),
    ],
)
def test_what_is_missing_is_not_said_to_be_something(column: Column, trait: Holds, there: str, absent: str) -> None:
    predicate, missing = count(NODE, trait), lossy(column)
    assert phrase(predicate, missing) == f"its “x” {there}"
    assert phrase(predicate.absent, missing) == f"its “x” {absent} or is missing"
    spec = FeatureSpec(FeatureKind.MIXED, 1, names=("x",), columns=(column,))
    assert phrase(predicate.absent, plain_schema(features=(spec,))) == f"its “x” {absent}"


def test_a_flag_that_is_missing_is_not_said_to_be_lacked() -> None:
    flag = lossy(Column(ColumnKind.BINARY))
    assert phrase(count(NODE, Holds(0)), flag) == "it has “x”"
    assert phrase(count(NODE, Holds(0)).absent, flag) == "its “x” is not 1 or is missing"
    value = lossy(Column(ColumnKind.ONE_HOT, group=0))
    assert phrase(count(NODE, Holds(0)).absent, value) == "it is not “x” or that is missing"


def test_means_say_that_there_may_be_none_where_that_can_be() -> None:
    low = Predicate(Mean(Around("node", None), 0), 3.0, holds=False)
    whole = "the mean “x” of nodes in the graph is not above 3"
    price = Column(ColumnKind.CONTINUOUS)
    assert phrase(low, lossy(price, target=None)) == f"{whole} or there is none"
    spec = FeatureSpec(FeatureKind.MIXED, 1, names=("x",), columns=(price,))
    assert phrase(low, plain_schema(features=(spec,))) == whole
    assert phrase(low, plain_schema(features=(spec,) * 2, node_types=("node", "mall"))) == f"{whole} or there is none"


def test_graphs_and_edges() -> None:
    schema = plain_schema(node_types=("node",))
    assert phrase(count(Around("node", None), least=3), schema) == "the graph has at least three nodes"
    assert phrase(Predicate(Rings(("node",) * 6)), schema) == "the graph has a cycle of six nodes"
    batch, (label,) = weighted()
    assert phrase(count(Edges(label), Holds(0, "above", 0.5)), batch.schema) == (
        "an edge “to” at it has “weight” above 0.5"
    )
    words = FeatureSpec(FeatureKind.COUNT, 1, names=("votes",), levels=(9,))
    counted = plain_schema(features=(words,), target="node")
    assert phrase(count(Around("node", 0), Holds(0, "above", 2.5)), counted) == "its “votes” is at least 3"


@given(batches(min_graphs=1))
@PROPERTY
def test_every_predicate_has_words_and_its_absence_others(batch: GraphBatch) -> None:
    places = Places(batch, *batch.schema.task.answers(batch))
    found = [family for where in wheres(places) for family in families(places, where)]
    for predicate in [each for family in (*found, *ring_families(places)) for each in family.predicates]:
        there, absent = phrase(predicate, batch.schema), phrase(predicate.absent, batch.schema)
        assert there != absent
        assert there.strip() == there
        assert "  " not in there
