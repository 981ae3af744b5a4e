"""Judging what is said that a known model goes by: ideal scorecards made by hand, and terms that are nearly right."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from dignn.core.errors import DignnError
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count, Mean, Rings
from dignn.goes_by.term_keys import predicate_json
from dignn.goes_by.traits import Holds, Shaped, Trait
from dignn.goes_by.where import Around, Step
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.known.known_model import FAILS, HOLDS
from dignn.zoo.known.known_terms import TermScore, score_terms
from dignn.zoo.known.registry import KNOWN_MODELS

WRITES, REVIEWS = Step("author -writes- paper"), Step("author -reviews- paper")
CITES, CITED_BY = Step("paper -cites-> paper"), Step("paper -cites-> paper", back=True)
APPEARS, CALLS = Step("paper -appears_in- conference"), Step("patient -calls- doctor")
DATABASE = ("concurrency", "index", "join", "query", "relational", "schema", "storage", "transaction")
WROTE, REVIEWED = Around("paper", 1, (WRITES,)), Around("paper", 1, (REVIEWS,))
DRUG = Around("drug", 1)
Said = dict[Predicate, float]


@cache
def data(name: str) -> Dataset:
    return KNOWN_MODELS[name].dataset(0)


def held(name: str, where: Around, *columns: str, least: int = 1) -> Predicate:
    """At least so many there carry something."""
    spec = data(name).schema.spec(where.node_type)
    names = [spec.column_name(column) for column in range(spec.width)]
    return Predicate(Count(where, tuple(Holds(names.index(column)) for column in columns)), least - 0.5)


def above(name: str, column: str, value: float) -> Predicate:
    """A column of the classified node lies above a number."""
    known = held(name, Around("patient"), column).quantity
    assert isinstance(known, Count)
    (trait,) = known.traits
    assert isinstance(trait, Holds)
    return own_trait("patient", Holds(trait.column, "above", value))


def own_trait(node_type: str, trait: Trait) -> Predicate:
    return Predicate(Count(Around(node_type), (trait,)))


def own(name: str, *columns: str, least: int = 1) -> Predicate:
    return held(name, Around("author"), *columns, least=least)


TRIANGLE = Predicate(Rings(("author", "paper", "paper")))
IDEAL: dict[str, Said] = {
    "feature": {own("feature", "query"): 6.0},
    "structure": {TRIANGLE: 6.0},
    "both": {own("both", "query"): 5.0, own_trait("author", Shaped("cycle", 3)): 5.0},
    "count": {own("count", *DATABASE, least=5): 6.0},
    "absence": {held("absence", WROTE, "survey"): -6.0},
    "disjunction": {own("disjunction", "logic"): 6.0, held("disjunction", WROTE, "award"): 5.0},
    "exclusive": {own("exclusive", "query"): 1.0, own("exclusive", "neural"): -1.0},
    "two-steps": {held("two-steps", Around("paper", 2, (WRITES, CITES)), "theory"): 6.0},
    "one-relation": {held("one-relation", REVIEWED, "theory"): 6.0},
    "direction": {Predicate(Count(WROTE, (Shaped("neighbours", 1, CITED_BY),))): 6.0},
    "degree": {Predicate(Count(WROTE), 2.5): 6.0},
    "identity": {held("identity", Around("conference", 2, (WRITES, APPEARS)), "Coast"): 6.0},
    "neighbour": {held("neighbour", WROTE, "survey"): 6.0},
    "two-neighbours": {held("two-neighbours", WROTE, "theory", least=2): 6.0},
    "present-and-absent": {
        held("present-and-absent", WROTE, "theory"): 6.0,
        held("present-and-absent", REVIEWED, "theory"): -5.0,
    },
    "threshold": {above("threshold", "pressure", 137.5): 6.0},
    "interval": {above("interval", "age", 40.0): 4.0, above("interval", "age", 60.0): -4.0},
    "threshold-and-neighbour": {
        above("threshold-and-neighbour", "pressure", 137.5): 5.0,
        held("threshold-and-neighbour", DRUG, "strong"): 5.0,
    },
    "threshold-or-count": {above("threshold-or-count", "pressure", 162.5): 5.0, Predicate(Count(DRUG), 2.5): 5.0},
}
DECOYS: dict[str, list[Predicate]] = {
    "feature": [own("feature", "adaptive"), own("feature", "analysis")],
    "disjunction": [
        own("disjunction", "remote", "open"),
        held("disjunction", Around("paper", 1), "demo"),
        held("disjunction", Around("conference", 1), "Desert"),
    ],
    "threshold": [above("threshold", "pulse", 80.0), Predicate(Count(Around("doctor", 1, (CALLS,))))],
}


def judged(name: str, said: Said, decoys: tuple[Predicate, ...] = (), studied: Any = None) -> TermScore:
    """The score of a card of the class "rule holds"; that of the other class says the same."""
    cards = {
        class_name: [
            {"predicate": predicate_json(predicate), "points": sign * points, "decoy": predicate in decoys}
            for predicate, points in said.items()
        ]
        for class_name, sign in ((HOLDS, 1), (FAILS, -1))
    }
    return score_terms(KNOWN_MODELS[name], data(name), cards, studied)


def test_every_known_model_has_an_ideal_card() -> None:
    assert set(IDEAL) == set(KNOWN_MODELS)


@pytest.mark.parametrize("name", IDEAL)
def test_the_ideal_card_is_right(name: str) -> None:
    found = judged(name, IDEAL[name])
    assert (found.term_precision, found.term_recall, found.decoys_named) == (1.0, 1.0, 0.0)
    assert (found.wrong, found.unnamed, found.by_rules) == ((), (), False)
    assert found.terms == 2 * len(IDEAL[name])


@pytest.mark.parametrize("name", sorted(set(IDEAL) - {"exclusive"}))
def test_the_opposite_is_wrong(name: str) -> None:
    """Of exclusive or, either sign says something."""
    found = judged(name, {predicate: -points for predicate, points in IDEAL[name].items()})
    assert (found.term_precision, found.term_recall) == (0.0, 0.0)
    negated = judged(name, {predicate.absent: -points for predicate, points in IDEAL[name].items()})
    assert (negated.term_precision, negated.term_recall) == (1.0, 1.0)


@pytest.mark.parametrize("name", DECOYS)
def test_decoys_are_counted_unless_they_are_marked(name: str) -> None:
    said = {**IDEAL[name], **dict.fromkeys(DECOYS[name], 1.0)}
    found = judged(name, said)
    assert found.decoys_named == 1.0
    assert found.term_precision == pytest.approx(len(IDEAL[name]) / len(said))
    assert len(found.wrong) == 2 * len(DECOYS[name])
    marked = judged(name, said, decoys=tuple(DECOYS[name]))
    assert (marked.decoys_named, marked.term_precision, marked.term_recall) == (0.0, 1.0, 1.0)
    some = judged(name, {**IDEAL[name], DECOYS[name][0]: 1.0})
    assert some.decoys_named == 1 / len(KNOWN_MODELS[name].decoys)


@pytest.mark.parametrize(
    ("name", "predicate"),
    [
        ("one-relation", held("one-relation", WROTE, "theory")),  # another relation
        ("one-relation", held("one-relation", Around("paper", 1), "theory")),  # either of two relations
        ("one-relation", held("one-relation", REVIEWED, "award")),  # another column
        ("one-relation", held("one-relation", REVIEWED, "theory", least=2)),  # another number
        ("two-neighbours", held("two-neighbours", WROTE, "theory")),
        ("two-steps", held("two-steps", Around("paper", 2, (WRITES, CITED_BY)), "theory")),
        ("two-steps", held("two-steps", WROTE, "theory")),  # another distance
        ("direction", Predicate(Count(WROTE, (Shaped("neighbours", 1, CITES),)))),
        ("direction", Predicate(Count(WROTE, (Shaped("neighbours", 1),)))),
        ("direction", Predicate(Count(WROTE, (Shaped("neighbours", 1, CITED_BY),)), 1.5)),
        ("degree", Predicate(Count(WROTE), 1.5)),
        ("degree", Predicate(Count(Around("paper", 1)), 2.5)),
        ("degree", held("degree", WROTE, "award", least=3)),
        ("identity", held("identity", Around("conference", 2, (WRITES, APPEARS)), "Alps")),
        ("identity", held("identity", Around("conference", 1), "Coast")),
        ("structure", Predicate(Rings(("paper", "paper", "paper")))),
        ("structure", Predicate(Rings(("author", "author", "paper", "paper")))),
        ("structure", own_trait("author", Shaped("cycle", 4))),
        ("structure", own_trait("author", Shaped("cycle"))),
        ("structure", Predicate(Count(Around("paper", 1), (Shaped("cycle", 3),)))),
        ("feature", own("feature", "query", "analysis")),  # half of the columns
        ("feature", own_trait("author", Holds(3, "missing"))),
        ("threshold", above("threshold", "pressure", 143.0)),  # 18 is the standard deviation
        ("threshold", above("threshold", "weight", 137.5)),
        ("threshold", Predicate(Mean(DRUG, 0), 0.5)),
        ("count", own("count", *DATABASE, least=1)),
        ("count", own("count", *DATABASE, "neural", "kernel", least=7)),
    ],
)
def test_what_is_nearly_right_is_wrong(name: str, predicate: Predicate) -> None:
    found = judged(name, {predicate: 3.0})
    assert (found.term_precision, found.term_recall) == (0.0, 0.0)
    assert len(found.wrong) == 2
    assert found.unnamed


@pytest.mark.parametrize(
    ("name", "predicate", "recall"),
    [
        ("threshold", above("threshold", "pressure", 141.0), 1.0),
        ("threshold-and-neighbour", above("threshold-and-neighbour", "pressure", 134.0), 0.5),
        ("threshold-or-count", Predicate(Count(Around("drug", 1, (Step("patient -takes- drug"),))), 2.5), 0.5),
        ("direction", Predicate(Count(Around("paper", 2, (WRITES, CITED_BY)))), 1.0),
        ("interval", above("interval", "age", 42.0), 0.5),
        ("structure", own_trait("author", Shaped("cycle", 3)), 1.0),
        ("count", own("count", *DATABASE[:6], "neural", least=4), 0.75),  # four of six, as five of eight
        ("count", own("count", *DATABASE, "neural", "kernel", least=5), 1.0),
    ],
)
def test_what_says_the_same_is_right(name: str, predicate: Predicate, recall: float) -> None:
    found = judged(name, {predicate: 3.0})
    assert (found.term_precision, found.term_recall) == (1.0, recall)


def figure(value: float) -> dict[str, Any]:
    return {"value": value, "interval": [value - 0.01, value + 0.01]}


def test_rules_stand_in_where_adding_says_less() -> None:
    query, neural = own("exclusive", "query"), own("exclusive", "neural")
    rules = [[query, neural.absent], [neural, query.absent]]
    studied = {
        "scorecard": figure(0.6),
        "rules": figure(0.9),
        "rule_list": {
            HOLDS: [{"predicates": [predicate_json(each) for each in rule]} for rule in rules],
            FAILS: [],
        },
    }
    said = {own("exclusive", "remote"): 1.0}
    assert judged("exclusive", said).term_precision == 0.0
    found = judged("exclusive", said, studied=studied)
    assert (found.term_precision, found.term_recall, found.by_rules, found.terms) == (1.0, 1.0, True, 4)
    assert not judged("exclusive", said, studied={**studied, "rules": figure(0.61)}).by_rules
    nothing = judged("exclusive", said, decoys=tuple(said), studied={**studied, "rules": figure(0.5)})
    assert nothing.by_rules
    assert judged("exclusive", {}).term_precision == 0.0


def test_rules_have_signs() -> None:
    survey = held("absence", WROTE, "survey")
    for predicate, class_name, right in (
        (survey.absent, HOLDS, 1.0),
        (survey, FAILS, 1.0),
        (survey, HOLDS, 0.0),
    ):
        rules = {class_name: [{"predicates": [predicate_json(predicate)]}]}
        studied = {"scorecard": figure(0.5), "rules": figure(0.9), "rule_list": rules}
        assert judged("absence", {}, studied=studied).term_precision == right


def test_bad_input_is_told() -> None:
    with pytest.raises(DignnError, match="is no predicate"):
        score_terms(
            KNOWN_MODELS["feature"],
            data("feature"),
            {HOLDS: [{"predicate": {"kind": "dream"}, "points": 1.0, "decoy": False}]},
        )
    with pytest.raises(DignnError, match="KnownModel"):
        score_terms("feature", data("feature"), {})  # type: ignore[arg-type]
