"""Feature tables of several batches as one."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dignn.core.errors import SchemaError


def join_tables(name: str, tables: Sequence[Tensor | None], rows: Sequence[Tensor], places: Sequence[Tensor]) -> Tensor:
    """One table of those that batches have of a node type or a relation; equal ones are shared.

    Args:
        name: the type or relation, for messages.
        tables: of each batch; None where it has none.
        rows: numbers of rows of each batch; those at its places are moved to the joined table, in place.
        places: bool, of the shape of the rows: where they are of this table.

    Raises:
        SchemaError: a batch has such places and no table.
    """
    pieces: list[Tensor] = []
    starts: dict[int, int] = {}  # identity of a table -> its first row in the joined one
    for table, row, here in zip(tables, rows, places, strict=True):
        if table is None:
            if bool(here.any()):
                raise SchemaError(f"Some batches have features of '{name}' and some have none; fill all or none")
            continue
        if id(table) not in starts:
            starts[id(table)] = sum(len(piece) for piece in pieces)
            pieces.append(table)
        row[here] += starts[id(table)]
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces)
