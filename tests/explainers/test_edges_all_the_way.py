"""A whole run of a model that goes by what edges carry: generated, measured, told, shown and handed back."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv

from carrying_graphs import friends
from dignn import DiGNNExplainer, Explanations, infer_schema
from dignn.evidence.variants import Kind
from small_runs import small_config

pytestmark = pytest.mark.usefixtures("haste")
LABEL = "person -to- person"


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = GINEConv(nn.Linear(6, 8), edge_dim=2), nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        return self.head(self.conv(x, edge_index, edge_attr).relu())


def data() -> Data:
    made = friends()
    del made.edge_weight
    return made


@cache
def run(folder: Path) -> Explanations:
    schema = infer_schema(data(), "person", names={LABEL: ["trust", "length"]})
    explainer = DiGNNExplainer(Model(), data(), schema=schema, config=small_config(), seed=0, folder=folder)
    return explainer.fit().explain(top_k=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("edges") / "run"


def test_explanations_fed_back_give_the_printed_probability(folder: Path) -> None:
    model = Model().eval()
    shown = [item for several in run(folder).values() for item in several]
    assert shown
    for item in shown:
        graph = item.to_hetero_data()
        with torch.no_grad():
            scores = model(graph.x, graph.edge_index, graph.edge_attr).softmax(1)
        assert scores[item.row, item.class_index] == pytest.approx(item.score, abs=1e-5)
        masked = item.to_pyg()
        assert torch.equal(masked.edge_attr, graph.edge_attr)
        assert len(masked.edge_mask) == graph.num_edges


def test_metrics_have_an_entry_for_the_relation(folder: Path) -> None:
    metrics = run(folder).about["metrics"]
    columns = [metrics["sound"], metrics["floor"]["sound"], metrics["control"]["column_noise"]["sound"]]
    for found in columns:
        values = found["features"]["by_type"][LABEL]
        assert set(values) >= {"column_error", "pair_error", "c2st", "memorisation"}
        assert values["column_error"] is not None
    shuffled = metrics["control"]["shuffled_rows"]["sound"]["features"]["by_type"][LABEL]
    assert shuffled["column_error"] < 0.3  # real rows


def test_evidence_tells_of_edges(folder: Path) -> None:
    for several in run(folder).values():
        for item in several:
            assert item.evidence is not None
            tried = item.evidence.effects.of(Kind.EDGE_ROW)
            assert {effect.part.edges[0] for effect in tried} == {(u, v) for u, v, _ in item.edges()}


def test_files_tell_what_edges_carry(folder: Path, tmp_path: Path) -> None:
    made = run(folder)
    item = next(several[0] for several in made.values() if several)
    content = json.loads((folder / "explanations.json").read_text())
    (edge, *_) = content["classes"][item.class_name][0]["edges"]
    assert [name for name, _ in edge["features"]] == ["trust", "length"]
    read = nx.read_graphml(item.export(tmp_path / "one.graphml"))
    (_, _, values) = next(iter(read.edges(data=True)))
    assert values["features"].startswith("trust=")
    assert "trust=" in ElementTree.tostring(ElementTree.parse(item.export(tmp_path / "one.gexf")).getroot(), "unicode")
    loaded = Explanations.load(folder)
    one, other = (each[item.class_name][0].to_hetero_data() for each in (made, loaded))
    assert torch.equal(one.edge_attr, other.edge_attr)


def test_the_page_shows_them(folder: Path) -> None:
    run(folder)
    page = (folder / "report.html").read_text()
    assert '<th scope="col">With average features</th>' in page
    assert "<span>trust: " in page
    assert LABEL in page


def test_a_second_start_goes_on(folder: Path) -> None:
    first = run(folder)
    again = run.__wrapped__(folder)
    assert [repr(item) for several in first.values() for item in several] == [
        repr(item) for several in again.values() for item in several
    ]


def test_nodes_without_features_are_no_obstacle() -> None:
    given = data()
    given.x = torch.ones(given.num_nodes, 1)

    class Plain(Model):
        def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
            return super().forward(x.expand(-1, 6), edge_index, edge_attr)

    config = replace(small_config(), features="bootstrap", structure="bootstrap")
    made = DiGNNExplainer(Plain(), given, "person", config=config, seed=0).fit().explain(top_k=1, measure=False)
    assert any(several and several[0].graph.edge_tables for several in made.values())
