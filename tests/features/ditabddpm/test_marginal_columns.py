"""Marginal columns: what is known without a network, against Bayes by enumeration; which values are generated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor, nn

from dignn.core.seeds import Seed
from dignn.diffusion.categorical import CategoricalNoise
from dignn.features.ditabddpm.marginal_columns import MarginalColumns
from dignn.features.settings import DiTabDDPMConfig
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

UNLIKELY = 1e-3
FAST = DiTabDDPMConfig(noise="marginal", width=16, blocks=1, emphasis=0.0, sampler_steps=8)
PAPER = replace(FAST, denoiser="paper")
# Columns with two, three, one and two values, with gaps; the first five rows of class 0, others of class 1.
ROWS = torch.tensor(
    [[0, 2, 5, 0], [1, 0, 5, 0], [0, 0, 5, 3], [0, 7, 5, 0], [1, 2, 5, 3], [1, 7, 5, 3], [1, 7, 5, 0], [0, 2, 5, 3]]
).float()
VALUES = [[0, 1], [0, 2, 7], [5], [0, 3]]
LABEL = np.array([0, 0, 0, 0, 0, 1, 1, 1])
WEIGHT = np.array([3.0, 2.0, 1.0, 1.0, 3.0, 1.0, 2.0, 1.0])
LABELS = {"first": 0, "second": 1, "none": 2}
each_label = pytest.mark.parametrize("label", LABELS.values(), ids=LABELS.keys())
each_denoiser = pytest.mark.parametrize("config", [FAST, PAPER], ids=["fast", "paper"])


def table(kind: FeatureKind, rows: Tensor = ROWS) -> Table:
    levels = None if kind is FeatureKind.BINARY else tuple(int(top) + 1 for top in rows.amax(0))
    spec = FeatureSpec(kind, rows.size(1), levels=levels)
    return Table.of(rows, torch.eye(2)[torch.from_numpy(LABEL)], spec, torch.from_numpy(WEIGHT))


def process(
    kind: FeatureKind = FeatureKind.CATEGORICAL, config: DiTabDDPMConfig = FAST, *, rows: Tensor = ROWS
) -> MarginalColumns:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made = MarginalColumns.of(table(kind, rows), config)
    made.learn_frequencies(table(kind, rows))
    made.network.eval()
    return made


def share(label: int, column: int, rows: Tensor = ROWS, values: list[list[int]] = VALUES) -> np.ndarray:
    """How often each value of a column occurs in a label, with one row borrowed from all.  (K,)"""
    part = WEIGHT if label == 2 else WEIGHT * (label == LABEL)
    hit = np.array([[row == value for value in values[column]] for row in rows[:, column].tolist()])
    borrowed = WEIGHT @ hit / WEIGHT.sum()
    return (part @ hit + borrowed) / (part.sum() + 1)


def bayes(prior: np.ndarray, noisy: int, signal: float) -> np.ndarray:
    """p(x0 | x_t) of one column by itself: all clean values, each kept with ``signal`` or drawn anew."""
    likelihood = [signal * (clean == noisy) + (1 - signal) * prior[noisy] for clean in range(len(prior))]
    return prior * likelihood / (prior @ likelihood)


def predicted(made: MarginalColumns, noisy: Tensor, signal: float, label: int, number: int = 1) -> Tensor:
    """Probabilities of clean values.  (B, d) -> (B, d, K)"""
    labels = torch.full((len(noisy),), label)
    marginal = made._marginal[labels]
    with torch.no_grad():
        logits = made._logits(
            noisy, torch.full((len(noisy),), signal), labels, marginal, torch.full((len(noisy),), number)
        )
    return logits.softmax(-1)


# -- the base -----------------------------------------------------------------------------------------


@each_label
@pytest.mark.parametrize("signal", [0.0, 0.3, 0.9, 0.999])
def test_untrained_it_is_the_posterior_of_independent_columns(label: int, signal: float) -> None:
    made = process()
    for column, values in enumerate(VALUES):
        for noisy in range(len(values)):
            codes = torch.zeros(1, 4, dtype=torch.long)
            codes[0, column] = noisy
            found = predicted(made, codes, signal, label)[0, column]
            expected = bayes(share(label, column), noisy, signal)
            assert found[: len(values)].tolist() == pytest.approx(expected.tolist(), abs=1e-5)
            assert not bool(found[len(values) :].any())


BINARY = torch.tensor([[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0], [0, 0, 1], [0, 0, 1], [1, 0, 1]]).float()


@each_label
@pytest.mark.parametrize("number", [1, 3])
def test_with_more_columns_in_a_row_each_has_more(label: int, number: int) -> None:
    """The odds of a one are multiplied by the row's number of ones over the label's mean number."""
    made = process(FeatureKind.BINARY, rows=BINARY)
    part = WEIGHT if label == 2 else WEIGHT * (label == LABEL)
    mean = part @ BINARY.sum(1).numpy() / part.sum()
    for noisy in (0, 1):
        found = predicted(made, torch.full((1, 3), noisy), 0.4, label, number)[0]
        for column in range(3):
            zero, one = bayes(share(label, column, BINARY, [[0, 1]] * 3), noisy, 0.4)
            assert float(found[column, 1] / found[column, 0]) == pytest.approx(one / zero * number / mean, rel=1e-4)


@each_label
def test_noise_keeps_the_frequencies_of_the_label(label: int) -> None:
    """Values drawn from the marginal, made noisy at any signal, still have its frequencies."""
    made = process()
    noise = CategoricalNoise(made._marginal[label])
    clean = noise.prior((20_000, 4), Seed(0).torch())
    for number, signal in enumerate((0.1, 0.6)):
        noisy = noise.corrupt(clean, torch.tensor(signal), Seed(number).child("noise").torch())
        for column in (0, 1, 3):
            counts = torch.bincount(noisy[:, column], minlength=len(VALUES[column])).numpy()
            assert chisquare(counts, share(label, column) * 20_000).pvalue > UNLIKELY


@each_label
@pytest.mark.parametrize("steps", [1, 8])
def test_untrained_it_draws_independent_columns_with_the_frequencies_of_the_label(label: int, steps: int) -> None:
    made = process(config=replace(FAST, sampler_steps=steps))
    with torch.no_grad():
        rows = made.sample(torch.full((20_000,), label), Seed(steps).torch())
    first, second = (
        torch.searchsorted(torch.tensor(VALUES[column]), rows[:, column].contiguous()) for column in (0, 1)
    )
    expected = np.outer(share(label, 0), share(label, 1)).flatten()
    counts = np.bincount((first * 3 + second).numpy(), minlength=6)
    assert chisquare(counts, expected * 20_000).pvalue > UNLIKELY


def test_emphasis_moves_a_class_away_from_all_rows() -> None:
    """In one step values are drawn from the prediction, here (frequency in the class)^1.5 / (everywhere)^0.5."""
    made = process(config=replace(FAST, sampler_steps=1, emphasis=0.5))
    with torch.no_grad():
        rows, plain = (made.sample(torch.full((20_000,), label), Seed(label).torch()) for label in (0, 2))
    for column in (0, 1, 3):
        own, everywhere = share(0, column), share(2, column)
        expected = own * (own / everywhere) ** 0.5
        for found, wanted in ((rows, expected / expected.sum()), (plain, everywhere)):
            counts = [int((found[:, column] == value).sum()) for value in VALUES[column]]
            assert chisquare(counts, wanted * 20_000).pvalue > UNLIKELY


# -- both denoisers -----------------------------------------------------------------------------------


@each_denoiser
@pytest.mark.parametrize("kind", [FeatureKind.CATEGORICAL, FeatureKind.COUNT])
def test_only_values_that_a_column_has_are_generated(config: DiTabDDPMConfig, kind: FeatureKind) -> None:
    """Whatever the network thinks."""
    made = process(kind, config)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(1)
        for weight in made.network.parameters():
            nn.init.normal_(weight)
        rows = made.sample(torch.arange(3).repeat(200), Seed(0).torch())
    for column, values in enumerate(VALUES):
        assert set(rows[:, column].tolist()) <= set(values)


@each_denoiser
@pytest.mark.parametrize("kind", [FeatureKind.CATEGORICAL, FeatureKind.COUNT])
def test_the_loss_is_a_number_and_so_are_its_gradients(config: DiTabDDPMConfig, kind: FeatureKind) -> None:
    made = process(kind, config)
    loss = made.loss(ROWS, torch.from_numpy(LABEL), Seed(0).torch())
    loss.backward()
    assert bool(loss.isfinite())
    for name, weight in made.network.named_parameters():
        assert weight.grad is not None, name
        assert bool(weight.grad.isfinite().all()), name


def test_the_loss_of_independent_columns_is_their_mean_surprise() -> None:
    """-log p(x0 | x_t), averaged over columns, over x_t and over a cosine schedule, which is enumerated here."""
    made = process()
    many = 4000
    with torch.no_grad():
        found = made.loss(ROWS.repeat(many, 1), torch.from_numpy(LABEL).repeat(many), Seed(0).torch())
    signals = np.cos((np.arange(400) + 0.5) / 400 * np.pi / 2) ** 2
    expected = 0.0
    for row, label in zip(ROWS.tolist(), LABEL.tolist(), strict=True):
        for column, values in enumerate(VALUES):
            prior, clean = share(label, column), values.index(row[column])
            for signal in signals:
                seen = signal * (np.arange(len(prior)) == clean) + (1 - signal) * prior
                expected -= sum(seen[k] * np.log(bayes(prior, k, signal)[clean]) for k in range(len(prior)))
    assert float(found) == pytest.approx(expected / (len(signals) * ROWS.numel()), rel=0.02)


def test_the_paper_sees_values_alone() -> None:
    """No base: with weights of zero all values of a column are equally likely, whatever their frequency."""
    made = process(config=PAPER)
    with torch.no_grad():
        for weight in made.network.parameters():
            weight.zero_()
    found = predicted(made, torch.zeros(1, 4, dtype=torch.long), 0.5, 0)[0]
    assert found.tolist() == [[0.5, 0.5, 0.0], pytest.approx([1 / 3] * 3), [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]


@each_denoiser
def test_every_value_enters_the_network(config: DiTabDDPMConfig) -> None:
    """A fast network has k - 1 inputs for k values, the paper's has k."""
    made = process(config=config)
    codes = torch.tensor([[1, 2, 0, 0]])
    expected = [1, -1, 1, -1] if config is FAST else [0, 1, 0, 0, 1, 1, 1, 0]
    assert made._bits(codes)[0].tolist() == expected


def test_pieces_of_wide_tables_fit_in_memory() -> None:
    wide = process(FeatureKind.BINARY, rows=BINARY.repeat(1, 1000))
    assert 16 <= wide.chunk < process(FeatureKind.BINARY, rows=BINARY).chunk
