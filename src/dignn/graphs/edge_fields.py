"""The fields of users' edges that hold numbers, one row for each edge: found, and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.core.errors import SchemaError
from dignn.graphs.edge_forms import EDGE_FIELDS, entries, matrix_values
from dignn.graphs.feature_matrix import EXACT, FeatureForm
from dignn.graphs.feature_spec import DTYPES
from dignn.graphs.relation import EdgeType

# By the key of a store, an edge type or None for that of a ``Data``, the names of fields.
FieldNames = Mapping[EdgeType | None, Sequence[str]]

# What layers of PyTorch Geometric and most models call them: with another number of rows they are a mistake.
USUAL = ("edge_attr", "edge_weight")
# What loaders and splits note about edges; no model goes by it.
_NOTES = ("edge_label", "edge_label_index", "e_id", "n_id", "input_id", "batch", "ptr", "num_nodes")


def find_fields(graphs: Sequence[Data | HeteroData], relation_field: str | None) -> dict[EdgeType | None, list[str]]:
    """The fields of edges that can be described, by the key of their store.

    Real numbers that float32 holds, one row for each edge, in every graph that has edges there; a graph may miss all
    values of a column that others have. Others are left out: a model that goes by them is refused by name when it is
    checked.

    Args:
        graphs: the data.
        relation_field: the field of a ``Data`` that tells relations, which is no feature.

    Raises:
        SchemaError: ``edge_attr`` or ``edge_weight`` has another number of rows than there are edges.
    """
    stores: dict[EdgeType | None, list[Any]] = {}
    for graph in graphs:
        for store in graph.edge_stores:
            stores.setdefault(store._key, []).append(store)
    found = {}
    for key, several in stores.items():
        some = [(store, count) for store in several if (count := _count(store))]
        names = [name for name in (some[0][0].keys() if some else ()) if name not in (relation_field, *_NOTES)]
        kept = [name for name in names if name not in EDGE_FIELDS and _carried(some, name)]
        found[key] = kept + [name for name in names if name in EDGE_FIELDS and _valued(some, name)]
    return {key: names for key, names in found.items() if names}


def read_field(store: Any, name: str, count: int, words: str) -> tuple[Tensor, FeatureForm]:
    """The rows (E, d) of a field as float32, and what it is outside.

    Args:
        store: of a ``Data``, or of one edge type.
        name: the field.
        count: number of edges.
        words: what they are called in messages.

    Raises:
        SchemaError: the field is missing, or holds something else, or infinity.
    """
    value = matrix_values(store) if name in EDGE_FIELDS else store.get(name)
    if value is None:
        raise SchemaError(f"The edges of '{words}' have no {name}, which others have; give it everywhere or nowhere")
    if not _numbers(value) or len(value) != count:
        found = tuple(value.shape) if isinstance(value, Tensor) else f"a {type(value).__name__}"
        raise SchemaError(f"{name} of '{words}' is {found}; give a row of numbers for each of {count} edges")
    rows = value.detach().cpu().reshape(count, -1).to(torch.float32)
    _refuse_infinity(rows, name, words)
    return rows, FeatureForm.of(value)


def _refuse_infinity(rows: Tensor, name: str, words: str) -> None:
    endless = rows.isinf().any(0)
    if bool(endless.any()):
        raise SchemaError(
            f"{name} of '{words}' holds infinity (first in column {int(endless.nonzero()[0])}); give numbers, or NaN "
            "where a value is missing"
        )


def _carried(some: Sequence[tuple[Any, int]], name: str) -> bool:
    """Whether a field has a row of numbers for each edge of every store."""
    values = [(store.get(name), count) for store, count in some]
    if name in USUAL:
        _check_rows(values, name)
    if not all(_numbers(value) and len(value) == count for value, count in values):
        return False
    if len({tuple(value.shape[1:]) for value, _ in values}) > 1:
        return False
    if all(value.dtype is torch.bool for value, _ in values) and name.endswith("mask"):
        return False
    # Where there are as many nodes as edges in every graph, the name decides, as in PyTorch Geometric.
    return "edge" in name or any(_nodes(store) != count for store, count in some)


def _check_rows(values: Sequence[tuple[Any, int]], name: str) -> None:
    for value, count in values:
        if isinstance(value, Tensor) and (value.dim() == 0 or len(value) != count):
            rows = 1 if value.dim() == 0 else len(value)
            raise SchemaError(f"{name} has {rows} rows for {count} edges; give one for each")


def _valued(some: Sequence[tuple[Any, int]], name: str) -> bool:
    """Whether a field is a matrix whose values say something; where edges are in two fields, values have no place."""
    if any(sum(store.get(field) is not None for field in EDGE_FIELDS) > 1 for store, _ in some):
        return False
    values = [entries(store[name], str(store._key))[1] for store, _ in some if store.get(name) is not None]
    plain = len(values) == len(some) and all(value is not None and value.dim() == 1 for value in values)
    if not plain or not all(_numbers(value) for value in values):
        return False
    return any(bool((value != 1).any()) for value in _tensors(values))


def _tensors(values: Sequence[Tensor | None]) -> Iterator[Tensor]:
    return (value for value in values if value is not None)


def _numbers(value: Any) -> bool:
    """Whether it is a vector or a matrix of real numbers; whole ones must be numbers of float32, too."""
    if not isinstance(value, Tensor) or value.layout is not torch.strided or value.dim() not in (1, 2):
        return False
    if str(value.dtype).removeprefix("torch.") not in DTYPES or not value[:1].numel():
        return False
    return value.dtype.is_floating_point or bool((value.long().abs() <= EXACT).all())


def _count(store: Any) -> int:
    """Number of edges of a store."""
    given = next((store.get(field) for field in EDGE_FIELDS if store.get(field) is not None), None)
    return 0 if given is None else int(entries(given, str(store._key))[0].size(-1))


def _nodes(store: Any) -> int | None:
    """Number of nodes beside which edges are kept, of a ``Data``."""
    return None if isinstance(store._key, tuple) else store._parent().num_nodes
