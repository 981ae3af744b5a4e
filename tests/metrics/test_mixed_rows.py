"""Metrics of tables whose columns differ: against independent computation, against noise, and at their ends."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import ks_2samp
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.feature_inference import infer_features
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureSpec
from dignn.metrics.column_errors import correlation_error, matrix_of
from dignn.metrics.feature_realism import feature_realism
from dignn.metrics.feature_rows import ClassRows
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.measures.missing_rates import missing_rates
from dignn.metrics.mixed_rows import Encoding, column_error, units_of
from dignn.metrics.two_sets import compare_tables
from mixed_world import mixed_schema, shop_rows

NUMBER, HOLED = Column(ColumnKind.CONTINUOUS), Column(ColumnKind.CONTINUOUS, missing=True)
CODE, FLAG = Column(ColumnKind.CATEGORICAL, levels=3), Column(ColumnKind.BINARY)
GROUP = Column(ColumnKind.ONE_HOT, group=0)


def shops(count: int, seed: int) -> Tensor:
    return shop_rows(count, torch.arange(count) % 2, torch.Generator().manual_seed(seed))


def spec() -> FeatureSpec:
    return mixed_schema().spec("shop")


def error(one: list[list[float]], other: list[list[float]], *columns: Column) -> float:
    return column_error(matrix_of(np.array(one)), matrix_of(np.array(other)), columns)


# -- single columns -----------------------------------------------------------------------------------


def test_columns_of_one_thing_are_one_unit() -> None:
    assert units_of((NUMBER, GROUP, FLAG, GROUP, Column(ColumnKind.CONSTANT, constant=1.0))) == [[0], [1, 3], [2]]


def test_numbers_have_the_distance_of_kolmogorov_and_smirnov() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=80), rng.normal(0.4, size=60)
    found = error(one[:, None].tolist(), other[:, None].tolist(), NUMBER)
    assert found == pytest.approx(ks_2samp(one, other).statistic)


def test_missing_values_are_part_of_a_column() -> None:
    nan = float("nan")
    assert error([[nan], [1.0], [2.0], [3.0]], [[1.0], [2.0], [3.0], [nan]], HOLED) == 0
    assert error([[nan], [nan], [2.0], [2.0]], [[2.0]], HOLED) == pytest.approx(0.5)
    assert error([[nan]], [[2.0]], HOLED) == 1
    assert error([[nan]], [[nan]], HOLED) == 0
    # half is missing here, a quarter there; of the values that are there all differ
    assert error([[nan], [nan], [1.0], [1.0]], [[nan], [5.0], [5.0], [5.0]], HOLED) == pytest.approx(0.25 + 0.5)
    flag = Column(ColumnKind.BINARY, missing=True)
    assert error([[nan], [1.0], [0.0], [0.0]], [[1.0], [1.0], [0.0], [0.0]], flag) == pytest.approx(0.25)


def test_a_group_counts_once_and_as_a_category() -> None:
    one, other = [[1, 0, 0, 5.0], [0, 1, 0, 5.0]], [[1, 0, 0, 5.0], [0, 0, 1, 5.0]]
    assert error(one, other, GROUP, GROUP, GROUP, NUMBER) == pytest.approx(0.5 / 2)


# -- pairs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"), [("number", "flag"), ("number", "code"), ("code", "flag"), ("holes", "flag")]
)
def test_pairs_across_kinds_are_seen(left: str, right: str) -> None:
    rng = np.random.default_rng(0)
    flag = rng.integers(0, 2, 400).astype(float)
    parts = {
        "flag": (flag, FLAG),
        "number": (np.exp(rng.normal(size=400) + 3 * flag), NUMBER),
        "code": (np.where(flag > 0, 2.0, rng.integers(0, 2, 400)), CODE),
        "holes": (np.where(flag > 0, np.nan, rng.normal(size=400)), HOLED),
    }
    (one, kind), (other, other_kind) = parts[left], parts[right]
    columns = (kind, other_kind)
    real = matrix_of(np.stack([one, other], axis=1))
    noise = matrix_of(np.stack([rng.permutation(one), other], axis=1))
    code = Encoding(columns, [real], ranks=True)
    (encoded, units), (scattered, _) = code(real), code(noise)
    assert correlation_error(encoded, encoded, units) == 0
    assert (correlation_error(scattered, encoded, units) or 0) > 0.1


def test_pairs_inside_a_unit_are_none() -> None:
    rng = np.random.default_rng(0)
    one, other = (rng.normal(size=(50, 4)) for _ in range(2))
    units = np.array([0, 0, 1, 2])
    difference = np.abs(np.corrcoef(one.T) - np.corrcoef(other.T))
    pairs = [(i, j) for i in range(4) for j in range(i) if units[i] != units[j]]
    expected = np.mean([difference[pair] for pair in pairs])
    assert correlation_error(matrix_of(one), matrix_of(other), units) == pytest.approx(expected)
    assert correlation_error(matrix_of(one[:, :2]), matrix_of(other[:, :2]), units[:2]) is None


# -- one scale ----------------------------------------------------------------------------------------


def test_units_do_not_matter() -> None:
    rows = matrix_of(np.array([[1.0, 0], [2.0, 1], [6.0, 2]]))
    large = matrix_of(np.array([[1000.0, 0], [2000.0, 1], [6000.0, 2]]))
    one, other = (Encoding((NUMBER, CODE), [table])(table)[0].toarray() for table in (rows, large))
    assert np.allclose(one, other)
    assert one[:, 0].std() == pytest.approx(1)
    assert np.square(one[0, 1:] - one[1, 1:]).sum() == pytest.approx(1)  # another category is one step


def test_values_that_real_rows_lack_are_strange_and_missing_ones_are_their_own() -> None:
    nan, column = float("nan"), Column(ColumnKind.CATEGORICAL, levels=9, missing=True)
    code = Encoding((column,), [matrix_of(np.array([[0.0], [4.0], [nan]]))])
    found = code(matrix_of(np.array([[0.0], [4.0], [7.0], [nan]])))[0].toarray()
    assert np.allclose(found, np.eye(4) * np.sqrt(0.5))


# -- all metrics --------------------------------------------------------------------------------------


def test_real_rows_score_like_their_floor_and_noise_does_not() -> None:
    held_out, train, good = shops(300, 0), shops(300, 1), shops(300, 2)
    noise = torch.stack(
        [column[torch.randperm(300, generator=torch.Generator().manual_seed(n))] for n, column in enumerate(good.T)],
        dim=1,
    )
    noise[:, 2:5] = good[:, 2:5]  # a group stays together
    fine, bad = (feature_realism(rows, train, held_out, spec(), seed=Seed(0)) for rows in (good, noise))
    assert fine.floor is not None
    assert fine.value["memorisation"] == pytest.approx(0.5, abs=0.1)
    for name in ("column_error", "pair_error", "row_density", "cosine", "c2st"):
        assert fine.value[name] == pytest.approx(fine.floor[name], abs=0.12, rel=0.4), name
    assert (bad.value["pair_error"] or 0) > (fine.value["pair_error"] or 0)
    assert (bad.value["c2st"] or 0) > 0.6


def test_copies_are_found() -> None:
    train = shops(200, 1)
    found = feature_realism(train, train, shops(200, 0), spec(), seed=Seed(0))
    assert (found.value["memorisation"] or 0) > 0.95


def test_a_classifier_sees_what_is_missing() -> None:
    real, made = shops(300, 0), shops(300, 1)
    made[:, 6] = torch.where(made[:, 6].isnan(), 5.5, made[:, 6])
    found = feature_realism(made, None, real, spec(), seed=Seed(0))
    assert (found.value["c2st"] or 0) > 0.6


def test_tables_of_other_tools_are_compared_without_a_word_on_their_columns() -> None:
    real, made = shops(300, 0), shops(300, 1)
    found = compare_tables(real, made)["sound"]["features"]
    assert found["column_error"] < 0.1
    broken = made.clone()
    broken[:, 0] = 0.3  # no flag
    assert compare_tables(real, broken)["sound"]["features"]["column_error"] > found["column_error"]
    with pytest.raises(DignnError, match="Column 0 of the generated table holds 0.3, though its kind is 'binary'"):
        compare_tables(real, broken, infer_features(real, "rows"))


def test_missing_values_are_compared_class_by_class() -> None:
    columns = spec().columns
    cheap, dear = (shop_rows(400, torch.full((400,), label), torch.Generator().manual_seed(label)) for label in (0, 1))
    reality = Reality(seed=Seed(0))

    def found(*rows: ClassRows) -> dict[str, object] | None:
        return missing_rates(MeasuredGraphs(frozenset({"features"}), ["cheap", "dear"], class_rows=rows), reality)

    right = found(ClassRows(cheap, cheap, columns), ClassRows(dear, dear, columns))
    assert right == {"error": 0.0, "by_class": {"cheap": 0.0, "dear": 0.0}}
    swapped = found(ClassRows(dear, cheap, columns), ClassRows(cheap, dear, columns))
    # together both have as many; class by class the price is missing 0.6 more or less often, the rating alike
    assert swapped is not None
    assert swapped["error"] == pytest.approx(0.3, abs=0.05)
    assert found(ClassRows(cheap[:, :3], cheap[:, :3])) is None
