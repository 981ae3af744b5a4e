"""Agreement and AUC are what scikit-learn computes, and intervals hold the value and narrow with more graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from dignn.core.seeds import Seed
from dignn.goes_by.agreement import ahead, balanced_agreement, fewest, mean_auc, share
from strategies import PROPERTY


@given(st.integers(2, 4), st.integers(20, 60), st.integers(0, 2**32 - 1))
@PROPERTY
def test_as_scikit_learn(number: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, graph = rng.integers(0, number, count), rng.integers(0, 10, count)
    answers[:number] = range(number)
    scores = rng.integers(0, 4, (count, number)).astype(float)
    given_classes = scores.argmax(1)
    found = balanced_agreement(answers, given_classes, graph, number, Seed(0))
    assert np.isclose(found.value, balanced_accuracy_score(answers, given_classes))
    assert found.interval[0] <= found.interval[1]
    auc, by_class = mean_auc(answers, scores, graph, Seed(0))
    expected = [roc_auc_score(answers == place, scores[:, place]) for place in range(number)]
    assert np.allclose(by_class, expected)
    assert np.isclose(auc.value, np.mean(expected))


def test_intervals_are_over_things() -> None:
    """Places of one thing that are right or wrong together tell as little as one place."""
    answers, right = np.zeros(1000, dtype=int), np.repeat(np.arange(10) % 2, 100)
    together = balanced_agreement(answers, right, np.repeat(np.arange(10), 100), 2, Seed(0))
    apart = balanced_agreement(answers, right, np.arange(1000), 2, Seed(0))
    assert together.value == apart.value == 0.5
    assert together.interval[1] - together.interval[0] > 4 * (apart.interval[1] - apart.interval[0])
    again = balanced_agreement(answers, right, np.arange(1000), 2, Seed(0))
    assert apart == again


def test_a_share_is_as_sure_as_there_are_different_things() -> None:
    right, every, thing = (
        np.repeat(np.arange(10) % 2 == 0, 100),
        np.ones(1000, dtype=bool),
        np.repeat(np.arange(10), 100),
    )
    together, apart = share(right, every, thing, Seed(0)), share(right, every, np.arange(1000), Seed(0))
    assert together is not None
    assert apart is not None
    assert together.value == apart.value == 0.5
    assert together.interval[1] - together.interval[0] > 4 * (apart.interval[1] - apart.interval[0])
    some = share(right, thing < 3, thing, Seed(0))  # many draws have none of these
    assert some is not None
    assert some.value == pytest.approx(2 / 3)
    assert some.interval[0] < some.value < some.interval[1]
    assert share(right, thing > 9, thing, Seed(0)) is None


def test_what_is_always_right_is_not_certain_of_few_things() -> None:
    sixty = share(np.ones(60, dtype=bool), np.ones(60, dtype=bool), np.arange(60), Seed(0))
    assert sixty is not None
    assert sixty.interval[1] == 1.0
    right, thing = np.ones(1000, dtype=bool), np.repeat(np.arange(10), 100)
    found = share(right, right, thing, Seed(0))
    assert found is not None
    assert found.value == found.interval[1] == 1.0
    assert 0.6 < found.interval[0] < 0.8
    never = share(~right, right, thing, Seed(0))
    assert never is not None
    assert 0.2 < never.interval[1] < 0.4


def test_a_class_without_places_says_nothing() -> None:
    answers = np.zeros(5, dtype=int)
    assert balanced_agreement(answers, answers, np.arange(5), 3, Seed(0)).value == 1.0
    auc, by_class = mean_auc(answers, np.zeros((5, 2)), np.arange(5), Seed(0))
    assert by_class == [None, None]
    assert auc.value == 0.5


def test_who_is_ahead_is_told_on_the_same_draws() -> None:
    """Two that miss the same places but for a few differ by these, whichever graphs are drawn."""
    rng, answers, graph = np.random.default_rng(0), np.tile([0, 1, 2, 3], 50), np.arange(200) // 4
    given_classes = np.where(rng.random(200) < 0.3, (answers + 1) % 4, answers)
    other = np.where(rng.random(200) < 0.1, (answers + 1) % 4, given_classes)
    found = ahead(answers, given_classes, other, graph, 4, Seed(0))
    one, less = (balanced_agreement(answers, each, graph, 4, Seed(0)) for each in (given_classes, other))
    assert np.isclose(found.value, one.value - less.value)
    assert 0 < found.interval[0] < found.value < found.interval[1]
    assert found.interval[1] - found.interval[0] < one.interval[1] - one.interval[0]
    assert ahead(answers, other, other, graph, 4, Seed(0)).interval == (0.0, 0.0)


def with_errors(number: int, seed: int, count: int = 2000) -> np.ndarray:
    """Right about all but so many things of class 0."""
    found = np.zeros(count, dtype=int)
    found[np.random.default_rng(seed).choice(count, number, replace=False)] = 1
    return found


def test_the_fewest_that_are_as_good_are_chosen() -> None:
    answers, graph = np.zeros(2000, dtype=int), np.arange(2000)
    bad, good, best = with_errors(400, 0), with_errors(12, 1), with_errors(9, 2)
    assert fewest(answers, [bad, good, best, best], graph, 2) == 1  # by chance as much
    assert fewest(answers, [bad, best, good], graph, 2) == 1
    assert fewest(answers, [best, best], graph, 2) == 0
    assert fewest(answers, [with_errors(29, 1), best], graph, 2) == 1  # one in a hundred is more than a standard error
    worse = best.copy()
    worse[np.flatnonzero(best == 0)[:3]] = 1
    assert fewest(answers, [worse, best], graph, 2) == 1  # three errors more, and none fewer
    assert fewest(answers, [good, best], graph // 1000, 2) == 0
    assert fewest(answers, [with_errors(90, 1), with_errors(80, 2)], graph, 2) == 1  # within the error, yet too much
