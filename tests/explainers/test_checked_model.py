"""What a check of the model finds beside what it refuses, and where that is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import scatter, to_dense_batch

from dignn import DiGNNExplainer, Explanations
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from strategies import rings_and_stars
from tiny_models import TinyGCN

pytestmark = pytest.mark.usefixtures("haste")
SMOKE = PRESETS["smoke"]
SMALL = replace(
    SMOKE,
    candidates=12,
    top_k=1,
    features="bootstrap",
    node_growth=replace(SMOKE.node_growth, training=TrainingConfig(steps=5, validate_every=5)),
)
DIFFERENCE = "The model goes by edge_weight, which generated graphs do not have"


def explainer(model: Any, data: list[Data] | None = None, **options: Any) -> DiGNNExplainer:
    return DiGNNExplainer(model, rings_and_stars() if data is None else data, config=SMALL, **options)


def config(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "config.json").read_text())


# -- batches ------------------------------------------------------------------------------------------


class Padded(TinyGCN):
    """Its mean is over the nodes of the largest graph of a batch."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        hidden, _ = to_dense_batch(self.conv(x, edge_index).relu(), batch)
        return self.head(hidden.mean(1))


@pytest.mark.usefixtures("all_compared")
def test_a_model_that_pads_is_found_though_the_first_graphs_are_of_one_size() -> None:
    data = sorted(rings_and_stars(), key=lambda graph: int(graph.num_nodes or 0))
    made = explainer(Padded(1, 2, pool=True), data).check()
    assert {graph.num_nodes for graph in data[:8]} == {5}
    assert made.adapter.one_by_one
    with torch.no_grad():
        alone = torch.cat([made.adapter.model(g.x, g.edge_index, torch.zeros_like(g.x[:, 0]).long()) for g in data])
    batch, own = made.real.compared()
    assert [graph.num_nodes for graph in own] == [graph.num_nodes for graph in data]
    torch.testing.assert_close(made.adapter.score(batch).logits, alone)


# -- labels -------------------------------------------------------------------------------------------


def sees_stars(order: tuple[int, int]) -> Callable[[Data], Tensor]:
    """Right about every graph, with its columns in this order."""

    def answer(data: Data) -> Tensor:
        degree = torch.bincount(data.edge_index[0], minlength=int(data.num_nodes or 0))
        star = scatter(degree, data.batch, reduce="max") > 2
        return 3 * torch.stack([~star, star], 1).float()[:, order]

    return answer


@pytest.mark.usefixtures("all_compared")
def test_labels_in_another_order_than_the_models_columns_are_spoken_of(caplog: pytest.LogCaptureFixture) -> None:
    explainer(sees_stars((0, 1))).check()
    assert not caplog.records
    explainer(sees_stars((1, 0))).check().check()
    (told,) = caplog.messages
    assert told.startswith("The model gives 0 % of 24 labelled graphs their label, less than guessing")
    assert "the labels may be in another order than the model's columns" in told


# -- a difference that is accepted --------------------------------------------------------------------


@pytest.fixture
def warned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run in which a difference was accepted."""
    monkeypatch.setattr("dignn.explainers.checked_model.compare_answers", lambda *_: DIFFERENCE)
    explainer(TinyGCN(1, 2, pool=True), folder=tmp_path / "run", on_difference="warn").fit().explain(measure=False)
    return tmp_path / "run"


def test_an_accepted_difference_is_told_wherever_the_run_is_told_of(warned: Path) -> None:
    assert {name: config(warned)[name] for name in ("on_difference", "difference")} == {
        "on_difference": "warn",
        "difference": DIFFERENCE,
    }
    assert json.loads((warned / "explanations.json").read_text())["difference"] == DIFFERENCE
    assert Explanations.load(warned).about["difference"] == DIFFERENCE
    assert DIFFERENCE in (warned / "report.html").read_text()


def test_a_version_that_finds_no_difference_goes_on(warned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    before = config(warned)
    explainer(TinyGCN(1, 2, pool=True), folder=warned).fit()
    assert config(warned) == before


def test_where_there_is_no_difference_nothing_is_told(tmp_path: Path) -> None:
    explainer(TinyGCN(1, 2, pool=True), folder=tmp_path / "run").fit().explain(measure=False)
    told = json.loads((tmp_path / "run" / "explanations.json").read_text())
    assert not {"on_difference", "difference"} & config(tmp_path / "run").keys()
    assert not {"difference", "dropped"} & told.keys()


# -- edges that are dropped ---------------------------------------------------------------------------


def test_edges_that_were_dropped_are_counted(tmp_path: Path) -> None:
    data = rings_and_stars()
    data[3].edge_index = torch.cat([data[3].edge_index, torch.tensor([[0, 1], [0, 1]])], 1)
    made = explainer(sees_stars((0, 1)), data, folder=tmp_path / "run").fit()
    made.explain(measure=False)
    told = json.loads((tmp_path / "run" / "explanations.json").read_text())
    assert told["dropped"] == {"self-loops": 2}
    assert Explanations.load(tmp_path / "run").about["dropped"] == {"self-loops": 2}
    assert "cannot have such edges: 2 self-loops." in (tmp_path / "run" / "report.html").read_text()
