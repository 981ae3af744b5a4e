"""What an explainer refuses, before anything is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from dignn import Config, DignnError, DiGNNExplainer
from dignn.config import PRESETS
from dignn.data import Dataset, load
from dignn.errors import ModelMismatchError, RunFolderError
from strategies import rings_and_stars
from tiny_models import TinyGCN, TinyHetero

SMALL = replace(PRESETS["smoke"], sizes=(8, 9), subgraphs_per_size=10, candidates=24, features="bootstrap")


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def explainer(dataset: Dataset, **options: object) -> DiGNNExplainer:
    named = {"schema": dataset.schema, "config": SMALL} | options
    return DiGNNExplainer(TinyHetero(dataset.schema), dataset.data, **named)  # type: ignore[arg-type]


def test_a_model_that_does_not_fit_is_refused_before_anything_is_written(planted: Dataset, tmp_path: Path) -> None:
    model = TinyHetero(planted.schema)
    model.head = torch.nn.Linear(8, 9)
    with pytest.raises(ModelMismatchError, match="9 classes"):
        DiGNNExplainer(model, planted.data, schema=planted.schema, config=SMALL, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (Config(structure="bootstrp"), "no structure generator called 'bootstrp' .did you mean 'bootstrap'"),
        (Config(features="iid"), "no feature generator called 'iid'"),
        (Config(sizes=(100,), subgraphs_per_size=5, features="bootstap"), "no feature generator called 'bootstap'"),
        ("fasst", "no preset called 'fasst' .did you mean 'fast'"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_written(
    planted: Dataset, tmp_path: Path, config: Config | str, message: str
) -> None:
    with pytest.raises(DignnError, match=message):
        explainer(planted, config=config, folder=tmp_path / "run").fit()
    assert not (tmp_path / "run").exists()


def test_sizes_that_no_graph_has_are_refused() -> None:
    with pytest.raises(DignnError, match="No graph has one of the sizes"):
        DiGNNExplainer(TinyGCN(1, 2, pool=True), rings_and_stars(), config=Config(sizes=(50,))).fit()


def test_a_single_class_has_nothing_to_explain(planted: Dataset) -> None:
    data = planted.data.clone()
    data["author"].y = torch.zeros_like(data["author"].y)
    with pytest.raises(DignnError, match="only one class"):
        DiGNNExplainer(TinyHetero(planted.schema), data, target="author", config=SMALL)


@pytest.mark.parametrize(
    ("data", "message"), [(None, "The data is a NoneType"), ([1, 2], "holds a int"), ("a.pt", "holds a str")]
)
def test_data_of_a_wrong_class_is_named(planted: Dataset, data: object, message: str) -> None:
    with pytest.raises(DignnError, match=message):
        DiGNNExplainer(TinyHetero(planted.schema), data, target=None)  # type: ignore[arg-type]


def test_settings_of_a_wrong_class_are_named(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="config is a dict"):
        explainer(planted, config={"top_k": 3})


def test_a_folder_that_cannot_be_written_is_named(planted: Dataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot be written"):
        explainer(planted, folder=tmp_path / "file" / "run").fit()


@pytest.mark.parametrize("field", ["edge_attr", "edge_weight"])
def test_edge_features_that_generated_graphs_would_lack_are_refused(field: str) -> None:
    class Model(TinyGCN):
        def forward(self, x, edge_index, batch, edge_attr=None, edge_weight=None):  # type: ignore[no-untyped-def]
            return super().forward(x, edge_index, batch)

    graphs = rings_and_stars()
    DiGNNExplainer(Model(1, 2, pool=True), graphs)  # nothing to lose
    for graph in graphs:
        graph[field] = torch.rand(graph.edge_index.size(1))
    with pytest.raises(ModelMismatchError, match=f"takes {field}, which generated graphs do not have"):
        DiGNNExplainer(Model(1, 2, pool=True), graphs)


def test_explaining_before_fitting_says_so(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="call fit first"):
        explainer(planted).explain()


def test_a_target_that_contradicts_the_schema_is_refused(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="target is 'author', not 'paper'"):
        explainer(planted, target="paper")
