"""The optimiser of matrices."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from dignn.core.errors import DignnError
from dignn.diffusion.muon import Muon, optimizers_of, orthogonalised
from dignn.diffusion.settings import TrainingConfig
from dignn.diffusion.training import train


def some(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(3, 24, 24), (2, 16, 40), (2, 40, 16)])
def test_singular_vectors_stay_and_singular_values_become_about_one(shape: tuple[int, ...]) -> None:
    matrices = some(*shape)
    left, _, right = torch.linalg.svd(matrices, full_matrices=False)
    found = orthogonalised(matrices)
    turned = left.transpose(1, 2) @ found @ right.transpose(1, 2)  # diagonal in the basis of the singular vectors
    values = turned.diagonal(dim1=1, dim2=2)
    assert float((turned - torch.diag_embed(values)).abs().max()) < 1e-3
    # The smallest singular values of a square matrix are near 0, and five rounds do not lift all of them.
    assert float(values.max()) < 1.3
    assert float(values.quantile(0.1)) > 0.6


def test_matrices_are_orthogonalised_together_as_alone_and_zeros_stay() -> None:
    matrices = torch.cat([some(2, 16, 24), torch.zeros(1, 16, 24)])
    alone = torch.cat([orthogonalised(one[None]) for one in matrices])
    torch.testing.assert_close(orthogonalised(matrices), alone, rtol=1e-4, atol=1e-5)
    assert not bool(alone[2].any())


def test_the_size_of_a_step_does_not_depend_on_the_gradient() -> None:
    steps = []
    for scale in (1e-6, 1.0, 1e6):
        weight = nn.Parameter(torch.zeros(32, 16))
        weight.grad = scale * some(32, 16)
        Muon([weight], lr=0.1).step()
        steps.append(weight.detach())
    torch.testing.assert_close(steps[0], steps[1], rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(steps[2], steps[1], rtol=1e-3, atol=1e-5)
    # Entries have about the root mean square .2 lr, as with AdamW.
    assert float(steps[1].square().mean().sqrt()) == pytest.approx(0.02, rel=0.3)


def test_each_matrix_has_a_momentum_of_its_own_though_some_have_no_gradient_now_and_then() -> None:
    present = [(True, True), (False, True), (True, False), (True, True)]  # by step and matrix
    together, alone = ([nn.Parameter(some(16, 24, seed=number)) for number in range(2)] for _ in range(2))
    optimizer, own = Muon(together, lr=0.1), [Muon([weight], lr=0.1) for weight in alone]
    for step, has in enumerate(present):
        for number, there in enumerate(has):
            gradient = some(16, 24, seed=10 + 2 * step + number) if there else None
            together[number].grad, alone[number].grad = gradient, None if gradient is None else gradient.clone()
            own[number].step()
        optimizer.step()
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_it_finds_the_minimum_of_a_convex_function_with_directions_of_very_different_steepness() -> None:
    scale = torch.logspace(0, -3, 16)
    wanted = some(16, 16, seed=1)
    weight = nn.Parameter(torch.zeros(16, 16))
    optimizer = Muon([weight], lr=0.2)
    for step in range(300):
        optimizer.param_groups[0]["lr"] = 0.2 * (1 - step / 300)
        weight.grad = scale[:, None] * (weight.detach() - wanted)
        optimizer.step()
    assert float((weight.detach() - wanted).abs().max()) < 0.05


def test_matrices_get_muon_and_the_rest_adamw() -> None:
    network = nn.Sequential(nn.Embedding(30, 20), nn.Linear(20, 32), nn.LayerNorm(32), nn.Linear(32, 4))
    muon, adamw = optimizers_of(network, TrainingConfig(optimizer="muon", matrix_rate=0.5, learning_rate=0.1))
    assert [tuple(weight.shape) for weight in muon.param_groups[0]["params"]] == [(32, 20)]
    assert muon.param_groups[0]["lr"] == 0.5
    others = [tuple(weight.shape) for weight in adamw.param_groups[0]["params"]]
    assert others == [(30, 20), (32,), (32,), (32,), (4, 32), (4,)]
    (alone,) = optimizers_of(network, TrainingConfig())
    assert len(alone.param_groups[0]["params"]) == 7


def test_same_start_same_bits() -> None:
    data, found = some(64, 16), []
    for _ in range(2):
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16))
        config = TrainingConfig(optimizer="muon", learning_rate=1e-2)
        report = train(
            network, lambda step, own=network: [lambda: (own(data) - data).square().mean()], None, config, steps=80
        )
        found.append(network[0].weight.detach())
    assert torch.equal(*found)
    assert report.curves["train"][-1][1] < 0.2 * report.curves["train"][0][1]


def test_an_optimiser_that_there_is_not_is_refused() -> None:
    with pytest.raises(DignnError, match="optimizer is 'sgd'"):
        TrainingConfig(optimizer="sgd")  # type: ignore[arg-type]
