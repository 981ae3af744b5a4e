"""Edits between two graphs: all of them give the second, none the first, each changes what it says and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.errors import DignnError
from dignn.goes_by.contrasts.differences import Differences
from dignn.goes_by.contrasts.graph_edits import EditKind
from dignn.goes_by.contrasts.structural_trials import structural_trials
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_features import EdgeFeatures, EdgeField
from dignn.graphs.editing import with_room
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation
from goes_by.cells import cells, differing
from strategies import PROPERTY, batch_of, batches, plain_schema, random_rows

MIXED = FeatureSpec(
    FeatureKind.MIXED,
    4,
    names=("price", "red", "green", "blue"),
    columns=(
        Column(ColumnKind.CONTINUOUS, missing=True),
        *(Column(ColumnKind.ONE_HOT, group=0) for _ in range(3)),
    ),
)
SCHEMA = plain_schema(
    (Relation("thing", "to", "thing", "to"), Relation("thing", "at", "place", "of")),
    node_types=("thing", "place"),
    features=(MIXED, FeatureSpec(FeatureKind.IDENTITY, 3, names=("Alps", "Coast", "River"))),
    target="thing",
    edge_features=(
        EdgeFeatures(1, (EdgeField("weight", 2),), FeatureSpec(FeatureKind.CONTINUOUS, 2, names=("w", "t"))),
    ),
)
TO, AT = (relation.label for relation in SCHEMA.relations)


def graph(things: list[list[float]], place: int, edges: dict[tuple[int, int], int], weights: list[list[float]]):
    """Things, then a place; ``weights`` of the edges between things in their order."""
    batch = batch_of(SCHEMA, [0] * len(things) + [1], edges)
    batch.row[0] = torch.tensor([*range(len(things)), 0])
    row = torch.full((1, len(things) + 1, len(things) + 1), -1)
    for number, (u, v) in enumerate(pair for pair, code in edges.items() if code == 1):
        row[0, u, v] = row[0, v, u] = number
    tables = {"thing": torch.tensor(things), "place": torch.eye(3)[[place]]}
    return replace(batch, tables=tables, edge_row=row, edge_tables={TO: torch.tensor(weights)}).check()


NAN = float("nan")
BEFORE = graph([[NAN, 1, 0, 0], [2, 0, 1, 0]], 0, {(0, 1): 1, (0, 2): 2}, [[0.5, 7.0]])
AFTER = graph([[3, 1, 0, 0], [2, 0, 0, 1]], 2, {(0, 1): 1, (1, 2): 2}, [[0.25, 7.0]])


def only(differences: Differences, number: int) -> GraphBatch:
    done = torch.zeros(1, len(differences), dtype=torch.bool)
    done[0, number] = True
    return differences.apply(done).check()


def test_every_kind_of_column_is_one_edit() -> None:
    found = Differences(BEFORE, AFTER)
    told = {(e.kind.value, e.node, e.other, e.relation, e.column, str(e.before), str(e.after)) for e in found.edits}
    assert told == {
        ("edge removed", 0, 2, AT, None, "None", "None"),
        ("edge added", 1, 2, AT, None, "None", "None"),
        ("column", 0, None, None, 0, "nan", "3.0"),
        ("column", 1, None, None, 1, "2.0", "3.0"),  # of the category the numbers of the columns that are set
        ("row", 2, None, None, None, "0.0", "2.0"),
        ("column", 0, 1, TO, 0, "0.5", "0.25"),
    }
    assert not differing(found.apply(torch.ones(1, 6, dtype=torch.bool)).check(), AFTER)
    assert not differing(found.apply(torch.zeros(1, 6, dtype=torch.bool)).check(), BEFORE)


def test_each_edit_changes_what_it_says() -> None:
    found = Differences(BEFORE, AFTER)
    changed = {edit: differing(BEFORE, only(found, number)) for number, edit in enumerate(found.edits)}
    told = sorted(sorted(places) for places in changed.values())
    assert told == sorted(
        [
            [("edge", 0, 2), ("edge", 2, 0)],
            [("edge", 1, 2), ("edge", 2, 1)],
            [("column", 0, 0)],
            [("column", 1, 2), ("column", 1, 3)],
            [("column", 2, 0), ("column", 2, 2)],
            [("edge column", 0, 1, 0), ("edge column", 1, 0, 0)],
        ]
    )


def test_columns_of_a_node_and_of_an_edge_are_parts() -> None:
    wide = FeatureSpec(FeatureKind.BINARY, 3)
    schema = plain_schema(features=(wide,), target="node")
    one = batch_of(schema, [0, 0], {(0, 1): 1})
    one.row[0] = torch.tensor([0, 1])
    before = replace(one, tables={"node": torch.zeros(2, 3)})
    after = replace(one, tables={"node": torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])})
    assert Differences(before, after).by_part == [[0, 1], [2]]


def test_a_node_that_was_added_comes_with_one_edge() -> None:
    schema = plain_schema()
    before = with_room(batch_of(schema, [0, 0], {(0, 1): 1}), 4)
    after = batch_of(schema, [0, 0, 0, 0], {(0, 1): 1, (0, 2): 1, (1, 2): 1, (2, 3): 1})
    found = Differences(before, after)
    assert [(e.kind, e.node, e.other) for e in found.edits] == [
        (EditKind.NODE_ADDED, 2, 0),
        (EditKind.NODE_ADDED, 3, 2),
        (EditKind.EDGE_ADDED, 1, 2),
    ]
    assert differing(before, only(found, 0)) == {("node", 2), ("edge", 0, 2), ("edge", 2, 0)}
    assert not differing(before, only(found, 2))  # an edge to a node that is not there


def test_a_node_that_was_removed_takes_its_edges_along() -> None:
    schema = plain_schema()
    before = batch_of(schema, [0, 0, 0], {(0, 1): 1, (1, 2): 1, (0, 2): 1})
    after = batch_of(schema, [0, 0, -1], {})
    found = Differences(before, after)
    assert [(e.kind, e.node) for e in found.edits] == [(EditKind.NODE_REMOVED, 2), (EditKind.EDGE_REMOVED, 0)]
    assert set(cells(only(found, 0))) == {("node", 0), ("node", 1), ("edge", 0, 1), ("edge", 1, 0)}


def test_another_relation_is_one_edit() -> None:
    over = Relation("a", "over", "a", directed=True)
    schema = plain_schema((Relation("a", "to", "a", "to"), over), node_types=("a",))
    before, after = (batch_of(schema, [0, 0], {pair: code}) for pair, code in (((0, 1), 1), ((1, 0), 2)))
    found = Differences(before, after)
    assert [(e.kind, e.node, e.other, e.relation) for e in found.edits] == [(EditKind.EDGE_ADDED, 1, 0, over.label)]
    assert not differing(only(found, 0), after)
    assert not differing(found.apply(torch.tensor([[False]])), before)


def test_other_nodes_are_refused() -> None:
    schema = plain_schema((Relation("a", "to", "b", "from"),), node_types=("a", "b"))
    one = batch_of(schema, [0, 1], {(0, 1): 1})
    with pytest.raises(DignnError, match="other nodes at the same positions"):
        Differences(one, batch_of(schema, [1, 0], {(0, 1): 1}))


@st.composite
def edited(draw: st.DrawFn) -> tuple[GraphBatch, GraphBatch]:
    """Any graph, and a copy with random structural edits and other rows; nodes that are new have rows."""
    before = with_room(draw(batches(min_graphs=1, max_graphs=1, min_nodes=2)), 9)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    after, size = before, int(before.mask[0].nonzero().max()) + 1
    near = torch.ones(before.node_type.size(1), dtype=torch.bool)
    for _ in range(draw(st.integers(0, 4))):
        free = max(size, int(after.mask[0].nonzero().max()) + 1)
        trial, _ = structural_trials(after, -1, near, free, 1, rng)
        after = with_room(trial, 9) if len(trial) else after
    row, tables = after.row.clone(), dict(after.tables)
    for code, name in enumerate(after.schema.node_types):
        here = after.node_type == code
        if after.schema.spec(name).generated and bool(here.any()):
            rows = random_rows(after.schema.spec(name), int(here.sum()), rng)
            kept = (row[here] >= 0) & torch.from_numpy(rng.random(len(rows)) < 0.5)
            if name in tables:
                rows[kept] = tables[name][row[here][kept]]
            row[here], tables[name] = torch.arange(len(rows)), rows
    return before, replace(after, row=row, tables=tables)


@PROPERTY
@given(edited(), st.data())
def test_all_edits_make_the_second_graph_and_none_the_first(
    pair: tuple[GraphBatch, GraphBatch], data: st.DataObject
) -> None:
    before, after = pair
    found = Differences(before, after)
    count = len(found)
    assert not differing(found.apply(torch.zeros(1, count, dtype=torch.bool)).check(), before)
    assert not differing(found.apply(torch.ones(1, count, dtype=torch.bool)).check(), after)
    some = torch.tensor([data.draw(st.lists(st.booleans(), min_size=count, max_size=count))], dtype=torch.bool)
    between = found.apply(some.reshape(1, count))
    assert differing(between, before) <= differing(before, after)  # no place that is not edited
    first, second, there = cells(before), cells(after), cells(between)
    assert all(value in (first.get(place), second.get(place)) for place, value in there.items())
