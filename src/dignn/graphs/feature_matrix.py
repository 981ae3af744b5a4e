"""Feature matrices as users keep them: of any dtype, dense or sparse, and what they hold.

Inside, features are float32, which holds whole numbers up to 2^24. Sparse matrices stay sparse, unless a table that is
made of them is small (:mod:`dignn.graphs.sparse_rows`). NaN is a missing value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.feature_spec import DTYPES, LAYOUTS, FeatureSpec

# Whole numbers up to this are numbers of float32, too.
EXACT = 2**24
# Numbers of a matrix that are looked at together: bounds memory.
CELLS = 2**22


@dataclass(frozen=True)
class FeatureForm:
    """What a feature matrix is outside, as :class:`~dignn.graphs.schema.FeatureSpec` remembers it."""

    dtype: str = "float32"
    layout: str = "strided"
    vector: bool = False

    @classmethod
    def of(cls, x: Tensor) -> FeatureForm:
        dtype, layout = (str(value).removeprefix("torch.") for value in (x.dtype, x.layout))
        return cls(dtype, layout, vector=x.dim() == 1)

    @classmethod
    def common(cls, forms: Sequence[FeatureForm]) -> FeatureForm:
        """What PyTorch Geometric's collation makes of several: the dtype that holds all."""
        if len(set(forms)) <= 1:
            return forms[0] if forms else cls()
        dtype = getattr(torch, forms[0].dtype)
        for form in forms[1:]:
            dtype = torch.promote_types(dtype, getattr(torch, form.dtype))
        layouts = {form.layout for form in forms}
        return cls(
            str(dtype).removeprefix("torch."),
            layouts.pop() if len(layouts) == 1 else "strided",
            all(form.vector for form in forms),
        )

    @property
    def integer(self) -> bool:
        return "int" in self.dtype


def read_matrix(x: Tensor | None, count: int, name: str) -> tuple[Tensor | None, FeatureForm]:
    """The features (n, d) of a node type as float32, sparse (coalesced COO) where they are, and their form.

    Raises:
        SchemaError: they are no such matrix, or float32 cannot hold them.
    """
    if x is None:
        return None, FeatureForm()
    if not isinstance(x, Tensor):
        raise SchemaError(f"The features of type '{name}' are a {type(x).__name__}; give a tensor")
    form = FeatureForm.of(x)
    if form.dtype not in DTYPES or form.layout not in LAYOUTS:
        raise SchemaError(f"The features of type '{name}' are {form.layout} {form.dtype}; give real numbers")
    shape = (*x.shape, 1) if x.dim() == 1 else tuple(x.shape)
    if len(shape) != 2 or shape[0] != count:
        raise SchemaError(
            f"The features of type '{name}' have shape {tuple(x.shape)}; give one row for each of {count} nodes"
        )
    x = x.detach().cpu()
    x = x.clone() if x.is_inference() else x  # nobody could learn from those
    if form.layout == "strided":
        found = values = _exact(x, name).reshape(shape)
    else:
        entries = (x.unsqueeze(1) if form.vector else x).to_sparse_coo()
        values = _exact(entries._values(), name)
        found = torch.sparse_coo_tensor(
            entries._indices(), values, shape, check_invariants=False, is_coalesced=entries.is_coalesced()
        ).coalesce()
    if any(bool(some.isinf().any()) for some in values.reshape(-1).split(CELLS)):
        columns = (
            found.isinf().nonzero()[:, 1] if form.layout == "strided" else found.indices()[1, found.values().isinf()]
        )
        column = int(columns.min())
        raise SchemaError(
            f"The features of type '{name}' hold infinity (first in column {column}); give numbers, or NaN where a "
            "value is missing"
        )
    return found, form


def _exact(values: Tensor, name: str) -> Tensor:
    """As float32; whole numbers that it cannot hold are refused."""
    if values.dtype.is_floating_point or values.dtype == torch.bool or not values.numel():
        return values.to(torch.float32)
    largest = max(int(values.long().max()), -int(values.long().min()))
    if largest > EXACT:
        raise SchemaError(
            f"The features of type '{name}' hold the whole number {largest}, and above {EXACT} ids would be mixed up; "
            "renumber ids from 0, count dates from another epoch or in a coarser unit, or give quantities as "
            "floating-point numbers"
        )
    return values.to(torch.float32)


def dense(x: Tensor) -> Tensor:
    """The matrix (n, d) with all its zeros."""
    return x if x.layout is torch.strided else x.to_dense()


def stacked(matrices: Sequence[Tensor]) -> Tensor:
    """All rows of matrices of one width, sparse where all are."""
    if len(matrices) == 1:
        return matrices[0]
    if any(matrix.layout is torch.strided for matrix in matrices):
        return torch.cat([dense(matrix) for matrix in matrices])
    return torch.cat(list(matrices)).coalesce()


def of_dtype(rows: Tensor, dtype: str) -> Tensor:
    """Rows in a dtype as torch names it; for one of whole numbers they are rounded."""
    wanted = getattr(torch, dtype)
    return (rows if wanted.is_floating_point else rows.round()).to(wanted)


def as_given(rows: Tensor, spec: FeatureSpec) -> Tensor:
    """Feature rows (n, d) as the user's own ``x``: its dtype and layout; whole numbers are rounded."""
    found = of_dtype(rows, spec.dtype)
    if spec.vector:
        found = found[:, 0]
    return found if spec.layout == "strided" else found.to_sparse(layout=getattr(torch, spec.layout))
