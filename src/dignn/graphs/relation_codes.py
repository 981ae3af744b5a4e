"""Relations of a homogeneous graph: a one-hot ``edge_attr``, or numbers in ``edge_type``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.core.errors import SchemaError

ONE_HOT, NUMBERS = "edge_attr", "edge_type"


def relation_names(
    graphs: Sequence[Data | HeteroData], edge_names: Sequence[str] | None
) -> tuple[str, tuple[str, ...] | None]:
    """The field that tells relations, and their names; None where nothing does.

    ``edge_type`` does where it is there, unless ``edge_names`` are as many as ``edge_attr`` has columns.
    """
    told = None if edge_names is None else tuple(edge_names)
    numbered = [graph.edge_type for graph in graphs if isinstance(graph, Data) and _numbers(graph)]
    columns = {_columns(graph.edge_attr) for graph in graphs if isinstance(graph, Data) and graph.edge_attr is not None}
    if not numbered or (told is not None and columns == {len(told)}):
        return ONE_HOT, told
    count = max((int(codes.max()) for codes in numbered if len(codes)), default=-1) + 1
    if told is None:
        return NUMBERS, tuple(f"relation {number}" for number in range(count)) or None
    if len(told) < count:
        raise SchemaError(f"{len(told)} edge names were given, but edge_type goes up to {count - 1}; name every one")
    return NUMBERS, told


def relation_codes(data: Data, count: int, field: str, names: Sequence[str]) -> np.ndarray:
    """(E,) number of the relation of each of ``count`` edges."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    value = data.get(field)
    if value is not None and len(value) != count:
        raise SchemaError(f"{field} has {len(value)} rows for {count} edges; give one for each")
    if field == ONE_HOT:
        return one_hot_codes(None if value is None else value.reshape(count, -1), len(names), field, "relation")
    if not _numbers(data):
        raise SchemaError("edge_type is missing or no vector of whole numbers; give a relation for each edge")
    codes = value.detach().cpu().numpy().astype(np.int64)
    if codes.min() < 0 or codes.max() >= len(names):
        raise SchemaError(f"edge_type holds {codes.min()} to {codes.max()}, but there are {len(names)} relations")
    return codes


def one_hot_codes(matrix: Tensor | None, width: int, field: str, meaning: str) -> np.ndarray:
    """(n,) which column of each row (n, width) is 1.

    Raises:
        SchemaError: the matrix is missing, of another width, or not one-hot.
    """
    if matrix is None or matrix.size(1) != width:
        found = "missing" if matrix is None else f"{matrix.size(1)} columns wide"
        raise SchemaError(
            f"{field} is {found}, but {width} {meaning} names were given; give a one-hot {field} of that width"
        )
    values = matrix.detach().cpu().to(torch.float32).numpy()
    if values.size and not (((values == 0) | (values == 1)).all() and (values.sum(1) == 1).all()):
        raise SchemaError(f"{field} is not one-hot, so it cannot be read as the {meaning}")
    return values.argmax(1).astype(np.int64) if len(values) else np.empty(0, dtype=np.int64)


def _numbers(data: Data) -> bool:
    """Whether ``edge_type`` is a vector of whole numbers."""
    value: Any = data.get(NUMBERS)
    whole = isinstance(value, Tensor) and not (value.is_floating_point() or value.is_complex())
    return whole and value.dim() == 1 and value.dtype is not torch.bool


def _columns(attributes: Any) -> int:
    return int(attributes.size(1)) if isinstance(attributes, Tensor) and attributes.dim() == 2 else 1
