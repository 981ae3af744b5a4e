"""Structures drawn towards what a model takes for each class."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from dignn import DiGNNExplainer
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.class_guide import ClassGuide
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.features.bank import FeatureBank
from dignn.features.settings import FeatureSettings
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from strategies import batch_of
from tiny_models import TinyHetero

SMALL = replace(PRESETS["smoke"], sizes=(8, 9), subgraphs_per_size=10, candidates=24, top_k=2, features="bootstrap")


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


class CountsPapers(nn.Module):
    """Takes authors with many papers for class 0 and those with few for class 1."""

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[tuple[str, str, str], Tensor]) -> Tensor:
        papers = edge_index_dict["author", "writes", "paper"][0].bincount(minlength=len(x_dict["author"])).float()
        other = torch.full_like(papers, -9.0)
        return torch.stack([papers - 3, 3 - papers, other, other], dim=1)


def test_guidance_raises_what_the_model_gives_to_the_classes(planted: Dataset) -> None:
    def mean_best(strength: float) -> float:
        config = replace(SMALL, sizes=(9,), candidates=128, guidance=strength)
        made = DiGNNExplainer(CountsPapers(), planted.data, schema=planted.schema, config=config).fit()
        assert made._candidates is not None
        scores = made.adapter.score(made._candidates)
        wanted = torch.arange(128)[scores.graph] // 32  # four classes in four groups
        probability = scores.probability.gather(1, wanted[:, None])[:, 0]
        return float(probability[wanted == 0].mean())

    assert mean_best(20.0) > mean_best(0.0) + 0.1


@pytest.mark.parametrize("noise", ["absorbing", "marginal"])
def test_edge_diffusion_can_be_guided_by_a_model_that_is_not_made_for_threads(
    planted: Dataset, noise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.structure.edge_diffusion.generator.CHUNK_PAIRS", 500)  # many pieces of work
    monkeypatch.setattr("dignn.core.threads.cores", lambda: 4)  # and threads that would take them
    # Nothing is learned in three steps, so graphs that are not connected are drawn anew only once.
    monkeypatch.setattr("dignn.structure.edge_diffusion.edge_sampling.DRAWN_ANEW", 1)
    training = TrainingConfig(steps=3)
    settings = replace(SMALL.edge_diffusion, noise=noise, restarts=0, training=training, sampler_steps=4)
    config = replace(SMALL, candidates=32, structure="edge-diffusion", edge_diffusion=settings, guidance=3.0)
    model, asked = TinyHetero(planted.schema), set()
    model.register_forward_pre_hook(lambda *_: asked.add(threading.get_ident()))
    made = DiGNNExplainer(model, planted.data, schema=planted.schema, config=config).fit()
    assert made._candidates is not None
    assert len(made._candidates) == 32
    assert asked == {threading.get_ident()}


def test_what_the_metagraph_forbids_is_liked_least_and_never_asked_about(planted: Dataset) -> None:
    author, paper = (planted.schema.type_index(name) for name in ("author", "paper"))
    writes = 1 + [relation.name for relation in planted.schema.relations].index("writes")
    right = batch_of(planted.schema, [author, paper], {(0, 1): writes})
    wrong = batch_of(planted.schema, [author, author], {(0, 1): writes})
    guide = ClassGuide(
        [2] * 3,
        GNNAdapter(CountsPapers(), planted.schema),
        lambda graphs, seed: (
            FeatureBank(planted.schema, FeatureSettings(features="bootstrap"))
            .fit(real, seed=seed)
            .fill(graphs, seed=seed)
        ),
        2.0,
        Seed(0),
    )
    real = Adjacency.build(planted.data, planted.schema)
    weight = guide.log_weight(GraphBatch.cat([wrong, right, wrong]), torch.arange(3))
    alone = guide.log_weight(right, torch.tensor([1]))
    assert weight.tolist() == [0.0, float(alone[0]), 0.0]
    assert float(alone[0]) > 0
    assert guide.log_weight(wrong, torch.tensor([0])).tolist() == [0.0]


def test_every_size_serves_every_class(planted: Dataset) -> None:
    sizes = [8] * 40 + [9] * 6 + [10] * 200
    guide = ClassGuide(
        sizes, GNNAdapter(TinyHetero(planted.schema), planted.schema), lambda graphs, seed: graphs, 1.0, Seed(0)
    )
    for size in (8, 9, 10):
        here = torch.tensor(sizes) == size
        assert set(guide.wanted[here].tolist()) >= ({0, 1, 2, 3} if size != 9 else {0, 1, 2})
        assert not set(guide.group[here].tolist()) & set(guide.group[~here].tolist())
    for group in guide.group.unique():
        members = guide.group == group
        assert len(guide.wanted[members].unique()) == 1
        assert int(members.sum()) <= 32
