"""Predicates in words, as a person would say them."""

from __future__ import annotations

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
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
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
        "the mean “price” of papers next to it is not above 3.25",
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
