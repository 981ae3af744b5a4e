"""Subgraphs of a user's own objects: every field is cut along, in its own form and with its own numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GCNConv, SAGEConv
from torch_geometric.transforms import ToSparseTensor

from any_models import people, shops
from dignn import DiGNNExplainer
from dignn.core.errors import ModelMismatchError
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.inference import infer_schema
from dignn.sampling.own_graphs import cut

# Some subgraphs of the data, by numbers of nodes, in no order.
NODES = [[3, 1, 2, 40, 39], [7, 8, 6], [11]]


def weighted(**options: Any) -> Data:
    """People whose edges have weights."""
    data = people()
    data.edge_weight = torch.rand(data.edge_index.size(1), generator=torch.Generator().manual_seed(3), **options)
    return data


def with_both(data: Data | HeteroData) -> Any:
    return ToSparseTensor(attr="edge_weight", remove_edge_index=False, layout=torch.sparse_csr)(data)


def pieces(data: Data) -> list[Any]:
    adjacency = Adjacency.build(data, infer_schema(data))
    return cut(data, adjacency, adjacency.induced(NODES))


def matrix(pairs: Tensor, values: Tensor, count: int) -> Tensor:
    """The transposed adjacency, by hand.  (n, n)"""
    found = torch.zeros(count, count)
    found.index_put_((pairs[1], pairs[0]), values, accumulate=True)
    return found


# -- matrices -----------------------------------------------------------------------------------------


def normalised(data: Data) -> Tensor:
    """Another matrix than edge_index has: with self-loops, and with each value a number of its own."""
    size = data.num_nodes
    full = matrix(data.edge_index, data.edge_weight, size) + torch.eye(size)
    return full / full.sum(1, keepdim=True)


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_a_matrix_beside_edge_index_is_cut_from_its_own_entries(layout: torch.layout) -> None:
    data = weighted()
    full = normalised(data)
    data.adj_t = full.to_sparse(layout=layout)
    weight = matrix(data.edge_index, data.edge_weight, 90)
    for nodes, own in zip(NODES, pieces(data), strict=True):
        assert own.adj_t.layout is layout
        assert torch.equal(own.adj_t.to_dense(), full[nodes][:, nodes])
        assert torch.equal(matrix(own.edge_index, own.edge_weight, len(nodes)), weight[nodes][:, nodes])


@pytest.mark.parametrize("field", ["edge_index", "adj_t"])
@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_a_matrix_in_either_field_is_cut_with_its_values(field: str, layout: torch.layout) -> None:
    data = weighted()
    full = matrix(data.edge_index, data.edge_weight, 90)
    given = Data(x=data.x, y=data.y, **{field: full.to_sparse(layout=layout)}, town="Kiel", mask=data.y > 0)
    for nodes, own in zip(NODES, pieces(given), strict=True):
        assert torch.equal(own[field].to_dense(), full[nodes][:, nodes])
        assert torch.equal(own.mask, given.mask[nodes])
        assert own.town == "Kiel"


def test_an_edge_that_a_matrix_holds_twice_stays_there_twice() -> None:
    data = weighted()
    twice = torch.cat([data.edge_index, data.edge_index], dim=1).flip(0)
    entries = torch.sparse_coo_tensor(twice, torch.ones(twice.size(1)), (90, 90))
    for own, once in zip(pieces(Data(x=data.x, y=data.y, num_nodes=90, adj_t=entries)), pieces(data), strict=True):
        assert own.adj_t._nnz() == 2 * once.edge_index.size(1)


class ByMatrix(nn.Module):
    def __init__(self, layer: type = GCNConv, field: str = "adj_t") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head, self.field = layer(6, 8), nn.Linear(8, 3), field

    def forward(self, data: Data) -> Tensor:
        return self.head(self.conv(data.x, data[self.field]).relu())


def test_a_model_that_goes_by_weights_of_a_matrix_beside_edge_index_is_refused() -> None:
    with pytest.raises(ModelMismatchError, match="goes by .*the values of its adjacency matrix"):
        DiGNNExplainer(ByMatrix(), with_both(weighted())).check()
    ones = people()
    ones.edge_weight = torch.ones(ones.edge_index.size(1))
    DiGNNExplainer(ByMatrix(), with_both(ones)).check()


def test_weights_of_a_heterogeneous_matrix_are_cut() -> None:
    data = shops()
    for number, edge_type in enumerate(data.edge_types):
        rng = torch.Generator().manual_seed(number)
        data[edge_type].edge_weight = torch.rand(data[edge_type].edge_index.size(1), generator=rng)
    data = with_both(data)
    made = DiGNNExplainer(lambda graph: graph["shop"].x[:, :2], data, target="shop")
    batch, own = made.real.compared()
    for number in (0, len(batch) - 1):
        for source, name, target in data.edge_types:
            rows = {
                end: batch.row[number][batch.node_type[number] == made.schema.type_index(end)]
                for end in (source, target)
            }
            full = data[source, name, target].adj_t.to_dense()
            assert torch.equal(own[number][source, name, target].adj_t.to_dense(), full[rows[target]][:, rows[source]])


@pytest.mark.parametrize(("layer", "layout"), [(GCNConv, torch.sparse_coo), (SAGEConv, torch.sparse_csr)])
def test_a_matrix_in_edge_index_is_checked(layer: type, layout: torch.layout) -> None:
    plain = people()
    ones = torch.ones(plain.edge_index.size(1))
    adjacency = matrix(plain.edge_index, ones, 90).to_sparse(layout=layout)
    DiGNNExplainer(ByMatrix(layer, "edge_index"), Data(x=plain.x, y=plain.y, edge_index=adjacency)).check()


def test_a_weighted_matrix_in_edge_index_is_handed_over() -> None:
    plain = weighted()
    adjacency = matrix(plain.edge_index, plain.edge_weight, 90).to_sparse_csr()
    DiGNNExplainer(ByMatrix(field="edge_index"), Data(x=plain.x, y=plain.y, edge_index=adjacency)).check()


# -- fields -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_sparse_features_are_cut(layout: torch.layout) -> None:
    data = people()
    rows = data.x.clone()
    data.x = rows.to_sparse(layout=layout)
    for nodes, own in zip(NODES, pieces(data), strict=True):
        assert own.x.layout is layout
        assert torch.equal(own.x.to_dense(), rows[nodes])


SORTED: dict[str, Callable[[Tensor], Tensor]] = {
    "tensor": lambda index: index,
    "EdgeIndex": lambda index: EdgeIndex(index, sparse_size=(90, 90)),
    "sorted": lambda index: EdgeIndex(index, sparse_size=(90, 90)).sort_by("col")[0],
}


@pytest.mark.parametrize("form", SORTED)
def test_what_edges_carry_follows_their_order(form: str) -> None:
    """Also what stands in columns, as everything that PyTorch Geometric takes for an index does."""
    data = people()
    data.edge_index = SORTED[form](data.edge_index)
    ends = data.edge_index.as_subclass(Tensor).clone()
    data.edge_label_index, data.edge_attr = ends, ends.T.clone()
    for nodes, own in zip(NODES, pieces(data), strict=True):
        there = torch.tensor(nodes)[own.edge_index.as_subclass(Tensor)]
        assert torch.equal(own.edge_label_index, there)
        assert torch.equal(own.edge_attr, there.T)


def test_edges_stay_in_the_order_of_the_user_beside_a_matrix() -> None:
    data = weighted()
    data.adj_t = normalised(data).to_sparse_csr()
    for beside, alone in zip(pieces(data), pieces(weighted()), strict=True):
        assert torch.equal(beside.edge_index, alone.edge_index)
        assert torch.equal(beside.edge_weight, alone.edge_weight)


def test_as_many_edges_as_nodes() -> None:
    """The name tells then what a field is of, as in PyTorch Geometric."""
    ring = torch.arange(12)
    data = Data(x=torch.rand(12, 2), edge_index=torch.stack([ring, ring.roll(-1)]), y=ring % 2)
    data.pos, data.edge_weight = ring + 0.0, ring + 0.5
    schema = infer_schema(data)
    adjacency = Adjacency.build(data, schema)
    (own,) = cut(data, adjacency, adjacency.induced([[5, 4, 6]]))
    assert own.pos.tolist() == [5.0, 4.0, 6.0]
    assert own.edge_weight.tolist() == [4.5, 5.5]


def test_places_of_nodes_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    found = Adjacency.numbers
    monkeypatch.setattr(Adjacency, "numbers", lambda self, batch: calls.append(1) or found(self, batch))
    pieces(people())
    assert len(calls) == 1
