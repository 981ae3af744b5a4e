"""The division of the data: what generators learn from, what is held out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import Config
from dignn.graphs.inference import infer_schema
from dignn.sampling.division import HELD_OUT, RealGraphs, divide
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def real(dataset: Dataset, seed: int = 0, **settings: object) -> RealGraphs:
    config = Config(**({"sizes": (6, 7), "subgraphs_per_size": 100} | settings))  # type: ignore[arg-type]
    made = divide(dataset.data, dataset.schema, config, Seed(seed))
    made.sample()
    return made


def test_one_node_in_five_of_every_type_is_held_out(planted: Dataset) -> None:
    made = real(planted)
    for code in range(4):
        share = made.learned[made.data.node_type == code].mean()
        assert share == pytest.approx(1 - 1 / HELD_OUT, abs=0.01)


def test_fires_start_on_their_own_side_of_the_division(planted: Dataset) -> None:
    made = real(planted)
    learned = set(made.data.row[made.learned & (made.data.node_type == 0)].tolist())
    assert {int(row) for row in made.train.row[:, 0]} <= learned
    assert not {int(row) for row in made.held_out.row[:, 0]} & learned


@pytest.mark.parametrize("name", ["planted", "tree-cycle"])
def test_no_held_out_graph_has_the_nodes_of_a_learned_one(name: str) -> None:
    made = real(load(name), sizes=(4, 5))
    nodes = [
        {
            frozenset(zip(kinds, rows, strict=True))
            for kinds, rows in zip(g.node_type.tolist(), g.row.tolist(), strict=True)
        }
        for g in (made.train, made.held_out)
    ]
    assert not nodes[0] & nodes[1]


def test_the_report_counts_what_was_asked_for_and_found(planted: Dataset) -> None:
    made = real(planted)
    assert made.report["asked"] == 200
    assert made.report["found"] == len(made.train) + len(made.held_out) <= 200


def test_graphs_are_ordered_by_size(planted: Dataset) -> None:
    made = real(planted)
    for graphs in (made.train, made.held_out):
        assert graphs.sizes.tolist() == sorted(graphs.sizes.tolist())


def test_same_seed_same_division_other_seed_another(planted: Dataset) -> None:
    one, again, other = real(planted), real(planted), real(planted, seed=1)
    assert np.array_equal(one.learned, again.learned)
    assert torch.equal(one.train.row, again.train.row)
    assert not np.array_equal(one.learned, other.learned)


def paths(sizes: list[int]) -> list[Data]:
    graphs = []
    for number, size in enumerate(sizes):
        line = torch.arange(size - 1)
        index = torch.stack([line, line + 1])
        x = torch.full((size, 1), float(number)) + 0.5
        graphs.append(Data(x=x, edge_index=torch.cat([index, index.flip(0)], 1), y=torch.tensor([number % 2])))
    return graphs


def test_lists_of_graphs_are_divided_as_graphs() -> None:
    graphs = paths([3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    made = divide(graphs, infer_schema(graphs), Config(), Seed(0))
    made.sample()
    assert (len(made.train), len(made.held_out)) == (8, 2)
    learned_rows = set(made.data.tables["node"][torch.from_numpy(made.data.row[made.learned])][:, 0].tolist())
    assert learned_rows == set(made.train.features("node")[:, 0].tolist())


def test_graphs_of_other_sizes_are_left_out_before_they_cost_memory(caplog: pytest.LogCaptureFixture) -> None:
    graphs = paths([3, 4, 5, 6, 3000])
    made = divide(graphs, infer_schema(graphs), Config(), Seed(0))
    made.sample()
    assert len(made.train) + len(made.held_out) == 4
    assert "1 graphs with more than 100 nodes are left out" in caplog.text
    chosen = divide(graphs, infer_schema(graphs), Config(sizes=(4, 5)), Seed(0))
    chosen.sample()
    assert len(chosen.train) + len(chosen.held_out) == 2


def test_graphs_without_nodes_are_called_so(caplog: pytest.LogCaptureFixture) -> None:
    nothing = Data(x=torch.empty(0, 1), edge_index=torch.empty(2, 0, dtype=torch.long), y=torch.tensor([0]))
    graphs = [*paths([3, 4, 5]), nothing]
    made = divide(graphs, infer_schema(graphs), Config(), Seed(0))
    assert made.number == 3
    assert [record.getMessage() for record in caplog.records] == ["1 graphs without nodes are left out"]


def test_too_little_data_is_refused() -> None:
    graphs = paths([3, 4])
    with pytest.raises(DignnError, match="There is only 1"):
        divide(graphs, infer_schema(graphs), Config(sizes=(3,)), Seed(0))


def pieces(sizes: list[int]) -> list[Data]:
    """Graphs of two components each, the second a single node."""
    graphs = paths(sizes)
    for graph in graphs:
        kept = (graph.edge_index < graph.num_nodes - 1).all(0)
        graph.edge_index = graph.edge_index[:, kept]
    return graphs


def test_sizes_are_those_of_connected_graphs() -> None:
    graphs = [*paths([4, 5] * 20), *pieces([9] * 20)]
    made = divide(graphs, infer_schema(graphs), Config(), Seed(0))
    made.sample()
    assert 9 in made.train.sizes
    assert set(made.like(50)) == {4, 5}


def test_where_no_graph_is_connected_there_is_one_sentence() -> None:
    graphs = pieces([4, 5] * 10)
    made = divide(graphs, infer_schema(graphs), Config(), Seed(0))
    made.sample()
    with pytest.raises(DignnError, match="None of the 16 graphs to learn from is connected, .* give connected ones"):
        made.like(5)


@pytest.mark.parametrize(
    ("component", "expected"), [(40, range(10, 16)), (15, range(10, 16)), (12, range(8, 13)), (3, range(2, 4))]
)
def test_without_sizes_graphs_are_as_large_as_components_allow(component: int, expected: range) -> None:
    several = Batch.from_data_list(paths([component] * 20))
    graph = Data(x=several.x, edge_index=several.edge_index, y=torch.arange(several.num_nodes) % 2)
    found = divide(graph, infer_schema(graph), Config(subgraphs_per_size=10), Seed(0))
    found.sample()
    assert set(found.train.sizes.tolist()) == set(expected)


def test_sizes_that_were_asked_for_and_that_no_component_has_are_refused_by_name() -> None:
    several = Batch.from_data_list(paths([6] * 20))
    graph = Data(x=several.x, edge_index=several.edge_index, y=torch.arange(several.num_nodes) % 2)
    with pytest.raises(
        DignnError, match=r"No component of the graph has 8 nodes, the largest has 6; .* --sizes, up to 6"
    ):
        divide(graph, infer_schema(graph), Config(sizes=(8,), subgraphs_per_size=10), Seed(0)).sample()
