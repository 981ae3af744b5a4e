"""What is asked of candidates again and again is computed once, and tells graphs apart whatever their order."""

from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import given
from torch_geometric.data import HeteroData

from carrying_graphs import friends
from dignn import infer_schema
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.isomorphism import distinct
from dignn.selection.candidates import Candidates
from strategies import PROPERTY, batches


@given(batches(min_graphs=1, max_graphs=4, max_nodes=5))
@PROPERTY
def test_what_is_shown_is_told_apart_without_labels(batch: GraphBatch) -> None:
    candidates = Candidates(batch)
    order = list(range(len(batch)))[::-1]
    assert candidates.distinct(order) == distinct(batch.without_labels(), order)
    assert candidates.distinct(order, 1) == order[:1]


@given(batches(min_graphs=1, max_graphs=2, max_nodes=5))
@PROPERTY
def test_names_depend_on_structure_and_features_and_on_no_order(batch: GraphBatch) -> None:
    size = batch.node_type.size(1)
    turned = batch.permute(torch.arange(size).flip(0).repeat(len(batch), 1))
    assert [Candidates(turned).name(number) for number in range(len(batch))] == [
        Candidates(batch).name(number) for number in range(len(batch))
    ]
    tables = {name: table.nan_to_num().nextafter(torch.tensor(torch.inf)) for name, table in batch.tables.items()}
    changed = Candidates(replace(batch, tables=tables))
    for number in range(len(batch)):
        has_features = any(len(batch[number].features(name)) for name in batch.tables)
        assert (changed.name(number) != Candidates(batch).name(number)) == has_features


def test_names_tell_edges_with_other_features_apart_whatever_the_order_of_nodes() -> None:
    data = friends()
    batch = Adjacency.build(data, infer_schema(data, "person")).induced([range(8)])
    other = replace(batch, edge_tables={label: table + 1 for label, table in batch.edge_tables.items()})
    turned = batch.permute(torch.arange(8).flip(0)[None])
    assert Candidates(other).name(0)[0] == Candidates(batch).name(0)[0]
    assert Candidates(other).name(0) != Candidates(batch).name(0)
    assert Candidates(turned).name(0) == Candidates(batch).name(0)


def test_names_tell_the_same_row_at_nodes_of_other_types_apart() -> None:
    one, other = torch.zeros(1, 2), torch.ones(1, 2)
    names = []
    for author, paper in ((one, other), (other, one)):
        data = HeteroData()
        data["author"].x, data["paper"].x = author.repeat(30, 1), paper.repeat(30, 1)
        data["author"].x[1:15], data["paper"].x[1:15] = torch.eye(2)[0], torch.eye(2)[0]
        data["author"].y = torch.arange(30) % 2
        data["author", "writes", "paper"].edge_index = torch.arange(30).repeat(2, 1)
        names.append(Candidates(Adjacency.build(data, infer_schema(data, "author")).induced([[0, 30]])).name(0))
    assert names[0][0] == names[1][0]
    assert names[0] != names[1]
