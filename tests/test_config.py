"""Settings that make no sense are refused at once, in words."""

from __future__ import annotations

from typing import Any

import pytest

from dignn.config import PRESETS, Config, EdgeDiffusionConfig, NodeGrowthConfig
from dignn.errors import DignnError


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        (NodeGrowthConfig, {"width": 10, "heads": 4}, "width 10 cannot be shared out over 4 heads"),
        (NodeGrowthConfig, {"temperature": 0.0}, "temperature is 0.0; it must be a number above 0"),
        (NodeGrowthConfig, {"temperature": float("nan")}, "temperature is nan"),
        (NodeGrowthConfig, {"temperature": float("inf")}, "temperature is inf"),
        (NodeGrowthConfig, {"events_per_batch": 2.5}, "events_per_batch is 2.5; it must be a whole number"),
        (EdgeDiffusionConfig, {"noise": "x"}, "noise is 'x'; choose from absorbing, marginal"),
        (EdgeDiffusionConfig, {"denoiser": "x"}, "denoiser is 'x'; choose from fast, paper"),
        (EdgeDiffusionConfig, {"sampler": "x"}, "sampler is 'x'; choose from posterior, flow"),
        (EdgeDiffusionConfig, {"grid": "x"}, "grid is 'x'; choose from uniform, quadratic"),
        (EdgeDiffusionConfig, {"edge_weight": float("nan")}, "edge_weight is nan"),
        (EdgeDiffusionConfig, {"sampler_steps": 0}, "sampler_steps is 0"),
        (Config, {"guidance": -1.0}, "guidance is -1.0; it must be 0 or a number above 0"),
        (Config, {"guidance": float("nan")}, "guidance is nan"),
    ],
)
def test_settings_that_make_no_sense(settings: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(DignnError, match=message):
        settings(**given)


def test_the_preset_of_the_paper_is_its_setting() -> None:
    paper = PRESETS["paper"].edge_diffusion
    assert PRESETS["paper"].structure == "edge-diffusion"
    assert (paper.noise, paper.denoiser, paper.sampler, paper.constraints) == ("marginal", "paper", "posterior", False)
    assert (paper.one_model_per_size, paper.sampler_steps, paper.training.epochs, paper.batch) == (True, 500, 600, 256)
    assert (paper.training.learning_rate, paper.training.weight_decay) == (2e-4, 1e-12)
