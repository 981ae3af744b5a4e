"""Pairs of graphs that differ in the columns that a predicate looks at, and in nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.features.bank import FeatureBank
from dignn.features.given import Fixed
from dignn.goes_by.interventions.column_values import cells_of, edits_of, looked_at, table_of, where_of
from dignn.goes_by.interventions.sources import Pairs, one_each
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.quantities import Count, Mean
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import own_cells, with_rows

# Graphs whose rows are in memory together.
_AT_ONCE = 1024


def by_columns(predicate: Predicate) -> bool:
    """Whether a predicate looks at columns and at nothing else."""
    quantity = predicate.quantity
    if isinstance(quantity, Count):
        return bool(quantity.traits) and all(isinstance(trait, Holds) for trait in quantity.traits)
    return isinstance(quantity, Mean)


def settable(places: Places, predicate: Predicate) -> np.ndarray:
    """(m,) bool: places around which there is something whose columns the predicate looks at."""
    where = where_of(predicate)
    return np.asarray(places.around(where)[:, places.items(where)].sum(1)).ravel() > 0


def set_columns(
    places: Places,
    predicates: dict[int, Predicate],
    chosen: dict[int, np.ndarray],
    bank: FeatureBank | None,
    seed: Seed,
) -> Iterator[Pairs]:
    """Pairs of graphs, as far as some can be made.

    Of each chosen place there is a graph as it is, and one in which columns that the predicate looks at are set such
    that it is true where it was false, or false where it was true. Where it looks at one trait, or at members of an
    identity type, the fewest are set, to values of other nodes or edges that it looks at. Where it counts several
    traits, or takes a mean, the columns become those of a place on the other side: one word of many more or less says
    little of what a group of words does. Where columns of the classified node itself are set, the bank draws all other
    columns of its row anew, once for both graphs, given those that the predicate looks at.

    Args:
        places: m places.
        predicates: by number, those that look at columns.
        chosen: for each, the places that pairs are made of.
        bank: draws rows; None where it has not learned any.
        seed: of everything that is drawn.
    """
    anew = {each for each, one in predicates.items() if bank is not None and _is_drawn(one, bank)}
    for number in (*_pieces(sorted(anew), chosen), *_pieces(sorted(set(predicates) - anew), chosen)):
        place = np.concatenate([chosen[each] for each in dict.fromkeys(number.tolist())])
        source, node = places.graph[place], places.node[place]
        before = places.batch[torch.from_numpy(source)]
        if bank is not None and number[0] in anew:
            own = seed.child("rest", int(number[0]))
            before = _drawn_anew(before, node, [predicates[each] for each in number.tolist()], bank, own)
        yield _pairs(before, node, source, number, predicates, seed.child("values"))


def _pieces(numbers: Sequence[int], chosen: dict[int, np.ndarray]) -> Iterator[np.ndarray]:
    """Numbers of predicates, each as often as places were chosen for it, so many together as memory takes."""
    piece: list[int] = []
    for each in numbers:
        if piece and len(piece) + len(chosen[each]) > _AT_ONCE:
            yield np.array(piece)
            piece = []
        piece += [each] * len(chosen[each])
    if piece:
        yield np.array(piece)


def _pairs(
    before: GraphBatch,
    node: np.ndarray,
    source: np.ndarray,
    number: np.ndarray,
    predicates: dict[int, Predicate],
    seed: Seed,
) -> Pairs:
    """Those of n graphs and what they become, of which a predicate is true of one and false of the other."""
    here = {each: np.flatnonzero(number == each) for each in np.unique(number).tolist()}
    edits: dict[str, list[tuple[tuple[int, ...], Tensor]]] = {}
    for each, graphs in here.items():
        some, where = one_each(before[torch.from_numpy(graphs)], node[graphs]), where_of(predicates[each])
        cells = [part.tolist() for part in cells_of(some.batch, where)]
        for own in edits_of(some, predicates[each], seed.child(each).numpy()):
            for item, row in own.items():
                cell = int(graphs[cells[0][item]]), *(part[item] for part in cells[1:])
                edits.setdefault(table_of(where), []).append((cell, row))
    after = before
    for name, several in edits.items():
        after = _with_rows(after, name, several)
    before = replace(before, tables=after.tables, edge_tables=after.edge_tables)  # which begin with their own rows
    true = np.zeros((2, len(number)), dtype=bool)
    for each, graphs in here.items():
        for side, batch in enumerate((before, after)):
            true[side, graphs] = truth(one_each(batch[torch.from_numpy(graphs)], node[graphs]), [predicates[each]])[
                :, 0
            ]
    both, kept = GraphBatch.cat([before, after]), np.flatnonzero(true[0] != true[1])
    first, second = (torch.from_numpy(np.where(side, 0, len(number))[kept] + kept) for side in true)
    return Pairs(both[first], both[second], node[kept], source[kept], number[kept])


# -- the rest of the row ------------------------------------------------------------------------------


def _is_drawn(predicate: Predicate, bank: FeatureBank) -> bool:
    """Whether it looks at the classified node itself, whose row can be drawn given some of its columns."""
    where = where_of(predicate)
    own = isinstance(predicate.quantity, Count) and isinstance(where, Around) and where.own
    return own and bank.draws_rows(table_of(where))


def _drawn_anew(
    batch: GraphBatch, node: np.ndarray, predicates: Sequence[Predicate], bank: FeatureBank, seed: Seed
) -> GraphBatch:
    """The same graphs, in which columns of the classified node that a predicate does not look at are others.

    Args:
        batch: n graphs.
        node: (n,) classified nodes, all of one type.
        predicates: of each graph.
        bank: draws rows.
        seed: of what is drawn.
    """
    marks = torch.zeros_like(batch.mask)
    marks[range(len(batch)), node] = True
    name = table_of(where_of(predicates[0]))
    spec = batch.schema.spec(name)
    columns = {predicate: looked_at(predicate, spec) for predicate in set(predicates)}
    mask = torch.zeros(len(batch), spec.width, dtype=torch.bool)
    for row, predicate in enumerate(predicates):
        mask[row, columns[predicate]] = True
    return bank.redraw(batch, marks, seed=seed, fixed={name: Fixed(batch.tables[name][batch.row[marks]], mask)})


# -- new tables ---------------------------------------------------------------------------------------


def _with_rows(batch: GraphBatch, name: str, several: Sequence[tuple[tuple[int, ...], Tensor]]) -> GraphBatch:
    """The same graphs with other rows of some nodes of a type, or of edges of a relation: (cell, row) of each."""
    at = tuple(torch.tensor([cell for cell, _ in several]).T)
    rows = torch.stack([row for _, row in several])
    if len(at) == 2:
        row = batch.row.clone()
        row[at] = len(batch.tables[name]) + torch.arange(len(rows))
        return replace(batch, row=row, tables={**batch.tables, name: torch.cat([batch.tables[name], rows])})
    assert batch.edge_row is not None  # there are rows of edges
    table, cells = batch.edge_tables[name], own_cells(batch, batch.node_type, name)
    moved = batch.edge_row.clone()
    moved[at] = len(table) + torch.arange(len(rows))
    return with_rows(batch, name, cells, moved[cells], torch.cat([table, rows]))
