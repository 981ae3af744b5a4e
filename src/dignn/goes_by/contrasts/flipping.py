"""Edits a graph until the model says another class and the graph is inside the real range of that class."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.goes_by.contrasts.answers import Answer
from dignn.goes_by.contrasts.joint_searches import Aim, Question
from dignn.goes_by.contrasts.structural_trials import repeated, structural_trials
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import NO_ROW
from dignn.graphs.editing import with_room, with_used_rows

# Nodes that may be added.
_ROOM = 4
# Whole graphs of rows that are drawn for a start, from which single rows are taken.
_FILLS = 6
# Rounds of edits, edited copies in a round: with other rows, and of other structure, with and without generated rows.
_ROUNDS, _PATIENCE = 10, 3
_ROW_TRIALS, _SHAPE_TRIALS, _ONLY_SHAPE_TRIALS = 16, 8, 64
# Chances of how many nodes get other rows at once.
_AT_ONCE = (0.5, 0.3, 0.2)
_NEAR_STEPS, _NEAR_WEIGHT = 2, 8.0
# A gap that falls by less did not fall: sums of floats differ from batch to batch.
_LEAST_FALL = 1e-5


def flipped(
    start: GraphBatch, aim: Aim, seed: Seed, *, generated: bool
) -> Generator[Question, Answer, tuple[GraphBatch, GraphBatch] | None]:
    """Searches for an edited copy of a graph that is what is wanted.

    The start gets several sets of generated rows, drawn as for a graph of the wanted class. Then in each round copies
    with other rows of single nodes and with small edits of the structure are tried, near nodes more often, and the one
    is kept that comes nearest. Where this does not succeed, the best set of rows is taken as a whole, and edited on.

    Args:
        start: a batch of one graph, labels included.
        aim: what is classified, and the class that is wanted.
        seed: of what is drawn here.
        generated: whether anything in the graph carries generated rows.

    Returns:
        The start and the copy, with the same positions; None where no edits were found.
    """
    rng, size = seed.numpy(), start.node_type.size(1)
    start = with_room(with_used_rows(meant(start, aim, every=False)), size + _ROOM)
    fills = None
    if generated:
        wished = GraphBatch.cat([meant(start, aim, every=bool(number % 2)) for number in range(_FILLS)])
        fills = yield Question(wished, wished.mask)
    rows = None if fills is None else fills.graphs
    near = _near(start, aim.node)
    first = yield Question(start)
    after, reached = yield from _nearer(start, float(first.gap[0]), rows, aim, near, size, rng)
    if not reached and fills is not None:
        place = int(fills.gap.argmin())
        whole = replace(_one(fills.graphs, place), label=start.label, graph_label=start.graph_label)
        if bool(fills.ok[place]):
            return start, whole
        after, reached = yield from _nearer(whole, float(fills.gap[place]), rows, aim, near, size, rng)
    return (start, after) if reached else None


def _nearer(
    current: GraphBatch,
    gap: float,
    fills: GraphBatch | None,
    aim: Aim,
    near: Tensor,
    size: int,
    rng: np.random.Generator,
) -> Generator[Question, Answer, tuple[GraphBatch, bool]]:
    """Edits a graph as long as that brings it nearer: what comes out, and whether it is what is wanted."""
    without = 0
    for _ in range(_ROUNDS):
        trials, fresh = _trials(current, fills, aim, near, size, rng)
        if not len(trials) or without == _PATIENCE:
            break
        answer = yield Question(trials, fresh)
        if bool(answer.ok.any()):
            # the clearest one, of which most can be undone
            return _one(answer.graphs, int(answer.margin.masked_fill(~answer.ok, -torch.inf).argmax())), True
        place = int(answer.gap.argmin())
        without += 1
        if float(answer.gap[place]) < gap - _LEAST_FALL:
            current, gap, without = _one(answer.graphs, place), float(answer.gap[place]), 0
    return current, False


def meant(graph: GraphBatch, aim: Aim, *, every: bool) -> GraphBatch:
    """The graph, of which the classified node (or ``every`` node of its type) is said to be of the wanted class."""
    task = graph.schema.task
    if every:
        return task.meant_for(graph, aim.wanted)
    return task.with_labels(graph, torch.tensor([0]), torch.tensor([aim.node]), torch.tensor([aim.wanted]))


def _trials(
    current: GraphBatch, fills: GraphBatch | None, aim: Aim, near: Tensor, size: int, rng: np.random.Generator
) -> tuple[GraphBatch, Tensor]:
    """Edited copies of a graph, and (n, N) bool nodes that need rows."""
    positions = current.node_type.size(1)
    count = _ONLY_SHAPE_TRIALS if fills is None else _SHAPE_TRIALS
    # nodes that are added go behind those of the start, so that a position never means two of these
    free = max(size, int(current.mask[0].nonzero().max()) + 1)
    shaped, fresh = structural_trials(current, aim.node, near, free, count, rng)
    if fills is None:
        return shaped, fresh
    other = _with_other_rows(current, fills, near, rng)
    batch = with_room(GraphBatch.cat([other, shaped]), positions)
    return batch, torch.cat([torch.zeros(len(other), positions, dtype=torch.bool), fresh])


def _with_other_rows(current: GraphBatch, fills: GraphBatch, near: Tensor, rng: np.random.Generator) -> GraphBatch:
    """Copies of a graph in which one node or a few, and their edges, have the rows of one of the filled graphs."""
    positions = current.node_type.size(1)
    joined = with_room(GraphBatch.cat([current, fills]), positions)
    here = (joined.mask[0] & joined.mask[1]).nonzero()[:, 0].numpy()
    carries = np.array([current.schema.features[int(current.node_type[0, v])].generated for v in here], dtype=bool)
    if joined.edge_tables:
        carries |= True
    here = here[carries]
    batch = repeated(with_room(joined[0], positions), _ROW_TRIALS)
    weight = np.where(near.numpy()[here], _NEAR_WEIGHT, 1.0)
    for trial in range(_ROW_TRIALS if len(here) else 0):
        many = min(1 + int(rng.choice(len(_AT_ONCE), p=_AT_ONCE)), len(here))
        chosen = torch.from_numpy(rng.choice(here, many, replace=False, p=weight / weight.sum()))
        source = 1 + int(rng.integers(len(fills)))
        batch.row[trial, chosen] = joined.row[source, chosen]
        if batch.edge_row is not None and joined.edge_row is not None:
            same = (joined.edge[0] == joined.edge[source]) & (joined.edge_row[source] != NO_ROW)
            touched = torch.zeros(positions, dtype=torch.bool)
            touched[chosen] = True
            cells = same & (touched[:, None] | touched[None, :])
            batch.edge_row[trial][cells] = joined.edge_row[source][cells]
    return batch


def _near(graph: GraphBatch, node: int) -> Tensor:
    """(N,) bool, nodes up to two steps from the classified node; all where there is none."""
    if node < 0:
        return torch.ones(graph.node_type.size(1), dtype=torch.bool)
    near = torch.zeros(graph.node_type.size(1), dtype=torch.bool)
    near[node] = True
    for _ in range(_NEAR_STEPS):
        near = near | graph.undirected[0, near].any(0)
    return near


def _one(graphs: GraphBatch, number: int) -> GraphBatch:
    """One of several graphs, with all its positions."""
    return with_room(with_used_rows(graphs[number]), graphs.node_type.size(1))
