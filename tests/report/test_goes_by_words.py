"""What a model goes by, in sentences: exact, honest about absence and doubt, and whole whatever a file holds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import hand_made
import studied_by_hand
from dignn.core.errors import UnknownNameError
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.traits import Holds, Shaped
from dignn.goes_by.where import Around
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.report.goes_by_words import class_words, rule_in_words, signed, terms_in_words
from dignn.report.told_terms import ToldTerm, told_rules, told_study, told_terms
from strategies import plain_schema

SCHEMA = hand_made.schema()
AUTHORS = studied_by_hand.authors()
ON = "on real authors (mean over classes)"
TERMS = (
    "a venue two steps away is “KDD” (+3.1), “VLDB” (+0.8), it has none of “query” and “index” (each +1.2 to +2.4), "
    "fewer than three papers are next to it (+1.6) and 1 more"
)


def test_a_sentence_says_what_speaks_for_the_class_and_what_its_absence_does() -> None:
    tested = "this reproduces 84 % of its answers on real authors (mean over classes), beside 50 % by guessing"
    assert AUTHORS.sentence("two") == f"The model goes by: {TERMS}; {tested}."
    assert AUTHORS.sentence("one") == (
        "The model goes by: among venues two steps away there is none of “KDD” and “VLDB” (each +0.8 to +3.1), it has "
        "“query” (+2.4), “index” (+1.2), at least three papers are next to it (+1.6) and 1 more; "
        f"{tested}."
    )


def test_a_decoy_is_told_to_programs_and_not_in_the_sentence() -> None:
    (decoy,) = (term for term in AUTHORS.goes_by["two"] if term.decoy)
    assert decoy.words == "it has “graph”"
    assert "graph" not in str(AUTHORS.sentence("two"))
    assert "graph" not in str(AUTHORS.sentence("one"))  # where its absence would have spoken for the class
    true = replace(decoy, decoy=False)
    assert terms_in_words([true], SCHEMA) == "it has “graph” (+2.9)"


def test_what_may_have_no_effect_is_counted_and_not_said_unless_there_is_nothing_else() -> None:
    acts = [term("it does a", 1.0, (0.1, 2.0)), term("it does b", -1.0, (-2.0, -0.1)), term("it does c", 1.0)]
    doubtful = [term("it does d", 3.0, (-0.1, 2.0)), term("it does e", -2.0, (0.1, 1.0))]
    assert terms_in_words([*doubtful, *acts], None) == (
        "it does a (+1.0), not: it does b (+1.0), it does c (+1.0) and 2 more"
    )
    small = replace(term("it does f", 2.0, (0.1, 0.2)), effect=0.15)
    assert terms_in_words([small, *acts[:1]], None) == "it does a (+1.0) and 1 more"
    assert terms_in_words([replace(small, effect=0.2)], None) == "it does f (+2.0)"
    assert terms_in_words(doubtful, None) == "it does d (+3.0), not: it does e (+2.0)"


def test_whole_graphs_are_graphs() -> None:
    shown = studied_by_hand.molecules()
    assert shown.sentence("harmless") == (
        "The model goes by: the graph has no N node (+2.0), the graph has at least two rings of six C nodes (+1.2), a "
        "C node in the graph has one neighbour (+0.5); this reproduces 95 % of its answers on real graphs (mean "
        "over classes), nearly all."
    )
    assert shown.sentence("mutagen") == "Nothing that was looked at speaks for this class or against it."


@pytest.mark.parametrize(
    ("value", "majority", "begin", "end"),
    [
        (0.95, 0.25, "The model goes by", f"this reproduces 95 % of its answers {ON}, nearly all."),
        (0.9, 0.25, "The model goes by", f"this reproduces 90 % of its answers {ON}, nearly all."),
        (0.81, 0.25, "The model goes by", f"81 % of its answers {ON}, beside 25 % by guessing."),
        (0.55, 1 / 3, "The model may go by", f"only 55 % of its answers {ON}, beside 33 % by guessing: do "
         "not rely on it."),
        (0.7, 0.5, "The model may go by", f"only 70 % of its answers {ON}, beside 50 % by guessing: do not "
         "rely on it."),
        (0.76, 0.5, "The model goes by", f"this reproduces 76 % of its answers {ON}, beside 50 % by "
         "guessing."),
        (0.55, 0.02, "The model may go by", f"only 55 % of its answers {ON}, beside 2 % by guessing: do not "
         "rely on it."),
        (0.48, 0.5, "The model may go by", f"this reproduces 48 % of its answers {ON}, no more than guessing "
         "does: do not rely on it."),
        (1.0, 1.0, "The model may go by", f"this reproduces 100 % of its answers {ON}, no more than guessing "
         "does: do not rely on it."),
        (0.55, None, "The model may go by", f"this reproduces only 55 % of its answers {ON}: do not rely on "
         "it."),
        (None, None, "The model goes by", "; how far this gives its answers was not tested."),
    ],
)  # fmt: skip
def test_how_far_to_believe_it_is_said_with_it(
    value: float | None, majority: float | None, begin: str, end: str
) -> None:
    studied = {"scorecard": {"value": value}, "majority": majority}
    sentence = str(replace(AUTHORS, about={**AUTHORS.about, "studied": studied}).sentence("two"))
    assert sentence.startswith(f"{begin}: a venue")
    assert sentence.endswith(end)


def term(words: str, points: float, interval: tuple[float, float] | None = None) -> ToldTerm:
    return ToldTerm(words, points, interval=interval)


def test_few_terms_are_said_and_the_others_counted() -> None:
    several = [term(f"it does {number}", 9.0 - number) for number in range(8)]
    assert terms_in_words(several, None, 2) == "it does 0 (+9.0), it does 1 (+8.0) and 6 more"
    assert terms_in_words(several, None).endswith("it does 4 (+5.0) and 3 more")
    assert terms_in_words(several[:2], None, 2) == "it does 0 (+9.0), it does 1 (+8.0)"
    lacking = told_terms({"goes_by": {"two": [studied_by_hand.author_terms(SCHEMA)[k] for k in (1, 3, 0)]}})["two"]
    # both words that it lacks are one phrase, and are counted as two
    assert terms_in_words(lacking, SCHEMA, 1) == "a venue two steps away is “KDD” (+3.1) and 2 more"


def test_what_looks_at_the_same_again_comes_after_what_is_new() -> None:
    """Thresholds of a number of words, of neighbours, of nodes: one of each is said, then the others are counted."""
    words = Count(Around("author", 0), (Holds(0), Holds(1)))
    others = Count(Around("author", 0), (Holds(1), Holds(2)))
    papers, authors = Count(Around("paper", 1)), Count(Around("author", 2))
    joined = [Count(Around("paper", 1), (Shaped("neighbours", number),)) for number in (2, 3)]
    looked_at = [words, words, others, papers, papers, authors, *joined]
    several = [
        ToldTerm(f"it does {number}", 9.0 - number, predicate=Predicate(quantity, number + 0.5))
        for number, quantity in enumerate(looked_at)
    ]
    said = "it does 0 (+9.0), it does 3 (+6.0), it does 5 (+4.0), it does 6 (+3.0)"
    assert terms_in_words(several, None, 4) == f"{said} and 4 more"
    assert terms_in_words(several, None, 6) == f"{said}, it does 1 (+8.0), it does 2 (+7.0) and 2 more"


def test_columns_that_are_there_are_said_beside_what_a_class_lacks() -> None:
    """The first of them, also where it is worth less than what is said; numbers of nodes say nothing of columns."""
    lacks = [ToldTerm(f"has {k}", -4.0 + k, predicate=Predicate(Count(Around("paper", k + 1)), 0.5)) for k in range(3)]
    word, other = (Count(Around("author", 0), (Holds(column),)) for column in (0, 1))
    there = [
        ToldTerm("it has a", 0.2, predicate=Predicate(word, 0.5)),
        ToldTerm("it has b", 0.1, predicate=Predicate(other, 0.5)),
    ]
    said = terms_in_words([*lacks, *there], None, 3)
    assert said == "not: has 0 (+4.0), not: has 1 (+3.0), it has a (+0.2) and 2 more"
    assert terms_in_words(lacks, None, 2) == "not: has 0 (+4.0), not: has 1 (+3.0) and 1 more"
    absent = replace(there[0], points=-0.2)
    assert "it has a" not in terms_in_words([*lacks, absent], None, 2)


def test_what_cannot_be_negated_is_said_not_to_be() -> None:
    assert terms_in_words([term("it has “a”", -1.0)], SCHEMA) == "not: it has “a” (+1.0)"
    negative = AUTHORS.goes_by["two"][1]
    assert terms_in_words([negative], None) == "not: it has “query” (+2.4)"
    assert terms_in_words([negative], SCHEMA) == "it lacks “query” (+2.4)"
    assert terms_in_words([negative], studied_by_hand.MOLECULES) == "not: it has “query” (+2.4)"  # no such type there


def test_only_what_begins_alike_and_ends_with_a_name_is_said_together() -> None:
    said = [term("it has “a”", 4.0), term("it has “b” below 3", 3.0), term("it has “c”", 2.0), term("it is “d”", 1.0)]
    assert terms_in_words(said, None) == "it has “a” (+4.0), “c” (+2.0), it has “b” below 3 (+3.0), it is “d” (+1.0)"


def test_only_what_is_named_by_its_column_is_lacked_together() -> None:
    """A colour that is not 1, a weight that is not above .5 and a flag that may be missing are no words."""
    missing = Column(ColumnKind.BINARY, missing=True)
    columns = (Column(ColumnKind.CATEGORICAL, levels=3), Column(ColumnKind.CONTINUOUS), missing)
    spec = FeatureSpec(
        FeatureKind.MIXED,
        5,
        names=("colour", "weight", "lost", "new", "old"),
        columns=(*columns, Column(ColumnKind.BINARY), Column(ColumnKind.BINARY)),
    )
    schema = plain_schema(features=(spec,), target="node")
    traits = [Holds(0, "is", 1.0), Holds(1, "above", 0.5), Holds(2), Holds(3), Holds(4)]
    terms = [
        ToldTerm("", place - 9.0, predicate=Predicate(Count(Around("node"), (trait,))))
        for place, trait in enumerate(traits)
    ]
    assert terms_in_words(terms, schema) == (
        "its “colour” is not 1 (+9.0), its “weight” is not above 0.5 (+8.0), its “lost” is not 1 or is missing (+7.0), "
        "it has none of “new” and “old” (each +5.0 to +6.0)"
    )


@pytest.mark.parametrize(
    ("value", "told"), [(3.14, "+3.1"), (-0.44, "\N{MINUS SIGN}0.4"), (0.1, "+0.1"), (0.042, "+0.04"), (0.0, "+0.0")]
)
def test_points_are_written_with_their_sign(value: float, told: str) -> None:
    assert signed(value) == told


def test_a_rule_says_how_often_it_is_right_and_how_much_it_covers() -> None:
    first, second = told_rules(AUTHORS.about, "two")
    assert rule_in_words(first, "two") == (
        "If a venue two steps away is “KDD”, then “two”",
        "right in 92 % (89 to 95 %) of the cases where it applies; applies to 61 % (58 to 64 %) of those that the "
        "model gives this class",
    )
    assert rule_in_words(second, "two")[1] == "right in 97 % (94 to 100 %) of the cases where it applies"
    assert told_rules(AUTHORS.about, "one") == told_rules(AUTHORS.about, "none") == []


def test_what_was_not_sought_is_not_said() -> None:
    plain = hand_made.explanations()
    assert plain.goes_by == {}
    assert plain.sentence("two") is None
    with pytest.raises(UnknownNameError, match="no class called 'three'"):
        AUTHORS.sentence("three")


DAMAGED: list[Any] = [
    None,
    3,
    {"two": "it has"},
    {"two": 3},
    {7: []},
    {"two": [None, 3, "it has", {}, {"term": "x"}, {"term": 3, "points": 1.0}]},
    {"two": [{"term": "x", "points": math.nan}, {"term": "", "points": 1.0}, {"term": "x", "points": True}]},
]


@pytest.mark.parametrize("goes_by", DAMAGED)
def test_damaged_terms_are_left_out(goes_by: Any) -> None:
    found = told_terms({"goes_by": goes_by})
    assert all(terms == [] for terms in found.values())
    told = {words.sentence for words in class_words({"goes_by": goes_by}, SCHEMA).values()}
    assert told <= {"Nothing that was looked at speaks for this class or against it."}


def test_a_damaged_part_of_a_term_leaves_the_rest() -> None:
    damage = {"effect": "much", "interval": [2, 1], "decoy": 1, "matched": None, "predicate": {"kind": "none"}}
    (found,) = told_terms({"goes_by": {"two": [{"term": "x", "points": 1, **damage}]}})["two"]
    assert found == ToldTerm("x", 1.0)
    good = AUTHORS.goes_by["two"][0]
    assert (good.effect, good.interval) == (pytest.approx(2.325), pytest.approx((2.075, 2.575)))


@pytest.mark.parametrize("studied", [None, 3, [], {}, {"scorecard": 0.5}, {"scorecard": {"value": "half"}}])
def test_a_damaged_test_is_none(studied: Any) -> None:
    assert told_study({"studied": studied}) is None


def test_parts_of_a_test_may_be_missing() -> None:
    found = told_study({"studied": {"scorecard": {"value": 0.5, "interval": [0.4]}, "frontier": {"x": 1, "6": {}}}})
    assert found is not None
    assert (found.scorecard.interval, found.rules, found.auc, found.majority, found.places, found.things) == (None,) * 6
    assert (dict(found.frontier), dict(found.auc_by_class)) == ({}, {})
    whole = told_study(AUTHORS.about)
    assert whole is not None
    assert list(whole.frontier) == [3, 6, 12, 25]
    assert whole.auc_by_class == {"one": 0.93}  # of the other it could not be told


def test_names_of_users_go_through_as_they_are() -> None:
    shown = studied_by_hand.authors(hostile=True)
    name = hand_made.HOSTILE[1]
    assert f"is “{name}” (+3.1), “{hand_made.HOSTILE[2]}” (+0.8)" in str(shown.sentence(name))
