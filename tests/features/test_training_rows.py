"""The rows that generators learn from: all of few, and of many no more than a bound, those of subgraphs first."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dignn.core.seeds import Seed
from dignn.features import training_rows as module
from dignn.features.conditions import DataConditions
from dignn.features.surroundings import Surroundings
from dignn.features.table import Table
from dignn.features.training_rows import some_nodes, training_rows
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.inference import infer_schema
from strategies import hetero

SUBGRAPHS = 10


def pairs(count: int) -> Adjacency:
    """Pairs of an author and a paper; both tables tell the number of the pair in binary."""
    number = torch.arange(count)[:, None].bitwise_right_shift(torch.arange(14)).bitwise_and(1).float()
    edges = {("author", "writes", "paper"): [(pair, pair) for pair in range(count)]}
    data = hetero(
        {"author": count, "paper": count},
        edges,
        x={"author": number, "paper": number.clone()},
        y={"author": [pair % 2 for pair in range(count)]},
    )
    return Adjacency.build(data, infer_schema(data, "author"))


def some_graphs(data: Adjacency) -> GraphBatch:
    """The last pairs."""
    count = len(data.node_type) // 2
    return data.induced([[pair, count + pair] for pair in range(count - SUBGRAPHS, count)])


def learned_table(data: Adjacency, *, surroundings: bool = False) -> Table:
    graphs, learned = some_graphs(data), np.ones(len(data.node_type), dtype=bool)
    occasions = None
    if surroundings:
        occasions = Surroundings.of(graphs, graphs.mask, ["author", "paper"], Seed(0)).training(graphs, graphs.mask)
    found = training_rows(data, learned, graphs, DataConditions(data), "paper", occasions, Seed(1))
    assert found is not None
    return found


def number_of(table: Table) -> list[int]:
    return (table.rows @ (2.0 ** torch.arange(14))).int().tolist()


def test_few_rows_are_all_learned_from() -> None:
    assert number_of(learned_table(pairs(300))) == list(range(300))


def test_of_many_rows_those_in_subgraphs_come_first_and_the_others_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEARNED_ROWS", 50)
    table = learned_table(pairs(1000))
    found = number_of(table)
    assert len(found) == 50
    assert found == sorted(found)
    assert found[-SUBGRAPHS:] == list(range(990, 1000))
    assert max(np.diff(found[:-SUBGRAPHS])) <= 26
    assert table.weight.tolist() == [0.5] * 40 + [1.5] * SUBGRAPHS
    assert torch.equal(table.condition[:, :2].argmax(1), torch.tensor([number % 2 for number in found]))


def test_more_rows_in_subgraphs_than_are_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEARNED_ROWS", 4)
    found = number_of(learned_table(pairs(100)))
    assert len(found) == 4
    assert min(found) >= 90


@pytest.mark.parametrize(("bound", "value"), [("MOST_CELLS", 14 * 30), ("MOST_CONDITIONS", 4 * 30)])
def test_wide_rows_and_many_classes_leave_fewer(bound: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, bound, value)
    assert len(learned_table(pairs(100))) == 30


def test_only_nodes_that_may_be_learned_from_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEARNED_ROWS", 20)
    data = pairs(100)
    learned = np.arange(200) % 3 > 0
    nodes = some_nodes(data, "paper", learned, np.array([100, 101, 102]))
    assert len(nodes) == 20
    assert learned[nodes].all()
    assert {100, 101} <= set(nodes.tolist())


def test_what_is_learned_from_does_not_grow_with_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEARNED_ROWS", 60)
    sizes = []
    for count in (200, 3000):
        asked: list[int] = []
        whole = Adjacency.joined
        with monkeypatch.context() as patch:
            patch.setattr(
                Adjacency, "joined", lambda self, nodes, a=asked, w=whole: a.append(len(nodes)) or w(self, nodes)
            )
            table = learned_table(pairs(count), surroundings=True)
        assert table.context is not None
        parts = (table.rows, table.condition, table.weight, table.context.known, table.context.place)
        sizes.append([*(tuple(part.shape) for part in parts), sum(asked)])
    assert sizes[0] == sizes[1]
