"""A pretend device: tensors that say they are on a device of their own, over data of the CPU.

It finds what only a GPU would find otherwise: a tensor made on the wrong device, a result that does not come back, a
random number drawn where it may not be. Every operation runs on the CPU and gives the CPU's numbers; one that mixes
devices is refused as CUDA refuses it, and so is one that draws random numbers, because dignn draws them on the CPU
wherever it computes.

Torch reserves a name for devices of others (PrivateUse1). Tensors are a subclass that reports this device, so that
operations on them arrive in :meth:`PretendTensor.__torch_dispatch__`; functions that make tensors out of nothing have
kernels of their own. The device is there from the import of this file on: torch counts devices at the first backward
pass of a process, and never again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils import backend_registration

NAME = "pretend"
PRETEND = f"{NAME}:0"

_aten = torch.ops.aten
# Operations whose indices may be on the CPU while the indexed tensor is on a GPU; they are the second argument.
_INDEXING = {_aten.index, _aten.index_put, _aten.index_put_, _aten._index_put_impl_, _aten._unsafe_index}
# Operations that carry values from one device to another.
_CARRYING = {_aten.copy_, _aten._to_copy, _aten._copy_from}
# Operations that torch composes of others, with other last digits, unless a device has a kernel of its own.
_COMPOSED = ("silu_backward", "mish_backward")
# Factories that cannot be looked up or are of no use here.
_UNKNOWN = ("sparse", "quantized", "cudnn", "mkldnn", "nested", "from_file")


class PretendTensor(torch.Tensor):
    """A tensor of the pretend device; ``inside`` are its values, on the CPU."""

    inside: torch.Tensor

    @staticmethod
    def __new__(cls, inside: torch.Tensor) -> PretendTensor:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            inside.size(),
            strides=inside.stride(),
            storage_offset=inside.storage_offset(),
            dtype=inside.dtype,
            device=torch.device(PRETEND),
        )
        made.inside = inside
        return made

    def __repr__(self) -> str:
        return f"PretendTensor({self.inside})"

    def tolist(self) -> Any:
        """Torch knows it for its own tensors only."""
        return self.cpu().tolist()

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


def _run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The operation on the values inside; what it makes is of the pretend device, unless the CPU is asked for."""
    written = _written(func)
    if func.overloadpacket not in _CARRYING:
        _refuse_mixed(func, written, args, kwargs)
    known: dict[int, PretendTensor] = {}

    def inner(given: torch.Tensor) -> torch.Tensor:
        if not isinstance(given, PretendTensor):
            return given
        known[id(given.inside)] = given
        return given.inside

    args = _mapped(inner, args)
    kwargs = {name: _mapped(inner, value) for name, value in kwargs.items()}
    asked = kwargs.get("device")
    if asked is not None:
        kwargs["device"] = torch.device("cpu")
    if kwargs.get("pin_memory"):
        kwargs["pin_memory"] = None
    made = func(*args, **kwargs)
    for given in known.values():
        if given.inside.shape != given.shape:
            raise RuntimeError(f"{func} changes a shape in place, which the pretend device does not do")
    if asked is not None and torch.device(asked).type == "cpu":
        return _mapped(lambda values: values.clone() if id(values) in known else values, made)
    return _mapped(lambda values: known[id(values)] if id(values) in known else PretendTensor(values), made)


def _mapped(change: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    """What an operation takes or gives, with ``change`` of every tensor in it."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)([_mapped(change, each) for each in value])
    return value


@cache
def _written(func: Any) -> dict[str, bool]:
    """By the names of its arguments, in their order, whether an operation writes into them.

    Raises:
        RuntimeError: it draws random numbers.
    """
    if torch.Tag.nondeterministic_seeded in func.tags:
        raise RuntimeError(f"{func} draws random numbers on the device {NAME}; draw them on the CPU and move them")
    told = ((argument.name, argument.alias_info) for argument in func._schema.arguments)
    return {name: alias is not None and alias.is_write for name, alias in told}


def _refuse_mixed(func: Any, written: dict[str, bool], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """As CUDA: one device for all, but for indices and for numbers (tensors without dimensions) of the CPU."""
    if func.overloadpacket in _INDEXING and isinstance(args[0], PretendTensor):
        args = (args[0], None, *args[2:])
    for name, given in (*zip(written, args, strict=False), *kwargs.items()):
        for values in given if type(given) in (list, tuple) else (given,):
            apart = isinstance(values, torch.Tensor) and not isinstance(values, PretendTensor)
            if apart and (written[name] or values.dim()):
                raise RuntimeError(
                    f"Expected all tensors to be on the same device, but found at least two devices, {PRETEND} and "
                    f"{values.device}! (when checking argument {name} of {func})"
                )


# -- the device -------------------------------------------------------------------------------------------


def _factories() -> Iterator[tuple[str, Any]]:
    """Operations that make a tensor out of nothing but numbers, on a device."""
    for name in torch._C._dispatch_get_all_op_names():
        room, _, rest = name.partition("::")
        if room != "aten" or any(part in name for part in _UNKNOWN):
            continue
        packet, _, overload = rest.partition(".")
        with contextlib.suppress(AttributeError, RuntimeError):
            func = getattr(getattr(_aten, packet), overload or "default")
            kinds = {argument.name: str(argument.type) for argument in func._schema.arguments}
            if "device" in kinds and not any("Tensor" in kind for kind in kinds.values()):
                yield rest, func


def _kernel(func: Any) -> Callable[..., Any]:
    """Torch leaves out what is None, so a factory's device is given here."""
    made = {"device": torch.device(PRETEND)} if any(given.name == "device" for given in func._schema.arguments) else {}
    return lambda *args, **kwargs: _run(func, args, {**kwargs, **made})


def _copy_from(given: torch.Tensor, into: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """What ``torch.tensor(..., device=...)`` copies by."""
    return _run(_aten.copy_.default, (into, given, non_blocking), {})


def _module() -> Any:
    """What torch asks of a device: there is one, and no random numbers are drawn there."""
    known = {
        "is_initialized": lambda: True,
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "_is_in_bad_fork": lambda: False,
        "manual_seed_all": lambda seed: None,
        "get_rng_state": lambda device=0: torch.empty(0, dtype=torch.uint8),
        "set_rng_state": lambda state, device=0: None,
    }
    module = ModuleType(f"torch.{NAME}")
    vars(module).update(known)
    return module


def _register() -> torch.library.Library | None:
    """Makes the device known to torch; None where this torch cannot."""
    set_up = getattr(backend_registration, "_setup_privateuseone_for_python_backend", None)
    if set_up is None:
        return None
    set_up(NAME, backend_module=_module())
    kernels = torch.library.Library("aten", "IMPL")
    for name, func in _factories():
        kernels.impl(name, _kernel(func), "PrivateUse1")
    kernels.impl("_copy_from", _copy_from, "PrivateUse1")
    for name in _COMPOSED:
        kernels.impl(name, _kernel(getattr(_aten, name).default), "PrivateUse1")
    return kernels


_KERNELS = _register()  # kernels live as long as this object
needs_pretend_device = pytest.mark.skipif(
    _KERNELS is None, reason="this torch cannot set up a device in Python (PrivateUse1); 2.11 and later can"
)


# -- tests on a device ------------------------------------------------------------------------------------

on_every_device = pytest.mark.parametrize(
    "device",
    [
        pytest.param(PRETEND, marks=needs_pretend_device),
        pytest.param(
            "cuda",
            marks=pytest.mark.skipif(
                not torch.cuda.is_available(), reason="needs a GPU, and torch.cuda.is_available() says there is none"
            ),
        ),
    ],
)
# Two results of a GPU and the CPU are the same up to this; a draw that falls on the other side of a bound is another
# one, so a few of many numbers may differ by more.
_CLOSE, _FEW = 1e-2, 0.1


def same(here: torch.Tensor, there: torch.Tensor, device: str) -> bool:
    """Whether a result of a device has come back and is that of the CPU; of the pretend device, bit for bit."""
    if there.device.type != "cpu" or here.shape != there.shape or here.dtype != there.dtype:
        return False
    if device == PRETEND or not here.numel():
        return torch.equal(here, there)
    away = ~torch.isclose(here.double(), there.double(), atol=_CLOSE, rtol=_CLOSE)
    return float(away.double().mean()) <= _FEW
