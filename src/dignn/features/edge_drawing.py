"""Draws the rows of edges in graphs whose nodes have features."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from dignn.core.errors import NotNumbersError
from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.features.ends import MOST_NUMBERS, condition_of_edges, context_of_edges
from dignn.graphs.batch import GraphBatch
from dignn.graphs.column_checks import missing_where_it_may_not
from dignn.graphs.edge_tables import Cells, edge_values, own_cells, with_rows
from dignn.graphs.feature_spec import FeatureSpec


class Generate(Protocol):
    """Rows of the edges of a relation for conditions (m, 2 C) and what is known of their ends (m, k)."""

    def __call__(
        self, name: str, condition: Tensor, seed: Seed, tick: Tick = ..., context: Tensor | None = None
    ) -> Tensor: ...


def draw_edges(
    batch: GraphBatch, label: str, nodes: Tensor, around: Tensor, generate: Generate, seed: Seed, *, blind: bool = False
) -> GraphBatch:
    """The same graphs with generated rows for the edges of a relation that marked nodes have; others keep theirs.

    Args:
        batch: graphs with features of nodes.
        label: of the relation.
        nodes: (B, N) bool, whose edges are drawn; edges without a row are drawn in any case.
        around: (B, N, 2 C) the class around nodes.
        generate: draws rows.
        seed: of what is drawn.
        blind: whether edges do not know of the classes around their ends.
    """
    cells = own_cells(batch, batch.node_type, label)
    graph, source, target = cells
    spec = batch.schema.edge_features_by_label[label].spec
    table = torch.empty(0, spec.width)
    if not len(graph):
        return with_rows(batch, label, cells, torch.empty(0, dtype=torch.long), table)
    marked = nodes[graph, source] | nodes[graph, target]
    if label in batch.edge_tables:
        table = edge_values(batch, label, cells)
    else:
        marked, table = torch.ones_like(marked), table.new_empty(len(graph), table.size(1))
    chosen = marked.nonzero()[:, 0]
    if len(chosen):
        some = graph[chosen], source[chosen], target[chosen]
        table[chosen] = _drawn(batch, label, some, around, generate, seed, blind)
        check_numbers(table, label, spec)
    return with_rows(batch, label, cells, torch.arange(len(graph)), table)


def _drawn(
    batch: GraphBatch, label: str, cells: Cells, around: Tensor, generate: Generate, seed: Seed, blind: bool
) -> Tensor:
    """(e, d) new rows, some at a time where much is known of their ends."""
    told = None if blind else around
    width = context_of_edges(batch, label, (cells[0][:1], cells[1][:1], cells[2][:1]), told).size(1)
    step = max(1, MOST_NUMBERS // max(1, width))
    pieces = []
    for start in range(0, len(cells[0]), step):
        some = cells[0][start : start + step], cells[1][start : start + step], cells[2][start : start + step]
        own = seed.child("edges", start)
        context = context_of_edges(batch, label, some, told)
        pieces.append(generate(label, condition_of_edges(around, some), own, context=context))
    return torch.cat(pieces)


def check_numbers(rows: Tensor, name: str, spec: FeatureSpec) -> None:
    """Raises where generated rows hold something else, or miss values that are never missing."""
    if bool(rows.isinf().any()) or missing_where_it_may_not(rows, spec) is not None:
        raise NotNumbersError(f"Generated features of '{name}' are no numbers; scale its columns, and learn again")
