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
from dignn.goes_by.interventions.sources import Pairs, one_each
from dignn.goes_by.phrases import spec_of
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.quantities import Count, Mean
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around, Edges, Where
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import own_cells, with_rows
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

# Donors that are tried: members of an identity type until one is not in the graph already, places until one fits.
_TRIED = 10
# Graphs whose rows are in memory together.
_AT_ONCE = 1024

# Of the items of a place, nodes or edges in the order of their numbers, new rows.
Edits = dict[int, Tensor]


def by_columns(predicate: Predicate) -> bool:
    """Whether a predicate looks at columns and at nothing else."""
    quantity = predicate.quantity
    if isinstance(quantity, Count):
        return bool(quantity.traits) and all(isinstance(trait, Holds) for trait in quantity.traits)
    return isinstance(quantity, Mean)


def settable(places: Places, predicate: Predicate) -> np.ndarray:
    """(m,) bool: places around which there is something whose columns the predicate looks at."""
    where = _where(predicate)
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
    anew = {each for each, one in predicates.items() if bank is not None and _is_drawn(_where(one), bank)}
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
        some, where = one_each(before[torch.from_numpy(graphs)], node[graphs]), _where(predicates[each])
        cells = [part.tolist() for part in _cells(some.batch, where)]
        for own in _edits(some, predicates[each], seed.child(each).numpy()):
            for item, row in own.items():
                cell = int(graphs[cells[0][item]]), *(part[item] for part in cells[1:])
                edits.setdefault(_name(where), []).append((cell, row))
    after = before
    for name, several in edits.items():
        after = _with_rows(after, name, several)
    before = replace(before, tables=after.tables, edge_tables=after.edge_tables)  # which begin with their own rows
    true = np.zeros((2, len(number)), dtype=bool)
    for each, graphs in here.items():
        for side, batch in enumerate((before, after)):
            true[side, graphs] = truth(one_each(batch[torch.from_numpy(graphs)], node[graphs]), [predicates[each]])[:, 0]
    both, kept = GraphBatch.cat([before, after]), np.flatnonzero(true[0] != true[1])
    first, second = (torch.from_numpy(np.where(side, 0, len(number))[kept] + kept) for side in true)
    return Pairs(both[first], both[second], node[kept], source[kept], number[kept])


# -- the rest of the row ------------------------------------------------------------------------------


def _is_drawn(where: Where, bank: FeatureBank) -> bool:
    """Whether it is the classified node itself, whose row can be drawn given some of its columns."""
    return isinstance(where, Around) and where.own and bank.draws_rows(where.node_type)


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
    name = _name(_where(predicates[0]))
    spec = batch.schema.spec(name)
    looked_at = {predicate: _looked_at(predicate, spec) for predicate in set(predicates)}
    mask = torch.zeros(len(batch), spec.width, dtype=torch.bool)
    for row, predicate in enumerate(predicates):
        mask[row, looked_at[predicate]] = True
    return bank.redraw(batch, marks, seed=seed, fixed={name: Fixed(batch.tables[name][batch.row[marks]], mask)})


def _looked_at(predicate: Predicate, spec: FeatureSpec) -> list[int]:
    """Columns that say whether the predicate is true, with the others of their one-hot groups."""
    assert isinstance(predicate.quantity, Count)
    traits = [trait for trait in predicate.quantity.traits if isinstance(trait, Holds)]
    return sorted({column for columns, _ in _units(traits, spec) for column in columns})


def _units(traits: Sequence[Holds], spec: FeatureSpec) -> list[tuple[list[int], list[int]]]:
    """Columns that are set together, and numbers of the traits that look at them."""
    found: dict[int, list[int]] = {}
    for number, trait in enumerate(traits):
        whole = spec.kind is FeatureKind.IDENTITY
        found.setdefault(0 if whole else spec.leaders[trait.column], []).append(number)
    columns = range(spec.width)
    if spec.kind is FeatureKind.IDENTITY:
        return [(list(columns), numbers) for numbers in found.values()]
    return [([c for c in columns if spec.leaders[c] == leader], numbers) for leader, numbers in found.items()]


# -- what is set --------------------------------------------------------------------------------------


def _edits(places: Places, predicate: Predicate, rng: np.random.Generator) -> list[Edits]:
    """For each place the new rows of items with which the predicate is true if it was false, and the other way."""
    quantity, table = predicate.quantity, _table(places, _where(predicate))
    if table is None:
        return [{} for _ in range(len(places))]
    if isinstance(quantity, Mean):
        return _from_others(places, predicate, [quantity.column], table[:, quantity.column].numpy(), table, rng)
    assert isinstance(quantity, Count)
    spec = spec_of(places.schema, quantity.where)
    units = _units([trait for trait in quantity.traits if isinstance(trait, Holds)], spec)
    held = places.traits(quantity.where, quantity.traits).toarray()[places.items(quantity.where)] > 0
    if len(units) > 1:
        columns = sorted(column for columns, _ in units for column in columns)
        return _from_others(places, predicate, columns, held.sum(1).astype(np.float32), table, rng)
    return _fewest(places, predicate, units[0][0], held.any(1), table, rng)


def _where(predicate: Predicate) -> Where:
    assert isinstance(predicate.quantity, Count | Mean)
    return predicate.quantity.where


def _name(where: Where) -> str:
    """Of the table that its items have rows in."""
    return where.relation if isinstance(where, Edges) else where.node_type


def _cells(batch: GraphBatch, where: Where) -> tuple[Tensor, ...]:
    """Graph and position of every item, or graph and both ends of an edge."""
    if isinstance(where, Edges):
        return own_cells(batch, batch.node_type, where.relation)
    return (batch.node_type == batch.schema.type_index(where.node_type)).nonzero(as_tuple=True)


def _table(places: Places, where: Where) -> Tensor | None:
    """(i, d) rows of the items there are; None where they all have the same."""
    batch, name = places.batch, _name(where)
    rows = batch.edge_row if isinstance(where, Edges) else batch.row
    table = batch.edge_tables.get(name) if isinstance(where, Edges) else batch.tables.get(name)
    return None if rows is None or table is None else table[rows[_cells(batch, where)]]


def _fewest(
    places: Places, predicate: Predicate, columns: Sequence[int], on: np.ndarray, table: Tensor, rng: np.random.Generator
) -> list[Edits]:
    """As many items as it takes get what others of those looked at have in some columns.

    Args:
        places: places.
        predicate: what is to become true, or false.
        columns: which are set.
        on: (i,) bool, which items count.
        table: (i, d) their rows.
        rng: of the choice.
    """
    where = _where(predicate)
    of = _items_of(places, where)
    inside = np.unique(np.concatenate([np.empty(0, int), *of]))
    donors = {side: inside[on[inside] == side] for side in (False, True)}
    members = _Members(places, where, table) if spec_of(places.schema, where).kind is FeatureKind.IDENTITY else None
    found: list[Edits] = []
    for own in of:
        amount, least = int(on[own].sum()), int(np.floor(predicate.above)) + 1
        to = amount < least
        number = least - amount if to else amount - least + 1
        possible, edits = rng.permutation(own[on[own] != to]), {}
        if number <= len(possible) and len(donors[to]):
            for item in possible[:number].tolist():
                if members is not None:
                    members.put(item, donors[to], edits, rng)
                else:
                    edits[item] = _with_columns(table, item, rng.choice(donors[to]), columns)
        found.append(edits)
    return found


def _from_others(
    places: Places, predicate: Predicate, columns: Sequence[int], value: np.ndarray, table: Tensor, rng: np.random.Generator
) -> list[Edits]:
    """All items of a place get what those of a place on the other side have in some columns.

    Args:
        places: places.
        predicate: what is to become true, or false.
        columns: which are set.
        value: (i,) what each item adds to the amount, or to the mean where there is one.
        table: (i, d) rows of items.
        rng: of the choice.
    """
    of = _items_of(places, _where(predicate))
    amount = np.nanmean if isinstance(predicate.quantity, Mean) else np.sum
    true = truth(places, [predicate])[:, 0]
    found: list[Edits] = []
    for place, own in enumerate(of):
        edits: Edits = {}
        giving = [other for other in np.flatnonzero(true != true[place]).tolist() if len(of[other])]
        for other in rng.permutation(giving)[:_TRIED].astype(int).tolist() if len(own) else []:
            given = np.resize(rng.permutation(of[other]), len(own))
            known = ~np.isnan(value[given])
            if known.any() and (amount(value[given]) > np.float32(predicate.above)) != true[place]:
                pairs = zip(own.tolist(), given.tolist(), strict=True)
                edits = {item: _with_columns(table, item, donor, columns) for item, donor in pairs}
                break
        found.append(edits)
    return found


def _items_of(places: Places, where: Where) -> list[np.ndarray]:
    """Of each place the numbers of items in its scope, among the items there are."""
    around = places.around(where)[:, places.items(where)]
    return [np.sort(around.indices[begin:end]) for begin, end in zip(around.indptr[:-1], around.indptr[1:], strict=True)]


def _with_columns(table: Tensor, item: int, donor: int, columns: Sequence[int]) -> Tensor:
    """The row of an item with some columns of another's."""
    row = table[item].clone()
    row[columns] = table[donor, columns]
    return row


class _Members:
    """Members of an identity type in graphs, of which each has one at most once."""

    def __init__(self, places: Places, where: Where, table: Tensor) -> None:
        assert isinstance(where, Around)
        self._table, self._member = table, table.argmax(1).numpy()
        of_type = places.batch.node_type == places.schema.type_index(where.node_type)
        self._graph = of_type.nonzero()[:, 0].numpy()

    def put(self, item: int, donors: np.ndarray, edits: Edits, rng: np.random.Generator) -> None:
        """Lets an item be a member that one of the donors is; who was that member before in its graph swaps with it."""
        others = np.flatnonzero(self._graph == self._graph[item])
        now = {int(other): int(edits[other].argmax()) if other in edits else int(self._member[other]) for other in others}
        for _ in range(_TRIED):
            donor = rng.choice(donors)
            if self._member[donor] not in now.values():
                break
        twin = next((other for other, member in now.items() if member == self._member[donor]), None)
        if twin is not None:
            edits[twin] = edits.get(item, self._table[item]).clone()
        edits[item] = self._table[donor].clone()


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
