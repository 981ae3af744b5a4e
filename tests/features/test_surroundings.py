"""Rows go by what is around their nodes: the classes there, and features of neighbours that have theirs already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.bank import FeatureBank
from dignn.features.conditions import condition_batch
from dignn.features.settings import DiTabDDPMConfig, FeatureSettings
from dignn.features.surroundings import OCCASIONS, Occasions, Surroundings
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from strategies import batch_of, hetero

SCHEMA = Schema(
    node_types=("paper", "author"),
    relations=(Relation("author", "writes", "paper"), Relation("author", "knows", "author")),
    features=(FeatureSpec(FeatureKind.BINARY, 3), FeatureSpec(FeatureKind.BINARY, 2)),
    classes=("old", "new"),
    target="author",
)
PAIRS = 150
TRAINING = TrainingConfig(steps=150, validate_every=50)
SETTINGS = FeatureSettings(
    ditabddpm=DiTabDDPMConfig(width=32, blocks=1, sampler_steps=10, training=TRAINING, marginal_training=TRAINING)
)
SHORT = TrainingConfig(steps=5)
BRIEF = FeatureSettings(ditabddpm=replace(SETTINGS.ditabddpm, training=SHORT, marginal_training=SHORT))


def data() -> Adjacency:
    """Two authors that know each other and a paper of the first, many times over.

    The first column of all three is the same and says nothing of classes; the others are random.
    """
    rng = Seed(0).torch()
    shared = torch.rand(PAIRS, 1, generator=rng) < 0.5
    authors = torch.cat([shared.repeat_interleave(2, 0), torch.rand(2 * PAIRS, 1, generator=rng) < 0.5], dim=1)
    papers = torch.cat([shared, torch.rand(PAIRS, 2, generator=rng) < 0.5], dim=1)
    edges = {
        ("author", "writes", "paper"): [(2 * pair, pair) for pair in range(PAIRS)],
        ("author", "knows", "author"): [(2 * pair, 2 * pair + 1) for pair in range(PAIRS)],
    }
    count = {"paper": PAIRS, "author": 2 * PAIRS}
    x = {"paper": papers.float(), "author": authors.float()}
    label = [number // 2 % 2 for number in range(2 * PAIRS)]
    return Adjacency.build(hetero(count, edges, x=x, y={"author": label}), SCHEMA)


def graphs(adjacency: Adjacency) -> GraphBatch:
    """Each paper with its two authors, in this order."""
    return adjacency.induced([[pair, PAIRS + 2 * pair, PAIRS + 2 * pair + 1] for pair in range(PAIRS)])


def structures(count: int) -> GraphBatch:
    one = batch_of(SCHEMA, [0, 1, 1], {(1, 0): 1, (1, 2): 2}, labels={1: 0, 2: 1})
    return GraphBatch.cat([one] * count)


def seen_in(adjacency: Adjacency) -> Surroundings:
    some = graphs(adjacency)
    return Surroundings.of(some, some.mask, ["paper", "author"], Seed(0))


def occasions(some: GraphBatch, learned: Tensor | None = None) -> Occasions:
    learned = some.mask if learned is None else learned
    return Surroundings.of(some, learned, ["paper", "author"], Seed(0)).training(some, learned)


@pytest.fixture(scope="module")
def banks() -> dict[bool, FeatureBank]:
    """Whether rows go by their surroundings, and what learned so."""
    adjacency = data()
    return {
        on: FeatureBank(SCHEMA, replace(SETTINGS, surroundings=on)).fit(
            adjacency, graphs=graphs(adjacency), seed=Seed(1)
        )
        for on in (True, False)
    }


def first_columns(batch: GraphBatch) -> tuple[Tensor, Tensor, Tensor]:
    """Of the paper and both authors of each graph."""
    of = {
        name: batch.tables[name][batch.row[batch.node_type == kind], 0] for kind, name in enumerate(SCHEMA.node_types)
    }
    author = of["author"].view(-1, 2)
    return of["paper"], author[:, 0], author[:, 1]


# -- what is known ------------------------------------------------------------------------------------


def test_what_is_known_is_classes_around_numbers_of_neighbours_and_means_of_their_rows() -> None:
    adjacency = data()
    found, some = seen_in(adjacency), graphs(adjacency)
    there = some.mask & torch.tensor([True, False, True])  # the paper and the second author have rows
    known = found.look(some, condition_batch(some), there).context("author", some.node_type == 1)
    own = torch.eye(2)[some.label[:, 1]]
    scale = found.summaries["paper"]
    paper = (some.tables["paper"][some.row[:, 0]] - scale.mean) * scale.scale
    scale = found.summaries["author"]
    second = (some.tables["author"][some.row[:, 2]] - scale.mean) * scale.scale
    one = torch.ones(PAIRS, 1) * torch.tensor(2.0).log()
    # of the first author: its class, that around its neighbours, then papers (there are, with rows, these) and authors
    expected = torch.cat([own, own, one, one, paper, one, one, second], dim=1)
    torch.testing.assert_close(known[::2], expected)
    # of the second: no paper; the author beside it has no row yet
    nothing = torch.full((PAIRS, 1), torch.nan)
    zero = torch.zeros(PAIRS, 1)
    expected = torch.cat([own, own, zero, zero, nothing.expand(-1, 3), one, zero, nothing.expand(-1, 2)], dim=1)
    torch.testing.assert_close(known[1::2], expected, equal_nan=True)


def test_targets_come_first_and_types_that_are_joined_to_themselves_in_rounds() -> None:
    found = seen_in(data())
    assert found.order == ["author", "paper"]
    assert (found.rounds("author"), found.rounds("paper")) == (4, 1)
    some = structures(50)
    nodes = some.node_type == 1
    parts = found.parts(some.undirected, nodes, "author", Seed(3))
    assert len(parts) == 4
    assert torch.equal(torch.stack(parts).sum(0), nodes.long())  # each node once
    alone = nodes & torch.tensor([False, True, False])
    (only,) = found.parts(some.undirected, alone, "author", Seed(3))  # nobody has to wait for another
    assert torch.equal(only, alone)


def test_occasions_are_first_draws_draws_anew_and_one_of_which_nothing_is_known() -> None:
    found = occasions(graphs(data()))
    authors = found.of("author", torch.arange(2 * PAIRS), Seed(0)).each
    assert authors.shape[:2] == (2 * PAIRS, OCCASIONS)
    paper = slice(6, 9)  # of the context: what the row of the paper says
    first, anew = authors[::2, : OCCASIONS // 2], authors[::2, OCCASIONS // 2 : -1]
    assert bool(first[..., paper].isnan().all())  # papers come after authors
    assert not bool(anew[..., paper].isnan().any())
    assert bool(authors[:, -1].isnan().all())
    papers = found.of("paper", torch.arange(PAIRS), Seed(0)).each
    assert not bool(papers[:, :-1, -2:].isnan().any())  # their authors have rows already


def test_rows_that_stand_nowhere_know_nothing() -> None:
    known = occasions(graphs(data())[:10]).of("paper", torch.arange(12), Seed(0)).each
    assert bool(known[10:].isnan().all())
    assert not bool(known[:10, :-1].isnan().all(2).any())


def test_rows_that_are_not_learned_are_not_seen() -> None:
    adjacency = data()
    some = graphs(adjacency)
    learned = some.mask & (torch.arange(PAIRS) % 5 > 0)[:, None]
    other = {name: table.clone() for name, table in adjacency.tables.items()}
    for kind, name in enumerate(SCHEMA.node_types):
        held = some.row[(some.node_type == kind) & ~learned]
        other[name][held] = 1 - other[name][held]
    changed = replace(adjacency, tables=other)
    for each in SCHEMA.node_types:
        one, two = (
            occasions(graphs(which), learned).of(each, torch.arange(PAIRS), Seed(0)).each
            for which in (adjacency, changed)
        )
        torch.testing.assert_close(one, two, rtol=0, atol=0, equal_nan=True)


# -- what comes of it ---------------------------------------------------------------------------------


def test_generated_rows_fit_those_of_neighbours(banks: dict[bool, FeatureBank]) -> None:
    fitting = {}
    for on, bank in banks.items():
        paper, one, other = first_columns(bank.fill(structures(400), seed=Seed(2)))
        fitting[on] = float((paper == one).double().mean()), float((one == other).double().mean())
    assert fitting[True][0] > 0.85  # a paper fits its author: its author comes first
    assert fitting[True][1] > 0.75  # two authors in one round, as one pair in four is, do not see each other
    assert all(share < 0.6 for share in fitting[False])


def test_rows_that_are_drawn_anew_fit_those_that_stay(banks: dict[bool, FeatureBank]) -> None:
    filled = banks[True].fill(structures(400), seed=Seed(2))
    marks = torch.tensor([False, True, False]).expand_as(filled.mask)
    before, after = first_columns(filled), first_columns(banks[True].redraw(filled, marks, seed=Seed(5)))
    assert torch.equal(before[0], after[0])
    assert torch.equal(before[2], after[2])
    agree = before[0] == before[2]  # of neighbours that contradict each other no row fits both
    assert float((after[1] == after[0])[agree].double().mean()) > 0.85


def test_a_bank_from_a_file_makes_the_same_rows(banks: dict[bool, FeatureBank], tmp_path: Path) -> None:
    path = tmp_path / "features.safetensors"
    banks[True].save(path)
    loaded = FeatureBank(SCHEMA, SETTINGS).load(path)
    one, two = (bank.fill(structures(30), seed=Seed(7)) for bank in (banks[True], loaded))
    assert all(torch.equal(one.tables[name], two.tables[name]) for name in SCHEMA.node_types)


def test_rows_held_out_of_learning_change_nothing() -> None:
    """Of every fifth pair nothing may be learned: other rows there give the same bank."""
    adjacency = data()
    learned = np.array([*range(PAIRS), *np.repeat(range(PAIRS), 2)]) % 5 > 0  # papers, then authors
    other = {name: table.clone() for name, table in adjacency.tables.items()}
    for name, held in (("paper", ~learned[:PAIRS]), ("author", ~learned[PAIRS:])):
        other[name][torch.from_numpy(held)] = 1 - other[name][torch.from_numpy(held)]
    one, two = (
        FeatureBank(SCHEMA, BRIEF).fit(which, learned, graphs(which), seed=Seed(1)).fill(structures(20), seed=Seed(2))
        for which in (adjacency, replace(adjacency, tables=other))
    )
    assert all(torch.equal(one.tables[name], two.tables[name]) for name in SCHEMA.node_types)


def test_classes_around_are_known_where_rows_tell_nothing_in_numbers(tmp_path: Path) -> None:
    """One column of more codes than are told apart: rows still go by classes and numbers, also from a file."""
    schema = Schema(
        node_types=("node",),
        relations=(Relation("node", "to", "node"),),
        features=(FeatureSpec(FeatureKind.CATEGORICAL, 1, levels=(100,)),),
        classes=("old", "new"),
        target="node",
    )
    code = torch.randint(100, (200, 1), generator=Seed(0).torch()).float()
    edges = {("node", "to", "node"): [(number, number + 1) for number in range(0, 200, 2)]}
    made = hetero({"node": 200}, edges, x={"node": code}, y={"node": [number % 2 for number in range(200)]})
    adjacency = Adjacency.build(made, schema)
    some = adjacency.induced([[number, number + 1] for number in range(0, 200, 2)])
    bank = FeatureBank(schema, BRIEF).fit(adjacency, graphs=some, seed=Seed(0))
    assert bank.parts["node", None].known > 0
    bank.save(tmp_path / "features.safetensors")
    loaded = FeatureBank(schema, BRIEF).load(tmp_path / "features.safetensors")
    one, two = (each.fill(some.without_features(), seed=Seed(1)) for each in (bank, loaded))
    assert torch.equal(one.tables["node"], two.tables["node"])


def test_without_graphs_to_see_them_in_nothing_is_known_of_surroundings() -> None:
    bank = FeatureBank(SCHEMA, SETTINGS).fit(data(), seed=Seed(1))
    assert all(generator.known == 0 for generator in bank.parts.values())
    assert bank.fill(structures(3), seed=Seed(0)).tables["paper"].shape == (3, 3)
