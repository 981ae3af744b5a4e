"""Pairs of graphs: alike but for the predicate, which is true of one and false of the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.goes_by.interventions.cutting import cut
from dignn.goes_by.interventions.matched_pairs import matched
from dignn.goes_by.interventions.setting_columns import by_columns, set_columns, settable
from dignn.goes_by.interventions.sources import Pairs, chosen_places, one_each
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.quantities import Count, Mean, Rings
from dignn.goes_by.traits import Holds, Shaped
from dignn.goes_by.where import Around, Edges
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Relation
from dignn.graphs.validity import check_validity
from goes_by.library import library, weighted
from strategies import batch_of, plain_schema


def shelf(count: int = 40) -> GraphBatch:
    """The library many times, with random words, prices, kinds and venues."""
    rng = np.random.default_rng(0)
    batch = library()[[0] * count]
    row = torch.arange(count)[:, None] * torch.tensor([1, 3, 3, 3, 1]) + torch.tensor([0, 0, 1, 2, 0])
    price = rng.integers(1, 9, 3 * count).astype(float)
    price[rng.random(3 * count) < 0.2] = np.nan
    tables = {
        "author": rng.integers(0, 2, (count, 3)),
        "paper": np.stack([price, rng.integers(0, 4, 3 * count)], axis=1),
        "venue": np.eye(2)[rng.integers(0, 2, count)],
    }
    return replace(batch, row=row, tables={name: torch.from_numpy(each).float() for name, each in tables.items()})


def places_of(batch: GraphBatch) -> Places:
    node = torch.where(batch.target_mask.any(1), batch.target_mask.float().argmax(1), -1)
    return Places(batch, torch.arange(len(batch)), node)


def pairs_of(predicate: Predicate, batch: GraphBatch) -> Pairs:
    places = places_of(batch)
    (true,) = truth(places, [predicate]).T
    if by_columns(predicate):
        chosen = chosen_places(true, settable(places, predicate), places.graph, 24, Seed(1))
        (pairs,) = set_columns(places, {0: predicate}, {0: chosen}, None, Seed(0))
    else:
        chosen = chosen_places(true, true, places.graph, 24, Seed(1))
        (pairs,) = cut(places, {0: predicate}, {0: chosen}, {0: []}, Seed(0))
    return pairs


def rows(batch: GraphBatch, name: str) -> Tensor:
    """(B, n, d) rows of the nodes of a type, of which all graphs have as many."""
    return batch.features(name).view(len(batch), -1, batch.schema.spec(name).width)


def changes(pairs: Pairs, name: str) -> Tensor:
    """(n, nodes, columns) bool"""
    one, other = rows(pairs.true, name), rows(pairs.false, name)
    return (one != other) & ~(one.isnan() & other.isnan())


OWN, PAPERS, VENUE = Around("author"), Around("paper", 1), Around("venue", 2)
SET = {
    "own word": (Count(OWN, (Holds(0),)), 0.5, "author", [0]),
    "group of words": (Count(OWN, (Holds(0), Holds(2))), 1.5, "author", [0, 2]),
    "price beside": (Count(PAPERS, (Holds(0, "above", 4.0),)), 0.5, "paper", [0]),
    "at least two kinds beside": (Count(PAPERS, (Holds(1, "is", 2.0),)), 1.5, "paper", [1]),
    "missing price": (Count(PAPERS, (Holds(0, "missing", 0.0),)), 0.5, "paper", [0]),
    "mean price": (Mean(PAPERS, 0), 4.5, "paper", [0]),
    "member": (Count(VENUE, (Holds(0),)), 0.5, "venue", [0, 1]),
}


@pytest.mark.parametrize("name", SET)
def test_columns_are_set_and_nothing_else(name: str) -> None:
    quantity, above, of, columns = SET[name]
    predicate = Predicate(quantity, above)
    pairs = pairs_of(predicate, shelf())
    assert len(pairs) >= 20
    for side, expected in ((pairs.true, True), (pairs.false, False)):
        assert (truth(one_each(side.check(), pairs.node), [predicate]) == expected).all()
    for each in ("author", "paper", "venue"):
        found = changes(pairs, each).any(0).any(0).nonzero()[:, 0].tolist()
        assert found == (columns if each == of else [])
    for part in ("node_type", "edge", "label"):
        assert torch.equal(getattr(pairs.true, part), getattr(pairs.false, part))


def test_half_of_the_pairs_are_made_of_either_side() -> None:
    batch, predicate = shelf(), Predicate(Count(OWN, (Holds(0),)))
    pairs = pairs_of(predicate, batch)
    (was,) = truth(places_of(batch), [predicate]).T
    assert 0.4 <= was[pairs.source].mean() <= 0.6
    assert len(set(pairs.source.tolist())) == len(pairs)


def test_one_trait_takes_the_fewest_nodes() -> None:
    """At least two papers of kind 2: one that is or is not crosses the threshold, of two or one of them."""
    batch = shelf()
    batch.tables["paper"][:, 1] = (torch.arange(120) % 3 < 2) * 2.0  # two of three papers
    batch.tables["paper"][::6, 1] = 0.0  # or one
    pairs = pairs_of(Predicate(Count(PAPERS, (Holds(1, "is", 2.0),)), 1.5), batch)
    assert (changes(pairs, "paper").any(2).sum(1) == 1).all()


def test_a_member_is_swapped_with_who_has_it() -> None:
    """Two venues in each graph, one of either member: each member stays there once."""
    schema = library().schema
    one = batch_of(schema, [0, 1, 2, 2], {(0, 1): 1, (2, 1): 4})
    batch = one[[0] * 20]
    order = np.random.default_rng(0).integers(0, 2, 20)
    venue = torch.eye(2)[torch.from_numpy(np.stack([order, 1 - order], axis=1).ravel())]
    row = torch.arange(20)[:, None] * torch.tensor([1, 1, 2, 2]) + torch.tensor([0, 0, 0, 1])
    tables = {"author": torch.zeros(20, 3), "paper": torch.zeros(20, 2), "venue": venue}
    batch = replace(batch, row=row, tables=tables)
    pairs = pairs_of(Predicate(Count(VENUE, (Holds(0),))), batch)
    assert len(pairs) == 20
    for side in (pairs.true, pairs.false):
        assert (rows(side, "venue").sum(1) == 1).all()


def test_columns_of_edges_are_set() -> None:
    batch, (label,) = weighted()
    many = GraphBatch.cat([batch] * 12)
    assert many.edge_row is not None
    heavy = torch.arange(12) % 2 == 0
    row = many.edge_row.clone()
    row[~heavy] = torch.where(row[~heavy] >= 0, 1, -1)  # all edges weigh .1
    many = replace(many, edge_row=row)
    predicate = Predicate(Count(Edges(label), (Holds(0, "above", 0.5),)))
    pairs = pairs_of(predicate, many)
    assert len(pairs) == 12
    for side, expected in ((pairs.true, True), (pairs.false, False)):
        assert (truth(one_each(side.check(), pairs.node), [predicate]) == expected).all()
        assert torch.equal(side.edge, many.edge[torch.from_numpy(pairs.source)])


# -- cutting ------------------------------------------------------------------------------------------


SCHEMA = plain_schema((Relation("node", "to", "node", "to"),), target="node")
GRAPHS = plain_schema((Relation("node", "to", "node", "to"),))


def ring_and_tail(schema: object = SCHEMA) -> GraphBatch:
    """Node 0 on a triangle with 1 and 2, and a tail of nodes 3, 4 and 5 that hangs on it."""
    edges = {(0, 1): 1, (1, 2): 1, (0, 2): 1, (0, 3): 1, (3, 4): 1, (4, 5): 1}
    batch = batch_of(schema, [0] * 6, edges)  # type: ignore[arg-type]
    return batch[[0] * 24]


def first(batch: GraphBatch) -> Places:
    return Places(batch, torch.arange(len(batch)), torch.zeros(len(batch), dtype=torch.long))


def cut_of(predicate: Predicate, places: Places, others: tuple[Predicate, ...] = ()) -> Pairs:
    (pairs,) = cut(places, {0: predicate}, {0: np.arange(len(places))}, {0: others}, Seed(0))
    return pairs


CUT = {
    "ring": Predicate(Rings(("node", "node", "node"))),
    "on a cycle": Predicate(Count(Around("node"), (Shaped("cycle"),))),
    "three neighbours": Predicate(Count(Around("node", 1)), 2.5),
    "three steps away": Predicate(Count(Around("node", 3))),
    "neighbours of neighbours": Predicate(Count(Around("node", 1), (Shaped("neighbours", 2),)), 1.5),
}


@pytest.mark.parametrize("name", CUT)
def test_structure_is_cut_and_as_much_elsewhere(name: str) -> None:
    pairs = cut_of(CUT[name], first(ring_and_tail()))
    assert len(pairs) == 24
    for side, expected in ((pairs.true, True), (pairs.false, False)):
        assert (truth(one_each(side.check(), pairs.node), [CUT[name]]) == expected).all()
        assert bool(check_validity(side).valid.all())
        assert bool((side.node_type[:, 0] == 0).all())  # the classified node stays
        assert bool((side.edge <= ring_and_tail().edge[:, : side.edge.size(1), : side.edge.size(1)]).all())


def test_a_ring_mostly_loses_one_edge() -> None:
    """Which costs no node, and of which no other can be taken without one; else a node is tried."""
    pairs = cut_of(CUT["ring"], first(ring_and_tail()))
    one = (pairs.false.sizes == 6) & (pairs.false.undirected.flatten(1).sum(1) == 10)
    assert one.float().mean() > 0.6
    assert (pairs.true.sizes[one] == 6).all()
    assert (pairs.true.undirected.flatten(1).sum(1)[one] == 12).all()


def test_both_graphs_of_a_pair_have_as_many_nodes_where_that_can_be() -> None:
    """The end of the tail goes, or else a node of the triangle."""
    pairs = cut_of(CUT["three steps away"], first(ring_and_tail()))
    assert (pairs.false.sizes == 5).all()
    assert (pairs.true.sizes == 5).float().mean() > 0.6


def test_what_others_say_stays_where_it_can() -> None:
    """Three neighbours become two without the triangle only by cutting the tail, which is larger."""
    ring = CUT["ring"]
    kept = cut_of(CUT["three neighbours"], first(ring_and_tail()), (ring,))
    assert truth(one_each(kept.false, kept.node), [ring]).all()
    assert (kept.false.sizes == 3).all()
    free = cut_of(CUT["three neighbours"], first(ring_and_tail()))
    assert not truth(one_each(free.false, free.node), [ring]).all()


def test_whole_graphs_keep_their_largest_piece() -> None:
    batch = ring_and_tail(GRAPHS)
    places = Places(batch, torch.arange(24), torch.full((24,), -1))
    on_ring = Predicate(Count(Around("node", None), (Shaped("cycle", 3),)))
    pairs = cut_of(on_ring, places)
    assert bool(check_validity(pairs.false).valid.all())
    assert not truth(one_each(pairs.false, pairs.node), [on_ring]).any()


ATOMS = plain_schema((Relation("C", "bond", "C", "bond"), Relation("C", "bond", "N", "bond")), node_types=("C", "N"))
CARBON = Predicate(Count(Around("C", None)))


def test_something_is_left_of_a_graph_that_is_classified_as_a_whole() -> None:
    """What makes the predicate true are all nodes of a chain of C; of one that ends with N the N is left."""
    chain = batch_of(ATOMS, [0, 0, 0], {(0, 1): 1, (1, 2): 1})
    ending = batch_of(ATOMS, [0, 0, 1], {(0, 1): 1, (1, 2): 2})
    batch = GraphBatch.cat([chain, ending])[[0, 1] * 12]
    places = Places(batch, torch.arange(24), torch.full((24,), -1))
    pairs = cut_of(CARBON, places)
    assert set(pairs.source % 2) == {1}
    for side in (pairs.true, pairs.false):
        assert (side.sizes > 0).all()
        assert bool(check_validity(side).valid.all())
    alone = Places(batch[::2], torch.arange(12), torch.full((12,), -1))
    assert cut(alone, {0: CARBON}, {0: np.arange(12)}, {0: []}, Seed(0)) == []


def test_what_cannot_be_cut_gives_no_pairs() -> None:
    """Edges are not cut."""
    batch, (label,) = weighted()
    places = Places(batch, torch.zeros(1, dtype=torch.long), torch.zeros(1, dtype=torch.long))
    assert cut(places, {0: Predicate(Count(Edges(label)))}, {0: np.array([0])}, {0: []}, Seed(0)) == []


# -- the choice of places -----------------------------------------------------------------------------


def test_places_are_chosen_from_all_graphs_and_both_sides() -> None:
    graph = np.repeat(np.arange(30), 4)
    true = np.tile([True, False, False, False], 30)
    chosen = chosen_places(true, np.ones(120, dtype=bool), graph, 20, Seed(0))
    assert len(chosen) == len(set(chosen.tolist())) == 20
    assert true[chosen].sum() == 10
    few = chosen_places(true & (graph < 3), np.ones(120, dtype=bool), graph, 20, Seed(0))
    assert (true & (graph < 3))[few].sum() == 3
    assert len(few) == 20
    possible = graph < 5
    assert possible[chosen_places(true, possible, graph, 20, Seed(0))].all()


def test_matched_places_are_alike() -> None:
    rng = np.random.default_rng(0)
    true, others, intended = rng.random(200) < 0.3, rng.random((200, 3)) < 0.5, rng.integers(0, 2, 200)
    with_it, without = matched(true, others, intended, np.arange(40), Seed(0))
    assert len(with_it) == 40
    assert true[with_it].all()
    assert not true[without].any()
    assert (others[with_it] == others[without]).all()
    assert (intended[with_it] == intended[without]).all()
    alone = matched(np.ones(200, dtype=bool), others, intended, np.arange(40), Seed(0))
    assert [len(side) for side in alone] == [0, 0]
