"""The training loop of generators."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from dignn.core.errors import DignnError
from dignn.diffusion.settings import TrainingConfig
from dignn.diffusion.training import train

X = torch.linspace(-1, 1, 64)[:, None]
Y = 3 * X + 1


def network() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(1, 1)


def part(model: nn.Module, rows: slice) -> Tensor:
    return ((model(X[rows]) - Y[rows]) ** 2).sum() / len(X)


def test_it_learns_and_keeps_curves() -> None:
    model = network()
    config = TrainingConfig(learning_rate=0.05, validate_every=100, weight_decay=0.0)
    report = train(model, lambda step: [lambda: part(model, slice(None))], lambda: 0.0, config, steps=400)
    assert float(model.weight) == pytest.approx(3, abs=0.05)
    assert not model.training
    assert report.parameters == 2
    assert len(report.curves["train"]) == 200
    assert [step for step, _ in report.curves["validation"]] == [100, 200, 300, 400]
    assert report.curves["train"][-1][1] < 0.01 * report.curves["train"][0][1]


def test_shards_give_the_gradient_of_their_sum() -> None:
    config = TrainingConfig(learning_rate=0.05)
    whole, shared = network(), network()
    train(whole, lambda step: [lambda: part(whole, slice(None))], None, config, steps=30)
    shards = [slice(0, 10), slice(10, 40), slice(40, 64)]
    train(shared, lambda step: [lambda s=s: part(shared, s) for s in shards], None, config, steps=30)
    torch.testing.assert_close(whole.weight, shared.weight, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(whole.bias, shared.bias, rtol=1e-4, atol=1e-5)


def test_the_moving_average_is_what_validates_and_what_remains() -> None:
    model = network()
    raw: list[float] = []
    seen: list[float] = []

    def loss() -> Tensor:
        raw.append(float(model.weight))
        return part(model, slice(None))

    def validate() -> float:
        seen.append(float(model.weight))
        return -float(len(seen))  # better every time

    config = TrainingConfig(learning_rate=0.5, warm_up=0.0, cosine=False, ema=0.9, validate_every=1)
    train(model, lambda step: [loss], validate, config, steps=20)
    average = raw[0]
    for step, value in enumerate(raw[1:], start=1):
        decay = min(0.9, (1 + step) / (10 + step))
        average = decay * average + (1 - decay) * value
        assert seen[step - 1] == pytest.approx(average, rel=1e-4)
    assert float(model.weight.detach()) == pytest.approx(seen[-1])


def test_training_stops_when_validation_gets_no_better_and_the_best_weights_come_back() -> None:
    model = network()
    losses = iter([3.0, 1.0, 2.0, 2.0, 2.0, 0.0])
    at_best: list[float] = []

    def validate() -> float:
        loss = next(losses)
        if loss == 1.0:
            at_best.append(float(model.weight))
        return loss

    config = TrainingConfig(learning_rate=0.05, validate_every=5, patience=3)
    report = train(model, lambda step: [lambda: part(model, slice(None))], validate, config, steps=500)
    assert (report.steps, report.best_step, report.stopped_early) == (25, 10, True)
    assert float(model.weight.detach()) == at_best[0]


def test_progress_ends_at_its_total_also_when_training_stops_early() -> None:
    ticks: list[tuple[int, int]] = []
    model = network()
    config = TrainingConfig(validate_every=1, patience=1)
    report = train(
        model,
        lambda step: [lambda: part(model, slice(None))],
        lambda: 1.0,
        config,
        steps=50,
        tick=lambda done, total: ticks.append((done, total)),
    )
    assert report.stopped_early
    assert ticks[-1] == (50, 50)


def test_a_loss_that_is_no_number_says_what_to_do() -> None:
    model = network()
    with pytest.raises(DignnError, match="The loss became nan at step 1 of 9; choose a learning rate below 0.003"):
        train(model, lambda step: [lambda: part(model, slice(None)) * torch.nan], None, TrainingConfig(), steps=9)


def test_a_validation_loss_that_is_no_number_is_refused_too() -> None:
    model = network()
    config = TrainingConfig(validate_every=3)
    with pytest.raises(DignnError, match="The loss became nan at step 3 of 9"):
        train(model, lambda step: [lambda: part(model, slice(None))], lambda: float("nan"), config, steps=9)


def test_epochs_are_passes_over_the_graphs() -> None:
    assert TrainingConfig(steps=7).steps_for(100, 30) == 7
    assert TrainingConfig(epochs=3).steps_for(100, 30) == 12


@pytest.mark.parametrize(
    "settings", [{"steps": 0}, {"epochs": 0}, {"ema": 1.0}, {"learning_rate": 0.0}, {"clip": 0.0}, {"patience": 0}]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(DignnError, match=next(iter(settings))):
        TrainingConfig(**settings)
