"""Edits that are not necessary are undone, whatever it is that makes them enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.goes_by.contrasts.answers import Answer
from dignn.goes_by.contrasts.differences import Differences
from dignn.goes_by.contrasts.minimal_edits import minimal
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from strategies import PROPERTY, batch_of, plain_schema

NODES, WORDS = 3, 40
SCHEMA = plain_schema(features=(FeatureSpec(FeatureKind.BINARY, WORDS),), target="node")


def graph(value: float) -> GraphBatch:
    """A path of nodes of which all words are the same."""
    batch = batch_of(SCHEMA, [0] * NODES, {(v, v + 1): 1 for v in range(NODES - 1)})
    batch.row[0] = torch.arange(NODES)
    return replace(batch, tables={"node": torch.full((NODES, WORDS), value)})


DIFFERENCES = Differences(graph(0.0), graph(1.0))
# what is said of edited graphs, of which words (n, nodes * words) are set: whether it is enough
Enough = Callable[[torch.Tensor], torch.Tensor]


def reduced(enough: Enough) -> tuple[set[int], int]:
    """The edits that are left, and how many graphs were asked about."""
    search, asked = minimal(DIFFERENCES), 0
    question = next(search)
    while True:
        batch = question.graphs
        asked += len(batch)
        words = batch.tables["node"][batch.row].flatten(1) > 0
        ok = enough(words)
        gap = torch.where(ok, 0.0, 1.0 - words.double().mean(1))
        answer = Answer(batch, ok, words.double().sum(1), gap, torch.zeros(len(batch), 2))
        try:
            question = search.send(answer)
        except StopIteration as end:
            return set(end.value.nonzero()[:, 0].tolist()), asked


def once(enough: Enough, words: set[int]) -> bool:
    bits = torch.zeros(1, NODES * WORDS, dtype=torch.bool)
    bits[0, list(words)] = True
    return bool(enough(bits)[0])


@pytest.mark.parametrize("needed", [{0}, {5, 80}, {1, 41, 42, 119}, set(range(0, 120, 3))], ids=len)
def test_exactly_what_is_needed_is_left(needed: set[int]) -> None:
    found, asked = reduced(lambda words: words[:, sorted(needed)].all(1))
    assert found == needed
    assert asked < 120 * (1 + len(needed))  # far fewer than one by one


def test_of_two_ways_one_is_left() -> None:
    found, _ = reduced(lambda words: words[:, [3, 4]].all(1) | words[:, [70, 90]].all(1))
    assert found in ({3, 4}, {70, 90})


@PROPERTY
@given(st.lists(st.sets(st.integers(0, NODES * WORDS - 1), min_size=1, max_size=4), min_size=1, max_size=5))
def test_none_that_is_left_can_be_undone(ways: list[set[int]]) -> None:
    """Also where one word undoes what others do: two of the first way are too many, if there are others."""

    def enough(words: torch.Tensor) -> torch.Tensor:
        ok = torch.stack([words[:, sorted(way)].all(1) for way in ways]).any(0)
        return ok & ~(words.sum(1) == 7) | words.all(1)  # not monotone

    found, _ = reduced(enough)
    assert once(enough, found)
    assert not any(once(enough, found - {edit}) for edit in found)
