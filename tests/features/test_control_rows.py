"""The two controls: real rows, and independent columns, each given the class around a node."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.features.control_rows import DRAWN_ROWS, BootstrapRows, IndependentColumns
from dignn.features.registry import FEATURE_GENERATORS
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from strategies import PROPERTY, feature_specs, random_rows

UNLIKELY = 1e-3
BOTH = pytest.mark.parametrize("method", [BootstrapRows, IndependentColumns])
DRAWS = 6000


def numbered(condition: list[list[float]], method: type[BootstrapRows] = BootstrapRows) -> BootstrapRows:
    """A generator whose row i is the number i, with these conditions."""
    rows = torch.arange(len(condition)).float()[:, None]
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 1)
    return method().fit(rows, torch.tensor(condition), spec, seed=Seed(0))


def assert_frequencies(found: Tensor, expected: list[float]) -> None:
    """Row numbers come with these probabilities; a row of probability 0 never comes."""
    counts = torch.bincount(found.long().flatten(), minlength=len(expected)).numpy()
    probability = np.array(expected)
    assert not counts[probability == 0].any()
    possible = probability > 0
    assert chisquare(counts[possible], probability[possible] * counts.sum()).pvalue > UNLIKELY


# -- the class around a node --------------------------------------------------------------------------

HARD = [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 2
SOFT = [[1.0, 0.0], [0.5, 0.5], [0.25, 0.75], [0.0, 1.0], [0.0, 0.0]]


@BOTH
@pytest.mark.parametrize(
    ("condition", "asked", "expected"),
    [
        (HARD, [1.0, 0.0], [1 / 3, 1 / 3, 1 / 3, 0, 0]),
        (HARD, [0.0, 1.0], [0, 0, 0, 1 / 2, 1 / 2]),
        (HARD, [0.5, 0.5], [1 / 6, 1 / 6, 1 / 6, 1 / 4, 1 / 4]),
        (HARD, [0.0, 0.0], [1 / 5] * 5),
        (SOFT, [1.0, 0.0], [4 / 7, 2 / 7, 1 / 7, 0, 0]),
        (SOFT, [0.2, 0.8], [0.8 / 7, 0.4 / 7 + 1.6 / 9, 0.2 / 7 + 2.4 / 9, 3.2 / 9, 0]),
        (SOFT, [0.0, 0.0], [1 / 5] * 5),
        ([[1.0, 0.0]] * 4, [0.0, 1.0], [1 / 4] * 4),  # no row of that class: any row
    ],
    ids=["class 0", "class 1", "between", "none", "soft 0", "soft", "soft none", "empty class"],
)
def test_rows_come_with_the_probability_of_the_class(
    method: type[BootstrapRows], condition: list, asked: list[float], expected: list[float]
) -> None:
    found = numbered(condition, method).sample(torch.tensor([asked] * DRAWS), seed=Seed(3))
    assert_frequencies(found, expected)


@PROPERTY
@given(st.integers(0, 2**32 - 1))
def test_each_node_gets_a_row_of_its_own_class(seed: int) -> None:
    rng = np.random.default_rng(seed)
    label, asked = rng.integers(0, 3, 9), rng.integers(0, 3, 20)
    label[:3] = [0, 1, 2]
    found = numbered(np.eye(3, dtype=np.float32)[label].tolist()).sample(torch.eye(3)[asked], seed=Seed(seed))
    assert label[found.long().flatten()].tolist() == asked.tolist()


@BOTH
def test_rows_of_different_nodes_are_independent(method: type[BootstrapRows]) -> None:
    found = numbered(HARD, method).sample(torch.tensor([[1.0, 0.0]] * DRAWS), seed=Seed(5)).flatten()
    assert_frequencies(found[::2] * 3 + found[1::2], [1 / 9] * 9)


# -- real rows ----------------------------------------------------------------------------------------


@PROPERTY
@given(feature_specs().filter(lambda spec: spec.generated), st.integers(0, 2**32 - 1))
def test_bootstrapped_rows_are_rows_of_the_data(spec: FeatureSpec, seed: int) -> None:
    rows = random_rows(spec, 6, np.random.default_rng(seed))
    generator = BootstrapRows().fit(rows, torch.zeros(6, 2), spec, seed=Seed(0))
    found = generator.sample(torch.zeros(30, 2), seed=Seed(seed))
    assert set(map(tuple, found.tolist())) <= set(map(tuple, rows.tolist()))


# -- independent columns ------------------------------------------------------------------------------


def twin_columns() -> tuple[Tensor, Tensor]:
    """Two equal columns: mostly 0 in class 0, mostly 1 in class 1; and a third that is their opposite."""
    ones = torch.tensor([0.0] * 8 + [1.0] * 2 + [0.0] * 3 + [1.0] * 7)
    return torch.stack([ones, ones, 1 - ones], dim=1), torch.eye(2)[[0] * 10 + [1] * 10]


def test_columns_keep_their_frequencies_in_each_class() -> None:
    rows, condition = twin_columns()
    generator = IndependentColumns().fit(rows, condition, FeatureSpec(FeatureKind.BINARY, 3), seed=Seed(0))
    for number, share in enumerate((0.2, 0.7)):
        found = generator.sample(torch.eye(2)[[number] * DRAWS], seed=Seed(1))
        for column, expected in enumerate((share, share, 1 - share)):
            assert_frequencies(found[:, column], [1 - expected, expected])


def test_columns_are_independent_given_the_class() -> None:
    rows, condition = twin_columns()
    generator = IndependentColumns().fit(rows, condition, FeatureSpec(FeatureKind.BINARY, 3), seed=Seed(0))
    found = generator.sample(torch.eye(2)[[0] * DRAWS], seed=Seed(1))
    pattern = found @ torch.tensor([4.0, 2.0, 1.0])
    p = {0: (0.8, 0.8, 0.2), 1: (0.2, 0.2, 0.8)}
    assert_frequencies(pattern, [p[a][0] * p[b][1] * p[c][2] for a in (0, 1) for b in (0, 1) for c in (0, 1)])


def test_bootstrapped_columns_stay_together() -> None:
    rows, condition = twin_columns()
    generator = BootstrapRows().fit(rows, condition, FeatureSpec(FeatureKind.BINARY, 3), seed=Seed(0))
    found = generator.sample(condition, seed=Seed(1))
    assert torch.equal(found[:, 0], found[:, 1])
    assert torch.equal(found[:, 0], 1 - found[:, 2])


@BOTH
def test_identity_rows_stay_one_hot(method: type[BootstrapRows]) -> None:
    spec = FeatureSpec(FeatureKind.IDENTITY, 7)
    found = method().fit(torch.eye(7), torch.zeros(7, 2), spec, seed=Seed(0)).sample(torch.zeros(500, 2), seed=Seed(0))
    assert (found.sum(1) == 1).all()
    assert ((found == 0) | (found == 1)).all()
    assert_frequencies(found.argmax(1), [1 / 7] * 7)


@PROPERTY
@given(feature_specs().filter(lambda spec: spec.generated), st.integers(0, 2**32 - 1))
def test_independent_columns_hold_values_of_their_own_column(spec: FeatureSpec, seed: int) -> None:
    rows = random_rows(spec, 6, np.random.default_rng(seed))
    generator = IndependentColumns().fit(rows, torch.zeros(6, 2), spec, seed=Seed(0))
    found = generator.sample(torch.zeros(30, 2), seed=Seed(seed))
    for column in range(spec.width):
        assert set(found[:, column].tolist()) <= set(rows[:, column].tolist())


# -- both ---------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("count", [0, 1, DRAWN_ROWS, DRAWN_ROWS + 1])
def test_there_is_a_row_for_each_condition(method: type[BootstrapRows], count: int) -> None:
    rows, condition = twin_columns()
    generator = method().fit(rows, condition, FeatureSpec(FeatureKind.BINARY, 3), seed=Seed(0))
    assert generator.sample(torch.zeros(count, 2), seed=Seed(0)).shape == (count, 3)


@BOTH
def test_same_seed_same_rows(method: type[BootstrapRows]) -> None:
    rows, condition = twin_columns()
    generator = method().fit(rows, condition, FeatureSpec(FeatureKind.BINARY, 3), seed=Seed(0))
    one, same, other = (generator.sample(condition, seed=Seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@BOTH
def test_progress_ends_when_all_is_done(method: type[BootstrapRows]) -> None:
    seen: list[tuple[int, int]] = []
    numbered(HARD, method).sample(
        torch.zeros(DRAWN_ROWS + 5, 2), seed=Seed(0), tick=lambda done, total: seen.append((done, total))
    )
    share = [done / total for done, total in seen]
    assert share[-1] == 1
    assert share == sorted(share)
    assert len(seen) == (3 if method is IndependentColumns else 1)  # by pieces, and the end


@BOTH
def test_no_rows_to_learn_from(method: type[BootstrapRows]) -> None:
    with pytest.raises(DignnError, match="There are no feature rows to learn from"):
        method().fit(torch.empty(0, 1), torch.empty(0, 2), FeatureSpec(FeatureKind.CONTINUOUS, 1), seed=Seed(0))


@BOTH
def test_sampling_before_learning(method: type[BootstrapRows]) -> None:
    with pytest.raises(DignnError, match="call fit first"):
        method().sample(torch.zeros(1, 2), seed=Seed(0))


def test_they_are_found_by_name() -> None:
    assert FEATURE_GENERATORS["bootstrap"] is BootstrapRows
    assert FEATURE_GENERATORS["independent"] is IndependentColumns
