"""Which structure generators :mod:`benchmarks.realism` measures, on which data sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.controls import CONTROLS
from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import Config
from dignn.sampling.division import RealGraphs, divide
from dignn.structure.edge_diffusion.generator import EdgeDiffusion
from dignn.structure.node_growth.generator import NodeGrowth
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.structure.settings import GROWTH_TRAINING
from dignn.zoo.datasets.registry import load

SETS = ("dblp", "imdb", "mutag", "ba-shapes", "tree-cycle", "tree-grids", "ba-3motif")
# Edge diffusion with the paper's noise and our network; its sampler as it is, and with constraints.
VARIANTS: dict[str, dict[str, Any]] = {
    "edge-diffusion, marginal": {"noise": "marginal"},
    "edge-diffusion, marginal, unconstrained": {"noise": "marginal", "constraints": False},
}
METHODS = (*STRUCTURE_GENERATORS, *VARIANTS, *CONTROLS)
# Node growth without what was added to it, one after the other; measured where they are named.
_PLAIN: dict[str, Any] = {"roles": False, "looks": 0}
_ADAMW = replace(GROWTH_TRAINING, optimizer="adamw", settle=0.0, gain=0.0, patience=10)
STAGES: dict[str, dict[str, Any]] = {
    "node-growth, AdamW": _PLAIN | {"training": _ADAMW},
    "node-growth, Muon": _PLAIN,
    "node-growth, Muon, roles": {"looks": 0},
}
# Graphs of each size that are compared at once, and graphs in all that are timed.
PER_SIZE = 256
TIMED = 1536


def prepare(name: str, method: str, seed: int, config: Config) -> tuple[RealGraphs, Any]:
    """The real graphs of a run, and a generator that has learned nothing yet."""
    dataset = load(name, seed=seed)
    config = replace(config, sizes=config.sizes if config.sizes is not None else dataset.sizes)
    real = divide(dataset.data, dataset.schema, config, Seed(seed).child("real"))
    real.sample()
    if method in CONTROLS:
        return real, CONTROLS[method]()
    if method in STAGES:
        return real, NodeGrowth(replace(config.node_growth, **STAGES[method]))
    if method in VARIANTS:
        return real, EdgeDiffusion(replace(config.edge_diffusion, **VARIANTS[method]))
    return real, STRUCTURE_GENERATORS[method].build(config)
