"""Known models: exact on their data and on subgraphs of it, smooth, and blind to decoys that follow the label."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.flattening import flatten_for
from dignn.model.adapter import GNNAdapter
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.known.clues import Clue, reverse
from dignn.zoo.known.known_model import KnownModel
from dignn.zoo.known.registry import KNOWN_MODELS
from dignn.zoo.known.rules import Above, Both, Either, Not, OnlyOne, Rule
from dignn.zoo.known.walks import Walkable, walk_data

every_model = pytest.mark.parametrize("known", KNOWN_MODELS.values(), ids=lambda known: known.name)


@cache
def dataset(known_name: str) -> Dataset:
    return KNOWN_MODELS[known_name].dataset(0)


def data_of(known: KnownModel) -> tuple[HeteroData, torch.Tensor]:
    """The data, not to be changed, and its labels."""
    made = dataset(known.name)
    assert isinstance(made.data, HeteroData)
    return made.data, made.data[made.schema.target].y


def answers(known: KnownModel, data: HeteroData) -> torch.Tensor:
    """Probability that the rule holds.  (n,)"""
    return known.model(dataset(known.name).schema)(data.x_dict, data.edge_index_dict).softmax(1)[:, 1]


def walkable(known: KnownModel) -> Walkable:
    return walk_data(data_of(known)[0], dataset(known.name).schema)


def test_there_are_many_and_their_names_and_rules_differ() -> None:
    assert len(KNOWN_MODELS) >= 16
    assert len({known.rule for known in KNOWN_MODELS.values()}) == len(KNOWN_MODELS)
    assert len({known.says for known in KNOWN_MODELS.values()}) == len(KNOWN_MODELS)


@every_model
def test_the_model_is_exact_on_every_node_of_its_data(known: KnownModel) -> None:
    data, label = data_of(known)
    walks = walkable(known)
    assert [walks.satisfied(known.rule, node) for node in range(len(label))] == label.bool().tolist()
    assert torch.equal(answers(known, data) > 0.5, label.bool())
    assert 0.15 < float(label.float().mean()) < 0.7  # both classes have members enough


@every_model
def test_the_model_is_exact_on_subgraphs(known: KnownModel) -> None:
    made = dataset(known.name)
    adjacency = Adjacency.of_view(flatten_for(made.data, made.schema), made.schema)
    fires = forest_fire(adjacency, made.sizes[-2:], 15, seed=Seed(1))
    scores = GNNAdapter(known.model(made.schema), made.schema).score(fires)
    told = [
        known.satisfied(fires[graph], node)
        for graph, node in zip(scores.graph.tolist(), scores.node.tolist(), strict=True)
    ]
    assert told == (scores.probability[:, 1] > 0.5).tolist()
    assert len(set(told)) == 2


@every_model
def test_probabilities_are_smooth(known: KnownModel) -> None:
    data, _ = data_of(known)
    given = {kind: x.clone().requires_grad_() for kind, x in data.x_dict.items()}
    scores = known.model(dataset(known.name).schema)(given, data.edge_index_dict)
    probability = scores.softmax(1)[:, 1].detach()
    assert ((probability > 0) & (probability < 1)).all()
    assert ((probability > 0.01) & (probability < 0.99)).any()
    if any(clue.column is not None for clue in known.rule.clues):
        scores[:, 1].sum().backward()
        assert any(x.grad is not None and bool((x.grad != 0).any()) for x in given.values())


@every_model
def test_decoys_follow_the_label_and_the_model_does_not_see_them(known: KnownModel) -> None:
    data, label = data_of(known)
    walks, before = walkable(known), answers(known, data)
    assert known.decoys
    assert not set(known.decoys) & set(known.rule.clues)
    for decoy in known.decoys:
        amount = [walks.amount(node, decoy) for node in range(len(label))]
        assert abs(np.corrcoef(amount, label)[0, 1]) > 0.3, decoy
        assert torch.equal(answers(known, changed(data, decoy, walks)), before), decoy


def changed(data: HeteroData, decoy: Clue, walks: Walkable) -> HeteroData:
    """Data in which the decoy's column is mixed up, or its edges are gone."""
    other = data.clone()
    end = decoy.path[-1][2] if decoy.path else walks.target
    if decoy.column is None:
        for edge_type in (decoy.path[-1], reverse(decoy.path[-1])):
            other[edge_type].edge_index = other[edge_type].edge_index[:, :0]
    else:
        column = list(walks.names[end]).index(decoy.column)
        other[end].x[:, column] = 1 - other[end].x[:, column]
    return other


@every_model
def test_a_rule_holds_where_one_of_its_patterns_does_and_each_occurs_alone(known: KnownModel) -> None:
    _, label = data_of(known)
    walks = walkable(known)
    found = [
        [name for name, pattern in known.patterns.items() if walks.satisfied(pattern, node)]
        for node in range(len(label))
    ]
    assert [bool(names) for names in found] == label.bool().tolist()
    assert {names[0] for names in found if len(names) == 1} == set(known.patterns)


@pytest.mark.parametrize("name", ["degree", "interval"])
def test_data_depends_on_the_seed_alone(name: str) -> None:
    known = KNOWN_MODELS[name]
    first, again, other = (known.dataset(seed).data for seed in (3, 3, 4))
    for one, two in zip(first.stores, again.stores, strict=True):
        assert all(torch.equal(value, two[key]) for key, value in one.items())
    assert not torch.equal(first["author" if "author" in first.node_types else "patient"].x, other.node_stores[0].x)


# -- rules --------------------------------------------------------------------------------------------

_A, _B = Clue(column="a"), Clue(column="b")
_RULES: tuple[Rule, ...] = (Above((_A,), 0.5), Above((_A, _B), 1.5), Not(Above((_A,), 0.5)))
_PAIRS = tuple(kind(_RULES[0], Above((_B,), 1.25, scale=3)) for kind in (Both, Either, OnlyOne))


@pytest.mark.parametrize("rule", [*_RULES, *_PAIRS, Both(Not(_PAIRS[2]), _PAIRS[1])])
def test_the_margin_is_positive_exactly_where_the_rule_holds(rule: Rule) -> None:
    places = np.arange(-3.05, 4, 0.6)  # no bound among them, nor among their sums
    for a in places:
        for b in places:
            amounts = {_A: float(a), _B: float(b)}
            margin = rule.margin({clue: torch.tensor(value) for clue, value in amounts.items()}.__getitem__)
            assert rule.holds(amounts.__getitem__) is bool(margin > 0), (a, b)


def test_a_closed_walk_counts_only_where_it_comes_home() -> None:
    """Author 0 wrote papers 0 and 1, and 0 cites 1; author 1 wrote paper 2, which paper 1 cites."""
    neighbours = {
        ("author", "writes", "paper"): {0: [0, 1], 1: [2]},
        ("paper", "rev_writes", "author"): {0: [0], 1: [0], 2: [1]},
        ("paper", "cites", "paper"): {0: [1], 1: [2]},
    }
    graph = Walkable("author", neighbours, {}, lambda *_: 1.0)
    rule = KNOWN_MODELS["structure"].rule
    assert [graph.amount(node, rule.clues[0]) for node in (0, 1)] == [1, 0]
    used = graph.used(rule, 0)
    assert used.nodes == {0, 1}  # rows of types: author 0, papers 0 and 1
    assert used.edges == {(0, 0), (0, 1)}  # written, written, and 0 cites 1
    assert not used.columns
