"""Rows drawn anew where the model becomes surer: on models whose scores are sums of features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.refinement import promising, refine
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout, Relation, Schema
from dignn.model.adapter import GNNAdapter
from strategies import batch_of, plain_schema

SCHEMA = Schema(
    node_types=("author", "paper", "term"),
    relations=(Relation("author", "writes", "paper"), Relation("paper", "has", "term")),
    features=(
        FeatureSpec(FeatureKind.CONTINUOUS, 2),
        FeatureSpec(FeatureKind.CONTINUOUS, 1),
        FeatureSpec(width=1, constant=(1.0,)),
    ),
    classes=("old", "new"),
    target="author",
)
FOREVER, ANYTHING = torch.full((2,), torch.inf), torch.full((2,), torch.inf)


def of_papers(x_dict: dict[str, Tensor], edge_index_dict: dict[Any, Tensor]) -> Tensor:
    """Class 0 gets an author's two features and those of the papers, class 1 nothing: log-odds are a sum."""
    author, paper = edge_index_dict["author", "writes", "paper"]
    total = x_dict["author"].sum(1).index_add(0, author, x_dict["paper"][paper, 0])
    return torch.stack([total, torch.zeros_like(total)], dim=1)


ADAPTER = GNNAdapter(of_papers, SCHEMA)


def with_noise(batch: GraphBatch, nodes: Tensor, seed: Seed) -> GraphBatch:
    """Normal rows for the marked nodes, in tables that are longer than need be; all others as before."""
    row, tables = batch.row.clone(), dict(batch.tables)
    for name in tables:
        here = (batch.node_type == batch.schema.type_index(name)) & nodes
        new = torch.randn(int(here.sum()), tables[name].size(1), generator=seed.child(name).torch())
        row[here] = torch.arange(len(new)) + len(tables[name])
        tables[name] = torch.cat([tables[name], new])
    return replace(batch, row=row, tables=tables)


class Recorder:
    """Draws noise, and remembers which nodes were marked and what graphs were like."""

    def __init__(self) -> None:
        self.marks: list[Tensor] = []
        self.seen: list[list[list[list[float]]]] = []

    def __call__(self, batch: GraphBatch, nodes: Tensor, seed: Seed) -> GraphBatch:
        self.marks.append(nodes)
        self.seen.append(rows(batch))
        return with_noise(batch, nodes, seed)


def filled(structure: GraphBatch, seed: int = 0) -> GraphBatch:
    tables = {
        name: torch.empty(0, structure.schema.spec(name).width)
        for name in structure.schema.node_types
        if structure.schema.spec(name).generated
    }
    return with_noise(replace(structure, tables=tables), structure.mask, Seed(seed))


def structures(count: int = 30) -> GraphBatch:
    """Small graphs of one author, and larger ones of two authors of different classes; one paper is shared."""
    small = batch_of(SCHEMA, [1, 0, 2], {(1, 0): 1, (0, 2): 2}, labels={1: 0})
    edges = {(0, 1): 1, (0, 2): 1, (3, 2): 1, (3, 4): 1, (4, 5): 2}
    large = batch_of(SCHEMA, [0, 1, 1, 0, 1, 2], edges, labels={0: 1, 3: 0})
    return GraphBatch.cat([large, small] * (count // 2))


GRAPHS = filled(structures())
WANTED = torch.zeros(len(GRAPHS), dtype=torch.long)


def rows(batch: GraphBatch) -> list[list[list[float]]]:
    """Features node by node, through plain loops."""
    return [
        [
            batch.tables[batch.schema.node_types[kind]][row].tolist() if row >= 0 else []
            for kind, row in zip(kinds, numbers, strict=True)
        ]
        for kinds, numbers in zip(batch.node_type.tolist(), batch.row.tolist(), strict=True)
    ]


def log_odds(batch: GraphBatch) -> Tensor:
    """Of class 0 at the author of class 0, by hand.  (B,)"""
    found = []
    for number, values in enumerate(rows(batch)):
        author = batch.label[number].tolist().index(0)
        papers = [n for n in batch.edge[number, author].nonzero()[:, 0].tolist() if batch.node_type[number, n] == 1]
        found.append(sum(values[author]) + sum(values[paper][0] for paper in papers))
    return torch.tensor(found)


def refined(graphs: GraphBatch = GRAPHS, wanted: Tensor = WANTED, **options: Any) -> tuple[GraphBatch, dict[str, Any]]:
    settings = {"enough": FOREVER, "ceiling": ANYTHING, "rounds": 8, "seed": Seed(3), "redraw": with_noise, **options}
    adapter, redraw = settings.pop("adapter", ADAPTER), settings.pop("redraw")
    return refine(graphs, wanted, adapter, redraw, **settings)


# -- what rises, and what stays -----------------------------------------------------------------------


def test_log_odds_rise_from_round_to_round_and_never_fall() -> None:
    found = torch.stack([log_odds(refined(rounds=rounds)[0]) for rounds in range(9)])  # rounds do not see what follows
    assert torch.equal(found[0], log_odds(GRAPHS))
    assert bool((found.diff(dim=0) >= 0).all())
    assert float((found[-1] - found[0]).mean()) > 1.5


def test_no_change_goes_above_the_ceiling() -> None:
    ceiling = torch.tensor([1.0, 99.0])
    before, after = log_odds(GRAPHS), log_odds(refined(ceiling=ceiling, rounds=30)[0])
    assert bool((after <= before.clamp_min(1.0) + 1e-5).all())
    assert float(after[before < 1].min()) > 0.0  # thirty rounds bring each near to it
    assert torch.equal(after[before > 1], before[before > 1])  # sums cannot rise and come down


def test_a_graph_is_left_alone_once_it_has_enough() -> None:
    enough = torch.tensor([0.5, 99.0])
    recorder = Recorder()
    after, told = refined(enough=enough, rounds=60, redraw=recorder)
    before, values = rows(GRAPHS), rows(after)
    done = (log_odds(GRAPHS) >= 0.5).tolist()
    assert 0 < sum(done) < len(done)
    assert [new == old for new, old in zip(values, before, strict=True)] == done
    for graphs in recorder.seen:  # what is finished is never drawn again; padding is cut off where it can be
        assert not any(value == values[number][: len(value)] for value in graphs for number in range(len(values)))
    assert told["reached"] == len(GRAPHS) == int((log_odds(after) >= 0.5).sum())
    assert told["tried"] == sum(map(len, recorder.seen))
    assert len(recorder.seen) < 60


@pytest.mark.parametrize("option", [{"ceiling": -ANYTHING}, {"enough": -FOREVER}, {"rounds": 0}])
def test_what_is_not_accepted_is_not_kept(option: dict[str, Any]) -> None:
    after, told = refined(**option)
    assert rows(after) == rows(GRAPHS)
    assert told["accepted"] == 0


def test_only_marked_rows_change() -> None:
    seen = Recorder()
    after, _ = refined(rounds=2, redraw=seen)
    marked = torch.zeros_like(GRAPHS.mask)
    for marks in seen.marks:  # nothing is ever enough, so each round has all graphs
        marked |= marks
        assert bool((marks.sum(1) == 1).all())
    changed = [
        (graph, node)
        for graph, (new, old) in enumerate(zip(rows(after), rows(GRAPHS), strict=True))
        for node in range(len(new))
        if new[node] != old[node]
    ]
    assert 0 < len(changed) <= int(marked.sum())
    assert all(bool(marked[place]) for place in changed)


def test_as_many_nodes_are_marked_as_asked_for_and_only_those_with_generated_features() -> None:
    seen = Recorder()
    refined(redraw=seen, nodes=3)
    generated = (GRAPHS.node_type == 0) | (GRAPHS.node_type == 1)
    for marks in seen.marks:
        assert marks.sum(1).tolist() == generated.sum(1).clamp_max(3).tolist()
        assert not bool((marks & ~generated).any())


def test_nodes_near_the_target_are_marked_more_often() -> None:
    edges = {(0, 1): 1, (1, 2): 1, (2, 3): 1, (3, 4): 1}  # author paper author paper author
    path = filled(batch_of(SCHEMA, [0, 1, 0, 1, 0], {(min(e), max(e)): 1 for e in edges}, labels={0: 0, 2: 1, 4: 1}))
    seen = Recorder()
    many = GraphBatch.cat([path] * 200)
    refined(many, torch.zeros(200, dtype=torch.long), ceiling=-ANYTHING, redraw=seen, rounds=5)
    counts = torch.stack(seen.marks).sum((0, 1))
    assert int(counts.sum()) == 1000
    assert int(counts[:3].min()) > 3 * int(counts[3:].max()) > 0


def test_the_given_graphs_are_not_touched() -> None:
    before = {name: table.clone() for name, table in GRAPHS.tables.items()}
    refined()
    assert all(torch.equal(GRAPHS.tables[name], table) for name, table in before.items())


def test_graphs_that_share_rows_do_not_change_together() -> None:
    twice = GraphBatch.cat([GRAPHS[0], GRAPHS[0]])
    after, _ = refined(twice, torch.zeros(2, dtype=torch.long), rounds=20)
    first, second = rows(after)
    assert first[3] != second[3]  # the author of class 0
    assert bool((log_odds(after) > log_odds(twice)).all())


def test_tables_do_not_grow() -> None:
    after, _ = refined(rounds=10)
    after.check()
    for name, table in after.tables.items():
        assert len(table) == int((after.node_type == SCHEMA.type_index(name)).sum())
    for name in ("node_type", "edge", "label", "graph_label"):
        assert torch.equal(getattr(after, name), getattr(GRAPHS, name))


# -- which node, which class --------------------------------------------------------------------------


def test_the_best_target_node_of_the_class_counts() -> None:
    """Of two unlabelled authors the better one is followed, although the other could rise more easily."""
    graph = batch_of(SCHEMA, [0, 0], {})
    graph = replace(graph, row=torch.tensor([[0, 1]]), tables={"author": torch.tensor([[-9.0, 0.0], [1.0, 0.0]])})
    many = GraphBatch.cat([graph] * 20)
    after, told = refined(many, torch.zeros(20, dtype=torch.long), rounds=20)
    assert [values[0] for values in rows(after)] == [[-9.0, 0.0]] * 20  # it never helps the other
    assert told["classes"]["old"]["log_odds_before"] == 1.0
    assert all(sum(values[1]) > 1 for values in rows(after))


def test_graphs_without_a_node_of_the_class_stay_as_they_are() -> None:
    wanted = torch.ones(len(GRAPHS), dtype=torch.long)
    seen = Recorder()
    after, told = refined(wanted=wanted, redraw=seen)
    small = GRAPHS.sizes == 3  # they only have an author of class 0
    assert told["graphs"] == int((~small).sum())
    assert [new for new, old in zip(rows(after), small.tolist(), strict=True) if old] == [
        values for values, old in zip(rows(GRAPHS), small.tolist(), strict=True) if old
    ]
    assert [len(marks) for marks in seen.marks] == [int((~small).sum())] * 8
    assert set(told["classes"]) == {"new"}


def test_graphs_without_generated_features_stay_as_they_are() -> None:
    schema = plain_schema(target="node", layout=Layout.HETERO, features=(FeatureSpec(width=1, constant=(1.0,)),))
    graphs = batch_of(schema, [0, 0], {(0, 1): 1}, labels={0: 0, 1: 1})

    def forward(x_dict: dict[str, Tensor]) -> Tensor:
        return x_dict["node"].repeat(1, 2)

    adapter = GNNAdapter(forward, schema)
    after, told = refined(graphs, torch.tensor([1]), adapter=adapter, redraw=None)
    assert torch.equal(after.row, graphs.row)
    assert told == {"graphs": 0, "rounds": 8, "tried": 0, "accepted": 0, "reached": 0, "classes": {}}


def test_in_graph_classification_the_graph_counts() -> None:
    schema = plain_schema((), features=(FeatureSpec(FeatureKind.CONTINUOUS, 1),), layout=Layout.HOMOGENEOUS)

    def forward(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        total = torch.zeros(int(batch.max()) + 1).index_add(0, batch, x[:, 0])
        return torch.stack([total, -total], dim=1)

    one, two = (batch_of(schema, [0] * size, {}, graph_label=size % 2) for size in (3, 4))
    graphs = filled(GraphBatch.cat([one, two] * 10))
    wanted = graphs.graph_label
    after, told = refined(graphs, wanted, adapter=GNNAdapter(forward, schema), enough=torch.tensor([4.0, 4.0]))

    def own(batch: GraphBatch) -> Tensor:
        total = torch.tensor([sum(value[0] for value in values if value) for values in rows(batch)])
        return 2 * torch.where(wanted == 0, total, -total)

    assert bool((own(after) >= own(graphs) - 1e-5).all())
    assert told["reached"] == int((own(after) >= 4).sum()) > int((own(graphs) >= 4).sum())


def test_no_graphs_need_no_refinement() -> None:
    after, told = refined(GRAPHS[torch.empty(0, dtype=torch.long)], WANTED[:0], redraw=None)
    assert len(after) == 0
    assert told == {"graphs": 0, "rounds": 8, "tried": 0, "accepted": 0, "reached": 0, "classes": {}}


@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_each_class_gets_its_share_of_the_promising_and_at_least_one(number: int) -> None:
    index, wanted = promising(GRAPHS, ADAPTER.score(GRAPHS), FOREVER, number)
    assert torch.bincount(wanted, minlength=2).tolist() == [max(1, number // 2)] * 2
    assert len(index.unique()) == len(index)
    first = log_odds(GRAPHS).argsort(descending=True)[: max(1, number // 2)]
    assert index[wanted == 0].tolist() == first.tolist()


def test_nothing_is_promising_where_classes_have_enough_or_no_graphs() -> None:
    scores = ADAPTER.score(GRAPHS)
    assert [len(part) for part in promising(GRAPHS, scores, -FOREVER, 8)] == [0, 0]
    small = GRAPHS[GRAPHS.sizes == 3]  # they only have an author of class 0
    assert promising(small, ADAPTER.score(small), FOREVER, 1)[1].tolist() == [0]


# -- the account and the seed ------------------------------------------------------------------------


def test_what_is_told_is_what_happened() -> None:
    wanted = torch.where(GRAPHS.sizes == 3, 0, 1)
    after, told = refined(wanted=wanted, enough=torch.tensor([3.0, 3.0]))
    for label, name in enumerate(SCHEMA.classes):
        mine = wanted == label
        assert told["classes"][name]["graphs"] == int(mine.sum())
        for key, batch in (("log_odds_before", GRAPHS), ("log_odds_after", after)):
            scores = ADAPTER.score(batch)
            of_class = (batch.label[scores.graph, scores.node] == label) & mine[scores.graph]
            mean = float(scores.log_odds[of_class, label].mean())
            assert told["classes"][name][key] == pytest.approx(mean, abs=1e-5)
    assert told["reached"] == sum(about["reached"] for about in told["classes"].values())


def test_same_seed_same_bits() -> None:
    one, same, other = (refined(seed=Seed(seed))[0] for seed in (1, 1, 2))
    assert rows(one) == rows(same) != rows(other)
