"""Whole runs on data as users have it: any container, ids, edges in a matrix, graphs that fall apart."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, GINConv, global_add_pool
from torch_geometric.transforms import ToSparseTensor

from dignn import DiGNNExplainer, infer_schema
from dignn.core.errors import DignnError
from dignn.explanations.explanation import Explanations
from strategies import rings_and_stars

pytestmark = pytest.mark.usefixtures("haste")


class Pooled(nn.Module):
    """Scores graphs; asks for what only a real batch has."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GINConv(nn.Linear(1, 4))
        self.out = nn.Linear(4, 2)

    def forward(self, data: Any) -> Tensor:
        assert len(data.ptr) == data.num_graphs + 1
        return self.out(global_add_pool(self.conv(data.x, data.edge_index).relu(), data.batch, data.num_graphs))


@pytest.fixture
def pooled() -> Pooled:
    torch.manual_seed(0)
    return Pooled().eval()


def explained(model: nn.Module, data: Any, **options: Any) -> Explanations:
    return DiGNNExplainer(model, data, config="smoke", **options).fit().explain(top_k=2, measure=False)


def probabilities(found: Explanations) -> list[tuple[float, ...]]:
    return [item.probability for name in found for item in found[name]]


def test_every_container_gives_the_same_explanations(pooled: Pooled) -> None:
    graphs = rings_and_stars()
    expected = probabilities(explained(pooled, graphs))
    for given in (Batch.from_data_list(graphs), DataLoader(graphs, batch_size=5, shuffle=True)):
        assert probabilities(explained(pooled, given)) == expected


@pytest.mark.parametrize("fresh", [DataLoader(rings_and_stars()), lambda: Batch.from_data_list(rings_and_stars())])
def test_fresh_data_may_come_in_any_form(pooled: Pooled, fresh: Any) -> None:
    explainer = DiGNNExplainer(pooled, rings_and_stars(), fresh=fresh, config="smoke")
    assert len(explainer._fresh_graphs().train)


def test_strange_data_is_refused_at_once(pooled: Pooled) -> None:
    with pytest.raises(DignnError, match="The data is a int"):
        DiGNNExplainer(pooled, 3)
    with pytest.raises(DignnError, match="fresh is 3; give a Data"):
        DiGNNExplainer(pooled, rings_and_stars(), fresh=3)


def falling_apart(share: int) -> list[Data]:
    """Rings and stars, of which all but one in ``share`` sizes fall apart."""
    graphs = rings_and_stars()
    for graph in graphs:
        if graph.num_nodes % share:
            graph.edge_index = graph.edge_index[:, (graph.edge_index != 1).all(0)]
    return graphs


def test_graphs_that_fall_apart_do_not_end_a_run(pooled: Pooled) -> None:
    found = explained(pooled, falling_apart(5))
    assert {int(item.graph.sizes[0]) for name in found for item in found[name]} == {5}


def test_where_all_fall_apart_there_is_one_sentence(pooled: Pooled) -> None:
    with pytest.raises(DignnError, match="connected") as refused:
        explained(pooled, falling_apart(99))
    assert "\n" not in str(refused.value)


# -- nodes --------------------------------------------------------------------------------------------


class Embedded(nn.Module):
    """Looks ids up, so that an id that does not exist, or is no whole number, is an error."""

    def __init__(self, ids: int) -> None:
        super().__init__()
        self.table, self.conv = nn.Embedding(ids, 8), GCNConv(8, 2)

    def forward(self, data: Any) -> Tensor:
        return self.conv(self.table(data.x), data.adj_t if "adj_t" in data else data.edge_index)


def with_ids(count: int = 1500) -> Data:
    generator = torch.Generator().manual_seed(0)
    index = torch.randint(count, (2, 2 * count), generator=generator)
    index = index[:, index[0] != index[1]]
    both = torch.cat([index, index.flip(0)], 1).unique(dim=1)
    ids = torch.randperm(30_000, generator=generator)[:count]
    return Data(x=ids, edge_index=both, y=torch.arange(count) % 2)


@pytest.mark.parametrize("matrix", [False, True])
def test_generated_ids_exist_and_what_comes_back_is_what_was_asked(matrix: bool) -> None:
    torch.manual_seed(0)
    model, data = Embedded(30_000).eval(), with_ids()
    known = set(data.x.tolist())
    if matrix:
        data = ToSparseTensor(layout=torch.sparse_csr)(data)
    found = explained(model, data, schema=infer_schema(data, kinds={"node": "categorical"}))
    for name in found:
        for item in found[name]:
            again = item.to_hetero_data()
            assert ("adj_t" in again, "edge_index" in again) == (matrix, not matrix)
            assert again.x.dtype == torch.int64
            assert set(again.x.tolist()) <= known
            assert int(again.classified.sum()) == 1
            scores = model(again)[again.classified].softmax(1)[0]
            assert scores.tolist() == pytest.approx(item.probability, abs=1e-5)
