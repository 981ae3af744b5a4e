"""The models to explain: plain modules that take what PyTorch Geometric models take and return logits.

Heterogeneous models are called ``model(x_dict, edge_index_dict, batch_dict=None)`` and score every node of the
target type; homogeneous ones ``model(x, edge_index, batch=None)`` and score every node, or every graph. Each ends
in one linear layer, so its input is the embedding of what is scored. A batch of graphs side by side gets, graph by
graph, the scores that each gets alone. Constructor arguments are plain JSON values: with the weights they are the
whole model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, GraphNorm
from torch_geometric.nn.module_dict import ModuleDict
from torch_geometric.utils import scatter

from dignn.core.errors import DignnError
from dignn.graphs.schema import EdgeType
from dignn.zoo.models.layers import Edges, Encoder, HANConv, HeteroSAGELayer, SelfMeanSumConv, Tables, graph_count

# Of node types.
Names: TypeAlias = Collection[str]
POOLINGS = ("mean", "sum", "max")
# Variances are floored by this: in a graph whose nodes all look the same (a bare cycle) there is nothing to scale, and
# a small floor would blow rounding up to huge scores.
NORM_EPS = 1e-2


# -- heterogeneous ------------------------------------------------------------------------------------


class _Heterogeneous(nn.Module, ABC):
    """Encodes each node type, then lets :meth:`classify` pass messages.

    The two halves are apart because the first does not depend on the graph: training encodes every row of the
    data once per step and serves the full graph and all subgraphs from it.
    """

    def __init__(
        self, widths: Mapping[str, int], types: Names, hidden: int, unit_rows: Names = (), constant: Names = ()
    ) -> None:
        super().__init__()
        self.encoders = ModuleDict(
            {
                name: Encoder(0 if name in constant else width, hidden, unit_rows=name in unit_rows)
                for name, width in widths.items()
                if name in types
            }
        )

    def forward(self, x_dict: Tables, edge_index_dict: Edges, batch_dict: Tables | None = None) -> Tensor:
        """Logits of the target nodes.  (n, classes)

        Types and relations may be empty or missing. ``batch_dict`` tells the graphs of a disjoint batch apart.
        """
        table = {}
        for name in self.encoders.keys():  # noqa: SIM118
            count = _count(name, edge_index_dict, batch_dict or {})
            table[name] = x_dict[name] if name in x_dict else torch.zeros(count, self.encoders[name].width)
        return self.classify(self.encode(table), edge_index_dict, batch_dict)

    def encode(self, x_dict: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Projected features of every type that can reach the target, graph unseen.  type -> (n, hidden)"""
        return {name: encoder(x_dict[name]) for name, encoder in self.encoders.items()}

    @abstractmethod
    def classify(self, encoded: Tables, edge_index_dict: Edges, batch_dict: Tables | None = None) -> Tensor:
        """Logits of the target nodes from encoded features.  (n, classes)"""


def _count(name: str, edge_index_dict: Edges, batch_dict: Tables) -> int:
    """How many nodes a type without features has, as far as batch vectors and edges tell."""
    if name in batch_dict:
        return len(batch_dict[name])
    ends = [index[0] for (source, _, _), index in edge_index_dict.items() if source == name]
    ends += [index[1] for (_, _, target), index in edge_index_dict.items() if target == name]
    return max((int(end.max()) + 1 for end in ends if len(end)), default=0)


class HeteroSAGE(_Heterogeneous):
    """GraphSAGE (Hamilton et al., 2017) with weights of its own for every relation.

    Relations that cannot reach the target within ``layers`` steps have no weights.

    Args:
        widths: feature columns by node type.
        edge_types: every (source, name, target).
        target: the classified type.
        classes: number of classes.
        hidden: width of every layer.
        layers: GraphSAGE layers.
        aggregations: how the neighbours over a relation are joined: ``mean``, ``sum``, ``max``, or several of them.
        norm: whether every layer ends in a LayerNorm.
        dropout: before every layer and before the head, in training.
        row_dropout: by type, the share of nodes whose features are hidden in training, so that the model learns to
            read the graph and not to recognise the few nodes it knows the class of.
        unit_rows: types whose feature rows are scaled to length 1.
        constant: types whose features the model does not look at.
    """

    def __init__(
        self,
        widths: Mapping[str, int],
        edge_types: Sequence[Sequence[str]],
        target: str,
        classes: int,
        hidden: int = 64,
        layers: int = 2,
        aggregations: Sequence[str] = ("mean",),
        norm: bool = False,
        dropout: float = 0.0,
        row_dropout: Mapping[str, float] | None = None,
        **encoding: Names,
    ) -> None:
        plan: list[tuple[list[str], list[EdgeType]]] = []  # from the last layer to the first
        needed = {target}
        for _ in range(layers):
            chosen = [(source, name, end) for source, name, end in edge_types if end in needed]
            plan.append((sorted(needed), chosen))
            needed = needed | {source for source, _, _ in chosen}
        super().__init__(widths, needed, hidden, **encoding)
        self.target, self.dropout, self.row_dropout = target, dropout, dict(row_dropout or {})
        self.layers = nn.ModuleList(
            HeteroSAGELayer(hidden, hidden, chosen, types, aggregations, norm) for types, chosen in reversed(plan)
        )
        self.head = nn.Linear(hidden, classes)

    def classify(self, encoded: Tables, edge_index_dict: Edges, batch_dict: Tables | None = None) -> Tensor:
        h = {name: self._between(self._hide(name, x)) for name, x in encoded.items()}
        for layer in self.layers:
            h = {name: self._between(x) for name, x in layer(h, edge_index_dict).items()}
        return self.head(h[self.target])

    def _hide(self, name: str, x: Tensor) -> Tensor:
        if name not in self.row_dropout:
            return x
        return x * nn.functional.dropout(x.new_ones(len(x), 1), self.row_dropout[name], self.training)

    def _between(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(x.relu(), self.dropout, self.training)


class HAN(_Heterogeneous):
    """Heterogeneous graph attention network (Wang et al., 2019): one layer of attention, then the head.

    Args:
        widths, edge_types, target, classes, hidden, unit_rows, constant: as in :class:`HeteroSAGE`.
        heads: attention heads; they divide ``hidden``.
        dropout: of the attention weights, in training.
        feature_dropout: of the projected features and of the head's input, in training.
    """

    def __init__(
        self,
        widths: Mapping[str, int],
        edge_types: Sequence[Sequence[str]],
        target: str,
        classes: int,
        hidden: int = 128,
        heads: int = 8,
        dropout: float = 0.6,
        feature_dropout: float = 0.0,
        **encoding: Names,
    ) -> None:
        if hidden % heads:
            raise DignnError(f"{heads} attention heads do not divide a width of {hidden}; change hidden= or heads=")
        chosen = [(source, name, end) for source, name, end in edge_types if end == target]
        if not chosen:
            raise DignnError(f"No relation leads to '{target}', so there is nothing to attend to; add one to the data")
        super().__init__(widths, {target, *(source for source, _, _ in chosen)}, hidden, **encoding)
        self.target, self.feature_dropout = target, feature_dropout
        self.attention = HANConv(hidden, chosen, heads, dropout)
        self.head = nn.Linear(hidden, classes)

    def classify(self, encoded: Tables, edge_index_dict: Edges, batch_dict: Tables | None = None) -> Tensor:
        h = {name: self._drop(x) for name, x in encoded.items()}
        return self.head(self._drop(self.attention(h, edge_index_dict, batch_dict)[self.target]))

    def _drop(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(x, self.feature_dropout, self.training)


# -- homogeneous --------------------------------------------------------------------------------------


class GCN(nn.Module):
    """Graph convolutional network (Kipf and Welling, 2017): the paper's model for all but DBLP and IMDB.

    Args:
        in_channels: feature columns.
        classes: number of classes.
        hidden: width of every layer.
        layers: convolutions.
        dropout: before the head, in training.
        pooling: None to score nodes, else how a graph's nodes are joined: one or more of ``mean``, ``sum`` and
            ``max``, with ``+`` between them.
        conv: the layers' class.
        kept: how many layers' outputs :meth:`embed` gives side by side.
    """

    def __init__(
        self,
        in_channels: int,
        classes: int,
        hidden: int = 64,
        layers: int = 3,
        dropout: float = 0.0,
        pooling: str | None = None,
        *,
        conv: type[nn.Module] = GCNConv,
        kept: int = 1,
    ) -> None:
        super().__init__()
        self.dropout, self.pooling = dropout, pooling.split("+") if pooling is not None else []
        unknown = set(self.pooling) - set(POOLINGS)
        if unknown:
            raise DignnError(f"Unknown pooling {sorted(unknown)}; choose from {', '.join(POOLINGS)}, joined by '+'")
        self.convs = nn.ModuleList(conv(hidden if i else in_channels, hidden) for i in range(layers))
        self.head = nn.Linear(kept * hidden * max(1, len(self.pooling)), classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Logits of every node (n, classes), or of every graph (graphs, classes)."""
        x = self.embed(x, edge_index, batch)
        if self.pooling:
            batch = x.new_zeros(len(x), dtype=torch.long) if batch is None else batch
            x = torch.cat([scatter(x, batch, 0, graph_count(batch), reduce=kind) for kind in self.pooling], dim=1)
        return self.head(nn.functional.dropout(x, self.dropout, self.training))

    def embed(self, x: Tensor, edge_index: Tensor, batch: Tensor | None) -> Tensor:
        """What is known of every node before graphs are joined.  (n, d)"""
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        return x


class MotifGNN(GCN):
    """A GCN that can count: self, mean and sum of the neighbours, every layer's output kept, normalised by graph.

    A plain GCN on constant features sees little more than a blurred degree; this one tells the small structures
    apart that make the classes of the synthetic data sets.

    Args:
        in_channels, classes, hidden, layers, dropout, pooling: as in :class:`GCN`.
    """

    def __init__(self, in_channels: int, classes: int, hidden: int = 32, layers: int = 3, **options: Any) -> None:
        super().__init__(in_channels, classes, hidden, layers, **options, conv=SelfMeanSumConv, kept=layers)
        self.norms = nn.ModuleList(GraphNorm(hidden, NORM_EPS) for _ in range(layers))

    def embed(self, x: Tensor, edge_index: Tensor, batch: Tensor | None) -> Tensor:
        outs = [x]
        for conv, norm in zip(self.convs, self.norms, strict=True):
            outs.append(norm(conv(outs[-1], edge_index), batch, graph_count(batch)).relu())
        return torch.cat(outs[1:], dim=1)


ARCHITECTURES: dict[str, type[nn.Module]] = {"HeteroSAGE": HeteroSAGE, "HAN": HAN, "GCN": GCN, "MotifGNN": MotifGNN}


def build(architecture: str, arguments: Mapping[str, Any]) -> nn.Module:
    """The model that a card describes, with fresh weights from the global generator.

    Raises:
        DignnError: for an unknown architecture, or arguments that it does not take.
    """
    if architecture not in ARCHITECTURES:
        raise DignnError(f"Unknown architecture '{architecture}'; choose from {', '.join(ARCHITECTURES)}")
    try:
        return ARCHITECTURES[architecture](**arguments)
    except TypeError as error:
        raise DignnError(f"{architecture} cannot be built from these arguments ({error}); check the card") from error
