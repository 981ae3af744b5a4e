"""Thresholds are moved to where they cost least, of all numbers that the data has, and are told in few digits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.goes_by.places import Places
from dignn.goes_by.predicate_families import families, wheres
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.quantities import Count, Mean
from dignn.goes_by.thresholds import (
    Thresholds,
    at_threshold,
    levels,
    near_threshold,
    plain_number,
    threshold_of,
)
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from goes_by.answered import SCHEMA, WORDS, additive, answered
from strategies import PROPERTY, batches

OWN = Predicate(Count(Around("author"), (Holds(4, "above", 0.9),)))
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(batches(min_graphs=1))
@PROPERTY
def test_what_is_compared_lies_above_where_the_predicate_is_true(batch: GraphBatch) -> None:
    places = Places(batch, *batch.schema.task.answers(batch))
    found = [each for where in wheres(places) for family in families(places, where) for each in family.predicates]
    for predicate in found:
        value = threshold_of(predicate)
        if value is None:
            continue
        above = levels(places, predicate) > np.float32(value)
        assert (above == truth(places, [predicate])[:, 0]).all()
        assert threshold_of(at_threshold(predicate, 1.25)) == 1.25
        assert at_threshold(predicate, value) == predicate


def measured(kind: FeatureKind = FeatureKind.CONTINUOUS) -> tuple[Places, np.ndarray]:
    """Places with numbers in place of words, and the fifth of them."""
    graphs, scores = answered(additive)
    many = (60,) * len(WORDS) if kind is FeatureKind.COUNT else None
    spec = FeatureSpec(kind, len(WORDS), many, WORDS)
    values = np.random.default_rng(1).normal(size=(600, len(WORDS))).round(2).astype(np.float32)
    values = np.abs(values * 10).round() if kind is FeatureKind.COUNT else values
    schema = replace(SCHEMA, features=(spec, SCHEMA.features[1]))
    tables = {**graphs.tables, "author": torch.from_numpy(values)}
    return Places.of(replace(graphs, schema=schema, tables=tables), scores), values[:, 4]


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_all_thresholds_is_found(seed: int) -> None:
    places, values = measured()
    cost = np.random.default_rng(seed).normal(size=600) - 6 * (values > 0.3)
    thresholds = Thresholds(places, [OWN])
    better = thresholds.better(0, cost)
    assert better == 1
    moved = thresholds.predicates[1]
    assert at_threshold(moved, 0.9) == OWN
    enough = [value for value in np.unique(values) if 5 <= (values > value).sum() <= 595]
    least = min(cost[values > value].sum() for value in enough)
    assert cost[thresholds.true(1)].sum() == pytest.approx(least)
    assert thresholds.better(better, cost) == better  # and from there it is not moved
    assert threshold_of(moved) == round(threshold_of(moved) or 0.0, 3)


def test_a_threshold_is_not_moved_to_what_is_barred() -> None:
    places, values = measured()
    thresholds = Thresholds(places, [OWN])
    cost = -6.0 * (values > 0.3)
    assert thresholds.better(0, cost, lambda moved: moved != OWN) == 0
    assert thresholds.predicates == [OWN]
    assert thresholds.better(0, cost, lambda moved: moved == OWN) == 1


@given(st.lists(NUMBERS, min_size=1, max_size=40), st.integers(0, 39), st.floats(0, 1))
@PROPERTY
def test_between_near_thresholds_are_few_places(several: list[float], number: int, share: float) -> None:
    values = np.array(several, dtype=np.float32)
    value = float(values[number % len(values)])
    low, high = near_threshold(values, value, share)
    assert low <= value <= high
    for other in values[(values >= low) & (values < high)]:
        assert ((values > min(value, other)) & (values <= max(value, other))).sum() <= share * len(values)
    assert near_threshold(np.full(3, np.nan), 1.5, share) == (1.5, 1.5)


def test_a_threshold_stays_where_others_are_better_by_chance() -> None:
    places, values = measured()
    cost = np.random.default_rng(0).normal(size=600) * 0.05 - (values > 0.9)
    thresholds = Thresholds(places, [OWN])
    assert thresholds.better(0, cost) == 0
    assert thresholds.predicates == [OWN]


def test_what_counts_or_looks_for_a_value_has_no_threshold_to_move() -> None:
    places, values = measured(FeatureKind.COUNT)
    word = Predicate(Count(Around("paper", 1), (Holds(0),)))
    many = at_threshold(OWN, 9.5)
    mean = Predicate(Mean(Around("author"), 4), 9.5)
    thresholds = Thresholds(places, [word, many, mean])
    cost = -6.0 * (values > 3)
    assert [thresholds.better(number, cost) for number in range(3)] == [0, 1, 2]


def test_a_column_of_one_value_is_left() -> None:
    places, _ = measured()
    places.batch.tables["author"][:, 4] = 2.0
    assert Thresholds(places, [OWN]).better(0, -np.ones(600)) == 0


@given(NUMBERS, NUMBERS)
@PROPERTY
def test_a_plain_number_lies_between(one: float, other: float) -> None:
    low, high = sorted((one, other))
    if low == high:
        high = float(np.nextafter(np.float32(high), np.float32(np.inf)))
    found = plain_number(low, high)
    assert low <= np.float32(found) < high


@pytest.mark.parametrize(
    ("low", "high", "plain"),
    [(137.41, 137.62, 137.5), (39.8, 40.3, 40.0), (-0.52, -0.48, -0.5), (1234.0, 1890.0, 2000.0), (0.0, 1.0, 0.5)],
)
def test_it_has_few_digits(low: float, high: float, plain: float) -> None:
    found = plain_number(low, high)
    assert low <= found < high
    assert found == (plain if low <= plain < high else found)
    assert len(f"{abs(found):g}".replace(".", "").strip("0")) <= len(f"{abs(plain):g}".replace(".", "").strip("0")) + 1
