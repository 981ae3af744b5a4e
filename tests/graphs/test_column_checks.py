"""Rows of a schema whose columns differ: what fits passes and comes back as it came, what does not is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from carrying_graphs import friends
from dignn import DiGNNExplainer, infer_schema
from dignn.core.errors import DignnError, SchemaError
from dignn.features.table import Table
from dignn.graphs import column_checks
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.column_checks import breach, check_rows
from dignn.graphs.conversion import from_pyg, to_pyg
from dignn.graphs.feature_inference import infer_features
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Schema
from mixed_world import SHOP, mixed_data, mixed_schema


def spec() -> FeatureSpec:
    return mixed_schema().spec("shop")


def changed(column: str, value: float) -> Tensor:
    rows = mixed_data()["shop"].x.clone()
    rows[5, SHOP.index(column)] = value
    return rows


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("open", 0.5, "0.5, though its kind is 'binary'"),
        ("visits", -1, "-1, though its kind is 'count'"),
        ("town", 9, "the code 9, which was never seen .codes run from 0 to 3."),
        ("town", 1.5, "1.5, though its kind is 'categorical'"),
        ("bias", 2, "2, though all rows of the schema's data have 1"),
        ("visits", torch.nan, "NaN, though its values are never missing"),
    ],
)
def test_a_value_that_does_not_fit_is_named(column: str, value: float, message: str) -> None:
    data, schema = mixed_data(), mixed_schema()
    data["shop"].x = changed(column, value)
    for read in (from_pyg, Adjacency.build):
        with pytest.raises(SchemaError, match=f"Column '{column}' of 'shop' holds {message}; give rows as"):
            read(data, schema)
    with pytest.raises(DignnError, match=f"'{column}' holds"):
        Table.of(data["shop"].x, torch.zeros(120, 2), schema.spec("shop"))


def test_a_group_that_is_not_one_hot_is_named() -> None:
    rows = mixed_data()["shop"].x
    rows[5, 2:5] = torch.tensor([1.0, 1.0, 0.0])
    found = breach(rows, spec())
    assert found == (2, "2 ones in the one-hot group that it belongs to")


@pytest.mark.parametrize(("column", "value"), [("price", torch.nan), ("visits", 1000), ("founded", 1e6), ("price", -3)])
def test_what_may_be_passes(column: str, value: float) -> None:
    assert breach(changed(column, value), spec()) is None


# -- tables of one kind, and edges --------------------------------------------------------------------

ALIKE = {
    "binary": (torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), 2, "2, though its kind is 'binary'"),
    "count": (torch.tensor([[0.0, 4.0], [3.0, 1.0], [2.0, 2.0]]), 0.5, "0.5, though its kind is 'count'"),
    "categorical": (torch.tensor([[0.0, 4.0], [3.0, 1.0], [2.0, 2.0]]), 5, "the code 5, which was never seen"),
    "identity": (torch.eye(3), 1, "2 ones in the one-hot group"),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_tables_of_one_kind_are_looked_at_too(kind: str) -> None:
    rows, value, message = ALIKE[kind]
    about = infer_features(rows, "t", kind=kind)
    assert check_rows(rows, about, "t") is rows
    other = rows.clone()
    other[2, 1] = value
    with pytest.raises(SchemaError, match=f"Column '.*' of 't' holds {message}"):
        check_rows(other, about, "t")


def test_a_breach_is_found_in_any_block_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_checks, "CELLS", 7)
    rows = torch.zeros(20, 3)
    for place in range(20):
        other = rows.clone()
        other[place, 2] = 0.25
        assert breach(other, FeatureSpec(FeatureKind.BINARY, 3)) == (2, "0.25, though its kind is 'binary'")


def test_rows_of_another_width_are_refused() -> None:
    with pytest.raises(SchemaError, match="'t' has 2 feature columns here and 3 in the schema; give rows as"):
        check_rows(torch.zeros(4, 2), FeatureSpec(FeatureKind.BINARY, 3), "t")


@pytest.mark.parametrize("read", [from_pyg, Adjacency.build])
def test_edges_are_looked_at_as_nodes_are(read: Callable[[Data, Schema], object]) -> None:
    data = friends()
    flags = data.clone()
    flags.edge_attr = (flags.edge_attr > 0.5).float()
    flags.edge_weight = (flags.edge_weight > 0.5).float()
    schema = infer_schema(flags)
    read(flags, schema)
    with pytest.raises(SchemaError, match="Column 'edge_weight' of 'node -to- node' holds .*, though its kind is 'bin"):
        read(data, schema)


def test_nothing_is_written_of_data_that_the_schema_contradicts(tmp_path: Path) -> None:
    flags = friends()
    flags.x = (flags.x > 0.5).float()
    data = flags.clone()
    data.x[7, 2] = 0.25
    folder = tmp_path / "results"
    explainer = DiGNNExplainer(GCNConv(6, 3), data, schema=infer_schema(flags), config="smoke", folder=folder)
    for step in (explainer.check, explainer.fit):
        with pytest.raises(SchemaError, match="'column 2' of 'node' holds 0.25, though its kind is 'binary'; give"):
            step()
    assert not folder.exists() or not any(folder.iterdir())


# -- round trips --------------------------------------------------------------------------------------


def same(one: Tensor, other: Tensor) -> bool:
    return torch.equal(one.nan_to_num(-7.5), other.nan_to_num(-7.5)) and torch.equal(one.isnan(), other.isnan())


def test_missing_values_survive_conversion_and_files(tmp_path: Path) -> None:
    data, schema = mixed_data(), mixed_schema()
    batch = Adjacency.build(data, schema).induced([range(12)])
    assert bool(batch.features("shop").isnan().any())
    batch.save(tmp_path / "batch.safetensors")
    again = GraphBatch.load(tmp_path / "batch.safetensors")
    assert same(again.features("shop"), batch.features("shop"))
    (graph,) = to_pyg(batch)
    assert same(graph["shop"].x, data["shop"].x[:12])
    assert same(from_pyg([graph], replace(schema, target=schema.target)).features("shop"), batch.features("shop"))


def test_missing_values_where_there_are_none_are_damage() -> None:
    batch = Adjacency.build(mixed_data(), mixed_schema()).induced([range(12)])
    packed = batch.packed()
    packed["table.shop.dense"][0, SHOP.index("visits")] = torch.nan
    with pytest.raises(SchemaError, match="table.shop.dense holds values that are no numbers"):
        GraphBatch.unpacked(batch.schema, packed)


@pytest.mark.parametrize("columns", [range(10), [6, 9]])
def test_a_table_to_learn_from_keeps_what_is_missing_in_its_file(columns: range | list[int]) -> None:
    chosen = list(columns)
    rows, about = mixed_data()["shop"].x[:, chosen], spec().only(chosen)
    table = Table.of(rows, torch.zeros(120, 2), about)
    state = table.state()
    assert all(bool(value.isfinite().all()) for value in state.values())
    assert same(Table.restored(state, about).rows, rows)
