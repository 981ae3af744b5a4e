"""The model answers here as it answers there, or there is a sentence that says what makes the difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, GINConv, HeteroConv, SAGEConv, global_mean_pool

from any_models import GraphModel, NodeModel, molecules, people, shops
from dignn import DiGNNExplainer
from dignn.core.errors import DignnError, ModelMismatchError


class Weighted(nn.Module):
    """A GCN whose edges may have weights; ``read`` says where from."""

    def __init__(self, read: Callable[[Data], Tensor | None] | None = None, columns: int = 6) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head, self.read = GCNConv(columns, 8), nn.Linear(8, 3), read

    def scores(self, x: Tensor, edge_index: Tensor, weight: Tensor | None) -> Tensor:
        return self.head(self.conv(x, edge_index, weight).relu())

    def forward(self, data: Data) -> Tensor:
        return self.scores(data.x, data.edge_index, self.read(data) if self.read else None)


class NamesWeight(Weighted):
    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return self.scores(x, edge_index, edge_weight)


class NamesItOwnWay(Weighted):
    def forward(self, x: Tensor, edge_index: Tensor, ew: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return self.scores(x, edge_index, ew)


class TakesAnything(Weighted):
    def forward(self, *args: Tensor) -> Tensor:  # type: ignore[override]
        return self.scores(args[0], args[1], args[2] if len(args) > 2 else None)


def with_field(name: str, value: Tensor | None = None) -> Data:
    data = people()
    rng = torch.Generator().manual_seed(1)
    data[name] = 2 * torch.rand(data.edge_index.size(1), generator=rng) if value is None else value
    return data


def times(data: Data) -> Tensor:
    return 1 + (data.when % 7).float()


FIELDS = {
    "positions": (
        Weighted(lambda data: (data.pos[data.edge_index[0]] - data.pos[data.edge_index[1]]).norm(dim=1)),
        with_field("pos", torch.rand(90, 2, generator=torch.Generator().manual_seed(2))),
        "pos",
    ),
    "whole numbers of edges that are too large": (
        Weighted(times),
        with_field("when", 1_700_000_000 + people().edge_index.sum(0)),
        "when",
    ),
    "a table for each edge": (
        Weighted(lambda data: data.edge_cube.sum((1, 2))),
        with_field("edge_cube", torch.rand(people().num_edges, 2, 2, generator=torch.Generator().manual_seed(3))),
        "edge_cube",
    ),
    "names of edges": (
        Weighted(lambda data: torch.tensor([float(len(name)) for name in data.names])),
        with_field("names", ["ab" * (place % 3 + 1) for place in range(people().num_edges)]),  # type: ignore[arg-type]
        "names",
    ),
}


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "names of edges"])
def test_a_model_that_goes_by_what_generated_graphs_lack_is_refused(name: str) -> None:
    model, data, field = FIELDS[name]
    with pytest.raises(ModelMismatchError, match=rf"goes by {field}, which generated graphs do not have: .* without"):
        DiGNNExplainer(model, data).check()


def test_edges_with_names_are_refused() -> None:
    model, data, _ = FIELDS["names of edges"]
    with pytest.raises(ModelMismatchError):  # a list is cut by nobody, so the model fails on the user's own graphs
        DiGNNExplainer(model, data).check()


def test_the_sentence_counts_the_labels_that_change() -> None:
    model, data, _ = FIELDS["a table for each edge"]

    def forward(model: Weighted, graph: Data) -> Tensor:
        return model.scores(graph.x, graph.edge_index, graph.edge_cube.sum((1, 2)) if "edge_cube" in graph else None)

    made = DiGNNExplainer(model, data, forward=forward)
    _, own = made.real.compared()
    with torch.no_grad():
        there = torch.cat([model(graph) for graph in own])
        here = torch.cat([model.scores(graph.x, graph.edge_index, None) for graph in own])
    changed = int((there.argmax(1) != here.argmax(1)).sum())
    shift = float((there.softmax(1) - here.softmax(1)).abs().max())
    with pytest.raises(ModelMismatchError, match=rf"gives {changed} of {len(there)} nodes .* by up to {shift:.2g}"):
        made.check()


def test_a_difference_may_be_accepted(caplog: pytest.LogCaptureFixture) -> None:
    def forward(model: Weighted, graph: Data) -> Tensor:
        return model.scores(graph.x + (graph.pos.sum() if "pos" in graph else 0), graph.edge_index, None)

    model, data, _ = FIELDS["positions"]
    DiGNNExplainer(model, data, forward=forward, on_difference="warn").check()
    assert "goes by pos" in caplog.text
    with pytest.raises(DignnError, match="on_difference is 'ignore'; choose from refuse, warn"):
        DiGNNExplainer(model, data, on_difference="ignore")  # type: ignore[arg-type]


def test_fields_that_make_no_difference_are_no_matter(caplog: pytest.LogCaptureFixture) -> None:
    data = with_field("edge_weight")
    data.pos, data.train_mask, data.name = torch.rand(90, 2), torch.ones(90, dtype=torch.bool), "people"
    DiGNNExplainer(Weighted(), data).check()
    ones = with_field("edge_weight", torch.ones(people().edge_index.size(1)))
    DiGNNExplainer(NamesWeight(), ones).check()
    assert not caplog.records


@pytest.mark.parametrize(
    ("model", "place"), [(NamesItOwnWay(), "the optional 'ew'"), (TakesAnything(), "more than it is given")]
)
def test_what_could_be_handed_over_by_another_name_leaves_a_doubt(model: Any, place: str) -> None:
    data = with_field("edge_weight")
    with pytest.raises(ModelMismatchError, match=f"takes {place}, and whether that is edge_weight .*say by forward="):
        DiGNNExplainer(model, data).check()
    without = DiGNNExplainer(model, data, forward=lambda model, graph: model(graph.x, graph.edge_index))
    without.check()
    DiGNNExplainer(
        model, data, forward=lambda model, graph: model(graph.x, graph.edge_index, graph.edge_weight)
    ).check()


def test_weights_under_another_name_leave_a_doubt() -> None:
    with pytest.raises(ModelMismatchError, match=r"the optional 'edge_weight', .*edge_attr of the data"):
        DiGNNExplainer(NamesWeight(), with_field("edge_attr")).check()


def gin(columns: int) -> GINConv:
    torch.manual_seed(0)
    return GINConv(nn.Linear(columns, 8))


def test_few_parallel_edges_and_self_loops_are_found_wherever_they_are() -> None:
    data = people(nodes=600)
    few = torch.tensor([[300], [301]])
    model = NodeModel(gin(6), 8)
    DiGNNExplainer(model, data).check()
    twice = Data(x=data.x, edge_index=torch.cat([data.edge_index, few], 1), y=data.y)
    with pytest.raises(ModelMismatchError, match="goes by parallel edges"):
        DiGNNExplainer(model, twice).check()
    loop = Data(x=data.x, edge_index=torch.cat([data.edge_index, few[:1].repeat(2, 1)], 1), y=data.y)
    with pytest.raises(ModelMismatchError, match="goes by self-loops"):
        DiGNNExplainer(model, loop).check()
    torch.manual_seed(0)
    DiGNNExplainer(NodeModel(GCNConv(6, 8), 8), loop).check()  # it adds one to every node anyway
    DiGNNExplainer(NodeModel(GINConv(nn.Linear(6, 8), aggr="max"), 8), twice).check()  # the largest is the same


def test_several_relations_between_two_nodes_are_named() -> None:
    data = shops()
    sells = data["shop", "sells", "product"].edge_index
    data["shop", "loves", "product"].edge_index = sells[:, ::3]
    data["product", "rev_loves", "shop"].edge_index = sells[:, ::3].flip(0)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv = HeteroConv({kind: SAGEConv((-1, -1), 8) for kind in data.edge_types})
            self.head = nn.Linear(8, 2)

        def forward(self, x_dict: dict, edge_index_dict: dict) -> Tensor:
            return self.head(self.conv(x_dict, edge_index_dict)["shop"])

    model = Model()
    model(data.x_dict, data.edge_index_dict)
    with pytest.raises(ModelMismatchError, match="goes by several relations between two nodes"):
        DiGNNExplainer(model, data, "shop").check()


def test_graph_classifiers_are_asked_as_loaders_would() -> None:
    graphs = molecules()
    for graph in graphs:
        graph.edge_cube = torch.rand(graph.num_edges, 2, 2, generator=torch.Generator().manual_seed(3))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv, self.head = GCNConv(3, 8), nn.Linear(8, 2)

        def forward(self, data: Batch) -> Tensor:
            own = data.get("edge_cube")
            weight = None if own is None else own.sum((1, 2))
            return self.head(global_mean_pool(self.conv(data.x, data.edge_index, weight), data.batch))

    with pytest.raises(ModelMismatchError, match=r"goes by edge_cube.* of \d+ graphs another label"):
        DiGNNExplainer(Model(), graphs).check()
    torch.manual_seed(0)
    DiGNNExplainer(GraphModel(GATConv(3, 8), global_mean_pool, 8), graphs).check()


def test_a_failure_on_the_users_own_graphs_names_a_remedy() -> None:
    class Learned(nn.Module):
        """Has something of its own for every node."""

        def __init__(self) -> None:
            super().__init__()
            self.table, self.conv = nn.Embedding(90, 6), GCNConv(6, 3)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(self.table.weight + x, edge_index)

    with pytest.raises(ModelMismatchError, match=r"fails on the data's own graphs.*; give the data that the"):
        DiGNNExplainer(Learned(), people()).check()


def test_ids_that_a_model_looks_up_are_no_quantities() -> None:
    data = people()
    data.x = torch.cat([data.x, torch.arange(90)[:, None] * 7.0], dim=1)

    class LooksUp(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.table, self.conv = nn.Embedding(700, 4), GCNConv(10, 3)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(torch.cat([x[:, :6], self.table(x[:, 6].long())], 1), edge_index)

    with pytest.raises(ModelMismatchError, match=r"Column 6 of 'node' holds whole numbers up to 623 .*'categorical'"):
        DiGNNExplainer(LooksUp(), data).check()
    torch.manual_seed(0)
    data.x[:, 6] /= 700
    DiGNNExplainer(NodeModel(GCNConv(7, 8), 8), data).check()
