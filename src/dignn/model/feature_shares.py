"""How far the features of each node are there: what a model is given, multiplied by shares, differentiable in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import to_disjoint
from dignn.graphs.feature_matrix import dense
from dignn.graphs.schema import Layout
from dignn.model.calling import AnyGraph, Call, Numbers


def shareable(batch: GraphBatch, call: Call) -> Tensor:
    """(B, N) True on nodes whose features can be multiplied by a share.

    Not those that have none, nor those whose features the model takes as whole numbers, such as the codes that an
    embedding looks up.
    """
    found = torch.zeros_like(batch.mask)
    for store, here in _places(to_disjoint(batch), batch):
        found |= here & _fractional(store.get("x"), call)
    return found


def share_features(data: AnyGraph, batch: GraphBatch, share: Tensor, call: Call) -> None:
    """Multiplies the features of each node by its share (B, N), in place; what is missing (NaN) stays missing.

    Args:
        data: the graphs as the model takes them.
        batch: the same graphs.
        share: of each node.
        call: how the model is called.
    """
    for store, here in _places(data, batch):
        x = store.get("x")
        if _fractional(x, call):
            rows = dense(x) if x.is_floating_point() else dense(x).float()
            factor = share[here].to(rows.dtype).view(-1, *[1] * (rows.dim() - 1))
            # a missing value times anything has no slope either
            shared = torch.where(rows.isnan(), rows, rows.nan_to_num(0.0) * factor)
            store.x = shared if x.layout is torch.strided else shared.to_sparse(layout=x.layout)


def _fractional(x: Any, call: Call) -> bool:
    """Whether the model takes features as fractions."""
    return isinstance(x, Tensor) and (x.is_floating_point() or call.numbers is Numbers.FRACTIONS)


def _places(data: AnyGraph, batch: GraphBatch) -> Iterator[tuple[Any, Tensor]]:
    """Every store of nodes, and where in the batch its nodes are (B, N), which have the same order."""
    for store in data.node_stores:
        hetero = batch.schema.layout is Layout.HETERO
        yield store, batch.node_type == batch.schema.type_index(store._key) if hetero else batch.mask
