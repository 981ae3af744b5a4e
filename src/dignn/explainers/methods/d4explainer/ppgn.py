"""PPGN: a network over pairs of nodes whose layers multiply matrices of pairs (Maron et al., NeurIPS 2019)."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot


class PPGN(nn.Module):
    """One logit for each pair of nodes: is it joined in the graph without noise?

    Channels of a pair (i, j) are whether it is joined, the types of both nodes, and, where i = j, the level of noise.
    A layer multiplies two linear maps of its channels, as matrices over nodes, which sees triangles and longer ways.
    The logit is a linear map of the channels of all layers. Nodes in another order give the same logits in that order,
    and (i, j) the same as (j, i).

    Args:
        types: number of node types.
        width: channels of a layer.
        layers: number of layers.
    """

    def __init__(self, types: int, width: int, layers: int) -> None:
        super().__init__()
        self._types = types
        channels = 2 + 2 * types
        widths = [channels, *(width for _ in range(layers))]
        self.layers = nn.ModuleList(_Product(*ends) for ends in pairwise(widths))
        self.logit = nn.Linear(sum(widths), 1)

    def forward(self, kinds: Tensor, joined: Tensor, level: Tensor) -> Tensor:
        """Logits of all pairs, symmetric.  (B, N, N)

        Args:
            kinds: (B, N) node types.
            joined: (B, N, N) bool, symmetric.
            level: (B,) probability of a flip.
        """
        count, size = kinds.shape
        types = one_hot(kinds, self._types).float()  # (B, N, T)
        own = types[:, :, None].expand(-1, -1, size, -1)
        at = torch.eye(size, device=kinds.device) * level[:, None, None]
        pairs = torch.cat([joined.float()[..., None], own, own.transpose(1, 2), at[..., None]], dim=3)
        hidden = pairs.permute(0, 3, 1, 2).flatten(2)  # (B, channels, N * N)
        parts = [hidden]
        for layer in self.layers:
            hidden = layer(hidden, size)
            parts.append(hidden)
        # The map of all channels side by side, layer by layer: they need not be copied beside each other.
        weights = self.logit.weight[0].split([part.size(1) for part in parts])
        logits = sum((weight @ part for weight, part in zip(weights, parts, strict=True)), start=self.logit.bias)
        logits = logits.view(count, size, size)
        return (logits + logits.transpose(1, 2)) / 2


class _Product(nn.Module):
    """The channels of pairs beside the product of two linear maps of them, mixed."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.left, self.right = _map(channels, width), _map(channels, width)
        self.mixed = _map(channels + width, width)
        self.bias = nn.Parameter(torch.zeros(width, 1))

    def forward(self, hidden: Tensor, size: int) -> Tensor:
        """(B, channels, N * N) -> (B, width, N * N)"""
        left, right = ((weight @ hidden).unflatten(2, (size, size)) for weight in (self.left, self.right))
        product = (left @ right).flatten(2) / math.sqrt(size)
        channels = hidden.size(1)
        mixed = self.mixed[:, :channels] @ hidden + self.mixed[:, channels:] @ product
        return (mixed + self.bias).relu()


def _map(channels: int, width: int) -> nn.Parameter:
    """A linear map whose outputs vary about as much as its inputs."""
    return nn.Parameter(torch.randn(width, channels) / math.sqrt(channels))
