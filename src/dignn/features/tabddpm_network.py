"""The network of TabDDPM, the same for continuous and discrete columns."""

from __future__ import annotations

import torch

from dignn.config import TabDDPMConfig
from dignn.features.mlp import TableMLP
from dignn.runtime.seeds import Seed


def new_denoiser(inputs: int, outputs: int, lines: int, config: TabDDPMConfig, seed: Seed) -> TableMLP:
    """A denoiser with weights that depend on the seed only."""
    with torch.random.fork_rng(devices=[]):  # layers draw their weights from torch's global generator
        torch.manual_seed(seed.value)
        return TableMLP(inputs, outputs, lines, config.width, config.blocks, config.dropout)
