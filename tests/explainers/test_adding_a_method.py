"""What a method must provide: little, and for methods of very different kinds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
import torch

from dignn import DignnError, Explainer, GraphBatch
from dignn.cli.main import main
from dignn.core.seeds import Seed
from dignn.explainers.class_search import ClassSearch
from dignn.explainers.registry import EXPLAINERS, presets_of
from dignn.explainers.settings import RunSettings
from dignn.features.settings import FeatureSettings
from dignn.metrics.controls import random_trees
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
SMALL = {"sizes": (8, 9), "subgraphs_per_size": 10, "candidates": 24, "top_k": 1}


@dataclass(frozen=True)
class SearchSettings(FeatureSettings, RunSettings):
    """Settings of a method's own, beside those of a run and of features."""

    tries: int = 4


class Proposed(Explainer):
    """Looks at no class: real graphs as they are, with their features."""

    name = "proposed"

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        known = self.real.train.sizes.tolist()
        return self.real.train[[known.index(size) for size in sizes]]


class Searched(ClassSearch):
    """Looks for one class by the model's probability, and brings no features."""

    name = "searched"
    presets: ClassVar = {"fast": SearchSettings(features="bootstrap", **SMALL)}  # type: ignore[arg-type]
    config: SearchSettings

    def search(self, class_index: int, sizes: Sequence[int], seed: Seed) -> GraphBatch:
        several = [random_trees(self.real.train, sizes, seed=seed.child(number)) for number in range(self.config.tries)]
        with_features = [self.filled(trees, seed.child("features")) for trees in several]
        best = []
        for graph in range(len(sizes)):
            scores = [self.adapter.score(trees[graph]).probability[:, class_index].max() for trees in with_features]
            best.append(several[int(torch.stack(scores).argmax())][graph])
        return GraphBatch.cat(best)

    def filled(self, trees: GraphBatch, seed: Seed) -> GraphBatch:
        self.learn_features()
        return self.bank.fill(trees, seed=seed)


class Climbed(ClassSearch):
    """Looks for one class by the gradient of its score through soft edges."""

    name = "climbed"

    def search(self, class_index: int, sizes: Sequence[int], seed: Seed) -> GraphBatch:
        known = self.real.train.sizes.tolist()
        graphs = self.real.train[[known.index(size) for size in sizes]]
        weight = torch.ones(graphs.edge.shape, requires_grad=True)
        self.adapter.score_weighted(graphs, weight).logits[:, class_index].sum().backward()
        assert weight.grad is not None
        assert bool((weight.grad[graphs.edge > 0] != 0).any())
        worst = (weight.grad + weight.grad.transpose(1, 2)) < -1e6  # keeps graphs whole: none is that bad
        return replace(graphs, edge=graphs.edge.masked_fill(worst, 0))


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


@pytest.mark.parametrize("method", [Proposed, Searched, Climbed])
def test_methods_of_every_kind_take_the_same_walk(method: type[Explainer], planted: Dataset, tmp_path: Path) -> None:
    config = "fast" if method is Searched else RunSettings(**SMALL)  # type: ignore[arg-type]
    model = TinyHetero(planted.schema)
    made = method(model, planted.data, schema=planted.schema, config=config, folder=tmp_path)
    explanations = made.fit().explain()
    assert list(explanations) == list(planted.schema.classes)
    assert explanations.about["explainer"] == method.name
    assert explanations.about["metrics"]["paper"]["pf"] > 0
    assert all(item.graph.tables.keys() == {"author", "paper", "term"} for [item] in explanations.values())
    assert (tmp_path / "features.safetensors").exists() == (method is Searched)
    assert (tmp_path / "report.html").exists()


def test_a_search_gives_every_class_graphs_of_every_size_that_are_meant_for_it(planted: Dataset) -> None:
    config = SearchSettings(features="bootstrap", **SMALL)  # type: ignore[arg-type]
    made = Searched(TinyHetero(planted.schema), planted.data, schema=planted.schema, config=config).fit()
    assert made._candidates is not None
    assert len(made._candidates) == SMALL["candidates"]
    meant = set(made._candidates.label[made._candidates.target_mask].tolist())
    assert meant == set(range(planted.schema.num_classes))
    for label in meant:
        own = made._candidates[(made._candidates.label == label).any(1)]
        assert set(own.sizes.tolist()) == {8, 9}


def test_settings_are_those_of_the_method(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="config is a RunSettings; give a SearchSettings"):
        Searched(TinyHetero(planted.schema), planted.data, config=RunSettings())
    with pytest.raises(DignnError, match="no preset called 'paper'; choose from fast, smoke"):
        Proposed(TinyHetero(planted.schema), planted.data, config="paper")


@pytest.fixture
def registered() -> Iterator[str]:
    EXPLAINERS.add("searched", Searched)
    yield "searched"
    EXPLAINERS._items.pop("searched")


def test_a_registered_method_is_found_with_its_settings(registered: str) -> None:
    assert EXPLAINERS[registered] is Searched
    assert presets_of(registered)["fast"].candidates == 24
    with pytest.raises(DignnError, match="no explainer called 'serched' .did you mean 'searched'"):
        presets_of("serched")


def test_one_file_in_the_folder_of_methods_is_all_it_takes(tmp_path: Path) -> None:
    (tmp_path / "my_method.py").write_text(
        "from dignn.explainers.registry import EXPLAINERS\n\n\n"
        "@EXPLAINERS.register('my-method')\n"
        "class Mine:\n"  # of an Explainer it takes seconds to load torch
        "    pass\n"
    )
    seen = (
        "import sys, dignn.explainers.methods as methods\n"
        f"methods.__path__.append({str(tmp_path)!r})\n"
        "from dignn.explainers.registry import EXPLAINERS\n"
        "assert 'my-method' in EXPLAINERS and 'torch' not in sys.modules\n"
        "print(EXPLAINERS['my-method'].name)\n"
    )
    found = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "my-method"


def test_a_second_call_measures_nothing_twice_and_none_measures_nothing(
    planted: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = []
    monkeypatch.setattr("dignn.explainers.base.Measuring.measure", lambda *_: measured.append(1) or {"paper": {}})
    config = RunSettings(**SMALL)  # type: ignore[arg-type]
    made = Proposed(TinyHetero(planted.schema), planted.data, schema=planted.schema, config=config).fit()
    assert "metrics" not in made.explain(measure=False).about
    assert not measured
    assert made.explain().about["metrics"] == made.explain(top_k=2).about["metrics"] == {"paper": {}}
    assert made.explain(measure=False).about["metrics"] == {"paper": {}}  # what is known is told
    assert len(measured) == 1
    made.explain(measure_again=True)
    assert len(measured) == 2


def test_the_command_line_takes_a_method_without_settings_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    EXPLAINERS.add("proposed", Proposed)
    try:
        assert main(["explain", "planted", "--explainer", "proposed", "--help"]) == 0
        assert "--candidates" in capsys.readouterr().out
        words = ["--sizes", "8", "9", "--subgraphs-per-size", "10", "--candidates", "24", "--quiet"]
        assert main(["explain", "planted", "--explainer", "proposed", "--out", str(tmp_path / "run"), *words]) == 0
        assert json.loads((tmp_path / "run" / "config.json").read_text())["explainer"] == "proposed"
        assert "--explainer proposed" in (tmp_path / "run" / "report.html").read_text()
    finally:
        EXPLAINERS._items.pop("proposed")
