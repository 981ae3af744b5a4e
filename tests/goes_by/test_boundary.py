"""Graphs that a model cannot decide: the most typical one, or one on the way between two; and what is told of them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.goes_by.boundary import EVEN, MOST_UNDECIDED, undecided
from dignn.goes_by.contrasts.differences import Differences
from dignn.goes_by.counterfactuals import Counterfactual
from dignn.goes_by.telling_contrasts import contrasts_told
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout
from dignn.graphs.tasks.classification import classification
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.selection.members import Members
from goes_by.cells import differing
from strategies import batch_of, plain_schema

SCHEMA = plain_schema(
    layout=Layout.HOMOGENEOUS,
    features=(FeatureSpec(FeatureKind.BINARY, 4, names=("a", "b", "c", "d")),),
    classes=("one", "two", "three"),
    target="node",
)


class Adds(nn.Module):
    """The words of a node add up: more of them speak for the second class, the first for the third."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        number = x.sum(1)
        return torch.stack([2 - number, number - 2, 20 * x[:, 0] - 15], dim=1)


def lone(words: list[float]) -> GraphBatch:
    """A node beside another one without words."""
    batch = batch_of(SCHEMA, [0, 0], {(0, 1): 1})
    batch.row[0] = torch.tensor([0, 1])
    return replace(batch, tables={"node": torch.tensor([words, [0.0] * 4])}).check()


def members(where: list[float]) -> list[Members]:
    """Of each class ten members around a point on a line."""
    found = []
    for index, at in enumerate(where):
        points = np.linspace(at - 1, at + 1, 10)[:, None]
        apart = np.sort(np.abs(points - points.T).mean(1))
        found.append(Members(index, np.linspace(-5, 5, 10), np.linspace(-5, 5, 10), points, apart))
    return found


def scores_at(probability: list[list[float]], where: list[float]) -> tuple[GraphBatch, Scores]:
    """A graph for each row, whose first node has these probabilities, and embeddings on a line."""
    count = len(probability)
    logits = torch.tensor(probability).log()
    zero = torch.zeros(count, dtype=torch.long)
    embedding = torch.tensor(where)[:, None]
    graphs = GraphBatch.cat([lone([0.0, 1.0, 0.0, 0.0])] * count)
    return graphs, Scores(torch.arange(count), zero, logits, embedding, classification("node"))


def test_the_one_that_is_nearest_to_members_is_told() -> None:
    even, sure = [0.46, 0.44, 0.1], [0.8, 0.1, 0.1]
    graphs, scores = scores_at([sure, even, even, even, sure], [0.0, 3.0, 0.3, 1.2, 5.0])
    (one,) = undecided(graphs, scores, members([0.0, 5.0, 50.0]), Seed(0))
    assert one.classes == (0, 1)
    assert one.probability == pytest.approx(even)
    assert one.node == 0
    assert not differing(one.graph, graphs[2])
    assert 0 < one.typical <= 1
    near = members([0.0, 5.0, 50.0])[0].place(scores, torch.tensor([2]))
    assert one.typical == pytest.approx(1 - float(near.distance_rank[0]))


def test_what_is_like_nothing_real_is_not_told() -> None:
    graphs, scores = scores_at([[0.46, 0.44, 0.1]], [30.0])
    assert undecided(graphs, scores, members([0.0, 5.0, 100.0]), Seed(0)) == []


def test_pairs_come_in_the_order_in_which_they_are_confused() -> None:
    rows = [[0.5, 0.45, 0.05], [0.45, 0.05, 0.5], [0.46, 0.04, 0.5], [0.05, 0.5, 0.45], [0.05, 0.85, 0.1]]
    graphs, scores = scores_at(rows, [0.0] * 5)
    found = undecided(graphs, scores, members([0.0, 0.0, 0.0]), Seed(0))
    assert [set(each.classes) for each in found] == [{0, 2}, {1, 2}, {0, 1}]
    assert len(found) <= MOST_UNDECIDED
    assert all(max(e.probability) - sorted(e.probability)[-2] <= EVEN for e in found)


def test_the_most_probable_classes_are_sought_once_for_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, scores = scores_at([[0.6, 0.3, 0.1], [0.3, 0.1, 0.6], [0.1, 0.6, 0.3]], [0.0] * 3)  # three pairs
    plain, asked = Tensor.topk, []

    def topk(values: Tensor, *given: int, **named: int) -> object:
        asked.append(len(values))
        return plain(values, *given, **named)

    monkeypatch.setattr(Tensor, "topk", topk)
    assert undecided(graphs, scores, members([0.0, 0.0, 0.0]), Seed(0)) == []
    assert asked == [3]


def pair() -> Counterfactual:
    """Three words less: the model says the first class; with two less it cannot decide."""
    before, after = lone([0.0, 1.0, 1.0, 1.0]), lone([0.0, 0.0, 0.0, 0.0])
    edits = tuple(Differences(before, after).edits)
    adds = torch.tensor([[-1.0, 1.0, -15.0], [2.0, -2.0, -15.0]]).softmax(1).tolist()
    return Counterfactual(1, 0, before, after, 0, edits, tuple(adds[0]), tuple(adds[1]), True)


def walk(seed: int = 0) -> tuple[list[float], float]:
    graphs, scores = scores_at([[0.9, 0.08, 0.02], [0.08, 0.9, 0.02]], [0.0, 5.0])
    adapter = GNNAdapter(Adds(), SCHEMA, return_type="raw")
    known = [replace(each, embedding=np.tile(each.embedding, (1, 3))) for each in members([0.0, 5.0, 50.0])]
    wide = replace(scores, embedding=scores.embedding.repeat(1, 3))
    assert undecided(graphs, wide, known, Seed(seed), pairs=[pair()]) == []  # nobody to ask
    known = [replace(each, embedding=np.array([[0.0, 0.0, -15.0]] * 10), apart=np.full(10, 2.0)) for each in known]
    (one,) = undecided(graphs, wide, known, Seed(seed), pairs=[pair()], adapter=adapter)
    assert differing(one.graph, pair().before) < differing(pair().before, pair().after)
    return one.graph.tables["node"][one.graph.row[0, 0]].tolist(), one.probability[0] - one.probability[1]


def test_where_all_is_decided_the_way_between_a_pair_is_walked() -> None:
    words, apart = walk()
    assert sum(words) == 2
    assert abs(apart) < 1e-6
    assert walk() == (words, apart)


def test_what_is_told_names_its_graphs() -> None:
    graphs, scores = scores_at([[0.46, 0.44, 0.1]], [0.0])
    between = undecided(graphs, scores, members([0.0, 5.0, 50.0]), Seed(0))
    pairs, rest, kept = contrasts_told([pair(), pair()], between, SCHEMA)
    assert json.loads(json.dumps([pairs, rest])) == [pairs, rest]  # as a file gives it back
    assert kept is not None
    assert len(kept.check()) == 5
    for number, each in enumerate(pairs):
        assert each["graphs"] == [2 * number, 2 * number + 1]
        assert (each["source"], each["target"], each["inside"], each["node"]) == ("two", "one", True, 0)
        assert not differing(kept[each["graphs"][0]], pair().before)
        assert not differing(kept[each["graphs"][1]], pair().after)
        assert list(each["probability_before"]) == ["one", "two", "three"]
        assert [edit["words"] for edit in each["edits"]] == [f"“{word}” of the node is cleared" for word in "bcd"]
        assert {(edit["kind"], edit["node"], edit["other"]) for edit in each["edits"]} == {("column", 0, None)}
    (one,) = rest
    assert (one["classes"], one["graph"], one["node"]) == (["one", "two"], 4, 0)
    assert not differing(kept[4], graphs[0])


def test_nothing_found_is_nothing_told() -> None:
    assert contrasts_told([], [], SCHEMA) == ([], [], None)


def test_members_of_other_classes_are_refused() -> None:
    graphs, scores = scores_at([[0.46, 0.44, 0.1]], [0.0])
    with pytest.raises(DignnError, match="give what all_members gives"):
        undecided(graphs, scores, members([0.0]), Seed(0))
