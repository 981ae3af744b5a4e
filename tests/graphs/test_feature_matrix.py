"""Features of every dtype and layout: read as the same numbers, handed back as they came."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Data

from dignn.core.errors import SchemaError
from dignn.graphs import column_contents
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.column_checks import breach
from dignn.graphs.column_contents import Contents
from dignn.graphs.conversion import from_pyg, to_disjoint, to_pyg
from dignn.graphs.feature_inference import infer_features
from dignn.graphs.feature_matrix import as_given, read_matrix
from dignn.graphs.feature_spec import DTYPES, LAYOUTS, FeatureKind, FeatureSpec
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Schema
from strategies import PROPERTY, hetero, rings_and_stars

LINE = torch.tensor([[0, 1, 2], [1, 2, 3]])
LABELS = torch.tensor([0, 1, 0, 1])


def one(x: Tensor) -> Data:
    return Data(x=x, edge_index=torch.cat([LINE, LINE.flip(0)], 1), y=LABELS)


def counts(dtype: str) -> Tensor:
    rows = torch.tensor([[0, 3], [1, 0], [0, 0], [5, 2]])
    return (rows % 2 if dtype == "bool" else rows).to(getattr(torch, dtype))


def same(found: Tensor, expected: Tensor) -> bool:
    dense = [each.to_dense() if each.layout is not torch.strided else each for each in (found, expected)]
    return (found.dtype, found.layout, found.shape) == (
        expected.dtype,
        expected.layout,
        expected.shape,
    ) and torch.equal(*(each.double() for each in dense))


# -- round trips --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("convert", [to_disjoint, lambda batch: to_pyg(batch)[0]])
def test_every_dtype_comes_back(dtype: str, convert: Any) -> None:
    data = one(counts(dtype))
    schema = infer_schema(data)
    assert schema.features[0].dtype == dtype
    assert schema.features[0].kind is (FeatureKind.BINARY if dtype == "bool" else FeatureKind.COUNT)
    batch = from_pyg(data, schema)
    assert batch.tables["node"].dtype == torch.float32
    assert same(convert(batch).x, data.x)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "bool"])
def test_every_dtype_of_a_heterogeneous_graph_comes_back(dtype: str) -> None:
    x = {"a": counts(dtype), "b": counts("float32")}
    data = hetero({"a": 4, "b": 4}, {("a", "to", "b"): [(0, 1)]}, x=x, y={"a": [0, 1, 0, 1]})
    schema = infer_schema(data, "a")
    assert [spec.dtype for spec in schema.features] == [dtype, "float32"]
    (again,) = to_pyg(from_pyg(data, schema))
    assert same(again["a"].x, data["a"].x)
    assert same(again["b"].x, data["b"].x)


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout != "strided"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_every_layout_comes_back(layout: str, dtype: str) -> None:
    dense = one(counts(dtype))
    data = one(dense.x.to_sparse(layout=getattr(torch, layout)))
    schema, plain = infer_schema(data), infer_schema(dense)
    assert schema.features[0].layout == layout
    assert schema.features[0].levels == plain.features[0].levels
    assert torch.equal(Adjacency.build(data, schema).tables["node"], Adjacency.build(dense, plain).tables["node"])
    assert same(to_pyg(from_pyg(data, schema))[0].x, data.x)
    assert same(
        to_disjoint(from_pyg([data, data], schema)).x, torch.cat([dense.x, dense.x]).to_sparse(layout=data.x.layout)
    )


@pytest.mark.parametrize("layout", ["strided", "sparse_coo"])
def test_a_vector_comes_back_as_a_vector(layout: str) -> None:
    x = torch.tensor([3, 0, 1, 7])
    data = one(x.to_sparse() if layout == "sparse_coo" else x)
    schema = infer_schema(data)
    assert (schema.features[0].vector, schema.features[0].width) == (True, 1)
    assert same(to_pyg(from_pyg(data, schema))[0].x, data.x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_one_hot_types_in_x_come_back_in_their_dtype(dtype: str) -> None:
    data = one(torch.eye(2)[[0, 1, 1, 0]].to(getattr(torch, dtype)))
    schema = infer_schema(data, "C", type_names=["C", "N"])
    assert same(to_pyg(from_pyg(data, schema))[0].x, data.x)


def test_a_constant_row_comes_back_in_its_dtype() -> None:
    data = one(torch.full((4, 2), 3))
    assert infer_schema(data).features[0].kind is FeatureKind.NONE
    assert same(to_pyg(from_pyg(data, infer_schema(data)))[0].x, data.x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_the_schema_remembers_the_dtype_in_its_file(dtype: str) -> None:
    schema = infer_schema(one(counts(dtype)))
    assert Schema.from_json(schema.to_json()) == schema
    assert ("dtype" in schema.to_json()) == (dtype != "float32")


def test_a_schema_that_says_nothing_new_has_the_file_that_it_always_had() -> None:
    text = infer_schema(rings_and_stars()).to_json()
    assert not any(f'"{field}"' in text for field in ("dtype", "vector", "edge_form", "edge_type_names"))
    assert text.count('"layout"') == 1  # of the graphs, not of features


def test_graphs_of_several_dtypes_are_handed_back_in_one_that_holds_all() -> None:
    graphs = rings_and_stars()
    for number, graph in enumerate(graphs):
        graph.x = torch.arange(graph.num_nodes)[:, None].to(torch.float64 if number == 3 else torch.int64)
    assert infer_schema(graphs).features[0].dtype == "float64"


def test_generated_numbers_of_an_integer_type_are_rounded() -> None:
    data = one(torch.tensor([[1999], [-7], [2004], [3]]))
    schema = infer_schema(data, kinds={"node": "continuous"})
    batch = from_pyg(data, schema)
    made = GraphBatch(**{**vars(batch), "tables": {"node": batch.tables["node"] + 0.4}})
    assert same(to_pyg(made)[0].x, data.x)


# -- sparse matrices ----------------------------------------------------------------------------------


def test_sparse_features_stay_sparse_until_a_table_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.zeros(4, 2**20).index_put((torch.tensor([0, 3]), torch.tensor([5, 9])), torch.tensor([1.0, 2.0]))
    data = one(x.to_sparse_csr())
    monkeypatch.setattr(torch.Tensor, "to_dense", lambda *_: pytest.fail("densified"))
    assert infer_schema(data).features[0].width == 2**20


MATRICES = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 0.5, -1.0, math.nan]), min_size=width, max_size=width),
        min_size=1,
        max_size=6,
    )
)


@PROPERTY
@given(MATRICES, st.sampled_from([1, 7, 1000]))
@example([[1.0, 0.0], [0.0, 1.0]], 1)
@example([[0.0, 1.0], [1.0, 0.0]], 7)
def test_contents_do_not_depend_on_the_layout(rows: list[list[float]], cells: int) -> None:
    x = torch.tensor(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_contents, "CELLS", cells)
        sparse, dense = Contents.of(x.to_sparse().coalesce()), Contents.of(x)
    for name, expected in vars(dense).items():
        found = getattr(sparse, name)
        assert torch.equal(found, expected) if isinstance(expected, Tensor) else found == expected, name


@PROPERTY
@given(MATRICES, MATRICES)
def test_breaches_do_not_depend_on_the_layout(known: list[list[float]], rows: list[list[float]]) -> None:
    width = min(len(known[0]), len(rows[0]))
    x = torch.tensor(rows)[:, :width]
    try:
        spec = infer_features(torch.tensor(known)[:, :width], "t")
    except SchemaError:  # a column without any value
        return
    expected, found = breach(x, spec), breach(x.to_sparse().coalesce(), spec)
    assert (found is None) == (expected is None)
    assert found is None or found[0] == expected[0]


@pytest.mark.parametrize(
    "rows", [torch.eye(5), torch.ones(3, 2), torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.rand(4, 4)]
)
def test_kinds_do_not_depend_on_the_layout(rows: Tensor) -> None:
    found = infer_features(read_matrix(rows.to_sparse(), len(rows), "t")[0], "t")
    assert found.kind is infer_features(rows, "t").kind


# -- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("largest", [256, 30000])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_large_whole_numbers_of_an_integer_tensor_must_be_told(largest: int, dtype: torch.dtype) -> None:
    data = one(torch.tensor([[0], [largest], [3], [3]], dtype=dtype))
    with pytest.raises(
        SchemaError,
        match=f"Column '0' of 'node' has whole numbers up to {largest}, .*codes.*counts.*--kinds node:0=",
    ) as refused:
        infer_schema(data)
    assert "\n" not in str(refused.value)
    for kind in ("categorical", "count", "continuous"):
        spec = infer_schema(data, kinds={"node": kind}).features[0]
        assert spec.kind is FeatureKind(kind)
        assert spec.levels == (None if kind == "continuous" else (largest + 1,))


def test_whole_numbers_of_a_float_tensor_are_quantities_and_it_is_said(caplog: pytest.LogCaptureFixture) -> None:
    data = one(torch.tensor([[1999.0], [2004.0], [3.0], [0.0]]))
    assert infer_schema(data).features[0].kind is FeatureKind.CONTINUOUS
    assert "Column '0' of 'node' has whole numbers up to 2004, which are taken for quantities" in caplog.text
    caplog.clear()
    for x, kinds in ((data.x, {"node": "continuous"}), (data.x + 0.5, None), (data.x.clamp_max(255), None)):
        infer_schema(one(x), kinds=kinds)
    assert not caplog.text


@pytest.mark.parametrize("sparse", [False, True])
def test_a_matrix_without_columns_is_no_features(sparse: bool) -> None:
    x = torch.zeros(4, 0)
    assert infer_schema(one(x.to_sparse() if sparse else x)).features[0].width == 0


def test_a_matrix_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    found = Contents.of
    monkeypatch.setattr(Contents, "of", lambda x: seen.append(1) or found(x))
    infer_schema(one(torch.tensor([[1999.0], [2004.0], [3.0], [0.0]])))
    assert len(seen) == 1


@pytest.mark.parametrize("kind", [None, "categorical", "count", "continuous"])
@pytest.mark.parametrize("value", [2**24 + 1, -(2**24) - 1])
def test_whole_numbers_that_float32_cannot_hold_are_refused(kind: str | None, value: int) -> None:
    with pytest.raises(
        SchemaError, match="hold the whole number 16777217, .* renumber .* another epoch or in a coarser unit"
    ):
        infer_schema(one(torch.tensor([[0], [value], [3], [3]])), kinds=None if kind is None else {"node": kind})


def test_what_is_no_real_number_is_refused() -> None:
    with pytest.raises(SchemaError, match="strided complex64; give real numbers"):
        infer_schema(one(torch.zeros(4, 1, dtype=torch.complex64)))


def test_numbers_that_are_none_are_found_in_sparse_matrices() -> None:
    x = torch.tensor([[0.0, 0.0, 1.0], [0.0, torch.inf, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).to_sparse_csr()
    with pytest.raises(SchemaError, match="first in column 1"):
        infer_schema(one(x))


@pytest.mark.parametrize(("field", "value"), [("dtype", "float8"), ("layout", "woven")])
def test_a_spec_knows_only_what_torch_knows(field: str, value: str) -> None:
    with pytest.raises(SchemaError, match=f"cannot be of the {field} '{value}'"):
        FeatureSpec(**{field: value})


def test_rows_as_given_are_the_same_tensor_where_nothing_is_to_be_done() -> None:
    rows = torch.rand(3, 2)
    assert as_given(rows, FeatureSpec(FeatureKind.CONTINUOUS, 2)) is rows
