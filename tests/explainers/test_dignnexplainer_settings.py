"""Settings that make no sense are refused at once, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dignn.core.errors import DignnError
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.features.settings import DiTabDDPMConfig, TabDDPMConfig
from dignn.structure.settings import EdgeDiffusionConfig, NodeGrowthConfig


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
        (DiTabDDPMConfig, {"noise": "x"}, "noise is 'x'; choose from auto, absorbing, marginal"),
        (DiTabDDPMConfig, {"denoiser": "x", "noise": "marginal"}, "denoiser is 'x'; choose from fast, paper"),
        (DiTabDDPMConfig, {"denoiser": "paper"}, "choose noise 'marginal'"),
        (DiTabDDPMConfig, {"denoiser": "paper", "noise": "absorbing"}, "choose noise 'marginal'"),
        (DiTabDDPMConfig, {"grid": "x"}, "grid is 'x'; choose from uniform, quadratic"),
        (DiTabDDPMConfig, {"dropout": 1.0}, "dropout is 1.0; it must be at least 0 and below 1"),
        (DiTabDDPMConfig, {"dropout": float("nan")}, "dropout is nan"),
        (DiTabDDPMConfig, {"emphasis": -0.1}, "emphasis is -0.1; it must be from 0 to 5"),
        (DiTabDDPMConfig, {"width": 0}, "width is 0; it must be at least 1"),
        (DiTabDDPMConfig, {"batch": 1.5}, "batch is 1.5; it must be a whole number"),
        (TabDDPMConfig, {"transform": "x"}, "transform is 'x'; choose from auto, quantile, standard"),
        (TabDDPMConfig, {"prediction": "x"}, "prediction is 'x'; choose from velocity, noise"),
        (TabDDPMConfig, {"discrete": "x"}, "discrete is 'x'; choose from multinomial, threshold"),
        (TabDDPMConfig, {"sampler": "x"}, "sampler is 'x'; choose from flow, ancestral, deterministic"),
        (TabDDPMConfig, {"dropout": -0.5}, "dropout is -0.5"),
        (TabDDPMConfig, {"sampler_steps": 0}, "sampler_steps is 0"),
        (TrainingConfig, {"learning_rate": 0.0}, "learning_rate is 0.0; it must be a number above 0"),
        (Config, {"continuous": "x"}, "continuous is 'x'; choose from auto, tabddpm"),
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


def test_the_preset_of_the_paper_generates_features_as_it_does() -> None:
    paper = PRESETS["paper"]
    assert (paper.features, paper.continuous, paper.one_model_per_class) == ("ditabddpm", "tabddpm", True)
    discrete, continuous = paper.ditabddpm, paper.tabddpm
    assert (discrete.noise, discrete.denoiser, discrete.batch, discrete.emphasis) == ("marginal", "paper", 32, 0.0)
    assert (discrete.sampler_steps, discrete.grid) == (25_000, "uniform")
    assert (discrete.marginal_training.learning_rate, discrete.marginal_training.weight_decay) == (0.05, 1e-3)
    assert (discrete.marginal_training.ema, discrete.marginal_training.warm_up, discrete.marginal_training.cosine) == (
        0.0,
        0.0,
        False,
    )
    assert (continuous.prediction, continuous.transform, continuous.sampler) == ("noise", "quantile", "ancestral")
    assert (continuous.sampler_steps, continuous.repeated_rows, continuous.discrete) == (1000, False, "threshold")
    for training in (discrete.marginal_training, continuous.training):
        assert training.settle == 0  # a rate that falls when validation says so is ours


def test_by_default_features_are_generated_by_discrete_diffusion_given_the_class() -> None:
    fast = PRESETS["fast"]
    assert fast == Config()
    assert (fast.features, fast.continuous, fast.one_model_per_class) == ("ditabddpm", "auto", False)
    assert (fast.ditabddpm.noise, fast.ditabddpm.denoiser, fast.tabddpm.repeated_rows) == ("auto", "fast", True)


def test_the_thorough_preset_gives_structures_more_time_and_changes_nothing_else() -> None:
    fast, thorough = PRESETS["fast"], PRESETS["thorough"]
    assert replace(thorough, node_growth=fast.node_growth) == fast
    assert thorough.node_growth.effort == 4 * fast.node_growth.effort
    assert thorough.node_growth.training.steps == 4 * fast.node_growth.training.steps
    assert thorough.node_growth.looks > fast.node_growth.looks


def test_the_smoke_preset_is_quick() -> None:
    smoke = PRESETS["smoke"]
    for settings in (smoke.ditabddpm, smoke.tabddpm):
        assert settings.training.steps <= 60
        assert settings.width <= 32
        assert settings.sampler_steps <= 10


@pytest.mark.parametrize("sizes", [(), (0,), (101,)])
def test_sizes_must_be_numbers_of_nodes_that_people_can_look_at(sizes: tuple[int, ...]) -> None:
    with pytest.raises(DignnError, match="numbers of nodes from 1 to 100"):
        Config(sizes=sizes)


@pytest.mark.parametrize("field", ["candidates", "top_k", "subgraphs_per_size"])
def test_settings_must_be_positive(field: str) -> None:
    with pytest.raises(DignnError, match=f"{field} is 0; it must be at least 1"):
        Config(**{field: 0})
