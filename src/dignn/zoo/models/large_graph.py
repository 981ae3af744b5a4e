"""A GCN on one large graph that stays the same from step to step: messages are one product with a sparse matrix."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor
from torch.nn.functional import dropout
from torch_geometric.nn.conv.gcn_conv import GCNConv, gcn_norm
from torch_geometric.utils import to_torch_csr_tensor

from dignn.zoo.models.architectures import GCN

# From so many edges on it pays.
MANY_EDGES = 20_000


def normalised_adjacency(edge_index: Tensor, nodes: int) -> Tensor:
    """What every ``GCNConv`` makes of edges (2, E), as a sparse matrix.  (nodes, nodes)"""
    pairs, weight = gcn_norm(edge_index, None, nodes, dtype=torch.float32)
    with warnings.catch_warnings():  # "CSR support is in beta"
        warnings.simplefilter("ignore", UserWarning)
        return to_torch_csr_tensor(pairs.flip(0), weight, (nodes, nodes))


def node_logits(model: GCN, x: Tensor, adjacency: Tensor) -> Tensor:
    """What ``model(x, edge_index)`` gives for every node, from the :func:`normalised_adjacency`.  (n, classes)"""
    for conv in model.convs:
        assert isinstance(conv, GCNConv)
        x = (torch.sparse.mm(adjacency, conv.lin(x)) + conv.bias).relu()
    return model.head(dropout(x, model.dropout, model.training))
