"""Devices: where a model is asked, and where a generator learns and samples. What they give comes back to the CPU.

Random numbers are drawn on the CPU and moved, so that a seed means the same numbers everywhere; sums of floats still
differ from device to device in their last digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from dignn.core.errors import DignnError, ModelMismatchError

Device = Literal["auto"] | str | torch.device
"""The name of a device, or the choice by what is there and pays."""

Item = TypeVar("Item")

CPU = torch.device("cpu")
# Weights times rows of a batch from which on a GPU pays. A core learns from such a batch in about 20 milliseconds,
# several times what a GPU takes to start the few hundred kernels of a step, however small they are.
PAYS = 100_000_000


def known_device(device: Device) -> torch.device | None:
    """The device of that name; None where the choice is free.

    Raises:
        DignnError: it is no device, or there is none of that name.
    """
    if isinstance(device, str) and device == "auto":
        return None
    try:
        found = torch.device(device) if isinstance(device, (str, torch.device)) else None
    except RuntimeError:
        found = None
    if found is None:
        raise DignnError(f"device is {device!r}; give 'auto', 'cpu', 'cuda' or a torch.device")
    try:
        torch.zeros(1, device=found).cpu()
    except (AssertionError, RuntimeError, ImportError) as error:
        raise DignnError(f"There is no device '{found}' here; leave device='auto' or choose 'cpu'") from error
    return found


# -- a model to explain -------------------------------------------------------------------------------


def model_device(model: Any, device: Device = "auto", *, spread: bool = False) -> torch.device:
    """The device on which a model is asked: that of its weights, or ``device`` where it has none.

    Args:
        model: a module or any callable, of which nothing is known.
        device: where a model without weights is asked; by default the CPU.
        spread: whether the weights may be on several devices. It is asked on ``device`` then, or on that of the first.

    Raises:
        ModelMismatchError: weights are on several devices.
    """
    tensors: list[Tensor] = []
    if isinstance(model, nn.Module):  # a buffer that is a mere number may stay anywhere
        tensors = [*model.parameters(), *(buffer for buffer in model.buffers() if buffer.dim())]
    found = list(dict.fromkeys(tensor.device for tensor in tensors))
    if len(found) == 1:
        return found[0]
    if found and not spread:
        raise ModelMismatchError(
            f"The model's weights are on several devices ({', '.join(map(str, found))}); move them to one, or give "
            "forward=, a function of the model and the data that moves what it needs"
        )
    return known_device(device) or (found[0] if found else CPU)


def on_cpu(data: Any) -> Any:
    """Graphs of PyTorch Geometric, one or several, on the CPU; those given stay where they are."""
    if isinstance(data, (Data, HeteroData)):
        values = (value for store in data.stores for value in store.values() if isinstance(value, Tensor))
        return copy(data).cpu() if any(value.device != CPU for value in values) else data
    if not isinstance(data, (list, tuple)):
        return data
    found = [on_cpu(graph) for graph in data]
    return found if any(new is not old for new, old in zip(found, data, strict=True)) else data


# -- generators ---------------------------------------------------------------------------------------


@contextmanager
def at_work(owner: object, network: nn.Module, batch: int, device: Device) -> Iterator[torch.device]:
    """Inside, what a generator holds is on the device where it learns and samples; afterwards on the CPU again.

    Args:
        owner: the network itself, or an object that holds it beside tensors and dataclasses of tensors.
        network: whose weights decide.
        batch: rows of a batch that it learns from.
        device: "auto" for a GPU where there is one and the work is large enough to pay: weights times rows are
            at least :data:`PAYS`.
    """
    place = known_device(device)
    if place is None:
        pays = sum(parameter.numel() for parameter in network.parameters()) * batch >= PAYS
        place = torch.device("cuda") if pays and torch.cuda.is_available() else CPU
    try:
        _move(owner, place)
        yield place
    finally:
        _move(owner, CPU)


def moved(item: Item, device: torch.device) -> Item:
    """The same on a device: a tensor, a module (in place), a tuple or dataclass of such; all else stays as it is."""
    found: Any = item
    if isinstance(item, (Tensor, nn.Module)):
        found = item.to(device)
    elif isinstance(item, tuple):
        parts = [moved(part, device) for part in item]
        found = tuple(parts) if any(new is not old for new, old in zip(parts, item, strict=True)) else item
    elif is_dataclass(item) and not isinstance(item, type):
        held = {field.name: getattr(item, field.name) for field in fields(item) if field.init}
        changed = {name: new for name, part in held.items() if (new := moved(part, device)) is not part}
        found = replace(item, **changed) if changed else item
    return found


def _move(owner: object, device: torch.device) -> None:
    if isinstance(owner, nn.Module):
        owner.to(device)
        return
    for name, part in vars(owner).items():
        setattr(owner, name, moved(part, device))
