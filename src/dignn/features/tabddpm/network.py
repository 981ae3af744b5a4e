"""The network of TabDDPM, the same for continuous and discrete columns."""

from __future__ import annotations

from dignn.core.seeds import Seed
from dignn.features.mlp import TableMLP
from dignn.features.settings import TabDDPMConfig


def new_denoiser(
    width: int, labels: int, config: TabDDPMConfig, seed: Seed, context: int = 0, *, values: int = 0
) -> TableMLP:
    """A denoiser of ``width`` numbers for each row, with weights that depend on the seed only.

    The last ``values`` of them are values of quantities, the others tell codes.
    """
    waved = values if config.waves else 0
    with seed.torch_globally():
        return TableMLP(width, width, labels, config.width, config.blocks, config.dropout, context, waved)
