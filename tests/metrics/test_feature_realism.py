"""Realism of feature tables: real rows score like the floor, bad ones far more, and every number by slow loops."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.stats import ks_2samp, wasserstein_distance
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.feature_spec import FeatureKind
from dignn.metrics.feature_realism import FEATURE_METRICS, FeatureRealism, feature_realism
from dignn.metrics.measures.cosine import mean_cosine
from small_runs import Means

DISCRETE = (FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.CATEGORICAL)
KINDS = (*DISCRETE, FeatureKind.CONTINUOUS)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The classifier has tests of its own."""
    monkeypatch.setattr("dignn.metrics.c2st.TREES", 10)


def table(kind: FeatureKind, rows: int, columns: int, seed: int) -> Tensor:
    """Rows whose columns hang together through a hidden topic."""
    generator = torch.Generator().manual_seed(seed)
    topic = torch.randint(3, (rows, 1), generator=generator)
    same = (torch.arange(columns) % 3 == topic).float()
    if kind is FeatureKind.CONTINUOUS:
        return torch.randn(rows, columns, generator=generator) + 2 * same
    if kind is FeatureKind.BINARY:
        return torch.bernoulli(0.1 + 0.5 * same, generator=generator)
    levels = 2 + torch.arange(columns) % 3
    drawn = (torch.rand(rows, columns, generator=generator) * levels).floor()
    return torch.where(same.bool(), drawn, torch.zeros(()))


def shuffled_columns(rows: Tensor) -> Tensor:
    """The right columns, independent of each other."""
    return rows.gather(0, torch.rand(rows.shape, generator=torch.Generator().manual_seed(5)).argsort(0))


# -- values that are known ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_further_real_rows_score_like_the_floor(kind: FeatureKind) -> None:
    train, held_out, further = (table(kind, 600, 9, seed) for seed in range(3))
    found = feature_realism(further, train, held_out, kind)
    assert found.floor is not None
    for name in ("column_error", "pair_error"):
        assert 0.5 < found.value[name] / found.floor[name] < 2
    assert found.value["cosine"] == pytest.approx(found.floor["cosine"], rel=0.1)
    assert 0.42 < found.value["c2st"] < 0.58
    assert 0.42 < found.value["memorisation"] < 0.58


@pytest.mark.parametrize("kind", KINDS)
def test_independent_columns_show_in_pairs_and_to_the_classifier(kind: FeatureKind) -> None:
    train, held_out = (table(kind, 600, 9, seed) for seed in range(2))
    found = feature_realism(shuffled_columns(train), train, held_out, kind)
    assert found.floor is not None
    # columns are as in training rows, to the last digit
    assert found.value["column_error"] == pytest.approx(found.floor["column_error"], rel=1e-12)
    assert found.value["pair_error"] > 2 * found.floor["pair_error"]
    assert found.value["c2st"] > 0.6


def test_rows_that_are_the_held_out_ones() -> None:
    train, held_out = (table(FeatureKind.COUNT, 200, 21, seed) for seed in range(2))
    found = feature_realism(held_out, train, held_out, "count")
    assert [found.value[name] for name in ("column_error", "pair_error", "row_density")] == [0, 0, 0]
    assert found.value["memorisation"] < 0.1


def test_rows_that_are_the_training_ones() -> None:
    train, held_out = (table(FeatureKind.CONTINUOUS, 200, 7, seed) for seed in range(2))
    found = feature_realism(train, train, held_out, "continuous")
    assert found.floor is not None
    assert found.value["memorisation"] == 1
    assert {name: found.value[name] for name in ("column_error", "pair_error")} == {
        name: found.floor[name] for name in ("column_error", "pair_error")
    }


# -- slow computations --------------------------------------------------------------------------------


def slow_column_error(one: np.ndarray, other: np.ndarray, kind: FeatureKind) -> float:
    errors = []
    for column in range(one.shape[1]):
        a, b = one[:, column], other[:, column]
        if kind is FeatureKind.CONTINUOUS:
            errors.append(ks_2samp(a, b).statistic)
        else:
            values = np.union1d(a, b)
            errors.append(sum(abs((a == value).mean() - (b == value).mean()) for value in values) / 2)
    return float(np.mean(errors))


def slow_pair_error(one: np.ndarray, other: np.ndarray, real: np.ndarray, kind: FeatureKind) -> float:
    if kind is FeatureKind.CATEGORICAL:
        # every pair of values but 0 of two columns; those that real rows lack are an error but no pair
        total, count = 0.0, 0
        for i, j in combinations(range(one.shape[1]), 2):
            for a in range(1, 9):
                for b in range(1, 9):
                    shares = [((rows[:, i] == a) & (rows[:, j] == b)).mean() for rows in (one, other)]
                    total += abs(shares[0] - shares[1])
                    count += bool((real[:, i] == a).any() and (real[:, j] == b).any())
        return total / count
    errors = []
    for i, j in combinations(range(one.shape[1]), 2):
        if kind is FeatureKind.CONTINUOUS:
            both = [np.corrcoef(rows[:, i], rows[:, j])[0, 1] for rows in (one, other)]
        else:
            both = [((rows[:, i] > 0) & (rows[:, j] > 0)).mean() for rows in (one, other)]
        errors.append(abs(both[0] - both[1]))
    return float(np.mean(errors))


@pytest.mark.parametrize("sparsity", [0.0, 0.98])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_pairs_and_density_by_slow_loops(kind: FeatureKind, sparsity: float) -> None:
    tables = [table(kind, rows, 8, seed) for seed, rows in enumerate((60, 60, 45))]
    if sparsity:  # other ways to multiply
        tables = [rows * (torch.rand(rows.shape, generator=Seed(0).torch()) > sparsity) for rows in tables]
        for rows in tables:
            rows[:2] = torch.tensor([1.0, 2.0])[:, None] if kind is not FeatureKind.BINARY else torch.eye(8)[:2]
    tables[0][0, 0] = {FeatureKind.BINARY: 1.0, FeatureKind.CONTINUOUS: -3.0}.get(kind, 7.0)  # a value of its own
    found = feature_realism(*tables, kind)
    assert found.floor is not None
    generated, train, held_out = (rows.double().numpy() for rows in tables)
    real = np.concatenate([train, held_out])
    for rows, values in ((generated, found.value), (train, found.floor)):
        assert values["column_error"] == pytest.approx(slow_column_error(rows, held_out, kind), abs=1e-9)
        with np.errstate(invalid="ignore"):
            expected = slow_pair_error(rows, held_out, real, kind)
        assert values["pair_error"] == pytest.approx(expected, abs=1e-7)
        filled = [(part != 0).sum(1) for part in (rows, held_out)]
        applies = kind in (FeatureKind.BINARY, FeatureKind.COUNT) or (
            kind is FeatureKind.CONTINUOUS and (held_out == 0).any()
        )
        assert values["row_density"] == (pytest.approx(wasserstein_distance(*filled)) if applies else None)


def test_many_columns_are_looked_at_in_blocks() -> None:
    tables = [table(FeatureKind.BINARY, 40, 1100, seed) for seed in range(3)]
    found = feature_realism(*tables, "binary")
    shares = [rows.double().T @ rows.double() / 40 for rows in (tables[0], tables[2])]
    pairs = torch.ones(1100, 1100).triu(1).bool()
    assert found.value["pair_error"] == pytest.approx(float((shares[0] - shares[1]).abs()[pairs].mean()))


def test_cosine_is_that_of_generated_and_training_rows() -> None:
    generated, train, held_out = (table(FeatureKind.COUNT, 50, 6, seed) for seed in range(3))
    found = feature_realism(generated, train, held_out, "count")
    assert found.floor is not None
    assert found.value["cosine"] == pytest.approx(mean_cosine(generated, train))
    assert found.floor["cosine"] == pytest.approx(mean_cosine(held_out, train))


def test_members_of_an_identity_type() -> None:
    one_hot = torch.eye(4)
    found = feature_realism(one_hot[[0, 0, 1, 3]], one_hot[[0, 1, 2, 3]], one_hot[[0, 0, 2, 2]], "identity")
    assert found.value == {**dict.fromkeys(FEATURE_METRICS), "column_error": pytest.approx(0.5)}
    assert found.floor == {**dict.fromkeys(FEATURE_METRICS), "column_error": pytest.approx(0.5)}


# -- which rows are compared --------------------------------------------------------------------------


def test_as_many_generated_as_training_rows() -> None:
    train, held_out, many = (table(FeatureKind.BINARY, rows, 30, seed) for seed, rows in enumerate((80, 80, 800)))
    found = feature_realism(many, train, held_out, "binary")
    assert (found.compared, found.held_out) == (80, 80)
    assert found.floor is not None
    # noise of 80 rows, not of 800
    assert 0.8 < found.value["column_error"] / found.floor["column_error"] < 1.25
    fewer = feature_realism(many[:40], train, held_out, "binary")
    assert fewer.compared == 40
    assert fewer.floor is not None
    assert fewer.floor["column_error"] > found.floor["column_error"]


def test_two_tables_alone() -> None:
    generated, real = (table(FeatureKind.COUNT, 100, 6, seed) for seed in range(2))
    found = feature_realism(generated, None, real, "count")
    assert found.floor is None
    assert found.value["memorisation"] is None
    assert found.value["cosine"] == pytest.approx(mean_cosine(generated, real))
    assert all(found.value[name] is not None for name in FEATURE_METRICS if name != "memorisation")


def test_the_seed_alone_decides() -> None:
    train, held_out, generated = (table(FeatureKind.BINARY, 100 + seed, 6, seed) for seed in range(3))

    def measured(seed: Seed) -> FeatureRealism:
        return feature_realism(generated, train, held_out, "binary", seed=seed)

    assert measured(Seed(0)) == measured(Seed(0))
    assert measured(Seed(0)) != measured(Seed(1))


def test_json() -> None:
    found = feature_realism(*(table(FeatureKind.COUNT, 30, 4, seed) for seed in range(3)), FeatureKind.COUNT)
    written = json.loads(json.dumps(asdict(found)))
    assert written["kind"] == "count"
    assert set(written["value"]) == set(written["floor"]) == set(FEATURE_METRICS)


# -- tables of all sorts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        lambda rows: rows.half(),
        lambda rows: rows.bfloat16(),
        lambda rows: rows.to(torch.uint8),
        lambda rows: rows.long(),
        lambda rows: rows.double().requires_grad_(),
        lambda rows: rows.to_sparse(),
        lambda rows: rows.half().to_sparse_csr(),
        lambda rows: rows.numpy()[::-1][::-1],
        lambda rows: rows.numpy().astype(">f8"),
        lambda rows: rows.numpy().astype(np.int16),
        lambda rows: rows.numpy().astype(np.float16),
        lambda rows: sparse.csr_matrix(rows.numpy()),
        lambda rows: rows.tolist(),
    ],
)
def test_tables_of_any_class_give_the_same(given: Callable[[Tensor], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.metrics.boosted_trees.boosted_trees", lambda rows, trees, state: Means())
    tables = [table(FeatureKind.COUNT, 40, 5, seed) for seed in range(3)]
    assert feature_realism(*map(given, tables), "count") == feature_realism(*tables, "count")


def test_what_is_given_stays_as_it_is() -> None:
    rows = table(FeatureKind.BINARY, 30, 4, 0).numpy()
    rows.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of memory that torch could write to
        feature_realism(rows, None, rows, "binary")
    large = torch.full((30, 4), 60000.0).half()  # its sum is no number of half precision
    assert feature_realism(large, None, large, "continuous").value["column_error"] == 0


# -- small and bad tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [1, 3])
def test_a_single_row(kind: FeatureKind, columns: int) -> None:
    one, zero = torch.ones(1, columns), torch.zeros(1, columns)
    found = feature_realism(one, zero, zero, kind)
    assert found.value["column_error"] == 1
    assert found.value["memorisation"] == 0.5
    assert found.value["c2st"] is None
    assert found.floor is not None
    assert found.floor["column_error"] == 0
    assert (found.value["pair_error"] is None) == (columns == 1 or kind is FeatureKind.CATEGORICAL)


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns(kind: FeatureKind) -> None:
    rows = table(kind, 60, 5, 0)
    rows[:, 0], rows[:, 1] = 0, 1
    constant = rows.clone()
    constant[:, 2] = 0.1 if kind is FeatureKind.CONTINUOUS else 1
    found = feature_realism(constant, rows, rows, kind)
    assert all(value is None or np.isfinite(value) for value in found.value.values())
    if kind is FeatureKind.CONTINUOUS:
        correlation = np.corrcoef(rows[:, 2:].T.numpy())
        # column 2 lost its correlation with two others, of ten pairs
        assert found.value["pair_error"] == pytest.approx(np.abs(correlation[0, 1:]).sum() / 10, abs=1e-6)


def test_all_rows_zero() -> None:
    zero = torch.zeros(20, 500)
    found = feature_realism(zero, zero, zero, "count")
    assert found.value["column_error"] == found.value["pair_error"] == found.value["row_density"] == 0
    assert found.value["c2st"] == found.value["memorisation"] == 0.5


@pytest.mark.parametrize(
    ("generated", "kind", "message"),
    [
        (torch.empty(0, 2), "binary", "generated table has shape (0, 2)"),
        (torch.ones(3), "binary", "generated table has shape (3,)"),
        (torch.ones(2, 3), "binary", "3 columns, the held-out one 2"),
        (torch.tensor([[0.0, torch.nan]]), "continuous", "not finite"),
        (torch.tensor([[torch.inf, -torch.inf]]), "continuous", "not finite"),
        (torch.tensor([[0.5, 1.0]]), "binary", "generated table holds values that are not 0, 1, 2"),
        (torch.tensor([[-1.0, 1.0]]), "count", "not 0, 1, 2"),
        (torch.tensor([[2.0, 1.0]]), "binary", "generated table holds values that are not 0 or 1"),
        (torch.tensor([[2.0, 0.0]]), "identity", "values that are not 0 or 1"),
        (torch.tensor([[1.0, 1.0]]), "identity", "rows that are not one-hot"),
        (torch.tensor([[0.0, 1.0], [0.0, 0.0]]), "identity", "rows that are not one-hot"),
        (torch.tensor(1.0), "binary", "generated table has shape ()"),
        (torch.ones(2, 2, dtype=torch.complex64), "continuous", "complex numbers"),
        (np.array([["a", "b"]]), "binary", "holds no numbers"),
        ([[1, 0], [1]], "binary", "holds no numbers (list)"),
        (torch.ones(2, 2), "none", "kind 'none' cannot be compared"),
        (torch.ones(2, 2), "colour", "kind 'colour' cannot be compared"),
    ],
)
def test_bad_tables_are_named(generated: Any, kind: str, message: str) -> None:
    with pytest.raises(DignnError) as caught:
        feature_realism(generated, None, torch.eye(2), kind)
    assert message in str(caught.value)


def test_a_bad_held_out_table_is_named() -> None:
    with pytest.raises(DignnError, match=r"held-out table has shape \(\)"):
        feature_realism(torch.eye(2), None, torch.tensor(1.0), "binary")
