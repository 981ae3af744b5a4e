"""Graphs with something taken away or added: what is meant changes, all else stays, and what cannot be is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.errors import SchemaError
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_features import EdgeFeatures, EdgeField
from dignn.graphs.edge_tables import edge_values, own_cells
from dignn.graphs.editing import (
    with_edges,
    with_nodes,
    with_room,
    with_used_rows,
    without_edges,
    without_nodes,
)
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation
from strategies import PROPERTY, batch_of, batches, plain_schema, row_of

CHAIN = plain_schema(
    (Relation("a", "to", "b", "from"), Relation("b", "over", "b", "under", directed=True)),
    node_types=("a", "b"),
    features=(FeatureSpec(FeatureKind.BINARY, 2), FeatureSpec()),
    target="a",
)


def chain() -> GraphBatch:
    """0 (a) - 1 (b) -> 2 (b), twice; the second has only the first two nodes."""
    large = batch_of(CHAIN, [0, 1, 1], {(0, 1): 1, (1, 2): 2}, labels={0: 1})
    small = batch_of(CHAIN, [0, 1], {(0, 1): 1}, labels={0: 0})
    batch = GraphBatch.cat([large, small])
    batch.row[:, 0] = torch.tensor([2, 0])
    return replace(batch, tables={"a": torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])}).check()


def weighted() -> GraphBatch:
    """A path of three nodes whose edges carry 1 and 3; the table holds 0, 1, 2 and 3."""
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 1)
    schema = plain_schema(edge_features=(EdgeFeatures(1, (EdgeField("weight", 1),), spec),))
    batch = batch_of(schema, [0, 0, 0], {(0, 1): 1, (1, 2): 1})
    row = torch.full((1, 3, 3), -1)
    row[0, 0, 1] = row[0, 1, 0] = 1
    row[0, 1, 2] = row[0, 2, 1] = 3
    tables = {schema.relations[0].label: torch.arange(4.0)[:, None]}
    return replace(batch, edge_row=row, edge_tables=tables).check()


def marked(*shape: int, at: list[tuple[int, ...]]) -> torch.Tensor:
    found = torch.zeros(shape, dtype=torch.bool)
    for place in at:
        found[place] = True
    return found


def test_nodes_go_with_their_edges_and_leave_padding() -> None:
    batch = chain()
    found = without_nodes(batch, marked(2, 3, at=[(0, 1), (1, 2)])).check()  # the second is padding already
    assert found.node_type.tolist() == [[0, -1, 1], [0, 1, -1]]
    assert not bool(found.edge[0].any())
    assert torch.equal(found.edge[1], batch.edge[1])
    assert found.label.tolist() == [[1, -1, -1], [0, -1, -1]]
    assert found.row[0, 1] == -1
    assert batch.node_type[0, 1] == 1  # what was given stays


@pytest.mark.parametrize("cell", [(0, 1, 2), (0, 2, 1)])
def test_edges_go_whichever_way_round_they_are_named(cell: tuple[int, int, int]) -> None:
    found = without_edges(chain(), marked(2, 3, 3, at=[cell])).check()
    assert found.edge[0].nonzero().tolist() == [[0, 1], [1, 0]]
    assert torch.equal(found.edge[1], chain().edge[1])


def test_an_undirected_edge_fills_both_cells_and_a_directed_one_its_own() -> None:
    zero = torch.tensor([0, 0])
    found = with_edges(chain(), zero, torch.tensor([2, 1]), torch.tensor([1, 0])).check()
    assert found.edge[0, 0, 2] == found.edge[0, 2, 0] == 1
    assert torch.equal(found.edge[1], chain().edge[1])  # relation 0 leaves a graph as it is
    turned = with_edges(chain(), torch.tensor([2, 0]), torch.tensor([1, 1]), torch.tensor([2, 0])).check()
    assert (turned.edge[0, 2, 1], turned.edge[0, 1, 2]) == (2, 0)  # what joined them is replaced


@pytest.mark.parametrize(("u", "v", "code"), [(0, 0, 1), (0, 1, 2), (0, 2, 1)])
def test_edges_that_cannot_be_are_refused(u: int, v: int, code: int) -> None:
    """A loop, a relation between other types, padding."""
    with pytest.raises(SchemaError, match="choose relation and ends by the schema"):
        with_edges(with_room(chain()[1:], 3), torch.tensor([u]), torch.tensor([v]), torch.tensor([code]))


def test_rows_of_edges_go_with_them_and_new_ones_have_none() -> None:
    found = without_edges(weighted(), marked(1, 3, 3, at=[(0, 0, 1)])).check()
    assert found.edge_row is not None
    assert found.edge_row[0].tolist() == [[-1, -1, -1], [-1, -1, 3], [-1, 3, -1]]
    more = with_edges(weighted(), torch.tensor([0]), torch.tensor([2]), torch.tensor([1]))
    assert more.edge_row is not None
    assert more.edge_row[0, 0, 2] == more.edge_row[0, 2, 0] == -1


def test_a_node_is_added_where_there_is_room() -> None:
    batch = with_room(chain(), 5).check()
    assert torch.equal(batch.edge[:, :3, :3], chain().edge)
    assert batch.mask.sum() == chain().mask.sum()
    found = with_nodes(batch, torch.tensor([4, 2]), torch.tensor([1, -1])).check()
    assert found.node_type.tolist() == [[0, 1, 1, -1, 1], [0, 1, -1, -1, -1]]
    assert found.row[0, 4] == -1
    assert torch.equal(found.edge, batch.edge)
    assert with_room(batch, 2).node_type.shape == (2, 5)  # there is enough


@pytest.mark.parametrize("position", [0, 3, -1])
def test_a_node_needs_a_free_place(position: int) -> None:
    with pytest.raises(SchemaError, match="padding"):
        with_nodes(chain()[:1], torch.tensor([position]), torch.tensor([1]))


@PROPERTY
@given(batches(min_graphs=1, min_nodes=1), st.data())
def test_parts_of_a_batch_keep_only_the_rows_they_use(batch: GraphBatch, data: st.DataObject) -> None:
    part = batch[data.draw(st.integers(0, len(batch) - 1))]
    found = with_used_rows(part).check()
    for v in part.mask[0].nonzero()[:, 0].tolist():
        assert np.array_equal(row_of(found, 0, v), row_of(part, 0, v), equal_nan=True)
    for name, table in found.tables.items():
        used = found.row[found.node_type == found.schema.type_index(name)]
        assert sorted(set(used.tolist())) == list(range(len(table)))


def test_rows_of_edges_are_kept_where_they_are_used() -> None:
    found = with_used_rows(weighted()).check()
    label = found.schema.relations[0].label
    assert found.edge_tables[label].tolist() == [[1.0], [3.0]]
    assert edge_values(found, label, own_cells(found, found.node_type, label)).tolist() == [[1.0], [3.0]]
