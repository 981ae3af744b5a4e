"""Devices: which one is meant, where a model is, and generators that come back to the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from dignn.core import devices
from dignn.core.devices import CPU, at_work, known_device, model_device, moved, on_cpu
from dignn.core.errors import DignnError, ModelMismatchError
from pretend_device import PRETEND, needs_pretend_device

THERE = torch.device(PRETEND)


@dataclass(frozen=True)
class Pair:
    one: Tensor
    other: tuple[Tensor, str]


class Holder:
    """A generator's process: a network beside tensors."""

    def __init__(self) -> None:
        self.network, self.pair, self.name = nn.Linear(2, 3), Pair(torch.ones(2), (torch.ones(1), "a")), "holder"

    def devices(self) -> set[torch.device]:
        return {self.network.weight.device, self.pair.one.device, self.pair.other[0].device}


# -- names --------------------------------------------------------------------------------------------


def test_a_name_means_a_device_and_auto_none() -> None:
    assert known_device("auto") is None
    assert known_device("cpu") == known_device(CPU) == CPU


@pytest.mark.parametrize("wrong", [0, None, "gpu", "cuda:x", ["cpu"]])
def test_what_is_no_device_is_refused(wrong: Any) -> None:
    with pytest.raises(DignnError, match="give 'auto', 'cpu', 'cuda' or a torch.device"):
        known_device(wrong)


@pytest.mark.parametrize("absent", ["cuda:99", "meta", torch.device("xpu", 99)])
def test_a_device_that_is_not_there_is_refused(absent: Any) -> None:
    with pytest.raises(DignnError, match=f"There is no device '{absent}' here"):
        known_device(absent)


# -- models and data ----------------------------------------------------------------------------------


def test_of_a_callable_nothing_is_known() -> None:
    assert model_device(lambda data: data) == CPU
    assert model_device(nn.ReLU()) == CPU


@needs_pretend_device
def test_a_model_is_where_its_weights_are_and_a_callable_where_one_says() -> None:
    assert model_device(nn.Linear(1, 1).to(PRETEND), "cpu") == THERE
    assert model_device(nn.Linear(1, 1), PRETEND) == CPU
    assert model_device(lambda data: data, PRETEND) == THERE
    counted = nn.BatchNorm1d(2).to(PRETEND)
    counted.num_batches_tracked = torch.tensor(0)
    assert model_device(counted) == THERE


@needs_pretend_device
def test_a_model_on_several_devices_needs_a_forward_of_its_own() -> None:
    model = nn.Sequential(nn.Linear(1, 1).to(PRETEND), nn.Linear(1, 1))
    with pytest.raises(ModelMismatchError, match=f"on several devices \\({PRETEND}, cpu\\); move them to one"):
        model_device(model)
    assert model_device(model, spread=True) == THERE
    assert model_device(model, "cpu", spread=True) == CPU


@needs_pretend_device
def test_data_comes_to_the_cpu_and_the_users_stays() -> None:
    data = Data(x=torch.ones(2, 1), edge_index=torch.zeros(2, 0, dtype=torch.long)).to(PRETEND)
    found = on_cpu(data)
    assert (found.x.device, data.x.device) == (CPU, THERE)
    assert [graph.x.device for graph in on_cpu([data, found])] == [CPU, CPU]
    assert on_cpu(found) is found
    several = [found]
    assert on_cpu(several) is several


# -- generators ---------------------------------------------------------------------------------------


@needs_pretend_device
def test_all_that_is_held_goes_to_work_and_comes_back() -> None:
    holder = Holder()
    with at_work(holder, holder.network, 1, PRETEND) as place:
        assert place == THERE
        assert holder.devices() == {THERE}
        assert holder.pair.other[1] == "a"
    assert holder.devices() == {CPU}
    with pytest.raises(KeyError), at_work(holder, holder.network, 1, PRETEND):
        raise KeyError
    assert holder.devices() == {CPU}


def test_what_stays_is_the_same_object() -> None:
    holder = Holder()
    pair = holder.pair
    assert moved(pair, CPU) is pair
    with at_work(holder, holder.network, 1, "cpu"):
        assert holder.pair is pair


@pytest.mark.parametrize(("rows", "there"), [(0, True), (-1, True), (0, False)])
def test_a_gpu_is_chosen_where_there_is_one_and_the_work_pays(
    rows: int, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = nn.Linear(9, 1)  # 10 weights
    places: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(devices, "_move", lambda owner, place: places.append(place))
    with at_work(network, network, devices.PAYS // 10 + rows, "auto"):
        pass
    assert places == [torch.device("cuda") if there and rows == 0 else CPU, CPU]
