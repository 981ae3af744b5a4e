"""Feature tables that are too wide to be held with all their zeros: rows become dense when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.graphs.feature_matrix import dense

# Numbers, zeros among them, up to which a table is held densely, which is faster.
DENSE_CELLS = 2**26

_ATEN = torch.ops.aten


def table_of(x: Tensor) -> Tensor:
    """A feature matrix (n, d), dense or sparse, as a table whose rows can be picked."""
    if x.layout is torch.strided or x.numel() <= DENSE_CELLS:
        return dense(x)
    (row, column), values = x.indices().numpy(), x.values().numpy()
    first = np.searchsorted(row, np.arange(x.size(0) + 1))
    return SparseRows(csr_array((values, column, first), shape=tuple(x.shape)))


class SparseRows(Tensor):
    """A table (n, d) that knows what tables are asked for: some of its rows, one of its columns, and means.

    All else is refused: nobody shall make it dense by accident.

    Args:
        matrix: its entries.
    """

    matrix: csr_array

    @staticmethod
    def __new__(cls, matrix: csr_array) -> SparseRows:
        return Tensor._make_wrapper_subclass(cls, matrix.shape, dtype=torch.float32)

    def __init__(self, matrix: csr_array) -> None:
        self.matrix = matrix

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"SparseRows({self.matrix!r})"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch's own signature lacks the function
        cls, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        known = _ANSWERS.get(func)
        if known is None or not isinstance(args[0], SparseRows):
            raise DignnError(
                f"A feature table of {args[0].shape if args else '?'} is too wide for '{func}'; give fewer columns"
            )
        return known(*args, **(kwargs or {}))


def _rows(table: SparseRows, chosen: Tensor) -> Tensor:
    """Of numbers in any shape, or of marks."""
    if chosen.dtype == torch.bool:
        chosen = chosen.nonzero()[:, 0]
    found = table.matrix[chosen.reshape(-1).numpy()].toarray()
    return torch.from_numpy(found).view(*chosen.shape, table.matrix.shape[1])


def _index(table: SparseRows, indices: Sequence[Tensor | None]) -> Tensor:
    (chosen,) = (indices[0],) if len(indices) == 1 else (None,)
    if chosen is None:
        raise DignnError("Only rows of a wide sparse table can be picked; pick its columns afterwards")
    return _rows(table, chosen)


def _select(table: SparseRows, dim: int, index: int) -> Tensor:
    part = table.matrix[[index]] if dim == 0 else table.matrix[:, [index]]
    return torch.from_numpy(part.toarray().reshape(-1))


def _slice(table: SparseRows, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    places = range(*slice(start, end, step).indices(table.matrix.shape[dim]))
    if len(places) == table.matrix.shape[dim]:
        return table
    if dim != 0:
        raise DignnError("Only rows of a wide sparse table can be picked; pick its columns afterwards")
    return _rows(table, torch.tensor(places))


def _gather(table: SparseRows, dim: int, index: Tensor, **_: Any) -> Tensor:
    """Along rows: of each column a value of some row."""
    if dim != 0:
        raise DignnError("Only rows of a wide sparse table can be picked; pick its columns afterwards")
    rows, place = index.unique(return_inverse=True)
    return _rows(table, rows).gather(0, place)


def _mean(table: SparseRows, dims: Sequence[int], keepdim: bool = False, **_: Any) -> Tensor:
    if list(dims) != [0] or keepdim:
        raise DignnError("Of a wide sparse table only the means of columns are known")
    return torch.from_numpy(np.asarray(table.matrix.mean(0), dtype=np.float32).reshape(-1))


def _empty(table: SparseRows, size: Sequence[int], **_: Any) -> Tensor:
    return torch.empty(*size)


_ANSWERS: dict[Any, Callable[..., Tensor]] = {
    _ATEN.index.Tensor: _index,
    _ATEN.index_select.default: lambda table, dim, index: _index(table, [index] if dim == 0 else [None, index]),
    _ATEN.select.int: _select,
    _ATEN.slice.Tensor: _slice,
    _ATEN.gather.default: _gather,
    _ATEN.mean.dim: _mean,
    _ATEN.new_empty.default: _empty,
    _ATEN.alias.default: lambda table: table,
    _ATEN.detach.default: lambda table: table,
}
