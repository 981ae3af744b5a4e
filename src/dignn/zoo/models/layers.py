"""Layers of the models to explain. On a disjoint batch each gives every graph exactly what it gets alone.

All message passing is done by ``MessagePassing`` layers along the edge indices that the model was given, so that
edge masks and edge weights from outside act on every message.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing, SAGEConv
from torch_geometric.nn.inits import glorot
from torch_geometric.nn.module_dict import ModuleDict
from torch_geometric.utils import scatter, softmax

from dignn.graphs.schema import EdgeType

# By node type features (n, d) or batch vectors (n,), and by edge type (2, E).
Tables: TypeAlias = Mapping[str, Tensor]
Edges: TypeAlias = Mapping[EdgeType, Tensor]

SPARSE_MATRIX = 0.1  # a matrix with a smaller share of non-zero entries is multiplied faster as a sparse one


def key(edge_type: EdgeType) -> str:
    """The name of an edge type in a ``ModuleDict``, as PyTorch Geometric's explainers look for it."""
    return "__".join(edge_type)


def graph_count(batch: Tensor | None) -> int:
    """Graphs that a batch vector tells apart; no vector means one graph."""
    return 1 if batch is None else int(batch.max()) + 1 if len(batch) else 0


# -- features -----------------------------------------------------------------------------------------


class Encoder(nn.Module):
    """Projects the features of one node type.

    Args:
        width: columns of the features; 0 for a type without features, or one that the model sees as a constant.
        hidden: columns of the result.
        unit_rows: whether rows are scaled to length 1 first, so that long and short documents weigh the same.

    The input may be a sparse CSR matrix; the result is the same function of it.
    """

    def __init__(self, width: int, hidden: int, unit_rows: bool = False) -> None:
        super().__init__()
        self.width, self.unit_rows = width, unit_rows
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.weight = nn.Parameter(torch.empty(width, hidden)) if width else None
        if self.weight is not None:
            glorot(self.weight)
        else:
            nn.init.normal_(self.bias)

    def forward(self, x: Tensor) -> Tensor:  # (n, width) -> (n, hidden)
        if self.weight is None:
            return self.bias.expand(x.size(0), -1)
        projected = x @ self.weight
        if self.unit_rows:
            projected = projected / _row_length(x).clamp(min=1e-6)
        return projected + self.bias


def cheaper_layout(x: Tensor) -> Tensor:
    """The feature matrix as CSR if it is sparse enough for an :class:`Encoder` to be faster so, else dense."""
    dense = (x if x.layout is torch.strided else x.to_dense()).float()
    if not dense.numel() or dense.count_nonzero() >= SPARSE_MATRIX * dense.numel():
        return dense
    with warnings.catch_warnings():  # "CSR support is in beta"
        warnings.simplefilter("ignore", UserWarning)
        return dense.to_sparse_csr()


def _row_length(x: Tensor) -> Tensor:
    """Euclidean length of each row of a dense or CSR matrix.  (n, 1)"""
    if x.layout is torch.strided:
        return x.norm(dim=1, keepdim=True)
    squares = torch.segment_reduce(x.values().square(), "sum", offsets=x.crow_indices(), initial=0.0)
    return squares.sqrt()[:, None]


# -- homogeneous graphs -------------------------------------------------------------------------------


class SelfMeanSumConv(MessagePassing):
    """``W [x_v, mean of neighbours, sum of neighbours] + b``: sees what is around a node, and how much of it."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(aggr=["mean", "sum"])
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.lin = nn.Linear(3 * in_channels, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:  # (n, in) -> (n, out)
        around = self.propagate(edge_index, x=x)
        return self.lin(torch.cat([x, around], dim=1))


# -- heterogeneous graphs -----------------------------------------------------------------------------


class RelationSAGE(SAGEConv):
    """GraphSAGE along one relation, as a class of its own.

    PyTorch Geometric compiles a layer's ``propagate`` once per class, for the first object made of it. One with several
    aggregations would leave every later ``SAGEConv`` of the process unable to take sparse matrices. And a layer with
    edge masks goes back to the ``propagate`` that its class had before: not to what ``SAGEConv`` has compiled, which
    knows no masks.
    """

    propagate = MessagePassing.propagate


class HeteroSAGELayer(nn.Module):
    """One GraphSAGE layer: each type's own transform plus, for every relation into it, that of its neighbours.

    Args:
        in_channels, out_channels: columns before and after.
        edge_types: the relations to follow.
        types: the node types that get a result; every relation leads to one of them.
        aggregations: how neighbours are joined; with ``mean`` and ``sum`` the layer sees what they are and how many.
        norm: whether the result is normalised (LayerNorm), which keeps sums over many neighbours in bounds.

    A relation without edges adds nothing, so a graph may lack it, or the whole type at its other end.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        edge_types: Sequence[EdgeType],
        types: Collection[str],
        aggregations: Sequence[str] = ("mean",),
        norm: bool = False,
    ) -> None:
        super().__init__()
        self.edge_types = edge_types
        self.own = ModuleDict({name: nn.Linear(in_channels, out_channels) for name in types})
        self.norms = ModuleDict({name: nn.LayerNorm(out_channels) for name in types}) if norm else None
        options = {"aggr": list(aggregations), "root_weight": False, "bias": False}
        self.convs = ModuleDict(
            {key(edge_type): RelationSAGE((in_channels,) * 2, out_channels, **options) for edge_type in edge_types}
        )

    def forward(self, x_dict: Tables, edge_index_dict: Edges) -> dict[str, Tensor]:
        out = {name: own(x_dict[name]) for name, own in self.own.items()}
        for edge_type in self.edge_types:
            if edge_type in edge_index_dict:
                source, _, target = edge_type
                conv = self.convs[key(edge_type)]
                out[target] = out[target] + conv((x_dict[source], x_dict[target]), edge_index_dict[edge_type])
        return out if self.norms is None else {name: self.norms[name](x) for name, x in out.items()}


class NeighbourAttention(MessagePassing):
    """Node-level attention of HAN along one relation: a weighted mean of the neighbours, head by head."""

    def __init__(self, channels: int, heads: int, dropout: float = 0.0, negative_slope: float = 0.2) -> None:
        super().__init__(aggr="add", node_dim=0)
        self.heads, self.dropout, self.negative_slope = heads, dropout, negative_slope
        self.source = nn.Parameter(torch.empty(1, heads, channels // heads))
        self.target = nn.Parameter(torch.empty(1, heads, channels // heads))
        glorot(self.source)
        glorot(self.target)

    def forward(self, x_source: Tensor, x_target: Tensor, edge_index: Tensor) -> Tensor:
        """(n_source, channels), (n_target, channels), (2, E) -> (n_target, channels)"""
        source, target = (x.unflatten(1, (self.heads, -1)) for x in (x_source, x_target))
        alpha = ((source * self.source).sum(-1), (target * self.target).sum(-1))
        return self.propagate(edge_index, x=(source, target), alpha=alpha).flatten(1)

    def message(
        self, x_j: Tensor, alpha_i: Tensor, alpha_j: Tensor, index: Tensor, ptr: Tensor | None, size_i: int | None
    ) -> Tensor:
        alpha = nn.functional.leaky_relu(alpha_i + alpha_j, self.negative_slope)
        alpha = softmax(alpha, index, ptr, size_i)
        return x_j * nn.functional.dropout(alpha, self.dropout, self.training)[..., None]


class HANConv(nn.Module):
    """Heterogeneous graph attention (Wang et al., 2019) on projected features.

    Attention over neighbours for each relation, then attention over relations. How much a relation matters is
    decided within each graph; on one graph the result is that of ``torch_geometric.nn.HANConv``.

    Args:
        channels: columns before and after; a multiple of ``heads``.
        edge_types: the relations to follow. A relation without edges takes part with zeros, as it does there.
        heads: attention heads.
        dropout: of the attention over neighbours, in training.
    """

    def __init__(self, channels: int, edge_types: Sequence[EdgeType], heads: int = 8, dropout: float = 0.0) -> None:
        super().__init__()
        self.edge_types = edge_types
        self.convs = ModuleDict({key(kind): NeighbourAttention(channels, heads, dropout) for kind in edge_types})
        self.lin = nn.Linear(channels, channels)
        self.query = nn.Parameter(torch.empty(1, channels))
        glorot(self.query)

    def forward(self, x_dict: Tables, edge_index_dict: Edges, batch_dict: Tables | None = None) -> dict[str, Tensor]:
        seen: dict[str, list[Tensor]] = {}
        for edge_type in self.edge_types:
            source, _, target = edge_type
            out = torch.zeros_like(x_dict[target])
            if edge_type in edge_index_dict:
                out = self.convs[key(edge_type)](x_dict[source], x_dict[target], edge_index_dict[edge_type]).relu()
            seen.setdefault(target, []).append(out)
        return {name: self._merge(torch.stack(outs), (batch_dict or {}).get(name)) for name, outs in seen.items()}

    def _merge(self, outs: Tensor, batch: Tensor | None) -> Tensor:
        """(R, n, channels) -> (n, channels)"""
        batch = outs.new_zeros(outs.size(1), dtype=torch.long) if batch is None else batch
        mean = scatter(self.lin(outs).tanh(), batch, dim=1, dim_size=graph_count(batch), reduce="mean")
        weight = (self.query * mean).sum(-1).softmax(0)  # (R, graphs)
        return (weight[:, batch, None] * outs).sum(0)
