"""What every feature generator must do, with every kind of features that it takes; a new one only needs a name.

Distances between distributions are tested with the methods; here is what must hold exactly, or within sampling error.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.features.base import GENERATED_KINDS, LEAST_ROWS, FeatureGenerator
from dignn.features.registry import FEATURE_GENERATORS
from dignn.graphs.feature_inference import infer_features
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec

CLASSES, ROWS, WIDTH = 3, 90, 6
CASES = [
    (name, kind)
    for name in FEATURE_GENERATORS
    for kind in FeatureKind
    if kind in FEATURE_GENERATORS[name].kinds and kind is not FeatureKind.MIXED
]
IDS = [f"{name}-{kind.value}" for name, kind in CASES]
every = pytest.mark.parametrize(("name", "kind"), CASES, ids=IDS)
every_learner = pytest.mark.parametrize(
    ("name", "kind"), [case for case in CASES if FEATURE_GENERATORS[case[0]].learns], ids=lambda value: str(value)
)
MIXED = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]).repeat(20, 1)
NO_CLASS = torch.zeros(2000, CLASSES)


def table(kind: FeatureKind, count: int = ROWS) -> Tensor:
    """Rows of six columns of a kind, some with more values than others; most numbers are zero, as in word tables."""
    generator = Seed(0).child(kind.value).torch()
    if kind is FeatureKind.IDENTITY:
        return torch.eye(WIDTH)[torch.arange(count) % WIDTH]
    if kind is FeatureKind.CATEGORICAL:
        return torch.randint(12, (count, WIDTH), generator=generator) % torch.tensor([2.0, 4, 3, 2, 4, 4])
    there = torch.rand(count, WIDTH, generator=generator) < 0.4
    if kind is FeatureKind.CONTINUOUS:
        return torch.randn(count, WIDTH, generator=generator) * there
    if kind is FeatureKind.BINARY:
        return there.float()
    often = torch.randint(-9, 4, (count, WIDTH), generator=generator).clamp_min(1)  # three in thirteen are not 1
    often[:, 3] = 1
    return often.float() * there


def spec_of(rows: Tensor, kind: FeatureKind) -> FeatureSpec:
    return infer_features(rows, "type", kind=kind)


def label_rows(count: int = ROWS) -> Tensor:
    """Conditions of classes that take turns."""
    return torch.eye(CLASSES)[torch.arange(count) % CLASSES]


# As good as untrained, for what must hold whatever was learned.
SMOKE, HASTE = PRESETS["smoke"], TrainingConfig(steps=10, validate_every=5)
HASTY = replace(
    SMOKE,
    ditabddpm=replace(SMOKE.ditabddpm, training=HASTE, marginal_training=HASTE, sampler_steps=4),
    tabddpm=replace(SMOKE.tabddpm, training=HASTE, sampler_steps=4),
)


def new(name: str, config: Config = HASTY) -> FeatureGenerator:
    return FEATURE_GENERATORS[name].build(config)


@cache
def fitted(name: str, kind: FeatureKind, config: Config = SMOKE) -> FeatureGenerator:
    rows = table(kind)
    return new(name, config).fit(rows, label_rows(), spec_of(rows, kind), seed=Seed(0))


# -- rows ---------------------------------------------------------------------------------------------


@every
def test_one_finite_row_for_each_condition(name: str, kind: FeatureKind) -> None:
    made = fitted(name, kind).sample(MIXED, seed=Seed(1))
    assert made.shape == (60, WIDTH)
    assert made.dtype == torch.float32
    assert bool(made.isfinite().all())


@every
def test_values_exist_in_their_column(name: str, kind: FeatureKind) -> None:
    made, real = fitted(name, kind).sample(MIXED, seed=Seed(1)), table(kind)
    if kind is FeatureKind.IDENTITY:
        assert bool((made.sum(1) == 1).all())
    for column in range(WIDTH):
        if kind.discrete:
            assert set(made[:, column].tolist()) <= set(real[:, column].tolist())
        else:
            assert real[:, column].min() <= made[:, column].min()
            assert made[:, column].max() <= real[:, column].max()


@every
def test_same_seed_same_bits_other_seed_other_rows(name: str, kind: FeatureKind) -> None:
    known, again = fitted(name, kind, HASTY), fitted.__wrapped__(name, kind, HASTY)
    one, same, other = (model.sample(MIXED, seed=Seed(seed)) for model, seed in ((known, 0), (again, 0), (again, 1)))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@every
def test_no_conditions_give_no_rows(name: str, kind: FeatureKind) -> None:
    assert fitted(name, kind).sample(torch.empty(0, CLASSES), seed=Seed(0)).shape == (0, WIDTH)


@every
def test_progress_comes_to_its_end(name: str, kind: FeatureKind) -> None:
    seen: list[float] = []
    fitted(name, kind).sample(MIXED, seed=Seed(0), tick=lambda done, total: seen.append(done / total))
    assert seen[-1] == 1
    assert seen == sorted(seen)


@every
def test_learning_and_sampling_leave_the_global_generator_alone(name: str, kind: FeatureKind) -> None:
    before = torch.get_rng_state()
    fitted.__wrapped__(name, kind, HASTY).sample(MIXED, seed=Seed(0))
    assert torch.equal(torch.get_rng_state(), before)


@every
def test_a_heavy_row_comes_often(name: str, kind: FeatureKind) -> None:
    """Two rows in turns; those of the one have nine tenths of the weight."""
    pair = torch.eye(WIDTH)[:2] if kind is FeatureKind.IDENTITY else table(kind)[[0, 1]]
    rows = pair.repeat(30, 1)
    weight = torch.tensor([0.9, 0.1]).repeat(30)
    generator = new(name, SMOKE).fit(
        rows, torch.zeros(60, CLASSES), spec_of(table(kind), kind), weight=weight, seed=Seed(0)
    )
    made = generator.sample(NO_CLASS[:600], seed=Seed(1))
    heavy = torch.cdist(made, pair).argmin(1) == 0
    assert float(heavy.float().mean()) > 0.7


@every
def test_constant_columns_stay_constant(name: str, kind: FeatureKind) -> None:
    rows = table(kind)
    if kind is FeatureKind.IDENTITY:
        rows = rows[rows[:, 1] + rows[:, 2] == 1]  # members 1 and 2 alone
        rows = rows.repeat(2, 1)
    else:
        rows[:, 1], rows[:, 4] = 1.0, 0.0
    generator = new(name).fit(rows, label_rows(len(rows)), spec_of(table(kind), kind), seed=Seed(0))
    made = generator.sample(NO_CLASS, seed=Seed(1))
    constant = (rows == rows[0]).all(0)
    assert int(constant.sum()) >= 2
    assert bool((made[:, constant] == rows[0, constant]).all())


# -- classes ------------------------------------------------------------------------------------------


@every
def test_classes_that_share_no_row_are_told_apart(name: str, kind: FeatureKind) -> None:
    """Rows of class 0 are one, rows of others another."""
    pair = torch.tensor([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    condition = label_rows()
    rows = pair[(condition[:, 0] == 0).long()]
    generator = new(name, SMOKE).fit(rows, condition, spec_of(table(kind), kind), seed=Seed(0))
    asked = torch.eye(CLASSES)[[0] * 300 + [1] * 300]
    near = torch.cdist(generator.sample(asked, seed=Seed(1)), pair).argmin(1)
    assert float((near[:300] == 0).float().mean()) > float((near[300:] == 0).float().mean()) + 0.2


@every_learner
def test_a_class_with_few_rows_gets_them_as_they_are(name: str, kind: FeatureKind) -> None:
    rows = table(kind)
    condition = torch.eye(CLASSES)[[0] * (LEAST_ROWS - 1) + [1] * 40 + [2] * (ROWS - 40 - LEAST_ROWS + 1)]
    generator = new(name).fit(rows, condition, spec_of(rows, kind), seed=Seed(0))
    assert generator.report["few_rows"] == {"0": LEAST_ROWS - 1}
    own = {tuple(row) for row in rows[: LEAST_ROWS - 1].tolist()}
    made = generator.sample(torch.eye(CLASSES)[[0, 1] * 500], seed=Seed(1))
    assert {tuple(row) for row in made[::2].tolist()} == own
    assert not {tuple(row) for row in made[1::2].tolist()} <= own
    assert "few_rows" not in fitted(name, kind).report


@every
def test_a_class_without_rows_is_generated_like_a_node_without_a_class(name: str, kind: FeatureKind) -> None:
    rows = table(kind)
    condition = torch.eye(CLASSES)[torch.arange(ROWS) % 2]
    generator = new(name).fit(rows, condition, spec_of(rows, kind), seed=Seed(0))
    assert "few_rows" not in generator.report
    absent, nobody = (
        generator.sample(asked.expand(200, CLASSES), seed=Seed(1))
        for asked in (torch.tensor([0.0, 0.0, 1.0]), torch.zeros(CLASSES))
    )
    assert torch.equal(absent, nobody)


@every
def test_a_table_without_classes(name: str, kind: FeatureKind) -> None:
    rows = table(kind)
    generator = new(name).fit(rows, torch.zeros(ROWS, 0), spec_of(rows, kind), seed=Seed(0))
    assert generator.classes == 0
    assert generator.sample(torch.zeros(5, 0), seed=Seed(1)).shape == (5, WIDTH)


@every
def test_a_table_with_one_row(name: str, kind: FeatureKind) -> None:
    row = table(kind)[:1]
    generator = new(name).fit(row, label_rows(1), spec_of(table(kind), kind), seed=Seed(0))
    assert torch.equal(generator.sample(MIXED, seed=Seed(1)), row.expand(60, WIDTH))


# -- rows of zeros ------------------------------------------------------------------------------------

EMPTY_ROWS = [
    (name, kind)
    for name, kind in CASES
    if kind in (FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.CONTINUOUS)
    and (name in ("bootstrap", "ditabddpm") or (name, kind) == ("tabddpm", FeatureKind.CONTINUOUS))
]


@pytest.mark.parametrize(("name", "kind"), EMPTY_ROWS, ids=[f"{name}-{kind.value}" for name, kind in EMPTY_ROWS])
def test_rows_of_zeros_come_as_often_as_in_the_data(name: str, kind: FeatureKind) -> None:
    """Three in ten rows of class 0 and one in ten of others."""
    rows, condition = table(kind, 600), label_rows(600)
    rows[:, 0] = rows[:, 0].where((rows != 0).any(1), 1.0)
    number = torch.arange(600) // CLASSES % 10
    rows[number < torch.where(condition[:, 0] == 1, 3, 1)] = 0.0
    generator = new(name, SMOKE).fit(rows, condition, spec_of(rows, kind), seed=Seed(0))
    for label, share in enumerate((0.3, 0.1, 0.1)):
        made = generator.sample(torch.eye(CLASSES)[[label] * 2000], seed=Seed(2))
        assert float((made == 0).all(1).float().mean()) == pytest.approx(share, abs=0.04)


@every
def test_a_table_of_zeros(name: str, kind: FeatureKind) -> None:
    rows = torch.zeros(40, WIDTH)
    generator = new(name).fit(rows, label_rows(40), spec_of(table(kind), kind), seed=Seed(0))
    assert not bool(generator.sample(MIXED, seed=Seed(1)).any())


# -- files --------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("few", [False, True], ids=["", "few rows"])
def test_what_was_learned_survives_a_file(name: str, kind: FeatureKind, few: bool) -> None:
    rows = table(kind)
    label = torch.arange(ROWS) % CLASSES
    if few:
        label[label == 2] = 1
        label[:7] = 2
    generator = new(name).fit(rows, torch.eye(CLASSES)[label], spec_of(rows, kind), seed=Seed(0))
    tensors, settings = generator.state()
    told = json.loads(json.dumps(settings))
    assert all(bool(tensor.isfinite().all()) for tensor in tensors.values())  # what files take
    again = new(name).restore({key: value.clone() for key, value in tensors.items()}, told, generator.spec)
    assert again.report == generator.report
    assert again.classes == CLASSES
    asked = torch.eye(CLASSES)[torch.arange(300) % CLASSES]
    assert torch.equal(again.sample(asked, seed=Seed(5)), generator.sample(asked, seed=Seed(5)))


# -- bad input ----------------------------------------------------------------------------------------


@every
def test_sampling_before_fitting_says_so(name: str, kind: FeatureKind) -> None:
    with pytest.raises(DignnError, match="call fit first"):
        new(name).sample(MIXED, seed=Seed(0))


@every
def test_conditions_of_other_classes_are_refused(name: str, kind: FeatureKind) -> None:
    with pytest.raises(DignnError, match=r"shape \(4, 2\) do not fit the 3 known classes"):
        fitted(name, kind).sample(torch.zeros(4, 2), seed=Seed(0))


def spoilt(kind: FeatureKind, what: str) -> tuple[Tensor, Tensor]:
    """A table of a kind in which something is wrong, and its conditions."""
    rows, condition = table(kind), label_rows()
    if what == "empty":
        return rows[:0], condition[:0]
    if what == "width":
        return rows[:, 1:], condition
    if what == "conditions":
        return rows, condition[1:]
    rows[7, 3] = {"nan": torch.nan, "inf": torch.inf, "negative": -1.0, "half": 0.5}[what]
    return rows, condition


@every
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("empty", "no feature rows to learn from"),
        ("width", r"shape \(90, 5\) do not have the 6 columns"),
        ("conditions", "90 feature rows need as many conditions and weights; 89"),
        ("nan", "3' holds NaN or infinite values|3 holds NaN or infinite values"),
        ("inf", "holds NaN or infinite values"),
    ],
)
def test_tables_that_cannot_be_learned_are_refused(name: str, kind: FeatureKind, what: str, message: str) -> None:
    with pytest.raises(DignnError, match=message):
        new(name).fit(*spoilt(kind, what), spec_of(table(kind), kind), seed=Seed(0))


@pytest.mark.parametrize(("name", "kind"), [case for case in CASES if case[1].discrete], ids=lambda value: str(value))
@pytest.mark.parametrize("what", ["negative", "half"])
def test_discrete_features_are_whole_numbers_from_zero(name: str, kind: FeatureKind, what: str) -> None:
    with pytest.raises(DignnError, match=f"kind '{kind.value}' must be 0, 1, 2, ...; say kind 'continuous'"):
        new(name).fit(*spoilt(kind, what), spec_of(table(kind), kind), seed=Seed(0))


@pytest.mark.parametrize("name", FEATURE_GENERATORS)
def test_kinds_that_a_generator_does_not_take_are_refused(name: str) -> None:
    for kind in (FeatureKind.NONE, *(GENERATED_KINDS - FEATURE_GENERATORS[name].kinds)):
        columns = (Column(ColumnKind.BINARY),) * WIDTH if kind is FeatureKind.MIXED else None
        constant = (0.0,) * WIDTH if kind is FeatureKind.NONE else None
        spec = FeatureSpec(kind, WIDTH, constant=constant, columns=columns)
        with pytest.raises(DignnError, match=f"'{name}' learns .*, not {kind.value} ones; choose another method"):
            new(name).fit(torch.zeros(30, WIDTH), torch.zeros(30, CLASSES), spec, seed=Seed(0))
