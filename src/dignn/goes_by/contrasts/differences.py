"""What is different between two graphs with the same positions, as edits of which any may be undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.goes_by.contrasts.graph_edits import Edit, EditKind
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.edge_tables import NO_ROW, edge_values, own_cells, with_rows
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

_NEVER = -1  # the edit of what is the same in both graphs


class Differences:
    """The edits that lead from one graph to another.

    Args:
        before, after: batches of one graph, with as many positions. What is at a position in both is one node.

    Attributes:
        edits: all of them: nodes first, then edges, columns of nodes, columns of edges.

    Raises:
        DignnError: a node changes its type.
    """

    def __init__(self, before: GraphBatch, after: GraphBatch) -> None:
        self.before, self.after = before, after
        self.edits: list[Edit] = []
        was, now = before.node_type[0], after.node_type[0]
        if was.shape != now.shape or bool(((was != now) & (was >= 0) & (now >= 0)).any()):
            raise DignnError("The graphs have other nodes at the same positions; give a graph and an edited copy of it")
        self._node = torch.full_like(was, _NEVER)
        self._pair = torch.full_like(before.edge[0], _NEVER)
        self._columns: dict[int, Tensor] = {}  # by node, (d,) the edit of each column
        self._cells: dict[str, Tensor] = {}  # by relation, (N, N, d) the edit of each column of each cell
        self._values: dict[str, tuple[Tensor, Tensor]] = {}  # by relation, (N, N, d) before and after
        self._find_nodes()
        self._find_edges()
        for v in ((was >= 0) & (now >= 0)).nonzero()[:, 0].tolist():
            self._find_columns(v)
        for label in before.schema.generated_edges:
            self._find_edge_columns(label)

    def __len__(self) -> int:
        return len(self.edits)

    @property
    def by_part(self) -> list[list[int]]:
        """Numbers of the edits, together where they are columns of one node or edge."""
        parts: dict[tuple[object, ...], list[int]] = {}
        for number, edit in enumerate(self.edits):
            together = edit.kind in (EditKind.COLUMN, EditKind.ROW)
            key = (edit.node, edit.other, edit.relation) if together else (number,)
            parts.setdefault(key, []).append(number)
        return list(parts.values())

    def apply(self, done: Tensor) -> GraphBatch:
        """The graph before with some of the edits.

        Args:
            done: (K, edits) bool, which of them each of K graphs has.
        """
        before, after, count = self.before, self.after, len(done)
        node_type = torch.where(_bits(done, self._node), after.node_type, before.node_type)
        there = node_type >= 0
        edge = torch.where(_bits(done, self._pair), after.edge, before.edge)
        edge = edge * (there[:, :, None] & there[:, None, :])
        row = torch.where(there, torch.where(before.mask, before.row, after.row), PADDING)
        batch = GraphBatch(
            schema=before.schema,
            node_type=node_type,
            edge=edge,
            label=before.label.expand(count, -1).masked_fill(~there, PADDING),
            graph_label=before.graph_label.expand(count),
            row=row,
        )
        return self._with_edge_rows(self._with_rows(batch, done), done)

    # -- finding --------------------------------------------------------------------------------------

    def _add(self, edit: Edit) -> int:
        self.edits.append(edit)
        return len(self.edits) - 1

    def _find_nodes(self) -> None:
        was, now = self.before.mask[0], self.after.mask[0]
        for v in (was & ~now).nonzero()[:, 0].tolist():
            self._node[v] = self._add(Edit(EditKind.NODE_REMOVED, v))
        joined = self.after.undirected[0]
        for v in (now & ~was).nonzero()[:, 0].tolist():
            near = joined[v].nonzero()[:, 0].tolist()
            # it hangs on a node that was there, or on one that was added before it
            anchor = min((u for u in near if bool(was[u]) or u < v), key=lambda u: (not bool(was[u]), u), default=None)
            relation = None if anchor is None else self._relation(self.after, v, anchor)
            self._node[v] = self._add(Edit(EditKind.NODE_ADDED, v, anchor, relation))
            if anchor is not None:
                self._pair[v, anchor] = self._pair[anchor, v] = self._node[v]

    def _find_edges(self) -> None:
        was, now = self.before.edge[0], self.after.edge[0]
        stays = self.after.mask[0]
        changed = ((was != now) | (was != now).T) & stays[:, None] & stays[None, :] & (self._pair == _NEVER)
        for u, v in changed.triu(1).nonzero().tolist():
            new = bool(now[u, v] or now[v, u])
            graph = self.after if new else self.before
            source, target = _ends(graph, u, v)
            kind = EditKind.EDGE_ADDED if new else EditKind.EDGE_REMOVED
            number = self._add(Edit(kind, source, target, self._relation(graph, u, v)))
            self._pair[u, v] = self._pair[v, u] = number

    def _find_columns(self, v: int) -> None:
        name = self.before.schema.node_types[int(self.before.node_type[0, v])]
        if name not in self.before.tables or name not in self.after.tables:
            return
        old, new = _row(self.before, name, v), _row(self.after, name, v)
        spec = self.before.schema.spec(name)
        found = torch.full((spec.width,), _NEVER)
        for columns, told in _changes(old, new, spec):
            kind = EditKind.ROW if spec.kind is FeatureKind.IDENTITY else EditKind.COLUMN
            found[columns] = self._add(Edit(kind, v, None, None, *told))
        if bool((found != _NEVER).any()):
            self._columns[v] = found

    def _find_edge_columns(self, label: str) -> None:
        features = self.before.schema.generated_edges[label]
        if label not in self.before.edge_tables and label not in self.after.edge_tables:
            return
        old, new = (_dense(graph, label) for graph in (self.before, self.after))
        self._values[label], cells = (old, new), torch.full(old.shape, _NEVER)
        in_both = (self.before.edge[0] == features.relation) & (self.after.edge[0] == features.relation)
        _, source, target = own_cells(self.before, self.before.node_type, label)
        for u, v in zip(source.tolist(), target.tolist(), strict=True):
            for columns, told in _changes(old[u, v], new[u, v], features.spec) if bool(in_both[u, v]) else ():
                cells[u, v, columns] = self._add(Edit(EditKind.COLUMN, u, v, label, *told))
        self._cells[label] = cells

    def _relation(self, graph: GraphBatch, u: int, v: int) -> str:
        code = int(graph.edge[0, u, v]) or int(graph.edge[0, v, u])
        return graph.schema.relations[code - 1].label

    # -- applying -------------------------------------------------------------------------------------

    def _with_rows(self, batch: GraphBatch, done: Tensor) -> GraphBatch:
        """With rows of nodes: as before, where columns are edited a row for each way in which they are."""
        row, tables = batch.row.clone(), {}
        for name in dict.fromkeys([*self.before.tables, *self.after.tables]):
            pieces: list[Tensor] = []
            size = 0
            for v in range(row.size(1)):
                here = batch.node_type[:, v] == batch.schema.type_index(name)
                if not bool(here.any()):
                    continue
                rows, place = self._rows_of(name, v, done)
                row[here, v] = size + place[here]
                pieces.append(rows)
                size += len(rows)
            if pieces:
                tables[name] = torch.cat(pieces)
        return replace(batch, row=row, tables=tables)

    def _rows_of(self, name: str, v: int, done: Tensor) -> tuple[Tensor, Tensor]:
        """The different rows (n, d) of a node, and which of them each graph has (K,)."""
        first = self.before if bool(self.before.mask[0, v]) else self.after
        old = _row(first, name, v)
        if v not in self._columns:
            return old[None], torch.zeros(len(done), dtype=torch.long)
        own = self._columns[v]
        used = own[own != _NEVER].unique()
        patterns, place = torch.unique(done[:, used], dim=0, return_inverse=True)
        some = torch.zeros(len(patterns), done.size(1), dtype=torch.bool)
        some[:, used] = patterns
        return torch.where(_bits(some, own), _row(self.after, name, v), old), place

    def _with_edge_rows(self, batch: GraphBatch, done: Tensor) -> GraphBatch:
        for label, (old, new) in self._values.items():
            cells = graph, u, v = own_cells(batch, batch.node_type, label)
            added = self.before.edge[0, u, v] != self.before.schema.generated_edges[label].relation
            change = _bits(done, self._cells[label])[graph, u, v] | added[:, None]
            rows = torch.where(change, new[u, v], old[u, v])
            batch = with_rows(batch, label, cells, torch.arange(len(rows)), rows)
        return batch


def _bits(done: Tensor, number: Tensor) -> Tensor:
    """(K, ...) whether each graph has the edit of each place (...,); of places without one False."""
    never = torch.zeros(len(done), 1, dtype=torch.bool)
    return torch.cat([done, never], dim=1)[:, number]  # the last column is that of -1


def _row(graph: GraphBatch, name: str, v: int) -> Tensor:
    return graph.tables[name][graph.row[0, v]]


def _dense(graph: GraphBatch, label: str) -> Tensor:
    """(N, N, d) what the edges of a relation carry, at the cells that have a row of their own."""
    size, width = graph.node_type.size(1), graph.schema.generated_edges[label].spec.width
    found = torch.zeros(size, size, width)
    cells = own_cells(graph, graph.node_type, label)
    if label in graph.edge_tables:
        assert graph.edge_row is not None
        there = graph.edge_row[cells] != NO_ROW
        some = cells[0][there], cells[1][there], cells[2][there]
        found[some[1], some[2]] = edge_values(graph, label, some).float()
    return found


def _ends(graph: GraphBatch, u: int, v: int) -> tuple[int, int]:
    """Source and target of an edge as its relation is named; between nodes of one type, where it goes both ways, u."""
    code = int(graph.edge[0, u, v]) or int(graph.edge[0, v, u])
    relation = graph.schema.relations[code - 1]
    if relation.source == relation.target:
        return (u, v) if int(graph.edge[0, u, v]) else (v, u)
    source = graph.schema.type_index(relation.source)
    return (u, v) if int(graph.node_type[0, u]) == source else (v, u)


def _changes(
    old: Tensor, new: Tensor, spec: FeatureSpec
) -> Iterator[tuple[list[int], tuple[int | None, float | None, float | None]]]:
    """The columns of two rows (d,) that differ, those of a category together: which, and (column, before, after)."""
    differs = (old != new) & ~(old.isnan() & new.isnan())
    if spec.kind is FeatureKind.IDENTITY:
        if bool(differs.any()):
            yield list(range(spec.width)), (None, _set(old), _set(new))
        return
    grouped = {column: list(group) for group in spec.groups for column in group}
    for column in differs.nonzero()[:, 0].tolist():
        group = grouped.get(column)
        if group is None:
            yield [column], (column, float(old[column]), float(new[column]))
        elif column == next(each for each in group if bool(differs[each])):
            yield group, (group[0], _set(old, group), _set(new, group))


def _set(row: Tensor, columns: list[int] | None = None) -> float | None:
    """The number of the column that is set, of these; None where none is."""
    columns = list(range(len(row))) if columns is None else columns
    return next((float(column) for column in columns if float(row[column]) > 0), None)
