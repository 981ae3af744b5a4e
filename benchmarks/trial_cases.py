"""Random users: a model, its data and how they are handed over, each with the call that its user would write.

Everything about a case is drawn independently: kind of data, layer, precision, fields, form of call, output, wrapper,
container. What the user would compute by hand stays apart from all of it, so that it can judge the rest.
"""

from __future__ import annotations

import random
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    GATv2Conv,
    GCNConv,
    GINConv,
    GINEConv,
    GraphConv,
    HeteroConv,
    HGTConv,
    NNConv,
    SAGEConv,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.transforms import ToUndirected
from torch_geometric.utils import to_undirected

Named = namedtuple("Named", "hidden scores")
CLASSES = 3
WIDTH, COLUMNS = 8, 6
# Layers that take a weight for each edge, and those that do not.
WEIGHTED: dict[str, Callable[[int], nn.Module]] = {
    "GCN": lambda columns: GCNConv(columns, WIDTH),
    "GraphConv": lambda columns: GraphConv(columns, WIDTH),
    "cached GCN": lambda columns: GCNConv(columns, WIDTH, cached=True),
}
UNWEIGHTED: dict[str, Callable[[int], nn.Module]] = {
    "SAGE": lambda columns: SAGEConv(columns, WIDTH),
    "max SAGE": lambda columns: SAGEConv(columns, WIDTH, aggr="max"),
    "GIN": lambda columns: GINConv(nn.Sequential(nn.Linear(columns, WIDTH), nn.BatchNorm1d(WIDTH))),
    "GATv2": lambda columns: GATv2Conv(columns, WIDTH),
    "Transformer": lambda columns: TransformerConv(columns, WIDTH),
}
# Layers that take attributes of edges.
ATTRIBUTES = 3
ATTRIBUTED: dict[str, Callable[[int], nn.Module]] = {
    "GINE": lambda columns: GINEConv(nn.Linear(columns, WIDTH), edge_dim=ATTRIBUTES),
    "GATv2 of edges": lambda columns: GATv2Conv(columns, WIDTH, edge_dim=ATTRIBUTES),
    "NNConv": lambda columns: NNConv(columns, WIDTH, nn.Linear(ATTRIBUTES, columns * WIDTH)),
}
LAYERS = WEIGHTED | UNWEIGHTED | ATTRIBUTED
POOLS = {"add": global_add_pool, "mean": global_mean_pool, "max": global_max_pool}
DTYPES = {"float32": torch.float32, "float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16}
OPTIONS: dict[str, list[str]] = {
    "data": ["nodes", "nodes", "hetero nodes", "graphs", "graphs"],
    "layer": list(LAYERS),
    "pool": list(POOLS),
    "precision": ["float32"] * 4 + ["float64", "float16", "bfloat16"],
    "x": ["as the model"] * 4 + ["int64", "bool", "float64"],
    "field": [
        *["none"] * 5,
        "weights unused",
        "weights of one",
        "weights by name",
        "weights read from data",
        "weights by another name",
        "attributes by name",
        "attributes read from data",
        "positions",
        "self-loops",
        "parallel edges",
        "masks and names",
    ],
    "call": ["parts", "parts", "data", "anything", "by position", "function", "method", "forward="],
    "output": [
        *["tensor"] * 4,
        "tuple",
        "tuple, scores last",
        "dictionary",
        "named tuple",
        "object with logits",
        "two that fit",
        "probabilities",
        "log-probabilities",
        "independent probabilities",
        "probabilities said to be raw",
        "scores said to be probabilities",
    ],
    "wrapper": ["none"] * 4 + ["in training", "DataParallel", "script", "compile"],
    "container": ["plain"] * 3 + ["list", "loader", "EdgeIndex", "matrix", "labels of NumPy"],
}


@dataclass(frozen=True)
class Case:
    """A user's model and data.

    Args:
        choices: what was drawn.
        model, data: what the user gives.
        options: further arguments of the explainer.
        by_hand: raw scores (n or 1, C) that the user computes of one of their graphs.
        of_graphs: whether graphs are classified.
    """

    choices: dict[str, str]
    model: Any
    data: Any
    by_hand: Callable[[Any], Tensor]
    of_graphs: bool
    options: dict[str, Any] = field(default_factory=dict)


def draw(rng: random.Random) -> Case:
    """A random case that its user can compute by hand."""
    while True:
        choices = {name: rng.choice(values) for name, values in OPTIONS.items()}
        if _possible(choices):
            with torch.random.fork_rng():
                torch.manual_seed(rng.randrange(2**31))
                return _hetero(choices) if choices["data"] == "hetero nodes" else _homogeneous(choices)


def _possible(choices: dict[str, str]) -> bool:
    weights = choices["field"].startswith("weights") and choices["field"] != "weights unused"
    attributes = choices["field"].startswith("attributes")
    matrix, graphs = choices["container"] == "matrix", choices["data"] == "graphs"
    return not (
        (weights and choices["layer"] not in WEIGHTED)
        or attributes != (choices["layer"] in ATTRIBUTED)
        or (attributes and choices["data"] == "hetero nodes")
        or (matrix and (choices["field"] in ("self-loops", "parallel edges") or weights or attributes or graphs))
        or (matrix and choices["layer"] in ("GATv2", "Transformer", "cached GCN"))
        or (choices["precision"] == "float16" and choices["layer"] in ("GATv2", "Transformer", *ATTRIBUTED))
        or (choices["wrapper"] == "script" and not _scriptable(choices))
        or (choices["field"] == "positions" and choices["call"] not in ("data", "forward="))
        or (choices["field"].endswith("read from data") and choices["call"] not in ("data", "forward="))
        or (choices["field"].endswith(("by name", "by another name")) and choices["call"] != "parts")
        or (choices["container"] == "loader" and not graphs)
    )


def _scriptable(choices: dict[str, str]) -> bool:
    plain = ("call", "parts"), ("output", "tensor"), ("field", "none"), ("precision", "float32"), ("x", "as the model")
    return all(choices[name] == value for name, value in plain) and choices["layer"] != "cached GCN"


# -- data ---------------------------------------------------------------------------------------------


def _graph(nodes: int, label: Tensor, choices: dict[str, str]) -> Data:
    chain = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    more = (torch.rand(nodes, nodes) < 2.0 / nodes).triu(1).nonzero().T
    data = Data(x=(torch.rand(nodes, COLUMNS) < 0.4).float(), edge_index=to_undirected(torch.cat([chain, more], 1)))
    data.y = label
    kind = choices["field"]
    if kind == "self-loops":
        data.edge_index = torch.cat([data.edge_index, torch.arange(0, nodes, 5).repeat(2, 1)], 1)
    if kind == "parallel edges":
        data.edge_index = torch.cat([data.edge_index, data.edge_index[:, ::7]], 1)
    if kind.startswith("weights"):
        one = kind == "weights of one"
        name = "ew" if kind == "weights by another name" else "edge_weight"
        data[name] = torch.ones(data.num_edges) if one else 0.2 + 2 * torch.rand(data.num_edges)
    if kind.startswith("attributes"):
        data.edge_attr = torch.rand(data.num_edges, ATTRIBUTES)
    if kind == "positions":
        data.pos = torch.randn(nodes, COLUMNS)
    if kind == "masks and names":
        data.train_mask, data.name, data.weight = torch.rand(nodes) < 0.5, "somebody's", torch.rand(nodes)
    wanted = {"int64": torch.int64, "bool": torch.bool, "float64": torch.float64}
    data.x = data.x.to(wanted.get(choices["x"], DTYPES[choices["precision"]]))
    return data


def _contained(data: Any, choices: dict[str, str]) -> Any:
    kind, graphs = choices["container"], data if isinstance(data, list) else [data]
    for graph in graphs:
        if kind == "EdgeIndex":
            size = (graph.num_nodes, graph.num_nodes)
            graph.edge_index = EdgeIndex(graph.edge_index, sparse_size=size)
        if kind == "matrix":
            ones = torch.ones(graph.num_edges, dtype=DTYPES[choices["precision"]])
            size = (graph.num_nodes, graph.num_nodes)
            graph.adj_t = torch.sparse_coo_tensor(graph.edge_index.flip(0), ones, size).coalesce().to_sparse_csr()
            del graph.edge_index
        if kind == "labels of NumPy" and not isinstance(data, list):
            graph.y = graph.y.numpy()
    if kind == "loader":
        return DataLoader(data, batch_size=16, shuffle=True)
    return tuple(data) if kind == "list" and isinstance(data, list) else data


# -- models -------------------------------------------------------------------------------------------


class Core(nn.Module):
    """What the model computes, whatever is around it."""

    def __init__(self, choices: dict[str, str]) -> None:
        super().__init__()
        self.conv = LAYERS[choices["layer"]](COLUMNS)
        self.drop, self.head = nn.Dropout(0.5), nn.Linear(WIDTH, CLASSES)
        with torch.no_grad():
            self.head.weight.mul_(4)
        self.pool = POOLS[choices["pool"]] if choices["data"] == "graphs" else None

    def hidden(self, x: Tensor, edge_index: Tensor, batch: Tensor | None, weight: Tensor | None = None) -> Tensor:
        found = self.conv(x, edge_index) if weight is None else self.conv(x, edge_index, weight)
        found = self.drop(found.relu())
        return found if self.pool is None else self.pool(found, batch)


class Scripted(nn.Module):
    """A core that torch.jit can read."""

    def __init__(self, core: Core) -> None:
        super().__init__()
        self.conv, self.drop, self.head = core.conv, core.drop, core.head

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(self.drop(self.conv(x, edge_index).relu()))


def _shown(core: Core, hidden: Tensor, kind: str) -> Any:
    """What a model returns of what it computed."""
    scores = core.head(hidden)
    return {
        "tuple": (scores, hidden),
        "tuple, scores last": (hidden, scores),
        "dictionary": {"hidden": hidden, "out": scores},
        "named tuple": Named(hidden, scores),
        "object with logits": SimpleNamespace(logits=scores, loss=None),
        "two that fit": (scores * 2, scores),
        "probabilities": scores.softmax(1),
        "probabilities said to be raw": scores.softmax(1),
        "log-probabilities": scores.log_softmax(1),
        "independent probabilities": scores.sigmoid(),
    }.get(kind, scores)


def _number(x: Tensor, core: nn.Module) -> Tensor:
    return x.to(next(core.parameters()).dtype)


def _presented(core: Core, choices: dict[str, str]) -> tuple[Any, dict[str, Any]]:
    """The model as its user has it, and what the user says beside it."""
    kind, call, output = choices["field"], choices["call"], choices["output"]
    pooled = core.pool is not None

    def read(data: Any) -> Any:
        x = _number(data.x, core)
        if kind == "positions":
            x = x + _number(data.pos, core)
        read_from_data = {"weights read from data": "edge_weight", "attributes read from data": "edge_attr"}
        weight = _number(data[read_from_data[kind]], core) if kind in read_from_data else None
        edges = data.adj_t if choices["container"] == "matrix" else data.edge_index
        return _shown(core, core.hidden(x, edges, data.batch if pooled else None, weight), output)

    def parts(x: Tensor, edge_index: Tensor, batch: Tensor | None, weight: Tensor | None) -> Any:
        weight = None if weight is None else _number(weight, core)
        return _shown(core, core.hidden(_number(x, core), edge_index, batch, weight), output)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.core = core

    class Parts(Model):
        def forward(self, x, edge_index, batch=None):  # type: ignore[no-untyped-def]
            return parts(x, edge_index, batch, None)

    class PartsWeight(Model):
        def forward(self, x, edge_index, batch=None, edge_weight=None):  # type: ignore[no-untyped-def]
            return parts(x, edge_index, batch, edge_weight)

    class PartsAttributes(Model):
        def forward(self, x, edge_index, batch=None, edge_attr=None):  # type: ignore[no-untyped-def]
            return parts(x, edge_index, batch, edge_attr)

    class PartsOther(Model):
        def forward(self, x, edge_index, batch=None, ew=None):  # type: ignore[no-untyped-def]
            return parts(x, edge_index, batch, ew)

    class Position(Model):
        def forward(self, x, edge_index, batch=None, /):  # type: ignore[no-untyped-def]
            return parts(x, edge_index, batch, None)

    class Anything(Model):
        def forward(self, *args):  # type: ignore[no-untyped-def]
            return parts(args[0], args[1], args[2] if pooled else None, None)

    class Whole(Model):
        def forward(self, data):  # type: ignore[no-untyped-def]
            return read(data)

    by_name = {
        **{"weights by name": PartsWeight, "weights of one": PartsWeight, "weights by another name": PartsOther},
        "attributes by name": PartsAttributes,
    }
    model: Any = {"data": Whole, "anything": Anything, "by position": Position, "forward=": Parts}.get(
        call, by_name.get(kind, Parts)
    )()
    options: dict[str, Any] = {}
    if output in ("probabilities said to be raw", "scores said to be probabilities"):
        options["return_type"] = "raw" if output == "probabilities said to be raw" else "probs"
    if call == "forward=":
        options["forward"] = lambda model, graph: read(graph)
    model = _wrapped(model, core, choices)
    if call == "function":
        return (lambda x, edge_index, batch=None: model(x, edge_index, batch)), options
    return (model.forward if call == "method" and choices["wrapper"] in ("none", "in training") else model), options


def _wrapped(model: nn.Module, core: Core, choices: dict[str, str]) -> Any:
    kind = choices["wrapper"]
    if kind == "script" and core.pool is None:
        return torch.jit.script(Scripted(core).eval())
    if kind == "compile":
        return torch.compile(model)
    if kind == "DataParallel":
        return nn.DataParallel(model)
    return model.train() if kind == "in training" else model.eval()


def _homogeneous(choices: dict[str, str]) -> Case:
    graphs = choices["data"] == "graphs"
    if graphs:
        data: Any = [_graph(random.Random(n).randint(5, 9), torch.tensor([n % CLASSES]), choices) for n in range(45)]
    else:
        data = _graph(70, torch.arange(70) % CLASSES, choices)
    core = Core(choices)

    core = core.to(DTYPES[choices["precision"]])
    kind = choices["field"]
    used = {
        **{"weights by name": "edge_weight", "weights read from data": "edge_weight", "weights by another name": "ew"},
        **{"attributes by name": "edge_attr", "attributes read from data": "edge_attr"},
    }.get(kind)
    if choices["layer"] == "cached GCN" and not graphs:
        core.eval().hidden(_number(data.x, core), data.edge_index, None)  # remembers its training graph
    model, options = _presented(core, choices)

    def by_hand(graph: Any) -> Tensor:
        kept = core.conv.cached if isinstance(core.conv, GCNConv) else False
        training = [module for module in core.modules() if module.training]
        core.eval()
        if kept:
            core.conv.cached, remembered = False, core.conv._cached_edge_index
            core.conv._cached_edge_index = None
        x = _number(graph.x, core) + (_number(graph.pos, core) if kind == "positions" else 0)
        edges = graph.adj_t if choices["container"] == "matrix" else graph.edge_index
        weight = None if used is None else _number(graph[used], core)
        batch = torch.zeros(graph.num_nodes, dtype=torch.long) if graphs else None
        with torch.no_grad():
            scores = core.head(core.hidden(x, edges, batch, weight)).double()
        if kept:
            core.conv.cached, core.conv._cached_edge_index = True, remembered
        for module in training:
            module.training = True
        return scores

    return Case(choices, model, _contained(data, choices), by_hand, graphs, options)


# -- heterogeneous ------------------------------------------------------------------------------------


def _hetero(choices: dict[str, str]) -> Case:
    data = HeteroData()
    data["shop"].x = (torch.rand(50, COLUMNS) < 0.4).float()
    data["shop"].y = torch.arange(50) % CLASSES
    data["product"].x = torch.rand(100, 3)
    every = torch.arange(100)
    data["shop", "sells", "product"].edge_index = torch.stack([every % 50, every])
    data["product", "like", "product"].edge_index = torch.stack([every, every.roll(3)])
    data = ToUndirected()(data)
    kind = choices["field"]
    if kind.startswith("weights"):
        for store in data.edge_stores:
            one = kind == "weights of one"
            store.edge_weight = torch.ones(store.num_edges) if one else 0.2 + 2 * torch.rand(store.num_edges)
    if kind == "parallel edges":
        store = data["product", "like", "product"]
        store.edge_index = torch.cat([store.edge_index, store.edge_index[:, ::9]], 1)
    used = kind in ("weights by name", "weights read from data", "weights by another name")

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            if used or kind == "weights of one":
                self.conv: nn.Module = HeteroConv({kind: GraphConv((-1, -1), WIDTH) for kind in data.edge_types})
            elif choices["layer"] in ("GIN", "GATv2", "Transformer"):
                self.conv = HGTConv({"shop": COLUMNS, "product": 3}, WIDTH, data.metadata())
            else:
                self.conv = HeteroConv({kind: SAGEConv((-1, -1), WIDTH) for kind in data.edge_types}, aggr="sum")
            self.drop, self.head = nn.Dropout(0.5), nn.Linear(WIDTH, CLASSES)

        def hidden(self, x: dict, edges: dict, weights: dict | None) -> Tensor:
            found = self.conv(x, edges) if weights is None else self.conv(x, edges, weights)
            return self.drop(found["shop"].relu())

    class Dictionaries(Model):
        def forward(self, x_dict, edge_index_dict, edge_weight_dict=None):  # type: ignore[no-untyped-def]
            weights = edge_weight_dict if used or kind == "weights of one" else None
            return _shown(self, self.hidden(x_dict, edge_index_dict, weights), choices["output"])  # type: ignore[arg-type]

    class Whole(Model):
        def forward(self, data):  # type: ignore[no-untyped-def]
            weights = data.collect("edge_weight", True) if used else None
            return _shown(self, self.hidden(data.x_dict, data.edge_index_dict, weights or None), choices["output"])  # type: ignore[arg-type]

    model = Whole() if choices["call"] in ("data", "forward=") else Dictionaries()
    with torch.no_grad():
        weights = data.collect("edge_weight", True) or None
        model.eval().hidden(data.x_dict, data.edge_index_dict, weights if used or kind == "weights of one" else None)
        model.head.weight.mul_(4)
    options: dict[str, Any] = {"target": "shop"}
    if choices["output"] in ("probabilities said to be raw", "scores said to be probabilities"):
        options["return_type"] = "raw" if choices["output"] == "probabilities said to be raw" else "probs"

    def by_hand(graph: Any) -> Tensor:
        training = [module for module in model.modules() if module.training]
        model.eval()
        weights = graph.collect("edge_weight", True) if used else None
        with torch.no_grad():
            scores = model.head(model.hidden(graph.x_dict, graph.edge_index_dict, weights or None)).double()
        for module in training:
            module.training = True
        return scores

    given: Any = model.train() if choices["wrapper"] == "in training" else model
    if choices["wrapper"] == "DataParallel":
        given = nn.DataParallel(model)
    if choices["call"] == "function":
        inner = given
        given = lambda x_dict, edge_index_dict: inner(x_dict, edge_index_dict)  # noqa: E731
    return Case(choices, given, data, by_hand, False, options)
