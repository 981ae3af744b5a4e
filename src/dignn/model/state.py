"""The state in which a model is asked: evaluation mode, nothing remembered of other graphs; all of it is put back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
import torch_geometric.nn
from torch import Tensor, nn

from dignn.core.errors import ModelMismatchError
from dignn.model.hooks import watched

# Attributes in which layers with ``cached=True`` keep what they computed for the graph they were trained on.
_CACHE = "_cached"
_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel, torch_geometric.nn.DataParallel)


def unwrapped(model: Any) -> Any:
    """The module inside ``torch.compile`` and (Distributed)DataParallel, which only decide how and where it runs."""
    while isinstance(model, nn.Module) and not (model._forward_hooks or model._forward_pre_hooks):
        if "torch._dynamo" in sys.modules and isinstance(model, torch._dynamo.OptimizedModule):
            model = model._orig_mod
        elif isinstance(model, _PARALLEL):
            model = model.module
        else:
            break
    return model


def modules_of(model: Any) -> list[nn.Module]:
    """The module that a model is, or those that a function is known to use: its own, bound or closed over."""
    if isinstance(model, nn.Module):
        return [model]
    if isinstance(model, partial):
        return [module for part in (model.func, *model.args, *model.keywords.values()) for module in modules_of(part)]
    held = [cell.cell_contents for cell in getattr(model, "__closure__", None) or () if _filled(cell)]
    named = [model.__globals__.get(name) for name in getattr(getattr(model, "__code__", None), "co_names", ())]
    known = (
        [getattr(model, "__self__", None), *held, *named, *vars(model).values()] if hasattr(model, "__dict__") else []
    )
    return [module for module in known if isinstance(module, nn.Module)]


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a variable of a function that has no value yet
        return False


@contextmanager
def asked(model: Any) -> Iterator[None]:
    """Inside, every module that runs is in evaluation mode and keeps no cache, also those that a function calls.

    Everything is put back afterwards, module by module.
    """
    undo: list[Callable[[], None]] = []
    seen: set[int] = set()

    def change(module: nn.Module, name: str, value: Any) -> None:
        undo.append(partial(setattr, module, name, getattr(module, name)))
        setattr(module, name, value)

    def settle(module: nn.Module, _inputs: tuple[Any, ...] = ()) -> None:
        for each in module.modules() if id(module) not in seen else ():
            if id(each) in seen:
                continue
            seen.add(id(each))
            if getattr(each, "training", False):  # frozen scripts do not have it
                change(each, "training", False)
            if getattr(each, "cached", False) is True:
                change(each, "cached", False)
                for name in [name for name in vars(each) if name.startswith(_CACHE)]:
                    change(each, name, None)

    for module in modules_of(model):
        settle(module)
    try:
        with ExitStack() as stack:
            stack.enter_context(watched(before=settle))
            if "torch._dynamo" in sys.modules:  # small graphs of every size would be compiled one by one
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            yield
    finally:
        for step in reversed(undo):
            step()


@contextmanager
def unchanged(model: Any) -> Iterator[None]:
    """Refuses a model that changes its own buffers (running statistics, averages, counters) when it is asked.

    They are put back, also those of modules that a function turns out to call.

    Raises:
        ModelMismatchError: a buffer changed.
    """
    kept: dict[int, tuple[nn.Module, str, Tensor]] = {}

    def note(module: nn.Module, _inputs: tuple[Any, ...] = ()) -> None:
        for each in module.modules():
            for name, value in each._buffers.items():
                if value is not None and id(value) not in kept:
                    kept[id(value)] = (each, name, value.detach().clone())

    for module in modules_of(model):
        note(module)
    changed = []
    try:
        with watched(before=note):
            yield
    finally:
        for module, name, before in kept.values():
            now = module._buffers.get(name)
            if now is None or now.shape != before.shape or not torch.equal(now, before):
                changed.append(f"{name} of {type(module).__name__}")
                with torch.no_grad():
                    module._buffers[name] = before if now is None or now.shape != before.shape else now.copy_(before)
    if changed:
        raise ModelMismatchError(
            f"The model changes itself when it is asked ({', '.join(dict.fromkeys(changed))}), so its answers depend "
            "on what was asked before; let that depend on self.training (what was changed is put back)"
        )
