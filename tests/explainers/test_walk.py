"""The five steps alive: node and graph classification, reproducible, resumable."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from dignn import DignnError, DiGNNExplainer, Explanation, Explanations
from dignn.core.errors import RunFolderError
from dignn.diffusion.settings import TrainingConfig
from dignn.evidence.variants import Kind
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.explanations.explanation import Standing
from dignn.features.bank import FeatureBank
from dignn.graphs.batch import GraphBatch
from dignn.structure.node_growth.generator import NodeGrowth
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from strategies import rings_and_stars
from tiny_models import TinyGCN, TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
SMOKE, HASTE = PRESETS["smoke"], TrainingConfig(steps=10, validate_every=5)
SMALL = replace(
    SMOKE,
    sizes=(8, 9),
    subgraphs_per_size=10,
    candidates=24,
    top_k=2,
    features="bootstrap",
    node_growth=replace(SMOKE.node_growth, training=HASTE),
    ditabddpm=replace(SMOKE.ditabddpm, training=HASTE),
    tabddpm=replace(SMOKE.tabddpm, training=HASTE),
)
# Features are learned, from enough subgraphs for that.
LEARNING = replace(SMALL, subgraphs_per_size=60, features=SMOKE.features)
FILES = {
    "config.json",
    "schema.json",
    "timings.json",
    "metrics.json",
    "structure.safetensors",
    "features.safetensors",
    "generation.json",
    "candidates.safetensors",
    "unrefined.safetensors",
    "goes_by.json",
    "counterfactuals.safetensors",
    "explanations.json",
    "explanations.safetensors",
    "report.html",
    "nearest.safetensors",
    "backdrop.safetensors",
    "checksums.json",
}


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def explainer(dataset: Dataset, **options: object) -> DiGNNExplainer:
    named = {"schema": dataset.schema, "config": SMALL, "seed": 0} | options
    return DiGNNExplainer(TinyHetero(dataset.schema), dataset.data, **named)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def runs(planted: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of two finished runs, both on one thread: ``small`` and ``learning``."""
    folder, before = tmp_path_factory.mktemp("runs"), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for name, config in (("small", SMALL), ("learning", LEARNING)):
            explainer(planted, config=config, folder=folder / name).fit().explain()
    finally:
        torch.set_num_threads(before)
    return folder


@pytest.fixture
def finished(runs: Path, tmp_path: Path) -> Path:
    """A folder of its own with a finished run of ``SMALL``."""
    return Path(shutil.copytree(runs / "small", tmp_path / "finished"))


@pytest.fixture
def finished_learning(runs: Path, tmp_path: Path) -> Path:
    """The same of ``LEARNING``."""
    return Path(shutil.copytree(runs / "learning", tmp_path / "finished-learning"))


def digests(folder: Path) -> dict[str, str]:
    """Of everything that must not depend on the clock; the folder's own account of it is the same."""
    timed = {"timings.json", "report.html", "checksums.json"}
    every = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}
    noted = json.loads((folder / "checksums.json").read_text())
    assert noted == {name: digest for name, digest in every.items() if name not in ("report.html", "checksums.json")}
    return {name: digest for name, digest in every.items() if name not in timed}


def test_three_lines_of_python_give_explanations_of_every_class(planted: Dataset, tmp_path: Path) -> None:
    explanations = (
        DiGNNExplainer(TinyHetero(planted.schema), planted.data, target="author", config=SMALL).fit().explain(top_k=3)
    )
    assert list(explanations) == [f"class {number}" for number in range(4)]
    for name, several in explanations.items():
        assert [item.rank for item in several] == list(range(len(several)))
        assert len(several) == 3
        assert len({item.candidate for item in several}) == 3
        assert all(item.class_name == name and sum(item.probability) == pytest.approx(1) for item in several)
    assert explanations.report(tmp_path / "report.html").exists()


def test_an_explanation_scores_what_it_says(planted: Dataset, finished: Path) -> None:
    model = TinyHetero(planted.schema)
    for several in Explanations.load(finished).values():
        best = several[0]
        data = best.to_hetero_data()
        position = best.graph.target_mask[0].nonzero()[:, 0].tolist().index(best.node)
        probability = model(data.x_dict, data.edge_index_dict).double().softmax(1)[position]
        assert probability.tolist() == pytest.approx(list(best.probability), abs=1e-5)


def test_no_candidate_beats_the_first_explanation_of_the_papers_rule(
    planted: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.explainers.base.Measuring.measure", lambda *_, **__: {})
    made = explainer(planted, config=replace(SMALL, selection="highest"))
    explanations = made.fit().explain()
    assert made._candidates is not None
    highest = made.adapter.score(made._candidates).probability.max(0).values
    assert [several[0].score for several in explanations.values()] == pytest.approx(highest.tolist())
    for several in explanations.values():
        assert sorted((item.log_odds for item in several), reverse=True) == [item.log_odds for item in several]


def test_first_explanations_are_the_best_among_those_like_real_members(planted: Dataset, finished: Path) -> None:
    """Within the tolerance, where the model puts any candidate into the class that lies inside the real range."""
    made = explainer(planted, folder=finished)
    explanations = made.fit().explain()
    assert made._candidates is not None
    scores = made.adapter.score(made._candidates)
    members = made.members
    seen = scores.logits.argmax(1)
    labels = scores.labels(made._candidates)
    told = 0
    for number, several in enumerate(explanations.values()):
        near = torch.from_numpy(members[number].place(scores).inside(0.9)) & (seen == number)
        meant = near & ((labels == number) | (labels < 0))
        pool = meant if meant.any() else near
        if pool.any():
            assert several[0].standing is not None
            assert several[0].standing.inside
            assert several[0].score >= float(scores.probability[pool, number].max()) - made.config.tolerance
            told += 1
    assert told  # the weak model of these tests puts candidates into few classes


def test_selection_does_not_see_held_out_graphs(planted: Dataset, finished: Path) -> None:
    before = digests(finished)
    opened = explainer(planted, folder=finished).fit()
    del opened.real.held_out  # only metrics look at them, and those are there
    (finished / "explanations.json").unlink()
    opened.explain()
    assert digests(finished) == before


def test_an_explanation_says_how_it_stands_among_real_members(planted: Dataset, finished: Path) -> None:
    made = explainer(planted, folder=finished)
    made.fit()
    assert made._candidates is not None
    scores = made.adapter.score(made._candidates)
    for several in Explanations.load(finished).values():
        for item in several:
            (row,) = ((scores.graph == item.candidate) & (scores.node == item.node)).nonzero()[:, 0].tolist()
            members = made.members[item.class_index]
            place = members.place(scores, torch.tensor([row]))
            assert item.standing == Standing(
                bool(place.inside()[0]), pytest.approx(place.logit_rank[0]), pytest.approx(place.distance_rank[0])
            )


def test_an_explanation_carries_what_the_model_sees_in_it(planted: Dataset, finished: Path) -> None:
    """Every removal of a node is as when the node is taken out by hand."""
    model = TinyHetero(planted.schema)
    for name, several in Explanations.load(finished).items():
        for item in several:
            assert item.evidence is not None
            assert name in item.evidence.text
            removed = item.evidence.effects.of(Kind.NODE)
            assert {effect.part.nodes[0] for effect in removed} == set(range(int(item.graph.sizes[0]))) - {item.node}
            for effect in removed:
                probability, log_odds = _without(model, item, effect.part.nodes[0])
                assert effect.probability == pytest.approx(probability, abs=1e-6)
                assert effect.drop == pytest.approx(item.log_odds - log_odds, abs=1e-4)


def _without(model: TinyHetero, item: Explanation, gone: int) -> tuple[float, float]:
    """Probability and log-odds of the class where one node is deleted from the data that the model takes."""
    types, data = item.graph.node_type[0], item.to_hetero_data()
    alike = [(types == code).nonzero()[:, 0].tolist() for code in range(len(data.node_types))]
    kept = {
        kind: torch.tensor([v != gone for v in alike[code]], dtype=torch.bool)
        for code, kind in enumerate(data.node_types)
    }
    left = data.subgraph(kept)
    authors = [v for v in alike[data.node_types.index("author")] if v != gone]
    scores = model(left.x_dict, left.edge_index_dict).double()[authors.index(item.node or 0)]
    probability = float(scores.softmax(0)[item.class_index])
    return probability, math.log(probability / (1 - probability))


def test_the_nearest_example_is_nearest_to_the_model(planted: Dataset, finished: Path) -> None:
    made = explainer(planted, folder=finished).fit()
    real = made.train_scores
    for several in Explanations.load(finished).values():
        for item in several:
            assert item.evidence is not None
            own = made.adapter.score(item.graph)
            apart = (real.embedding - own.embedding[own.node == item.node]).double().norm(dim=1)
            nearest = item.evidence.nearest
            assert nearest.distance == pytest.approx(float(apart.min()), abs=1e-6)
            (place,) = ((real.graph == nearest.graph) & (real.node == nearest.node)).nonzero()[:, 0].tolist()
            assert float(apart[place]) == pytest.approx(nearest.distance, abs=1e-6)
            assert nearest.predicted == int(real.predicted[place])
            assert item.example is not None
            assert torch.equal(item.example.edge, made.real.train[nearest.graph].edge)
            assert torch.equal(item.example.features("author"), made.real.train[nearest.graph].features("author"))


def test_what_has_no_label_is_never_called_labelled_and_a_second_fit_changes_nothing(planted: Dataset) -> None:
    few = planted.data.clone()
    y = few["author"].y
    few["author"].y = torch.where(torch.arange(len(y)) % 5 == 0, y, -1)
    made = DiGNNExplainer(TinyHetero(planted.schema), few, schema=planted.schema, config=SMALL, seed=0)
    first, second = (made.fit().explain(measure=False) for _ in range(2))
    assert first.about["agreement"] == second.about["agreement"]
    assert first.about["sampling"] == second.about["sampling"]
    assert first.about["sampling"]["unlabelled"] > 0
    assert first.about["agreement"]["count"] <= int((few["author"].y >= 0).sum())
    for one, other in zip(first.values(), second.values(), strict=True):
        assert [item.probability for item in one] == [item.probability for item in other]
        for item in one:
            assert item.evidence is not None
            nearest = item.evidence.nearest
            given = int(few["author"].y[made.real.train.row[nearest.graph, nearest.node]])
            assert nearest.label == (None if given < 0 else given)


def test_a_run_folder_holds_what_others_rely_on(planted: Dataset, tmp_path: Path) -> None:
    explainer(planted, folder=tmp_path, about={"dataset": "planted"}).fit().explain()
    assert {path.name for path in tmp_path.iterdir()} == FILES
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert set(metrics) == {*("paper", "sound", "candidates", "floor", "control", "fresh", "selection", "details")}
    assert metrics["fresh"] is None  # nobody gave other data
    assert set(metrics["paper"]) == {"mmd", "cosine", "pf", "gf"}
    assert (
        set(metrics["paper"]["mmd"])
        == set(metrics["sound"]["mmd"])
        == {"node_type", "degree", "clustering", "spectral"}
    )
    assert set(metrics["sound"]) == {
        *("yield", "mmd", "features", "graphs", "typed_gf", "contrast", "pf_in_distribution", "coverage", "planted"),
        "missing_rates",
        "fidelity",
    }
    for other in (metrics["floor"], *metrics["control"].values()):
        assert set(other["paper"]) == set(metrics["paper"])
        assert set(other["sound"]) == set(metrics["sound"])
    assert set(metrics["selection"]) == {"representative", "typical", "highest"}
    assert metrics["sound"]["yield"] == 1.0
    assert len(GraphBatch.load(tmp_path / "candidates.safetensors")) == SMALL.candidates
    assert json.loads((tmp_path / "config.json").read_text())["seed"] == 0


def test_same_seed_same_bytes_whatever_the_threads(planted: Dataset, runs: Path, tmp_path: Path) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        explainer(planted, config=LEARNING, folder=tmp_path).fit().explain()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert digests(tmp_path) == digests(runs / "learning")


def test_another_seed_gives_other_candidates(planted: Dataset) -> None:
    one, other = (explainer(planted, seed=seed).fit()._candidates for seed in (0, 1))
    assert not torch.equal(one.edge, other.edge)


def test_the_global_random_state_is_left_alone(planted: Dataset) -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    explainer(planted).fit().explain()
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    "lost",
    [
        ("candidates.safetensors",),
        ("candidates.safetensors", "structure.safetensors"),
        ("candidates.safetensors", "features.safetensors"),
        ("metrics.json",),
        ("goes_by.json",),
        ("counterfactuals.safetensors",),
        ("goes_by.json", "metrics.json"),
        ("explanations.json",),
        ("report.html",),
    ],
)
def test_a_second_start_makes_what_is_missing_and_gives_the_same_bytes(
    planted: Dataset, finished: Path, lost: tuple[str, ...]
) -> None:
    before = digests(finished)
    for name in lost:
        (finished / name).unlink()
    explainer(planted, folder=finished).fit().explain()
    assert digests(finished) == before
    assert {path.name for path in finished.iterdir()} == FILES


@pytest.mark.parametrize("learned", ["structure", "structure and features"])
def test_a_run_that_was_killed_does_not_learn_again_what_it_had_learned(
    planted: Dataset, finished_learning: Path, monkeypatch: pytest.MonkeyPatch, learned: str
) -> None:
    before = digests(finished_learning)
    (finished_learning / "candidates.safetensors").unlink()
    (finished_learning / "generation.json").unlink()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("what was learned is in the folder")

    monkeypatch.setattr(NodeGrowth, "_fit", refuse)
    if learned == "structure":
        (finished_learning / "features.safetensors").unlink()
    else:
        monkeypatch.setattr(FeatureBank, "fit", refuse)
    explainer(planted, config=LEARNING, folder=finished_learning).fit().explain()
    assert digests(finished_learning) == before


def test_loss_curves_and_counts_are_kept_for_the_report(planted: Dataset, finished_learning: Path) -> None:
    made = json.loads((finished_learning / "generation.json").read_text())
    assert made["structure"]["training"]["all sizes"]["curves"]["train"]
    assert made["structure"]["sampling"]["graphs"] == 24
    assert {name: about["generator"] for name, about in made["features"].items()} == {
        "author": "ditabddpm",
        "paper": "ditabddpm",
        "term": "tabddpm",
    }
    assert made["features"]["author"]["training"]["curves"]["train"]
    again = explainer(planted, config=LEARNING, folder=finished_learning).fit().explain()
    assert again.about["generation"] == made


def test_a_folder_of_another_seed_is_refused(planted: Dataset, finished: Path) -> None:
    with pytest.raises(RunFolderError, match="run with seed 0, not 1"):
        explainer(planted, folder=finished, seed=1).check()


def test_measuring_again_replaces_the_figures(planted: Dataset, finished: Path) -> None:
    before = digests(finished)
    content = json.loads((finished / "metrics.json").read_text())
    right, content["paper"]["pf"] = content["paper"]["pf"], -1.0
    (finished / "metrics.json").write_text(json.dumps(content))
    opened = explainer(planted, folder=finished).fit()
    with pytest.raises(RunFolderError, match=r"metrics\.json is damaged or was altered.*; delete the file"):
        opened.explain()
    assert opened.explain(measure_again=True).about["metrics"]["paper"]["pf"] == right
    assert digests(finished) == before


def test_old_figures_stay_when_measuring_again_fails(
    planted: Dataset, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise DignnError("no memory left")

    before = digests(finished)
    monkeypatch.setattr("dignn.explainers.base.Measuring.measure", fail)
    with pytest.raises(DignnError, match="no memory left"):
        explainer(planted, folder=finished).fit().explain(measure_again=True)
    assert digests(finished) == before


def test_more_explanations_begin_with_the_same(planted: Dataset, finished: Path) -> None:
    opened = explainer(planted, folder=finished).fit()
    few, more = opened.explain(top_k=2), opened.explain(top_k=5)
    for name in few:
        assert len(more[name]) == 5
        assert [item.candidate for item in more[name][:2]] == [item.candidate for item in few[name]]


def test_explanations_save_and_load(planted: Dataset, finished: Path, tmp_path: Path) -> None:
    explanations = explainer(planted, folder=finished).fit().explain()
    explanations.save(tmp_path)
    loaded = Explanations.load(tmp_path)
    assert list(loaded) == list(explanations)
    for name, several in explanations.items():
        for one, other in zip(several, loaded[name], strict=True):
            assert one.summary() == other.summary()
            assert (one.standing, one.evidence) == (other.standing, other.evidence)
            assert one.standing is not None
            assert torch.equal(one.graph.edge, other.graph.edge)
            assert torch.equal(one.graph.features("author"), other.graph.features("author"))


def test_opening_a_finished_run_changes_nothing_at_all(planted: Dataset, finished: Path) -> None:
    before = {path.name: path.read_bytes() for path in finished.iterdir()}
    explainer(planted, folder=finished).fit().explain()
    assert {path.name: path.read_bytes() for path in finished.iterdir()} == before


def test_a_reloaded_run_reports_the_same(finished: Path, tmp_path: Path) -> None:
    Explanations.load(finished).report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == (finished / "report.html").read_text()


def test_a_folder_of_another_model_or_other_data_is_refused(planted: Dataset, finished: Path) -> None:
    other = TinyHetero(planted.schema, seed=1)
    with pytest.raises(RunFolderError, match="run with model"):
        DiGNNExplainer(other, planted.data, schema=planted.schema, config=SMALL, folder=finished).fit()
    data = planted.data.clone()
    data["author"].x = data["author"].x.roll(1, 0)
    with pytest.raises(RunFolderError, match="run with data"):
        DiGNNExplainer(TinyHetero(planted.schema), data, schema=planted.schema, config=SMALL, folder=finished).fit()


@pytest.mark.parametrize("name", ["candidates.safetensors", "features.safetensors", "structure.safetensors"])
def test_files_that_were_damaged_are_named(planted: Dataset, finished: Path, name: str) -> None:
    (finished / "candidates.safetensors").unlink()
    (finished / name).write_bytes(b"nonsense")
    with pytest.raises(RunFolderError, match=f"{name} is damaged"):
        explainer(planted, folder=finished).fit()


def test_generated_target_nodes_carry_features_of_their_class(planted: Dataset, finished: Path) -> None:
    candidates = GraphBatch.load(finished / "candidates.safetensors")
    real, labels = planted.data["author"].x, planted.data["author"].y
    rows = candidates.features("author")
    for row, label in zip(rows, candidates.label[candidates.target_mask], strict=True):
        assert int(label) in labels[(real == row).all(1)].tolist()


@pytest.mark.parametrize("top_k", [0, -1])
def test_top_k_must_be_positive(planted: Dataset, finished: Path, top_k: int) -> None:
    with pytest.raises(DignnError, match="it must be at least 1"):
        explainer(planted, folder=finished).fit().explain(top_k=top_k)


# -- other tasks --------------------------------------------------------------------------------------


def test_graph_classification(tmp_path: Path) -> None:
    config = replace(SMALL, sizes=None, candidates=12)
    model = TinyGCN(1, 2, pool=True)
    explanations = DiGNNExplainer(model, rings_and_stars(), config=config, folder=tmp_path).fit().explain()
    assert list(explanations) == ["class 0", "class 1"]
    assert all(item.node is None for several in explanations.values() for item in several)
    made = {path.name for path in tmp_path.iterdir()}
    assert made | {"counterfactuals.safetensors"} == FILES  # it is there where pairs were found
    assert json.loads((tmp_path / "metrics.json").read_text())["paper"]["cosine"] is None


def test_homogeneous_node_classification() -> None:
    graph = load("tree-cycle")
    model = TinyGCN(1, 2, pool=False)
    explanations = DiGNNExplainer(model, graph.data, schema=graph.schema, config=SMALL).fit().explain()
    best = explanations["cycle"][0]
    assert isinstance(best.to_hetero_data(), Data)
    assert best.graph.target_mask[0, best.node]
