"""The node types of a world beside its target: what each is joined to, and which table it has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Names of types; the first is the target.
TYPE_NAMES = (
    *("item", "maker", "place", "topic", "tool", "owner", "team", "event", "source", "region"),
    *("series", "part", "style", "guild", "route", "shelf", "colour", "method", "grant", "office"),
)
# Kinds of tables of types that are not the target, each with its fewest and most columns.
OTHER_TABLES = {
    "identity": (8, 24),  # as many members
    "constant": (1, 3),
    "free embeddings": (12, 48),
    "words of length 1": (100, 300),
    "means of words": (100, 300),
    "TF-IDF": (100, 300),
    "binary": (10, 30),
    "count": (10, 30),
    "continuous": (3, 10),
    "one-hot": (10, 25),
    "heavy-tailed": (3, 10),
}
# Nodes of a type: of each of twenty, of each of a few, and, times the targets, of each of two beside a rare target.
SMALLER_TYPES, NODES_OF_A_TYPE, RARELY = {"twenty types": (60, 160)}, (300, 700), 500
# Most columns of a type that has so many nodes.
NARROW_TABLE = 30


@dataclass(frozen=True)
class OtherType:
    """A type beside the target.

    Args:
        name: of the type.
        parent: the type that it is joined to.
        table: kind of its feature table, a key of :data:`OTHER_TABLES`.
        columns: of that table.
        count: of its nodes.
    """

    name: str
    parent: str
    table: str
    columns: int
    count: int


def other_types(shape: str, clue: str, types: int, targets: int, rng: np.random.Generator) -> tuple[OtherType, ...]:
    """The types beside the target, each joined to an earlier one; as different tables as there are.

    Args:
        shape, clue, types, targets: of the recipe.
        rng: draws.
    """
    deck = [list(OTHER_TABLES)[place] for place in rng.permutation(len(OTHER_TABLES))]
    steps = {TYPE_NAMES[0]: 0}
    found: list[OtherType] = []
    for number, name in enumerate(TYPE_NAMES[1:types], start=1):
        parent = TYPE_NAMES[int(rng.integers(number))]
        if number == 2 and clue == "two steps away":
            parent = TYPE_NAMES[1]
        steps[name] = steps[parent] + 1
        table = next(kind for kind in deck if _may_have(kind, shape, clue, number, steps[name]))
        deck = [kind for kind in deck if kind != table] + [table]
        columns = int(rng.integers(*OTHER_TABLES[table]))
        few = SMALLER_TYPES.get(shape, NODES_OF_A_TYPE)
        count = RARELY * targets if shape == "rare target" else int(rng.integers(*few))
        found.append(OtherType(name, parent, table, columns, columns if table == "identity" else count))
    return tuple(found)


def _may_have(table: str, shape: str, clue: str, number: int, steps: int) -> bool:
    """Whether a type may have a table: none that shows a class too near, and one that can where it must be shown."""
    if shape == "rare target" and (table == "identity" or OTHER_TABLES[table][1] > NARROW_TABLE):
        return False
    if clue == "two steps away" and steps == 1:
        return table not in ("identity", "means of words")
    must = number == {"neighbours": 1, "two steps away": 2}.get(clue)
    return not must or table not in ("constant", "identity")
