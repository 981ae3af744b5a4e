"""D4Explainer: flips, the network that undoes them, and the search for what a model takes for a class."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from carrying_graphs import friends
from dignn import DignnError, GraphBatch
from dignn.core.errors import RunFolderError
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.d4explainer.best_of_denoised import best_of_denoised
from dignn.explainers.methods.d4explainer.explainer import DENOISER, D4Explainer
from dignn.explainers.methods.d4explainer.flip_denoiser import FlipDenoiser
from dignn.explainers.methods.d4explainer.flip_noise import FlipNoise, square
from dignn.explainers.methods.d4explainer.ppgn import PPGN
from dignn.explainers.methods.d4explainer.settings import PRESETS, D4Settings
from dignn.graphs.schema import Relation
from dignn.graphs.validity import check_validity, connected
from dignn.metrics.controls import random_trees
from dignn.structure.edge_diffusion.edge_tokens import Tokens
from dignn.structure.vocabulary import Vocabulary
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from strategies import batch_of, plain_schema, rings_and_stars
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
SMOKE = PRESETS["smoke"]
MOMENT = replace(SMOKE, training=TrainingConfig(steps=4, validate_every=2))
# People know people (in one direction) or are friends, like things, and things are beside nothing.
TYPES = plain_schema(
    (
        Relation("person", "knows", "person", None, directed=True),
        Relation("person", "friend", "person", "friend"),
        Relation("person", "likes", "thing", "rev_likes"),
    ),
    node_types=("person", "thing"),
)


@cache
def people() -> GraphBatch:
    """Three people in a row and two things; of four edges between people one is a friendship."""
    first = batch_of(TYPES, [0, 0, 0, 1, 1], {(0, 1): 1, (2, 1): 1, (0, 3): 3, (2, 4): 3})
    second = batch_of(TYPES, [0, 0, 0, 1, 1], {(0, 1): 2, (1, 2): 1, (0, 3): 3, (0, 4): 3})
    return GraphBatch.cat([first, second] * 20)


def noise_of(graphs: GraphBatch) -> tuple[FlipNoise, Tensor]:
    """The noise, and types of nodes."""
    words = Vocabulary.of(graphs)
    return FlipNoise.of(Tokens.by_size(graphs, words).values(), words), graphs.node_type


# -- noise --------------------------------------------------------------------------------------------


def test_noise_flips_as_often_as_it_says_and_only_what_the_metagraph_joins() -> None:
    noise, kinds = noise_of(people())
    kinds = kinds.repeat(200, 1)
    density = noise.density(kinds)
    open_pairs = torch.tensor([True, True, True, True, True, True, True, True, True, False])  # the two things
    assert torch.equal(density > 0, open_pairs.expand_as(density))
    joined = torch.rand(density.shape, generator=Seed(1).torch()) < 0.5
    joined &= open_pairs
    for level in (0.0, 0.1, 0.4):
        flipped = noise.flipped(joined, density, level, Seed(0).torch()) ^ joined
        assert not bool(flipped[:, ~open_pairs].any())
        for state in (True, False):  # those that were joined, and the others
            some = flipped[(joined == state) & open_pairs]
            assert float(some.float().mean()) == pytest.approx(level, abs=0.01)


def test_the_walk_starts_at_the_marginals_of_the_greatest_noise() -> None:
    noise, kinds = noise_of(people())
    kinds = kinds.repeat(200, 1)
    density = noise.density(kinds)
    between_people, likes = density[0, 0], density[0, 2]
    assert float(between_people) == pytest.approx(2 / 3)  # 2 of 3 pairs
    assert float(likes) == pytest.approx(2 / 6)
    start = noise.pure(density, 0.4, Seed(0).torch()).float().mean(0)
    assert float(start[0]) == pytest.approx(2 / 3 * 0.6 + 1 / 3 * 0.4, abs=0.02)
    assert float(start[2]) == pytest.approx(1 / 3 * 0.6 + 2 / 3 * 0.4, abs=0.02)
    assert float(start[-1]) == 0


def test_relations_of_new_edges_are_as_frequent_as_between_their_types() -> None:
    graphs = people()
    words = Vocabulary.of(graphs)
    noise, kinds = noise_of(graphs)
    drawn = noise.relations(kinds.repeat(200, 1), Seed(0).torch())
    relations = torch.tensor(words.edges)[drawn]  # (B, P, 2) there and back
    people_pairs, like_pairs = relations[:, 0], relations[:, 2]
    assert float((people_pairs == torch.tensor([2, 2])).all(1).float().mean()) == pytest.approx(1 / 4, abs=0.02)
    for way in ([1, 0], [0, 1]):  # who knows whom is as often one as the other
        assert float((people_pairs == torch.tensor(way)).all(1).float().mean()) == pytest.approx(3 / 8, abs=0.02)
    assert bool((like_pairs == 3).all())
    assert not bool(relations[:, -1].any())


# -- network ------------------------------------------------------------------------------------------


def test_nodes_in_another_order_give_the_same_logits_in_that_order() -> None:
    with Seed(0).torch_globally():
        network = PPGN(types=3, width=8, layers=3)
    kinds = torch.randint(3, (4, 7), generator=Seed(1).torch())
    joined = torch.rand(4, 7, 7, generator=Seed(2).torch()) < 0.4
    joined = joined | joined.transpose(1, 2)
    level, order = torch.tensor([0.0, 0.1, 0.2, 0.4]), torch.randperm(7, generator=Seed(3).torch())
    one = network(kinds, joined, level)
    other = network(kinds[:, order], joined[:, order][:, :, order], level)
    assert torch.allclose(one[:, order][:, :, order], other, atol=1e-5)
    assert torch.equal(one, one.transpose(1, 2))
    assert not torch.allclose(one, network(kinds, joined, level.flip(0)))  # the level matters


@cache
def ring_denoiser() -> FlipDenoiser:
    """Has learned rings of 6, 7 and 8 nodes."""
    schema = plain_schema()
    rings = [
        batch_of(schema, [0] * size, {(i, (i + 1) % size): 1 for i in range(size)}) for size in (6, 7, 8) for _ in "ab"
    ]
    training = TrainingConfig(steps=120, learning_rate=1e-2, weight_decay=0.0, validate_every=120)
    config = replace(SMOKE, width=16, layers=3, training=training)
    return FlipDenoiser(config).fit(GraphBatch.cat(rings * 16), seed=Seed(0))


def test_the_denoiser_recovers_a_flipped_edge() -> None:
    denoiser = ring_denoiser()
    for size in (6, 7, 8):
        i, j = torch.triu_indices(size, size, 1)
        ring = ((j - i) % (size - 2)) == 1  # neighbours, and the last beside the first
        assert int(ring.sum()) == size
        kinds, low = torch.zeros(1, size, dtype=torch.long), torch.tensor([1 / len(i)])
        for flipped in (0, 2):  # an edge that was taken away, one that does not belong there
            noisy = ring.clone()
            noisy[flipped] = ~noisy[flipped]
            with torch.no_grad():
                logits = denoiser.logits(kinds, noisy[None], low)[0]
            assert logits[ring].min() > logits[~ring].max(), (size, flipped)


def test_what_was_learned_comes_back_from_a_file(tmp_path: Path) -> None:
    one, path = ring_denoiser(), tmp_path / DENOISER
    one.save(path)
    schema = plain_schema()
    other = FlipDenoiser(one.config).load(path, schema)
    kinds, noisy = torch.zeros(3, 6, dtype=torch.long), torch.rand(3, 15, generator=Seed(0).torch()) < 0.4
    with torch.no_grad():
        assert torch.equal(*(each.logits(kinds, noisy, torch.full((3,), 0.2)) for each in (one, other)))
    assert other.report == one.report
    with pytest.raises(RunFolderError, match="does not fit these settings"):
        FlipDenoiser(replace(one.config, width=8)).load(path, schema)
    with pytest.raises(RunFolderError, match="of another schema"):
        FlipDenoiser(one.config).load(path, TYPES)


# -- search -------------------------------------------------------------------------------------------


def test_relations_and_directions_keep_to_the_metagraph_and_graphs_are_connected() -> None:
    graphs = people()
    denoiser = FlipDenoiser(MOMENT).fit(graphs, seed=Seed(0))
    made = best_of_denoised(denoiser, graphs, lambda some: torch.zeros(len(some)), Seed(0)).check()
    assert bool(check_validity(made).valid.all())
    assert set(made.edge.unique().tolist()) == {0, 1, 2, 3}
    assert torch.equal(made.node_type, graphs.node_type)


def test_what_is_judged_is_what_is_shown() -> None:
    """Features of edges are part of what is kept; numbers of graphs stand in for them."""
    graphs, seen = people(), []
    denoiser = FlipDenoiser(MOMENT).fit(graphs, seed=Seed(0))

    def furnish(some: GraphBatch, seed: Seed) -> GraphBatch:
        seen.append(torch.randint(1000, (len(some),), generator=seed.torch()))
        return replace(some, graph_label=seen[-1])

    made = best_of_denoised(denoiser, graphs, lambda some: some.graph_label.float(), Seed(0), furnish)
    assert torch.equal(made.graph_label, seen[-1].view(len(graphs), -1).amax(1))


def test_the_best_of_each_step_is_kept() -> None:
    """A judge that likes edges gets more of them than one that likes none."""
    graphs = people()
    denoiser = FlipDenoiser(MOMENT).fit(graphs, seed=Seed(0))

    def edges(graphs: GraphBatch) -> Tensor:
        return graphs.undirected.sum((1, 2)).float() / 2

    many = edges(best_of_denoised(denoiser, graphs, edges, Seed(0))).mean()
    few = edges(best_of_denoised(denoiser, graphs, lambda some: -edges(some), Seed(0))).mean()
    assert few + 1 < many


class RingOrStar(torch.nn.Module):
    """A graph is a ring as far as its nodes have two neighbours, and a star as far as one has all others."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        degree, size = torch.bincount(edge_index[0], minlength=len(x)).float(), torch.bincount(batch)
        two, most = (
            torch.zeros(len(size)).scatter_reduce(0, batch, values, rule)
            for values, rule in (((degree == 2).float(), "sum"), (degree, "amax"))
        )
        return 8 * (torch.stack([two / size, most / (size - 1)], 1) - 0.5)


def rings_or_stars() -> D4Explainer:
    """Graph classification."""
    training = TrainingConfig(steps=100, learning_rate=1e-2, weight_decay=0.0, validate_every=100)
    config = replace(SMOKE, training=training, denoising_steps=12, tries=8, top_k=2)
    return D4Explainer(RingOrStar(), rings_and_stars(), config=config, seed=3)


def test_graphs_are_of_their_class_more_surely_than_by_chance_and_than_random_trees() -> None:
    one = rings_or_stars().fit()
    assert one._candidates is not None
    found = one.adapter.score(one._candidates)
    own = found.probability.gather(1, found.labels(one._candidates)[:, None])[:, 0]
    trees = random_trees(one.real.train, one._candidates.sizes.tolist(), seed=Seed(0))
    by_chance = one.adapter.score(trees).probability
    for number in range(2):
        mine = own[found.labels(one._candidates) == number]
        assert float(mine.mean()) > 0.6  # the prior is 0.5
        assert float(mine.mean()) > float(by_chance[:, number].mean()) + 0.05
    assert all(several[0].score > 0.95 for several in one.explain(measure=False).values())
    assert bool(connected(one._candidates).all())


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def of_planted(planted: Dataset, folder: Path) -> D4Explainer:
    """Node classification of a heterogeneous graph."""
    config = replace(MOMENT, sizes=(8, 9), top_k=1)
    return D4Explainer(TinyHetero(planted.schema), planted.data, schema=planted.schema, config=config, folder=folder)


@pytest.fixture(scope="module")
def whole(planted: Dataset, tmp_path_factory: pytest.TempPathFactory) -> tuple[D4Explainer, Path]:
    folder = tmp_path_factory.mktemp("d4") / "run"
    return of_planted(planted, folder).fit(), folder


def test_nodes_of_a_heterogeneous_graph(whole: tuple[D4Explainer, Path]) -> None:
    one, _ = whole
    graphs = one._candidates
    assert graphs is not None
    graphs.check()
    assert bool(check_validity(graphs).valid.all())
    assert sorted(graphs.sizes.tolist()) == sorted(one.real.like(one.config.candidates))
    assert set(graphs.tables) == {"author", "paper", "term"}
    explanations = one.explain(measure=False)
    assert all(explanations.values())
    assert explanations.about["generation"]["structure"]["training"]["steps"] == MOMENT.training.steps


def test_a_folder_goes_on_without_learning_again(
    planted: Dataset, whole: tuple[D4Explainer, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, folder = whole
    (folder / "candidates.safetensors").unlink()
    monkeypatch.setattr(FlipDenoiser, "fit", lambda *_, **__: pytest.fail("it was learned again"))
    again = of_planted(planted, folder).fit()
    one, same = first._candidates, again._candidates
    assert one is not None
    assert same is not None
    assert torch.equal(one.edge, same.edge)
    assert all(torch.equal(one.features(name), same.features(name)) for name in one.tables)


def test_same_seed_same_bits_whatever_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for seed, number in ((3, 1), (3, 2), (4, 1)):
        monkeypatch.setattr("dignn.core.threads.cores", lambda number=number: number)
        one = D4Explainer(RingOrStar(), rings_and_stars(), config=MOMENT, seed=seed).fit()
        assert one._candidates is not None
        made.append(one._candidates.edge)
    assert torch.equal(made[0], made[1])
    assert not torch.equal(made[0], made[2])


def test_edges_that_carry_features() -> None:
    """They are drawn for every graph that the model is asked about, and for those that it returns."""
    data = friends()
    del data.edge_weight
    one = D4Explainer(Trusting(), data, "person", config=replace(MOMENT, sizes=(5, 6), candidates=6)).fit()
    assert one._candidates is not None
    assert one._candidates.check().edge_tables
    assert bool(check_validity(one._candidates).valid.all())


class Trusting(torch.nn.Module):
    """Goes by what the edges of a person carry."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        return torch.zeros(len(x), 3).index_add(0, edge_index[1], edge_attr[:, [0, 1, 0]] * torch.tensor([1.0, 1, -1]))


# -- settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4, 7])
def test_at_the_common_budget_each_class_has_ten_graphs(classes: int) -> None:
    """As many as coverage is measured by."""
    within = D4Explainer.within(PRESETS["fast"], 1536, classes)
    assert isinstance(within, D4Settings)
    assert within.candidates >= 10 * classes
    assert within.candidates * (within.denoising_steps * within.tries + 1) <= 1536


def test_presets() -> None:
    paper = PRESETS["paper"]
    assert (paper.flips, paper.width, paper.layers, paper.batch) == (0.4, 64, 6, 32)
    assert (paper.denoising_steps, paper.tries, paper.training.learning_rate) == (50, 10, 1e-3)
    assert {each.selection for each in map(PRESETS.__getitem__, PRESETS)} == {"highest"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"flips": 0.5}, "flips is 0.5; it must be above 0 and below 0.5"),
        ({"flips": 0}, "flips is 0; it must be above 0 and below 0.5"),
        ({"tries": 0}, "tries is 0; it must be at least 1"),
        ({"denoising_steps": 2.5}, "denoising_steps is 2.5; it must be a whole number"),
        ({"training": 3}, "training is 3; give a TrainingConfig"),
        ({"selection": "best"}, "selection is 'best'"),
        ({"features": 1}, "features is 1"),
    ],
)
def test_settings_that_make_no_sense_are_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DignnError, match=said):
        D4Settings(**given)


def test_matrices_of_pairs() -> None:
    there, back = torch.tensor([[1, 2, 3]]), torch.tensor([[4, 5, 6]])
    assert square(there, back, 3).tolist() == [[[0, 1, 2], [4, 0, 3], [5, 6, 0]]]
