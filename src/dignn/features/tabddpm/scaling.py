"""Continuous columns before and after Gaussian diffusion, which wants mean 0 and deviation 1.

A scaling takes columns (n, d) to what is diffused, of the same shape, and back to the columns' own units, where results
stay within the range of the data. It is measured on rows of which each counts ``weight`` (n,) times; with ``whole``,
columns that hold only whole numbers (years, yes or no) come back as whole numbers. Its fields are tensors, which files
can hold. Columns with one value are better left out: they have no deviation.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.features.settings import Transform

# Quantiles that a column is known by, at most.
MOST_QUANTILES = 1000
# Rows that are looked at in double precision together: bounds memory.
PIECE = 1024
# A value is a point mass of its column where so many rows and such a share of their weight have it. Less may be one
# node's row, which a table holds once for each class around it.
POINT_ROWS, POINT_SHARE = 8, 0.01
# A column ends gently where no value is farther out than so many deviations.
LIGHT_TAILS = 8.0
# An edge is an end of the column (but for this share of outermost values) or of a gap of so many deviations, where such
# a share of all values, and a few of the quantiles that are known, lies within so many deviations of it.
OUTERMOST, GAP, EDGE_SHARE, EDGE_QUANTILES, NEAR_EDGE = 0.005, 0.25, 0.01, 3, 0.05
# Columns with fewer than one different value for so many rows have steps.
ROWS_OF_A_VALUE = 3


@dataclass(frozen=True, eq=False)
class Standard:
    """To mean 0 and standard deviation 1.

    Args:
        mean, deviation: (d,) double.
        least, greatest: (d,) range of the data.
        whole: (d,) bool, columns that come back as whole numbers.
    """

    mean: Tensor
    deviation: Tensor
    least: Tensor
    greatest: Tensor
    whole: Tensor

    @classmethod
    def of(cls, rows: Tensor, weight: Tensor, *, whole: bool = True) -> Standard:
        share = weight.double() / weight.double().sum()
        parts = list(zip(share.split(PIECE), rows.split(PIECE), strict=True))
        mean = torch.stack([part @ some.double() for part, some in parts]).sum(0)
        variance = torch.stack([part @ (some.double() - mean).square() for part, some in parts]).sum(0)
        return cls(mean, variance.sqrt(), rows.amin(0), rows.amax(0), _whole(rows) & whole)

    def encode(self, rows: Tensor, generator: torch.Generator | None = None) -> Tensor:
        return ((rows.double() - self.mean) / self.deviation).float()

    def decode(self, values: Tensor) -> Tensor:
        found = (values.double() * self.deviation + self.mean).float().clamp(self.least, self.greatest)
        return torch.where(self.whole, found.round(), found)


@dataclass(frozen=True, eq=False)
class Quantile:
    """To normal quantiles: a value goes to its rank, and the rank to where a normal distribution has it.

    Equal values share an interval of ranks. They are spread over it at random and come back as the same value from any
    place in it, so that a column with a point mass (many zeros, say) keeps it. Nothing is made up between a point mass
    and the value next to it.

    Args:
        knots: (d, K + 1) the columns' quantiles 0, 1 / K, ..., 1.
        point: (d, K + 1) bool, knots that lie in a point mass.
        whole: (d,) bool, columns that come back as whole numbers.
    """

    knots: Tensor
    point: Tensor
    whole: Tensor

    @classmethod
    def of(cls, rows: Tensor, weight: Tensor, *, whole: bool = True) -> Quantile:
        ordered, order = rows.double().T.contiguous().sort(1)
        share = weight.double()[order]  # (d, n)
        share = share / share.sum(1, keepdim=True)
        end = share.cumsum(1)
        rank = end - share / 2  # in the middle of the row's own share
        first, last = torch.searchsorted(ordered, ordered), torch.searchsorted(ordered, ordered, right=True) - 1
        held = end.gather(1, last) - (end - share).gather(1, first)
        point = (last - first + 1 >= POINT_ROWS) & (held >= POINT_SHARE)
        asked = torch.linspace(0, 1, min(len(rows), MOST_QUANTILES) + 1, dtype=torch.float64)
        asked = asked.expand(rows.size(1), -1).contiguous()
        # Beside a point mass a knot takes the value of the row whose share it lies in, elsewhere one in between.
        right = torch.searchsorted(rank, asked).clamp(1, len(rows) - 1)
        owner = torch.searchsorted(end, asked).clamp(max=len(rows) - 1)
        at_point = point.gather(1, right - 1) | point.gather(1, right)
        knots = torch.where(at_point, ordered.gather(1, owner), _interpolate(rank, ordered, asked))
        return cls(knots.float(), point.gather(1, owner), _whole(rows) & whole)

    @property
    def _ranks(self) -> Tensor:
        return torch.linspace(0, 1, self.knots.size(1), dtype=torch.float64, device=self.knots.device)

    def encode(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        found, knots = rows.T.contiguous(), self.knots
        first = torch.searchsorted(knots, found)
        behind = torch.searchsorted(knots, found, right=True)
        last = knots.size(1) - 1
        rank = _interpolate(knots.double(), self._ranks.expand_as(knots), found.double())
        low, high = self._ranks[first.clamp(max=last)], self._ranks[(behind - 1).clamp(min=0)]
        chance = torch.rand(found.shape, generator=generator, dtype=torch.float64).to(found.device)
        spread = low + (high - low) * chance
        rank = torch.where(behind > first, spread, rank)
        # The ends would go to infinity.
        return torch.special.ndtri(rank.clamp(0.5 / last, 1 - 0.5 / last)).float().T.contiguous()

    def decode(self, values: Tensor) -> Tensor:
        place = torch.special.ndtr(values.double().T) * (self.knots.size(1) - 1)
        left = place.long().clamp(max=self.knots.size(1) - 2)
        low, high = self.knots.gather(1, left), self.knots.gather(1, left + 1)
        found = low + ((high - low).double() * (place - left)).float()
        # Rounding must not leave the interval, nor a value that both of its ends have.
        found = torch.minimum(found, high)
        snapped = torch.where(place - left < 0.5, low, high)
        found = torch.where(self.point.gather(1, left) | self.point.gather(1, left + 1), snapped, found)
        return torch.where(self.whole[:, None], found.round(), found).T.contiguous()


@dataclass(frozen=True, eq=False)
class ByShape:
    """Each column by what suits it: plain ones to mean 0 and deviation 1, all others to normal quantiles.

    A column is plain where nothing in it is sharp: no values far out, no edge at which many values lie, no steps, none
    that many rows share. It keeps its shape then, and clusters stay as far apart as they are, while quantiles would
    bend what relates columns to each other.

    Args:
        plain: (d,) bool, which columns keep their shape.
        mean, deviation, least, greatest, whole, knots, point: as :class:`Standard` and :class:`Quantile` have them.
    """

    plain: Tensor
    mean: Tensor
    deviation: Tensor
    least: Tensor
    greatest: Tensor
    whole: Tensor
    knots: Tensor
    point: Tensor

    @classmethod
    def of(cls, rows: Tensor, weight: Tensor, *, whole: bool = True) -> ByShape:
        quantile, standard = Quantile.of(rows, weight, whole=whole), Standard.of(rows, weight, whole=whole)
        scaled = torch.cat([standard.encode(some) for some in rows.split(PIECE)])
        far = scaled.abs().amax(0) > LIGHT_TAILS
        values = (scaled.T.contiguous().sort(1).values.diff(dim=1) != 0).sum(1) + 1
        stepped = ROWS_OF_A_VALUE * values < len(rows)
        knots = (quantile.knots.double() - standard.mean[:, None]) / standard.deviation[:, None]
        plain = ~(far | stepped | _has_edge(knots) | standard.whole | quantile.point.any(1))
        return cls(plain, **vars(standard), knots=quantile.knots, point=quantile.point)

    @property
    def _standard(self) -> Standard:
        return Standard(self.mean, self.deviation, self.least, self.greatest, self.whole)

    @property
    def _quantile(self) -> Quantile:
        return Quantile(self.knots, self.point, self.whole)

    def encode(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        return torch.where(self.plain, self._standard.encode(rows), self._quantile.encode(rows, generator))

    def decode(self, values: Tensor) -> Tensor:
        return torch.where(self.plain, self._standard.decode(values), self._quantile.decode(values))


Scaling = Standard | Quantile | ByShape
SCALINGS: dict[Transform, type[Scaling]] = {"auto": ByShape, "standard": Standard, "quantile": Quantile}


def restored_scaling(tensors: dict[str, Tensor]) -> Scaling:
    """From the fields of a scaling."""
    if "plain" in tensors:
        return ByShape(**tensors)
    return Standard(**tensors) if "mean" in tensors else Quantile(**tensors)


def _whole(rows: Tensor) -> Tensor:
    """Columns that hold only whole numbers.  (n, d) -> (d,) bool"""
    return torch.stack([(some == some.round()).all(0) for some in rows.split(PIECE)]).all(0)


def _has_edge(knots: Tensor) -> Tensor:
    """Columns with an edge, at an end or beside a gap, by their quantiles (d, K + 1) in deviations.  (d,) bool"""
    last = knots.size(1) - 1
    place = torch.arange(last + 1)
    # how many quantiles lie within reach above and below each
    above = torch.searchsorted(knots, knots + NEAR_EDGE, right=True) - 1 - place
    below = place - torch.searchsorted(knots, knots - NEAR_EDGE)
    crowded = max(EDGE_SHARE * last, EDGE_QUANTILES)
    first = min(round(OUTERMOST * last), last // 2)
    edge = (above[:, first] > crowded) | (below[:, last - first] > crowded)
    gap = knots.diff(dim=1) > GAP
    return edge | (gap & ((below[:, :-1] > crowded) | (above[:, 1:] > crowded))).any(1)


def _interpolate(x: Tensor, y: Tensor, asked: Tensor) -> Tensor:
    """The y at ``asked`` between ascending x, each row its own; the first or last y beyond the ends.  (d, K)"""
    right = torch.searchsorted(x.contiguous(), asked).clamp(1, x.size(1) - 1)
    x0, x1, y0, y1 = x.gather(1, right - 1), x.gather(1, right), y.gather(1, right - 1), y.gather(1, right)
    part = torch.where(x1 > x0, (asked - x0) / torch.where(x1 > x0, x1 - x0, 1.0), 0.0)
    return y0 + part.clamp(0, 1) * (y1 - y0)
