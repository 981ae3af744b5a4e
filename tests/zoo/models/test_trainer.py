"""Training: it learns, stops in time, keeps the best, repeats itself, and leaves no trace behind."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from dignn.core.errors import DignnError
from dignn.core.progress import silent
from dignn.core.seeds import Seed
from dignn.graphs.conversion import from_pyg, to_pyg
from dignn.graphs.motif import GroundTruth
from dignn.graphs.schema import Schema
from dignn.model.adapter import GNNAdapter
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from dignn.zoo.datasets.shapes import cycle, house
from dignn.zoo.models.architectures import GCN
from dignn.zoo.models.cut import one_motif
from dignn.zoo.models.recipes import Recipe, TrainedModel, arguments, in_form, recipe
from dignn.zoo.models.trainer import GraphObjective, NodeObjective, _fit, train

SHORT = {"epochs": 4, "pool": 60, "held_out": 60}


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


@pytest.fixture(scope="module")
def shapes() -> Dataset:
    return load("ba-shapes")


@pytest.fixture(scope="module")
def molecules() -> Dataset:
    """Graph classification: is there a house or a five-cycle on the path?"""
    graphs = [_with_motifs(number % 2, 1 + number // 2 % 3) for number in range(60)]
    return Dataset(
        name="houses",
        data=graphs,
        schema=Schema.from_graphs(graphs),
        splits={"train": torch.arange(40), "val": torch.arange(40, 50), "test": torch.arange(50, 60)},
        sizes=(8, 9),
        truth=GroundTruth(((house(),), (cycle(5),))),
    )


def _with_motifs(label: int, count: int) -> Data:
    motif = (house(), cycle(5))[label]
    edges = [(0, 1), (1, 2), (2, 3)]
    for number in range(count):
        first = 4 + 5 * number
        edges += [(first + u, first + v) for u, v in motif.edges] + [(number, first)]
    once = torch.tensor(edges).T
    return Data(x=torch.ones(4 + 5 * count, 1), edge_index=torch.cat([once, once.flip(0)], 1), y=torch.tensor([label]))


def _weights(trained: TrainedModel) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in trained.model.parameters()])


# -- learning -----------------------------------------------------------------------------------------


def test_the_planted_data_set_is_learned_on_the_graph_and_on_subgraphs(planted: Dataset) -> None:
    card = train(planted, instead=replace(recipe(planted), epochs=15, pool=400, held_out=200)).card
    assert card["accuracy"]["full"]["test"] > 0.9
    assert card["accuracy"]["small"]["start"] > 0.75


def test_graphs_are_learned(molecules: Dataset) -> None:
    card = train(molecules, instead=replace(recipe(molecules), epochs=40, cut=True)).card
    assert card["accuracy"]["full"]["test"] == 1
    assert card["accuracy"]["small"]["graphs"] == 1


@pytest.mark.parametrize("form", ["strong", "paper"])
def test_the_card_says_what_was_done(shapes: Dataset, form: str) -> None:
    trained = train(shapes, form, seed=5, instead=replace(recipe(shapes, form), **SHORT))
    card = trained.card
    assert not trained.model.training
    assert (card["dataset"], card["form"], card["seed"], card["epochs"]) == ("ba-shapes", form, 5, 4)
    assert 1 <= card["best_epoch"] <= 4
    assert card["splits"] == {"train": 560, "val": 70, "test": 70}
    assert card["architecture"] == recipe(shapes, form).architecture
    assert card["arguments"]["classes"] == 4
    assert set(card["accuracy"]["full"]) == {"train", "val", "test"}
    assert set(card["accuracy"]["small"]) == {"start", "all"}


def test_a_gcn_learns_the_data_set_converted_to_one_kind_of_node(planted: Dataset) -> None:
    converted, form = in_form(planted, "gcn")
    trained = train(converted, form, instead=replace(recipe(converted, form), **SHORT))
    assert isinstance(trained.model, GCN)
    assert trained.model.convs[0].in_channels == len(planted.schema.node_types)
    with pytest.raises(DignnError, match="Form gcn is of converted data"):
        train(planted, "gcn")


def test_the_model_fits_the_adapter_and_is_batch_invariant(planted: Dataset) -> None:
    trained = train(planted, instead=replace(recipe(planted), **SHORT))
    task = NodeObjective(planted, replace(recipe(planted), **SHORT), Seed(1))
    adapter = GNNAdapter(trained.model, planted.schema)
    adapter.check(task._subgraphs("test", 12))
    assert not adapter.one_by_one
    assert adapter.score(task._subgraphs("test", 12)).embedding.size(1) == trained.model.head.in_features


def test_a_missing_part_of_the_split_is_named(shapes: Dataset) -> None:
    with pytest.raises(DignnError, match="has no val part"):
        train(replace(shapes, splits=shapes.splits | {"val": torch.empty(0, dtype=torch.long)}))


def test_nodes_without_a_class_in_the_split_are_named(shapes: Dataset) -> None:
    data = shapes.data.clone()
    data.y = torch.where(torch.arange(len(data.y)) == int(shapes.splits["val"][0]), -1, data.y)
    with pytest.raises(DignnError, match="nodes without a class"):
        train(replace(shapes, data=data))


# -- the best weights, on time ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planted", "ba-shapes"])
def test_the_card_describes_the_weights_that_are_returned(name: str) -> None:
    dataset = load(name)
    trained = train(dataset, instead=replace(recipe(dataset), **SHORT | {"epochs": 12}))
    data, model = dataset.data, trained.model
    with torch.no_grad():
        if name == "planted":  # dense features and the model's own forward: what training computes is the same
            logits, label = model(data.x_dict, data.edge_index_dict), data["author"].y
        else:
            logits, label = model(data.x, data.edge_index), data.y
    for part, index in dataset.splits.items():
        accuracy = float((logits[index].argmax(1) == label[index]).double().mean())
        assert trained.card["accuracy"]["full"][part] == pytest.approx(accuracy, abs=1e-6)


class _Scripted:
    """A task whose validation scores are given; training adds 1 to the only weight each epoch."""

    def __init__(self, scores: list[tuple[float, float]]) -> None:
        self.scores = iter(scores)

    def losses(self, model: nn.Module):
        model.count.data += 1
        yield 0 * model.count.sum()

    def validate(self, model: nn.Module) -> tuple[float, float]:
        return next(self.scores)

    def report(self, model: nn.Module) -> dict[str, dict[str, float | None]]:
        return {}


class _Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count = nn.Parameter(torch.zeros(1))


@pytest.mark.parametrize(
    ("scores", "epochs", "best"),
    [
        ([(0.5, -1.0), (0.7, -1.0), (0.6, -1.0), (0.6, -1.0), (0.6, -1.0), (0.9, -1.0)], 5, 2),  # out of patience
        ([(0.5, -1.0), (0.5, -0.9), (0.5, -1.1), (0.5, -1.0), (0.5, -1.0)], 5, 2),  # the loss breaks ties
        ([(0.5, -9.0), (0.4, -8.0), (0.4, -7.0), (0.4, -6.0), (0.4, -5.0), (0.6, -4.0)], 6, 6),  # it falls: go on
        ([(0.5, -1.0), (0.6, -1.0), (0.7, -1.0)], 3, 3),  # no epochs left
    ],
)
def test_training_stops_without_improvement_and_restores_the_best(
    scores: list[tuple[float, float]], epochs: int, best: int
) -> None:
    model = _Counter()
    assert _fit(model, _Scripted(scores), Recipe("GCN", epochs=len(scores), patience=3), silent) == (epochs, best)
    assert int(model.count) == best
    assert not model.training


# -- randomness ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planted", "ba-shapes"])
def test_the_same_seed_gives_the_same_bits_whatever_the_caller_did(name: str) -> None:
    dataset = load(name)
    short = replace(recipe(dataset), **SHORT)
    threads = torch.get_num_threads()
    torch.manual_seed(1)
    first = train(dataset, seed=3, instead=short)
    torch.manual_seed(2)
    torch.set_num_threads(2)
    again = train(dataset, seed=3, instead=short)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(threads)
    assert torch.equal(_weights(first), _weights(again))
    assert {**first.card, "seconds": 0} == {**again.card, "seconds": 0}
    assert not torch.equal(_weights(first), _weights(train(dataset, seed=4, instead=short)))


def test_graph_classification_repeats_itself(molecules: Dataset) -> None:
    short = replace(recipe(molecules), epochs=3)
    assert torch.equal(_weights(train(molecules, instead=short)), _weights(train(molecules, instead=short)))


def test_the_callers_random_state_stays_as_it_was(shapes: Dataset) -> None:
    torch.manual_seed(7)
    state = torch.get_rng_state()
    train(shapes, instead=replace(recipe(shapes), **SHORT))
    assert torch.equal(torch.get_rng_state(), state)


def test_progress_is_told_after_every_epoch(shapes: Dataset) -> None:
    told: list[tuple[int, int]] = []
    train(
        shapes,
        "paper",
        progress=lambda done, total: told.append((done, total)),
        instead=replace(recipe(shapes, "paper"), **SHORT),
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


# -- what is supervised -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planted", "ba-shapes"])
def test_labels_outside_the_training_part_have_no_influence_on_the_loss(name: str) -> None:
    dataset = load(name)
    short = replace(recipe(dataset), **SHORT)
    hidden = dataset.data.clone()
    store = hidden["author"] if name == "planted" else hidden
    here = torch.zeros(len(store.y), dtype=torch.bool)
    here[dataset.splits["train"]] = True
    store.y = torch.where(here, store.y, (store.y + 1) % dataset.schema.num_classes)
    losses = []
    for data in (dataset.data, hidden):
        task = NodeObjective(replace(dataset, data=data), short, Seed(0))
        torch.manual_seed(0)
        model = _model(dataset, short)
        losses.append(next(iter(task.losses(model.eval()))).item())
    assert losses[0] == losses[1]


def test_subgraphs_are_scored_as_the_adapter_scores_them(planted: Dataset) -> None:
    """Encoding all rows once and gathering them gives what the model gives on the subgraphs themselves."""
    short = replace(recipe(planted), **SHORT)
    task = NodeObjective(planted, short, Seed(0))
    graphs = task._subgraphs("test", 24)
    model = _model(planted, short).eval()
    with torch.no_grad():
        found = task._logits(model, task._encode(model), task._scene(graphs))
    torch.testing.assert_close(found, GNNAdapter(model, planted.schema).score(graphs).logits, atol=1e-5, rtol=1e-4)


def _model(dataset: Dataset, chosen: Recipe) -> nn.Module:
    from dignn.zoo.models.architectures import build

    return build(chosen.architecture, arguments(chosen, dataset.schema))


# -- graphs cut down to one motif ---------------------------------------------------------------------


def test_graphs_are_cut_down_to_their_base_and_one_motif(molecules: Dataset) -> None:
    graphs = from_pyg(molecules.data, molecules.schema)
    cut = one_motif(graphs, molecules.truth)
    assert torch.equal(cut.graph_label, graphs.graph_label)
    assert cut.sizes.tolist() == [9] * len(graphs)
    for graph, label in zip(to_pyg(cut), cut.graph_label.tolist(), strict=True):
        assert graph.num_edges == 2 * (3 + 1 + (6, 5)[label])


def test_graphs_without_a_motif_at_the_end_are_left_out(molecules: Dataset) -> None:
    graphs = from_pyg(molecules.data, molecules.schema)
    other = replace(graphs, graph_label=1 - graphs.graph_label)
    assert len(one_motif(other, molecules.truth)) == 0
    unknown = replace(graphs, graph_label=torch.full_like(graphs.graph_label, -1))
    assert len(one_motif(unknown, molecules.truth)) == 0


def test_without_truth_small_graphs_are_those_of_explanation_size(molecules: Dataset) -> None:
    task = GraphObjective(replace(molecules, truth=None), recipe(molecules), Seed(0))
    assert set(task.small.batch.bincount().tolist()) == {9}
    none = GraphObjective(replace(molecules, truth=None, sizes=(3,)), recipe(molecules), Seed(0))
    assert none.report(_model(molecules, recipe(molecules)).eval())["small"] == {"graphs": None}
