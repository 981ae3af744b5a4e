"""Pairs of graphs that differ in a piece of structure: one that makes a predicate true, and one elsewhere, cut away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.goes_by.interventions.sources import Pairs, one_each
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.quantities import Count, Mean, Rings
from dignn.goes_by.where import Edges
from dignn.graphs.batch import GraphBatch
from dignn.graphs.editing import without_edges, without_nodes
from dignn.graphs.validity import components

# How often it is tried to cut a graph, and how many nodes or edges one after another.
_TRIES, _CUTS = 4, 6
# Pairs in which nothing else has changed that are enough to leave all others out.
_ENOUGH_ALIKE = 12


def cut(
    places: Places,
    predicates: dict[int, Predicate],
    chosen: dict[int, np.ndarray],
    others: Mapping[int, Sequence[Predicate]],
    seed: Seed,
) -> list[Pairs]:
    """Pairs of graphs, as far as some can be made.

    Of each chosen place, of which the predicate is true, what makes it true is cut: nodes and edges that it counts, one
    after another until it is false; what hangs on them goes with them, so that a graph stays connected. Beside it
    stands the same graph with as much cut elsewhere, such that the predicate stays true, so that both are as small;
    where that cannot be done, the graph as it was. Of several ways those are taken that change least of what other
    predicates say, and of these the smallest; where enough pairs change nothing of it, only these are taken. A cut that
    leaves no node is none.

    Args:
        places: m places.
        predicates: by number.
        chosen: for each, the places that pairs are made of.
        others: for each, predicates that are to stay what they are.
        seed: of everything that is drawn.
    """
    parts = [
        part
        for each, predicate in predicates.items()
        if len(chosen[each])
        and (part := _of_predicate(places, each, predicate, chosen[each], others[each], seed.child("cuts", each)))
    ]
    return [_joined(parts)] if parts else []


def _joined(parts: Sequence[Pairs]) -> Pairs:
    return Pairs(
        GraphBatch.cat([part.true for part in parts]),
        GraphBatch.cat([part.false for part in parts]),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("node", "source", "predicate")),
    )


def _of_predicate(
    places: Places, number: int, predicate: Predicate, chosen: np.ndarray, others: Sequence[Predicate], seed: Seed
) -> Pairs | None:
    rng = seed.numpy()
    source, node = places.graph[chosen], places.node[chosen]
    whole = places.batch[torch.from_numpy(source)]
    tries = np.arange(len(chosen) * _TRIES) // _TRIES  # which chosen place each try is of
    tried, own = whole[torch.from_numpy(tries)], node[tries]
    asked = [predicate, *others]
    before = truth(one_each(whole, node), asked)
    made = _until_false(tried, own, predicate, rng)
    after = truth(one_each(made, own), asked)
    lost = _lost(tried, made)
    changed = (after[:, 1:] != before[tries, 1:]).sum(1)
    fits = ~after[:, 0] & made.mask.any(1).numpy()
    best = _best(tries, fits, changed, lost.sum(1))
    if not len(best):
        return None
    size = np.zeros((len(chosen), 2), dtype=int)
    size[tries[best]] = lost[best]
    elsewhere = _as_much(tried, own, size[tries], rng)
    after = truth(one_each(elsewhere, own), asked)
    fits = after[:, 0] & _same_size(_lost(tried, elsewhere), size[tries])
    changed_there = (after[:, 1:] != before[tries, 1:]).sum(1)
    also = _best(tries, fits, changed_there, _lost(tried, elsewhere).sum(1))
    place = np.arange(len(chosen))  # in all graphs, those as they were before those that are cut elsewhere
    place[tries[also]] = len(chosen) + also
    moved = np.zeros(len(chosen), dtype=int)
    moved[tries[also]] = changed_there[also]
    alike = changed[best] + moved[tries[best]] == 0
    best = best[alike] if alike.sum() >= _ENOUGH_ALIKE else best
    kept = tries[best]
    return Pairs(
        GraphBatch.cat([whole, elsewhere])[torch.from_numpy(place[kept])],
        made[torch.from_numpy(best)],
        node[kept],
        source[kept],
        np.full(len(kept), number),
    )


def _best(tries: np.ndarray, fits: np.ndarray, changed: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Of each place the try that fits and changes least, then loses least; none where none fits."""
    order = np.lexsort((lost, changed, ~fits, tries))
    first = order[np.unique(tries[order], return_index=True)[1]]
    return first[fits[first]]


def _lost(before: GraphBatch, after: GraphBatch) -> np.ndarray:
    """(n, 2) how many nodes and edges each graph has lost."""
    nodes = before.sizes - after.sizes
    edges = (before.undirected.flatten(1).sum(1) - after.undirected.flatten(1).sum(1)) // 2
    return torch.stack([nodes, edges], dim=1).numpy()


def _same_size(lost: np.ndarray, size: np.ndarray) -> np.ndarray:
    """(n,) whether as many nodes are lost, or, where none are, as many edges."""
    return np.where(size[:, 0] > 0, lost[:, 0] == size[:, 0], (lost == size).all(1))


# -- cutting ------------------------------------------------------------------------------------------


def _until_false(batch: GraphBatch, node: np.ndarray, predicate: Predicate, rng: np.random.Generator) -> GraphBatch:
    """Cuts what makes a predicate true, a random node or edge at a time."""
    for _ in range(_CUTS):
        places = one_each(batch, node)
        true = truth(places, [predicate])[:, 0]
        if not true.any():
            break
        batch = _one_cut(batch, node, _counted(places, predicate) & true[:, None], rng.random(len(batch)) < 0.5, rng)
    return batch


def _as_much(batch: GraphBatch, node: np.ndarray, size: np.ndarray, rng: np.random.Generator) -> GraphBatch:
    """Cuts anything until so many nodes (n, 0) are gone, or, where none are to go, so many edges (n, 1)."""
    whole = batch
    for _ in range(_CUTS):
        lost = _lost(whole, batch)
        left = np.where(size[:, 0] > 0, lost[:, 0] < size[:, 0], lost[:, 1] < size[:, 1])
        if not left.any():
            break
        batch = _one_cut(batch, node, batch.mask.numpy() & left[:, None], size[:, 0] > 0, rng)
    return batch


def _counted(places: Places, predicate: Predicate) -> np.ndarray:
    """(B, N) bool: nodes that make the predicate true of the one place that each graph has."""
    batch, quantity = places.batch, predicate.quantity
    assert not isinstance(quantity, Mean)  # which is set
    found = np.zeros(len(places.node_type), dtype=bool)
    if isinstance(quantity, Rings):
        kinds, at = places.rings_at(len(quantity.types))
        wanted = sorted(batch.schema.type_index(name) for name in quantity.types)
        through = (np.asarray(at.sum(0)).ravel() > 0) & (kinds == wanted).all(1)
        found[places.rings[len(quantity.types)][1][through]] = True
    elif isinstance(quantity, Count) and not isinstance(quantity.where, Edges):
        inside = np.asarray(places.around(quantity.where).sum(0)).ravel() > 0
        items = np.zeros(len(found), dtype=bool)
        items[places.items(quantity.where)] = True
        if quantity.traits:
            items &= places.traits(quantity.where, quantity.traits).toarray().any(1)
        found = inside & items
    marks = np.zeros(tuple(batch.mask.shape), dtype=bool)
    marks[batch.mask.numpy()] = found
    return marks


def _one_cut(
    batch: GraphBatch, node: np.ndarray, marks: np.ndarray, whole: np.ndarray, rng: np.random.Generator
) -> GraphBatch:
    """Takes a marked node away from each graph, or an edge at one, and whatever hung on it.

    Args:
        batch: n graphs.
        node: (n,) the node that stays; -1 for any.
        marks: (n, N) bool; graphs without any stay as they are.
        whole: (n,) whether nodes go rather than edges; of the node that stays it is an edge in any case.
        rng: of the choice.
    """
    graph = np.flatnonzero(marks.any(1))
    chosen = np.where(marks, rng.random(marks.shape), -1).argmax(1)
    joined = batch.undirected.numpy()
    beside = joined[np.arange(len(batch)), chosen]
    other = np.where(beside, rng.random(marks.shape), -1).argmax(1)
    nodes, edges = np.zeros(marks.shape, dtype=bool), np.zeros(joined.shape, dtype=bool)
    goes = whole[graph] & (chosen[graph] != node[graph])
    nodes[graph[goes], chosen[graph[goes]]] = True
    edge = graph[~goes & beside[graph].any(1)]
    edges[edge, chosen[edge], other[edge]] = True
    found = without_edges(without_nodes(batch, torch.from_numpy(nodes)), torch.from_numpy(edges))
    return without_nodes(found, ~_piece(found, node))


def _piece(batch: GraphBatch, node: np.ndarray) -> Tensor:
    """(B, N) bool: the nodes that hang together with the one that stays, or the largest piece."""
    piece = components(batch)
    sizes = (piece[:, :, None] == piece[:, None, :]).sum(2) * batch.mask
    start = torch.from_numpy(node)
    start = torch.where(start >= 0, start, sizes.argmax(1))
    return (piece == piece.gather(1, start[:, None])) & batch.mask
