"""Rows of some nodes drawn anew: the rest stays, means stay means, members stay apart."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from dignn.core.errors import DignnError, SchemaError
from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.features.bank import FeatureBank
from dignn.features.given import Fixed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from strategies import batch_of, hetero

WORDS, MOVIES, STUDIOS = 12, 60, 8
SCHEMA = Schema(
    node_types=("movie", "director", "studio", "fan"),
    relations=(
        Relation("movie", "by", "director"),
        Relation("movie", "from", "studio"),
        Relation("fan", "of", "movie"),
    ),
    features=(
        FeatureSpec(FeatureKind.BINARY, WORDS),
        FeatureSpec(FeatureKind.CONTINUOUS, WORDS),
        FeatureSpec(FeatureKind.IDENTITY, STUDIOS),
        FeatureSpec(width=1, constant=(1.0,)),
    ),
    classes=("action", "drama"),
    target="movie",
)


@pytest.fixture(scope="module")
def bank() -> FeatureBank:
    """Movies of which each second has a partner with the same director; words follow the class."""
    label = [(number // 2) % 2 for number in range(MOVIES)]
    words = torch.rand(MOVIES, WORDS, generator=Seed(0).torch()) < 0.5
    words[:, 0], words[:, 1] = torch.tensor(label) == 0, torch.tensor(label) == 1
    rows = words.float()
    data = hetero(
        {"movie": MOVIES, "director": MOVIES // 2, "studio": STUDIOS, "fan": 1},
        {
            ("movie", "by", "director"): [(number, number // 2) for number in range(MOVIES)],
            ("movie", "from", "studio"): [(number, number // 4 % STUDIOS) for number in range(MOVIES)],
            ("fan", "of", "movie"): [(0, 0)],
        },
        x={
            "movie": rows,
            "director": rows.view(-1, 2, WORDS).mean(1),
            "studio": torch.eye(STUDIOS),
            "fan": torch.ones(1, 1),
        },
        y={"movie": label},
    )
    adjacency = Adjacency.build(data, SCHEMA)
    graphs = adjacency.induced([[number, number + 1, MOVIES + number // 2] for number in range(0, MOVIES, 2)])
    return FeatureBank(SCHEMA, PRESETS["smoke"]).fit(adjacency, graphs=graphs, seed=Seed(0))


@pytest.fixture(scope="module")
def graphs(bank: FeatureBank) -> GraphBatch:
    """Two directors of two movies each, one movie between them; five studios; a fan. And small graphs."""
    types = [0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 3]
    edges = {(0, 3): 1, (1, 3): 1, (1, 4): 1, (2, 4): 1, (10, 0): 3, **{(2, studio): 2 for studio in range(5, 10)}}
    large = batch_of(SCHEMA, types, edges, labels={0: 0, 1: 0, 2: 1})
    small = batch_of(SCHEMA, [0, 2], {(0, 1): 2}, labels={0: 1})
    return bank.fill(GraphBatch.cat([large, small, large] * 8), seed=Seed(1))


def rows(batch: GraphBatch, graph: int, node: int) -> Tensor:
    return batch.tables[SCHEMA.node_types[int(batch.node_type[graph, node])]][batch.row[graph, node]]


def mark(batch: GraphBatch, *nodes: int) -> Tensor:
    marks = torch.zeros_like(batch.mask)
    marks[:, list(nodes)] = True
    return marks


def same(one: GraphBatch, other: GraphBatch) -> Tensor:
    """(B, N) whether a node has the same bits in both; true where it has none."""
    found = torch.ones_like(one.mask)
    for graph, node in (one.mask & (one.node_type != 3)).nonzero().tolist():
        found[graph, node] = torch.equal(rows(one, graph, node), rows(other, graph, node))
    return found


def test_the_world_is_as_described(bank: FeatureBank) -> None:
    assert bank.report["director"] == {"generator": "neighbour means", "of": "movie"}


def test_marking_every_node_is_filling(bank: FeatureBank, graphs: GraphBatch) -> None:
    anew, filled = bank.redraw(graphs, graphs.mask, seed=Seed(5)), bank.fill(graphs, seed=Seed(5))
    assert torch.equal(anew.row, filled.row)
    assert list(anew.tables) == list(filled.tables)
    assert all(torch.equal(anew.tables[name], filled.tables[name]) for name in filled.tables)


def test_only_what_is_marked_changes(bank: FeatureBank, graphs: GraphBatch) -> None:
    anew = bank.redraw(graphs, mark(graphs, 5, 10), seed=Seed(2)).check()  # a studio; the fan has nothing to change
    kept = same(graphs, anew)
    large = graphs.sizes == 11
    assert not bool(kept[large, 5].all())
    kept[large, 5] = True
    assert bool(kept.all())
    for name in ("node_type", "edge", "label", "graph_label"):
        assert torch.equal(getattr(anew, name), getattr(graphs, name))


def test_nothing_marked_nothing_changed(bank: FeatureBank, graphs: GraphBatch) -> None:
    assert bool(same(graphs, bank.redraw(graphs, torch.zeros_like(graphs.mask), seed=Seed(2))).all())


def test_means_beside_a_movie_stay_means(bank: FeatureBank, graphs: GraphBatch) -> None:
    anew = bank.redraw(graphs, mark(graphs, 0), seed=Seed(2))
    kept = same(graphs, anew)
    large = (graphs.sizes == 11).nonzero()[:, 0].tolist()
    assert not bool(kept[:, 0].any(0) and kept[:, 0].all(0))
    assert bool(kept[large][:, [1, 2, 4]].all())  # the other movies, and the director that has none that is marked
    for graph in large:
        for director, movies in ((3, (0, 1)), (4, (1, 2))):  # all movies of the data are in the graph
            mean = torch.stack([rows(anew, graph, movie) for movie in movies]).mean(0)
            assert torch.equal(rows(anew, graph, director), mean)
    assert not bool(kept[large, 3].all())


def test_new_rows_follow_the_class_as_filled_ones_do(bank: FeatureBank, graphs: GraphBatch) -> None:
    """The first two words tell the class in the data; how well the generator learned that, filling shows."""
    many = GraphBatch.cat([graphs] * 20)
    anew, filled = bank.redraw(many, mark(many, 0), seed=Seed(3)), bank.fill(many, seed=Seed(4))
    for label in (0, 1):
        here = (many.label[:, 0] == label).nonzero()[:, 0].tolist()
        one, other = (torch.stack([rows(batch, graph, 0) for graph in here]).mean(0) for batch in (anew, filled))
        assert float((one - other).abs().max()) < 0.2
        assert float(one[label]) > float(one[1 - label]) + 0.2


def test_members_stay_apart_from_those_that_stay(bank: FeatureBank, graphs: GraphBatch) -> None:
    for seed, studios in enumerate([(5,), (6, 8), (5, 7, 9), (5, 6, 7, 8, 9)]):
        anew = bank.redraw(graphs, mark(graphs, *studios), seed=Seed(seed))
        for graph in (graphs.sizes == 11).nonzero()[:, 0].tolist():
            assert len({int(rows(anew, graph, studio).argmax()) for studio in range(5, 10)}) == 5


def test_tables_do_not_grow(bank: FeatureBank, graphs: GraphBatch) -> None:
    batch = graphs
    for number in range(5):
        batch = bank.redraw(batch, mark(batch, 0, 5), seed=Seed(number))
    assert {name: table.shape for name, table in batch.tables.items()} == {
        name: table.shape for name, table in graphs.tables.items()
    }
    shared = GraphBatch.cat([graphs] * 3)[:5]
    few = bank.redraw(shared, mark(shared, 0), seed=Seed(0))
    assert all(
        len(table) == int((few.node_type == SCHEMA.type_index(name)).sum()) for name, table in few.tables.items()
    )


def test_graphs_that_share_rows_part_company(bank: FeatureBank, graphs: GraphBatch) -> None:
    twice = graphs[[0, 0]]
    marks = torch.zeros_like(twice.mask)
    marks[1, 0] = True
    anew = bank.redraw(twice, marks, seed=Seed(6))
    kept = same(twice, anew)
    assert bool(kept[0].all())
    assert not bool(kept[1, 0])


def test_given_graphs_are_not_touched(bank: FeatureBank, graphs: GraphBatch) -> None:
    before = {name: table.clone() for name, table in graphs.tables.items()}
    bank.redraw(graphs, mark(graphs, 0, 5), seed=Seed(2))
    assert all(torch.equal(graphs.tables[name], table) for name, table in before.items())


def test_same_seed_same_bits(bank: FeatureBank, graphs: GraphBatch) -> None:
    one, again, other = (bank.redraw(graphs, mark(graphs, 0), seed=Seed(seed)) for seed in (1, 1, 2))
    assert bool(same(one, again).all())
    assert not bool(same(one, other)[:, 0].all())


def test_graphs_without_features_cannot_keep_any(bank: FeatureBank, graphs: GraphBatch) -> None:
    bare = replace(graphs.without_features())
    with pytest.raises(SchemaError, match="The features of 'studio' are not filled in yet|of 'movie' are not filled"):
        bank.redraw(bare, mark(bare, 0), seed=Seed(0))


# -- fixed columns ------------------------------------------------------------------------------------


def fixed(batch: GraphBatch, node: int, columns: list[int], seed: int = 0) -> Fixed:
    """Random words in some columns for one node of each graph."""
    values = (torch.rand(len(batch), len(columns), generator=Seed(seed).torch()) < 0.5).float()
    return Fixed.columns(values, torch.tensor(columns), WORDS)


def test_fixed_columns_come_out_as_given_and_the_others_are_drawn(bank: FeatureBank, graphs: GraphBatch) -> None:
    given = fixed(graphs, 0, [2, 5])
    anew = bank.redraw(graphs, mark(graphs, 0), seed=Seed(2), fixed={"movie": given}).check()
    found = torch.stack([rows(anew, graph, 0) for graph in range(len(graphs))])
    assert torch.equal(found[:, [2, 5]], given.values[:, [2, 5]])
    before = torch.stack([rows(graphs, graph, 0) for graph in range(len(graphs))])
    others = [column for column in range(WORDS) if column not in (2, 5)]
    assert bool((found[:, others] != before[:, others]).any())
    kept = same(graphs, anew)
    kept[:, [0, 3]] = True  # the movie, and the mean beside it
    assert bool(kept.all())
    again = bank.redraw(graphs, mark(graphs, 0), seed=Seed(2), fixed={"movie": given})
    assert bool(same(anew, again).all())


def test_means_follow_fixed_columns(bank: FeatureBank, graphs: GraphBatch) -> None:
    anew = bank.redraw(graphs, mark(graphs, 0), seed=Seed(2), fixed={"movie": fixed(graphs, 0, [2])})
    for graph in (graphs.sizes == 11).nonzero()[:, 0].tolist():
        assert torch.equal(rows(anew, graph, 3), (rows(anew, graph, 0) + rows(anew, graph, 1)) / 2)


def test_fixed_members_stay(bank: FeatureBank, graphs: GraphBatch) -> None:
    large = graphs[graphs.sizes == 11]
    members = torch.eye(STUDIOS)[[0, 1]].repeat(len(large), 1)
    given = Fixed(members, torch.ones_like(members, dtype=torch.bool))
    anew = bank.redraw(large, mark(large, 5, 6), seed=Seed(0), fixed={"studio": given})
    for graph in range(len(large)):
        assert [int(rows(anew, graph, studio).argmax()) for studio in (5, 6)] == [0, 1]


def test_columns_of_means_cannot_be_fixed(bank: FeatureBank, graphs: GraphBatch) -> None:
    assert bank.draws_rows("movie")
    assert not bank.draws_rows("director")
    with pytest.raises(DignnError, match="Columns of 'director' cannot be fixed, since they are means of rows of 'mov"):
        bank.redraw(graphs, mark(graphs, 3), seed=Seed(0), fixed={"director": fixed(graphs, 3, [0])})


def test_fixed_columns_are_given_for_each_marked_node(bank: FeatureBank, graphs: GraphBatch) -> None:
    with pytest.raises(DignnError, match="fixed columns for 3 nodes of 'movie', of which 24 are marked"):
        bank.redraw(graphs, mark(graphs, 0), seed=Seed(0), fixed={"movie": fixed(graphs, 0, [0])[:3]})


COLUMNS = {
    FeatureKind.BINARY: None,
    FeatureKind.CONTINUOUS: None,
    FeatureKind.MIXED: (
        Column(ColumnKind.BINARY),
        Column(ColumnKind.CATEGORICAL, levels=3),
        Column(ColumnKind.CONTINUOUS, missing=True),
        Column(ColumnKind.CONTINUOUS),
    ),
}
GENERATORS = {
    "absorbing": (FeatureKind.BINARY, {"features": "ditabddpm"}, "absorbing"),
    "marginal": (FeatureKind.BINARY, {"features": "ditabddpm"}, "marginal"),
    "multinomial": (FeatureKind.BINARY, {"features": "tabddpm"}, None),
    "gaussian": (FeatureKind.CONTINUOUS, {"continuous": "tabddpm"}, None),
    "mixed": (FeatureKind.MIXED, {"features": "tabddpm"}, None),
    "per class": (FeatureKind.BINARY, {"one_model_per_class": True}, None),
    "bootstrap": (FeatureKind.BINARY, {"features": "bootstrap"}, None),
    "independent": (FeatureKind.BINARY, {"features": "independent"}, None),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_leaves_fixed_columns_alone(name: str) -> None:
    kind, settings, noise = GENERATORS[name]
    generator = Seed(0).torch()
    table = torch.randn(60, 4, generator=generator)
    if kind is not FeatureKind.CONTINUOUS:
        table[:, :2] = (table[:, :2] > 0).float()
        table[::5, 2] = torch.nan if kind is FeatureKind.MIXED else 0.0
    if kind is FeatureKind.BINARY:
        table = (table > 0.3).float()
    spec = FeatureSpec(kind, 4, columns=COLUMNS[kind])
    schema = Schema(
        ("thing", "pair"),
        (Relation("thing", "in", "pair"),),
        (spec, FeatureSpec()),
        classes=("one", "two"),
        target="thing",
    )
    label = [number % 2 for number in range(60)]
    edges = {("thing", "in", "pair"): [(number, number // 2) for number in range(60)]}
    data = Adjacency.build(hetero({"thing": 60, "pair": 30}, edges, x={"thing": table}, y={"thing": label}), schema)
    pairs = data.induced([[number, number + 1, 60 + number // 2] for number in range(0, 60, 2)])
    smoke = PRESETS["smoke"]
    process = {} if noise is None else {"ditabddpm": replace(smoke.ditabddpm, noise=noise)}
    made = FeatureBank(schema, replace(smoke, **settings, **process)).fit(data, graphs=pairs, seed=Seed(0))
    marks = torch.zeros_like(pairs.mask)
    marks[:, 0] = True
    given = Fixed.columns(table[1::2, [0, 2]], torch.tensor([0, 2]), 4)
    anew = made.redraw(pairs, marks, seed=Seed(1), fixed={"thing": given}).check()
    found = anew.tables["thing"][anew.row[:, 0]]
    assert torch.equal(found[:, [0, 2]].nan_to_num(-9.0), table[1::2, [0, 2]].nan_to_num(-9.0))
    assert not torch.equal(found, table[::2])
    assert torch.equal(anew.tables["thing"][anew.row[:, 1]].nan_to_num(-9.0), table[1::2].nan_to_num(-9.0))
