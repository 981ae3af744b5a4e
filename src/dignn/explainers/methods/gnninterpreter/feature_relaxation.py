"""Learned features: what each column of a node type becomes while it has gradients, and where it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.explainers.methods.gnninterpreter.relaxation import bernoulli, categorical, gumbel, logistic
from dignn.graphs.feature_spec import ColumnKind, FeatureSpec

# Shares of real rows at which logits begin are counted with half a row more of each kind; others keep this far inside.
INSIDE = 0.02


@dataclass(frozen=True, eq=False)
class FeatureRelaxation:
    """How the rows of one node type are made of logits (n, d).

    A continuous column is a number in the range of real rows, without noise. A binary one is a Bernoulli draw; a count
    is one, times the median of what real rows have where it is not 0. A one-hot group, or row, is a categorical draw.
    Codes and ids have nothing between them, so their columns stay those of a real row.

    Args:
        low, high: (d,) what a column is where its logit is lowest and highest.
        smooth: columns that are continuous.
        drawn: those that are binary or counts.
        groups: of one-hot columns.
        share: (d,) of real rows in which a drawn column, or one of a group, is not 0.
    """

    low: Tensor
    high: Tensor
    smooth: Tensor
    drawn: Tensor
    groups: tuple[Tensor, ...]
    share: Tensor

    @classmethod
    def of(cls, rows: Tensor, spec: FeatureSpec) -> FeatureRelaxation:
        """Of real rows (m, d), in which NaN is missing."""
        present = rows.nan_to_num(0.0)
        low, high = torch.zeros(spec.width), torch.ones(spec.width)
        smooth = torch.tensor(spec.of_kind(ColumnKind.CONTINUOUS, ColumnKind.DATE), dtype=torch.long)
        drawn = torch.tensor(spec.of_kind(ColumnKind.BINARY, ColumnKind.COUNT), dtype=torch.long)
        counts = spec.of_kind(ColumnKind.COUNT)
        absent = rows[:, smooth].isnan()
        low[smooth] = rows[:, smooth].masked_fill(absent, torch.inf).amin(0).nan_to_num(posinf=0.0)
        high[smooth] = rows[:, smooth].masked_fill(absent, -torch.inf).amax(0).nan_to_num(neginf=0.0)
        if counts:
            high[counts] = present[:, counts].where(present[:, counts] > 0, torch.nan).nanmedian(0).values.nan_to_num(1)
        share = ((present != 0).sum(0) + 0.5) / (len(rows) + 1)
        one_hot = spec.of_kind(ColumnKind.ONE_HOT)
        groups: Sequence[Sequence[int]] = spec.groups or ([one_hot] if one_hot else [])
        return cls(low, high, smooth, drawn, tuple(torch.tensor(group) for group in groups), share)

    def start(self, rows: Tensor) -> Tensor:
        """Logits (n, d) where learning begins: continuous columns at real rows (n, d), others at real shares."""
        logits = torch.zeros_like(rows)
        low, high = self.low[self.smooth], self.high[self.smooth]
        place = (rows[:, self.smooth].nan_to_num(0.0) - low) / (high - low).clamp_min(1e-12)
        logits[:, self.smooth] = place.clamp(INSIDE, 1 - INSIDE).logit()
        logits[:, self.drawn] = self.share[self.drawn].logit()
        for group in self.groups:
            logits[:, group] = self.share[group].log()
        return logits

    def rows(
        self, logits: Tensor, real: Tensor, temperature: float | None, generator: torch.Generator | None
    ) -> Tensor:
        """Rows (n, d) of logits (n, d), and of real rows (n, d) where nothing is learned.

        Args:
            temperature: of relaxed draws; None for draws.
            generator: of the noise; None for the most probable rows.
        """
        found = real.clone()
        low, high = self.low, self.high
        found[:, self.smooth] = low[self.smooth] + (high - low)[self.smooth] * logits[:, self.smooth].sigmoid()
        if len(self.drawn):
            noisy = logits[:, self.drawn]
            noisy = noisy if generator is None else noisy + logistic(tuple(noisy.shape), generator)
            found[:, self.drawn] = high[self.drawn] * bernoulli(noisy, temperature)
        for group in self.groups:
            noisy = logits[:, group]
            noisy = noisy if generator is None else noisy + gumbel(tuple(noisy.shape), generator)
            found[:, group] = categorical(noisy, temperature)
        return found
