"""Pairs of graphs that differ in little: the model says both classes, and no edit can be undone. By exact rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.features.bank import FeatureBank
from dignn.features.settings import FeatureSettings
from dignn.goes_by.contrasts.differences import Differences
from dignn.goes_by.contrasts.graph_edits import EditKind
from dignn.goes_by.contrasts.starts import MOST_PAIRS, asked_pairs
from dignn.goes_by.counterfactuals import Counterfactual, counterfactuals
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_features import EdgeFeatures, EdgeField
from dignn.graphs.edge_tables import own_cells, with_rows
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout, Schema
from dignn.graphs.tasks.classification import classification
from dignn.graphs.validity import check_validity
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.sampling.division import divide
from dignn.selection.members import Members, all_members
from dignn.zoo.known.registry import KNOWN_MODELS
from goes_by.cells import differing
from strategies import batch_of, plain_schema


@dataclass(frozen=True)
class Few:
    sizes: tuple[int, ...]
    subgraphs_per_size: int = 60


@dataclass(frozen=True, eq=False)
class World:
    """Graphs, a model, what it says, members, and rows."""

    graphs: GraphBatch
    adapter: GNNAdapter
    bank: Any
    real: tuple[Members, ...] = ()  # of both classes, in place of those among the graphs

    @property
    def scores(self) -> Scores:
        return self.adapter.score(self.graphs)

    @property
    def members(self) -> list[Members]:
        return list(self.real) or all_members(self.scores, self.graphs, seed=Seed(0))

    def search(self, seed: int = 0) -> list[Counterfactual]:
        with single_thread():
            return counterfactuals(self.graphs, self.scores, self.members, self.adapter, self.bank, Seed(seed))


@cache
def known(name: str) -> World:
    """Real graphs of a known model's data; rows are drawn column by column."""
    model = KNOWN_MODELS[name]
    data = model.dataset(0)
    with single_thread():
        real = divide(data.data, data.schema, Few(data.sizes), Seed(0))
        real.sample()
        bank = FeatureBank(data.schema, FeatureSettings(features="independent"))
        bank.fit(real.data, graphs=real.train, seed=Seed(0))
    return World(real.train, GNNAdapter(model.model(data.schema), data.schema), bank)


@cache
def found(name: str) -> list[Counterfactual]:
    return known(name).search()


def said(world: World, pair: Counterfactual, graph: GraphBatch) -> tuple[int, bool]:
    """What the model says, asked about nothing else, and whether the graph is valid and inside the target's range."""
    if not bool(check_validity(graph).valid):
        return -1, False
    scores = world.adapter.score(graph)
    own = scores[scores.node == (-1 if pair.node is None else pair.node)]
    return int(own.predicted), bool(world.members[pair.target].place(own).inside())


def check(world: World, pair: Counterfactual) -> None:
    """Everything that a pair promises."""
    assert said(world, pair, pair.before)[0] == pair.source
    assert said(world, pair, pair.after) == (pair.target, True)
    assert pair.inside
    assert pair.probability_before[pair.source] == max(pair.probability_before)
    assert pair.probability_after[pair.target] == max(pair.probability_after)
    assert pair.before.node_type.shape == pair.after.node_type.shape
    assert int(pair.before.label.max()) == int(pair.after.label.max()) == -1
    steps = Differences(pair.before.check(), pair.after.check())
    assert set(steps.edits) == set(pair.edits)
    for number in range(len(steps)):
        undone = torch.ones(1, len(steps), dtype=torch.bool)
        undone[0, number] = False
        assert said(world, pair, steps.apply(undone)) != (pair.target, True)


def columns(schema: Schema, pair: Counterfactual) -> set[tuple[str, str, float | None]]:
    """Names of the columns that are edited, with the type of their nodes, and what they are afterwards."""
    types = [schema.node_types[int(kind)] for kind in pair.after.node_type[0]]
    return {(types[e.node], schema.spec(types[e.node]).column_name(e.column or 0), e.after) for e in pair.edits}


# -- known models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["feature", "neighbour", "structure", "degree", "direction"])
def test_pairs_keep_what_they_promise(name: str) -> None:
    assert {(pair.source, pair.target) for pair in found(name)} == {(0, 1), (1, 0)}
    for pair in found(name):
        check(known(name), pair)


def test_the_rule_of_one_keyword_takes_one_keyword() -> None:
    """And nothing else, in both directions, at the author itself."""
    for pair in found("feature"):
        schema = known("feature").graphs.schema
        assert columns(schema, pair) == {("author", "query", float(pair.target))}
        assert [edit.node for edit in pair.edits] == [pair.node]
        assert differing(pair.before, pair.after) == {
            ("column", pair.node, schema.spec("author").names.index("query"))  # type: ignore[union-attr]
        }


def test_a_rule_about_neighbours_takes_a_neighbour() -> None:
    """The author wrote a survey: a paper becomes one, a survey is added, or the author is joined to one."""
    for pair in found("neighbour"):
        graph = pair.after if pair.target == 1 else pair.before
        assert KNOWN_MODELS["neighbour"].satisfied(graph, pair.node or 0)
        assert pair.node is not None
        touched = {v for edit in pair.edits for v in (edit.node, edit.other)}
        papers = {v for v in touched if v is not None and v != pair.node}
        assert papers  # nothing of the author itself matters


@pytest.mark.parametrize("name", ["structure", "degree", "direction"])
def test_a_rule_about_structure_takes_edits_of_structure(name: str) -> None:
    for pair in found(name):
        assert not {edit.kind for edit in pair.edits} & {EditKind.COLUMN, EditKind.ROW}
        holds = [KNOWN_MODELS[name].satisfied(graph, pair.node or 0) for graph in (pair.before, pair.after)]
        assert holds == [bool(pair.source), bool(pair.target)]


def test_the_same_seed_gives_the_same_bits_and_another_one_others() -> None:
    world, first = known("neighbour"), found("neighbour")
    again = world.search()
    for one, other in zip(first, again, strict=True):
        assert one.edits == other.edits
        assert one.probability_after == other.probability_after
        assert not differing(one.after, other.after)
    assert [pair.edits for pair in world.search(seed=5)] != [pair.edits for pair in first]


# -- models of one line -------------------------------------------------------------------------------


class Triangles(nn.Module):
    """Graphs with a triangle are of the second class."""

    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(1, 2, bias=False)
        with torch.no_grad():
            self.read.weight.copy_(torch.tensor([[-4.0], [4.0]]))

    def forward(self, edge_index: Tensor, batch: Tensor) -> Tensor:
        size = len(batch)
        joined = torch.zeros(size, size).index_put((edge_index[0], edge_index[1]), torch.ones(edge_index.size(1)))
        number = int(batch.max()) + 1 if size else 0
        corners = torch.zeros(number).index_add(0, batch, (joined @ joined @ joined).diagonal())
        return self.read(torch.tanh(corners / 6 - 0.5)[:, None])


class Degrees(nn.Module):
    """Nodes with at least three neighbours are of the second class; or all are of the first."""

    def __init__(self, blind: bool = False) -> None:
        super().__init__()
        self.blind = blind

    def forward(self, edge_index: Tensor, num_nodes: int) -> Tensor:
        degree = torch.bincount(edge_index[1], minlength=num_nodes).float()
        score = torch.full_like(degree, -2.0) if self.blind else torch.tanh(degree - 2.5)
        return torch.stack([-score, score], dim=1)


def graphs_of(schema: Schema, count: int, seed: int) -> GraphBatch:
    """Random trees of five to eight nodes, half of them with one more edge; each node and graph another one."""
    rng, several = Seed(seed).numpy(), []
    for number in range(count):
        size = int(rng.integers(5, 9))
        edges = {(int(rng.integers(v)), v): 1 for v in range(1, size)}
        if number % 2:
            free = [(u, v) for u in range(size) for v in range(u + 1, size) if (u, v) not in edges]
            edges[free[int(rng.integers(len(free)))]] = 1
        one = batch_of(schema, [0] * size, edges)
        several.append(replace(one, row=torch.arange(size)[None] + 10 * number))
    return GraphBatch.cat(several)


def homogeneous(target: str | None = None, **options: Any) -> Schema:
    return plain_schema(layout=Layout.HOMOGENEOUS, target=target, **options)


def test_whole_graphs_without_features_get_edits_of_structure() -> None:
    schema = homogeneous()
    world = World(graphs_of(schema, 80, 0), GNNAdapter(Triangles(), schema), None)
    pairs = world.search()
    assert {(pair.source, pair.target) for pair in pairs} == {(0, 1), (1, 0)}
    for pair in pairs:
        check(world, pair)
        assert pair.node is None
        assert len(pair.edits) == 1  # an edge closes a triangle, or opens the only one
    closing = next(pair for pair in pairs if pair.target == 1)
    assert closing.edits[0].kind is EditKind.EDGE_ADDED


def test_nodes_without_features_get_edits_of_structure() -> None:
    schema = homogeneous("node")
    world = World(graphs_of(schema, 40, 1), GNNAdapter(Degrees(), schema, return_type="raw"), None)
    pairs = world.search()
    assert {(pair.source, pair.target) for pair in pairs} == {(0, 1), (1, 0)}
    for pair in pairs:
        check(world, pair)
        degree = [int(graph.undirected[0, pair.node].sum()) for graph in (pair.before, pair.after)]
        assert (degree[0] >= 3, degree[1] >= 3) == (bool(pair.source), bool(pair.target))
        assert len(pair.edits) == abs(degree[1] - degree[0])


def test_a_class_that_cannot_be_reached_gives_none() -> None:
    """The model says the first class of everything, though there are real nodes of both."""
    schema = homogeneous("node")
    graphs = graphs_of(schema, 20, 2)
    graphs = replace(graphs, label=(torch.arange(graphs.label.numel()) % 2).reshape(graphs.label.shape))
    graphs = replace(graphs, label=graphs.label.masked_fill(~graphs.mask, -1))
    world = World(graphs, GNNAdapter(Degrees(blind=True), schema, return_type="raw"), None)
    assert len(world.members[1]) > 0
    assert asked_pairs(world.scores) == [(0, 1)]
    assert world.search() == []


class Linear(nn.Module):
    """As many neighbours as there are beyond two and a half speak for the second class."""

    def forward(self, edge_index: Tensor, num_nodes: int) -> Tensor:
        score = torch.bincount(edge_index[1], minlength=num_nodes).float() - 2.5
        return torch.stack([-score, score], dim=1)


def members_of_degrees(index: int, degrees: Sequence[int]) -> Members:
    """Ten nodes of each of these degrees, as that model sees them."""
    score = np.repeat(np.array(degrees), 10) - 2.5
    points = np.stack([-score, score], axis=1)
    own = np.sort(points[:, index])
    return Members(index, own, own, points, np.full(len(score), 0.5))


@pytest.mark.parametrize(("real", "reached"), [((3,), 3), ((5, 6), 5), ((40, 41), None)])
def test_the_range_of_real_members_is_reached_or_nothing_is_told(real: Sequence[int], reached: int | None) -> None:
    """That the model says the class of a node with three neighbours is not enough where real members have more."""
    schema = homogeneous("node")
    members = members_of_degrees(0, (1, 2)), members_of_degrees(1, real)
    adapter = GNNAdapter(Linear(), schema, return_type="raw")
    world = World(graphs_of(schema, 40, 4), adapter, None, members)
    more = [pair for pair in world.search() if pair.target == 1]
    assert len(more) == (reached is not None)
    for pair in more:
        check(world, pair)
        assert int(pair.after.undirected[0, pair.node].sum()) == reached


class Weights(nn.Module):
    """Nodes whose edges weigh more than one together are of the second class."""

    def forward(self, edge_index: Tensor, edge_weight: Tensor, num_nodes: int) -> Tensor:
        total = torch.zeros(num_nodes).index_add(0, edge_index[1], edge_weight)
        return torch.stack([1 - total, total - 1], dim=1).tanh()


class Weighing:
    """A bank that gives edges weights between 0 and 1, those of marked nodes and those without."""

    def redraw(self, batch: GraphBatch, nodes: Tensor, *, seed: Seed) -> GraphBatch:
        label = batch.schema.relations[0].label
        cells = own_cells(batch, batch.node_type, label)
        rows = torch.rand(len(cells[0]), 1, generator=seed.torch())
        if label in batch.edge_tables and batch.edge_row is not None:
            kept = ~(nodes[cells[0], cells[1]] | nodes[cells[0], cells[2]]) & (batch.edge_row[cells] >= 0)
            rows[kept] = batch.edge_tables[label][batch.edge_row[cells][kept]]
        return with_rows(batch, label, cells, torch.arange(len(rows)), rows)


def test_edges_that_carry_something_are_edited_too() -> None:
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 1, names=("edge_weight",), vector=True)
    edges = EdgeFeatures(1, (EdgeField("edge_weight", 1, vector=True),), spec)
    schema = homogeneous("node", edge_features=(edges,))
    plain = graphs_of(schema, 40, 3)
    graphs = Weighing().redraw(plain, plain.mask, seed=Seed(0)).check()
    world = World(graphs, GNNAdapter(Weights(), schema, return_type="raw"), Weighing())
    pairs = world.search()
    assert {(pair.source, pair.target) for pair in pairs} == {(0, 1), (1, 0)}
    for pair in pairs:
        check(world, pair)
        for edit in pair.edits:
            assert pair.node in (edit.node, edit.other)  # no other edge counts
    assert any(edit.kind is EditKind.COLUMN and edit.relation for pair in pairs for edit in pair.edits)


# -- pairs and arguments ------------------------------------------------------------------------------


def scores_of(probability: Sequence[Sequence[float]]) -> Scores:
    logits = torch.tensor(probability).log()
    where = torch.arange(len(logits))
    return Scores(where, torch.zeros_like(where), logits, logits, classification("node"))


def test_all_pairs_are_asked_where_there_are_few() -> None:
    told = asked_pairs(scores_of([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]))
    assert told == [(0, 1), (0, 2), (1, 0), (1, 2)]  # nothing is of the third class, so no search starts there


def test_of_many_classes_each_is_asked_with_its_most_confused() -> None:
    count = 30
    rows = torch.full((count, count), 0.1 / count) + 0.8 * torch.eye(count) + 0.1 * torch.eye(count).roll(1, 1)
    told = asked_pairs(scores_of(rows.tolist()))
    assert len(told) == MOST_PAIRS
    assert all(target == (source + 1) % count for source, target in told)


def test_what_does_not_fit_is_refused() -> None:
    world = known("feature")
    given = world.graphs, world.scores, world.members, world.adapter
    with pytest.raises(DignnError, match="give the fitted bank"):
        counterfactuals(*given, None, Seed(0))
    with pytest.raises(DignnError, match="give what all_members gives"):
        counterfactuals(given[0], given[1], given[2][:1], given[3], world.bank, Seed(0))
    with pytest.raises(DignnError, match="give its scores"):
        counterfactuals(given[0][:3], given[1], given[2], given[3], world.bank, Seed(0))
    with pytest.raises(DignnError, match="give a GraphBatch"):
        counterfactuals("graphs", *given[1:], world.bank, Seed(0))  # type: ignore[arg-type]
