"""Wide sparse tables: the rows that are looked at are those of the dense table, and nothing else becomes dense."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from dignn.core.errors import DignnError
from dignn.core.fingerprint import data_fingerprint
from dignn.core.seeds import Seed
from dignn.features.conditions import DataConditions
from dignn.features.training_rows import MOST_CELLS, training_rows
from dignn.graphs import sparse_rows
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import to_pyg
from dignn.graphs.feature_spec import FeatureKind
from dignn.graphs.inference import infer_schema
from dignn.graphs.sparse_rows import SparseRows, table_of
from dignn.sampling.forest_fire import forest_fire

TABLE = torch.rand(30, 7, generator=torch.Generator().manual_seed(0)).mul(3).floor()
NUMBERS = torch.tensor([[3, 0], [29, 3]])


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> Tensor:
    monkeypatch.setattr(sparse_rows, "DENSE_CELLS", 10)
    found = table_of(TABLE.to_sparse().coalesce())
    assert isinstance(found, SparseRows)
    return found


@pytest.mark.parametrize(
    "look",
    [
        lambda table: table[torch.tensor([4, 4, 29])],
        lambda table: table[torch.tensor([], dtype=torch.long)],
        lambda table: table[NUMBERS],
        lambda table: table[torch.arange(30) % 3 == 0],
        lambda table: table[5],
        lambda table: table[2:9],
        lambda table: table[:, 3],
        lambda table: table.mean(0),
        lambda table: table.gather(0, torch.arange(70).view(10, 7) % 30),
    ],
)
def test_what_is_looked_at_is_as_in_the_dense_table(look: Callable[[Tensor], Tensor], wide: Tensor) -> None:
    torch.testing.assert_close(look(wide), look(TABLE), rtol=1e-6, atol=0)


def test_it_is_a_table_of_the_same_shape(wide: Tensor) -> None:
    assert (len(wide), wide.dim(), wide.shape, wide.dtype) == (len(TABLE), 2, TABLE.shape, TABLE.dtype)


@pytest.mark.parametrize("look", [lambda table: table + 1, lambda table: table.clone(), lambda table: table[:, :2]])
def test_all_else_is_refused(look: Callable[[Tensor], Tensor], wide: Tensor) -> None:
    with pytest.raises(DignnError, match="wide"):
        look(wide)


def huge(nodes: int = 100_000, columns: int = 100_000, layout: torch.layout = torch.sparse_csr) -> Data:
    """A ring whose nodes have four columns each of so many; with all its zeros it would take 40 GB."""
    generator = torch.Generator().manual_seed(0)
    row = torch.arange(nodes).repeat_interleave(4)
    column = (torch.randint(columns // 4, (nodes * 4,), generator=generator) * 4) + torch.arange(4).repeat(nodes)
    place = torch.stack([row, column.view(nodes, 4).sort(1).values.view(-1)])
    x = torch.sparse_coo_tensor(place, torch.ones(nodes * 4), (nodes, columns), is_coalesced=True)
    ring = torch.stack([torch.arange(nodes), (torch.arange(nodes) + 1) % nodes])
    x = x if layout is torch.sparse_coo else x.to_sparse(layout=layout)
    return Data(x=x, edge_index=torch.cat([ring, ring.flip(0)], 1), y=torch.arange(nodes) % 3)


def test_features_that_nobody_could_hold_densely(monkeypatch: pytest.MonkeyPatch) -> None:
    data = huge()
    dense = torch.Tensor.to_dense

    def small(x: Tensor, *more: object) -> Tensor:
        assert x.numel() < MOST_CELLS
        return dense(x)

    monkeypatch.setattr(torch.Tensor, "to_dense", small)
    schema = infer_schema(data)
    assert schema.features[0].kind is FeatureKind.BINARY
    adjacency = Adjacency.build(data, schema)
    batch = forest_fire(adjacency, [4, 6], 5, seed=Seed(0))
    for graph, row in zip(to_pyg(batch), batch.row, strict=True):
        own = row[row >= 0]
        assert torch.equal(dense(graph.x), dense(data.x.to_sparse_coo().index_select(0, own)))
    kept = GraphBatch.unpacked(schema, batch.packed())
    assert torch.equal(kept.features("node"), batch.features("node"))
    learned = adjacency.node_type == 0
    table = training_rows(adjacency, learned, batch, DataConditions(adjacency), "node")
    assert table is not None
    assert table.rows.numel() <= MOST_CELLS
    assert bool((table.rows.sum(1) == 4).all())


def test_their_fingerprint_depends_on_every_entry() -> None:
    data, other = huge(), huge()
    assert data_fingerprint(data) == data_fingerprint(other)
    changed = other.x.to_sparse_coo().coalesce()
    changed.values()[-1] = 2.0
    other.x = changed
    assert data_fingerprint(data) != data_fingerprint(other)
