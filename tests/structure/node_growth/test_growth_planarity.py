"""Graphs that grow stay planar where all training graphs are."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.spatial import Delaunay
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import to_networkx
from dignn.structure.node_growth.generator import NodeGrowth
from dignn.structure.node_growth.growth_planarity import TELLING, Drawings, all_planar, is_planar
from dignn.structure.settings import NodeGrowthConfig
from strategies import batch_of, plain_schema

PLAIN = plain_schema()


def joined(graph: nx.Graph) -> Tensor:
    return torch.from_numpy(nx.to_numpy_array(graph)) > 0


def as_batch(graphs: list[nx.Graph]) -> GraphBatch:
    return GraphBatch.cat([batch_of(PLAIN, [0] * len(graph), dict.fromkeys(graph.edges, 1)) for graph in graphs])


@pytest.mark.parametrize("edges", [8, 11, 14, 18, 22, 27])
def test_planarity_is_that_of_networkx(edges: int) -> None:
    found = set()
    for seed in range(25):
        graph = nx.gnm_random_graph(10, edges, seed=seed)
        graph = graph.subgraph(max(nx.connected_components(graph), key=len))
        found.add(is_planar(joined(graph)))
        assert is_planar(joined(graph)) == nx.check_planarity(graph)[0]
    assert found == {8: {True}, 27: {False}}.get(edges, found)


@pytest.mark.parametrize("graph", [nx.complete_graph(5), nx.complete_bipartite_graph(3, 3), nx.petersen_graph()])
def test_kuratowski(graph: nx.Graph) -> None:
    assert not is_planar(joined(graph))
    without = graph.copy()
    without.remove_edge(*next(iter(graph.edges)))
    if len(graph) < 10:  # the Petersen graph lacks more than one edge of being planar
        assert is_planar(joined(without))


def drawn(graphs: list[nx.Graph]) -> Drawings:
    """The same graphs, grown from node 0."""
    found = Drawings(len(graphs), max(map(len, graphs)))
    for number, graph in enumerate(graphs):
        tree = list(nx.bfs_edges(graph, 0))
        for u, v in tree:
            found.attach(torch.tensor([number]), torch.tensor([u]), torch.tensor([v]))
        rest = {frozenset(edge) for edge in graph.edges} - {frozenset(edge) for edge in tree}
        assert all(found.draws(number, *edge) for edge in rest)
    return found


def planar_graphs(edges: int) -> list[nx.Graph]:
    graphs = [nx.gnm_random_graph(9, edges, seed=seed) for seed in range(200)]
    return [graph for graph in graphs if nx.is_connected(graph) and nx.check_planarity(graph)[0]]


def test_an_edge_is_refused_where_the_graph_with_it_is_not_planar() -> None:
    rng = np.random.default_rng(0)
    graphs = planar_graphs(14)
    ends = [tuple(map(int, rng.choice(9, 2, replace=False))) for _ in graphs]
    u, v = torch.tensor(ends).unbind(1)
    drawings = drawn(graphs)
    expected = []
    for graph, pair in zip(graphs, ends, strict=True):
        graph.add_edge(*pair)
        expected.append(not nx.check_planarity(graph)[0])
    everything = torch.arange(len(graphs))
    assert drawings.refused(everything, u, v).tolist() == expected
    assert 0 < sum(expected) < len(expected)
    drawings.keep(everything[:1], everything[-1:])  # and what is drawn goes with its graph
    assert drawings.draws(0, *ends[-1]) is not expected[-1]


def test_missing_edges_go_between_nodes_two_steps_apart_with_fewest_edges() -> None:
    order = torch.rand(9, 9, generator=Seed(0).torch())
    everywhere, room = torch.ones(9, 9, dtype=torch.bool), [9] * 9
    for graph in planar_graphs(11)[:20]:
        drawings = drawn([graph])
        new = drawings.complete(0, 6, everywhere, room, order)
        assert len(new) == 6
        for u, v in new:
            near = [pair for pair in nx.non_edges(graph) if nx.shortest_path_length(graph, *pair) == 2]
            fewer = [
                pair for pair in near if sum(dict(graph.degree(pair)).values()) < graph.degree(u) + graph.degree(v)
            ]
            for pair in fewer:  # none of them could have been drawn
                assert not nx.check_planarity(nx.Graph([*graph.edges, pair]))[0]
            assert nx.shortest_path_length(graph, u, v) == 2
            graph.add_edge(u, v)
            assert nx.check_planarity(graph)[0]


def test_a_graph_is_completed_only_where_types_and_nodes_leave_room() -> None:
    order, nobody = torch.zeros(9, 9), torch.zeros(9, 9, dtype=torch.bool)
    path = nx.path_graph(9)
    assert drawn([path]).complete(0, 3, nobody, [9] * 9, order) == []
    # Ends take one more edge, all others have two.
    ((u, v),) = drawn([nx.cycle_graph(9)]).complete(0, 3, ~nobody, [3, 2, 3, *[2] * 6], order)
    assert (u, v) == (0, 2)
    # A wheel of triangles has room for edges around it, three less than three for each node at most.
    wheel = nx.wheel_graph(9)
    assert len(drawn([wheel]).complete(0, 99, ~nobody, [99] * 9, order)) == 3 * 9 - 6 - wheel.number_of_edges()


def test_few_graphs_tell_nothing_and_one_that_is_not_planar_tells_all() -> None:
    cycle = joined(nx.wheel_graph(6)).expand(TELLING, -1, -1)
    assert all_planar(cycle)
    assert not all_planar(cycle[1:])
    one = cycle.clone()
    one[7] = joined(nx.complete_graph(6))
    assert not all_planar(one)


def test_what_grows_is_planar_where_all_training_graphs_are() -> None:
    """A network that has learned little proposes edges that cross; they are refused."""
    rng = np.random.default_rng(0)
    graphs = [nx.Graph() for _ in range(TELLING)]
    for graph in graphs:
        for a, b, c in Delaunay(rng.random((14, 2))).simplices.tolist():
            graph.add_edges_from([(a, b), (b, c), (a, c)])
    config = NodeGrowthConfig(width=16, layers=1, looks=0, training=TrainingConfig(steps=30, learning_rate=0.01))
    generator = NodeGrowth(config).fit(as_batch(graphs), seed=Seed(0))
    shares = []
    for planar in (True, False):
        assert generator._planar or not planar
        generator._planar = planar
        made, again = (generator.sample([14] * 20, seed=Seed(1)) for _ in range(2))
        assert torch.equal(made.edge, again.edge)
        found = [to_networkx(made, number) for number in range(len(made))]
        assert all(nx.is_connected(graph) and len(graph) == 14 for graph in found)
        shares.append(sum(nx.check_planarity(graph)[0] for graph in found) / len(found))
        assert generator.report["sampling"]["short_of_edges"] <= 6  # what was refused found another place
    assert shares[0] == 1
    assert shares[1] < 0.8


def test_a_file_tells_that_graphs_are_planar(tmp_path: Path) -> None:
    graphs = as_batch([nx.wheel_graph(9)] * TELLING)
    config = NodeGrowthConfig(width=16, layers=1, training=TrainingConfig(steps=2))
    generator = NodeGrowth(config).fit(graphs, seed=Seed(0))
    generator.save(tmp_path / "structure.safetensors")
    loaded = NodeGrowth(config).load(tmp_path / "structure.safetensors", PLAIN)
    made, again = (one.sample([9] * 12, seed=Seed(2)) for one in (generator, loaded))
    assert torch.equal(made.edge, again.edge)
    assert all(nx.check_planarity(to_networkx(again, number))[0] for number in range(12))
