"""Edits in words: names from the schema, nodes by where they are."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from dignn.goes_by.contrasts.edit_words import edit_words
from dignn.goes_by.contrasts.graph_edits import Edit, EditKind
from dignn.graphs.batch import GraphBatch
from dignn.graphs.editing import with_edges, with_nodes, with_room
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation
from goes_by.library import CITES, WRITES, library, weighted
from strategies import batch_of, plain_schema

NAN = float("nan")


def grown() -> tuple[GraphBatch, GraphBatch]:
    """The library with room, and with a paper (position 5) that paper 2 cites."""
    before = with_room(library(), 6)
    after = with_nodes(before, torch.tensor([5]), torch.tensor([1]))
    return before, with_edges(after, torch.tensor([2]), torch.tensor([5]), torch.tensor([3]))


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (Edit(EditKind.COLUMN, 0, column=1, before=0.0, after=1.0), "“index” of the author is set"),
        (Edit(EditKind.COLUMN, 0, column=0, before=1.0, after=0.0), "“query” of the author is cleared"),
        (Edit(EditKind.COLUMN, 1, column=0, before=4.0, after=2.5), "“price” of a paper next to it goes from 4 to 2.5"),
        (
            Edit(EditKind.COLUMN, 3, column=0, before=NAN, after=2.0),
            "“price” of a paper next to it goes from missing to 2",
        ),
        (Edit(EditKind.ROW, 4, before=0.0, after=1.0), "a venue two steps away is “VLDB” instead of “KDD”"),
        (
            Edit(EditKind.EDGE_REMOVED, 0, 2, WRITES),
            "the author loses its edge (writes) to a paper next to it",
        ),
        (
            Edit(EditKind.EDGE_ADDED, 2, 3, CITES),
            "a paper next to it gets an edge (cites) to another paper next to it",
        ),
        (
            Edit(EditKind.EDGE_ADDED, 2, 1, CITES),
            "the edge (cites) between a paper next to it and another paper next to it is turned round",
        ),
        (
            Edit(EditKind.EDGE_ADDED, 0, 3, WRITES),
            "the edge between the author and a paper next to it becomes another (writes)",
        ),
        (Edit(EditKind.NODE_REMOVED, 4), "a venue “KDD” two steps away is taken away"),
        (Edit(EditKind.NODE_ADDED, 5, 2, CITES), "a paper is added and joined to a paper next to it (cites)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_edit_is_told(edit: Edit, words: str) -> None:
    assert edit_words(edit, *grown(), 0) == words


def test_of_a_whole_graph_nodes_are_told_by_their_types() -> None:
    schema = plain_schema((Relation("C", "to", "N", "to"),), node_types=("C", "N"))
    graph = batch_of(schema, [0, 1], {(0, 1): 1})
    label = schema.relations[0].label
    assert edit_words(Edit(EditKind.EDGE_REMOVED, 0, 1, label), graph, graph, None) == (
        "a C node loses its edge to an N node"
    )


def test_a_category_with_a_column_for_each_value_is_told_by_names() -> None:
    values = tuple(Column(ColumnKind.ONE_HOT, group=0) for _ in range(2))
    schema = plain_schema(features=(FeatureSpec(FeatureKind.MIXED, 2, names=("red", "blue"), columns=values),))
    graph = replace(batch_of(schema, [0], {}), tables={"node": torch.eye(2)[:1]})
    edit = Edit(EditKind.COLUMN, 0, column=0, before=0.0, after=1.0)
    assert edit_words(edit, graph, graph, None) == "a node is “blue” instead of “red”"
    gone = Edit(EditKind.COLUMN, 0, column=0, before=1.0, after=None)
    assert edit_words(gone, graph, graph, None) == "a node is none instead of “blue”"


def test_columns_of_edges_are_told_by_their_ends() -> None:
    graph, (label,) = weighted()
    edit = Edit(EditKind.COLUMN, 1, 0, label, 0, 0.9, 0.25)
    assert edit_words(edit, graph, graph, 0) == (
        "“weight” of the edge between the node and a node next to it goes from 0.9 to 0.25"
    )
