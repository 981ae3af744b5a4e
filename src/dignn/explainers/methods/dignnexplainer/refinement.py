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

from dignn.core.seeds import Seed
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.edge_tables import edge_values, own_cells, with_rows
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.selection.members import UPPER, Members

# Nodes that are drawn anew in a round: more of them raise log-odds more in a round, and less in a second.
NODES = 1
# A probability above which nothing is gained, and candidates of a class that reach enough, so that it needs no more.
SURE, REACHED = 0.999, 10
# Steps from the target node within which a node is near, and how much more often a near node is marked.
NEAR_STEPS, NEAR_WEIGHT = 2, 8.0
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
) -> tuple[GraphBatch, dict[str, Any]]:
    """Draws rows anew, and keeps them where a graph's target node speaks for its class more clearly.

    The target node of a graph is that of the wanted class (nodes without a known class count too) with the highest
    log-odds at the start, and stays the same; in graph classification the graph takes its place. In each round a few
    random nodes of each unfinished graph get other rows, near ones more often. The graph takes them if its log-odds
    rise and its raw score of the class is not above the ceiling. It is finished when its log-odds are enough. Graphs
    without a target node or without generated features come back as they are.

    Args:
        graphs: B graphs with features, at least one.
        wanted: (B,) the class that each graph is to speak for.
        adapter: asks the explained model.
        redraw: draws rows anew, see :meth:`dignn.features.bank.FeatureBank.redraw`.
        enough: (C,) log-odds at which a graph of the class is finished.
        ceiling: (C,) raw scores of the class that no accepted change goes beyond.
        rounds: how often.
        nodes: how many nodes of a graph are marked in a round.
        seed: of marks and rows. The same seed gives the same graphs; rows of different graphs are drawn together, so
            that the order of graphs matters.

    Returns:
        The graphs in their order, and what happened, as JSON takes it.
    """
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
    index, wanted = [torch.empty(0, dtype=torch.long)], [torch.empty(0, dtype=torch.long)]
    for label in range(classes):
        meant = torch.zeros_like(free)
        meant[scores.graph[scores.labels(graphs) == label]] = True
        state = _State.start(graphs, torch.full((len(graphs),), label), scores)
        if int((meant & (state.log_odds >= enough[label])).sum()) >= REACHED:
            continue
        some = (meant & state.found & free).nonzero()[:, 0]
        some = some[torch.argsort(state.log_odds[some], descending=True, stable=True)][:share]
        free[some] = False
        index.append(some)
        wanted.append(torch.full_like(some, label))
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
        found: (B,) whether a graph has a target node of its class, or is of it.
        node: (B,) which one; -1 for the graph itself and where there is none.
        log_odds: (B,) of its class, float64; -inf where there is none.
    """

    found: Tensor
    node: Tensor
    log_odds: Tensor

    @classmethod
    def start(cls, graphs: GraphBatch, wanted: Tensor, scores: Scores) -> _State:
        """The best target node of each graph; the first of equals."""
        label, aim = scores.labels(graphs), wanted[scores.graph]
        own = scores.log_odds.gather(1, aim[:, None])[:, 0].masked_fill((label != aim) & (label >= 0), -torch.inf)
        # The last column is the place of answers about the graph itself, whose position is -1.
        by_place = torch.full((len(graphs), graphs.node_type.size(1) + 1), -torch.inf, dtype=torch.float64)
        by_place[scores.graph, scores.node] = own
        log_odds, best = by_place.max(1)
        found = log_odds > -torch.inf
        at_node = found & (best < graphs.node_type.size(1))
        return cls(found, torch.where(at_node, best, PADDING), log_odds)


def _of_targets(scores: Scores, wanted: Tensor, node: Tensor, graphs: GraphBatch) -> tuple[Tensor, Tensor]:
    """Raw scores and log-odds of the wanted class at the graphs' target nodes.  (b,), (b,)"""
    place = torch.zeros(len(graphs), max(graphs.node_type.size(1), 1), dtype=torch.long)
    place[scores.graph, scores.node] = torch.arange(len(scores.graph))  # -1, the graph itself, is the last column
    row = place[torch.arange(len(graphs)), node]
    return scores.logits[row, wanted], scores.log_odds[row, wanted]


def _weights(graphs: GraphBatch, state: _State) -> Tensor:
    """How often nodes are marked, in proportion: 0 where neither they nor their edges are generated.  (B, N)"""
    schema = graphs.schema
    generated = torch.tensor([schema.spec(name).generated for name in schema.node_types])
    able = graphs.mask & generated[graphs.node_type.clamp_min(0)]
    if schema.generated_edges:
        carried = torch.isin(graphs.edge, torch.tensor([each.relation for each in schema.generated_edges.values()]))
        able = able | carried.any(1) | carried.any(2)
    near = torch.zeros_like(able)
    at_node = (state.node >= 0).nonzero()[:, 0]
    near[at_node, state.node[at_node]] = True
    joined = graphs.undirected
    for _ in range(NEAR_STEPS):
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
    found = replace(graphs, row=row, tables=tables)
    for label in graphs.edge_tables:
        cells = own_cells(graphs, graphs.node_type, label)
        found = with_rows(found, label, cells, torch.arange(len(cells[0])), edge_values(graphs, label, cells))
    return found


def _take(graphs: GraphBatch, index: Tensor, changed: GraphBatch) -> None:
    """Writes the features of ``changed`` into the rows of these graphs (b,), in place."""
    size = changed.node_type.size(1)
    row = graphs.row[index][:, :size]
    for name, table in graphs.tables.items():
        here = changed.node_type == graphs.schema.type_index(name)
        table[row[here]] = changed.features(name)
    for label, table in graphs.edge_tables.items():
        graph, source, target = own_cells(changed, changed.node_type, label)
        assert graphs.edge_row is not None  # there are tables
        table[graphs.edge_row[index[graph], source, target]] = edge_values(changed, label, (graph, source, target))
