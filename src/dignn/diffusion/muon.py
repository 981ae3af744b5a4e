"""Muon: steepest descent of matrices in the spectral norm (Jordan et al., 2024; scaled as in Liu et al., 2025).

The momentum of a weight matrix is replaced by the nearest matrix whose singular values are all one, so that rare
directions are learned as fast as frequent ones. Networks of generators are small, so matrices of one shape are
orthogonalised together, and in float32, which CPUs are made for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from dignn.diffusion.settings import TrainingConfig

# Coefficients of the odd polynomial that draws singular values to about 1, and how often it is applied.
_POLYNOMIAL = (3.4445, -4.7750, 2.0315)
_ROUNDS = 5
# Matrices with a side below this are no maps between hidden values: AdamW has them.
LEAST_SIDE = 16
# Root mean square of an update's entries, as AdamW's are, so that one learning rate fits all shapes.
_SIZE = 0.2


def orthogonalised(matrices: Tensor) -> Tensor:
    """Matrices with the same singular vectors, and singular values between about .7 and 1.2.

    Args:
        matrices: (M, r, c) of one shape; a matrix of zeros stays.
    """
    a, b, c = _POLYNOMIAL
    wide = matrices if matrices.size(1) <= matrices.size(2) else matrices.transpose(1, 2)
    found = wide / wide.flatten(1).norm(dim=1).clamp_min(1e-12)[:, None, None]
    for _ in range(_ROUNDS):
        square = found @ found.transpose(1, 2)
        found = torch.baddbmm(found, torch.baddbmm(square, square, square, beta=b, alpha=c), found, beta=a)
    return found if wide is matrices else found.transpose(1, 2)


class Muon(torch.optim.Optimizer):
    """Momentum (Nesterov's) of matrices, orthogonalised.

    Args:
        parameters: matrices.
        lr: learning rate; root mean square of a step's entries in fifths.
        momentum: decay of the moving average of gradients.
        weight_decay: decoupled, as AdamW's.
    """

    def __init__(
        self, parameters: Iterable[Tensor], lr: float = 0.02, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One step along the gradients that are there."""
        for group in self.param_groups:
            shapes: dict[torch.Size, list[Tensor]] = {}
            for weight in group["params"]:
                if weight.grad is not None:
                    shapes.setdefault(weight.shape, []).append(weight)
            for weights in shapes.values():
                self._step(weights, **{name: group[name] for name in ("lr", "momentum", "weight_decay")})

    def _step(self, weights: list[Tensor], lr: float, momentum: float, weight_decay: float) -> None:
        """The step of matrices of one shape."""
        gradients = torch.stack([weight.grad for weight in weights if weight.grad is not None])
        averages = [self._average(weight) for weight in weights]
        average = torch.stack(averages).lerp_(gradients, 1 - momentum)
        torch._foreach_copy_(averages, list(average.unbind(0)))
        rows, columns = gradients.shape[1:]
        update = orthogonalised(gradients.lerp_(average, momentum)) * (_SIZE * max(rows, columns) ** 0.5)
        torch._foreach_mul_(weights, 1 - lr * weight_decay)
        torch._foreach_add_(weights, list(update.unbind(0)), alpha=-lr)

    def _average(self, weight: Tensor) -> Tensor:
        """The moving average of a matrix's gradients, its own, so that others may lack a gradient now and then."""
        state = self.state[weight]
        if "average" not in state:
            state["average"] = torch.zeros_like(weight)
        found: Tensor = state["average"]
        return found


def optimizers_of(network: nn.Module, config: TrainingConfig) -> list[torch.optim.Optimizer]:
    """What trains a network: AdamW, or Muon for its matrices and AdamW for vectors, embeddings and narrow matrices."""
    held = {weight for part in network.modules() if isinstance(part, nn.Embedding) for weight in part.parameters()}
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    matrices = [w for w in weights if w.dim() == 2 and min(w.shape) >= LEAST_SIDE and w not in held]
    if config.optimizer == "adamw":
        matrices = []
    chosen = set(matrices)
    others = [weight for weight in weights if weight not in chosen]
    found: list[torch.optim.Optimizer] = []
    if matrices:
        found.append(Muon(matrices, config.matrix_rate, weight_decay=config.weight_decay))
    if others:
        found.append(
            torch.optim.AdamW(
                others, lr=config.learning_rate, betas=(0.9, 0.99), weight_decay=config.weight_decay, fused=True
            )
        )
    return found
