"""The two kinds of noise of edge diffusion, and the tokens that they change."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
import torch
from hypothesis import given
from scipy.stats import chisquare
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import check_validity
from dignn.sampling.forest_fire import forest_fire
from dignn.structure.edge_diffusion.edge_absorbing import AbsorbingProcess
from dignn.structure.edge_diffusion.edge_marginal import MarginalProcess
from dignn.structure.edge_diffusion.edge_sampling import draw_graphs
from dignn.structure.edge_diffusion.edge_tokens import Tokens
from dignn.structure.edge_diffusion.generator import EdgeDiffusion
from dignn.structure.vocabulary import Vocabulary
from dignn.zoo.datasets.registry import load
from edge_graphs import ARROWS, CHAIN, MARGINAL, PLAIN, QUICK, generator, path, process
from strategies import PROPERTY, batch_of, batches


@pytest.fixture(scope="module")
def planted() -> GraphBatch:
    dataset = load("planted")
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (8, 10), 30, seed=Seed(0))


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
    assert outcome["first"] == outcome["final"] == 6000
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
    assert outcome["final"] == 200
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
