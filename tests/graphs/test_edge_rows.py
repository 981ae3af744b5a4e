"""What edges carry stays with them: from the data to a batch and back, however it is stored and reordered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from carrying_graphs import EVERY, carried, citations, friends, priced_shops
from dignn import infer_schema
from dignn.core.errors import SchemaError
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg, to_disjoint, to_networkx, to_pyg
from dignn.graphs.schema import Schema
from dignn.sampling.own_graphs import cut

TARGETS = {"two types, one row": "shop", "two types, other rows back": "shop", "directed, more fields back": "paper"}


def described(name: str) -> tuple[Any, Schema]:
    data = EVERY[name]()
    return data, infer_schema(data, TARGETS.get(name))


@pytest.mark.parametrize("name", EVERY)
def test_data_to_batch_to_data_is_exact(name: str) -> None:
    data, schema = described(name)
    graphs = data if isinstance(data, list) else [data]
    back = to_pyg(from_pyg(data, schema))
    for graph, made in zip(graphs, back, strict=True):
        assert carried(made) == carried(graph)
        for store in graph.edge_stores:
            there = made._store if store._key is None else made[store._key]
            fields = {each for each in store.keys() if each not in ("x", "y")}  # noqa: SIM118
            assert fields <= set(there.keys())
            for field in fields:
                assert there[field].dtype == store[field].dtype
                assert there[field].dim() == store[field].dim()


@pytest.mark.parametrize("name", [name for name in EVERY if name != "graphs"])
def test_subgraphs_carry_what_the_users_own_subgraphs_carry(name: str) -> None:
    data, schema = described(name)
    adjacency = Adjacency.build(data, schema)
    generator = np.random.default_rng(0)
    nodes = [generator.permutation(len(adjacency.node_type))[:40].tolist() for _ in range(3)]
    batch = adjacency.induced(nodes).check()
    for made, own in zip(to_pyg(batch), cut(data, adjacency, batch), strict=True):
        assert carried(made) == carried(own)


@pytest.mark.parametrize("name", EVERY)
def test_a_batch_side_by_side_carries_the_same(name: str) -> None:
    data, schema = described(name)
    adjacency = Adjacency.build(data, schema)
    batch = adjacency.induced([list(range(6)), list(range(3, 9))])
    together = to_disjoint(batch)
    assert sorted(map(str, carried(together).values())) == sorted(
        str(row) for one in to_pyg(batch) for row in carried(one).values()
    )


@pytest.mark.parametrize("name", EVERY)
def test_other_orders_of_nodes_move_rows_along(name: str) -> None:
    data, schema = described(name)
    nodes = list(range(20))
    adjacency = Adjacency.build(data, schema)
    batch = adjacency.induced([nodes])
    order = torch.randperm(20, generator=torch.Generator().manual_seed(0))
    moved = batch.permute(order[None]).check()
    assert torch.equal(moved.edge_row[0], batch.edge_row[0][order][:, order])
    direct = adjacency.induced([order.tolist()])
    assert torch.equal(direct.edge_row, moved.edge_row)


def test_directions_share_a_row_where_they_carry_the_same() -> None:
    for one_row in (True, False):
        data = friends(one_row=one_row)
        batch = from_pyg(data, infer_schema(data))
        (table,) = batch.edge_tables.values()
        assert torch.equal(batch.edge_row, batch.edge_row.transpose(1, 2)) is one_row
        assert len(table) == data.num_edges // (2 if one_row else 1)


def test_of_parallel_edges_the_first_counts_and_self_loops_have_no_row() -> None:
    data = Data(
        x=torch.eye(3), edge_index=torch.tensor([[0, 1, 1, 0, 2, 1, 2], [1, 0, 2, 1, 2, 0, 1]]), y=torch.arange(3)
    )
    data.edge_weight = torch.tensor([1.0, 1.0, 3.0, 8.0, 9.0, 7.0, 3.0])
    batch = from_pyg(data, infer_schema(data)).check()
    (made,) = to_pyg(batch)
    assert {(u, v): row["edge_weight"] for (_, u, v), row in carried(made).items()} == {
        (0, 1): [1.0],
        (1, 0): [1.0],
        (1, 2): [3.0],
        (2, 1): [3.0],
    }


def test_edge_ends_are_the_nodes_of_each_row() -> None:
    data = citations()
    adjacency = Adjacency.build(data, infer_schema(data, "paper"))
    source, target = adjacency.edge_ends("paper -cites-> paper")
    known = carried(data)
    for row, (u, v) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        there = known[("paper", "cites", "paper"), u, v]
        back = known[("paper", "rev_cites", "paper"), v, u]
        assert adjacency.edge_tables["paper -cites-> paper"][row].tolist() == [
            *there["strength"],
            *back["strength"],
            *back["year"],
        ]


def test_data_without_a_field_that_the_schema_knows_is_refused() -> None:
    data = friends()
    schema = infer_schema(data)
    del data.edge_weight
    with pytest.raises(SchemaError, match="have no edge_weight, which others have; give it everywhere or nowhere"):
        from_pyg(data, schema)


def test_schemas_without_edge_features_cost_nothing() -> None:
    data = friends()
    del data.edge_weight, data.edge_attr
    schema = infer_schema(data)
    batch = from_pyg(data, schema)
    assert batch.edge_row is None
    assert not batch.edge_tables
    assert "edge_features" not in schema.to_json()
    assert not any(name.startswith("edge_row") or name.startswith("edges.") for name in batch.packed())


def test_networkx_has_them() -> None:
    data = priced_shops()
    batch = Adjacency.build(data, infer_schema(data, "shop")).induced([list(range(80))])
    graph = to_networkx(batch)
    assert graph.number_of_edges()
    assert all(len(values["x"]) == 2 for _, _, values in graph.edges(data=True))


def test_joined_batches_keep_their_rows() -> None:
    data = friends()
    schema = infer_schema(data)
    adjacency = Adjacency.build(data, schema)
    one, other = adjacency.induced([list(range(12))]), adjacency.induced([list(range(5, 25))])
    apart = GraphBatch.unpacked(schema, other.packed())  # with a table of its own
    for joined in (GraphBatch.cat([one, other]), GraphBatch.cat([one, apart])):
        joined.check()
        assert [carried(graph) for graph in to_pyg(joined)] == [carried(to_pyg(each)[0]) for each in (one, other)]
    shared = GraphBatch.cat([one, other]).edge_tables
    assert all(table is adjacency.edge_tables[label] for label, table in shared.items())
    with pytest.raises(SchemaError, match="Some batches have features of .* and some have none; fill all or none"):
        GraphBatch.cat([one, other.without_features()])
