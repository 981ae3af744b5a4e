"""The generator that diffuses edges, with both kinds of noise."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
import torch
from hypothesis import given
from scipy.stats import chisquare
from torch import Tensor

from dignn.batch import GraphBatch
from dignn.config import EdgeDiffusionConfig, TrainingConfig
from dignn.data import load
from dignn.errors import DignnError, RunFolderError
from dignn.isomorphism import fingerprints
from dignn.runtime import threads
from dignn.runtime.seeds import Seed
from dignn.sampling import Adjacency, forest_fire
from dignn.schema import Relation
from dignn.structure.edge_absorbing import AbsorbingProcess
from dignn.structure.edge_diffusion import EdgeDiffusion, _cut
from dignn.structure.edge_marginal import MarginalProcess
from dignn.structure.edge_process import EdgeProcess
from dignn.structure.edge_sampling import draw_graphs
from dignn.structure.edge_tokens import Tokens
from dignn.structure.vocabulary import Vocabulary
from dignn.validity import check_validity
from strategies import PROPERTY, batch_of, batches, plain_schema

QUICK = EdgeDiffusionConfig(batch=8, sampler_steps=6, restarts=1, training=TrainingConfig(steps=6, validate_every=3))
MARGINAL = replace(QUICK, noise="marginal")
BOTH = pytest.mark.parametrize("config", [QUICK, MARGINAL], ids=["absorbing", "marginal"])
PLAIN = plain_schema()
CHAIN = plain_schema((Relation("a", "to", "b"), Relation("b", "to", "c")), node_types=("a", "b", "c"))
ARROWS = plain_schema((Relation("node", "to", "node", directed=True), Relation("node", "with", "node", "with")))
SIZES = [8, 10, 8, 8, 10]


@pytest.fixture(autouse=True)
def few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks that have learned nothing make graphs that fall apart, again and again."""
    monkeypatch.setattr("dignn.structure.edge_sampling.FRESH", 2)


@pytest.fixture(scope="module")
def planted() -> GraphBatch:
    dataset = load("planted")
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (8, 10), 30, seed=Seed(0))[0]


def path(size: int, schema=PLAIN, graph_label: int = -1, code: int = 1) -> GraphBatch:
    return batch_of(schema, [0] * size, {(i, i + 1): code for i in range(size - 1)}, graph_label=graph_label)


def star(size: int) -> GraphBatch:
    return batch_of(PLAIN, [0] * size, {(0, i): 1 for i in range(1, size)})


def process(kind: type[EdgeProcess], graphs: GraphBatch, config: EdgeDiffusionConfig = QUICK) -> EdgeProcess:
    """A process with random weights that has counted these graphs."""
    vocabulary = Vocabulary.of(graphs)
    tokens = Tokens.by_size(graphs, vocabulary)
    torch.manual_seed(0)
    made = kind(vocabulary, list(tokens), config)  # type: ignore[call-arg]
    made.count(tokens)
    return made


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# -- tokens -------------------------------------------------------------------------------------------


@PROPERTY
@given(batches(min_graphs=1, max_graphs=5, min_nodes=1))
def test_tokens_say_everything_about_the_structure(batch: GraphBatch) -> None:
    batch = batch.without_features()
    vocabulary = Vocabulary.of(batch)
    for size, tokens in Tokens.by_size(batch, vocabulary).items():
        some = batch[batch.sizes == size]
        back = tokens.decode(vocabulary)
        for name in ("node_type", "edge", "label", "graph_label"):
            assert torch.equal(getattr(back, name), getattr(some, name)), name
        lower = torch.minimum(torch.arange(vocabulary.edge_count), vocabulary.mirror)
        for number in range(len(tokens)):
            label, *counts = tokens.known[number].tolist()
            found = Counter(tokens.nodes[number].tolist())
            pairs = Counter(lower[tokens.pairs[number]].tolist())
            assert label == int(some.graph_label[number])
            assert counts[: vocabulary.node_count] == [found[k] for k in range(vocabulary.node_count)]
            assert counts[vocabulary.node_count :] == [pairs[e] for e in range(vocabulary.edge_count)]
        blank = Tokens.blank(tokens.known, size, vocabulary)
        assert torch.equal(blank.nodes, tokens.nodes.sort(1).values)
        assert not bool(blank.pairs.any())


def test_padding_between_nodes_does_not_matter() -> None:
    graph = path(3)
    spread = GraphBatch(
        PLAIN,
        node_type=torch.tensor([[0, -1, 0, 0]]),
        edge=torch.zeros(1, 4, 4, dtype=torch.long),
        label=torch.full((1, 4), -1),
        graph_label=graph.graph_label,
        row=torch.full((1, 4), -1),
    )
    for u, v in ((0, 2), (2, 3)):
        spread.edge[0, u, v] = spread.edge[0, v, u] = 1
    vocabulary = Vocabulary.of(graph)
    assert torch.equal(Tokens.by_size(spread, vocabulary)[3].pairs, Tokens.by_size(graph, vocabulary)[3].pairs)


# -- absorbing noise ----------------------------------------------------------------------------------


def test_noise_takes_away_any_edges_with_equal_probability() -> None:
    graphs = path(5)
    made = process(AbsorbingProcess, graphs)
    tokens = Tokens.by_size(graphs, made.vocabulary)[5][torch.zeros(3000, dtype=torch.long)]
    noisy = made.noisy(tokens, 0.5, generator())
    assert bool((noisy.pairs <= tokens.pairs).all())
    assert (noisy.pairs > 0).sum(1).unique().tolist() == [2]
    left = Counter(tuple(row.nonzero().flatten().tolist()) for row in noisy.pairs)
    assert len(left) == 6  # two of four edges
    assert chisquare(list(left.values())).pvalue > 1e-3
    assert not bool(made.noisy(tokens, 1.0, generator()).pairs.any())


class Exact(AbsorbingProcess):
    """The next edge's true probabilities for known graphs of known probability: a sum over all graphs that fit."""

    def learn(self, tokens: Tokens, weight: Tensor) -> None:
        self.clean, self.weight = tokens.pairs, weight

    def _scores(self, graphs: Tokens) -> Tensor:
        missing = (self.clean[None] > 0) & (graphs.pairs[:, None] == 0)  # (B, graphs, P)
        fits = ((graphs.pairs[:, None] == 0) | (graphs.pairs[:, None] == self.clean[None])).all(2)
        weight = self.weight * fits
        return torch.einsum("bg,bgp->bp", weight, missing.double())[..., None].log()


@pytest.mark.parametrize("constraints", [True, False])
def test_an_exact_denoiser_gives_back_the_distribution_of_graphs(constraints: bool) -> None:
    """All graphs with four nodes and four edges, with different probabilities."""
    places = list(combinations(range(4), 2))
    graphs = GraphBatch.cat([batch_of(PLAIN, [0] * 4, dict.fromkeys(some, 1)) for some in combinations(places, 4)])
    weight = torch.rand(len(graphs), generator=generator(5), dtype=torch.float64) + 0.05
    weight /= weight.sum()
    made = process(Exact, graphs, replace(QUICK, constraints=constraints))
    tokens = Tokens.by_size(graphs, made.vocabulary)[4]
    made.learn(tokens, weight)
    drawn, outcome = draw_graphs(made, 4, tokens.known[:1].expand(6000, -1), generator())
    assert outcome.first == outcome.final == 6000
    found = Counter(tuple(row) for row in drawn.pairs.tolist())
    counts = [found[tuple(row)] for row in tokens.pairs.tolist()]
    assert sum(counts) == 6000
    assert chisquare(counts, weight.numpy() * 6000).pvalue > 1e-3


def test_the_loss_without_knowledge_is_the_number_of_choices() -> None:
    """With equal scores everywhere, the next edge is any free pair that the metagraph allows."""
    graphs = batch_of(CHAIN, [0, 1, 1, 2], {(0, 1): 1, (0, 2): 1, (1, 3): 2})
    made = process(AbsorbingProcess, graphs)
    with torch.no_grad():
        made.prior.zero_()
        for parameter in made.network.parameters():
            parameter.zero_()
    tokens = Tokens.by_size(graphs, made.vocabulary)[4]
    for lost in (1, 2, 3):  # allowed pairs: a-b twice and b-c twice
        loss = made.loss(tokens, torch.tensor([lost / 3 - 0.01]), generator(lost)).detach()
        assert float(loss) == pytest.approx(float(torch.tensor(4.0 - (3 - lost)).log()), abs=1e-5)


@pytest.mark.parametrize("schema", [CHAIN, ARROWS], ids=["metagraph", "directed"])
def test_untrained_it_makes_connected_graphs_with_the_edges_of_training_graphs(schema) -> None:
    if schema is CHAIN:
        graphs = batch_of(CHAIN, [0, 1, 1, 2, 0], {(0, 1): 1, (0, 2): 1, (1, 3): 2, (4, 2): 1})
    else:
        graphs = batch_of(ARROWS, [0] * 5, {(0, 1): 1, (2, 1): 1, (2, 3): 2, (4, 3): 1, (4, 0): 1})
    made = process(AbsorbingProcess, graphs)
    known = Tokens.by_size(graphs, made.vocabulary)[5].known.expand(200, -1)
    drawn, outcome = draw_graphs(made, 5, known, generator())
    assert outcome.final == 200
    batch = drawn.decode(made.vocabulary).check()
    assert bool(check_validity(batch).valid.all())
    again = Tokens.by_size(batch, made.vocabulary)[5]
    tokens = made.vocabulary.node_count
    assert torch.equal(again.known[:, 1 : 1 + tokens], known[:, 1 : 1 + tokens])
    assert torch.equal((again.pairs > 0).sum(1), known[:, 2 + tokens :].sum(1))
    assert len(set(map(str, batch.edge.tolist()))) > 3


def test_many_edges_are_added_in_few_steps() -> None:
    graphs = batch_of(PLAIN, [0] * 12, {(i, j): 1 for i in range(12) for j in range(i) if (i + j) % 3})
    made = process(AbsorbingProcess, graphs, replace(QUICK, sampler_steps=4))
    calls = []
    forward = made.network.forward
    made.network.forward = lambda *inputs: calls.append(1) or forward(*inputs)  # type: ignore[method-assign]
    known = Tokens.by_size(graphs, made.vocabulary)[12].known.expand(3, -1)
    drawn, _ = draw_graphs(made, 12, known, generator())
    assert (drawn.pairs > 0).sum(1).tolist() == [int(known[0, -1])] * 3
    assert len(calls) == 4


# -- marginal noise -----------------------------------------------------------------------------------


def test_marginals_are_counted_frequencies(planted: GraphBatch) -> None:
    made = process(MarginalProcess, planted)
    vocabulary = made.vocabulary
    nodes, edges = vocabulary.encode(planted)
    expected = torch.bincount(nodes[nodes >= 0]).double()
    torch.testing.assert_close(made.node_marginal.double(), expected / expected.sum(), rtol=1e-5, atol=0)
    present = edges[edges > 0]
    shares = torch.bincount(present, minlength=vocabulary.edge_count)[1:].double() / len(present)
    for row, size in enumerate(made.sizes):
        some = edges[planted.sizes == size][:, :size, :size]
        density = float((some > 0).sum()) / (len(some) * size * (size - 1))
        assert float(made.edge_marginal[row, 0]) == pytest.approx(1 - density, rel=1e-5)
        torch.testing.assert_close(made.edge_marginal[row, 1:].double(), density * shares, rtol=1e-5, atol=0)


def test_corrected_edges_are_as_frequent_as_predicted_and_never_forbidden() -> None:
    graphs = batch_of(CHAIN, [0, 1, 2], {(0, 1): 1, (1, 2): 2})
    made = process(MarginalProcess, graphs)
    node = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.8, 0.0], [0.1, 0.3, 0.6]])
    edge = torch.tensor([[0.7, 0.3, 0.0], [0.9, 0.04, 0.06], [0.75, 0.05, 0.2]])
    count = 40_000
    found = made._allowed({"node": node.expand(count, 3, 3), "edge": edge.expand(count, 3, 3)}, 3, generator())
    i, j = torch.triu_indices(3, 3, 1)
    assert bool(made.vocabulary.allowed[found["node"][:, i], found["node"][:, j], found["edge"]].all())
    shares = torch.stack([(found["edge"] == token).double().mean(0) for token in range(3)], 1)
    torch.testing.assert_close(shares, edge.double(), atol=0.012, rtol=0)


def test_without_constraints_edges_follow_the_prediction_alone(planted: GraphBatch) -> None:
    made = EdgeDiffusion(replace(MARGINAL, constraints=False)).fit(planted, seed=Seed(0))
    sampled = made.sample([8] * 40, seed=Seed(1))
    told = made.report["sampling"]
    assert told["restarts"] == told["drawn_anew"] == 0
    assert told["first_yield"] == told["yield"] == pytest.approx(float(check_validity(sampled).valid.float().mean()))
    assert told["yield"] < 1


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
    assert (outcome.first, outcome.restarts, outcome.fresh, outcome.final) == (4, 4 + 2, 1, 8)
    assert bool(check_validity(drawn.decode(made.vocabulary)).connected.all())


def test_where_no_training_graph_is_connected_none_can_be_asked_for() -> None:
    graphs = GraphBatch.cat([batch_of(PLAIN, [0] * 4, {(0, 1): 1, (2, 3): 1})] * 12)
    with pytest.raises(DignnError, match="No training graph of 4 nodes is connected, .* set constraints to False"):
        EdgeDiffusion(QUICK).fit(graphs, seed=Seed(0))
    made = EdgeDiffusion(replace(QUICK, constraints=False)).fit(graphs, seed=Seed(0))
    assert len(made.sample([4] * 5, seed=Seed(0))) == 5
    assert made.report["sampling"]["yield"] == 0


def test_graphs_that_stay_disconnected_are_left_and_told(
    planted: GraphBatch, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.structure.edge_sampling.FRESH", 0)
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
    monkeypatch.setattr("dignn.structure.edge_diffusion.CHUNK_PAIRS", 72)
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
