"""Predicates go to JSON and back, and their keys say what they look at."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from dignn.core.errors import DignnError
from dignn.goes_by.places import Places
from dignn.goes_by.predicate_families import families, ring_families, wheres
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count, Mean, Rings
from dignn.goes_by.term_keys import TermKey, key_of, predicate_from, predicate_json
from dignn.goes_by.traits import Holds, Shaped
from dignn.goes_by.where import Around, Edges, Step
from dignn.graphs.batch import GraphBatch
from goes_by.library import CITES, READS, library_schema, weighted
from strategies import PROPERTY, batches

KDD = Predicate(Count(Around("venue", 2), (Holds(0),)))


@given(batches(min_graphs=1))
@PROPERTY
def test_round_trip(batch: GraphBatch) -> None:
    places = Places(batch, *batch.schema.task.answers(batch))
    found = [family for where in wheres(places) for family in families(places, where)]
    for predicate in [each for family in (*found, *ring_families(places)) for each in family.predicates]:
        assert predicate_from(json.loads(json.dumps(predicate_json(predicate.absent)))) == predicate.absent
        assert predicate_from(predicate_json(predicate)) == predicate
        assert key_of(predicate, batch.schema).above is True


def test_keys() -> None:
    schema = library_schema()
    assert key_of(KDD, schema) == TermKey("column", "venue", (), 2, ("KDD",), True, 1.0, 1)
    path = Around("paper", 2, (Step(READS), Step(CITES, True)))
    dear = Predicate(Count(path, (Holds(0, "above", 3.0),)), 1.5, False)
    expected = TermKey("column", "paper", (READS, f"<-{CITES}"), 2, ("price",), False, 3.0, 2)
    assert key_of(dear, schema) == expected
    mean = Predicate(Mean(Around("paper", 1), 0), 2.5)
    assert key_of(mean, schema) == TermKey("mean", "paper", (), 1, ("price",), True, 2.5, None)
    assert key_of(Predicate(Rings(("author", "paper", "paper"))), schema).about == "cycle"
    assert key_of(Predicate(Count(Around("paper", 1), (Shaped("leaf"),))), schema).about == "leaf"
    assert key_of(Predicate(Count(Around("paper", 1)), 2.5), schema).count == 3
    cited = key_of(Predicate(Count(Around("paper", 1), (Shaped("neighbours", 1, Step(CITES, True)),))), schema)
    assert (cited.about, cited.value, cited.by) == ("neighbours", 1.0, f"<-{CITES}")
    batch, (label,) = weighted()
    assert key_of(Predicate(Count(Edges(label), (Holds(0, "above", 0.5),))), batch.schema).path == (label,)


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {**predicate_json(KDD), "kind": "dream"},
        {**predicate_json(KDD), "above": "much"},
        {**predicate_json(KDD), "above": float("nan")},
        {**predicate_json(KDD), "holds": 1},
        {**predicate_json(KDD), "where": {"kind": "holds", "column": 1}},
        {**predicate_json(KDD), "where": {"kind": "around", "node_type": "venue"}},
        {**predicate_json(KDD), "traits": [{"kind": "holds", "column": "x", "test": "is", "value": 1.0}]},
    ],
)
def test_what_is_no_predicate_is_told(content: Any) -> None:
    with pytest.raises(DignnError, match="is no predicate"):
        predicate_from(content)
