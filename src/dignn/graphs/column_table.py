"""A feature matrix with what was said of its columns: checked, and put together with what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.column_contents import Contents
from dignn.graphs.column_kinds import Said
from dignn.graphs.feature_matrix import FeatureForm
from dignn.graphs.feature_spec import Column, ColumnKind


class ColumnTable:
    """A matrix and what it holds.

    Args:
        x: the matrix (n, d), dense or sparse.
        node_type: the type, or the label of a relation, for messages.
        names: of the columns, for messages.
        form: what the matrix is outside.
        of_edges: whether the rows are of edges, for messages.

    Raises:
        SchemaError: a column has no value at all.
    """

    def __init__(
        self, x: Tensor, node_type: str, names: tuple[str, ...] | None, form: FeatureForm, *, of_edges: bool = False
    ) -> None:
        self.x = x.float() if x.layout is torch.strided else x
        self.type, self.names, self.form, self.width = node_type, names, form, x.size(1)
        self.of_edges = of_edges
        self.held = Contents.of(self.x) if len(x) else None
        if self.held is not None and bool((self.held.missing == self.held.rows).any()):
            number = int((self.held.missing == self.held.rows).nonzero()[0])
            raise SchemaError(f"{self.what(number)} has no value in any row; leave it out, or fill it in")

    @property
    def missing(self) -> bool:
        return self.held is not None and bool(self.held.missing.any())

    @property
    def owner(self) -> str:
        """``Node type 'paper' is``, or ``The edges 'author -writes- paper' are``; the begin of a sentence."""
        return f"The edges '{self.type}' are" if self.of_edges else f"Node type '{self.type}' is"

    @property
    def matrix(self) -> str:
        """What its owner calls it."""
        return "their table" if self.of_edges else "x"

    def what(self, number: int) -> str:
        """``Column 'price' of 'paper'``."""
        return f"Column '{self.names[number] if self.names else number}' of '{self.type}'"

    def values(self, number: int) -> Tensor:
        """The values of a column that are there.  (m,)"""
        column = self.x.index_select(1, torch.tensor([number]))
        found = (column if column.layout is torch.strided else column.to_dense())[:, 0]
        return found[~found.isnan()]


def columns_of(
    table: ColumnTable, kinds: Sequence[ColumnKind], said: Mapping[int, Said], groups: Sequence[Sequence[int]]
) -> tuple[Column, ...]:
    """What each column holds."""
    check_said(table, said)
    number_of = {column: number for number, group in enumerate(groups) for column in group}
    labels = _group_labels(said)
    names = list(dict.fromkeys(labels.values()))
    place = {name: len(groups) + number for number, name in enumerate(names)}
    number_of |= {column: place[label] for column, label in labels.items()}
    for name in names:
        _check_group(table, [column for column, label in labels.items() if label == name])
    return tuple(
        _column(table, number, kind, said.get(number), number_of.get(number)) for number, kind in enumerate(kinds)
    )


def _column(table: ColumnTable, number: int, kind: ColumnKind, said: Said | None, group: int | None) -> Column:
    held = table.held
    top = 0 if held is None else int(held.greatest[number]) if kind in (ColumnKind.COUNT, ColumnKind.CATEGORICAL) else 0
    missing = (held is not None and bool(held.missing[number])) or (said is not None and said.missing)
    if kind in (ColumnKind.COUNT, ColumnKind.CATEGORICAL):
        levels = top + 1 if said is None or said.levels is None else said.levels
        if levels <= top:
            raise SchemaError(f"{table.what(number)} holds {top}, but has {levels} levels; say levels={top + 1}")
        return Column(kind, levels=levels, missing=missing)
    if kind is ColumnKind.CONSTANT:
        return Column(kind, constant=0.0 if held is None else float(held.least[number]))
    if kind is ColumnKind.ONE_HOT:
        return Column(kind, group=group)
    if kind is ColumnKind.DATE and said is not None:
        return Column(kind, missing=missing, unit=said.unit, epoch=said.epoch)
    return Column(kind, missing=missing)


def check_said(table: ColumnTable, said: Mapping[int, Said]) -> None:
    """Raises where a column holds what its kind does not allow."""
    held = table.held
    if held is None:
        return
    for number, about in said.items():
        values, kind = table.values(number), about.kind
        if kind is ColumnKind.CONSTANT:
            bad = values[values != values[0]]
            if bool(held.missing[number]):
                bad = values[:1]
        elif kind in (ColumnKind.BINARY, ColumnKind.ONE_HOT):
            bad = values[(values != 0) & (values != 1)]
        elif kind in (ColumnKind.CONTINUOUS, ColumnKind.DATE):
            continue
        else:
            bad = values[(values < 0) | (values != values.round())]
        if len(bad):
            also = f" beside {float(values[0]):g}" if kind is ColumnKind.CONSTANT and len(values) > 1 else ""
            raise SchemaError(
                f"{table.what(number)} is said to be {kind.value}, but holds {float(bad[0]):g}{also}; "
                "say another kind, or leave it out"
            )


def _group_labels(said: Mapping[int, Said]) -> dict[int, str]:
    """The group of each column that was said to be one-hot; those without a name are one group per run."""
    found: dict[int, str] = {}
    for number in sorted(said):
        if said[number].kind is ColumnKind.ONE_HOT:
            run = found.get(number - 1, "") if not said[number].group else ""
            found[number] = said[number].group or (run if run.startswith("\0") else f"\0{number}")
    return found


def _check_group(table: ColumnTable, group: Sequence[int]) -> None:
    """Raises where a row does not have a single 1 in the columns of a group."""
    if table.held is None:
        return
    part = table.x.index_select(1, torch.tensor(list(group)))
    ones = (part if part.layout is torch.strided else part.to_dense()).sum(1)
    bad = (ones != 1).nonzero()[:, 0]
    if len(bad):
        first, last = table.what(group[0]), group[-1]
        found = float(ones[bad[0]])
        many = "missing values" if found != found else f"{found:.0f} of them"
        raise SchemaError(
            f"{first} and those with it, up to column {last}, are said to be one-hot, but row {int(bad[0])} has "
            f"{many}; say 'binary', or mend the rows"
        )
