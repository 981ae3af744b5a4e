"""What a predicate is about, so that terms can be compared with what is known to matter; and predicates as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from dignn.core.errors import DignnError
from dignn.core.json_types import restored
from dignn.goes_by.phrases import spec_of
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count, Mean, Quantity, Rings
from dignn.goes_by.traits import Holds, Shaped, Trait
from dignn.goes_by.where import Around, Edges, Step, Where
from dignn.graphs.schema import Schema


@dataclass(frozen=True)
class TermKey:
    """What a predicate looks at.

    Args:
        about: ``nodes``, ``column``, ``mean``, ``missing``, ``neighbours``, ``leaf`` or ``cycle``.
        node_type: of the nodes, None for edges and cycles.
        path: labels of the relations that lead there, one that is walked back with ``<-`` before it; empty where any
            will do. Of edges their relation.
        distance: steps from the classified node, 0 for itself, None for the graph.
        columns: names of the columns, or types on a cycle; empty where none is looked at.
        above: whether much of it makes the predicate true, or little.
        value: the threshold of the column or its value; the nodes of a cycle, neighbours of a node; None without.
        count: how many there must be at least, or may not be; None where a mean is compared.
        by: of nodes with neighbours, the relation by which they have them, written as in ``path``; None for any.
    """

    about: str
    node_type: str | None
    path: tuple[str, ...]
    distance: int | None
    columns: tuple[str, ...]
    above: bool
    value: float | None
    count: int | None
    by: str | None = None


def key_of(predicate: Predicate, schema: Schema) -> TermKey:
    """The key of a predicate."""
    quantity, above = predicate.quantity, predicate.holds
    if isinstance(quantity, Rings):
        far = None if schema.task.of_graphs else 0
        least = round(predicate.above + 0.5)
        return TermKey("cycle", None, (), far, quantity.types, above, float(len(quantity.types)), least)
    where = quantity.where
    node_type = where.node_type if isinstance(where, Around) else None
    if isinstance(where, Around):
        path = tuple(step_name(step) for step in where.path)
        far = where.distance
    else:
        path, far = (where.relation,), None if where.anywhere else 0
    if isinstance(quantity, Mean):
        column = spec_of(schema, where).column_name(quantity.column)
        return TermKey("mean", node_type, path, far, (column,), above, predicate.above, None)
    held = [trait for trait in quantity.traits if isinstance(trait, Holds)]
    shaped = [trait for trait in quantity.traits if isinstance(trait, Shaped)]
    about, value, by = "nodes", None, None
    if shaped:
        about, value = shaped[0].shape, float(shaped[0].number)
        by = None if shaped[0].step is None else step_name(shaped[0].step)
    if held:
        about, value = "missing" if held[0].test == "missing" else "column", held[0].value
    columns = tuple(spec_of(schema, where).column_name(trait.column) for trait in held)
    return TermKey(about, node_type, path, far, columns, above, value, round(predicate.above + 0.5), by)


def step_name(step: Step) -> str:
    """The label of its relation, with ``<-`` before it where that is walked back."""
    return f"{'<-' if step.back else ''}{step.relation}"


# -- JSON ---------------------------------------------------------------------------------------------

_KINDS: dict[str, type] = {each.__name__.lower(): each for each in (Count, Mean, Rings, Around, Edges, Holds, Shaped)}


def predicate_json(predicate: Predicate) -> dict[str, Any]:
    """A predicate as a JSON object, from which :func:`predicate_from` makes it again."""
    quantity = predicate.quantity
    content: dict[str, Any] = {"kind": type(quantity).__name__.lower()}
    if isinstance(quantity, Rings):
        content["types"] = list(quantity.types)
    else:
        content["where"] = _named(quantity.where)
    if isinstance(quantity, Mean):
        content["column"] = quantity.column
    if isinstance(quantity, Count):
        content["traits"] = [_named(trait) for trait in quantity.traits]
    return {**content, "above": predicate.above, "holds": predicate.holds}


def predicate_from(content: Any) -> Predicate:
    """The predicate of a JSON object.

    Raises:
        DignnError: it is no predicate.
    """
    try:
        parts = dict(content)
        kind, above, holds = parts.pop("kind"), parts.pop("above"), parts.pop("holds")
        return Predicate(_quantity(kind, parts), _finite(above), _flag(holds))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise DignnError(f"{content!r} is no predicate ({error}); give what predicate_json made") from error


def _named(part: Where | Trait) -> dict[str, Any]:
    return {"kind": type(part).__name__.lower(), **asdict(part)}


def _quantity(kind: str, parts: dict[str, Any]) -> Quantity:
    if kind == "rings":
        return restored(Rings, {"types": list(parts["types"])})
    where = _part(parts.pop("where"), ("around", "edges"))
    if kind == "mean":
        return Mean(where, _whole(parts.pop("column")))
    if kind != "count":
        raise ValueError(f"there is no kind '{kind}'")
    return Count(where, tuple(_part(trait, ("holds", "shaped")) for trait in parts.pop("traits")))


def _part(content: dict[str, Any], allowed: tuple[str, ...]) -> Any:
    parts = dict(content)
    kind = parts.pop("kind")
    if kind not in allowed:
        raise ValueError(f"there is no kind '{kind}' here")
    if kind == "around":
        parts["path"] = list(parts["path"])
    return restored(_KINDS[kind], parts)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no whole number")
    return value


def _finite(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise TypeError(f"{value!r} is neither true nor false")
    return value
