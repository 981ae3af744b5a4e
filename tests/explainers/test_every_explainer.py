"""What every explainer must do, for graph and for node classification, whatever its method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from dignn import Explainer, Explanations
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.registry import EXPLAINERS, presets_of
from dignn.graphs.validity import check_validity
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from small_runs import small_config
from strategies import rings_and_stars
from tiny_models import TinyGCN, TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
each_explainer = pytest.mark.parametrize("name", sorted(EXPLAINERS))
MOMENT = TrainingConfig(steps=4, validate_every=2)
FEW = 16
CANDIDATES = "candidates.safetensors"


def settings(name: str, **changed: Any) -> Any:
    """As little as a run of the method can be."""
    found = small_config() if name == "dignnexplainer" else presets_of(name)["smoke"]
    learned = {"training": MOMENT} if hasattr(found, "training") else {}
    return replace(found, candidates=FEW, subgraphs_per_size=10, top_k=2, **learned, **changed)


def of_graphs(name: str, **options: Any) -> Explainer:
    config = settings(name, sizes=None)
    return EXPLAINERS[name](TinyGCN(1, 2, pool=True), rings_and_stars(), config=config, **options)


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


@pytest.fixture(scope="module")
def of_nodes(planted: Dataset) -> Callable[..., Explainer]:
    def make(name: str, **options: Any) -> Explainer:
        config = settings(name, sizes=(8, 9))
        return EXPLAINERS[name](
            TinyHetero(planted.schema), planted.data, schema=planted.schema, config=config, **options
        )

    return make


def explained(explainer: Explainer) -> Explanations:
    return explainer.fit().explain(measure=False)


@each_explainer
def test_graphs_are_explained_by_graphs_that_the_model_answers_so(name: str) -> None:
    explainer = of_graphs(name)
    explanations = explained(explainer)
    assert set(explanations) == set(explainer.schema.classes)
    shown = [each for several in explanations.values() for each in several]
    assert shown
    for each in shown:
        assert bool(check_validity(each.graph).valid.all())
        graph: Any = each.to_hetero_data()
        batch = torch.zeros(graph.num_nodes, dtype=torch.long)
        with torch.no_grad():
            answer = TinyGCN(1, 2, pool=True)(graph.x, graph.edge_index, batch).softmax(1)
        assert each.score == pytest.approx(float(answer[0, each.class_index]), abs=1e-5)


@each_explainer
def test_nodes_are_explained_by_graphs_that_the_model_answers_so(
    name: str, of_nodes: Callable[..., Explainer], planted: Dataset, tmp_path: Path
) -> None:
    explainer = of_nodes(name, folder=tmp_path)
    explanations = explained(explainer)
    shown = [each for several in explanations.values() for each in several]
    assert shown
    model = TinyHetero(planted.schema)
    for each in shown:
        assert bool(check_validity(each.graph).valid.all())
        assert int(each.graph.sizes[0]) in (8, 9)
        graph: Any = each.to_hetero_data()
        with torch.no_grad():
            answer: Tensor = model(graph.x_dict, graph.edge_index_dict).softmax(1)
        assert each.score == pytest.approx(float(answer[each.row, each.class_index]), abs=1e-5)
    for file in ("config.json", "schema.json", "timings.json", "explanations.json", "report.html", CANDIDATES):
        assert (tmp_path / file).exists(), file
    # A run that lost its candidates makes the same ones again, of what it has learned.
    (tmp_path / CANDIDATES).unlink()
    again = explained(of_nodes(name, folder=tmp_path))
    for one, other in zip(shown, (each for several in again.values() for each in several), strict=True):
        assert torch.equal(one.graph.edge, other.graph.edge)
        assert one.score == other.score


@each_explainer
def test_the_seed_decides_everything(name: str) -> None:
    first, same, other = (of_graphs(name, seed=seed).fit()._candidates for seed in (3, 3, 4))
    assert first is not None
    assert same is not None
    assert other is not None
    assert torch.equal(first.edge, same.edge)
    assert torch.equal(first.graph_label, same.graph_label)
    assert not (first.edge.shape == other.edge.shape and torch.equal(first.edge, other.edge))
