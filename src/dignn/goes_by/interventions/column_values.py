"""What columns are set to: values that others have for whom a predicate is true, or false."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from dignn.goes_by.phrases import spec_of
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.quantities import Count, Mean
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around, Edges, Where
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import own_cells
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

# Donors that are tried: members of an identity type until one is not in the graph already, places until one fits.
_TRIED = 10

# New rows by number of the item, a node or an edge, among those there are.
Edits = dict[int, Tensor]


def edits_of(places: Places, predicate: Predicate, rng: np.random.Generator) -> list[Edits]:
    """For each place the new rows of items with which the predicate is true if it was false, and the other way."""
    quantity, table = predicate.quantity, _table(places, where_of(predicate))
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


def where_of(predicate: Predicate) -> Where:
    """Where a predicate that looks at columns looks."""
    assert isinstance(predicate.quantity, Count | Mean)
    return predicate.quantity.where


def table_of(where: Where) -> str:
    """Name of the table that items there have rows in."""
    return where.relation if isinstance(where, Edges) else where.node_type


def cells_of(batch: GraphBatch, where: Where) -> tuple[Tensor, ...]:
    """Graph and position of every item, or graph and both ends of an edge."""
    if isinstance(where, Edges):
        return own_cells(batch, batch.node_type, where.relation)
    return (batch.node_type == batch.schema.type_index(where.node_type)).nonzero(as_tuple=True)


def _table(places: Places, where: Where) -> Tensor | None:
    """(i, d) rows of the items there are; None where they all have the same."""
    batch, name = places.batch, table_of(where)
    rows = batch.edge_row if isinstance(where, Edges) else batch.row
    table = batch.edge_tables.get(name) if isinstance(where, Edges) else batch.tables.get(name)
    return None if rows is None or table is None else table[rows[cells_of(batch, where)]]


def _fewest(
    places: Places,
    predicate: Predicate,
    columns: Sequence[int],
    on: np.ndarray,
    table: Tensor,
    rng: np.random.Generator,
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
    where = where_of(predicate)
    of = _items_of(places, where)
    inside = np.unique(np.concatenate([np.empty(0, int), *of]))
    donors = {side: inside[on[inside] == side] for side in (False, True)}
    members = _Members(places, where, table) if spec_of(places.schema, where).kind is FeatureKind.IDENTITY else None
    found: list[Edits] = []
    for own in of:
        amount, least = int(on[own].sum()), int(np.floor(predicate.above)) + 1
        to = amount < least
        number = least - amount if to else amount - least + 1
        possible = rng.permutation(own[on[own] != to])
        edits: Edits = {}
        if number <= len(possible) and len(donors[to]):
            for item in possible[:number].tolist():
                if members is not None:
                    members.put(item, donors[to], edits, rng)
                else:
                    edits[item] = _with_columns(table, item, rng.choice(donors[to]), columns)
        found.append(edits)
    return found


def _from_others(
    places: Places,
    predicate: Predicate,
    columns: Sequence[int],
    value: np.ndarray,
    table: Tensor,
    rng: np.random.Generator,
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
    of = _items_of(places, where_of(predicate))
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
    return [
        np.sort(around.indices[begin:end]) for begin, end in zip(around.indptr[:-1], around.indptr[1:], strict=True)
    ]


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
        others = np.flatnonzero(self._graph == self._graph[item]).tolist()
        now = {other: int(edits[other].argmax()) if other in edits else int(self._member[other]) for other in others}
        for _ in range(_TRIED):
            donor = int(rng.choice(donors))
            if self._member[donor] not in now.values():
                break
        twin = next((other for other, member in now.items() if member == self._member[donor]), None)
        if twin is not None:
            edits[twin] = edits.get(item, self._table[item]).clone()
        edits[item] = self._table[donor].clone()


# -- columns that are set together ---------------------------------------------------------------------


def looked_at(predicate: Predicate, spec: FeatureSpec) -> list[int]:
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
