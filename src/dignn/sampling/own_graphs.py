"""Real graphs cut from a user's own objects, with every field kept: what the model answers on them is the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_forms import EDGE_FIELDS, entries, formed_like

# Nodes of a subgraph by the key of their store: a node type, or None where there is one kind.
Nodes = Mapping[str | None, Tensor]


def cut(data: Data | HeteroData, adjacency: Adjacency, batch: GraphBatch) -> list[Data | HeteroData]:
    """The graphs of ``batch``, subgraphs of ``data`` with their nodes in the same order, as the user's own objects.

    Fields of nodes and edges are cut along, all others stay as they are. Where edges are in ``edge_index`` and in
    ``adj_t``, each is cut from its own entries, and what else edges carry follows ``edge_index``.

    Args:
        data: the user's graph.
        adjacency: of it.
        batch: some of its subgraphs.
    """
    every = _nodes(data, adjacency, batch)
    found: list[Data | HeteroData] = [data.__class__() for _ in every]
    for store in data.stores:
        edges = [_Edges(store, name, every) for name in EDGE_FIELDS if _between(store, name, every[0])]
        nodes_here = int(store.num_nodes) if store._key in every[0] else None
        fields = _Fields(store, nodes_here, edges[0].index.size(1) if edges else None)
        for graph, nodes in zip(found, every, strict=True):
            own = graph if store._key is None else graph[store._key]
            places = [each.cut(own, nodes) for each in edges]
            fields.cut(own, nodes.get(store._key), places[0] if places else None)
    return found


def _nodes(data: Data | HeteroData, adjacency: Adjacency, batch: GraphBatch) -> list[Nodes]:
    """The nodes of each subgraph."""
    if not isinstance(data, HeteroData):
        numbers = torch.from_numpy(adjacency.numbers(batch))  # (B, N)
        return [{None: own[there]} for own, there in zip(numbers, batch.mask, strict=True)]
    kinds = {name: batch.schema.type_index(name) for name in data.node_types}
    return [
        {name: row[kind == code] for name, code in kinds.items()}
        for row, kind in zip(batch.row, batch.node_type, strict=True)
    ]


def _ends(store: Any) -> tuple[Any, Any]:
    """The keys of the nodes that edges of a store join."""
    return (store._key[0], store._key[2]) if isinstance(store._key, tuple) else (store._key, store._key)


def _between(store: Any, name: str, nodes: Nodes) -> bool:
    """Whether a field of a store holds edges between such nodes."""
    return store.get(name) is not None and set(_ends(store)) <= nodes.keys()


class _Edges:
    """A field that holds edges, of which few lie between nodes of some subgraph.

    Args:
        store: a user's store.
        name: the field.
        every: the nodes of all subgraphs.
    """

    def __init__(self, store: Any, name: str, every: list[Nodes]) -> None:
        self.name, self.given, self.ends = name, store[name], _ends(store)
        index, values = entries(self.given, str(store._key))
        self.index, self.values = index.detach().cpu(), None if values is None else values.detach().cpu()
        inside = [self._marked(side, torch.cat([nodes[end] for nodes in every])) for side, end in enumerate(self.ends)]
        self.near = (inside[0] & inside[1]).nonzero()[:, 0]

    def _marked(self, side: int, nodes: Tensor) -> Tensor:
        """(E,) whether one end of the edges is among some nodes; by a mark for each node, as there are many edges."""
        ends = self.index[side].long()
        count = 1 + max(int(ends.max()) if len(ends) else 0, int(nodes.max()) if len(nodes) else 0)
        marks = torch.zeros(count, dtype=torch.bool)
        marks[nodes] = True
        return marks[ends]

    def cut(self, own: Any, nodes: Nodes) -> Tensor:
        """Puts those between some nodes into a store, in the user's form; (e,) which they are, in this order."""
        kept = self.near[_inside(self.index[:, self.near], self.ends, nodes)]
        index = torch.stack([_position(nodes[end], self.index[side, kept]) for side, end in enumerate(self.ends)])
        values = None if self.values is None else self.values[kept]
        sizes = len(nodes[self.ends[0]]), len(nodes[self.ends[1]])
        own[self.name], order = formed_like(self.given, index.to(self.index.dtype), sizes, values)
        return kept[order]


class _Fields:
    """What else a store has.

    Args:
        store: a user's store.
        nodes, edges: how many it has; None without.
    """

    def __init__(self, store: Any, nodes: int | None, edges: int | None) -> None:
        self.nodes, self.edges = nodes, edges
        held = {name: value for name, value in store.items() if edges is None or name not in EDGE_FIELDS}
        self.along = {name: store._parent().__cat_dim__(name, value, store) for name, value in held.items()}
        self.layout = {name: value.layout for name, value in held.items() if isinstance(value, Tensor)}
        # Of sparse tensors only those in coordinates can be cut.
        compressed = {name for name, layout in self.layout.items() if layout in (torch.sparse_csr, torch.sparse_csc)}
        self.held = {name: value.to_sparse_coo() if name in compressed else value for name, value in held.items()}

    def cut(self, own: Any, nodes: Tensor | None, edges: Tensor | None) -> None:
        """Puts them into a store, of those that nodes or edges carry the parts of some."""
        for name, value in self.held.items():
            if name == "num_nodes" and nodes is not None:
                own[name] = len(nodes)
                continue
            chosen = {"nodes": nodes, "edges": edges, None: None}[self._carried_by(name)]
            own[name] = value if chosen is None else self._cut(name, value, chosen)

    def _carried_by(self, name: str) -> str | None:
        """What there is one of for each part of a field: ``nodes``, ``edges``, or None for neither.

        As PyTorch Geometric decides it, which cannot count the edges of a sparse ``edge_index``.
        """
        value, along = self.held[name], self.along[name]
        if not isinstance(value, Tensor) or value.dim() == 0 or not isinstance(along, int):
            return None
        length = value.shape[along]
        fits = [what for what, count in (("nodes", self.nodes), ("edges", self.edges)) if count == length]
        return fits["edge" in name] if len(fits) == 2 else fits[0] if fits else None

    def _cut(self, name: str, value: Tensor, chosen: Tensor) -> Tensor:
        part = value.index_select(self.along[name], chosen.to(value.device))
        if value.layout is torch.sparse_coo and value.is_coalesced():
            part = part.coalesce()
        return part if part.layout is self.layout[name] else part.to_sparse(layout=self.layout[name])


def _inside(index: Tensor, ends: tuple[Any, Any], nodes: Nodes) -> Tensor:
    """(E,) whether both ends of edges (2, E) are among the nodes."""
    source, target = (torch.isin(index[side], nodes[end]) for side, end in enumerate(ends))
    return source & target


def _position(nodes: Tensor, values: Tensor) -> Tensor:
    """Where values stand in a list of nodes that holds them."""
    ordered, order = nodes.sort()
    return order[torch.searchsorted(ordered, values.contiguous())]
