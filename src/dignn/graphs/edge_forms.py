"""Edges in the fields and forms that users keep them in, read and written.

``edge_index`` is a (2, E) tensor, an ``EdgeIndex``, or a matrix; ``adj_t`` is a matrix. A matrix, sparse of torch or a
``SparseTensor`` of torch_sparse, is the *transposed* adjacency, whatever the field: layers of PyTorch Geometric send
messages from its columns to its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric import EdgeIndex, typing, utils
from torch_geometric.data import Data, HeteroData
from torch_geometric.edge_index import SortOrder

from dignn.core.errors import SchemaError

# The fields that hold edges; where both do, edges are read from the first.
EDGE_FIELDS = ("edge_index", "adj_t")
TENSOR, EDGE_INDEX, SPARSE_TENSOR = "tensor", "EdgeIndex", "SparseTensor"
# Layouts of torch, and the functions of PyTorch Geometric that make a matrix of each.
_MAKERS = {
    "sparse_coo": "to_torch_coo_tensor",
    "sparse_csr": "to_torch_csr_tensor",
    "sparse_csc": "to_torch_csc_tensor",
}
_MATRICES = (SPARSE_TENSOR, *_MAKERS)


@dataclass(frozen=True)
class EdgeForm:
    """In which fields and forms edges are kept.

    Args:
        edge_index: ``tensor``, ``EdgeIndex`` (followed by ``row`` or ``col`` where it is sorted), ``SparseTensor``, or
            a sparse layout of torch; None where there is no such field.
        adj_t: ``SparseTensor``, or a sparse layout of torch; None where there is no such field.
        values: dtype of a matrix's values; None for one without, and where there is no matrix.
    """

    edge_index: str | None = TENSOR
    adj_t: str | None = None
    values: str | None = None

    def __post_init__(self) -> None:
        indices = (TENSOR, EDGE_INDEX, f"{EDGE_INDEX} row", f"{EDGE_INDEX} col")
        known = self.edge_index in (None, *indices, *_MATRICES) and self.adj_t in (None, *_MATRICES)
        known = known and (self.values is None or isinstance(getattr(torch, str(self.values), None), torch.dtype))
        if not known or self.edge_index is self.adj_t is None:
            raise SchemaError(f"Edges cannot be in the form {self}; keep them in edge_index or adj_t")

    @property
    def by_target(self) -> bool:
        """Whether edges are ordered by their targets, as rows of a transposed matrix are."""
        return self.adj_t is not None or (self.edge_index is not None and _by_target(self.edge_index))


# What most data has: a (2, E) tensor.
EDGE_INDEX_TENSOR = EdgeForm()


# -- reading ------------------------------------------------------------------------------------------


def form_of(graphs: Iterable[Data | HeteroData]) -> EdgeForm:
    """The form that all edges of these graphs are in.

    Raises:
        SchemaError: there are several.
    """
    found: EdgeForm | None = None
    for graph in graphs:
        for store in graph.edge_stores:
            form = _form(store)
            if found is not None and form not in (None, found):
                raise SchemaError(
                    f"Edges are in several forms, here {_words(found)} and there {_words(form)}; give all in one"
                )
            found = found or form
    return found or EDGE_INDEX_TENSOR


def read_edges(store: Any, sources: int, targets: int, name: str) -> np.ndarray | None:
    """(2, E) the edges of a store, whatever their form; None where it has none.

    Args:
        store: of a ``Data``, or of one edge type.
        sources, targets: numbers of nodes at their ends.
        name: what they are called in messages.
    """
    given, matrix = (store.get(field) for field in EDGE_FIELDS)
    if given is None and matrix is None:
        return None
    if given is None and _kind(matrix) not in _MATRICES:
        raise SchemaError(f"The adj_t of '{name}' is a {_kind(matrix)}; give a sparse matrix, or edge_index")
    index, _ = entries(matrix if given is None else given, name)
    if index.dim() != 2 or index.size(0) != 2:
        raise SchemaError(f"The edges of '{name}' have shape {tuple(index.shape)}; give an edge_index of shape (2, E)")
    if index.is_floating_point() and index.numel():
        raise SchemaError(f"The edges of '{name}' are {index.dtype}; give whole numbers")
    found = index.detach().cpu().numpy().astype(np.int64, copy=False)
    if found.size and (found.min() < 0 or found[0].max() >= sources or found[1].max() >= targets):
        raise SchemaError(f"The edges of '{name}' name a node that does not exist; check edge_index against num_nodes")
    return found


def matrix_values(store: Any) -> Tensor | None:
    """(E,) the values of a matrix in either field of a store; None where no field has any."""
    given = (store.get(field) for field in EDGE_FIELDS)
    return next((found for each in given if each is not None and (found := _values(each)) is not None), None)


def entries(given: Any, name: str) -> tuple[Tensor, Tensor | None]:
    """(2, E) sources and targets of the edges that a field holds, and (E,) their values where it is a matrix with any.

    Args:
        given: the field.
        name: what its edges are called in messages.
    """
    kind = _kind(given)
    if kind == TENSOR:
        return given, None
    if kind.startswith(EDGE_INDEX):
        return given.as_tensor(), None
    if kind == SPARSE_TENSOR:
        row, column, values = given.coo()
        return torch.stack([column, row]), values
    if kind in _MAKERS:
        matrix = given.to_sparse_coo()
        return matrix._indices()[:2].flip(0), matrix._values()
    raise SchemaError(f"The edges of '{name}' are a {kind}; give an edge_index or a sparse adj_t of torch")


def _form(store: Any) -> EdgeForm | None:
    """The form of one store; None where it has no edges."""
    index, matrix = (store.get(field) for field in EDGE_FIELDS)
    if index is None and matrix is None:
        return None
    form = EdgeForm(None if index is None else _kind(index), None if matrix is None else _kind(matrix))
    values = _values(matrix if matrix is not None else index)
    return form if values is None else replace(form, values=str(values.dtype).removeprefix("torch."))


def _kind(given: Any) -> str:
    if isinstance(given, EdgeIndex):
        return EDGE_INDEX if given.sort_order is None else f"{EDGE_INDEX} {SortOrder(given.sort_order).value}"
    if isinstance(given, Tensor):
        layout = str(given.layout).removeprefix("torch.")
        return TENSOR if layout == "strided" else layout
    return SPARSE_TENSOR if callable(getattr(given, "coo", None)) else type(given).__name__


def _words(form: EdgeForm | None) -> str:
    fields = {} if form is None else {"edge_index": form.edge_index, "adj_t": form.adj_t}
    return " and ".join(f"{field} ({kind})" for field, kind in fields.items() if kind is not None)


def _values(given: Any) -> Tensor | None:
    """The values of a matrix; None for a SparseTensor without any, and for what is no matrix."""
    kind = _kind(given)
    if kind == SPARSE_TENSOR:
        return given.coo()[2]
    if kind not in _MAKERS:
        return None
    return given._values() if kind == "sparse_coo" else given.values()


# -- writing ------------------------------------------------------------------------------------------


def write_edges(
    store: Any,
    index: Tensor,
    sizes: tuple[int, int],
    form: EdgeForm,
    attributes: Mapping[str, Tensor],
) -> None:
    """Puts edges (2, E) into a store in the form that the schema remembers.

    Args:
        store: of a ``Data``, or of one edge type.
        index: sources and targets.
        sizes: numbers of nodes at their ends.
        form: the form.
        attributes: what else edges carry, one row each; they follow the order of the edges. Those by the name of the
            field itself are the values of its matrix; without them, a matrix that has values gets ones.
    """
    order: Tensor | None = None
    if form != EDGE_INDEX_TENSOR:
        order = _order(index, sizes, form.by_target)
        index = index[:, order]
    values = None if form.values is None else torch.ones(index.size(1), dtype=getattr(torch, form.values))
    given = next((attributes[field] for field in EDGE_FIELDS if field in attributes), None)
    if given is not None:
        values = given if order is None else given[order]
    for field, kind in zip(EDGE_FIELDS, (form.edge_index, form.adj_t), strict=True):
        if kind is not None:
            store[field] = _formed(index, sizes, kind, values)
    for name, each in attributes.items():
        if name not in EDGE_FIELDS:
            store[name] = each if order is None else each[order]


def formed_like(given: Any, index: Tensor, sizes: tuple[int, int], values: Tensor | None) -> tuple[Any, Tensor]:
    """Other edges in the form of a field that holds some, and (E,) the order in which they stand there.

    Args:
        given: the field.
        index: (2, E) sources and targets of the other edges; without a form that orders them, they stay in theirs.
        sizes: numbers of nodes at their ends.
        values: (E,) of a matrix that has any.
    """
    kind = _kind(given)
    free = kind in (TENSOR, EDGE_INDEX)
    order = torch.arange(index.size(1)) if free else _order(index, sizes, _by_target(kind))
    index, values = index[:, order], None if values is None else values[order]
    if kind == "sparse_coo" and values is not None and not given.is_coalesced():  # it may hold an edge several times
        return torch.sparse_coo_tensor(index.flip(0), values, (*sizes[::-1], *values.shape[1:])), order
    return _formed(index, sizes, kind, values), order


def _by_target(kind: str) -> bool:
    return kind not in (TENSOR, EDGE_INDEX, f"{EDGE_INDEX} row")


def _order(index: Tensor, sizes: tuple[int, int], by_target: bool) -> Tensor:
    """(E,) the order of edges (2, E) by their targets, then by their sources, or the other way round."""
    first, second = (1, 0) if by_target else (0, 1)
    return torch.argsort(index[first] * max(sizes[second], 1) + index[second], stable=True)


def _formed(index: Tensor, sizes: tuple[int, int], kind: str, values: Tensor | None) -> Any:
    if kind == TENSOR:
        return index
    if kind.startswith(EDGE_INDEX):
        return EdgeIndex(index, sparse_size=sizes, sort_order=kind.removeprefix(EDGE_INDEX).strip() or None)
    shape = sizes[::-1]
    if kind == SPARSE_TENSOR:
        return typing.SparseTensor(row=index[1], col=index[0], value=values, sparse_sizes=shape)
    return getattr(utils, _MAKERS[kind])(index.flip(0), values, size=shape)
