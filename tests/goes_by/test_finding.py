"""What a model goes by is found where it is known: additive rules by scorecards, exclusive ones by rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.goes_by.agreement import things_of
from dignn.goes_by.fidelity import fidelity
from dignn.goes_by.finding import Finder, find
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.scorecards import FRONTIER, probability
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.tasks.classification import classification
from dignn.model.scores import Scores
from goes_by.answered import SCHEMA, WORDS, additive, answered, exclusive, of_margin, three_classes

AUTHOR, PAPER = Around("author", 0), Around("paper", 1)
QUERY, NEURAL, LOGIC = (Predicate(Count(AUTHOR, (Holds(column),))) for column in (5, 3, 2))
CARRIES = Predicate(Count(PAPER, (Holds(0),)))


def test_an_additive_model_is_found_with_its_signs_and_is_reproduced() -> None:
    found = find(*answered(additive), Seed(0))
    cards = next(each for each in found.frontier if each.terms == 3).cards
    assert {term.predicate: np.sign(term.points) for term in cards[1].terms} == {QUERY: 1, LOGIC: -1, CARRIES: 1}
    assert all(2.0 < abs(term.points) < 6.0 for term in cards[1].terms)
    assert [(term.predicate, -term.points) for term in cards[0].terms] == [
        (term.predicate, term.points) for term in cards[1].terms
    ]
    test = answered(additive, seed=1)
    told = fidelity(found, *test, Seed(0))
    assert told.frontier[3].value == told.scorecard.value == 1.0
    assert told.auc.value == 1.0
    given = probability(cards_scores := found.at(3).scores(Places.of(*test)))[:, 1]
    assert np.allclose(given, 1 / (1 + np.exp(-cards_scores[:, 1])))


def test_exclusive_or_is_found_by_rules_and_not_by_adding() -> None:
    found = find(*answered(exclusive), Seed(0))
    told = fidelity(found, *answered(exclusive, seed=1), Seed(0))
    assert told.rules.value == 1.0
    assert told.scorecard.value < 0.65
    rules = {frozenset(rule.predicates) for rule in found.rules.by_class[1]}
    assert rules == {frozenset({QUERY, NEURAL.absent}), frozenset({NEURAL, QUERY.absent})}
    for rule in told.by_rule[1]:
        assert rule.precision is not None
        assert rule.recall is not None
        assert rule.precision.value == 1.0
        assert 0.4 < rule.recall.value < 0.6
        assert rule.recall.interval[0] < rule.recall.value < rule.recall.interval[1]


def test_three_classes_each_have_a_card() -> None:
    found = find(*answered(three_classes), Seed(0))
    told = fidelity(found, *answered(three_classes, seed=1), Seed(0))
    assert told.scorecard.value > 0.97
    assert told.majority == pytest.approx(1 / 3)
    best = [card.terms[0] for card in found.scorecards.cards]
    assert best[1].predicate == LOGIC
    assert best[2].predicate == CARRIES
    assert all(term.points > 0 for term in best)
    assert len(told.auc_by_class) == 3
    assert min(value for value in told.auc_by_class if value is not None) > 0.95


def test_what_a_model_does_not_go_by_does_not_help() -> None:
    """Answers by chance are not reproduced, and the floor of chance is what majority gives."""

    def chance(words: np.ndarray, carries: np.ndarray) -> np.ndarray:
        return of_margin(np.random.default_rng(len(words) + int(words.sum())).normal(size=len(words)))

    told = fidelity(find(*answered(chance), Seed(0)), *answered(chance, seed=1), Seed(0))
    assert abs(told.scorecard.value - told.majority) < 0.08
    assert told.scorecard.interval[0] < 0.5 < told.scorecard.interval[1]


def flipped(words: np.ndarray, carries: np.ndarray) -> np.ndarray:
    """Additive, and the other way round for one in five."""
    sign = np.where(np.random.default_rng(len(words)).random(len(words)) < 0.2, -1, 1)
    return additive(words, carries) * sign[:, None]


def test_what_stands_in_many_graphs_counts_once_for_intervals() -> None:
    """The same 60 authors in one graph each, or in 20: nobody knows more of them."""
    found = find(*answered(flipped), Seed(0))
    graphs, scores = answered(flipped, count=60, seed=1)
    once = fidelity(found, graphs, scores, Seed(0))
    again = Scores.cat([scores] * 20, range(0, 1200, 60))
    often = fidelity(found, GraphBatch.cat([graphs] * 20), again, Seed(0))
    assert (once.places, once.things) == (60, 60)
    assert (often.places, often.things) == (1200, 60)
    assert once.scorecard.interval[1] - once.scorecard.interval[0] > 0.1
    for name in ("scorecard", "rules", "auc", "frontier"):
        assert getattr(once, name) == getattr(often, name)
    for one, other in zip((*once.by_rule[0], *once.by_rule[1]), (*often.by_rule[0], *often.by_rule[1]), strict=True):
        assert (one.precision, one.recall, 20 * one.holds) == (other.precision, other.recall, other.holds)


def test_graphs_are_drawn_where_they_are_fewer_or_nothing_is_of_the_data() -> None:
    graphs, scores = answered(flipped, count=8)
    assert things_of(graphs, scores).tolist() == graphs.row[:, 0].tolist()
    made = replace(graphs, row=torch.full_like(graphs.row, -1))
    assert things_of(made, scores).tolist() == list(range(8))
    papers = graphs[graphs.sizes == 4]  # an author and three papers each, all of which are scored
    place = torch.arange(4 * len(papers))
    every = Scores(place // 4, place % 4, torch.rand(len(place), 2), torch.rand(len(place), 2), scores.task)
    assert things_of(papers, every).tolist() == every.graph.tolist()


def test_the_same_seed_finds_the_same() -> None:
    graphs, scores = answered(three_classes)
    assert find(graphs, scores, Seed(3)) == find(graphs, scores, Seed(3))


def test_no_more_than_twelve_terms_are_shown_and_the_frontier_goes_on() -> None:
    found = find(*answered(three_classes), Seed(0))
    assert found.scorecards.terms <= 12
    assert len(found.frontier) == len(FRONTIER) == len(found.validated)
    assert found.at(6) == found.frontier[FRONTIER.index(6)]
    assert all(len(rules) <= 3 for rules in found.rules.by_class)
    assert all(len(rule.predicates) <= 4 for rules in found.rules.by_class for rule in rules)


def test_few_places_are_looked_at_where_few_are_asked_for() -> None:
    graphs, scores = answered(additive, count=900)
    few = find(graphs, scores, Seed(0), most=300)
    assert few != find(graphs, scores, Seed(0))
    assert fidelity(few, graphs, scores, Seed(0)).scorecard.value > 0.9


def test_a_class_that_is_rare_is_looked_at() -> None:
    """One place in 900, and 300 that are looked at."""
    graphs, scores = answered(additive, count=900)
    for which in (1, 450, 899):
        second = torch.arange(900) == which
        rare = replace(scores, logits=torch.stack([~second, second], dim=1).float())
        found = Finder(graphs, rare, Seed(0), most=300)
        assert found.scores.predicted.sum() == 1
        assert len(found.scores) == 300
        assert len(found.found().scorecards.cards) == 2


def test_of_many_rare_classes_some_of_each_are_looked_at() -> None:
    graphs, scores = answered(additive, count=900)
    classes = torch.where(torch.arange(900) < 60, torch.arange(900) // 10, 6)
    looked_at = Finder(graphs, replace(scores, logits=torch.eye(7)[classes]), Seed(0), most=300).scores
    assert torch.bincount(looked_at.predicted).tolist() == [10] * 6 + [240]
    place = looked_at.graph
    assert (place.diff() > 0).all()
    assert place[-1] == 899
    few = Finder(graphs, replace(scores, logits=torch.eye(7)[classes]), Seed(0), most=5).scores
    assert len(few) == 5


def test_bad_input_is_told() -> None:
    graphs, scores = answered(additive, count=50)
    same = replace(scores, logits=torch.tensor([[1.0, 0.0]]).repeat(50, 1))
    with pytest.raises(DignnError, match="the same class to all 50 places"):
        find(graphs, same, Seed(0))
    with pytest.raises(DignnError, match="the same class to all 0 places"):
        find(graphs, scores[torch.empty(0, dtype=torch.long)], Seed(0))
    found = find(graphs, scores, Seed(0))
    with pytest.raises(DignnError, match="nothing to test on"):
        fidelity(found, graphs, scores[torch.empty(0, dtype=torch.long)], Seed(0))
    with pytest.raises(DignnError, match="2 scorecards and 3 classes"):
        fidelity(found, *answered(three_classes, count=50), Seed(0))


def test_a_schema_without_words_has_no_terms_and_no_rules() -> None:
    """Single nodes without features: nothing can be said, and nothing fails."""
    graphs, scores = answered(additive, count=60)
    bare = graphs.without_features()
    bare = replace(
        bare, node_type=torch.where(bare.node_type == 1, -1, bare.node_type), edge=torch.zeros_like(bare.edge)
    )
    bare = replace(bare, tables={"author": torch.zeros(1, len(SCHEMA.spec("author").names or ()))})
    bare = replace(bare, row=torch.where(bare.node_type >= 0, 0, -1))
    found = find(bare, scores, Seed(0))
    assert found.scorecards.terms == 0
    assert found.rules.by_class == ((), ())
    assert fidelity(found, bare, scores, Seed(0)).scorecard.value == 0.5


def test_a_rule_that_others_make_superfluous_is_dropped() -> None:
    """A word that follows the label is the best single predicate, and is not needed beside the exclusive pair."""
    graphs, scores = answered(exclusive, count=900)
    rng = np.random.default_rng(0)
    follows = torch.from_numpy(rng.random(len(graphs)) < np.where(scores.predicted.numpy() == 1, 0.9, 0.1))
    graphs.tables["author"][:, 6] = follows.float()
    found = find(graphs, scores, Seed(0))
    assert {frozenset(rule.predicates) for rule in found.rules.by_class[1]} == {
        frozenset({QUERY, NEURAL.absent}),
        frozenset({NEURAL, QUERY.absent}),
    }


def test_columns_of_numbers_are_found_by_thresholds() -> None:
    """An interval of a number: both of its ends are found, near where they are."""
    graphs, _ = answered(additive)
    spec = FeatureSpec(FeatureKind.CONTINUOUS, len(WORDS), names=WORDS)
    schema = replace(SCHEMA, features=(spec, SCHEMA.features[1]))
    values = np.random.default_rng(1).normal(size=(600, len(WORDS))).astype(np.float32)
    graphs = replace(graphs, schema=schema, tables={**graphs.tables, "author": torch.from_numpy(values)})
    logits = torch.from_numpy(of_margin(np.where(np.abs(values[:, 4]) < 0.6, 5.0, -5.0))).float()
    node = torch.zeros(600, dtype=torch.long)
    scores = Scores(torch.arange(600), node, logits, logits, classification("author"))
    found = find(graphs, scores, Seed(0))
    (rule,) = found.rules.by_class[1]
    said = {predicate.holds: predicate.quantity.traits[0] for predicate in rule.predicates}
    added = {term.points > 0: term.predicate.quantity.traits[0] for term in found.scorecards.cards[1].terms}
    assert found.scorecards.terms == 2
    for ends in (said, added):
        assert {trait.column for trait in ends.values()} == {4}
        assert abs(ends[True].value + 0.6) < 0.02
        assert abs(ends[False].value - 0.6) < 0.02
