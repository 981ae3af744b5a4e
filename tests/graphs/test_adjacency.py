"""The large graph as compressed rows, against dense matrices and networkx."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.errors import SchemaError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg
from dignn.graphs.flattening import flatten_for
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Layout, Relation
from dignn.sampling.forest_fire import forest_fire
from strategies import PROPERTY, batches, hetero, plain_schema, pyg_of, row_of, schemas

GRAPHS = batches(min_graphs=1, max_graphs=2, max_nodes=8)


def listed(batch: GraphBatch) -> list[tuple[int, int]]:
    """Graph and position of every node, in the order in which its data is read."""
    kinds = batch.node_type.tolist()
    by_type = batch.schema.layout is Layout.HETERO
    places = [(graph, i) for graph, line in enumerate(kinds) for i, code in enumerate(line) if code >= 0]
    return sorted(places, key=lambda place: (place[0], kinds[place[0]][place[1]] if by_type else 0, place[1]))


def dense(batch: GraphBatch) -> np.ndarray:
    """``edge[u, v]`` of all nodes of all graphs."""
    places = listed(batch)
    matrix = np.zeros((len(places), len(places)), dtype=np.int64)
    for u, (graph, i) in enumerate(places):
        for v, (other, j) in enumerate(places):
            matrix[u, v] = int(batch.edge[graph, i, j]) if graph == other else 0
    return matrix


@PROPERTY
@given(GRAPHS)
def test_lookup_is_a_dense_matrix(batch: GraphBatch) -> None:
    expected = dense(batch)
    u, v = np.indices(expected.shape).reshape(2, -1)
    found = Adjacency.build(pyg_of(batch), batch.schema).lookup(u, v)
    assert found.reshape(expected.shape).tolist() == expected.tolist()


@PROPERTY
@given(GRAPHS)
def test_neighbours_are_those_of_either_direction_ascending(batch: GraphBatch) -> None:
    matrix = dense(batch)
    adjacency = Adjacency.build(pyg_of(batch), batch.schema)
    for node, line in enumerate((matrix > 0) | (matrix.T > 0)):
        begin, end = adjacency.indptr[node : node + 2]
        assert adjacency.neighbour[begin:end].tolist() == line.nonzero()[0].tolist()


@PROPERTY
@given(GRAPHS)
def test_nodes_keep_their_type_label_and_features(batch: GraphBatch) -> None:
    adjacency = Adjacency.build(pyg_of(batch), batch.schema)
    for node, (graph, i) in enumerate(listed(batch)):
        assert adjacency.node_type[node] == batch.node_type[graph, i]
        assert adjacency.label[node] == batch.label[graph, i]
        assert adjacency.graph_label[node] == batch.graph_label[graph]
        name = batch.schema.node_types[adjacency.node_type[node]]
        if name in adjacency.tables:
            assert adjacency.tables[name][adjacency.row[node]].tolist() == row_of(batch, graph, i)


@PROPERTY
@given(GRAPHS, st.data())
def test_induced_subgraphs_are_those_of_networkx(batch: GraphBatch, data: st.DataObject) -> None:
    matrix = dense(batch)
    whole = nx.from_numpy_array(matrix, create_using=nx.DiGraph)
    subsets = st.lists(
        st.permutations(range(len(matrix))).flatmap(lambda p: st.integers(0, len(p)).map(lambda k: p[:k]))
    )
    wanted = data.draw(subsets.filter(len))
    adjacency = Adjacency.build(pyg_of(batch), batch.schema)
    found = adjacency.induced(wanted).check()
    for number, nodes in enumerate(wanted):
        size = len(nodes)
        assert int(found.sizes[number]) == size
        expected = (
            nx.to_numpy_array(whole.subgraph(nodes), nodelist=nodes, dtype=np.int64) if size else np.empty((0, 0))
        )
        assert found.edge[number, :size, :size].tolist() == expected.tolist()
        assert found.node_type[number, :size].tolist() == adjacency.node_type[nodes].tolist()
        assert found.label[number, :size].tolist() == adjacency.label[nodes].tolist()
        assert found.row[number, :size].tolist() == adjacency.row[nodes].tolist()
        assert int(found.graph_label[number]) == (adjacency.graph_label[nodes[0]] if size else -1)


@PROPERTY
@given(batches(schemas(node_classification=True), min_graphs=1, max_graphs=1, min_nodes=1))
def test_the_subgraph_of_all_nodes_is_the_graph(batch: GraphBatch) -> None:
    graphs = pyg_of(batch)
    adjacency = Adjacency.build(graphs, batch.schema)
    whole, expected = adjacency.induced([range(len(adjacency.node_type))]), from_pyg(graphs, batch.schema)
    for name in ("node_type", "edge", "label", "graph_label", "row"):
        assert torch.equal(getattr(whole, name), getattr(expected, name))


KNOWS = plain_schema((Relation("a", "knows", "a", "knows"),), node_types=("a", "b"), target="a")


def path(nodes: int, strangers: int = 0) -> Adjacency:
    pairs = [(i, i + 1) for i in range(nodes - 1)]
    return Adjacency.build(hetero({"a": nodes, "b": strangers}, {("a", "knows", "a"): pairs}), KNOWS)


def test_features_are_shared_not_copied() -> None:
    adjacency = path(4)
    assert adjacency.induced([[0, 1], [2]]).tables is adjacency.tables


def test_no_subgraphs() -> None:
    assert len(path(3).induced([])) == 0


@pytest.mark.parametrize("node", [4, -1])
def test_a_node_that_does_not_exist(node: int) -> None:
    with pytest.raises(SchemaError, match="A subgraph names a node that does not exist"):
        path(4).induced([[0, node]])


def test_a_graph_without_edges() -> None:
    adjacency = path(1, strangers=2)
    assert adjacency.lookup(np.array([0, 1]), np.array([1, 2])).tolist() == [0, 0]
    assert adjacency.indptr.tolist() == [0, 0, 0, 0]


def test_targets_are_the_nodes_of_the_target_type() -> None:
    assert path(2, strangers=3).targets.tolist() == [0, 1]
    graphs = [hetero({"a": 2, "b": 1}), hetero({"b": 1})]
    assert Adjacency.build(graphs, replace(KNOWS, target=None, task=None)).targets.tolist() == [0, 1, 2, 3]


def test_unknown_types_are_named() -> None:
    with pytest.raises(SchemaError, match="Unknown node type 'z'; choose from a, b"):
        Adjacency.build(hetero({"a": 1, "z": 1}), KNOWS)


def test_arrays_may_be_memory_mapped(tmp_path: Path) -> None:
    adjacency, mapped = path(30), {}
    for name in ("indptr", "neighbour", "relation", "node_type", "row", "label", "graph_label"):
        np.save(tmp_path / f"{name}.npy", getattr(adjacency, name))
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    one = forest_fire(adjacency, [5], 3, seed=Seed(0))
    other = forest_fire(replace(adjacency, **mapped), [5], 3, seed=Seed(0))
    assert torch.equal(one.row, other.row)
    assert torch.equal(one.edge, other.edge)


def test_edges_are_held_once() -> None:
    """In the narrowest numbers, which matrices share, without the sorted keys that they were made from."""
    pairs = {("a", "to", "b"): [(u, u % 30) for u in range(40)], ("a", "next", "a"): [(u, u + 1) for u in range(39)]}
    data = hetero({"a": 40, "b": 30}, pairs, y={"a": [0, 1] * 20})
    schema = infer_schema(data, "a")
    view = flatten_for(data, schema)
    found = Adjacency.of_view(view, schema)
    assert found.relation.dtype == np.int8
    assert np.shares_memory(found._cells.indices, found.neighbour)
    assert np.shares_memory(found._cells.data, found.relation)
    assert not view.keys._distinct
