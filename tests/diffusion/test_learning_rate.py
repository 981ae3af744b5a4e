"""How the learning rate goes."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import nn

from dignn.diffusion.learning_rate import Schedule
from dignn.diffusion.settings import TrainingConfig
from dignn.diffusion.training import train


def test_it_rises_stays_and_falls_to_zero() -> None:
    schedule = Schedule(TrainingConfig(warm_up=0.1, settle=0.4), 100)
    rates = [schedule.rate(step) for step in range(100)]
    assert rates[:10] == pytest.approx([(step + 1) / 11 for step in range(10)])
    assert set(rates[10:60]) == {1.0}
    assert all(later < earlier for earlier, later in pairwise(rates[60:]))
    assert rates[80] == pytest.approx(0.5)
    assert rates[-1] < 0.01


def test_without_settling_it_falls_from_the_warm_up_on() -> None:
    schedule = Schedule(TrainingConfig(warm_up=0.0), 100)
    assert [schedule.rate(step) for step in (0, 50)] == pytest.approx([1.0, 0.5])
    constant = Schedule(TrainingConfig(warm_up=0.0, cosine=False), 100)
    assert {constant.rate(step) for step in range(100)} == {1.0}


def test_a_fall_that_begins_early_takes_the_planned_share_of_all_steps() -> None:
    schedule = Schedule(TrainingConfig(warm_up=0.0, settle=0.5), 1000)
    schedule.shorten(100)
    assert schedule.end == 200
    assert [schedule.rate(step) for step in (99, 100, 150)] == pytest.approx([1.0, 1.0, 0.5])
    schedule.shorten(120)  # it falls already
    assert schedule.end == 200
    late = Schedule(TrainingConfig(settle=0.5), 1000)
    late.shorten(700)
    assert late.end == 1000
    at_once = Schedule(TrainingConfig(), 1000)
    at_once.shorten(100)
    assert at_once.end == 100


def test_training_settles_when_validation_gets_no_better() -> None:
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    losses = iter([3.0, 1.0] + [2.0] * 50)
    config = TrainingConfig(settle=0.5, validate_every=10, patience=2)
    report = train(
        model, lambda step: [lambda: model(torch.ones(1, 1)).square().sum()], lambda: next(losses), config, steps=1000
    )
    # The best look is at step 20; two looks later, at 40, the fall begins, and is as long again.
    assert (report.steps, report.best_step, report.stopped_early) == (80, 20, True)


def test_a_loss_that_falls_by_less_than_the_gain_is_no_better_one_but_its_weights_are_kept() -> None:
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    losses = iter([3.0, 1.0] + [0.99 - 0.001 * look for look in range(50)])
    config = TrainingConfig(settle=0.5, validate_every=10, gain=0.05, patience=2)
    report = train(
        model, lambda step: [lambda: model(torch.ones(1, 1)).square().sum()], lambda: next(losses), config, steps=1000
    )
    # Nothing after step 20 is better by a twentieth, so the fall begins at 40; the last weights are the best.
    assert (report.steps, report.best_step, report.stopped_early) == (80, 80, True)
