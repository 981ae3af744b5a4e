"""No choice at all: candidates as they come."""

from __future__ import annotations

import torch

from dignn.graphs.batch import GraphBatch
from dignn.model.scores import Scores
from dignn.selection.candidates import Candidates
from dignn.selection.highest import Choice
from dignn.selection.proposed import select_proposed
from strategies import batch_of, plain_schema

SCHEMA = plain_schema(target="node")


def chain(length: int, labels: dict[int, int]) -> GraphBatch:
    edges = {(node, node + 1): 1 for node in range(length - 1)}
    return batch_of(SCHEMA, [0] * length, edges, labels=labels)


def scored(batch: GraphBatch, sure: list[float]) -> Scores:
    graph, node = batch.target_mask.nonzero(as_tuple=True)
    logits = torch.tensor([sure, [0.0] * len(sure)]).T
    return Scores(graph, node, logits, torch.zeros(len(sure), 2), SCHEMA.task)


def test_the_first_that_is_meant_by_its_surest_node() -> None:
    """Graph 0 is meant for class 1 alone, 2 is the same graph as 1; sure is of class 0, so the least is of class 1."""
    batch = GraphBatch.cat([chain(2, {0: 1}), chain(3, {0: 0, 1: 0, 2: 1}), chain(3, {0: 0, 1: 0, 2: 1})])
    scores = scored(batch, [9.0, 9.0, 1.0, 2.0, 8.0, 7.0, 7.0, 7.0])
    chosen = select_proposed(Candidates(batch), scores, 5)
    assert chosen[0] == [Choice(graph=1, score=3)]
    assert chosen[1] == [Choice(graph=0, score=0), Choice(graph=1, score=4)]
    assert select_proposed(Candidates(batch), scores, 1)[1] == [Choice(graph=0, score=0)]
