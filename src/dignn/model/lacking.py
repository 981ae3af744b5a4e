"""What a user's graphs have and generated graphs lack, and the user's graphs without each of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.utils import coalesce, remove_self_loops

from dignn.graphs.edge_forms import EDGE_FIELDS, matrix_values
from dignn.model.calling import AnyGraph

# What every graph has, here and there.
IN_EVERY_GRAPH = {"x", *EDGE_FIELDS, "batch", "ptr", "num_nodes"}


def lacking(own: Sequence[AnyGraph], made: Sequence[AnyGraph]) -> dict[str, list[AnyGraph]]:
    """By name of what is lacking, the user's graphs without it.

    Args:
        own: graphs of the user.
        made: the same as dignn makes them.
    """
    have = {(store._key, name) for graph in made for store in graph.stores for name in store.keys()}  # noqa: SIM118
    fields = dict.fromkeys(
        name
        for graph in own
        for store in graph.stores
        for name in store.keys()  # noqa: SIM118
        if name not in IN_EVERY_GRAPH and (store._key, name) not in have
    )
    found = {("its labels (y)" if name == "y" else name): [_without(graph, name) for graph in own] for name in fields}
    if any(matrix_values(store) is not None for graph in own for store in graph.edge_stores):
        found["the values of its adjacency matrix"] = [_with_matrix_of(*pair) for pair in zip(own, made, strict=True)]
    if any(_finer(store.get("x")) for graph in own for store in graph.stores):
        found["digits of x beyond those of float32"] = [_rounded(graph) for graph in own]
    by_edges = {
        "self-loops": [_with_edges(graph, remove_self_loops, between_types=False) for graph in own],
        "parallel edges": [_with_edges(graph, partial(coalesce, reduce="min"), between_types=True) for graph in own],
        "several relations between two nodes": [_with_edges_of(*pair) for pair in zip(own, made, strict=True)],
    }
    there = [_edge_numbers(graph) for graph in own]
    found["the order of its edges"] = [shuffled(graph) for graph in own]
    return found | {name: graphs for name, graphs in by_edges.items() if list(map(_edge_numbers, graphs)) != there}


def _without(graph: AnyGraph, name: str) -> AnyGraph:
    changed = copy(graph)
    for store in changed.stores:
        if name in store:
            del store[name]
    return changed


def _finer(x: Any) -> bool:
    return isinstance(x, Tensor) and x.dtype == torch.float64


def _rounded(graph: AnyGraph) -> AnyGraph:
    changed = copy(graph)
    for store in changed.stores:
        if _finer(store.get("x")):
            store.x = store.x.float().double()
    return changed


def _with_matrix_of(graph: AnyGraph, made: AnyGraph) -> AnyGraph:
    changed = copy(graph)
    for store in changed.edge_stores:
        for name in EDGE_FIELDS:
            if name in store and not (name == "edge_index" and _plain(store)):
                store[name] = (made if store._key is None else made[store._key])[name]
    return changed


# -- edges --------------------------------------------------------------------------------------------


def _with_edges(
    graph: AnyGraph, keep: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]], *, between_types: bool
) -> AnyGraph:
    """With fewer edges, and what they carry; ``keep`` gives of edges and their places those that stay."""
    changed = copy(graph)
    for before, store in zip(graph.edge_stores, changed.edge_stores, strict=True):
        bipartite = isinstance(store._key, tuple) and store._key[0] != store._key[2]
        if _plain(store) and (between_types or not bipartite):
            _, left = keep(_index(before), torch.arange(before.edge_index.size(1)))
            _keep_edges(store, before, left)
    return changed


def _with_edges_of(graph: AnyGraph, made: AnyGraph) -> AnyGraph:
    """Without edges that dignn's graph does not have, or has as another relation; loops and copies stay."""
    changed = copy(graph)
    there = {store._key: set(_edge_names(store)) for store in made.edge_stores if _plain(store)}
    for before, store in zip(graph.edge_stores, changed.edge_stores, strict=True):
        if _plain(store):
            known = there.get(store._key, set())
            left = [place for place, name in enumerate(_edge_names(before)) if name in known or name[0] == name[1]]
            _keep_edges(store, before, torch.tensor(left, dtype=torch.long))
    return changed


def shuffled(graph: AnyGraph) -> AnyGraph:
    """The same graph with its edges in another order, in which sums round differently."""
    changed = copy(graph)
    rng = torch.Generator().manual_seed(0)
    for before, store in zip(graph.edge_stores, changed.edge_stores, strict=True):
        if _plain(store):
            _keep_edges(store, before, torch.randperm(before.edge_index.size(1), generator=rng))
    return changed


def _plain(store: Any) -> bool:
    """Whether its edges are an ordinary ``edge_index``."""
    return isinstance(store.get("edge_index"), Tensor) and store.edge_index.layout is torch.strided


def _index(store: Any) -> Tensor:
    """(2, E) without what an ``EdgeIndex`` knows beside it."""
    index = store.edge_index
    return index.as_tensor() if isinstance(index, EdgeIndex) else index


def _edge_numbers(graph: AnyGraph) -> list[int]:
    return [store.edge_index.size(1) if _plain(store) else -1 for store in graph.edge_stores]


def _edge_names(store: Any) -> list[tuple[int, ...]]:
    """Source, target and, where edges have one, the code of their relation."""
    codes = [store["edge_type"].tolist()] if "edge_type" in store else []
    return list(zip(*_index(store).tolist(), *codes, strict=True))


def _keep_edges(store: Any, before: Any, left: Tensor) -> None:
    store.edge_index = _index(before)[:, left]
    for name, value in before.items():
        if name not in EDGE_FIELDS and isinstance(value, Tensor) and before.is_edge_attr(name):
            store[name] = value.index_select(before._parent().__cat_dim__(name, value, before), left)
