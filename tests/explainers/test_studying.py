"""What a run's model goes by: found once, tested on real graphs, kept, and the same however it is computed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from dignn import DignnError, DiGNNExplainer, Explanations
from dignn.core.seeds import Seed
from dignn.explainers.studying import found_on
from dignn.goes_by.finding import find
from dignn.goes_by.term_keys import predicate_from
from dignn.sampling.division import is_learned
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from small_runs import short_smoke
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
FIND = "dignn.explainers.studying.find_with_effects"


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def explainer(dataset: Dataset, folder: Path | None = None, model: Any = None, fires: int = 20) -> DiGNNExplainer:
    settings = replace(
        short_smoke(), sizes=(8,), subgraphs_per_size=fires, candidates=32, top_k=1, features="bootstrap", refined=0.0
    )
    torch.manual_seed(0)
    asked = TinyHetero(dataset.schema) if model is None else model
    return DiGNNExplainer(asked, dataset.data, schema=dataset.schema, config=settings, seed=0, folder=folder)


@pytest.fixture(scope="module")
def studied(planted: Dataset, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Explanations]:
    folder = tmp_path_factory.mktemp("studied") / "run"
    made = explainer(planted, folder).fit()
    before = made.explain(measure=False)
    assert "goes_by" not in before.about
    return folder, made.study()


def test_what_is_known_stays_until_it_is_found_anew(
    studied: tuple[Path, Explanations], planted: Dataset, tmp_path: Path
) -> None:
    """A run that is stopped while it studies again loses nothing of what it told."""
    folder = tmp_path / "run"
    shutil.copytree(studied[0], folder)
    told = (folder / "explanations.json").read_text()

    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with mock.patch(FIND, stopped), pytest.raises(KeyboardInterrupt):
        explainer(planted, folder).fit().explain(measure_again=True)
    assert json.loads((folder / "explanations.json").read_text())["goes_by"] == json.loads(told)["goes_by"]
    assert "goes_by" in Explanations.load(folder).about


def test_terms_of_every_class_are_told_in_words_and_for_programs(studied: tuple[Path, Explanations]) -> None:
    folder, explanations = studied
    told = json.loads((folder / "explanations.json").read_text())["goes_by"]
    assert told == explanations.about["goes_by"] == Explanations.load(folder).about["goes_by"]
    assert list(told) == list(explanations)
    terms = [term for of_class in told.values() for term in of_class]
    assert terms
    for term in terms:
        assert set(term) >= {"term", "points", "effect", "interval", "decoy", "matched"}
        assert predicate_from(term["predicate"])
        assert term["points"] != 0
    assert (folder / "report.html").exists()


def test_a_run_that_goes_on_finds_nothing_again(studied: tuple[Path, Explanations], planted: Dataset) -> None:
    folder, explanations = studied
    before = (folder / "explanations.json").read_bytes()
    with mock.patch(FIND, side_effect=AssertionError("it is known")):
        again = explainer(planted, folder).fit()
        assert again.explain(measure=False).about["goes_by"] == explanations.about["goes_by"]
        again.study()
    assert (folder / "explanations.json").read_bytes() == before


def test_fidelity_stands_among_the_figures(studied: tuple[Path, Explanations], planted: Dataset) -> None:
    folder, explanations = studied
    explainer(planted, folder).fit().explain()
    metrics = json.loads((folder / "metrics.json").read_text())
    tested = explanations.about["studied"]
    assert metrics["sound"]["fidelity"] == metrics["candidates"]["sound"]["fidelity"]
    assert metrics["sound"]["fidelity"] == {name: tested[name]["value"] for name in ("scorecard", "rules", "auc")}
    assert metrics["floor"]["sound"]["fidelity"] == tested["floor"]
    assert metrics["control"]["column_noise"]["sound"]["fidelity"] == tested["noise"]
    assert metrics["control"]["real_subgraphs"]["sound"]["fidelity"] is None
    assert json.loads((folder / "timings.json").read_text())["STUDY"] > 0


def test_measuring_finds_it_first(planted: Dataset) -> None:
    made = explainer(planted).fit()
    made.explain(measure=False)
    explanations = made.measure()
    assert explanations.about["goes_by"]
    assert explanations.about["metrics"]["sound"]["fidelity"]


def test_the_floor_is_found_on_what_is_learned_from(planted: Dataset) -> None:
    """Training fires reach held-out authors, on whom it is tested."""
    made = explainer(planted, fires=150).fit()
    made.explain(measure=False)
    with mock.patch("dignn.explainers.studying.find", wraps=find) as finding:
        made.study()
    graphs, floor, _ = finding.call_args_list[0].args
    learned, every = made.real.learned_rows, made.train_scores
    assert is_learned(graphs, floor.graph, floor.node, learned).all()
    assert not is_learned(graphs, every.graph, every.node, learned).all()
    assert 0 < len(floor) < len(every)


def test_it_is_found_on_one_thread(planted: Dataset) -> None:
    """Sums on several give other bits."""
    made = explainer(planted).fit()
    made.explain(measure=False)
    threads: set[int] = set()

    def finding(*given: Any) -> Any:
        threads.update(pool["num_threads"] for pool in threadpool_info())
        return find(*given)

    with threadpool_limits(2), mock.patch("dignn.explainers.studying.find", finding):
        made.study()
        found_on(made.real.train, made.train_scores, made.real.train, made.train_scores, Seed(0))
        assert {pool["num_threads"] for pool in threadpool_info()} == {2}
    assert threads == {1}


class Constant(TinyHetero):
    """Gives every author the first class."""

    def forward(self, *given: Any, **named: Any) -> torch.Tensor:
        found = super().forward(*given, **named)
        return found * 1e-3 + torch.tensor([5.0, *[0.0] * (found.size(1) - 1)])


def test_a_model_that_always_says_the_same_goes_by_nothing(planted: Dataset) -> None:
    explanations = explainer(planted, model=Constant(planted.schema)).fit().explain()
    assert "goes_by" not in explanations.about
    assert explanations.about["metrics"]["sound"]["fidelity"] is None


def test_there_must_be_explanations(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="nothing to study yet; call explain first"):
        explainer(planted).study()
