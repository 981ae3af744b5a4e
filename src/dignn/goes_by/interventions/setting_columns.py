"""Pairs of graphs that differ in the columns that a predicate looks at, and in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
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
from dignn.goes_by.quantities import Count, Mean, amounts
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around, Edges, Where
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import own_cells, with_rows
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

# Members of an identity type that are tried until one is not in the graph already.
_TRIED_MEMBERS = 10

# Of the items of a place, nodes or edges in the order of their numbers, new rows.
Edits = dict[int, Tensor]


def by_columns(predicate: Predicate) -> bool:
    """Whether a predicate looks at columns and at nothing else."""
    quantity = predicate.quantity
    if isinstance(quantity, Count):
        return bool(quantity.traits) and all(isinstance(trait, Holds) for trait in quantity.traits)
    return isinstance(quantity, Mean)


def set_columns(
    places: Places,
    predicates: dict[int, Predicate],
    chosen: dict[int, np.ndarray],
    bank: FeatureBank | None,
    seed: Seed,
) -> Pairs | None:
    """Pairs of graphs; None where none can be made.

    Of each chosen place there is a graph as it is, and one in which the fewest columns that the predicate looks at are
    set such that it is true where it was false, or false where it was true. Values are those of other nodes or edges
    that predicate looks at. Where columns of the classified node itself are set, the bank draws all other columns of
    its row anew, once for both graphs, given those that the predicate looks at.

    Args:
        places: m places.
        predicates: by number, those that look at columns.
        chosen: for each, the places that pairs are made of.
        bank: draws rows; None where it has not learned any.
        seed: of everything that is drawn.
    """
    number = np.repeat(list(chosen), [len(some) for some in chosen.values()]).astype(int)
    place = np.concatenate([np.empty(0, int), *chosen.values()])
    if not len(place):
        return None
    source, node = places.graph[place], places.node[place]
    before = places.batch[torch.from_numpy(source)]
    if bank is not None:
        before = _drawn_anew(before, node, [predicates[each] for each in number.tolist()], bank, seed.child("rest"))
    edits: dict[str, list[tuple[tuple[int, ...], Tensor]]] = {}
    for each, predicate in predicates.items():
        here = np.flatnonzero(number == each)
        some = one_each(before[torch.from_numpy(here)], node[here])
        where = _where(predicate)
        cells = [part.tolist() for part in _cells(some.batch, where)]
        for own in _edits(some, predicate, seed.child("values", each).numpy()):
            for item, row in own.items():
                cell = int(here[cells[0][item]]), *(part[item] for part in cells[1:])
                edits.setdefault(_name(where), []).append((cell, row))
    after = before
    for name, several in edits.items():
        after = _with_rows(after, name, several)
    true = np.zeros((2, len(place)), dtype=bool)
    for each, predicate in predicates.items():
        here = np.flatnonzero(number == each)
        for side, batch in enumerate((before, after)):
            true[side, here] = truth(one_each(batch[torch.from_numpy(here)], node[here]), [predicate])[:, 0]
    return _sides(GraphBatch.cat([before, after]), true, node, source, number)


def _sides(both: GraphBatch, true: np.ndarray, node: np.ndarray, source: np.ndarray, number: np.ndarray) -> Pairs:
    """The pairs of which one is true and the other false.  both: 2 n graphs; true: (2, n)"""
    kept = np.flatnonzero(true[0] != true[1])
    count = len(node)
    first = torch.from_numpy(np.where(true[0], 0, count)[kept] + kept)
    second = torch.from_numpy(np.where(true[0], count, 0)[kept] + kept)
    return Pairs(both[first], both[second], node[kept], source[kept], number[kept])


# -- the rest of the row ------------------------------------------------------------------------------


def _drawn_anew(
    batch: GraphBatch, node: np.ndarray, predicates: Sequence[Predicate], bank: FeatureBank, seed: Seed
) -> GraphBatch:
    """The same graphs; where a predicate looks at the classified node, its other columns are others.

    Args:
        batch: n graphs.
        node: (n,) classified nodes.
        predicates: of each graph.
        bank: draws rows.
        seed: of what is drawn.
    """
    own = [
        number
        for number, predicate in enumerate(predicates)
        if isinstance(predicate.quantity, Count)
        and isinstance(predicate.quantity.where, Around)
        and predicate.quantity.where.own
        and batch.node_type[number, node[number]] == batch.schema.type_index(predicate.quantity.where.node_type)
        and bank.draws_rows(predicate.quantity.where.node_type)
    ]
    if not own:
        return batch
    some = batch[own]
    marks = torch.zeros_like(some.mask)
    marks[range(len(own)), node[own]] = True
    fixed = {}
    for name in batch.schema.node_types:
        here = (some.node_type == batch.schema.type_index(name)) & marks
        if bool(here.any()):
            mask = torch.zeros(int(here.sum()), batch.schema.spec(name).width, dtype=torch.bool)
            for row, number in enumerate(here.nonzero()[:, 0].tolist()):
                mask[row, _looked_at(predicates[own[number]], batch.schema.spec(name))] = True
            fixed[name] = Fixed(some.tables[name][some.row[here]], mask)
    drawn = bank.redraw(some, marks, seed=seed, fixed=fixed)
    place = torch.arange(len(batch))
    place[own] = len(batch) + torch.arange(len(own))
    return GraphBatch.cat([batch, drawn])[place]


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
    quantity = predicate.quantity
    assert isinstance(quantity, Count | Mean)
    table = _table(places, quantity.where)
    if table is None:
        return [{} for _ in range(len(places))]
    if isinstance(quantity, Mean):
        return _of_mean(places, predicate, quantity, table, rng)
    return _of_count(places, predicate, quantity, table, rng)


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


def _of_count(
    places: Places, predicate: Predicate, quantity: Count, table: Tensor, rng: np.random.Generator
) -> list[Edits]:
    where = quantity.where
    traits = [trait for trait in quantity.traits if isinstance(trait, Holds)]
    spec = spec_of(places.schema, where)
    units, items = _units(traits, spec), places.items(where)
    held = places.traits(where, traits).toarray()[items] > 0
    on = np.stack([held[:, numbers].any(1) for _, numbers in units], axis=1)  # (i, units)
    around = places.around(where)[:, items]
    inside = np.asarray(around.sum(0)).ravel() > 0
    donors = [[np.flatnonzero(inside & (on[:, unit] == side)) for side in (False, True)] for unit in range(len(units))]
    members = _Members(places, where, table) if spec.kind is FeatureKind.IDENTITY else None
    allowed = int(np.floor(predicate.above))
    found: list[Edits] = []
    for place in range(len(places)):
        own = np.sort(around.indices[around.indptr[place] : around.indptr[place + 1]])
        amount = int(on[own].sum())
        to = amount <= predicate.above
        number = allowed + 1 - amount if to else amount - allowed
        item, unit = np.nonzero(on[own] != to)
        possible = np.array([len(donors[each][to]) > 0 for each in unit.tolist()], dtype=bool)
        item, unit = own[item[possible]], unit[possible]
        edits: Edits = {}
        if number <= len(item):
            for flip in rng.permutation(len(item))[:number].tolist():
                columns, (which, giving) = units[unit[flip]][0], (int(item[flip]), donors[unit[flip]][to])
                if members is not None:
                    members.put(which, giving, edits, rng)
                else:
                    row = edits.setdefault(which, table[which].clone())
                    row[columns] = table[rng.choice(giving), columns]
        found.append(edits)
    return found


def _of_mean(
    places: Places, predicate: Predicate, quantity: Mean, table: Tensor, rng: np.random.Generator
) -> list[Edits]:
    """All items get the values of those of a place on the other side."""
    items = places.items(quantity.where)
    around = places.around(quantity.where)[:, items]
    of = [np.sort(around.indices[begin:end]) for begin, end in zip(around.indptr[:-1], around.indptr[1:], strict=True)]
    amount = amounts(places, [quantity])[:, 0]
    true = amount > np.float32(predicate.above)
    donors = {side: np.flatnonzero((true == side) & ~np.isnan(amount)) for side in (False, True)}
    values = table[:, quantity.column].numpy()
    found: list[Edits] = []
    for place, own in enumerate(of):
        giving = donors[not true[place]]
        edits: Edits = {}
        if len(giving) and len(own):
            known = values[of[rng.choice(giving)]]
            known = rng.permutation(known[~np.isnan(known)])
            for which, value in zip(own.tolist(), np.resize(known, len(own)).tolist(), strict=True):
                edits[which] = table[which].clone()
                edits[which][quantity.column] = value
        found.append(edits)
    return found


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
        for _ in range(_TRIED_MEMBERS):
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
