"""Edges in every field and form: read as the plain edges, and written back as they came."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GCNConv, SAGEConv
from torch_geometric.transforms import ToSparseTensor

from dignn.core.errors import SchemaError
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.conversion import from_pyg, to_disjoint, to_pyg
from dignn.graphs.edge_forms import EdgeForm, matrix_values
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Schema
from strategies import pairs_of

PAIRS = torch.tensor([[0, 0, 1, 2, 3, 4], [1, 2, 3, 3, 4, 0]])  # directed, so that a transposed matrix shows


class SparseMatrix:
    """What torch_sparse's SparseTensor is asked for."""

    def __init__(self, row: Tensor, col: Tensor, value: Tensor | None = None, sparse_sizes: Any = None) -> None:
        order = (row * sparse_sizes[1] + col).argsort(stable=True)
        self.parts = row[order], col[order], None if value is None else value[order]
        self.shape = sparse_sizes

    def coo(self) -> tuple[Tensor, Tensor, Tensor | None]:
        return self.parts

    def sparse_sizes(self) -> tuple[int, int]:
        return self.shape


@pytest.fixture(autouse=True)
def _torch_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch_geometric.typing.SparseTensor", SparseMatrix)


def matrix(pairs: Tensor, size: tuple[int, int], layout: torch.layout, **options: Any) -> Tensor:
    """The transposed adjacency: rows are targets."""
    return torch.sparse_coo_tensor(pairs.flip(0), torch.ones(pairs.size(1), **options), size[::-1]).to_sparse(
        layout=layout
    )


def sparse_matrix(pairs: Tensor, size: tuple[int, int], valued: bool) -> SparseMatrix:
    value = torch.ones(pairs.size(1), dtype=torch.float64) if valued else None
    return SparseMatrix(pairs[1], pairs[0], value, size[::-1])


def in_form(name: str, pairs: Tensor, size: tuple[int, int]) -> dict[str, Any]:
    forms: dict[str, Any] = {
        "tensor": lambda: {"edge_index": pairs},
        "EdgeIndex": lambda: {"edge_index": EdgeIndex(pairs, sparse_size=size)},
        "EdgeIndex row": lambda: {"edge_index": EdgeIndex(pairs, sparse_size=size).sort_by("row")[0]},
        "EdgeIndex col": lambda: {"edge_index": EdgeIndex(pairs, sparse_size=size).sort_by("col")[0].fill_cache_()},
        "adj_t coo": lambda: {"adj_t": matrix(pairs, size, torch.sparse_coo)},
        "adj_t csr": lambda: {"adj_t": matrix(pairs, size, torch.sparse_csr)},
        "adj_t float64": lambda: {"adj_t": matrix(pairs, size, torch.sparse_csr, dtype=torch.float64)},
        "adj_t csc": lambda: {"adj_t": matrix(pairs, size, torch.sparse_csc)},
        "adj_t SparseTensor": lambda: {"adj_t": sparse_matrix(pairs, size, False)},
        "adj_t SparseTensor with values": lambda: {"adj_t": sparse_matrix(pairs, size, True)},
        "matrix in edge_index": lambda: {"edge_index": matrix(pairs, size, torch.sparse_csr)},
        "SparseTensor in edge_index": lambda: {"edge_index": sparse_matrix(pairs, size, False)},
        "both": lambda: {"edge_index": pairs, "adj_t": matrix(pairs, size, torch.sparse_csr)},
        "both, with values of float64": lambda: {
            "edge_index": pairs,
            "adj_t": matrix(pairs, size, torch.sparse_csr, dtype=torch.float64),
        },
        "both, SparseTensor": lambda: {"edge_index": pairs, "adj_t": sparse_matrix(pairs, size, True)},
    }
    return forms[name]()


FORMS = [
    "tensor",
    "EdgeIndex",
    "EdgeIndex row",
    "EdgeIndex col",
    "adj_t coo",
    "adj_t csr",
    "adj_t float64",
    "adj_t csc",
    "adj_t SparseTensor",
    "adj_t SparseTensor with values",
    "matrix in edge_index",
    "SparseTensor in edge_index",
    "both",
    "both, with values of float64",
    "both, SparseTensor",
]


def homogeneous(form: str) -> Data:
    return Data(x=torch.arange(5.0)[:, None] / 2, y=torch.tensor([0, 1, 0, 1, 1]), **in_form(form, PAIRS, (5, 5)))


def heterogeneous(form: str) -> HeteroData:
    data = HeteroData()
    data["user"].x, data["user"].y = torch.rand(3, 2), torch.tensor([0, 1, 0])
    data["item"].x = torch.rand(5, 1)
    pairs = torch.tensor([[0, 0, 1, 2, 2], [1, 4, 0, 2, 3]])
    for edge_type, index, size in (
        (("user", "buys", "item"), pairs, (3, 5)),
        (("item", "rev_buys", "user"), pairs.flip(0), (5, 3)),
    ):
        for field, value in in_form(form, index, size).items():
            data[edge_type][field] = value
    return data


def edges_of(given: Any) -> set[tuple[int, int]]:
    """The arcs of whatever holds them, in plain words."""
    if isinstance(given, SparseMatrix):
        return {(int(source), int(target)) for target, source, *_ in zip(*given.coo()[:2], strict=True)}
    if given.layout is not torch.strided:
        return {(int(source), int(target)) for target, source in given.to_dense().nonzero()}
    return pairs_of(given)


def describe(given: Any) -> tuple[Any, ...]:
    """What must be the same when it comes back."""
    if isinstance(given, SparseMatrix):
        value = given.coo()[2]
        return type(given), given.sparse_sizes(), None if value is None else (value.dtype, value.unique().tolist())
    if isinstance(given, EdgeIndex):
        return type(given), given.sparse_size(), given.sort_order
    if given.layout is not torch.strided:
        return given.layout, given.dtype, tuple(given.shape)
    return type(given), given.layout, given.dtype


# -- round trips --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_edges_of_a_homogeneous_graph_come_back_as_they_were(form: str) -> None:
    data, plain = homogeneous(form), homogeneous("tensor")
    schema = infer_schema(data)
    assert schema.relations == infer_schema(plain).relations
    assert Adjacency.build(data, schema).neighbour.tolist() == Adjacency.build(plain, schema).neighbour.tolist()
    (again,) = to_pyg(from_pyg(data, schema))
    assert {"edge_index", "adj_t"} & set(again.keys()) == {"edge_index", "adj_t"} & set(data.keys())
    for field in {"edge_index", "adj_t"} & set(data.keys()):
        assert edges_of(again[field]) == edges_of(data[field]) == pairs_of(PAIRS)
        assert describe(again[field]) == describe(data[field])


@pytest.mark.parametrize("form", FORMS)
def test_edges_of_a_heterogeneous_graph_come_back_as_they_were(form: str) -> None:
    torch.manual_seed(0)
    data = heterogeneous(form)
    schema = infer_schema(data, "user")
    assert [relation.reverse for relation in schema.relations] == ["rev_buys"]
    (again,) = to_pyg(from_pyg(data, schema))
    for edge_type in data.edge_types:
        for field in {"edge_index", "adj_t"} & set(data[edge_type].keys()):
            assert edges_of(again[edge_type][field]) == edges_of(data[edge_type][field])
            assert describe(again[edge_type][field]) == describe(data[edge_type][field])


@pytest.mark.parametrize("form", FORMS)
def test_the_schema_remembers_the_form_in_its_file(form: str) -> None:
    schema = infer_schema(homogeneous(form))
    assert Schema.from_json(schema.to_json()) == schema
    assert ("edge_form" in schema.to_json()) == (form != "tensor")


# What PyTorch Geometric's layers take; GCNConv wants no CSC.
TAKEN = [form for form in FORMS if "SparseTensor" not in form and "float64" not in form]


@pytest.mark.parametrize(
    ("layer", "form"),
    [(SAGEConv, form) for form in TAKEN] + [(GCNConv, form) for form in TAKEN if form != "adj_t csc"],
)
def test_layers_answer_as_on_plain_edges(form: str, layer: type) -> None:
    torch.manual_seed(0)
    conv = layer(1, 3)
    graphs = [homogeneous(form), homogeneous(form)]
    for number, graph in enumerate(graphs):
        graph.y = torch.tensor([number])
    made = to_disjoint(from_pyg(graphs, infer_schema(graphs)))
    expected = torch.cat([conv(graph.x, PAIRS) for graph in graphs])
    for field in {"edge_index", "adj_t"} & set(made.keys()):
        assert torch.allclose(conv(made.x, made[field]), expected, atol=1e-6)


def test_the_transform_of_pytorch_geometric() -> None:
    plain = homogeneous("tensor")
    data = ToSparseTensor(layout=torch.sparse_csr)(homogeneous("tensor"))
    assert "edge_index" not in data
    assert infer_schema(data).edge_form == EdgeForm(None, "sparse_csr", "float32")
    (again,) = to_pyg(from_pyg(data, infer_schema(data)))
    assert edges_of(again.adj_t) == pairs_of(plain.edge_index)


@pytest.mark.parametrize("form", FORMS)
def test_values_are_those_of_a_matrix_in_either_field(form: str) -> None:
    store = homogeneous(form)._store
    valued = [each for each in store.values("edge_index", "adj_t") if edges_have_values(each)]
    found = matrix_values(store)
    assert (found is None) == (not valued)
    if valued and isinstance(store.get("adj_t"), Tensor):
        store.adj_t = store.adj_t * 0.5
        assert set(matrix_values(store).tolist()) == {0.5}


def edges_have_values(given: Any) -> bool:
    return given.coo()[2] is not None if isinstance(given, SparseMatrix) else given.layout is not torch.strided


def test_weights_of_an_adjacency_are_handed_over() -> None:
    data = homogeneous("adj_t float64")
    (again,) = to_pyg(from_pyg(data, infer_schema(data)))
    assert again.adj_t.values().unique().tolist() == [1.0]
    assert again.adj_t.dtype == torch.float64
    data.adj_t = data.adj_t * 0.5
    (again,) = to_pyg(from_pyg(data, infer_schema(data)))
    assert again.adj_t.values().unique().tolist() == [0.5]
    assert again.adj_t.dtype == torch.float64


def test_edge_weights_follow_the_order_of_a_matrix() -> None:
    data = homogeneous("adj_t csr")
    batch = from_pyg(data, infer_schema(data))
    weight = torch.arange(25.0).reshape(1, 5, 5)
    made = to_disjoint(batch, weight)
    target, source = made.adj_t.to_sparse_coo().coalesce().indices()
    assert made.edge_weight.tolist() == weight[0, source, target].tolist()


# -- what is refused ----------------------------------------------------------------------------------


def test_several_forms_are_refused() -> None:
    with pytest.raises(SchemaError, match=r"several forms, here edge_index \(tensor\) and there adj_t \(sparse_csr\)"):
        infer_schema(
            [
                Data(num_nodes=5, y=0, **in_form("tensor", PAIRS, (5, 5))),
                Data(num_nodes=5, y=1, **in_form("adj_t csr", PAIRS, (5, 5))),
            ]
        )


@pytest.mark.parametrize("edges", [PAIRS.numpy(), PAIRS.tolist()])
def test_edges_that_are_no_tensor_are_named(edges: Any) -> None:
    data = Data(x=torch.rand(5, 1), y=torch.tensor([0, 1, 0, 1, 1]))
    data.edge_index = edges
    with pytest.raises(SchemaError, match="are a (ndarray|list); give an edge_index"):
        infer_schema(data)


def test_a_form_that_is_none_is_refused() -> None:
    with pytest.raises(SchemaError, match="Edges cannot be in the form"):
        EdgeForm("nonsense")
    with pytest.raises(SchemaError, match="Edges cannot be in the form"):
        EdgeForm(None, None)
    with pytest.raises(SchemaError, match="Edges cannot be in the form"):
        EdgeForm(None, "sparse_csr", "nonsense")
