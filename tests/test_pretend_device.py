"""The pretend device does what tests on it rely on: it computes as the CPU does, and refuses what CUDA refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from pretend_device import NAME, PRETEND, needs_pretend_device

pytestmark = needs_pretend_device

VALUES = torch.arange(6.0).view(2, 3)


@pytest.fixture
def values() -> Tensor:
    return VALUES.to(PRETEND)


def test_tensors_say_where_they_are_and_come_back(values: Tensor) -> None:
    assert values.device == torch.device(PRETEND)
    assert (values + 1).device.type == NAME
    back = values.cpu()
    assert type(back) is Tensor
    assert torch.equal(back, VALUES)
    assert values.tolist() == VALUES.tolist()
    assert (values[1, 2].item(), float(values.sum()), bool(values[0, 0] == 0), len(values)) == (5.0, 15.0, True, 2)
    with pytest.raises(RuntimeError, match="numpy"):
        values.numpy()


@pytest.mark.parametrize(
    "make",
    [
        lambda device: torch.zeros(2, 3, device=device),
        lambda device: torch.full((2,), True, device=device),
        lambda device: torch.arange(5, device=device),
        lambda device: torch.eye(2, dtype=torch.bool, device=device),
        lambda device: torch.linspace(0, 1, 3, device=device),
        lambda device: torch.triu_indices(3, 3, 1, device=device),
        lambda device: torch.tensor([[1, 2], [3, 4]], device=device),
        lambda device: torch.ones_like(VALUES, device=device),
        lambda device: VALUES.to(device).new_zeros(2),
    ],
)
def test_tensors_are_made_there(make: Callable[[str], Tensor]) -> None:
    made = make(PRETEND)
    assert made.device.type == NAME
    assert torch.equal(made.cpu(), make("cpu"))


def test_masks_indices_and_changes_in_place(values: Tensor) -> None:
    def change(some: Tensor) -> Tensor:
        some = some.clone()
        some[some > 3] = -1.0
        some[:, 0] += some[0, torch.tensor([1], device=some.device)]
        row = some[1]  # a view
        row.mul_(2)
        return torch.cat([some, some[some[:, 0] > 1]])

    assert torch.equal(change(values).cpu(), change(VALUES))


@pytest.mark.parametrize(
    "mix",
    [
        lambda there: there + VALUES,
        lambda there: VALUES + there,
        lambda there: torch.cat([there, VALUES]),
        lambda there: VALUES[torch.zeros(1, dtype=torch.long, device=PRETEND)],
        lambda there: there.gather(1, torch.zeros(2, 1, dtype=torch.long)),
        lambda there: there.masked_fill(VALUES > 2, 0.0),
        lambda there: there.index_put((torch.tensor([0]),), VALUES[:1]),
        lambda there: torch.zeros(()).add_(there.sum()),
        lambda there: nn.Linear(3, 2)(there),
    ],
)
def test_devices_are_not_mixed(mix: Callable[[Tensor], Any], values: Tensor) -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        mix(values)


def test_numbers_and_indices_may_be_on_the_cpu_as_with_cuda(values: Tensor) -> None:
    assert torch.equal((values * torch.tensor(2.0)).cpu(), VALUES * 2)
    assert torch.equal(values[torch.tensor([1])].cpu(), VALUES[1:])
    assert torch.equal(values[torch.tensor([False, True])].cpu(), VALUES[1:])


@pytest.mark.parametrize(
    "draw",
    [
        lambda there: torch.rand(3, device=PRETEND),
        lambda there: torch.randn(3, generator=torch.Generator(), device=PRETEND),
        lambda there: torch.rand_like(there),
        lambda there: there.clone().bernoulli_(0.5),
        lambda there: nn.functional.dropout(there, 0.5),
    ],
)
def test_random_numbers_are_not_drawn_there(draw: Callable[[Tensor], Any], values: Tensor) -> None:
    with pytest.raises(RuntimeError, match="draw them on the CPU"):
        draw(values)


class Convolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(4, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv(x, edge_index)


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.SiLU(), nn.Linear(8, 3))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.layers(x)


@pytest.mark.parametrize("flags", [{"fused": True}, {"foreach": True}, {}], ids=str)
@pytest.mark.parametrize("network", [Perceptron, Convolution])
def test_networks_learn_there_bit_for_bit(network: type[nn.Module], flags: dict[str, bool]) -> None:
    def learned(device: str) -> list[Tensor]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = network().to(device)
            x, edges, label = torch.randn(10, 4), torch.randint(10, (2, 30)), torch.randint(3, (10,))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, **flags)
        for _ in range(3):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(device), edges.to(device)), label.to(device))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
        assert {weight.device.type for weight in model.parameters()} == {torch.device(device).type}
        return [weight.detach().cpu() for weight in model.parameters()]

    for here, there in zip(learned("cpu"), learned(PRETEND), strict=True):
        assert torch.equal(here, there)
