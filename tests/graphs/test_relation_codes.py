"""Relations of a homogeneous graph by number: what ``to_homogeneous`` makes and RGCN takes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import FastRGCNConv, RGCNConv

from dignn.core.errors import SchemaError
from dignn.graphs.conversion import from_pyg, to_disjoint, to_pyg
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Schema

PAIRS = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])


def graph(codes: Any = (0, 2, 0, 1, 2), **more: Any) -> Data:
    return Data(
        x=torch.arange(5.0)[:, None] / 2,
        edge_index=PAIRS,
        edge_type=torch.as_tensor(codes),
        y=torch.tensor([0, 1, 0, 1, 1]),
        **more,
    )


def arcs(data: Data) -> set[tuple[int, int, int]]:
    return set(zip(*data.edge_index.tolist(), data.edge_type.tolist(), strict=True))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_numbers_come_back_as_they_were(dtype: torch.dtype) -> None:
    data = graph(torch.tensor([0, 2, 0, 1, 2], dtype=dtype))
    schema = infer_schema(data)
    assert schema.edge_type_names == ("relation 0", "relation 1", "relation 2")
    assert {relation.name for relation in schema.relations} == set(schema.edge_type_names)
    (again,) = to_pyg(from_pyg(data, schema))
    assert arcs(again) == arcs(data)
    assert again.edge_type.dtype == torch.int64
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize("layer", [RGCNConv, FastRGCNConv])
def test_relational_layers_answer_as_on_the_data(layer: type) -> None:
    torch.manual_seed(0)
    conv, data = layer(1, 3, num_relations=3), graph()
    made = to_disjoint(from_pyg([data, data], infer_schema(data)))
    alone = conv(data.x, data.edge_index, data.edge_type)
    assert torch.allclose(conv(made.x, made.edge_index, made.edge_type), torch.cat([alone, alone]), atol=1e-6)


def test_a_heterogeneous_graph_made_homogeneous() -> None:
    hetero = HeteroData()
    hetero["a"].x, hetero["b"].x = torch.rand(3, 2), torch.rand(2, 2)
    hetero["a", "to", "b"].edge_index = torch.tensor([[0, 1, 2], [0, 1, 1]])
    hetero["b", "rev_to", "a"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])
    data = hetero.to_homogeneous()
    data.y = torch.tensor([0, 1, 0, 1, 1])
    schema = infer_schema(data)
    assert [(r.name, r.reverse) for r in schema.relations] == [("relation 0", "relation 1")]
    (again,) = to_pyg(from_pyg(data, schema))
    assert arcs(again) == arcs(data)


def test_names_are_those_of_the_numbers() -> None:
    schema = infer_schema(graph(), edge_names=["likes", "knows", "owns", "never"])
    assert schema.edge_type_names == ("likes", "knows", "owns", "never")
    assert {relation.name for relation in schema.relations} == {"likes", "knows", "owns"}


def test_names_as_many_as_edge_attr_has_columns_are_of_these() -> None:
    data = graph(edge_attr=torch.eye(2)[[0, 1, 0, 1, 0]])
    schema = infer_schema(data, edge_names=["single", "double"])
    assert (schema.edge_attr_names, schema.edge_type_names) == (("single", "double"), None)
    other = infer_schema(data, edge_names=["likes", "knows", "owns"])
    assert (other.edge_attr_names, other.edge_type_names) == (None, ("likes", "knows", "owns"))


@pytest.mark.parametrize("codes", [torch.rand(5), torch.zeros(5, 2, dtype=torch.long), torch.ones(5, dtype=torch.bool)])
def test_what_is_no_vector_of_whole_numbers_is_left_alone(codes: torch.Tensor) -> None:
    schema = infer_schema(graph(codes))
    assert schema.edge_type_names is None
    assert [relation.name for relation in schema.relations] == ["to"]


def test_a_graph_without_edges_needs_no_numbers() -> None:
    graphs = [graph(), Data(x=torch.rand(2, 1), edge_index=torch.empty(2, 0, dtype=torch.long))]
    for number, each in enumerate(graphs):
        each.y = torch.tensor([number])
    assert len(infer_schema(graphs).relations) == 3


@pytest.mark.parametrize(
    ("codes", "options", "message"),
    [
        ((0, 1, 2), {}, "edge_type has 3 rows for 5 edges"),
        ((0, 1, 2, -1, 0), {}, "edge_type holds -1 to 2"),
        ((0, 1, 2, 3, 0), {"edge_names": ["one", "two"]}, "2 edge names were given, but edge_type goes up to 3"),
    ],
)
def test_numbers_that_do_not_fit_are_named(codes: tuple[int, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        infer_schema(graph(codes), **options)


def test_a_graph_of_a_list_that_lacks_them_is_named() -> None:
    graphs = [graph(), graph()]
    del graphs[1].edge_type
    for number, each in enumerate(graphs):
        each.y = torch.tensor([number])
    with pytest.raises(SchemaError, match="edge_type is missing"):
        infer_schema(graphs)


def test_relations_are_told_once() -> None:
    schema = infer_schema(graph())
    with pytest.raises(SchemaError, match="by edge_attr or by edge_type"):
        Schema(**{**vars(schema), "edge_attr_names": ("single",)})
