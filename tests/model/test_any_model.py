"""Models of every shape work as they are: what dignn says is what the model says when its user calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from pytorch_lightning import LightningModule
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.nn import (
    DeepGCNLayer,
    FastRGCNConv,
    GATv2Conv,
    GCN2Conv,
    GCNConv,
    GINConv,
    GPSConv,
    GraphNorm,
    HANConv,
    HeteroConv,
    HGTConv,
    Linear,
    PNAConv,
    RGCNConv,
    SAGEConv,
    Sequential,
    Set2Set,
    SGConv,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
    to_hetero,
)
from torch_geometric.nn.aggr import AttentionalAggregation, SoftmaxAggregation, SortAggregation

from any_models import (
    DATA,
    Base,
    ByHand,
    GraphModel,
    NodeModel,
    agrees,
    by_batch,
    by_dictionaries,
    by_parts,
    people,
    whole,
)
from dignn import DiGNNExplainer, infer_schema
from dignn.core.errors import SchemaError
from dignn.explainers.methods.dignnexplainer.settings import PRESETS

META = DATA["shops"].metadata()

# -- architectures ------------------------------------------------------------------------------------


class HGT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = HGTConv({"shop": 5, "product": 3}, 8, META, heads=2)
        self.head = Linear(8, 2)

    def forward(self, x_dict: dict, edge_index_dict: dict) -> Tensor:
        return self.head(self.conv(x_dict, edge_index_dict)["shop"])


class HAN(HGT):
    def __init__(self) -> None:
        super().__init__()
        self.conv = HANConv({"shop": 5, "product": 3}, 8, META, heads=2)  # type: ignore[assignment]


class Mixed(nn.Module):
    """Another layer for each relation."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = HeteroConv(
            {
                META[1][0]: SAGEConv((-1, -1), 8),
                META[1][1]: GATv2Conv((-1, -1), 8, add_self_loops=False),
                **{kind: TransformerConv((-1, -1), 8) for kind in META[1][2:]},
            },
            aggr="sum",
        )
        self.head = nn.Linear(8, 2)

    def forward(self, x_dict: dict, edge_index_dict: dict) -> Tensor:
        return self.head(self.conv(x_dict, edge_index_dict)["shop"].relu())


def made_hetero() -> nn.Module:
    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = SAGEConv((-1, -1), 8), Linear(-1, 2)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.head(self.conv(x, edge_index).relu())

    return to_hetero(Inner(), META)


class GPS(nn.Module):
    """Attends over all nodes of a graph, so it takes the batch vector."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.conv = nn.Linear(6, 8), GPSConv(8, GCNConv(8, 8), heads=2, norm=None)
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        return self.head(self.conv(self.first(x), edge_index, batch))


class Cached(nn.Module):
    """Layers that remember the graph they were trained on."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(6, 8, cached=True), SGConv(8, 8, K=2, cached=True)
        self.third, self.head = GCN2Conv(8, 0.1, cached=True), nn.Linear(8, 3)
        self(DATA["people"].x, DATA["people"].edge_index)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = self.first(x, edge_index).relu()
        return self.head(self.third(self.second(hidden, edge_index), hidden, edge_index))


def gin(width: int) -> GINConv:
    return GINConv(nn.Sequential(nn.Linear(width, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8)))


class RGCN(nn.Module):
    """Goes by the kind of edges."""

    def __init__(self, layer: type[nn.Module] = RGCNConv) -> None:
        super().__init__()
        self.conv, self.head = layer(6, 8, num_relations=2), nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        return self.head(self.conv(x, edge_index, edge_type).relu())


class ReadsKinds(RGCN):
    def forward(self, data: Data) -> Tensor:  # type: ignore[override]
        return super().forward(data.x, data.edge_index, data.edge_type)


class TakesMatrix(nn.Module):
    """Edges come as a sparse matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = SAGEConv(6, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor, adj_t: Tensor) -> Tensor:
        return self.head(self.conv(x, adj_t).relu())


DEGREES = torch.bincount(torch.bincount(DATA["people"].edge_index[1]))
ARCHITECTURES: dict[str, tuple[Callable[[], nn.Module], str, ByHand]] = {
    "to_hetero": (made_hetero, "shops", lambda model, graph: by_dictionaries(model, graph)["shop"]),
    "HGT": (HGT, "shops", by_dictionaries),
    "HAN": (HAN, "shops", by_dictionaries),
    "HeteroConv": (Mixed, "shops", by_dictionaries),
    "GCN": (lambda: NodeModel(GCNConv(6, 8), 8), "people", by_parts),
    "GATv2": (lambda: NodeModel(GATv2Conv(6, 4, heads=2), 8), "people", by_parts),
    "PNA": (lambda: NodeModel(PNAConv(6, 8, ["mean", "max"], ["identity", "linear"], DEGREES), 8), "people", by_parts),
    "GPS": (GPS, "people", by_parts),
    "GIN with BatchNorm": (lambda: NodeModel(gin(6), 8), "people", by_parts),
    "PyG Sequential": (
        lambda: Sequential("x, edge_index", [(GCNConv(6, 8), "x, edge_index -> x"), nn.ReLU(), nn.Linear(8, 3)]),
        "people",
        by_parts,
    ),
    "add": (lambda: GraphModel(gin(3), global_add_pool, 8), "molecules", by_batch),
    "mean": (lambda: GraphModel(gin(3), global_mean_pool, 8), "molecules", by_batch),
    "max": (lambda: GraphModel(GATv2Conv(3, 8), global_max_pool, 8), "molecules", by_batch),
    "attention": (
        lambda: GraphModel(GCNConv(3, 8), AttentionalAggregation(nn.Linear(8, 1)), 8),
        "molecules",
        by_batch,
    ),
    "Set2Set": (lambda: GraphModel(GCNConv(3, 8), Set2Set(8, 2), 16), "molecules", by_batch),
    "softmax": (lambda: GraphModel(GCNConv(3, 8), SoftmaxAggregation(learn=True), 8), "molecules", by_batch),
    "sort": (lambda: GraphModel(GCNConv(3, 8), SortAggregation(3), 24), "molecules", by_batch),
}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_architectures(name: str) -> None:
    torch.manual_seed(0)
    make, data, by_hand = ARCHITECTURES[name]
    model = make()
    with torch.no_grad():  # lazy layers learn how wide their inputs are
        first = DATA[data][0] if data == "molecules" else DATA[data]
        by_hand(model, Batch.from_data_list([first]) if data == "molecules" else first)
    agrees(model, data, by_hand)


def by_kinds(model: Any, graph: Any) -> Tensor:
    return model(graph.x, graph.edge_index, graph.edge_type)


def with_kinds() -> Data:
    data = people()
    first, second = data.edge_index.min(0).values, data.edge_index.max(0).values
    data.edge_type = (first + second) % 2  # of both directions
    return data


@pytest.mark.parametrize(
    ("make", "by_hand"),
    [(RGCN, by_kinds), (lambda: RGCN(FastRGCNConv), by_kinds), (ReadsKinds, whole)],
    ids=["RGCN", "FastRGCN", "reads data.edge_type"],
)
def test_kinds_of_edges(make: Callable[[], nn.Module], by_hand: ByHand) -> None:
    torch.manual_seed(0)
    agrees(make(), "people", by_hand, given=with_kinds())


def sparse(data: Data, layout: torch.layout) -> Data:
    index, size = data.edge_index.flip(0), (data.num_nodes, data.num_nodes)
    matrix = torch.sparse_coo_tensor(index, torch.ones(index.size(1)), size).coalesce()
    return Data(x=data.x, adj_t=matrix if layout is torch.sparse_coo else matrix.to_sparse_csr(), y=data.y)


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_edges_as_a_matrix(layout: torch.layout) -> None:
    torch.manual_seed(0)
    agrees(TakesMatrix(), "people", lambda model, graph: model(graph.x, graph.adj_t), given=sparse(people(), layout))
    model = NodeModel(SAGEConv(6, 8), 8)  # calls it edge_index
    agrees(model, "people", lambda model, graph: model(graph.x, graph.adj_t), given=sparse(people(), layout))


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_values_of_a_matrix_are_handed_over(layout: torch.layout) -> None:
    torch.manual_seed(0)
    model, data = NodeModel(GCNConv(6, 8), 8), sparse(people(), layout)
    matrix = data.adj_t.to_sparse_coo().coalesce()
    for values in (3 * matrix.values(), 0.1 + torch.rand(len(matrix.values()))):
        weighted = torch.sparse_coo_tensor(matrix.indices(), values, matrix.shape).coalesce()
        data.adj_t = weighted if layout is torch.sparse_coo else weighted.to_sparse_csr()
        agrees(model, "people", lambda model, graph: model(graph.x, graph.adj_t), given=data)


def test_an_edge_index_that_knows_its_order() -> None:
    torch.manual_seed(0)
    data = people()
    data.edge_index = EdgeIndex(data.edge_index, sparse_size=(90, 90)).sort_by("col").values
    agrees(NodeModel(GCNConv(6, 8), 8), "people", by_parts, given=data)


class LooksUp(nn.Module):
    """An embedding of whole numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.conv = nn.Embedding(400, 8), GCNConv(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv(self.table(x[:, 0]), edge_index)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_whole_numbers_that_are_looked_up(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    data = people()
    data.x = (torch.arange(90) * 4)[:, None].to(dtype)
    with pytest.raises(SchemaError, match="may be ids or quantities; say which"):
        DiGNNExplainer(LooksUp(), data).check()
    schema = infer_schema(data, kinds={"node": "categorical"})
    agrees(LooksUp(), "people", by_parts, given=data, schema=schema)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.uint8])
def test_whole_numbers_for_layers_that_want_fractions(dtype: torch.dtype) -> None:
    data = people()
    data.x = data.x.to(dtype)
    agrees(Base(), "people", lambda model, graph: model(graph.x.float(), graph.edge_index), given=data)


def test_layers_that_remember_their_graph_are_asked_without_and_keep_it() -> None:
    torch.manual_seed(0)
    model = Cached()
    kept = [model.first._cached_edge_index, model.second._cached_x]

    def afresh(model: Cached, graph: Data) -> Tensor:
        fresh = Cached()
        fresh.load_state_dict(model.state_dict())
        for layer in (fresh.first, fresh.second, fresh.third):
            layer.cached = False
            for name in [name for name in vars(layer) if name.startswith("_cached")]:
                setattr(layer, name, None)
        return by_parts(fresh, graph)

    agrees(model, "people", afresh)
    assert model.first.cached
    assert model.first._cached_edge_index is kept[0]
    assert model.second._cached_x is kept[1]


# -- forms of call ------------------------------------------------------------------------------------


class TakesData(Base):
    def forward(self, data: Data) -> Tensor:  # type: ignore[override]
        return self.scores(data.x, data.edge_index)


class TakesBatch(Base):
    """Reads what only batches have."""

    def forward(self, batch: Batch) -> Tensor:  # type: ignore[override]
        assert batch.num_graphs == len(batch.ptr) - 1
        hidden = self.conv(batch.x, batch.edge_index).relu()
        return self.head(global_mean_pool(hidden, batch.batch, batch.num_graphs))


class TakesAnything(Base):
    def forward(self, *args: Tensor, **kwargs: Tensor) -> Tensor:  # type: ignore[override]
        return self.scores(*args, **kwargs)


class PoolsAnything(Base):
    def forward(self, *args: Tensor) -> Tensor:  # type: ignore[override]
        x, edge_index, batch = args
        return self.head(global_mean_pool(self.conv(x, edge_index).relu(), batch))


class PositionOnly(Base):
    def forward(self, x: Tensor, edge_index: Tensor, /) -> Tensor:
        return self.scores(x, edge_index)


class WithFlags(Base):
    def forward(self, x: Tensor, edge_index: Tensor, return_hidden: bool = False, *, scale: float = 1.0) -> Tensor:  # type: ignore[override]
        return self.scores(x, edge_index) * scale


def test_forms_of_call() -> None:
    agrees(TakesData(), "people", whole)
    agrees(TakesAnything(), "people", by_parts)
    agrees(PositionOnly(), "people", by_parts)
    agrees(WithFlags(), "people", by_parts)
    agrees(TakesBatch(3, 2), "molecules", whole)
    agrees(PoolsAnything(3, 2), "molecules", by_batch)
    model = Base()
    agrees(lambda x, edge_index: model(x, edge_index), "people", by_parts)
    agrees(model.scores, "people", by_parts)
    agrees(TakesData(), "people", whole, forward=lambda model, graph: model(graph))


# -- numbers, wrappers, modes -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("data_too", [False, True])
def test_models_of_other_precision(dtype: torch.dtype, data_too: bool) -> None:
    given = people()
    if data_too:
        given.x = given.x.to(dtype)
    made = agrees(
        Base().to(dtype),
        "people",
        lambda model, graph: model(graph.x.to(dtype), graph.edge_index),
        given=given,
    )
    assert made.adapter.score(made.real.trial()).logits.dtype == torch.float32


def test_wrapped_models() -> None:
    model = Base()
    for wrapped in (nn.DataParallel(model), torch.compile(model)):
        model.cpu()  # a device that another test pretends to have attracts the first
        agrees(wrapped, "people", lambda _, graph: by_parts(model, graph))
    agrees(torch.jit.script(model), "people", by_parts)


class Lightning(LightningModule):
    """As people train with Lightning."""

    def __init__(self) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.inner = Base()

    def forward(self, batch: Data) -> Tensor:
        return self.inner(batch.x, batch.edge_index)

    def training_step(self, batch: Data, number: int) -> Tensor:
        return nn.functional.cross_entropy(self(batch), batch.y)


def test_lightning_modules() -> None:
    agrees(Lightning(), "people", whole)


class Trained(Base):
    """Behaves otherwise while it is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.graph_norm, self.drop = nn.BatchNorm1d(8), GraphNorm(8), nn.Dropout(0.5)
        self.deep = DeepGCNLayer(GCNConv(8, 8), nn.BatchNorm1d(8), nn.ReLU(), dropout=0.5)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = self.drop(self.norm(self.conv(x, edge_index)).relu())
        return self.head(self.deep(hidden, edge_index))


def test_modules_that_a_function_closes_over_are_asked_in_evaluation_mode_and_never_changed() -> None:
    model = Trained().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    given = people()

    def function(x: Tensor, edge_index: Tensor) -> Tensor:
        return model(x, edge_index)

    made = DiGNNExplainer(function, given, config=PRESETS["smoke"]).check()
    assert all(module.training for module in model.modules())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    batch, own = made.real.compared()
    model.eval()
    with torch.no_grad():
        expected = torch.cat([by_parts(model, graph) for graph in own]).softmax(1)
    assert torch.allclose(made.adapter.score(batch).probability.float(), expected, atol=1e-4)


def test_names_of_layers_that_are_no_edge_types_are_no_matter() -> None:
    class Bucketed(HGT):
        def __init__(self) -> None:
            super().__init__()
            self.bucket = nn.ModuleDict({"shop__age__bucket": nn.Linear(5, 5), "shop__like__product": nn.Linear(1, 1)})

        def forward(self, x_dict: dict, edge_index_dict: dict) -> Tensor:
            return super().forward(
                {**x_dict, "shop": self.bucket["shop__age__bucket"](x_dict["shop"])}, edge_index_dict
            )

    torch.manual_seed(0)
    agrees(Bucketed(), "shops", by_dictionaries)


def test_hetero_data_itself() -> None:
    torch.manual_seed(0)

    class Takes(HGT):
        def forward(self, data: HeteroData) -> dict[str, Tensor]:  # type: ignore[override]
            return {"shop": super().forward(data.x_dict, data.edge_index_dict)}

    agrees(Takes(), "shops", lambda model, graph: model(graph)["shop"])
