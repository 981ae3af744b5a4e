"""Data sets converted to one kind of node: what stays, what is gone, what is refused."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import HeteroData

from dignn.core.errors import DignnError
from dignn.graphs.schema import Layout, Schema
from dignn.zoo.datasets.column_selection import select_columns
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.one_kind import as_homogeneous
from dignn.zoo.datasets.registry import load


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def test_nodes_and_edges_stay_and_types_are_the_features(planted: Dataset) -> None:
    found, data, types = as_homogeneous(planted), planted.data, planted.schema.node_types
    counts = [data[name].num_nodes for name in types]
    first = dict(zip(types, [sum(counts[:place]) for place in range(len(types))], strict=True))
    assert found.schema.layout is Layout.HOMOGENEOUS
    assert found.data.x.sum(0).tolist() == counts
    assert torch.equal(found.data.x.argmax(1), torch.arange(len(types)).repeat_interleave(torch.tensor(counts)))
    pairs = {
        (first[source] + u, first[target] + v)
        for source, name, target in data.edge_types
        for u, v in data[source, name, target].edge_index.T.tolist()
        if (source, u) != (target, v)
    }
    both = pairs | {(v, u) for u, v in pairs}
    assert sorted(map(tuple, found.data.edge_index.T.tolist())) == sorted(both)


def test_only_the_classified_type_has_classes(planted: Dataset) -> None:
    found, target = as_homogeneous(planted), planted.schema.target
    here = found.data.x[:, planted.schema.type_index(target)] == 1
    assert torch.equal(found.data.y[here], planted.data[target].y)
    assert bool((found.data.y[~here] == -1).all())
    assert found.schema.classes == planted.schema.classes


def test_the_truth_keeps_motifs_without_relations(planted: Dataset) -> None:
    before, after = planted.truth, as_homogeneous(planted).truth
    assert before is not None
    assert after is not None
    assert [[motif.edges for motif in own] for own in after.motifs] == [[m.edges for m in own] for own in before.motifs]
    assert len({kind[1] for own in after.motifs for motif in own for kind in motif.edge_types}) == 1


def test_one_kind_of_node_stays_as_it_is() -> None:
    shapes = load("ba-shapes")
    assert as_homogeneous(shapes) is shapes


def test_what_cannot_be_converted_is_refused(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="leave out --columns"):
        as_homogeneous(select_columns(planted, {"author": 5}))
    graphs = [_two_types(label) for label in (0, 1)]
    whole = Dataset("graphs", graphs, Schema.from_graphs(graphs), splits={}, sizes=(2,))
    with pytest.raises(DignnError, match="Only a graph whose nodes are classified"):
        as_homogeneous(whole)


def _two_types(label: int) -> HeteroData:
    graph = HeteroData({"a": {"num_nodes": 1}, "b": {"num_nodes": 1}}, y=torch.tensor([label]))
    graph["a", "to", "b"].edge_index = torch.tensor([[0], [0]])
    return graph
