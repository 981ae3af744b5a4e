"""XGNN: its rewards by hand, policies that learn what is rewarded, and what its graphs are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_mean_pool

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.explainers.methods.xgnn.building import Building, Choice, Rules
from dignn.explainers.methods.xgnn.explainer import POLICIES, XGNN
from dignn.explainers.methods.xgnn.policy import Policies
from dignn.explainers.methods.xgnn.policy_training import PolicyTraining
from dignn.explainers.methods.xgnn.policy_walks import build, edges_like_real
from dignn.explainers.methods.xgnn.settings import PRESETS, XGNNSettings
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema
from dignn.graphs.validity import check_validity
from dignn.metrics.controls import control_sets
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
SMALL = replace(PRESETS["smoke"], candidates=24, sizes=(8, 9))


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def xgnn(dataset: Dataset, config: XGNNSettings = SMALL, **options: Any) -> XGNN:
    return XGNN(TinyHetero(dataset.schema), dataset.data, schema=dataset.schema, config=config, **options)


@pytest.fixture(scope="module")
def nodes(planted: Dataset) -> XGNN:
    return xgnn(planted).fit()


@pytest.fixture(scope="module")
def rules(nodes: XGNN) -> Rules:
    return Rules.of(nodes.real.train)


def hubs(graphs: GraphBatch, _wanted: Tensor, _seed: Seed) -> Tensor:
    """A judge who likes many edges at the first node."""
    return (graphs.undirected[:, 0].sum(1) / 5).clamp_max(1).float()


# -- rewards ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rollouts", [0, 3])
def test_a_decision_is_rewarded_as_published(rules: Rules, rollouts: int) -> None:
    settings = replace(SMALL, rollouts=rollouts, rollout_weight=2.0, valid_reward=0.1, invalid_reward=-1.0)
    policies = Policies(rules, 2, Seed(0))
    begun = Building.begin(rules, 2, 5, Seed(0).torch())
    tail = int(rules.joins[begun.nodes[0, 0]].any(1).nonzero()[0, 0])
    token = int(rules.joins[begun.nodes[0, 0], tail].nonzero()[0, 0]) + 1
    choice = Choice(torch.zeros(2, dtype=torch.long), torch.full((2,), 5 + tail), torch.full((2,), token))
    valid = torch.tensor([True, False])
    building = begun.joined(choice, valid)
    assert building.sizes.tolist() == [2, 1]  # what is not valid is undone
    training = PolicyTraining(rules, hubs, settings, 5)
    reward = training.rewards(policies, building, valid, 0, Seed(0), Seed(0).torch())  # nothing may follow
    above_chance = 1 / 5 - 1 / 2
    assert reward.tolist() == pytest.approx([0.1 + above_chance + 2 * above_chance * (rollouts > 0), -1.0])


def test_looking_ahead_sees_what_follows(rules: Rules) -> None:
    policies, begun = Policies(rules, 1, Seed(0)), Building.begin(rules, 1, 9, Seed(0).torch())
    seen: list[int] = []

    def judge(graphs: GraphBatch, wanted: Tensor, seed: Seed) -> Tensor:
        seen.extend(graphs.sizes.tolist())
        return hubs(graphs, wanted, seed)

    training = PolicyTraining(rules, judge, replace(SMALL, rollouts=4), 9)
    training.rewards(policies, begun, torch.tensor([True]), 6, Seed(0), Seed(0).torch())
    assert seen[0] == 1
    assert len(seen) == 5
    assert min(seen[1:]) > 1


# -- policies -----------------------------------------------------------------------------------------


def test_a_policy_learns_what_is_rewarded_and_another_class_does_not(rules: Rules) -> None:
    venue = rules.words.schema.node_types.index("venue")

    def judge(graphs: GraphBatch, wanted: Tensor, _seed: Seed) -> Tensor:
        return (graphs.node_type == venue).any(1).float().where(wanted == 0, 0.5)

    def with_venue(policy: Policies) -> float:
        edges = torch.full((500,), 2)
        return float((build(policy, [3] * 500, edges, Seed(1).torch()).nodes == venue).any(1).float().mean())

    policies = Policies(rules, 2, Seed(0))
    before = [with_venue(policies.only(label)) for label in (0, 1)]
    settings = replace(PRESETS["fast"], iterations=100, steps=2, rollouts=0, learning_rate=0.03)
    PolicyTraining(rules, judge, settings, 3).train(policies, seed=Seed(0))
    after = [with_venue(policies.only(label)) for label in (0, 1)]
    assert before == pytest.approx([0.1, 0.1], abs=0.05)
    # Graph convolutions see two joined nodes alike, so that one start in two is the author, which joins no venue.
    assert after[0] == pytest.approx(0.5, abs=0.05)
    assert after[1] < 0.15


def test_what_is_forbidden_is_unlearned(rules: Rules) -> None:
    def invalid(policy: Policies) -> float:
        building = build(policy, [4] * 200, torch.full((200,), 5), Seed(1).torch())
        decision = policy.decide(building, building.consistent(), Seed(2).torch())
        choice = decision.choice
        return 1 - float(building.valid(4)[torch.arange(200), choice.start, choice.tail].float().mean())

    policies = Policies(rules, 1, Seed(0))
    before = invalid(policies)
    settings = replace(PRESETS["fast"], iterations=60, steps=12, rollouts=0, learning_rate=0.02)
    training = PolicyTraining(rules, lambda graphs, _wanted, _seed: torch.full((len(graphs),), 1.0), settings, 4)
    training.train(policies, seed=Seed(0))
    assert invalid(policies) < before - 0.05


# -- whole searches -----------------------------------------------------------------------------------


class LastColour(nn.Module):
    """The larger the share of nodes of the last of three colours, the surer it is of the second class."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        share = global_mean_pool(x, batch)[:, 2:]
        return 6 * torch.cat([0.5 - share, share - 0.5], dim=1)


def coloured_rings() -> list[Data]:
    """Rings whose nodes have one of three colours, in any order."""
    ring, graphs = torch.arange(6), []
    index = torch.stack([ring, (ring + 1) % 6])
    for number in range(24):
        colour = torch.randint(3, (6,), generator=Seed(number).torch())
        both = torch.cat([index, index.flip(0)], 1)
        label = torch.tensor([int((colour == 2).sum() > 3)])
        graphs.append(Data(x=torch.eye(3)[colour], edge_index=both, y=label))
    return graphs


def coloured_xgnn(config: XGNNSettings) -> XGNN:
    graphs = coloured_rings()
    schema = Schema.from_graphs(graphs, type_names=("red", "green", "blue"))
    return XGNN(LastColour(), graphs, schema=schema, config=config, seed=0)


@pytest.fixture(scope="module")
def coloured() -> XGNN:
    return coloured_xgnn(replace(SMALL, sizes=None)).fit()


def test_the_only_rewarded_action_is_learned(coloured: XGNN) -> None:
    """A first edge to a new node of the last colour, out of three new nodes."""

    def judge(graphs: GraphBatch, _wanted: Tensor, _seed: Seed) -> Tensor:
        return (graphs.node_type[:, 1] == 2).float()

    def right(policy: Policies) -> float:
        return float((build(policy, [2] * 500, torch.ones(500), Seed(1).torch()).nodes[:, 1] == 2).float().mean())

    policies = Policies(Rules.of(coloured.real.train), 1, Seed(0))
    assert right(policies) == pytest.approx(1 / 3, abs=0.1)
    settings = replace(PRESETS["fast"], iterations=300, steps=1, rollouts=0)
    PolicyTraining(policies.rules, judge, settings, 2).train(policies, seed=Seed(0))
    assert right(policies) > 0.9


def test_a_class_is_found_that_neither_random_trees_nor_policies_that_learned_nothing_have(coloured: XGNN) -> None:
    """At the same number of edges, in the graphs of this class alone."""

    def found(learning_rate: float) -> tuple[float, float]:
        config = replace(coloured.config, iterations=40, steps=6, candidates=80, learning_rate=learning_rate)
        graphs = coloured_xgnn(config).fit()._candidates
        assert graphs is not None
        sure = coloured.adapter.score(graphs).probability[:, 1]
        return tuple(float(sure[graphs.graph_label == label].mean()) for label in (1, 0))  # type: ignore[return-value]

    own, other = found(0.01)
    unlearned, _ = found(1e-9)
    graphs = coloured._candidates
    assert graphs is not None
    trees = control_sets(graphs, coloured.real.train, Seed(0))["random_trees"]
    random = float(coloured.adapter.score(trees).probability[:, 1].mean())
    assert own > max(unlearned, random, other) + 0.3


def test_a_finished_graph_is_no_longer_judged(rules: Rules) -> None:
    """Two nodes and one edge leave nothing valid, which is no fault of a policy."""
    asked = 0

    def judge(graphs: GraphBatch, _wanted: Tensor, _seed: Seed) -> Tensor:
        nonlocal asked
        asked += len(graphs)
        return torch.ones(len(graphs))

    settings = replace(SMALL, iterations=5, steps=9, rollouts=0)
    report = PolicyTraining(rules, judge, settings, 2).train(Policies(rules, 1, Seed(0)), seed=Seed(0))
    assert asked == 5
    assert min(min(rewards) for rewards in report["reward"]) > 0  # no -1 for what cannot be helped


def test_a_class_whose_graph_is_finished_stands_still_while_others_learn(rules: Rules) -> None:
    """Momentum does not carry it on."""
    settings, policies = SMALL, Policies(rules, 2, Seed(0))
    before = [parameter.detach().clone() for parameter in policies.parameters()]
    training = PolicyTraining(rules, hubs, settings, 3)
    slopes = [torch.ones_like(parameter) for parameter in before]
    velocity = [torch.full_like(parameter, 2.0) for parameter in before]
    training._descend(list(policies.parameters()), slopes, velocity, torch.tensor([True, False]))
    for old, new, own in zip(before, policies.parameters(), velocity, strict=True):
        assert torch.allclose(new[0], old[0] - settings.learning_rate * (settings.momentum * 2 + 1))
        assert torch.equal(new[1], old[1])
        assert bool((own[1] == 2).all())


def test_descent_is_that_of_torch(rules: Rules) -> None:
    settings = replace(SMALL, learning_rate=0.1, momentum=0.9)
    mine, theirs = Policies(rules, 2, Seed(0)), Policies(rules, 2, Seed(0))
    optimizer = torch.optim.SGD(theirs.parameters(), 0.1, 0.9)
    velocity = [torch.zeros_like(parameter) for parameter in mine.parameters()]
    for number in range(3):
        slopes = [parameter.detach() * (number + 1) for parameter in theirs.parameters()]
        for parameter, slope in zip(theirs.parameters(), slopes, strict=True):
            parameter.grad = slope
        optimizer.step()
        training = PolicyTraining(rules, hubs, settings, 3)
        training._descend(list(mine.parameters()), slopes, velocity, torch.tensor([True, True]))
    for one, other in zip(mine.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(one, other)


def test_graphs_have_as_many_edges_as_real_ones_of_their_size(nodes: XGNN) -> None:
    real = nodes.real.train
    beyond = (real.undirected.sum((1, 2)) // 2 - real.sizes + 1)[real.sizes == 9]
    wanted = edges_like_real([9] * 2000 + [30], real, Seed(0).torch())
    assert set((wanted[:-1] - 8).tolist()) == set(beyond.tolist())
    assert float((wanted[:-1] - 8).float().mean()) == pytest.approx(float(beyond.float().mean()), abs=0.2)
    assert int(wanted[-1]) >= 29  # no real graph is so large; the nearest size has a word
    assert nodes._candidates is not None
    made = nodes._candidates
    assert bool((made.undirected.sum((1, 2)) // 2 - made.sizes + 1 <= beyond.max()).all())


def test_graphs_are_valid_and_as_large_as_asked_for(nodes: XGNN, rules: Rules) -> None:
    graphs = nodes._candidates
    assert graphs is not None
    assert bool(check_validity(graphs.check()).valid.all())
    wanted, classes = nodes.real.like(nodes.config.candidates), nodes.schema.num_classes
    assert graphs.sizes.tolist() == [size for label in range(classes) for size in wanted[label::classes]]
    assert bool(graphs.target_mask[:, 0].all())  # the model is asked about the first node
    there = graphs.mask
    assert bool((graphs.undirected.sum(2)[there] <= rules.most_edges[graphs.node_type[there]]).all())


def test_with_more_classes_than_graphs_the_last_classes_have_none(nodes: XGNN) -> None:
    made = nodes.candidates([8, 9])
    assert made.sizes.tolist() == [8, 9]
    assert made.label[:, 0].tolist() == [0, 1]


def test_same_seed_same_bits(nodes: XGNN) -> None:
    first, again, other = (nodes.search(1, [8, 9, 8, 9], Seed(seed)) for seed in (0, 0, 1))
    assert torch.equal(first.edge, again.edge)
    assert not torch.equal(first.edge, other.edge)


def test_a_folder_goes_on_without_learning_again(planted: Dataset, nodes: XGNN, tmp_path: Path) -> None:
    xgnn(planted, folder=tmp_path).fit()
    (tmp_path / "candidates.safetensors").unlink()
    resumed = xgnn(planted, folder=tmp_path)
    before = resumed.check().adapter.scored
    resumed.fit()
    assert resumed.adapter.scored == before  # policies came from the file
    assert resumed._candidates is not None
    assert nodes._candidates is not None
    assert torch.equal(resumed._candidates.edge, nodes._candidates.edge)
    (tmp_path / "candidates.safetensors").unlink()
    (tmp_path / POLICIES).write_bytes(b"nothing")
    with pytest.raises(DignnError, match=POLICIES):
        xgnn(planted, folder=tmp_path).fit()


@pytest.mark.parametrize("classes", [2, 7])
@pytest.mark.parametrize("budget", [60, 1000, 10**6])
def test_a_budget_is_kept(budget: int, classes: int) -> None:
    settings = XGNN.within(PRESETS["fast"], budget, classes)
    assert isinstance(settings, XGNNSettings)
    assert settings.asks(classes) + settings.candidates <= budget
    assert (settings == PRESETS["fast"]) == (budget == 10**6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("iterations", 0),
        ("steps", 0),
        ("rollouts", -1),
        ("learning_rate", 0.0),
        ("momentum", 1.0),
        ("invalid_reward", 0.0),
    ],
)
def test_settings_that_cannot_be_are_refused(name: str, value: float) -> None:
    with pytest.raises(DignnError, match=name):
        replace(PRESETS["fast"], **{name: value})
