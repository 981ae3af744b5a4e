"""Whole numbers that a model looks up, as ids and codes are, must not be generated as quantities."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from dignn.core.errors import ModelMismatchError
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import table_in
from dignn.graphs.feature_inference import MAX_COUNT
from dignn.graphs.feature_spec import ColumnKind
from dignn.model.adapter import GNNAdapter

# Columns of a type that are tried: ids are few, and each costs two questions.
_MOST = 16


def refuse_lookups(adapter: GNNAdapter, batch: GraphBatch) -> None:
    """Tries whether the model takes a continuous column of whole numbers for numbers.

    Args:
        adapter: asks the model.
        batch: some real graphs.

    Raises:
        ModelMismatchError: fractions of a column change nothing, though whole steps do.
    """
    batch = GraphBatch.unpacked(batch.schema, batch.packed())  # tables of their own rows, which are few
    known = adapter.score(batch).logits
    for name, table in (batch.tables | batch.edge_tables).items():
        spec = batch.schema.table_spec(name)
        numbers = [column for column in spec.of_kind(ColumnKind.CONTINUOUS) if _may_be_fractions(batch, name, column)]
        if not numbers or not len(table):
            continue
        there = table.nan_to_num(0.0)
        whole = (there == there.round()).all(0) & (there.amax(0) > MAX_COUNT)
        for column in [column for column in numbers if bool(whole[column])][:_MOST]:
            fractions, steps = (_answers_stay(adapter, batch, name, column, step, known) for step in (0.25, -1))
            if fractions and not steps:
                raise ModelMismatchError(
                    f"{spec.column_name(column).capitalize()} of '{name}' holds whole numbers up to "
                    f"{float(there[:, column].max()):g} that the model looks up, so they are no quantities; say "
                    f"kinds={{'{name}': {{{column}: 'categorical'}}}} in infer_schema, or leave the column out"
                )


def _may_be_fractions(batch: GraphBatch, name: str, column: int) -> bool:
    """Whether the model gets a column as floating-point numbers; fields of edges have a dtype each."""
    features = batch.schema.edge_features_by_label.get(name)
    if features is None or name in batch.tables:
        return True
    dtypes = [field.dtype for field in features.fields for _ in range(field.width)]
    return "float" in dtypes[column]


def _answers_stay(adapter: GNNAdapter, batch: GraphBatch, name: str, column: int, step: float, known: Tensor) -> bool:
    """Whether the model answers as before when a column is moved; a failure is another answer."""
    moved = table_in(batch, name).clone()
    moved[:, column] = (moved[:, column] + step).abs()
    if name in batch.tables:
        changed = replace(batch, tables={**batch.tables, name: moved})
    else:
        changed = replace(batch, edge_tables={**batch.edge_tables, name: moved})
    try:
        found = adapter.score(changed).logits
    except ModelMismatchError:
        return False
    return torch.equal(found, known)
