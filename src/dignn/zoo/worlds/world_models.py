"""The models of worlds: two layers of message passing that read whatever nodes and edges carry.

``OneTypeModel`` takes ``x, edge_index, batch=None`` and scores nodes or graphs, ``SeveralTypesModel`` takes
``x_dict, edge_index_dict`` and scores nodes of the target type. Where edges carry something, it is an argument, too.
Each ends in one linear layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATv2Conv, GINEConv, GraphConv, SAGEConv
from torch_geometric.nn.module_dict import ModuleDict
from torch_geometric.utils import scatter

from dignn.graphs.schema import EdgeType
from dignn.zoo.models.layers import graph_count

# Width of every layer, how many there are, and the share of it that is hidden in training.
HIDDEN_WIDTH, WORLD_LAYERS, DROPOUT = 48, 2, 0.2


def message_passing(edges: str, edge_scale: tuple[Tensor, Tensor] | None) -> nn.Module:
    """A layer of the kind that reads these edge features.

    Args:
        edges: kind of the edge features, or ``none``.
        edge_scale: (k,) means and standard deviations of their columns, if there are any.
    """
    width = HIDDEN_WIDTH
    if edges == "none":
        return SAGEConv((width, width), width, root_weight=False)
    if edges == "weight":
        return GraphConv((width, width), width, aggr="mean")
    assert edge_scale is not None
    columns = len(edge_scale[0])
    if edges == "one-hot":
        inner = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        return GINEConv(inner, edge_dim=columns)
    return GATv2Conv((width, width), width, edge_dim=columns, add_self_loops=False)


class Passing(nn.Module):
    """One layer over one relation, its edge features brought to scale.

    Args:
        edges, edge_scale: as in :func:`message_passing`.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, edges: str, edge_scale: tuple[Tensor, Tensor] | None) -> None:
        super().__init__()
        self.conv = message_passing(edges, edge_scale)
        self.scaled = edge_scale is not None
        if edge_scale is not None:
            self.register_buffer("mean", edge_scale[0])
            self.register_buffer("scale", edge_scale[1])

    def forward(self, source: Tensor, target: Tensor, edge_index: Tensor, features: Tensor | None) -> Tensor:
        given = () if features is None else ((features - self.mean) / self.scale,) if self.scaled else (features,)
        return self.conv((source, target), edge_index, *given)


class OneTypeModel(nn.Module):
    """Scores the nodes of a graph with one node type, or whole graphs.

    Args:
        encoder: of the rows.
        classes: how many.
        of_graphs: whether graphs are scored.
        directed: whether edges are followed both ways, by weights of their own.
        edges, edge_scale: as in :func:`message_passing`.
    """

    def __init__(
        self,
        encoder: nn.Module,
        classes: int,
        *,
        of_graphs: bool,
        directed: bool,
        edges: str = "none",
        edge_scale: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.encoder, self.of_graphs, self.directed = encoder, of_graphs, directed
        width = HIDDEN_WIDTH
        self.own = nn.ModuleList(nn.Linear(width, width) for _ in range(WORLD_LAYERS))
        self.there = nn.ModuleList(Passing(edges, edge_scale) for _ in range(WORLD_LAYERS))
        self.back = nn.ModuleList(Passing(edges, edge_scale) for _ in range(WORLD_LAYERS * directed))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(WORLD_LAYERS))
        self.head = nn.Linear(width * (1 + of_graphs), classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        return self._scores(x, edge_index, None, batch)

    def _scores(self, x: Tensor, edge_index: Tensor, features: Tensor | None, batch: Tensor | None) -> Tensor:
        h = self._between(self.encoder(x))
        for number, (own, there, norm) in enumerate(zip(self.own, self.there, self.norms, strict=True)):
            out = own(h) + there(h, h, edge_index, features)
            if self.directed:
                out = out + self.back[number](h, h, edge_index.flip(0), features)
            h = self._between(norm(out))
        if self.of_graphs:
            batch = edge_index.new_zeros(len(h)) if batch is None else batch
            pooled = [scatter(h, batch, dim_size=graph_count(batch), reduce=way) for way in ("mean", "max")]
            h = torch.cat(pooled, dim=1)
        return self.head(h)

    def _between(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(x.relu(), DROPOUT, self.training)


class OneTypeEdgeModel(OneTypeModel):
    """The same with features of edges."""

    def forward(  # type: ignore[override]
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor | None = None
    ) -> Tensor:
        return self._scores(x, edge_index, edge_attr, batch)


class OneTypeWeightModel(OneTypeModel):
    """The same with weights of edges."""

    def forward(  # type: ignore[override]
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor, batch: Tensor | None = None
    ) -> Tensor:
        return self._scores(x, edge_index, edge_weight, batch)


class SeveralTypesModel(nn.Module):
    """Scores the nodes of the target type of a graph with several node types.

    Args:
        encoders: of the rows, by node type.
        edge_types: every (source, name, target).
        target: the classified type.
        classes: how many.
        edges: as in :func:`message_passing`.
        edge_scales: by edge type, means and standard deviations of the columns of edge features, if there are any.
    """

    def __init__(
        self,
        encoders: Mapping[str, nn.Module],
        edge_types: Sequence[EdgeType],
        target: str,
        classes: int,
        edges: str = "none",
        edge_scales: Mapping[EdgeType, tuple[Tensor, Tensor]] | None = None,
    ) -> None:
        super().__init__()
        needed, plan = {target}, []
        for _ in range(WORLD_LAYERS):  # from the last to the first: what can reach the target
            followed = [edge_type for edge_type in edge_types if edge_type[2] in needed]
            plan.append((sorted(needed), followed))
            needed = needed | {source for source, _, _ in followed}
        self.encoders = nn.ModuleDict({name: encoder for name, encoder in encoders.items() if name in needed})
        self.layers = nn.ModuleList(_TypedLayer(types, kinds, edges, edge_scales or {}) for types, kinds in plan[::-1])
        self.target = target
        self.head = nn.Linear(HIDDEN_WIDTH, classes)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[EdgeType, Tensor]) -> Tensor:
        return self._scores(x_dict, edge_index_dict, {})

    def _scores(self, x_dict: Any, edge_index_dict: Any, features: Mapping[EdgeType, Tensor]) -> Tensor:
        h = {name: self._between(encoder(x_dict[name])) for name, encoder in self.encoders.items() if name in x_dict}
        for layer in self.layers:
            h = {name: self._between(x) for name, x in layer(h, edge_index_dict, features).items()}
        return self.head(h[self.target])

    def _between(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(x.relu(), DROPOUT, self.training)


class SeveralTypesEdgeModel(SeveralTypesModel):
    """The same with features of edges."""

    def forward(  # type: ignore[override]
        self,
        x_dict: dict[str, Tensor],
        edge_index_dict: dict[EdgeType, Tensor],
        edge_attr_dict: dict[EdgeType, Tensor],
    ) -> Tensor:
        return self._scores(x_dict, edge_index_dict, edge_attr_dict)


class _TypedLayer(nn.Module):
    """Each type's own transform, and what comes over every relation; types and relations may be missing in a graph."""

    def __init__(
        self,
        types: Sequence[str],
        edge_types: Sequence[EdgeType],
        edges: str,
        edge_scales: Mapping[EdgeType, tuple[Tensor, Tensor]],
    ) -> None:
        super().__init__()
        self.edge_types = edge_types
        self.own = nn.ModuleDict({name: nn.Linear(HIDDEN_WIDTH, HIDDEN_WIDTH) for name in types})
        self.norms = nn.ModuleDict({name: nn.LayerNorm(HIDDEN_WIDTH) for name in types})
        self.over = ModuleDict({"->".join(kind): Passing(edges, edge_scales.get(kind)) for kind in edge_types})

    def forward(
        self, h: dict[str, Tensor], edge_index_dict: Any, features: Mapping[EdgeType, Tensor]
    ) -> dict[str, Tensor]:
        out = {name: own(h[name]) for name, own in self.own.items() if name in h}
        for kind in self.edge_types:
            source, _, target = kind
            if kind in edge_index_dict and source in h and target in h:
                over = self.over["->".join(kind)]
                out[target] = out[target] + over(h[source], h[target], edge_index_dict[kind], features.get(kind))
        return {name: self.norms[name](x) for name, x in out.items()}
