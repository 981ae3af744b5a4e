"""What is different in a graph: single edits, as far as they can be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class EditKind(str, Enum):
    """What an edit changes."""

    COLUMN = "column"  # one column of a node or of an edge, or one category that has a column for each value
    ROW = "row"  # a node of an identity type becomes another member
    EDGE_REMOVED = "edge removed"
    EDGE_ADDED = "edge added"  # in place of one that was there, too
    NODE_REMOVED = "node removed"  # with its edges
    NODE_ADDED = "node added"  # with its features and one edge


@dataclass(frozen=True)
class Edit:
    """One edit of a graph.

    Args:
        kind: what it changes.
        node: position of the node; of an edge its source.
        other: the other end of an edge; of a node that is added the one that it is joined to.
        relation: label of the relation of the edge.
        column: of a column edit the column, of a category with a column for each value the first of these.
        before, after: values of the column; of a row the number of the member, of a category with a column for each
            value the column that is set. None where nothing is set.
    """

    kind: EditKind
    node: int
    other: int | None = None
    relation: str | None = None
    column: int | None = None
    before: float | None = None
    after: float | None = None
