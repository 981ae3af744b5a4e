"""The generator that diffuses edges, with both kinds of noise."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dignn.core import threads
from dignn.core.errors import DignnError, RunFolderError
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.isomorphism import fingerprints
from dignn.graphs.validity import check_validity
from dignn.sampling.forest_fire import forest_fire
from dignn.structure.edge_diffusion.edge_absorbing import AbsorbingProcess
from dignn.structure.edge_diffusion.edge_marginal import MarginalProcess
from dignn.structure.edge_diffusion.edge_process import EdgeProcess
from dignn.structure.edge_diffusion.edge_sampling import draw_graphs
from dignn.structure.edge_diffusion.edge_tokens import Tokens
from dignn.structure.edge_diffusion.generator import EdgeDiffusion, _cut
from dignn.structure.settings import EdgeDiffusionConfig
from dignn.zoo.datasets.registry import load
from edge_graphs import BOTH, PLAIN, QUICK, SIZES, generator, path, process, star
from strategies import batch_of


@pytest.fixture(autouse=True)
def few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks that have learned nothing make graphs that fall apart, again and again."""
    monkeypatch.setattr("dignn.structure.edge_diffusion.edge_sampling.DRAWN_ANEW", 2)


@pytest.fixture(scope="module")
def planted() -> GraphBatch:
    dataset = load("planted")
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (8, 10), 30, seed=Seed(0))


# -- drawing again ------------------------------------------------------------------------------------


class Clumsy(AbsorbingProcess):
    """Breaks its graphs the first few times."""

    broken = 3

    def denoise(self, graphs, level, generator, steer=None):  # type: ignore[no-untyped-def]
        made = super().denoise(graphs, level, generator, steer)
        self.levels = [*getattr(self, "levels", []), level]
        if len(self.levels) <= self.broken:
            made.pairs[: len(made) // 2] = 0
        return made


def test_graphs_that_fall_apart_go_back_to_the_middle_and_then_to_the_start() -> None:
    made = process(Clumsy, path(4), replace(QUICK, restarts=2))
    known = Tokens.by_size(path(4), made.vocabulary)[4].known.expand(8, -1)
    drawn, outcome = draw_graphs(made, 4, known, generator())
    assert made.levels == [1.0, 0.5, 0.5, 1.0]
    assert tuple(outcome[name] for name in ("first", "restarts", "fresh", "final")) == (4, 4 + 2, 1, 8)
    assert bool(check_validity(drawn.decode(made.vocabulary)).connected.all())


def test_where_no_training_graph_is_connected_none_can_be_asked_for() -> None:
    graphs = GraphBatch.cat([batch_of(PLAIN, [0] * 4, {(0, 1): 1, (2, 3): 1})] * 12)
    with pytest.raises(DignnError, match="No training graph is connected, .* set constraints to False"):
        EdgeDiffusion(QUICK).fit(graphs, seed=Seed(0))
    made = EdgeDiffusion(replace(QUICK, constraints=False)).fit(graphs, seed=Seed(0))
    assert len(made.sample([4] * 5, seed=Seed(0))) == 5
    assert made.report["sampling"]["yield"] == 0


def test_sizes_without_a_connected_graph_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    apart = GraphBatch.cat([batch_of(PLAIN, [0] * 4, {(0, 1): 1, (2, 3): 1})] * 6)
    whole = GraphBatch.cat([batch_of(PLAIN, [0] * 3, {(0, 1): 1, (1, 2): 1})] * 12)
    made = EdgeDiffusion(QUICK).fit(GraphBatch.cat([apart, whole]), seed=Seed(0))
    assert made.sample([3] * 5, seed=Seed(0)).sizes.tolist() == [3] * 5
    with pytest.raises(DignnError, match="No training graph has 4 nodes"):
        made.sample([4], seed=Seed(0))
    assert "6 training graphs are of sizes that no connected one has" in caplog.text


def test_graphs_that_stay_disconnected_are_left_and_told(
    planted: GraphBatch, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.structure.edge_diffusion.edge_sampling.DRAWN_ANEW", 0)
    untrained = replace(QUICK, noise="marginal", restarts=0, training=TrainingConfig(steps=1))
    made = EdgeDiffusion(untrained).fit(planted, seed=Seed(0))
    assert len(made.sample([10] * 20, seed=Seed(0))) == 20
    assert made.report["sampling"]["yield"] < 1
    assert "of 20 generated graphs are still not connected after all attempts; train longer" in caplog.text


def test_disconnected_training_graphs_do_not_ask_for_disconnected_graphs() -> None:
    apart = batch_of(PLAIN, [0] * 4, {(0, 1): 1, (2, 3): 1})
    made = EdgeDiffusion(QUICK).fit(GraphBatch.cat([apart, path(4)] * 6), seed=Seed(0))
    assert bool(check_validity(made.sample([4] * 20, seed=Seed(0))).connected.all())


# -- the generator ------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("one_model_per_size", [False, True])
def test_samples_do_not_depend_on_the_number_of_cores(
    config: EdgeDiffusionConfig, one_model_per_size: bool, planted: GraphBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.structure.edge_diffusion.generator.CHUNK_PAIRS", 72)
    made = EdgeDiffusion(replace(config, one_model_per_size=one_model_per_size)).fit(planted, seed=Seed(0))
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        found.append(made.sample(SIZES, seed=Seed(4)))
    assert found[0].sizes.tolist() == SIZES
    assert torch.equal(found[0].edge, found[1].edge)
    assert torch.equal(found[0].node_type, found[1].node_type)


@BOTH
def test_what_was_learned_survives_a_file(config: EdgeDiffusionConfig, planted: GraphBatch, tmp_path: Path) -> None:
    made = EdgeDiffusion(config).fit(planted, seed=Seed(0))
    made.save(tmp_path / "model.safetensors")
    again = EdgeDiffusion(config).load(tmp_path / "model.safetensors", planted.schema)
    one, other = (some.sample(SIZES, seed=Seed(3)) for some in (made, again))
    assert torch.equal(one.edge, other.edge)
    assert torch.equal(one.label, other.label)
    wrong = replace(config, one_model_per_size=True)
    with pytest.raises(RunFolderError, match="does not fit these settings"):
        EdgeDiffusion(wrong).load(tmp_path / "model.safetensors", planted.schema)


@BOTH
def test_the_report_tells_training_and_yield(config: EdgeDiffusionConfig, planted: GraphBatch) -> None:
    made = EdgeDiffusion(config).fit(planted, seed=Seed(0))
    made.sample(SIZES, seed=Seed(0))
    told = json.loads(json.dumps(made.report))
    assert told["parameters"] > 10_000
    assert [step for step, _ in told["training"]["8 10"]["curves"]["validation"]] == [3, 6]
    assert set(told["sampling"]) == {"graphs", "first_yield", "restarts", "drawn_anew", "yield"}
    assert told["sampling"]["graphs"] == len(SIZES)


def test_the_papers_setting(planted: GraphBatch) -> None:
    config = EdgeDiffusionConfig(
        denoiser="paper",
        noise="marginal",
        one_model_per_size=True,
        batch=4,
        sampler="posterior",
        sampler_steps=3,
        grid="uniform",
        constraints=False,
        training=TrainingConfig(steps=1),
    )
    made = EdgeDiffusion(config).fit(planted[planted.sizes == 8], seed=Seed(0))
    assert made.sample([8] * 3, seed=Seed(0)).sizes.tolist() == [8] * 3


@BOTH
def test_graph_classes_are_kept_and_drawn_as_in_training(config: EdgeDiffusionConfig) -> None:
    graphs = GraphBatch.cat([path(4, graph_label=int(number % 4 == 0)) for number in range(40)])
    sampled = EdgeDiffusion(config).fit(graphs, seed=Seed(0)).sample([4] * 80, seed=Seed(0))
    assert Counter(sampled.graph_label.tolist()) == {0: 60, 1: 20}


@BOTH
def test_single_nodes_and_graphs_without_edges(config: EdgeDiffusionConfig) -> None:
    single = GraphBatch.cat([batch_of(PLAIN, [0], {})] * 12)
    made = EdgeDiffusion(config).fit(single, seed=Seed(0)).sample([1] * 3, seed=Seed(0))
    assert made.check().sizes.tolist() == [1] * 3
    mixed = GraphBatch.cat([single, path(2), path(3)])
    made = EdgeDiffusion(config).fit(mixed, seed=Seed(0)).sample([3, 1, 2], seed=Seed(0))
    assert made.check().sizes.tolist() == [3, 1, 2]


def test_nothing_is_asked_for(planted: GraphBatch) -> None:
    assert len(EdgeDiffusion(QUICK).fit(planted, seed=Seed(0)).sample([], seed=Seed(0))) == 0


def test_it_learns_which_of_two_shapes_goes_with_a_class() -> None:
    """Class 0 are paths, class 1 are stars; both have five nodes and four edges."""
    graphs = GraphBatch.cat(
        [replace(made, graph_label=torch.tensor([label])) for label, made in enumerate((path(5), star(5)))] * 30
    )
    training = TrainingConfig(steps=100, validate_every=50)
    made = EdgeDiffusion(EdgeDiffusionConfig(batch=16, training=training)).fit(graphs, seed=Seed(0))
    curve = [loss for _, loss in made.report["training"]["5"]["curves"]["train"]]
    assert curve[-1] < curve[0]
    sampled = made.sample([5] * 100, seed=Seed(0))
    plain = [replace(some, graph_label=torch.full_like(some.graph_label, -1)) for some in (graphs[:2], sampled)]
    shapes = fingerprints(plain[0])
    right = [shapes[int(c)] == f for f, c in zip(fingerprints(plain[1]), sampled.graph_label, strict=True)]
    assert sum(right) > 85


# -- guidance -----------------------------------------------------------------------------------------


class Hubs:
    """Likes graphs with a node of high degree, in the first group only."""

    def __init__(self, group: Tensor) -> None:
        self.group = group

    def log_weight(self, graphs: GraphBatch, index: Tensor) -> Tensor:
        assert len(graphs) == len(index)
        return 3.0 * graphs.undirected.sum(2).amax(1) * (self.group[index] == 0)


def test_guides_move_their_group_and_no_other(planted: GraphBatch) -> None:
    made = EdgeDiffusion(QUICK).fit(planted, seed=Seed(0))
    made.config = replace(QUICK, sampler_steps=50)
    for model in made._models.values():
        model.config = made.config
    group = torch.arange(90) % 3
    free, guided = (
        made.sample([8] * 90, seed=Seed(0), guide=guide).undirected.sum(2).amax(1).float()
        for guide in (None, Hubs(group))
    )
    assert float(guided[group == 0].mean()) > float(free.mean()) + 0.5
    assert abs(float(guided[group > 0].mean()) - float(free.mean())) < 0.5


@pytest.mark.parametrize("kind", [AbsorbingProcess, MarginalProcess])
def test_copied_graphs_take_along_what_is_known_of_them(kind: type[EdgeProcess]) -> None:
    graphs = GraphBatch.cat([path(5, graph_label=0), replace(star(5), graph_label=torch.tensor([1]))])
    made = process(kind, graphs)
    tokens = Tokens.by_size(graphs, made.vocabulary)[5]
    shares = []

    def steer(share: float, predict) -> Tensor | None:
        shares.append(share)
        assert bool((made.vocabulary.allowed[*predict().ends(), predict().pairs]).all())
        return torch.ones(2, dtype=torch.long)

    with torch.no_grad():
        drawn = made.denoise(made.noisy(tokens, 1.0, generator()), 1.0, generator(), steer)
    assert drawn.known[:, 0].tolist() == [1, 1]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1


def test_groups_are_never_cut() -> None:
    group = torch.tensor([2, 0, 1, 2, 0, 2, 1, 2])
    chunks = _cut(8, 3, group)
    assert sorted(torch.cat(chunks).tolist()) == list(range(8))
    for number in range(3):
        assert sum(number in group[chunk].tolist() for chunk in chunks) == 1
    assert [len(chunk) for chunk in _cut(8, 3, None)] == [3, 3, 2]
