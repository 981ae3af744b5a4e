"""A GCN as one product with a sparse matrix gives what its layers give."""

from __future__ import annotations

import torch
from torch_geometric.utils import to_undirected

from dignn.zoo.models.architectures import GCN
from dignn.zoo.models.large_graph import node_logits, normalised_adjacency


def test_the_product_is_what_the_layers_give() -> None:
    generator = torch.Generator().manual_seed(0)
    pairs = to_undirected(torch.randint(40, (2, 90), generator=generator), num_nodes=40)
    x = torch.randn(40, 3, generator=generator)
    torch.manual_seed(0)
    model = GCN(3, 4, hidden=8, dropout=0.5).eval()
    with torch.no_grad():
        expected = model(x, pairs)
        torch.testing.assert_close(node_logits(model, x, normalised_adjacency(pairs, 40)), expected)


def test_directions_are_kept() -> None:
    """Messages go from the source of an edge to its target, as in the layers."""
    pairs, x = torch.tensor([[0, 1], [1, 2]]), torch.eye(3)
    torch.manual_seed(1)
    model = GCN(3, 2, hidden=4, dropout=0.0).eval()
    with torch.no_grad():
        torch.testing.assert_close(node_logits(model, x, normalised_adjacency(pairs, 3)), model(x, pairs))
