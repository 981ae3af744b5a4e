"""What the features of an edge go by: the classes around its two ends, and the features of these."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dignn.features.base import LEAST_ROWS
from dignn.features.conditions import DataConditions, class_of_condition, condition_batch
from dignn.features.end_columns import end_columns
from dignn.features.table import Table
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.edge_tables import Cells, own_cells
from dignn.graphs.schema import Schema

# Edges of a relation that are learned from at most, and numbers in what is known of their ends: bounds memory and time,
# however large the data is.
MOST_EDGES, MOST_NUMBERS = 20_000, 2**24


def training_edges(
    data: Adjacency,
    learned: np.ndarray,
    graphs: GraphBatch | None,
    around: DataConditions,
    label: str,
    *,
    blind: bool = False,
) -> Table | None:
    """What there is to learn from for the edges of a relation; None without any edge.

    Edges between learned nodes, or any where there is no such edge.

    Args:
        data: the data.
        learned: (n,) which nodes may be learned from.
        graphs: subgraphs, in which rows count as often as they stand there, with the class around their ends there; by
            default each edge of the data counts once.
        around: conditions of nodes in the data.
        label: of the relation.
        blind: whether edges do not know of the classes around their ends.
    """
    schema = data.schema
    features = schema.generated_edges[label]
    if graphs is None:
        ends = data.edge_ends(label)
        row = torch.arange(len(ends[0]))
        one, other = (torch.from_numpy(end) for end in ends)
        known = torch.from_numpy(learned)[one] & torch.from_numpy(learned)[other]
        classes = [around.of(end) for end in ends]
        rows_of_ends = [torch.from_numpy(data.row[end]) for end in ends]
        tables = data.tables
    else:
        cells = own_cells(graphs, graphs.node_type, label)
        if graphs.edge_row is None or not len(cells[0]):
            return None
        row, tables = graphs.edge_row[cells], graphs.tables
        rows_of_ends = [graphs.row[cells[0], end] for end in cells[1:]]
        known = torch.ones(len(row), dtype=torch.bool)
        for kind, rows in zip(schema.ends(features.relation), rows_of_ends, strict=True):
            known &= _learned_rows(data, learned, kind)[rows]
        seen = condition_batch(graphs)
        classes = [seen[cells[0], end] for end in cells[1:]]
    if not len(row):
        return None
    condition = (classes[0] + classes[1]) / 2
    chosen = known.nonzero()[:, 0] if bool(known.any()) else torch.arange(len(row))
    distinct, place = torch.unique(row[chosen], return_inverse=True)
    weight = torch.bincount(place, minlength=len(distinct)).float()
    total = torch.zeros(len(distinct), condition.size(1)).index_add_(0, place, condition[chosen])
    first = torch.empty(len(distinct), dtype=torch.long)
    first[place.flip(0)] = chosen.flip(0)  # the first edge that has the row

    def known_of(some: Tensor) -> Tensor:
        own = None if blind else [each[some] for each in classes]
        return _context(schema, label, tables, [rows[some] for rows in rows_of_ends], own)

    width = known_of(torch.tensor([0])).size(1)
    some = torch.tensor(spread(len(distinct), min(MOST_EDGES, MOST_NUMBERS // max(1, width))))
    condition = total[some] / weight[some, None]
    # As for nodes: a class that few have far away is no class.
    far = torch.arange(condition.size(1)) >= schema.num_classes
    condition[:, far & (condition.sum(0) < LEAST_ROWS)] = 0.0
    context = known_of(first[some])
    condition = condition[:, :0] if blind else condition
    return Table.of(data.edge_tables[label][distinct[some]], condition, features.spec, weight[some], context=context)


def condition_of_edges(around: Tensor, cells: Cells) -> Tensor:
    """(e, 2 C) the class around edges of a batch: the mean of that around their ends (B, N, 2 C)."""
    graph, source, target = cells
    return (around[graph, source] + around[graph, target]) / 2


def context_of_edges(batch: GraphBatch, label: str, cells: Cells, around: Tensor | None) -> Tensor:
    """(e, k) what edges of a batch go by: of both ends the class around them and their features in numbers.

    ``around`` (B, N, 2 C) tells the classes, if any count; NaN where a quantity is missing.

    Those of the source, then those of the target; where the two directions of an edge inside one type share a row,
    their sum and their difference without a sign, which do not depend on which end comes first.
    """
    graph, source, target = cells
    classes = None if around is None else [around[graph, end] for end in (source, target)]
    return _context(batch.schema, label, batch.tables, [batch.row[graph, end] for end in (source, target)], classes)


def _context(
    schema: Schema, label: str, tables: dict[str, Tensor], rows: list[Tensor], classes: list[Tensor] | None
) -> Tensor:
    """Of edges whose ends have these rows (e,) of their types' tables, and these classes (e, 2 C) around them."""
    features = schema.edge_features_by_label[label]
    names = [schema.node_types[kind] for kind in schema.ends(features.relation)]
    ends = [
        end_columns(tables[name][row], schema.spec(name)) if name in tables else torch.empty(len(row), 0)
        for name, row in zip(names, rows, strict=True)
    ]
    if classes is not None:
        ends = [torch.cat([class_of_condition(of), own], dim=1) for of, own in zip(classes, ends, strict=True)]
    if schema.relations[features.relation - 1].symmetric and features.shared:
        ends = [ends[0] + ends[1], (ends[0] - ends[1]).abs()]
    return torch.cat(ends, dim=1)


def _learned_rows(data: Adjacency, learned: np.ndarray, kind: int) -> Tensor:
    """(rows of a node type,) which of its nodes may be learned from."""
    own = data.node_type == kind
    found = torch.zeros(int(data.row[own].max(initial=-1)) + 1, dtype=torch.bool)
    found[torch.from_numpy(data.row[own & learned])] = True
    return found
