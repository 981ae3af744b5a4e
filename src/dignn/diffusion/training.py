"""Training of a generator's network: warm-up and cosine, moving average of the weights, early stopping."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from dignn.core.errors import DignnError
from dignn.core.progress import Tick, silent
from dignn.core.threads import map_threads
from dignn.diffusion.learning_rate import Schedule
from dignn.diffusion.muon import optimizers_of
from dignn.diffusion.settings import TrainingConfig

# The moving average starts faster than it goes on, so that the first weights are soon forgotten.
_EMA_START = 10
# Points of a curve that are kept for the report.
_CURVE = 200

Curve = list[list[float]]  # pairs of a step and the loss there


@dataclass(frozen=True)
class TrainingReport:
    """What happened in training.

    Args:
        steps: gradient steps made.
        best_step: the step whose weights were kept.
        stopped_early: whether patience ran out before the planned number of steps.
        parameters: numbers in the network.
        curves: ``train`` and ``validation``: pairs of a step and the loss there.
    """

    steps: int
    best_step: int
    stopped_early: bool
    parameters: int
    curves: dict[str, Curve]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def train(
    network: nn.Module,
    shards: Callable[[int], Sequence[Callable[[], Tensor]]],
    validate: Callable[[], float] | None,
    config: TrainingConfig,
    *,
    steps: int,
    tick: Tick = silent,
) -> TrainingReport:
    """Trains ``network`` in place; afterwards it holds the best moving average and is in evaluation mode.

    Args:
        network: what is trained.
        shards: from the step's number to functions whose losses add up to the step's loss. Their gradients are
            computed side by side and added in order, so the result does not depend on the number of cores.
        validate: the loss on graphs that are not trained on; None trains to the end and keeps the last weights.
        config: rates and patience.
        steps: gradient steps.
        tick: progress.

    Raises:
        DignnError: if a loss is not a number.
    """
    parameters: list[Tensor] = [p for p in network.parameters() if p.requires_grad]
    optimizers = optimizers_of(network, config)
    groups = [(group, group["lr"]) for optimizer in optimizers for group in optimizer.param_groups]
    average = [p.detach().clone() for p in parameters]
    best, best_step, best_loss = average, 0, math.inf
    marked, marked_step = math.inf, 0  # the last loss that was clearly better
    curves: dict[str, Curve] = {"train": [], "validation": []}
    recent: list[float] = []
    step, schedule = 0, Schedule(config, steps)
    network.train()
    while step < schedule.end:
        for group, rate in groups:
            group["lr"] = rate * schedule.rate(step)
        loss = _gradients(parameters, shards(step))
        _refuse_no_number(loss, step + 1, steps, config)
        torch.nn.utils.clip_grad_norm_(parameters, config.clip)
        for optimizer in optimizers:
            optimizer.step()
        step += 1
        decay = min(config.ema, (1 + step) / (_EMA_START + step)) if config.ema else 0.0
        torch._foreach_lerp_(average, [p.detach() for p in parameters], 1 - decay)
        recent.append(loss)
        if step % max(1, steps // _CURVE) == 0 or step == schedule.end:
            curves["train"].append([step, _rounded(sum(recent) / len(recent))])
            recent = []
        if validate is None:
            best, best_step = average, step
        elif step % config.validate_every == 0 or step == schedule.end:
            found = _validate(network, parameters, average, validate)
            _refuse_no_number(found, step, steps, config)
            curves["validation"].append([step, _rounded(found)])
            if found < best_loss:
                best, best_step, best_loss = [a.clone() for a in average], step, found
            if found < marked - config.gain * abs(found):
                marked, marked_step = found, step
            elif step - marked_step >= config.patience * config.validate_every:
                schedule.shorten(step)
        tick(step, steps)
    tick(steps, steps)
    with torch.no_grad():
        torch._foreach_copy_(parameters, best)
    network.eval()
    return TrainingReport(step, best_step, step < steps, sum(p.numel() for p in parameters), curves)


def _refuse_no_number(loss: float, step: int, steps: int, config: TrainingConfig) -> None:
    if not math.isfinite(loss):
        raise DignnError(
            f"The loss became {loss} at step {step} of {steps}; choose a learning rate below {config.learning_rate:g}"
        )


def _gradients(parameters: list[Tensor], shards: Sequence[Callable[[], Tensor]]) -> float:
    """Leaves the gradient of the shards' sum in the parameters and returns that sum."""
    if len(shards) == 1:
        for parameter in parameters:
            parameter.grad = None
        loss = shards[0]()
        loss.backward()
        return float(loss.detach())

    def one(shard: Callable[[], Tensor]) -> tuple[float, tuple[Tensor, ...]]:
        loss = shard()
        return float(loss.detach()), torch.autograd.grad(loss, parameters, materialize_grads=True)

    losses, gradients = zip(*map_threads(one, shards), strict=True)
    for parameter, *parts in zip(parameters, *gradients, strict=True):
        parameter.grad = torch.stack(parts).sum(0)
    return float(sum(losses))


def _validate(
    network: nn.Module, parameters: list[Tensor], average: list[Tensor], validate: Callable[[], float]
) -> float:
    """The validation loss with the averaged weights; the trained ones come back afterwards."""
    kept = [p.detach().clone() for p in parameters]
    network.eval()
    with torch.no_grad():
        torch._foreach_copy_(parameters, average)
        loss = validate()
        torch._foreach_copy_(parameters, kept)
    network.train()
    return loss


def _rounded(loss: float) -> float:
    return float(f"{loss:.6g}")
