"""What torch does where nothing is said: dtype, device, gradients. The library's results must not depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Self

import torch


@dataclass(frozen=True)
class TorchDefaults:
    """Where and as what torch makes tensors of which nothing is said.

    Args:
        dtype: of floating-point tensors.
        device: where they are.
    """

    dtype: torch.dtype
    device: torch.device

    @classmethod
    def now(cls) -> Self:
        """Those of whoever calls."""
        return cls(torch.get_default_dtype(), torch.get_default_device())

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Inside, these; the caller's come back afterwards."""
        before = TorchDefaults.now()
        # A default device is a mode that slows every call down, so it is set only where it changes something.
        with nullcontext() if self.device == before.device else self.device:
            torch.set_default_dtype(self.dtype)
            try:
                yield
            finally:
                torch.set_default_dtype(before.dtype)


TORCH_AS_IT_STARTS = TorchDefaults(torch.float32, torch.device("cpu"))


@contextmanager
def plain_torch() -> Iterator[None]:
    """Inside, torch is as it starts: gradients are recorded, tensors are float32 and on the CPU."""
    with torch.inference_mode(False), torch.enable_grad(), TORCH_AS_IT_STARTS.in_force():
        yield
