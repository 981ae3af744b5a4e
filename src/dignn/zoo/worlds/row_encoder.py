"""Rows of features as a model reads them: codes by embeddings, quantities to scale, missing values by their absence."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# Tables with more columns are words or the like: brought to scale as a whole, not column by column.
WIDE_TABLE = 100
# Quantities whose greatest is so many times their standard deviation are compressed.
TAIL = 12.0


def row_encoder(x: Tensor, codes: tuple[int, ...], hidden: int) -> nn.Module:
    """A module that projects the rows of one node type, (n, d) -> (n, hidden).

    Args:
        x: (n, d) all rows, from which scales are read; NaN where a value is missing.
        codes: numbers of the columns that hold codes of categories.
        hidden: columns of the result.
    """
    return WideEncoder(x, hidden) if x.size(1) > WIDE_TABLE and not codes else RowEncoder(x, codes, hidden)


class WideEncoder(nn.Module):
    """Projects rows of many columns, which may be a sparse CSR matrix.

    Args:
        x, hidden: as in :func:`row_encoder`.
    """

    scale: Tensor

    def __init__(self, x: Tensor, hidden: int) -> None:
        super().__init__()
        self.linear = nn.Linear(x.size(1), hidden)
        # Rows of random weights are short in so many columns: this brings the result to the scale of the bias.
        self.register_buffer("scale", x.float().norm(dim=1).mean().clamp(min=1e-6) / x.size(1) ** 0.5)

    def forward(self, x: Tensor) -> Tensor:  # (n, d) -> (n, hidden)
        return x.float() @ self.linear.weight.T / self.scale + self.linear.bias


class RowEncoder(nn.Module):
    """Projects rows of few columns of any kind.

    Args:
        x, codes, hidden: as in :func:`row_encoder`.
    """

    mean: Tensor
    scale: Tensor
    heavy: Tensor

    def __init__(self, x: Tensor, codes: tuple[int, ...], hidden: int) -> None:
        super().__init__()
        rows = x.float()
        self.codes, self.rest = list(codes), [column for column in range(x.size(1)) if column not in codes]
        self.levels = [int(rows[:, column].nan_to_num().max()) + 1 for column in codes]
        self.embeddings = nn.ModuleList(nn.Embedding(number, hidden) for number in self.levels)
        heavy = _heavy(rows[:, self.rest])
        rest = _compressed(rows[:, self.rest], heavy)
        self.gaps = bool(rest.isnan().any())
        mean = rest.nanmean(0).nan_to_num()
        scale = (rest - mean).square().nanmean(0).nan_to_num().sqrt()
        self.register_buffer("heavy", heavy)
        self.register_buffer("mean", mean)
        self.register_buffer("scale", torch.where(scale > 0, scale, torch.ones_like(scale)))
        self.linear = nn.Linear(len(self.rest) * (1 + self.gaps), hidden) if self.rest else None

    def forward(self, x: Tensor) -> Tensor:  # (n, d) -> (n, hidden)
        rows = x.float()
        found = [] if self.linear is None else [self.linear(self._read(rows[:, self.rest]))]
        for column, levels, embedding in zip(self.codes, self.levels, self.embeddings, strict=True):
            found.append(embedding(rows[:, column].nan_to_num().long().clamp(0, levels - 1)))
        return torch.stack(found).sum(0)

    def _read(self, rows: Tensor) -> Tensor:
        scaled = (_compressed(rows, self.heavy) - self.mean) / self.scale
        return torch.cat([scaled.nan_to_num(), scaled.isnan().float()], dim=1) if self.gaps else scaled


def _heavy(x: Tensor) -> Tensor:
    """(d,) which columns have a heavy tail."""
    known = x.nan_to_num()
    return known.abs().amax(0) > TAIL * (known - known.mean(0)).square().mean(0).sqrt()


def _compressed(x: Tensor, heavy: Tensor) -> Tensor:
    return torch.where(heavy, x.sign() * x.abs().log1p(), x)
