"""Data in every form that users of PyTorch Geometric have, against the same data given plainly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset as TorchDataset
from torch.utils.data import IterableDataset, Subset
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataListLoader, DataLoader, HGTLoader, LinkNeighborLoader, NeighborLoader
from torch_geometric.testing.feature_store import MyFeatureStore
from torch_geometric.testing.graph_store import MyGraphStore
from torch_geometric.transforms import ToUndirected

from dignn.core.errors import SchemaError
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.conversion import from_pyg, to_disjoint
from dignn.graphs.inference import infer_schema
from dignn.graphs.intake import given_graphs, graphs_of
from strategies import rings_and_stars


class Listed(InMemoryDataset):
    """A data set of PyTorch Geometric that is made from graphs at hand."""

    def __init__(self, graphs: list[Any]) -> None:
        super().__init__(None)
        self.data, self.slices = self.collate(graphs)


def author_paper() -> HeteroData:
    data = HeteroData()
    data["author"].x, data["author"].y = torch.eye(3)[[0, 1, 2, 0]], torch.tensor([0, 1, 0, 1])
    data["paper"].x = torch.tensor([[0.5], [1.5], [2.5]])
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 2]])
    data["paper", "rev_writes", "author"].edge_index = torch.tensor([[0, 1, 2, 2], [0, 1, 2, 3]])
    return data


def one_graph() -> Data:
    graph = rings_and_stars()[0]
    return Data(x=torch.arange(5.0)[:, None] / 2, edge_index=graph.edge_index, y=torch.tensor([0, 1, 0, 1, 1]))


SEVERAL: dict[str, Callable[[list[Data]], Any]] = {
    "list": list,
    "tuple": tuple,
    "batch": Batch.from_data_list,
    "list of batches": lambda graphs: list(DataLoader(graphs, batch_size=5)),
    "dataset": Listed,
    "part of a dataset": lambda graphs: Subset(Listed([*graphs, *graphs]), range(len(graphs))),
    "loader": lambda graphs: DataLoader(graphs, batch_size=4, shuffle=True, follow_batch=["x"]),
    "loader of a dataset": lambda graphs: DataLoader(Listed(graphs), batch_size=4),
    "loader of torch": lambda graphs: torch.utils.data.DataLoader(graphs, collate_fn=Batch.from_data_list),
    "loader of torch without batches": lambda graphs: torch.utils.data.DataLoader(graphs, batch_size=None),
    "loader of lists": DataListLoader,
}


@pytest.mark.parametrize("form", SEVERAL)
def test_several_graphs_in_every_form(form: str) -> None:
    graphs = rings_and_stars()
    given, schema = SEVERAL[form](graphs), infer_schema(graphs)
    assert infer_schema(given) == schema
    assert schema.task.of_graphs
    found, expected = from_pyg(given, schema), from_pyg(graphs, schema)
    assert torch.equal(found.edge, expected.edge)
    assert torch.equal(found.graph_label, expected.graph_label)
    assert torch.equal(found.features("node"), expected.features("node"))


ONE: dict[str, Callable[[Data], Any]] = {
    "graph": lambda graph: graph,
    "dataset": lambda graph: Listed([graph]),
    "loader": lambda graph: DataLoader([graph]),
    "neighbours": lambda graph: NeighborLoader(graph, [2], batch_size=2),
}


@pytest.mark.parametrize("form", ONE)
def test_one_graph_in_every_form_is_about_its_nodes(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch_geometric.typing.WITH_PYG_LIB", True)  # nothing is sampled, so nothing needs it
    monkeypatch.setattr(NeighborLoader, "__init__", _loader_init)
    graph = one_graph()
    given, schema = ONE[form](graph), infer_schema(graph)
    assert infer_schema(given) == schema
    assert not schema.task.of_graphs
    found, expected = Adjacency.build(given, schema), Adjacency.build(graph, schema)
    assert found.neighbour.tolist() == expected.neighbour.tolist()
    assert torch.equal(found.tables["node"], expected.tables["node"])


def _loader_init(self: Any, data: Any, *_: Any, **__: Any) -> None:
    """What a loader keeps, without the sampler, which needs a library that may not be installed."""
    torch.utils.data.DataLoader.__init__(self, range(3))
    self.data = data


@pytest.mark.parametrize("loader", [NeighborLoader, HGTLoader])
def test_loaders_that_sample_a_graph_stand_for_it(loader: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "__init__", _loader_init)
    data = author_paper()
    assert given_graphs(loader(data)) is data


@pytest.mark.parametrize("loader", [NeighborLoader, HGTLoader, LinkNeighborLoader])
def test_loaders_that_change_what_they_sample_are_refused(loader: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "__init__", _loader_init)
    given = loader(author_paper())
    given.transform = ToUndirected()
    with pytest.raises(SchemaError, match=f"This {loader.__name__} has a transform, .* apply the transform"):
        given_graphs(given)


def normalised(graphs: list[Data]) -> Batch:
    batch = Batch.from_data_list(graphs)
    batch.x = batch.x / 7
    return batch


def test_loaders_that_change_their_graphs_are_refused() -> None:
    given = torch.utils.data.DataLoader(rings_and_stars(), batch_size=4, collate_fn=normalised)
    with pytest.raises(SchemaError, match="This DataLoader has a collate_fn of its own, .* as a list or Dataset"):
        infer_schema(given)


def test_plain_data_is_returned_as_it_is() -> None:
    for graph in (one_graph(), author_paper()):
        assert given_graphs(graph) is graph
        assert graphs_of(graph) == [graph]


# -- stores -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_stores_are_one_graph(layout: str) -> None:
    data, features, edges = author_paper(), MyFeatureStore(), MyGraphStore()
    for name in data.node_types:
        for key, value in data[name].items():
            features.put_tensor(value, group_name=name, attr_name=key, index=None)
    for edge_type in data.edge_types:
        row, column = data[edge_type].edge_index
        size = (data[edge_type[0]].num_nodes, data[edge_type[2]].num_nodes)
        order = row.argsort(stable=True) if layout == "csr" else column.argsort(stable=True)
        row, column = row[order], column[order]
        if layout == "csr":
            row = torch.nn.functional.pad(torch.bincount(row, minlength=size[0]).cumsum(0), (1, 0))
        elif layout == "csc":
            column = torch.nn.functional.pad(torch.bincount(column, minlength=size[1]).cumsum(0), (1, 0))
        edges.put_edge_index((row, column), edge_type=edge_type, layout=layout, size=size)
    schema = infer_schema(data, "author")
    assert infer_schema((features, edges), "author") == schema
    found, expected = (Adjacency.build(each, schema) for each in ((features, edges), data))
    assert found.neighbour.tolist() == expected.neighbour.tolist()
    assert found.relation.tolist() == expected.relation.tolist()
    assert found.label.tolist() == expected.label.tolist()
    for name in schema.node_types:
        assert torch.equal(found.tables[name], expected.tables[name])


def test_stores_without_types_are_a_homogeneous_graph() -> None:
    graph, features, edges = one_graph(), MyFeatureStore(), MyGraphStore()
    for key in ("x", "y"):
        features.put_tensor(graph[key], group_name=None, attr_name=key, index=None)
    edges.put_edge_index(tuple(graph.edge_index), edge_type=None, layout="coo", size=(5, 5))
    found = given_graphs((features, edges))
    assert isinstance(found, Data)
    assert torch.equal(found.edge_index, graph.edge_index)
    assert infer_schema(found) == infer_schema(graph)


def test_two_graphs_are_no_pair_of_stores_although_graphs_are_stores() -> None:
    graphs = (author_paper(), author_paper())
    assert given_graphs(graphs) == list(graphs)


def test_a_graph_may_be_one_of_the_stores() -> None:
    data, features = author_paper(), MyFeatureStore()
    for name in data.node_types:
        for key, value in data[name].items():
            features.put_tensor(value, group_name=name, attr_name=key, index=None)
    assert infer_schema((features, data), "author") == infer_schema(data, "author")


# -- what is refused ----------------------------------------------------------------------------------


class Endless(IterableDataset):
    def __iter__(self) -> Any:
        return iter(())


class Nothing(TorchDataset):
    def __getitem__(self, number: int) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "The data is a int; give a Data"),
        ("cora", "The data is a str"),
        ({"x": 1}, "The data is a dict"),
        ([], "list of graphs is empty"),
        ([one_graph(), 3], "holds a int"),
        ([one_graph(), author_paper()], "mixes Data and HeteroData"),
        (Endless(), "a Endless without a length"),
        (Nothing(), "a Nothing without a length"),
        (torch.utils.data.DataLoader(range(3)), "a DataLoader over a range"),
        ((MyFeatureStore(), MyGraphStore()), "stores are empty"),
    ],
)
def test_anything_else_gets_one_sentence(given: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as refused:
        infer_schema(given)
    assert "\n" not in str(refused.value)


def test_a_batch_that_cannot_be_taken_apart() -> None:
    graphs = rings_and_stars()
    made = to_disjoint(from_pyg(graphs, infer_schema(graphs)))
    with pytest.raises(SchemaError, match="This Batch cannot be taken apart .* give its graphs as a list"):
        given_graphs(made)
