"""Refinement: candidates that speak for their class more clearly, by drawing single rows of features anew.

A graph speaks clearly for a class where many of its rows happen to do so at once, and independent draws of whole graphs
seldom give that. So the rows of a few nodes are drawn anew by the same generators, again and again, and kept where the
model's log-odds of the class rise, though never beyond what the model says about real members of the class. Rows are
drawn as ever and then chosen, so they lean towards what the model likes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dignn.batch import PADDING, GraphBatch
from dignn.errors import DignnError
from dignn.gnn.adapter import GNNAdapter, Scores
from dignn.members import UPPER, Members
from dignn.runtime.progress import Tick, silent
from dignn.runtime.seeds import Seed

# Nodes that are drawn anew in a round: more of them raise log-odds more in a round, and less in a second.
NODES = 1
# A probability above which nothing is gained, and candidates of a class that reach enough, so that it needs no more.
SURE, REACHED = 0.999, 10
# Steps from the target node within which a node is near, and how much more often a near node is marked.
NEAR, NEAR_WEIGHT = 2, 8.0
# Log-odds that rise by less did not rise: sums of floats differ from batch to batch.
LEAST_RISE = 1e-5

Redraw = Callable[[GraphBatch, Tensor, Seed], GraphBatch]
"""(graphs, marked nodes (B, N) bool, seed) -> the same graphs with other features of the marked nodes"""


def refine(
    graphs: GraphBatch,
    wanted: Tensor,
    adapter: GNNAdapter,
    redraw: Redraw,
    *,
    enough: Tensor,
    ceiling: Tensor,
    rounds: int,
    nodes: int = NODES,
    seed: Seed,
    tick: Tick = silent,
) -> tuple[GraphBatch, dict[str, Any]]:
    """Draws rows anew, and keeps them where a graph's target node speaks for its class more clearly.

    The target node of a graph is that of the wanted class (nodes without a known class count too) with the highest
    log-odds at the start, and stays the same; in graph classification the graph takes its place. In each round a few
    random nodes of each unfinished graph get other rows, near ones more often. The graph takes them if its log-odds
    rise and its raw score of the class is not above the ceiling. It is finished when its log-odds are enough. Graphs
    without a target node or without generated features come back as they are.

    Args:
        graphs: B graphs with features.
        wanted: (B,) the class that each graph is to speak for.
        adapter: asks the explained model.
        redraw: draws rows anew, see :meth:`dignn.features.FeatureBank.redraw`.
        enough: (C,) log-odds at which a graph of the class is finished.
        ceiling: (C,) raw scores of the class that no accepted change goes beyond.
        rounds: how often.
        nodes: how many nodes of a graph are marked in a round.
        seed: of marks and rows. The same seed gives the same graphs; rows of different graphs are drawn together, so
            that the order of graphs matters.
        tick: progress.

    Returns:
        The graphs in their order, and what happened, as JSON takes it.
    """
    _check(graphs, wanted, enough, ceiling, nodes)
    if not len(graphs):
        tick(1, 1)
        return graphs, {"graphs": 0, "rounds": rounds, "tried": 0, "accepted": 0, "reached": 0, "classes": {}}
    state = _State.start(graphs, wanted, adapter.score(graphs))
    before = state.log_odds.clone()
    weight = _weights(graphs, state)
    open_graphs = state.found & (weight > 0).any(1)
    able, tried, accepted = open_graphs.clone(), 0, 0
    current = _with_own_rows(graphs)
    for number in range(rounds):
        open_graphs = open_graphs & (state.log_odds < enough[wanted])
        index = open_graphs.nonzero()[:, 0]
        if not len(index):
            break
        own = seed.child("round", number)
        some = current[index]
        marks = _marks(weight[index], nodes, own.child("marks").torch())[:, : some.node_type.size(1)]
        trial = redraw(some, marks, own.child("rows"))
        raw, log_odds = _of_targets(adapter.score(trial), wanted[index], state.node[index], trial)
        better = (log_odds > state.log_odds[index] + LEAST_RISE) & (raw <= ceiling[wanted[index]])
        _take(current, index[better], trial[better])
        state.log_odds[index[better]] = log_odds[better]
        tried, accepted = tried + len(index), accepted + int(better.sum())
        tick(number + 1, rounds)
    tick(1, 1)
    reached = able & (state.log_odds >= enough[wanted])
    by_class = {}
    for label, name in enumerate(graphs.schema.classes):
        mine = able & (wanted == label)
        if bool(mine.any()):
            by_class[name] = {
                "graphs": int(mine.sum()),
                "log_odds_before": float(before[mine].mean()),
                "log_odds_after": float(state.log_odds[mine].mean()),
                "reached": int((reached & mine).sum()),
            }
    told = {"graphs": int(able.sum()), "rounds": rounds, "tried": tried, "accepted": accepted}
    return current, {**told, "reached": int(reached.sum()), "classes": by_class}


def promising(graphs: GraphBatch, scores: Scores, enough: Tensor, number: int) -> tuple[Tensor, Tensor]:
    """Graphs worth refining, and the class that each is to speak for.  (b,), (b,)

    Each class gets an equal share of ``number``, and at least one: of the graphs with a target node meant to be of the
    class (or meant to be so themselves) those with the highest log-odds. A graph serves one class. Classes of which ten
    graphs reach ``enough`` (C,) need none.
    """
    classes = graphs.schema.num_classes
    share = max(1, number // classes)
    free = torch.ones(len(graphs), dtype=torch.bool)
    index, wanted = [], []
    for label in range(classes):
        meant = graphs.graph_label == label if graphs.schema.target is None else (graphs.label == label).any(1)
        state = _State.start(graphs, torch.full((len(graphs),), label), scores)
        if int((meant & (state.log_odds >= enough[label])).sum()) >= REACHED:
            continue
        some = (meant & state.found & free).nonzero()[:, 0]
        some = some[torch.argsort(state.log_odds[some], descending=True, stable=True)][:share]
        free[some] = False
        index.append(some)
        wanted.append(torch.full_like(some, label))
    if not index:
        return torch.empty(0, dtype=torch.long), torch.empty(0, dtype=torch.long)
    return torch.cat(index), torch.cat(wanted)


def limits(members: Sequence[Members]) -> tuple[Tensor, Tensor]:
    """For each class the log-odds that are enough and the raw score not to go beyond: those of its surest members."""
    sure = math.log(SURE / (1 - SURE))
    enough = [min(sure, float(np.quantile(known.log_odds, UPPER))) if len(known) else sure for known in members]
    ceiling = [float(np.quantile(known.logit, UPPER)) if len(known) else math.inf for known in members]
    return torch.tensor(enough, dtype=torch.float64), torch.tensor(ceiling, dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class _State:
    """Where graphs stand.

    Args:
        found: (B,) whether a graph has a target node of its class.
        node: (B,) which one; -1 for graph classification and where there is none.
        log_odds: (B,) of its class, float64; -inf where there is none.
    """

    found: Tensor
    node: Tensor
    log_odds: Tensor

    @classmethod
    def start(cls, graphs: GraphBatch, wanted: Tensor, scores: Scores) -> _State:
        """The best target node of each graph; the first of equals."""
        log_odds = torch.full((len(graphs),), -torch.inf, dtype=torch.float64)
        node = torch.full((len(graphs),), PADDING)
        own = scores.log_odds.gather(1, wanted[scores.graph][:, None])[:, 0]
        if graphs.schema.target is None:
            log_odds[scores.graph] = own
            return cls(log_odds > -torch.inf, node, log_odds)
        by_node = torch.full(graphs.node_type.shape, -torch.inf, dtype=torch.float64)
        by_node[scores.graph, scores.node] = own
        eligible = (graphs.label == wanted[:, None]) | (graphs.label == PADDING)
        log_odds, best = by_node.masked_fill(~eligible, -torch.inf).max(1)
        found = log_odds > -torch.inf
        return cls(found, torch.where(found, best, PADDING), log_odds)


def _of_targets(scores: Scores, wanted: Tensor, node: Tensor, graphs: GraphBatch) -> tuple[Tensor, Tensor]:
    """Raw scores and log-odds of the wanted class at the graphs' target nodes.  (b,), (b,)"""
    place = torch.zeros(len(graphs), max(graphs.node_type.size(1), 1), dtype=torch.long)
    place[scores.graph, scores.node] = torch.arange(len(scores.graph))  # -1, the graph itself, is the last column
    row = place[torch.arange(len(graphs)), node]
    return scores.logits[row, wanted], scores.log_odds[row, wanted]


def _weights(graphs: GraphBatch, state: _State) -> Tensor:
    """How often nodes are marked, in proportion: 0 for nodes without generated features.  (B, N)"""
    schema = graphs.schema
    generated = torch.tensor([schema.spec(name).generated for name in schema.node_types])
    able = graphs.mask & generated[graphs.node_type.clamp_min(0)]
    if schema.target is None:
        return able.float()
    near = torch.zeros_like(able)
    near[state.found.nonzero()[:, 0], state.node[state.found]] = True
    joined = graphs.undirected
    for _ in range(NEAR):
        near = near | (joined & near[:, None, :]).any(2)
    return able * torch.where(near, NEAR_WEIGHT, 1.0)


def _marks(weight: Tensor, nodes: int, generator: torch.Generator) -> Tensor:
    """Up to ``nodes`` different nodes of each graph, drawn in proportion to weights (b, N).  (b, N) bool

    A race: the first of exponential times with these rates are draws without replacement.
    """
    time = torch.empty_like(weight).exponential_(generator=generator) / weight
    return (time.argsort(1).argsort(1) < nodes) & (weight > 0)


def _with_own_rows(graphs: GraphBatch) -> GraphBatch:
    """The same graphs with a row of its own for each node, in tables that nobody else sees."""
    row, tables = graphs.row.clone(), {}
    for name in graphs.tables:
        here = graphs.node_type == graphs.schema.type_index(name)
        tables[name] = graphs.features(name)
        row[here] = torch.arange(len(tables[name]))
    return replace(graphs, row=row, tables=tables)


def _take(graphs: GraphBatch, index: Tensor, changed: GraphBatch) -> None:
    """Writes the features of ``changed`` into the rows of these graphs (b,), in place."""
    size = changed.node_type.size(1)
    row = graphs.row[index][:, :size]
    for name, table in graphs.tables.items():
        here = changed.node_type == graphs.schema.type_index(name)
        table[row[here]] = changed.features(name)


def _check(graphs: GraphBatch, wanted: Tensor, enough: Tensor, ceiling: Tensor, nodes: int) -> None:
    classes = graphs.schema.num_classes
    if wanted.shape != (len(graphs),) or bool(((wanted < 0) | (wanted >= classes)).any()):
        raise DignnError(f"To refine {len(graphs)} graphs, name one of the {classes} classes for each")
    if enough.shape != (classes,) or ceiling.shape != (classes,):
        raise DignnError(
            f"Log-odds that are enough and ceilings have shapes {tuple(enough.shape)} and {tuple(ceiling.shape)}; "
            f"give one of each for the {classes} classes"
        )
    if nodes < 1:
        raise DignnError(f"{nodes} nodes cannot be drawn anew; give at least 1")
