"""What makes code blocks run in seconds: small data in place of the data sets, few steps in place of training.

Blocks run through the real library and the real command line. Only the size of things differs, so that they show that
a page's words are right, not that its graphs are good. Stand-ins have the node types, the relations and columns enough
of the data sets whose names they bear, so pages run on machines that do not have the real ones.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from dignn import Explainer, GraphBatch
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.explainers.settings import RunSettings
from dignn.features.registry import FEATURE_GENERATORS
from dignn.features.settings import DiTabDDPMConfig, TabDDPMConfig
from dignn.graphs.inference import infer_schema
from dignn.metrics import c2st, measured
from dignn.metrics import run as table
from dignn.metrics.controls import control_sets
from dignn.metrics.metric import METRICS, all_metrics
from dignn.report import layout
from dignn.report import reference as reference
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.structure.settings import EdgeDiffusionConfig, NodeGrowthConfig
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import DATASETS
from dignn.zoo.datasets.splits import stratified_split
from docs.blocks import ROOT

_FEW = TrainingConfig(steps=2, validate_every=1)
# Features are drawn from real rows: the generators' own set-up takes seconds even for a step.
TINY = Config(
    subgraphs_per_size=5,
    candidates=16,
    top_k=1,
    refinement_rounds=1,
    features="bootstrap",
    node_growth=NodeGrowthConfig(width=8, layers=1, heads=2, events_per_batch=60, training=_FEW),
    edge_diffusion=EdgeDiffusionConfig(batch=8, sampler_steps=2, training=_FEW),
    ditabddpm=DiTabDDPMConfig(width=8, blocks=1, batch=16, sampler_steps=2, training=_FEW, marginal_training=_FEW),
    tabddpm=TabDDPMConfig(width=8, blocks=1, batch=16, sampler_steps=2, training=_FEW),
)
# Words that are no English, so that none is a stop word.
_WORDS = tuple("x" + "".join(letters) for letters in product("bcdfg", "aeiou", "klmnp"))


@dataclass(frozen=True)
class StandIn:
    """Node types with their numbers of columns, relations between them, and the target.

    A type with 0 columns has six members that are told apart, one with 1 column a constant.
    """

    widths: dict[str, int]
    relations: tuple[tuple[str, str, str], ...]
    target: str
    classes: tuple[str, ...]


STAND_INS = {
    "planted": StandIn(
        {"author": 16, "paper": 16, "term": 4, "venue": 1},
        (("author", "writes", "paper"), ("paper", "mentions", "term"), ("paper", "in", "venue")),
        "author",
        ("database", "learning"),
    ),
    "dblp": StandIn(
        {"author": 60, "paper": 60, "term": 8, "conference": 0},
        (("author", "to", "paper"), ("paper", "to", "term"), ("paper", "to", "conference")),
        "author",
        ("Database", "Data Mining"),
    ),
    "imdb": StandIn(
        {"movie": 12, "director": 12, "actor": 12},
        (("movie", "to", "director"), ("movie", "to", "actor")),
        "movie",
        ("Action", "Drama"),
    ),
}


def stand_in(name: str, each: int = 40) -> Dataset:
    """A small data set of two classes: a node's words and neighbours follow its class."""
    recipe = STAND_INS[name]
    random = torch.Generator().manual_seed(0)
    label = torch.arange(each) % 2
    data = HeteroData()
    for kind, width in recipe.widths.items():
        data[kind].x = _words(label, width, random) if width > 1 else torch.ones(6, 1) if width else torch.eye(6)
    data[recipe.target].y = label
    for one, relation, other in recipe.relations:
        ends = torch.stack([torch.arange(each).repeat(2), torch.arange(each).repeat(2)])
        ends[1, each:] = (ends[1, each:] + 2) % each  # two neighbours each, of the same class
        ends[1] %= data[other].x.size(0)
        data[one, relation, other].edge_index = ends
        data[other, "to" if relation == "to" else f"rev_{relation}", one].edge_index = ends.flip(0)
    names = {kind: _WORDS[: x.size(1)] for kind, x in data.x_dict.items()}
    return Dataset(
        name=name,
        data=data,
        schema=infer_schema(data, recipe.target, names=names, classes=recipe.classes),
        splits=stratified_split(np.asarray(label), (0.6, 0.2, 0.2), Seed(0)),
        sizes=(5, 6),
    )


def _words(label: Tensor, width: int, random: torch.Generator) -> Tensor:
    """0 and 1; the first half of the columns for class 0, the second for class 1.  (n, width)"""
    own = label[:, None] == torch.arange(width)[None, :] * 2 // width
    return torch.bernoulli(torch.where(own, 0.6, 0.1), generator=random)


def as_reader(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Goes into a reader's folder, with the project's examples in it; environment and working folder come back."""
    monkeypatch.chdir(folder)
    (folder / "examples").symlink_to(ROOT / "examples")
    for name in list(os.environ):
        monkeypatch.setenv(name, os.environ[name])  # so that what a page exports is undone
    make_small(monkeypatch, folder / "cache")


def make_small(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Puts stand-ins in place of data sets, a tiny preset in place of every preset, and shortens what takes long."""
    monkeypatch.setenv("DIGNN_CACHE", str(cache))
    for name in PRESETS:
        monkeypatch.setitem(PRESETS._items, name, TINY)
    # The same for methods of a page's own, whose settings are derived from these.
    few = RunSettings(subgraphs_per_size=TINY.subgraphs_per_size, candidates=TINY.candidates)
    monkeypatch.setattr(Explainer, "presets", {"fast": few})
    monkeypatch.setattr(RunSettings.__dataclass_fields__["subgraphs_per_size"], "default", few.subgraphs_per_size)
    for name in STAND_INS:
        info = replace(DATASETS[name], load=_loader(name), files=None, fresh=None)
        monkeypatch.setitem(DATASETS._items, name, info)
    all_metrics()
    for registry in (STRUCTURE_GENERATORS, FEATURE_GENERATORS, DATASETS, METRICS):
        monkeypatch.setattr(registry, "_items", dict(registry))  # what a page registers is gone after it
    for classifier in ("_trees_area", "_regression_area"):
        monkeypatch.setattr(c2st, classifier, lambda *rest: 0.5)
    monkeypatch.setattr(table, "COMPARED", 5)
    monkeypatch.setattr(table, "control_sets", _one_control)
    for module in (table, measured):
        monkeypatch.setattr(module, "PAPER_GRAPHS", 3)
    monkeypatch.setattr(reference, "SHOWN", 2)
    monkeypatch.setattr(layout, "TRIES", 2)


def _loader(name: str) -> Any:
    def load(*, seed: int, download: bool) -> Dataset:
        return stand_in(name)

    return load


def _one_control(candidates: GraphBatch, train: GraphBatch, seed: Seed) -> dict[str, GraphBatch]:
    return {"column_noise": control_sets(candidates, train, seed)["column_noise"]}
