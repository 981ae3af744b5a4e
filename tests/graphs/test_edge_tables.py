"""Rows of edges in a batch: files, promises, and what is told where one is broken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from carrying_graphs import EVERY, bonded, carried, friends
from dignn import infer_schema
from dignn.core.errors import SchemaError
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg, to_disjoint, to_pyg
from dignn.graphs.edge_tables import own_cells, rows_in, table_in, with_rows

TARGETS = {"two types, one row": "shop", "two types, other rows back": "shop", "directed, more fields back": "paper"}


def some(name: str = "one row") -> GraphBatch:
    data = EVERY[name]()
    schema = infer_schema(data, TARGETS.get(name, None if isinstance(data, list) else "person"))
    return Adjacency.build(data, schema).induced([list(range(14)), list(range(9, 30))])


@pytest.mark.parametrize("name", EVERY)
def test_a_file_gives_back_the_same_graphs(name: str, tmp_path: Path) -> None:
    batch = some(name)
    batch.save(tmp_path / "graphs.safetensors")
    loaded = GraphBatch.load(tmp_path / "graphs.safetensors")
    assert loaded.schema == batch.schema
    assert [carried(graph) for graph in to_pyg(loaded)] == [carried(graph) for graph in to_pyg(batch)]
    used = sum(len(torch.unique(rows_in(batch, label))) for label in batch.edge_tables)
    assert sum(len(table) for table in loaded.edge_tables.values()) <= used + len(batch.edge_tables)


def test_a_damaged_file_is_told() -> None:
    batch = some()
    tensors = batch.packed()
    for name, words in (("edge_row", "lacks edge_row"), ("edges.1.dense", None)):
        lacking = {key: value for key, value in tensors.items() if key != name}
        if words is None:  # no table at all: a batch whose edges are not filled in
            assert not GraphBatch.unpacked(batch.schema, lacking).edge_tables
            continue
        with pytest.raises(SchemaError, match=words):
            GraphBatch.unpacked(batch.schema, lacking)
    with pytest.raises(SchemaError, match="edge_row does not fit the edges"):
        GraphBatch.unpacked(batch.schema, {**tensors, "edge_row": tensors["edge_row"][1:]})
    with pytest.raises(SchemaError, match="a row of an edge that its feature table does not have"):
        GraphBatch.unpacked(batch.schema, {**tensors, "edge_row": tensors["edge_row"] + 1})


def test_what_does_not_fit_is_refused() -> None:
    batch = some()
    ((label, table),) = batch.edge_tables.items()
    with pytest.raises(SchemaError, match=r"edge_row has shape \(2, 3\); it must be"):
        replace(batch, edge_row=torch.zeros(2, 3, dtype=torch.long))
    with pytest.raises(SchemaError, match="edge_tables without edge_row; give the row of each edge"):
        replace(batch, edge_row=None)
    with pytest.raises(SchemaError, match="no features of edges 'loves'; it has person -to- person"):
        replace(batch, edge_tables={"loves": table})
    with pytest.raises(SchemaError, match="it needs 3 columns"):
        replace(batch, edge_tables={label: table[:, :2]})
    with pytest.raises(SchemaError, match="are not filled in yet; use a FeatureBank"):
        to_disjoint(replace(batch, edge_row=None, edge_tables={}))


def test_some_graphs_of_a_batch_keep_their_rows() -> None:
    batch = some()
    assert carried(to_pyg(batch[[1]])[0]) == carried(to_pyg(batch)[1])
    assert batch.without_features().edge_row is None
    assert not batch.without_features().edge_tables


@pytest.mark.parametrize("one_row", [True, False])
def test_own_cells_have_a_row_each(one_row: bool) -> None:
    data = friends(one_row=one_row)
    batch = from_pyg(data, infer_schema(data, "person"))
    ((label, table),) = batch.edge_tables.items()
    cells = own_cells(batch, batch.node_type, label)
    rows = rows_in(batch, label)
    assert len(rows) == len(torch.unique(rows)) == len(table)
    order = torch.randperm(len(table), generator=torch.Generator().manual_seed(0))
    other = torch.empty_like(table)
    other[order] = table_in(batch, label)[rows]
    changed = with_rows(batch, label, cells, order, other).check()
    assert carried(to_pyg(changed)[0]) == carried(to_pyg(batch)[0])


def test_constant_fields_are_kept_in_the_schema() -> None:
    graphs = bonded()
    for graph in graphs:
        graph.edge_attr = torch.full((graph.num_edges, 2), 0.5)
    schema = infer_schema(graphs)
    batch = from_pyg(graphs, schema)
    assert not schema.generated_edges
    assert not batch.edge_tables
    assert [carried(graph) for graph in to_pyg(batch)] == [carried(graph) for graph in graphs]
