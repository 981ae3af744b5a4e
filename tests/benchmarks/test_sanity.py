"""Sanity: the models really are others, what is finished is not made again, and the tables say what was found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from dignn.cli.options import settings_of
from dignn.core.errors import DignnError
from dignn.core.fingerprint import data_fingerprint
from dignn.core.seeds import Seed
from dignn.graphs.schema import Schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from dignn.zoo.models.checkpoint import trained_model

pytestmark = pytest.mark.usefixtures("haste")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import sanity_models

    return sanity_models


@pytest.fixture
def sanity(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import sanity

    return sanity


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import sanity_tables

    return sanity_tables


# -- models -------------------------------------------------------------------------------------------


def test_random_weights_are_others_and_the_seeds_alone(models: ModuleType) -> None:
    trained = trained_model(load("planted"))
    before = torch.random.get_rng_state()
    one, again, other = (models.randomised(trained, Seed(seed)).state_dict() for seed in (0, 0, 1))
    assert torch.equal(torch.random.get_rng_state(), before)
    for name, weights in trained.model.state_dict().items():
        assert weights.shape == one[name].shape
        assert not torch.equal(weights, one[name]), name
        assert torch.equal(one[name], again[name])
        if weights.dim() > 1:  # biases begin at 0
            assert not torch.equal(one[name], other[name]), name
    assert not models.randomised(trained, Seed(0)).training


def test_permuted_labels_keep_counts_and_all_else(models: ModuleType) -> None:
    dataset = load("planted")
    given = dataset.data["author"].y.clone()
    found, again = (models.permuted(dataset, Seed(0)) for _ in range(2))
    new = found.data["author"].y
    assert torch.equal(new.bincount(), given.bincount())
    assert 0.15 < float((new == given).double().mean()) < 0.35  # one in four by chance
    assert torch.equal(new, again.data["author"].y)
    assert torch.equal(dataset.data["author"].y, given)  # the data itself stays
    assert torch.equal(found.data["paper"].x, dataset.data["paper"].x)
    assert found.data["author", "paper"].edge_index is dataset.data["author", "paper"].edge_index
    assert found.splits == dataset.splits
    assert found.truth is None


def test_what_has_no_label_gets_none(models: ModuleType) -> None:
    dataset = load("ba-shapes")
    label = dataset.data.y.clone()
    label[::3] = -1
    data = dataset.data.clone()
    data.y = label
    new = models.permuted(replace(dataset, data=data), Seed(0)).data.y
    assert torch.equal(new < 0, label < 0)
    assert torch.equal(new.sort().values, label.sort().values)
    assert not torch.equal(new, label)


def test_labels_of_graphs(models: ModuleType) -> None:
    edge = torch.tensor([[0, 1], [1, 0]])
    graphs = [Data(x=torch.ones(2, 1), edge_index=edge, y=torch.tensor([number % 2])) for number in range(40)]
    schema, splits = Schema.from_graphs(graphs), {}
    dataset = Dataset("two", graphs, schema, splits, (2,))
    new = models.permuted(dataset, Seed(0)).data
    assert sum(int(graph.y) for graph in new) == 20
    assert [int(graph.y) for graph in new] != [number % 2 for number in range(40)]
    assert [int(graph.y) for graph in graphs] == [number % 2 for number in range(40)]
    data = [Data(x=torch.ones(2, 1), y=torch.tensor([0.5]))]
    with pytest.raises(DignnError, match="whole numbers"):
        models.permuted(Dataset("two", data, schema, splits, (2,)), Seed(0))


def test_every_run_has_the_same_data_and_a_model_of_its_own(models: ModuleType) -> None:
    subjects = {run: models.subject_of(run, "planted") for run in models.RUNS}
    assert len({data_fingerprint(subject.data) for subject in subjects.values()}) == 1
    weights = {run: subject.model.model.head.weight for run, subject in subjects.items()}
    reference = weights.pop(models.REFERENCE)
    assert torch.equal(weights.pop(models.OTHER_SEED), reference)
    assert len({float(weight.detach().sum()) for weight in (*weights.values(), reference)}) == 4


# -- runs ---------------------------------------------------------------------------------------------


def test_a_reference_and_a_run_beside_it(sanity: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = replace(settings_of("random-tree", "smoke"), sizes=(6, 7), subgraphs_per_size=20, candidates=24)
    monkeypatch.setattr(sanity, "settings_of", lambda name, preset: few)
    monkeypatch.setattr(sanity, "TOP_K", 1)
    given = ("planted", "random-tree")
    reference = sanity.run_line(*given, "reference", "smoke", tmp_path)
    other = sanity.run_line(*given, "randomised", "smoke", tmp_path)
    assert json.loads(json.dumps(reference)) == reference
    assert reference["stays"]["structure"] == reference["stays"]["parts"] == 1.0
    assert reference["across_classes"]["structure"] < 1.0
    assert reference["membership"]["explanations"] == 4
    assert reference["membership"]["rows"] == 1.0  # random trees have real rows, of learned nodes
    assert other["membership"] is None
    assert 0 <= other["stays"]["structure"] < 1.0
    assert 0.25 <= other["pf"] <= 1.0
    assert (other["dataset"], other["explainer"], other["run"], other["preset"]) == (*given, "randomised", "smoke")
    assert (other["explained"], other["classes"]) == (4, 4)
    assert (tmp_path / "planted-smoke" / "random-tree-randomised" / "explanations.json").is_file()


def test_what_is_finished_is_not_made_again(
    sanity: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, ...]] = []

    def run_apart(module: str, options: Sequence[str], out: Path) -> dict[str, Any] | None:
        said = dict(zip(options[1::2], options[2::2], strict=False))
        key = (said["--datasets"], said["--explainers"], said["--runs"], said["--preset"])
        made.append(key)
        if key[2] == "permuted":
            return None  # it fails
        line = dict(zip(sanity.KEY, key, strict=True))
        with out.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return {**line, "seconds": 1.0, "stays": None}

    monkeypatch.setattr(sanity, "run_apart", run_apart)
    out = str(tmp_path / "sanity.jsonl")
    monkeypatch.setattr("sys.argv", ["sanity", "--explainers", "prototypes", "random-tree", "--out", out])
    for expected in (10, 2):  # all, then those that failed
        made.clear()
        with pytest.raises(SystemExit, match="2 runs failed"):
            sanity.main()
        assert len(made) == len(set(made)) == expected
    assert made == [("planted", name, "permuted", "fast") for name in ("prototypes", "random-tree")]


# -- tables -------------------------------------------------------------------------------------------


def a_run(explainer: str, run: str, stays: float = 0.5, **more: Any) -> dict[str, Any]:
    shares = {"structure": stays, "words": None, "parts": stays / 2}
    machine = {"cores": 2, "processor": "x86_64", "python": "3.11", "torch": "2"}
    about = {"dataset": "planted", "explainer": explainer, "run": run, "preset": "fast"}
    said = {"pf": 0.75, "classes": 4, "explained": 3, "membership": None, "machine": machine}
    return {**about, **said, "stays": shares, "across_classes": {**shares, "structure": 0.125}, **more}


def test_a_table_for_each_share_and_of_what_is_near(tables: ModuleType) -> None:
    near = dict.fromkeys(tables.NEAR, 0.25) | {"held_out_nearer": None}
    runs = [a_run("xgnn", "randomised"), a_run("xgnn", "reference", membership=near), a_run("prototypes", "retrained")]
    title, first, structure, second, parts, third, pf, fourth, data, place = tables.tables(runs)
    assert title == "### planted"
    assert "(`structure`)" in first
    assert structure.splitlines()[2:] == [
        "| `prototypes` | 0.50 (0.12) | - | - | - | - |",
        "| `xgnn` | - | - | 0.50 (0.12) | - | (0.12) |",
    ]
    assert "(`parts`)" in second  # there are no words, so there is no table of them
    assert parts.splitlines()[3] == "| `xgnn` | - | - | 0.25 (0.25) | - | (0.25) |"
    assert "PF" in third
    assert pf.splitlines()[3] == "| `xgnn` | 0.75, 3 of 4 | - | - | 0.75, 3 of 4 | - |"
    assert "near" in fourth
    assert data.splitlines()[2:] == ["| `xgnn` | 0.25 | 0.25 | 0.25 | 0.25 | 0.25 | - | 0.25 | 0.25 |"]
    assert "2 cores" in place


def test_without_runs_of_the_preset_the_page_says_so(tables: ModuleType) -> None:
    assert tables.tables([a_run("xgnn", "reference", preset="smoke")]) == ["No runs yet."]
