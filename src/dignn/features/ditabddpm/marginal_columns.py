"""Marginal diffusion of all columns of a discrete table together: the paper's DiTabDDPM.

Columns change towards their frequencies in the class. The paper's network predicts clean values from noisy ones. The
fast one adds to what is known without it: the exact posterior of each column alone, which is log m(k) + log q(x_t | k)
for value k of frequency m(k); so it only learns what columns say about each other. It also knows how many columns of
the row are not zero, which is drawn first: columns that are denoised side by side miss it otherwise.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from dignn.core.files import under
from dignn.diffusion.categorical import CategoricalNoise, draw
from dignn.diffusion.samplers import of_state, reverse, reverse_given
from dignn.diffusion.schedule import cosine_signal, time_grid
from dignn.features.ditabddpm.entry_counts import (
    RANGES,
    CountHead,
    count_chances,
    count_loss,
    given_fixed,
    presence_by_count,
)
from dignn.features.given import NOTHING_GIVEN, Given
from dignn.features.learning import even_times
from dignn.features.levels import Levels
from dignn.features.mlp import NUMBER_FEATURES, PaperMLP, TableMLP, context_columns, number_features
from dignn.features.settings import DiTabDDPMConfig
from dignn.features.table import Table, even_points
from dignn.graphs.feature_spec import FeatureKind

# A class's frequencies are mixed with those of all rows as if so many more rows had been seen: a value that other
# classes have is possible in every class.
_BORROWED = 1.0
# Numbers that sampling may hold at once for each tensor.
SAMPLED_CELLS = 2**21


class MarginalColumns:
    """The process: how rows are made noisy, learned and denoised.

    Args:
        kind: of the columns. Zero is special for counts and binary columns, and only there rows have a number of
            non-zero columns.
        levels: values of each column.
        labels: C + 1.
        config: settings.
        context: numbers that are known of each row beside its label.
    """

    def __init__(
        self, kind: FeatureKind, levels: Levels, labels: int, config: DiTabDDPMConfig, context: int = 0
    ) -> None:
        self.config, self._levels, self._labels = config, levels, labels
        self._plain = config.denoiser == "paper"
        self._counted = not self._plain and kind is not FeatureKind.CATEGORICAL
        there = levels.values.isfinite()  # (d, K)
        self._shape = there.shape
        first = torch.zeros_like(there)
        first[:, 0] = True
        # A column's first value needs no slot of its own, but the paper has one.
        self._slot = (there if self._plain else there & ~first).flatten().nonzero()[:, 0]
        self._nonzero = (levels.values != 0) & there
        slots = len(self._slot)
        if self._plain:
            self.network: nn.Module = PaperMLP(slots, labels, config.width, config.blocks, config.dropout, context)
        else:
            extra = NUMBER_FEATURES if self._counted else 0
            size = config.width, config.blocks, config.dropout
            self.network = TableMLP(slots + extra, slots, labels, *size, context)
        self._counts_context = self._counted and context > 0
        if self._counts_context:
            self.network.add_module("counts", CountHead(context, labels))

    @classmethod
    def of(cls, table: Table, config: DiTabDDPMConfig) -> MarginalColumns:
        return cls(table.spec.kind, Levels.of(table.rows), table.classes + 1, config, table.known)

    # -- learning -------------------------------------------------------------------------------------

    def learn_frequencies(self, table: Table) -> None:
        """Counts what needs no network: frequencies of values and of numbers of non-zero columns, by label."""
        columns, most = self._shape
        count = torch.zeros(self._labels, columns, most, dtype=torch.float64)
        all_weight = table.label_weight
        for rows, weight in zip(table.rows.split(1024), all_weight.split(1024, dim=1), strict=True):
            code = self._levels.encode(rows)
            for value in range(most):
                count[:, :, value] += weight @ (code == value).double()
        everywhere = count[-1:] / count[-1:].sum(2, keepdim=True)
        count += _BORROWED * everywhere
        self._marginal = (count / count.sum(2, keepdim=True)).float()
        number = torch.bincount(table.entries[0], minlength=len(table))
        counted = torch.zeros(len(table.different_weight), int(number.max()) + 1, dtype=torch.float64)
        self._count = counted.index_add_(1, number, table.different_weight)[table.line]
        self._presence = presence_by_count(table, number, self._count)

    def learnable(self, table: Table) -> Table:
        """The rows that have something to learn: all."""
        return table

    def loss(self, rows: Tensor, label: Tensor, generator: torch.Generator, context: Tensor | None = None) -> Tensor:
        """Cross-entropy of clean values, mean over columns and rows.  () nats"""
        clean = self._levels.encode(rows)
        signal = cosine_signal(even_times(rows, generator))
        marginal = self._marginal[label]
        noisy = CategoricalNoise(marginal).corrupt(clean, signal[:, None], generator)
        number = (rows != 0).sum(1)
        logits = self._logits(noisy, signal, label, marginal, number, context)
        found = CategoricalNoise.loss(logits, clean)
        head = self._head
        if head is None or context is None:
            return found
        return found + count_loss(head, self._count, context, label, number) / len(clean[0])

    @property
    def _head(self) -> CountHead | None:
        """What tells numbers of non-zero columns from the context, where there is one."""
        head = self.network.counts if self._counts_context else None
        assert head is None or isinstance(head, CountHead)
        return head

    def calibrate(self, table: Table, generator: torch.Generator) -> None:
        """Nothing: columns that are denoised side by side keep their frequencies."""

    def _logits(
        self,
        noisy: Tensor,
        signal: Tensor,
        label: Tensor,
        marginal: Tensor,
        number: Tensor,
        context: Tensor | None = None,
    ) -> Tensor:
        """(B, d), (B,), (B,), (B, d, K), (B,), (B, k) -> (B, d, K); -inf for values that a column does not have"""
        values = self._bits(noisy)
        if self._counted:
            values = torch.cat([values, number_features((1.0 + number).log())], dim=1)
        out = marginal.new_zeros(len(noisy), marginal[0].numel())
        out = out.index_copy(1, self._slot, self.network(values, signal, label, context)).view_as(marginal)
        if self._plain:
            return out.masked_fill(~self._levels.values.isfinite(), -torch.inf)
        index = noisy[..., None]
        here = marginal.gather(2, index)  # m(x_t)
        seen = (1 + signal[:, None, None] / ((1 - signal[:, None, None]) * here).clamp_min(1e-9)).log()
        base = marginal.log().scatter_add(2, index, seen)
        if self._counted:
            base = base + self._more(number, label)[:, None, None] * self._nonzero
        return out + base

    def _bits(self, noisy: Tensor) -> Tensor:
        """1 in the slot of a column's value and -1 in others; 0 and 1 for the paper's one-hot.  (B, slots)"""
        column, value = self._slot // self._shape[1], self._slot % self._shape[1]
        bits = (noisy[:, column] == value).float()
        return bits if self._plain else 2 * bits - 1

    def _more(self, number: Tensor, label: Tensor) -> Tensor:
        """log(n / mean n of the class): a row with more non-zero columns has each of them more often.  (B,)"""
        size = torch.arange(self._count.size(1), device=self._count.device)
        mean = (self._count * size).sum(1) / self._count.sum(1)
        return (number.clamp_min(0.1) / mean.clamp_min(0.1)[label]).log().float()

    # -- sampling -------------------------------------------------------------------------------------

    @property
    def chunk(self) -> int:
        """Rows to sample at once."""
        return max(16, SAMPLED_CELLS // max(self.config.width, self._marginal[0].numel()))

    def sample(self, label: Tensor, generator: torch.Generator, given: Given = NOTHING_GIVEN) -> Tensor:
        """A row for each label.  (m, d)"""
        label, given = label.to(self._marginal.device), given.to(self._marginal.device)
        marginal = self._marginal[label]
        noise = CategoricalNoise(marginal)
        chance = count_chances(self._count, label, self._head, given.context)
        if given.fixed is not None and self._counted:
            chance = given_fixed(chance, given.fixed, self._presence, self._count)
        number = draw(chance, generator, uniform=even_points(label, generator))

        def predict(noisy: Tensor, signal: float) -> Tensor:
            now = torch.full((len(label),), signal, device=label.device)
            logits = self._logits(noisy, now, label, marginal, number, given.context)
            return self._levels.certain((logits + more).softmax(-1), given.fixed)

        everywhere = self._marginal[-1].log()
        known = everywhere.isfinite()
        more = self.config.emphasis * (marginal.log() - everywhere).where(known, 0.0) if not self._plain else 0.0
        start = noise.prior((len(label), self._shape[0]), generator)
        if given.fixed is not None:
            return self._levels.decode(reverse_given(noise, start, predict, generator=generator))
        grid = time_grid(self.config.sampler_steps, self.config.grid)
        made = reverse({"table": noise}, {"table": start}, of_state(predict), grid, generator=generator)
        return self._levels.decode(made["table"])

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        kept = {"marginal": self._marginal, "count": self._count, "levels": self._levels.packed}
        return kept | {"presence": self._presence}, {}

    @classmethod
    def restored(
        cls, tensors: dict[str, Tensor], settings: dict[str, Any], kind: FeatureKind, config: DiTabDDPMConfig
    ) -> MarginalColumns:
        context = context_columns(under("network.", tensors))
        process = cls(kind, Levels.unpacked(tensors["levels"]), len(tensors["marginal"]), config, context)
        process._marginal, process._count = tensors["marginal"], tensors["count"]
        process._presence = tensors.get("presence", torch.full((RANGES, process._shape[0]), 0.5))  # as good as unknown
        return process
