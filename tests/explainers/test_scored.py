"""What a method costs: graphs that the model was asked about, as many as an independent count finds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from dignn import DiGNNExplainer, Explainer, GraphBatch
from dignn.explainers.methods.random_tree import RandomTree
from dignn.explainers.registry import EXPLAINERS, presets_of
from dignn.explainers.settings import RunSettings
from dignn.model.adapter import GNNAdapter
from small_runs import small_config
from strategies import rings_and_stars
from tiny_models import TinyGCN

pytestmark = pytest.mark.usefixtures("haste")


class Counting:
    """Calls a model, and counts the graphs that it is given."""

    def __init__(self) -> None:
        self.graphs = 0

    def __call__(self, model: TinyGCN, graph: Any) -> Tensor:
        self.graphs += graph.num_graphs
        return model(graph.x, graph.edge_index, graph.batch)


class Asking(Explainer):
    """Asks about ten graphs while it learns, which a file keeps, and about five while it makes candidates."""

    name = "asking"
    presets: ClassVar = {"fast": RunSettings(subgraphs_per_size=10, candidates=12, top_k=1)}
    stopped = False

    def learn(self, train: GraphBatch) -> None:
        def make() -> list[int]:
            return self.adapter.score(train[:10]).predicted.tolist()

        self.run.artifact("asked.json", make, lambda value, path: path.write_text(json.dumps(value)), _read)

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        self.adapter.score(self.real.train[:5])
        if self.stopped:
            raise KeyboardInterrupt
        return self.real.train[: len(sizes)]


def _read(path: Path) -> Any:
    return json.loads(path.read_text())


def carrying() -> list[Data]:
    """Rings and stars whose nodes carry a binary column that can be drawn anew."""
    draws = torch.Generator().manual_seed(0)
    graphs = rings_and_stars()
    for graph in graphs:
        graph.x = torch.randint(2, (graph.num_nodes, 2), generator=draws).float()
    return graphs


def made(method: type[Explainer], config: Any = "fast", **options: Any) -> tuple[Explainer, Counting]:
    counting = Counting()
    explainer = method(TinyGCN(2, 2, pool=True), carrying(), config=config, forward=counting, **options)
    return explainer.check(), counting


@pytest.mark.parametrize(
    ("method", "config"),
    [
        (DiGNNExplainer, replace(small_config(), sizes=None, refined=0.5, refinement_rounds=2)),
        (DiGNNExplainer, replace(small_config(), sizes=None, guidance=1.0)),
        (RandomTree, presets_of("random-tree")["smoke"]),
        (Asking, "fast"),
    ],
)
def test_the_number_is_that_of_the_graphs_which_the_model_was_given(method: type[Explainer], config: Any) -> None:
    explainer, counting = made(method, config)
    before = counting.graphs
    explainer.check()
    checking, before = counting.graphs - before, counting.graphs
    explainer.fit()  # which checks once more whether it is still the same model
    asked = counting.graphs - before - checking
    if "train_scores" in vars(explainer):  # every method asks about these sooner or later, so they are the cost of none
        asked -= len(explainer.real.train)
    told = explainer.explain(measure=False).about["generation"]["scored"]
    assert told == asked
    assert (told > 0) == (method is not RandomTree)


def test_weighted_graphs_count_and_checking_does_not() -> None:
    explainer, _ = made(RandomTree, "smoke")
    graphs = explainer.fit().real.train[:3]
    adapter = GNNAdapter(TinyGCN(2, 2, pool=True), explainer.schema)
    adapter.check(graphs)
    assert adapter.scored == 0
    adapter.score_weighted(graphs, torch.ones_like(graphs.edge, dtype=torch.float))
    adapter.score(graphs)
    adapter.score(graphs, counted=False)
    assert adapter.scored == 6


def test_a_run_that_was_stopped_counts_what_an_earlier_start_made(tmp_path: Path) -> None:
    whole, _ = made(Asking, folder=tmp_path / "whole")
    whole.fit()
    stopped, _ = made(Asking, folder=tmp_path / "stopped")
    stopped.stopped = True  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        stopped.fit()
    resumed, _ = made(Asking, folder=tmp_path / "stopped")
    before = resumed.adapter.scored
    resumed.fit()
    assert resumed.adapter.scored - before == 5  # what was learned came from the file
    for name in ("whole", "stopped"):
        assert _read(tmp_path / name / "generation.json") == {"scored": 15}
    again, _ = made(Asking, folder=tmp_path / "stopped")
    assert again.fit().explain(measure=False).about["generation"] == {"scored": 15}


@pytest.mark.parametrize("name", sorted(EXPLAINERS))
def test_a_method_keeps_within_a_budget(name: str) -> None:
    presets = dict(presets_of(name))
    generous = replace(small_config(), sizes=None) if name == "dignnexplainer" else presets["smoke"]
    config = EXPLAINERS[name].within(generous, 150, 2)
    explanations = made(EXPLAINERS[name], config)[0].fit().explain(measure=False)
    assert explanations.about["generation"]["scored"] + explanations.about["validity"]["valid"] <= 150
    assert EXPLAINERS[name].within(config, 10_000, 2) == config  # what is within less is within more
