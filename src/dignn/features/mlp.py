"""Networks of feature diffusion: residual blocks, and features of numbers such as the time."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from dignn.diffusion.gaussian import angle

# Sines and cosines of a number, at so many frequencies each.
_WAVES = 8
NUMBER_FEATURES = 2 * _WAVES + 1
# Up to so many values also enter as sines and cosines, at so many frequencies: a few columns may have narrow clusters,
# which a network finds much sooner that way.
MOST_WAVED, _VALUE_WAVES = 16, 4
# What is known of a row passes through so many numbers at most, of which some are dropped while the network learns:
# less of it is learned by heart then. Fewer would not tell the values of a category with many of them apart.
_CONTEXT_WIDTH, _CONTEXT_DROPOUT = 64, 0.3


class Dropout(nn.Dropout):
    """Torch's dropout, bit for bit, with random numbers that are drawn on the CPU wherever the values are."""

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.p:
            return values
        kept = torch.empty(values.shape, dtype=values.dtype).bernoulli_(1 - self.p).div_(1 - self.p)
        return values * kept.to(values.device)


class ResidualBlocks(nn.Module):
    """h + Linear(Dropout(SiLU(Linear(LayerNorm(h))))), several times, and a last LayerNorm.  (B, width)"""

    def __init__(self, width: int, blocks: int, dropout: float) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), Dropout(dropout), nn.Linear(width, width)
            )
            for _ in range(blocks)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, hidden: Tensor) -> Tensor:
        for block in self.blocks:
            hidden = hidden + block(hidden)
        return self.norm(hidden)


class ContextLayer(nn.Module):
    """Adds what is known of a row to its hidden values; nothing at first, and nothing where there are no columns.

    It passes through few numbers, so that what many rows have in common is learned from it.

    Args:
        columns: k.
        width: of the hidden values.
        dropout: of what it passes through, while it is learned.
    """

    def __init__(self, columns: int, width: int, dropout: float = _CONTEXT_DROPOUT) -> None:
        super().__init__()
        few = min(_CONTEXT_WIDTH, width)
        self.layers = (
            nn.Sequential(nn.Linear(columns, few), nn.SiLU(), Dropout(dropout), zero_linear(few, width))
            if columns
            else None
        )

    def forward(self, hidden: Tensor, context: Tensor | None) -> Tensor:
        """(B, width), (B, k) -> (B, width)"""
        return hidden if self.layers is None or context is None else hidden + self.layers(context)


def context_columns(weights: dict[str, Tensor]) -> int:
    """How many columns of context a network with these weights takes, whose layer is called ``context``."""
    return weights["context.layers.0.weight"].size(1) if "context.layers.0.weight" in weights else 0


class TableMLP(nn.Module):
    """A residual MLP that sees all columns, the time and the label.

    Args:
        inputs, outputs: numbers that enter and leave for each row.
        labels: C + 1.
        width, blocks, dropout: of the MLP.
        context: numbers that are known of each row beside its label.
        values: how many of the inputs, the last ones, are values of quantities; a few enter as waves, too.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        labels: int,
        width: int,
        blocks: int,
        dropout: float,
        context: int = 0,
        values: int = 0,
    ) -> None:
        super().__init__()
        self.enter = nn.Linear(inputs, width)
        self._waved = values if values <= MOST_WAVED else 0
        self.waves = nn.Linear(2 * _VALUE_WAVES * self._waved, width, bias=False) if self._waved else None
        self.time = nn.Sequential(nn.Linear(NUMBER_FEATURES, width), nn.SiLU(), nn.Linear(width, width))
        self.line = nn.Embedding(labels, width)  # of the label; files know it by this name
        nn.init.normal_(self.line.weight, std=0.1)  # classes begin alike: most of what is learned serves all of them
        self.blocks = ResidualBlocks(width, blocks, dropout)
        self.leave = zero_linear(width, outputs)
        self.context = ContextLayer(context, width)

    def forward(self, values: Tensor, signal: Tensor, label: Tensor, context: Tensor | None = None) -> Tensor:
        """(B, inputs), (B,), (B,), (B, context) -> (B, outputs)"""
        time = self.time(number_features(angle(signal) / (math.pi / 2)))
        hidden = self.enter(values) + time + self.line(label)
        if self.waves is not None:
            hidden = hidden + self.waves(value_waves(values[:, -self._waved :]))
        return self.leave(self.blocks(self.context(hidden, context)))


class PaperMLP(nn.Module):
    """The paper's denoiser (appendix, "DiTabDDPM - Denoising network"): one-hot values in, logits of values out.

    Linear layers with SiLU and ReLU lead in, residual blocks with dropout and a normalisation before and after each
    follow, linear layers with SiLU lead out. The time, which the paper's formula leaves open, enters as it does in
    TabDDPM: an embedding that is added behind the first layer; so does the class, where one model knows several.

    Args:
        slots: values of all columns together.
        labels: C + 1.
        width, blocks, dropout: of the MLP.
        context: numbers that are known of each row beside its label.
    """

    def __init__(self, slots: int, labels: int, width: int, blocks: int, dropout: float, context: int = 0) -> None:
        super().__init__()
        self.enter = nn.Linear(slots, width)
        self.time = nn.Sequential(nn.Linear(NUMBER_FEATURES, width), nn.SiLU(), nn.Linear(width, width))
        self.line = nn.Embedding(labels, width)  # of the label; files know it by this name
        self.lead_in = nn.Sequential(nn.SiLU(), nn.ReLU(), nn.Linear(width, width))
        self.before = nn.ModuleList(nn.LayerNorm(width) for _ in range(blocks))
        self.blocks = nn.ModuleList(
            nn.Sequential(
                Dropout(dropout), nn.Linear(width, width), nn.SiLU(), Dropout(dropout), nn.Linear(width, width)
            )
            for _ in range(blocks)
        )
        self.after = nn.ModuleList(nn.LayerNorm(width) for _ in range(blocks))
        self.leave = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, slots))
        self.context = ContextLayer(context, width, dropout)

    def forward(self, values: Tensor, signal: Tensor, label: Tensor, context: Tensor | None = None) -> Tensor:
        """(B, slots), (B,), (B,), (B, context) -> (B, slots)"""
        time = self.time(number_features(angle(signal) / (math.pi / 2)))
        hidden = self.lead_in(self.context(self.enter(values) + time + self.line(label), context))
        for before, block, after in zip(self.before, self.blocks, self.after, strict=True):
            hidden = after(hidden + block(before(hidden)))
        return self.leave(hidden)


def number_features(value: Tensor) -> Tensor:
    """A number, and its sines and cosines, so that a network can tell near values apart.  (B,) -> (B, 17)"""
    angle = value[:, None] * (math.pi / 2) * 2.0 ** torch.arange(_WAVES, device=value.device)
    return torch.cat([value[:, None], angle.sin(), angle.cos()], dim=1)


def value_waves(values: Tensor) -> Tensor:
    """Sines and cosines of values of about deviation 1, with periods of 8, 4, 2 and 1.  (B, v) -> (B, 8 v)"""
    angle = values[..., None] * (math.pi / 4) * 2.0 ** torch.arange(_VALUE_WAVES, device=values.device)
    return torch.cat([angle.sin(), angle.cos()], dim=-1).flatten(1)


def zero_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer that says nothing before it has learned."""
    layer = nn.Linear(inputs, outputs)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
