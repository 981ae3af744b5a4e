"""What an explainer refuses, before anything is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from dignn import Config, DignnError, DiGNNExplainer
from dignn.core.errors import ModelMismatchError, RunFolderError
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.graphs.tasks.classification import NodeClassification
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
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
        DiGNNExplainer(model, planted.data, schema=planted.schema, config=SMALL, folder=tmp_path / "run").check()
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
        DiGNNExplainer(TinyHetero(planted.schema), data, target="author", config=SMALL).check()


@pytest.mark.parametrize(
    ("data", "message"), [(None, "The data is a NoneType"), ([1, 2], "holds a int"), ("a.pt", "data is a str")]
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


def test_explaining_before_fitting_says_so(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="call fit first"):
        explainer(planted).explain()


def test_a_target_that_contradicts_the_schema_is_refused(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="target is 'author', not 'paper'"):
        explainer(planted, target="paper")


class Unasked(torch.nn.Module):
    """A model that must not be asked."""

    def forward(self, x_dict: dict, edge_index_dict: dict) -> torch.Tensor:
        raise AssertionError("nobody should have asked")


def test_the_constructor_asks_nobody_and_check_asks_the_model_every_time(planted: Dataset, tmp_path: Path) -> None:
    made = DiGNNExplainer(Unasked(), planted.data, schema=planted.schema, config=SMALL, folder=tmp_path / "run")
    with pytest.raises(ModelMismatchError, match="nobody should have asked"):
        made.check()
    assert not (tmp_path / "run").exists()
    good = explainer(planted).check()
    assert good.check() is good
    good.adapter.model.forward = Unasked().forward
    with pytest.raises(ModelMismatchError, match="nobody should have asked"):
        good.check()


@pytest.mark.parametrize(("model", "message"), [("gnn", "The model is a str"), (torch.nn.LazyLinear(3), "not trained")])
def test_what_is_no_trained_model_is_refused_at_once(planted: Dataset, model: object, message: str) -> None:
    with pytest.raises(ModelMismatchError, match=message):
        DiGNNExplainer(model, planted.data, schema=planted.schema)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 2.5}, "seed is 2.5; it must be a whole number"),
        ({"seed": "a"}, "seed is 'a'; it must be a whole number"),
        ({"fresh": 3}, "fresh is 3; give a Data"),
        ({"task": NodeClassification("paper")}, "The schema has another task, about nodes of type 'author'"),
    ],
)
def test_values_of_a_wrong_kind_are_named_at_once(planted: Dataset, options: dict, message: str) -> None:
    with pytest.raises(DignnError, match=message):
        explainer(planted, **options)


@pytest.mark.parametrize("sizes", [12, ("a",), (12.5,), (0,), ()])
def test_sizes_are_numbers_of_nodes(sizes: object) -> None:
    with pytest.raises(DignnError, match="must be one or more numbers of nodes from 1 to 100"):
        Config(sizes=sizes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("candidates", "message"), [(10**20, "at most 1,000,000,000"), (True, "whole number")])
def test_numbers_of_graphs_have_bounds(candidates: int, message: str) -> None:
    with pytest.raises(DignnError, match=message):
        Config(candidates=candidates)


def test_fresh_data_that_does_not_fit_is_named(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="The fresh data does not fit: "):
        explainer(planted, fresh=lambda: Data(num_nodes=2)).fit().explain()
