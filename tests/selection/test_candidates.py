"""What is asked of candidates again and again is computed once, and tells graphs apart whatever their order."""

from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import given

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
