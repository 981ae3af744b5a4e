"""Class expressions: what they mean, against plain recursion; planted ones are found; words; who decides."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dignn.goes_by.class_expressions import TOP, Concept, Expression, Expressions, Name, expression_words, holds
from dignn.goes_by.deciding import Decider, decided, needed
from dignn.goes_by.expression_search import find_expressions
from dignn.goes_by.places import Places
from dignn.goes_by.predicate_families import column_traits
from dignn.goes_by.sparse_fit import even_weights
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around, Step, steps_of
from dignn.graphs.batch import GraphBatch
from goes_by.answered import WORDS, answered, of_margin
from goes_by.library import CITES, HAS, WRITES, library
from goes_by.plain_predicates import by_step
from strategies import PROPERTY, batch_of, batches, plain_schema, row_of

AUTHOR, PAPER = Name("author"), Name("paper")
CARRIES = Concept(exists=((Step("author -writes- paper"), Concept((Name("paper", Holds(0)),))),))


def only(*names: Name) -> Concept:
    return Concept().also(Concept(names))


def some(relation: str, inner: Concept = TOP, *, back: bool = False) -> Concept:
    return Concept(exists=((Step(relation, back), inner),))


# -- meaning ------------------------------------------------------------------------------------------


def plainly(batch: GraphBatch, graph: int, node: int, concept: Concept) -> bool:
    """Whether a node satisfies a concept, by the definition."""
    return all(_has(batch, graph, node, name) for name in concept.names) and all(
        any(plainly(batch, graph, v, inner) for v in by_step(batch, graph, node, step))
        for step, inner in concept.exists
    )


def _has(batch: GraphBatch, graph: int, node: int, name: Name) -> bool:
    if batch.schema.node_types[int(batch.node_type[graph, node])] != name.node_type:
        return False
    if name.trait is None:
        return True
    value, trait = row_of(batch, graph, node)[name.trait.column], name.trait
    if trait.test == "missing":
        return bool(np.isnan(value))
    return value == trait.value if trait.test == "is" else value > np.float32(trait.value)


def a_concept(draw: st.DrawFn, places: Places, roles: int) -> Concept:
    """Any concept of a schema, whether anything satisfies it or not."""
    schema, found = places.schema, TOP
    names = [Name(name) for name in schema.node_types]
    for name, spec in zip(schema.node_types, schema.features, strict=True):
        if spec.generated and len(places.items(Around(name, None))):
            traits = list(column_traits(places, Around(name, None), spec, own=True))
            names += [Name(name, trait) for trait in traits[:5]]
    found = found.also(Concept(tuple(draw(st.lists(st.sampled_from(names), max_size=2)))))
    steps = list(steps_of(schema))
    for _ in range(draw(st.integers(0, 2)) if roles and steps else 0):
        found = found.also(Concept(exists=((draw(st.sampled_from(steps)), a_concept(draw, places, roles - 1)),)))
    return found


@given(st.data(), batches(min_graphs=1, min_nodes=1))
@settings(PROPERTY, max_examples=40)
def test_what_a_concept_means_agrees_with_plain_recursion(data: st.DataObject, batch: GraphBatch) -> None:
    graph, node = batch.schema.task.answers(batch)
    places = Places(batch, graph, node)
    concept = data.draw(st.composite(a_concept)(places, 3))
    expected = [
        any(plainly(batch, g, u, concept) for u in (range(int(batch.sizes[g])) if v < 0 else [v]))
        for g, v in zip(graph.tolist(), node.tolist(), strict=True)
    ]
    assert holds(places, concept).tolist() == expected


BY_HAND = {
    "top": (TOP, True),
    "its type": (only(AUTHOR), True),
    "another type": (only(PAPER), False),
    "its words": (only(Name("author", Holds(0)), Name("author", Holds(2))), True),
    "a word that it lacks": (only(Name("author", Holds(1))), False),
    "a paper at KDD": (some(WRITES, some(HAS, only(Name("venue", Holds(0))), back=True)), True),
    "a paper at VLDB": (some(WRITES, some(HAS, only(Name("venue", Holds(1))), back=True)), False),
    "a paper that cites": (some(WRITES, some(CITES)), True),
    "a paper that cites one that cites": (some(WRITES, some(CITES, some(CITES))), False),
    "a cited paper at a venue": (some(WRITES, some(CITES, back=True).also(some(HAS, back=True))), False),
    "one paper for two": (some(WRITES, some(CITES)).also(some(WRITES, some(HAS, back=True))), True),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    concept, expected = BY_HAND[name]
    places = Places(library(), torch.tensor([0]), torch.tensor([0]))
    assert holds(places, concept).tolist() == [expected]
    assert plainly(library(), 0, 0, concept) is expected


def test_order_and_repetition_make_no_other_concept() -> None:
    one, other = some(WRITES, some(CITES)), some(WRITES)
    assert one.also(other).also(one) == other.also(one)
    assert only(PAPER, AUTHOR, PAPER) == only(AUTHOR, PAPER)
    deeper = one.also(only(Name("paper", Holds(1))), at=(0, 0))
    assert deeper == some(WRITES, some(CITES, only(Name("paper", Holds(1)))))
    assert (one.length, deeper.length, TOP.length) == (2, 3, 0)


def test_words() -> None:
    schema = library().schema
    kdd = some(HAS, only(Name("venue", Holds(0))), back=True)
    cheap = only(Name("paper", Holds(0, "above", 3.0)))
    words = {
        "author": TOP,
        "“query”": only(Name("author", Holds(0))),
        "author ⊓ ∃writes.(paper ⊓ ∃has⁻.KDD)": some(WRITES, kdd),
        "author ⊓ “query” ⊓ ∃writes.(paper ⊓ “price” > 3 ⊓ ∃has⁻.KDD)": only(Name("author", Holds(0))).also(
            some(WRITES, cheap.also(kdd))
        ),
        "author ⊓ ∃writes.“price” missing": some(WRITES, only(Name("paper", Holds(0, "missing")))),
        "author ⊓ ∃writes.“kind” = 2": some(WRITES, only(Name("paper", Holds(1, "is", 2.0)))),
    }
    assert {expression_words(concept, schema): concept for concept in words.values()} == words


# -- finding ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "planted",
    [
        only(Name("author", Holds(WORDS.index("query")))),
        CARRIES,
        only(Name("author", Holds(5))).also(CARRIES),
        only(Name("author", Holds(5)), Name("author", Holds(3))).also(CARRIES),
    ],
    ids=["name", "restriction", "both", "three"],
)
def test_a_planted_expression_is_found(planted: Concept) -> None:
    def says(words: np.ndarray, carries: np.ndarray) -> np.ndarray:
        true = np.ones(len(words), dtype=bool)
        for name in planted.names:
            assert name.trait is not None
            true &= words[:, name.trait.column]
        return of_margin(np.where(true & carries.any(1) if planted.exists else true, 6.0, -6.0))

    batch, scores = answered(says)
    places, answers = Places.of(batch, scores), scores.predicted.numpy()
    assert (holds(places, planted) == answers).all()
    for found in find_expressions(places, answers, 2):
        assert [one.concept for one in found.by_class[1]] == [planted]
        assert found.by_class[1][0].precision == 1.0
        assert (
            found.predicted(Places.of(*answered(says, seed=1))) == answered(says, seed=1)[1].predicted.numpy()
        ).all()


def test_a_disjunction_needs_two_expressions_and_features() -> None:
    def either(words: np.ndarray, carries: np.ndarray) -> np.ndarray:
        return of_margin(np.where(words[:, 5] | carries.any(1), 6.0, -6.0))

    batch, scores = answered(either)
    places, answers = Places.of(batch, scores), scores.predicted.numpy()
    one, several = find_expressions(places, answers, 2, (1, 3))
    assert (one.predicted(places) == answers).mean() < 0.9
    assert {each.concept for each in several.by_class[1]} == {only(Name("author", Holds(5))), CARRIES}
    assert (several.predicted(places) == answers).all()
    for blind in find_expressions(places, answers, 2, (1, 3), features=False):
        assert all(name.trait is None for own in blind.by_class for each in own for name in _names(each.concept))
        assert 0.4 < (blind.predicted(places) == answers).mean() < 0.8


def _names(concept: Concept) -> list[Name]:
    return [*concept.names, *(name for _, inner in concept.exists for name in _names(inner))]


def test_a_structure_three_roles_deep_is_found_by_types_alone() -> None:
    """Of paths of four nodes 0 - 1 - 0 - 1 and 0 - 1 - 0 - 0; the first one is asked about."""
    from dignn.graphs.relation import Relation

    relations = (Relation("a", "with", "b", "rev_with"), Relation("a", "to", "a", "to"))
    schema = plain_schema(relations, node_types=("a", "b"), target="a")
    edges = {(0, 1): 1, (1, 2): 1}
    deep = batch_of(schema, [0, 1, 0, 1], {**edges, (2, 3): 1})
    batch = GraphBatch.cat([deep, batch_of(schema, [0, 1, 0, 0], {**edges, (2, 3): 2})] * 10)
    places = Places(batch, torch.arange(20), torch.zeros(20, dtype=torch.long))
    (found,) = find_expressions(places, np.tile([1, 0], 10), 2, (1,), features=False)
    assert (found.predicted(places) == np.tile([1, 0], 10)).all()
    label = relations[1].label
    back = some(relations[0].label, some(relations[0].label, some(label), back=True))
    assert [one.concept for own in found.by_class for one in own] == [back]


def test_of_graphs_any_node_may_satisfy() -> None:
    schema = plain_schema((), node_types=("a", "b"))
    batch = GraphBatch.cat([batch_of(schema, [0, 0, 1], {}), batch_of(schema, [0, 0], {})] * 10)
    places = Places(batch, torch.arange(20), torch.full((20,), -1))
    (found,) = find_expressions(places, np.tile([0, 1], 10), 2, (1,))
    assert found.by_class == ((Expression(only(Name("b")), 1.0),), ())
    assert found.otherwise == 1
    assert expression_words(only(Name("b")), schema) == "b"


def test_where_nothing_can_be_said_one_class_is_given() -> None:
    batch, _ = answered(lambda words, carries: of_margin(words[:, 0] - 0.5), count=50)
    places = Places(batch, torch.arange(100) % 50, torch.zeros(100, dtype=torch.long))
    for found in find_expressions(places, np.repeat([1, 0], 50), 2):  # each place is of both classes
        assert found == Expressions(((), ()), 0)
        assert not found.predicted(places).any()


# -- who decides --------------------------------------------------------------------------------------


def test_the_most_precise_decides_and_what_is_not_needed_goes() -> None:
    held = [np.array([[True], [True], [False]]), np.array([[False], [True], [False]])]
    assert decided(held, [[0.6], [0.9]], 0).tolist() == [0, 1, 0]
    assert decided([held[0], np.zeros((3, 0), bool)], [[0.6], []], 1).tolist() == [0, 0, 1]
    answers = np.array([0, 0, 1, 1])
    own, weight = answers == 1, even_weights(answers, 2)
    right, none = Decider.of("right", own, own, weight), Decider.of("none", np.zeros(4, bool), own, weight)
    assert (right.precision, none.precision) == (1.0, 0.0)
    kept, otherwise, agreement = needed([[], [right, none]], answers, weight)
    assert ([one.what for one in kept[1]], otherwise, agreement) == (["right"], 0, 2.0)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_what_is_needed_agrees_as_what_is_decided_does(classes: int) -> None:
    """Those that go are taken away one at a time; agreement is kept up where they hold, and is that of all at last."""
    rng = np.random.default_rng(classes)
    answers = rng.integers(0, classes, 300)
    weight = even_weights(answers, classes)
    several = [
        [
            Decider.of(number, (answers == place) & (rng.random(300) < 0.4) | (rng.random(300) < 0.1), own, weight)
            for number in range(4)
        ]
        for place, own in enumerate(answers == np.arange(classes)[:, None])
    ]
    kept, otherwise, agreement = needed(several, answers, weight)
    assert sum(map(len, kept)) < 4 * classes
    held = [np.stack([one.holds for one in own], axis=1) if own else np.zeros((300, 0), bool) for own in kept]
    given = decided(held, [[one.precision for one in own] for own in kept], otherwise)
    assert agreement == pytest.approx((weight * (given == answers)).sum(), abs=0.005)
    covered = np.any([each.any(1) for each in held], axis=0)
    assert otherwise == np.bincount(answers, weight * ~covered, minlength=classes).argmax()


def test_of_very_many_what_is_needed_is_told_at_once() -> None:
    """Each of 3,000 is looked at where it holds, not everywhere for all classes."""
    answers = np.arange(4000) % 1000
    weight = even_weights(answers, 1000)
    several = [[Decider.of(0, answers == place, answers == place, weight) for _ in range(3)] for place in range(1000)]
    begin = time.process_time()
    kept, _, agreement = needed(several, answers, weight)
    assert time.process_time() - begin < 10
    assert sorted(map(len, kept)) == [0, *[1] * 999]  # one class is given where none holds
    assert agreement == pytest.approx(1000)
