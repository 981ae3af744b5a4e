"""The most typical graphs that a model cannot decide between two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.return_types import topk

from dignn.core.seeds import Seed
from dignn.goes_by.contrasts.answers import at_places
from dignn.goes_by.contrasts.differences import Differences
from dignn.goes_by.counterfactuals import Counterfactual, check_given
from dignn.graphs.batch import GraphBatch
from dignn.graphs.editing import with_room, with_used_rows
from dignn.graphs.validity import check_validity
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.selection.members import UPPER, Members

# By how much the two most probable classes may differ where a model cannot decide.
EVEN = 0.1
# Pairs of classes that are told, at most.
MOST_UNDECIDED = 3
# Orders in which the edits of a pair are walked through.
_ORDERS = 16


@dataclass(frozen=True, eq=False)
class Undecided:
    """A graph of which the model finds two classes about equally probable.

    Args:
        classes: the two, the more probable one first.
        probability: of every class.
        graph: a batch of one graph, without labels.
        node: position of the classified node; None where graphs are classified.
        typical: share of real members, of that of both classes which it is more like, that are farther from others
            than the graph is from them.
    """

    classes: tuple[int, int]
    probability: tuple[float, ...]
    graph: GraphBatch
    node: int | None
    typical: float


def undecided(
    batch: GraphBatch,
    scores: Scores,
    members: Sequence[Members],
    seed: Seed,
    *,
    pairs: Sequence[Counterfactual] = (),
    adapter: GNNAdapter | None = None,
) -> list[Undecided]:
    """For the pairs of classes that are most often confused the most typical graph between them.

    Typical is what lies nearest to real members of one of the two. Where the model can decide every graph of a pair of
    classes, graphs on the way between two that differ in few edits are tried.

    Args:
        batch: generated graphs with features.
        scores: what the model says of them.
        members: real members of every class.
        seed: of the orders in which edits are gone through.
        pairs: what :func:`~dignn.goes_by.counterfactuals.counterfactuals` found, to walk between.
        adapter: asks the model on the way; without it nothing is walked.

    Returns:
        At most :data:`MOST_UNDECIDED`, the pair that is confused most first; none of a pair of classes between which
        the model decides wherever graphs are inside the real range of distances.
    """
    check_given(batch, scores, members)
    valid = scores[check_validity(batch).valid[scores.graph]]
    found: list[Undecided] = []
    top = valid.probability.topk(2, dim=1)
    for first, second in _confused(valid, top):
        one = _most_typical(batch, valid, top, (first, second), members)
        own = [each for each in pairs if {each.source, each.target} == {first, second}]
        if one is None and adapter is not None:
            walked = [_between(each, members, adapter, seed.child("walk", each.source, each.target)) for each in own]
            one = max((each for each in walked if each is not None), key=lambda each: each.typical, default=None)
        if one is not None:
            found.append(one)
        if len(found) == MOST_UNDECIDED:
            break
    return found


def _confused(scores: Scores, top: topk) -> list[tuple[int, int]]:
    """Pairs of classes, first those of which the second probability adds up to most where both are most probable."""
    count = scores.logits.size(1)
    low, high = top.indices.min(1).values, top.indices.max(1).values
    pairs, which = (low * count + high).unique(return_inverse=True)  # of many classes few
    weight = torch.bincount(which, top.values[:, 1].double(), len(pairs))
    order = torch.argsort(weight, descending=True, stable=True)
    return [divmod(int(pairs[place]), count) for place in order if float(weight[place]) > 0]


def _most_typical(
    batch: GraphBatch, scores: Scores, top: topk, classes: tuple[int, int], members: Sequence[Members]
) -> Undecided | None:
    """Of scored places between two classes the one that is nearest to members of one of them.

    Args:
        top: the two most probable classes of each.
    """
    there = top.indices.sort(1).values == torch.tensor(sorted(classes))
    even = top.values[:, 0] - top.values[:, 1] <= EVEN
    rows = (there.all(1) & even).nonzero()[:, 0]
    if not len(rows):
        return None
    places = [members[each].place(scores, rows) for each in classes]
    rank = np.minimum(*(place.distance_rank for place in places))
    distance = np.minimum(*(place.distance for place in places))
    best = int(np.lexsort((distance, rank))[0])
    if rank[best] > UPPER:
        return None
    row = int(rows[best])
    node = int(scores.node[row])
    return Undecided(
        classes=(int(top.indices[row, 0]), int(top.indices[row, 1])),
        probability=tuple(scores.probability[row].tolist()),
        graph=with_used_rows(batch[int(scores.graph[row])]).without_labels(),
        node=None if node < 0 else node,
        typical=float(1 - rank[best]),
    )


def _between(pair: Counterfactual, members: Sequence[Members], adapter: GNNAdapter, seed: Seed) -> Undecided | None:
    """The most typical graph on ways from one graph of a pair to the other."""
    differences = Differences(pair.before, pair.after)
    steps = _ways(len(differences), seed)
    graphs = with_room(differences.apply(steps), pair.before.node_type.size(1))
    graphs = graphs[check_validity(graphs).valid]
    if not len(graphs):
        return None
    node = -1 if pair.node is None else pair.node
    scores = at_places(adapter.score(graphs), torch.full((len(graphs),), node))
    return _most_typical(graphs, scores, scores.probability.topk(2, dim=1), (pair.source, pair.target), members)


def _ways(edits: int, seed: Seed) -> Tensor:
    """(n, edits) bool, different sets of edits that lie on ways from none to all, in some random orders."""
    generator = seed.torch()
    orders = torch.stack([torch.randperm(edits, generator=generator) for _ in range(_ORDERS)])
    done = orders[:, None, :] < torch.arange(1, edits)[:, None]
    return torch.unique(done.flatten(0, 1), dim=0) if edits > 1 else torch.zeros(0, edits, dtype=torch.bool)
