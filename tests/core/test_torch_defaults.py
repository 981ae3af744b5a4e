"""Torch as it starts, whatever the caller has told it, and the caller's own again afterwards."""

from __future__ import annotations

import pytest
import torch

from dignn.core.torch_defaults import TORCH_AS_IT_STARTS, TorchDefaults, plain_torch


def test_inside_torch_is_as_it_starts() -> None:
    meta = TorchDefaults(torch.float64, torch.device("meta"))
    with meta.in_force(), torch.inference_mode():
        with plain_torch():
            made = torch.zeros(1, requires_grad=True) * 2
            assert TorchDefaults.now() == TORCH_AS_IT_STARTS
            assert (made.dtype, made.device.type, made.requires_grad, made.is_inference()) == (
                *(torch.float32, "cpu"),
                *(True, False),
            )
        assert TorchDefaults.now() == meta
        assert torch.is_inference_mode_enabled()
    assert TorchDefaults.now() == TORCH_AS_IT_STARTS


def test_the_callers_defaults_come_back_after_an_error() -> None:
    with pytest.raises(KeyError), TorchDefaults(torch.float64, torch.device("meta")).in_force():
        raise KeyError
    assert TorchDefaults.now() == TORCH_AS_IT_STARTS
