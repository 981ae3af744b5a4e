"""What is known of a row before it is drawn, beside its class: a context, and columns that are fixed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.features.main_directions import main_directions

# A context with more columns than this enters by its main directions, so that what it costs does not grow with it.
MOST_CONTEXT = 64
# Contexts with no more than this share of numbers that are not zero are mostly zero.
MOSTLY_ZERO = 0.2


@dataclass(frozen=True, eq=False)
class Fixed:
    """Columns of rows that come out exactly as given, while the others are drawn given them.

    Args:
        values: (m, d) rows; what stands in columns that are not fixed does not matter.
        mask: (m, d) bool, which of them are fixed.
    """

    values: Tensor
    mask: Tensor

    def __post_init__(self) -> None:
        if self.values.dim() != 2 or self.values.shape != self.mask.shape or self.mask.dtype != torch.bool:
            raise DignnError(
                f"Fixed columns of shape {tuple(self.values.shape)} need a mask of the same shape that is True where "
                f"they are fixed, not {self.mask.dtype} of shape {tuple(self.mask.shape)}"
            )

    @classmethod
    def columns(cls, values: Tensor, columns: Tensor, width: int) -> Fixed:
        """The same columns (k,) of every row, with ``values`` (m, k), out of ``width``."""
        mask = torch.zeros(len(values), width, dtype=torch.bool)
        mask[:, columns] = True
        return cls(torch.zeros(len(values), width).index_copy(1, columns, values.float()), mask)

    def __getitem__(self, rows: Tensor | slice) -> Fixed:
        return Fixed(self.values[rows], self.mask[rows])

    def only(self, columns: Tensor) -> Fixed:
        """Of some of the columns."""
        return Fixed(self.values[:, columns], self.mask[:, columns])

    def to(self, device: torch.device) -> Fixed:
        return Fixed(self.values.to(device), self.mask.to(device))

    def put(self, rows: Tensor) -> Tensor:
        """Rows (m, d) with the fixed columns as they are given."""
        return torch.where(self.mask, self.values.to(rows.dtype), rows)


@dataclass(frozen=True, eq=False)
class Given:
    """What is known of m rows that are to be drawn, beside their labels.

    Args:
        context: (m, k) as networks take it, see :class:`ContextScale`; None where nothing else is known of rows.
        fixed: columns that are given; None where all are drawn.
    """

    context: Tensor | None = None
    fixed: Fixed | None = None

    @property
    def nothing(self) -> bool:
        """Whether nothing but the label is known."""
        return self.context is None and self.fixed is None

    def __len__(self) -> int:
        parts = [part for part in (self.context, None if self.fixed is None else self.fixed.mask) if part is not None]
        return len(parts[0]) if parts else 0

    def __getitem__(self, rows: Tensor | slice) -> Given:
        context = None if self.context is None else self.context[rows]
        return Given(context, None if self.fixed is None else self.fixed[rows])

    def only(self, columns: Tensor) -> Given:
        """With the fixed ones of some of the columns."""
        return replace(self, fixed=None if self.fixed is None else self.fixed.only(columns))

    def to(self, device: torch.device) -> Given:
        context = None if self.context is None else self.context.to(device)
        return Given(context, None if self.fixed is None else self.fixed.to(device))


NOTHING_GIVEN = Given()


@dataclass(frozen=True, eq=False)
class ContextScale:
    """How a context enters networks: each column with mean 0 and deviation 1; many columns by their main directions.

    Args:
        mean, scale: (k,) of the columns; a column with one value counts for nothing.
        directions: (k, r) main directions of the scaled columns, each divided by its own deviation; (k, 0) where the
            columns enter themselves.
    """

    mean: Tensor
    scale: Tensor
    directions: Tensor

    @classmethod
    def of(cls, context: Tensor, weight: Tensor, generator: torch.Generator, most: int = MOST_CONTEXT) -> ContextScale:
        """Measured on contexts (n, k) of which each counts ``weight`` (n,) times; what is missing is left out.

        More than ``most`` columns enter by so many main directions. Where they are mostly zero, as words are, rare ones
        then count less than frequent ones: each is divided by the root of its deviation.
        """
        share = (weight / weight.sum()).float()
        context = _filled(context, share)
        mean = share @ context
        centred = context - mean  # as large as all that is measured: no more such copies than it takes
        deviation = (share @ centred.square()).sqrt()
        varies = deviation > 1e-6 * context.amax(0).maximum(-context.amin(0)).clamp_min(1e-12)
        scale = torch.where(varies, 1 / deviation.where(varies, 1.0), 0.0)
        directions = context.new_zeros(context.size(1), 0)
        if context.size(1) > most:
            if int(context.count_nonzero()) / context.numel() <= MOSTLY_ZERO:
                scale = scale.sqrt()
            scaled = centred.mul_(scale)
            found = main_directions(scaled, most, generator)
            spread = (scaled @ found).square().mean(0).sqrt()
            directions = found / spread.clamp_min(1e-3 * spread.max().clamp_min(1e-12))
        return cls(mean, scale, directions)

    @property
    def width(self) -> int:
        """Numbers that networks see."""
        return self.directions.size(1) or len(self.mean)

    def encode(self, context: Tensor) -> Tensor:
        """(..., k) -> (..., width); what is missing (NaN) counts as the mean."""
        if self.directions.size(1) and not bool(context.isnan().any()):  # without a copy of many columns
            seen = self.scale[:, None] * self.directions
            return context.float() @ seen - self.mean @ seen
        scaled = (context.float() - self.mean) * self.scale
        scaled = scaled.masked_fill(scaled.isnan(), 0.0)
        return scaled @ self.directions if self.directions.size(1) else scaled


def _filled(context: Tensor, share: Tensor) -> Tensor:
    """(n, k) with the mean of what is there, each row by its share (n,), in place of what is missing."""
    lost = context.isnan()
    if not bool(lost.any()):
        return context
    mean = share @ context.nan_to_num(0.0) / (share @ (~lost).float()).clamp_min(1e-12)
    return context.where(~lost, mean)
