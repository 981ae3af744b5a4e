"""Absorbing rows on a table of four columns, where every set of columns and every order can be listed."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor, nn

from dignn.core.seeds import Seed
from dignn.features.ditabddpm.absorbing_rows import AbsorbingRows
from dignn.features.settings import DiTabDDPMConfig
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from plain_frequencies import plain_frequencies

UNLIKELY = 1e-3
COLUMNS = 4
CONFIG = DiTabDDPMConfig(noise="absorbing", width=16, blocks=1, emphasis=0.0)
# Rows and how often each counts; the first five of class 0, others of class 1.
ROWS = torch.tensor(
    [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [1, 0, 1, 1]]
).float()
LABEL = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1])
WEIGHT = torch.tensor([3.0, 2.0, 1.0, 1.0, 3.0, 1.0, 2.0, 1.0])
LABELS = {"first": 0, "second": 1, "none": 2}
each_label = pytest.mark.parametrize("label", LABELS.values(), ids=LABELS.keys())


def table(rows: Tensor = ROWS) -> Table:
    spec = FeatureSpec(FeatureKind.BINARY, rows.size(1))
    return Table.of(rows, torch.eye(2)[LABEL], spec, WEIGHT)


def process(*, trained: bool, config: DiTabDDPMConfig = CONFIG, rows: Tensor = ROWS) -> AbsorbingRows:
    """With a network that says nothing, or one with random opinions about everything."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made = AbsorbingRows.of(table(rows), config)
        if trained:
            nn.init.normal_(made.network.out.weight, std=0.5)
    made.learn_frequencies(table(rows))
    made.network.eval()
    return made


def part_of(label: int) -> np.ndarray:
    """What each row counts in a label."""
    own = WEIGHT.double().numpy()
    return own if label == 2 else own * (LABEL.numpy() == label)


def frequencies(label: int, rows: Tensor = ROWS, *, of_others: bool = False) -> np.ndarray:
    """Of the columns among a label's entries, counted in all rows or in all but one that has the column.  (4,)"""
    return plain_frequencies(rows.numpy(), LABEL.numpy(), WEIGHT.double().numpy())[of_others][label]


def next_entry(
    made: AbsorbingRows, label: int, count: int, shown: tuple[int, ...], own: tuple[int, ...] = ()
) -> np.ndarray:
    """Probabilities of the next column of a row with ``count`` columns of which some are shown.  (4,)

    ``own``: columns of a row that is learned from, which are foreseen by other rows.
    """
    weight = made.network.column.weight
    summed = torch.stack([weight[column] for column in shown]).sum(0) if shown else torch.zeros(weight.size(1))
    with torch.no_grad():
        said = made.network(summed[None], torch.tensor([len(shown)]), torch.tensor([count]), torch.tensor([label]))[0]
    base = frequencies(label)
    base[list(own)] = frequencies(label, of_others=True)[list(own)]
    chance = base * (said.double() * (1 + made.binding)).exp().numpy()
    chance[list(shown)] = 0.0
    return chance / chance.sum()


def in_order(made: AbsorbingRows, label: int, order: tuple[int, ...], own: tuple[int, ...] = ()) -> float:
    """Probability that a row's columns are drawn in this order, given their number."""
    steps = [next_entry(made, label, len(order), order[:place], own)[column] for place, column in enumerate(order)]
    return math.prod(steps)


def chances(made: AbsorbingRows, label: int) -> dict[tuple[int, ...], float]:
    """The probability of every set of columns."""
    number = np.bincount(ROWS.sum(1).long().numpy(), weights=part_of(label), minlength=COLUMNS + 1)
    return {
        chosen: number[size] / number.sum() * sum(in_order(made, label, order) for order in permutations(chosen))
        for size in range(COLUMNS + 1)
        if number[size]
        for chosen in combinations(range(COLUMNS), size)
    }


# -- the distribution ---------------------------------------------------------------------------------


@each_label
@pytest.mark.parametrize("trained", [False, True])
def test_probabilities_of_all_sets_sum_to_one(label: int, trained: bool) -> None:
    assert sum(chances(process(trained=trained), label).values()) == pytest.approx(1)


@each_label
@pytest.mark.parametrize(("trained", "binding"), [(False, 0.0), (True, 0.0), (True, 0.4)])
def test_sets_are_drawn_with_the_probability_that_the_network_gives(label: int, trained: bool, binding: float) -> None:
    """Untrained, these are draws without replacement from the frequencies of the class."""
    made = process(trained=trained)
    made.binding = binding
    with torch.no_grad():
        rows = made.sample(torch.full((20_000,), label), Seed(label).torch())
    expected = chances(made, label)
    place = {chosen: number for number, chosen in enumerate(expected)}
    counts = np.zeros(len(place))
    for row, number in zip(*rows.unique(dim=0, return_counts=True), strict=True):
        counts[place[tuple(row.nonzero()[:, 0].tolist())]] = number
    assert chisquare(counts, np.array(list(expected.values())) * len(rows)).pvalue > UNLIKELY


@each_label
def test_numbers_of_entries_are_those_of_the_label_and_spread_evenly(label: int) -> None:
    number = np.bincount(ROWS.sum(1).long().numpy(), weights=part_of(label), minlength=COLUMNS + 1)
    labels = torch.randint(3, (3000,), generator=Seed(0).torch())
    with torch.no_grad():
        rows = process(trained=True).sample(labels, Seed(1).torch())[labels == label]
    found = np.bincount(rows.sum(1).long().numpy(), minlength=COLUMNS + 1)
    assert np.abs(found - number / number.sum() * len(rows)).max() <= 2


def test_emphasis_moves_a_class_away_from_all_rows() -> None:
    """Rows of one entry: p is proportional to (frequency in the class)^1.5 / (frequency everywhere)^0.5."""
    rows = torch.eye(COLUMNS)[[0, 0, 1, 2, 0, 3, 2, 3]]
    made = process(trained=False, rows=rows, config=DiTabDDPMConfig(noise="absorbing", width=16, emphasis=0.5))
    own, everywhere = (frequencies(label, rows) for label in (1, 2))
    expected = own * (own / everywhere) ** 0.5
    with torch.no_grad():
        found = made.sample(torch.ones(20_000, dtype=torch.long), Seed(0).torch()).sum(0).numpy()
        plain = made.sample(torch.full((20_000,), 2), Seed(0).torch()).sum(0).numpy()
    assert chisquare(found, expected / expected.sum() * 20_000).pvalue > UNLIKELY
    assert chisquare(plain, everywhere * 20_000).pvalue > UNLIKELY


# -- the loss -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("trained", [False, True])
def test_the_loss_is_the_mean_surprise_over_all_orders(trained: bool) -> None:
    """Sum over a row's entries of -log p, averaged over all orders of revealing them, per entry of the batch."""
    made = process(trained=trained)
    rows, label = ROWS[ROWS.any(1)], LABEL[ROWS.any(1)]
    surprise = 0.0
    for row, own in zip(rows, label.tolist(), strict=True):
        orders = list(permutations(row.nonzero()[:, 0].tolist()))
        surprise -= sum(math.log(in_order(made, own, order, order)) for order in orders) / len(orders)
    many = 3000
    with torch.no_grad():
        found = made.loss(rows.repeat(many, 1), label.repeat(many), Seed(0).torch())
    assert float(found) == pytest.approx(surprise / float(rows.sum()), rel=0.01)


def test_the_loss_bounds_the_surprise_at_a_set() -> None:
    """The mean over orders of -log p(order) is at least -log p(set) - log(orders)."""
    made = process(trained=True)
    row, orders = ROWS[3:4], list(permutations((1, 2, 3)))
    with torch.no_grad():
        found = 3 * float(made.loss(row.repeat(3000, 1), torch.zeros(3000, dtype=torch.long), Seed(0).torch()))
    together = sum(in_order(made, 0, order, order) for order in orders)
    assert found > -math.log(together / len(orders))


def test_gradients_are_numbers_also_where_all_but_one_column_is_shown() -> None:
    made = process(trained=True)
    made.loss(ROWS[3:4].repeat(50, 1), torch.zeros(50, dtype=torch.long), Seed(0).torch()).backward()
    for name, weight in made.network.named_parameters():
        assert weight.grad is not None, name
        assert bool(weight.grad.isfinite().all()), name
    assert bool(made.network.column.weight.grad.any())  # type: ignore[union-attr]


# -- calibration --------------------------------------------------------------------------------------


def error_of_frequencies(made: AbsorbingRows) -> float:
    """How far the columns of generated rows are from the data's, at most."""
    _, label = table().draw_batch(20_000, Seed(7).torch(), nameless=0.0)
    with torch.no_grad():
        found = made.sample(label, Seed(8).torch()).mean(0)
    return float((found - WEIGHT @ ROWS / WEIGHT.sum()).abs().max())


def test_calibration_mends_a_network_that_prefers_a_column() -> None:
    made = process(trained=False)
    with torch.no_grad():
        made.network.out.bias.copy_(torch.tensor([1.0, -1.0, 0.0, 0.5]))
    errors = [error_of_frequencies(made)]
    for seed in range(4):
        made.calibrate(table(), Seed(seed).torch())
        errors.append(error_of_frequencies(made))
    assert errors[0] > 0.1
    assert errors[1] < errors[0] / 2
    assert errors[-1] < 0.01


# -- columns that are not drawn -----------------------------------------------------------------------


def test_columns_of_all_rows_stay_and_columns_of_no_row_never_come() -> None:
    """Even where the network thinks otherwise."""
    rows = torch.cat([ROWS, torch.ones(len(ROWS), 1), torch.zeros(len(ROWS), 1)], dim=1)
    made = process(trained=True, rows=rows)
    with torch.no_grad():
        made.network.out.bias.copy_(torch.tensor([0.0, 0.0, 0.0, 0.0, -50.0, 50.0]))
        found = made.sample(torch.arange(3).repeat(500), Seed(0).torch())
    assert bool((found[:, 4] == 1).all())
    assert not bool(found[:, 5].any())
    assert set(found[:, :4].sum(1).tolist()) == {0, 1, 2, 3}


def test_rows_without_an_entry_have_nothing_to_learn() -> None:
    assert torch.equal(process(trained=False).learnable(table()).rows, ROWS[ROWS.any(1)])
    nothing = torch.zeros_like(ROWS)
    assert not len(process(trained=False, rows=nothing).learnable(table(nothing)))
    alike = torch.ones_like(ROWS)
    made = process(trained=False, rows=alike)
    assert not len(made.learnable(table(alike)))
    with torch.no_grad():
        assert torch.equal(made.sample(torch.arange(3), Seed(0).torch()), torch.ones(3, COLUMNS))


def test_classes_that_differ_borrow_little_and_classes_that_do_not_borrow_much() -> None:
    generator = Seed(0).torch()
    label = torch.arange(400) % 2
    spec = FeatureSpec(FeatureKind.BINARY, 40)
    shared = torch.full((400, 40), 0.1)
    apart = torch.where((torch.arange(40) < 20) == (label[:, None] == 0), 0.19, 0.01)
    bases = []
    for chance in (shared, apart):
        rows = (torch.rand(400, 40, generator=generator) < chance).float()
        made = AbsorbingRows.of(Table.of(rows, torch.eye(2)[label], spec), CONFIG)
        made.learn_frequencies(Table.of(rows, torch.eye(2)[label], spec))
        bases.append((made._base[0] - made._base[1]).abs().mean())
    assert bases[0] < 0.15  # what differs in the sample by chance is not taken for a difference of the classes
    assert bases[1] > 1.5
