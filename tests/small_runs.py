"""Small but complete runs, whose pages have everything that a page of a real run has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from filelock import FileLock
from torch import Tensor, nn
from torch_geometric.data import HeteroData
from torch_geometric.explain import GNNExplainer

from dignn import DiGNNExplainer, Explanations
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.graphs.feature_spec import FeatureSpec
from dignn.graphs.schema import EdgeType, Schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.raw_files import cache_folder
from dignn.zoo.datasets.registry import load
from dignn.zoo.models import checkpoint, trainer
from dignn.zoo.models.recipes import Recipe, recipe
from dignn.zoo.models.settings import Form
from tiny_models import TinyHetero

# What a page must show and never run. `window.hacked` tells afterwards whether one of them was run.
HOSTILE = (
    "<script>window.hacked=1</script>",
    '<img src=x onerror="window.hacked=1">',
    "\"><svg onload='window.hacked=1'>",
    "</script><script>window.hacked=1</script><!--",
    "' onmouseover='window.hacked=1",
    "</style><a href=javascript:window.hacked=1>&amp; {{ 7 * 7 }}</a>",
)


class Means:
    """In place of trees: tells two kinds of rows apart by the difference of their means."""

    min_samples_leaf = 1

    def fit(self, rows: np.ndarray, label: np.ndarray) -> None:
        self.direction = rows[label == 1].mean(0) - rows[label == 0].mean(0)

    def decision_function(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(rows @ self.direction)


SMOKE = PRESETS["smoke"]
# What takes most of the time of a small run, and what is enough to look at something else.
LESS: dict[str, Any] = {
    "dignn.metrics.boosted_trees.boosted_trees": lambda rows, trees, state: Means(),
    "dignn.metrics.told_apart.WORTH_ROWS": 10**9,  # means need no processes, which would grow trees
    "dignn.metrics.c2st.FOLDS": 2,
    "dignn.metrics.run.COMPARED": 12,
    "dignn.sampling.division.COMPARED_GRAPHS": 2,  # the smallest and the largest size
    "dignn.evidence.markers.GNNExplainer": partial(GNNExplainer, epochs=5),
    "dignn.features.ditabddpm.absorbing_rows._ROWS": 100,
    "dignn.features.ditabddpm.class_strength.MADE_ROWS": 50,
    "dignn.features.ditabddpm.column_binding.BOUND_ROWS": 50,
    "dignn.goes_by.contrasts.starts.MOST_PAIRS": 2,
    "dignn.goes_by.contrasts.starts.STARTS": 1,
    "dignn.goes_by.effects._FEWEST_PAIRS": 8,
    "dignn.goes_by.effects._PAIRS": 8,
    "dignn.goes_by.finding.FRONTIER": (1, 2),
    "dignn.goes_by.finding._RULE_LENGTHS": (2,),
    "dignn.goes_by.finding_causes._ROUNDS": 1,
    "dignn.goes_by.screening._PER_CLASS": 20,
    "dignn.goes_by.screening._PLAIN": 10,
    "dignn.goes_by.screening._GROUP_SIZES": (3,),
    "dignn.report.layout.TRIES": 2,
    "dignn.report.layout._stress_layouts.__defaults__": (20,),  # rounds
    "dignn.report.reference.SHOWN": 4,
    "dignn.structure.node_growth.generator.NodeGrowth._batches.__defaults__": (20,),  # growths that are made at once
    "dignn.structure.node_growth.generator._VALIDATED": 20,
}


@contextmanager
def less_work() -> Iterator[None]:
    """Inside, what has tests of its own is done less: classifiers and checks as in :data:`LESS`, models two epochs.

    The preset ``smoke`` learns for a moment.
    """
    with ExitStack() as stack:
        for name, instead in LESS.items():
            stack.enter_context(mock.patch(name, instead))
        for module in (trainer, checkpoint):
            stack.enter_context(mock.patch.object(module, "recipe", short_recipe))
        stack.enter_context(mock.patch.object(checkpoint, "cache_folder", _apart))
        stack.enter_context(mock.patch.dict(PRESETS._items, smoke=short_smoke()))
        yield


def short_recipe(dataset: Dataset, form: Form = "strong") -> Recipe:
    """That of the data set, for a model that is hardly trained."""
    found = recipe(dataset, form)
    return replace(found, epochs=2, subgraphs=min(found.subgraphs, 8), pool=16, held_out=16)


def _apart() -> Path:
    """For these models; elsewhere a model of the same name is one that was trained to the end."""
    return cache_folder() / "less-work"


def short_smoke() -> Config:
    """The preset ``smoke``, with which everything is learned for a moment only."""
    moment = TrainingConfig(steps=4, validate_every=2)
    return replace(
        SMOKE,
        refinement_rounds=1,
        node_growth=replace(SMOKE.node_growth, training=moment),
        edge_diffusion=replace(SMOKE.edge_diffusion, training=moment),
        ditabddpm=replace(SMOKE.ditabddpm, sampler_steps=4, training=moment, marginal_training=moment),
        tabddpm=replace(SMOKE.tabddpm, sampler_steps=4, training=moment),
    )


def small_config() -> Config:
    """The same with fewer graphs; there are loss curves and all metrics."""
    return replace(short_smoke(), sizes=(8, 9), subgraphs_per_size=20, candidates=48, top_k=3)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A run folder that the processes of one test session share: the first to come makes it. Not to be written to."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"{name}-run"
    with FileLock(f"{folder}.lock", timeout=120):
        if not (folder / "report.html").exists():
            make(folder)
    return folder


def planted_run(folder: Path) -> Explanations:
    """A run on the planted data, in ``folder``."""
    dataset = load("planted")
    return _run(TinyHetero(dataset.schema), dataset.data, dataset.schema, folder, "planted")


def hostile_run(folder: Path) -> Explanations:
    """The same data and model under names that look like HTML: types, relations, columns, classes, the data set."""
    dataset = load("planted")
    plain = dataset.schema
    types = {name: f"{name} {HOSTILE[i % len(HOSTILE)]}" for i, name in enumerate(plain.node_types)}
    relations = {kind: _renamed(kind, types, i) for i, kind in enumerate(plain.edge_types)}
    data = HeteroData()
    for name, new in types.items():
        data[new].update(dataset.data[name].to_dict())
    for kind, renamed in relations.items():
        data[renamed].edge_index = dataset.data[kind].edge_index
    names = {types[name]: _columns(plain.spec(name)) for name in plain.node_types if plain.spec(name).generated}
    classes = [f"{name} {HOSTILE[i % len(HOSTILE)]}" for i, name in enumerate(plain.classes)]
    schema = Schema.from_hetero(data, types[str(plain.target)], names=names, classes=classes)
    model = _Renaming(TinyHetero(plain), {new: name for name, new in types.items()}, relations)
    return _run(model, data, schema, folder, HOSTILE[0])


class _Renaming:
    """A model behind other names; no module, because those cannot bear every name."""

    def __init__(self, model: nn.Module, types: dict[str, str], relations: dict[EdgeType, EdgeType]) -> None:
        self.model = model
        self.types = types
        self.relations = {new: kind for kind, new in relations.items()}

    def __call__(self, x_dict: dict[str, Tensor], edge_index_dict: dict[EdgeType, Tensor]) -> Tensor:
        x = {self.types[name]: rows for name, rows in x_dict.items()}
        return self.model(x, {self.relations[kind]: pairs for kind, pairs in edge_index_dict.items()})


def _renamed(kind: EdgeType, types: dict[str, str], index: int) -> EdgeType:
    source, name, target = kind
    return types[source], f"{name} {HOSTILE[index % len(HOSTILE)]}", types[target]


def _columns(spec: FeatureSpec) -> list[str]:
    return [f"{spec.column_name(j)} {HOSTILE[j % len(HOSTILE)]}" for j in range(spec.width)]


def _run(model: Any, data: HeteroData, schema: Schema, folder: Path, name: str) -> Explanations:
    # Fixtures of a whole session come before those of a module, such as haste.
    with less_work(), mock.patch("dignn.core.threads.cores", return_value=1):
        about = {"dataset": name, "preset": "smoke"}
        explainer = DiGNNExplainer(model, data, schema=schema, config=small_config(), folder=folder, about=about)
        return explainer.fit().explain()
