"""Absorbing diffusion over the non-zero columns of a row: for wide and sparse tables.

A row is a set of columns (the words of a text). The forward process hides one after another; the reverse process
reveals one or a few at a time, by one softmax over all columns that are still hidden. How many a row has is drawn
first. The network adds to the log frequencies of the class, so that it only learns what columns say about each other.
Cost grows with the number of entries, not with one value for each column.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dignn.core.files import put_under, under
from dignn.core.seeds import Seed
from dignn.diffusion.categorical import draw
from dignn.features.ditabddpm.class_frequencies import LogFrequencies
from dignn.features.ditabddpm.class_strength import class_strength
from dignn.features.ditabddpm.column_binding import column_binding
from dignn.features.ditabddpm.column_draws import ColumnDraws
from dignn.features.ditabddpm.entry_counts import (
    CountHead,
    count_chances,
    count_loss,
    given_fixed,
    presence_by_count,
)
from dignn.features.ditabddpm.sparse_values import EntryValues
from dignn.features.ditabddpm.value_network import LearnedValues
from dignn.features.given import NOTHING_GIVEN, Fixed, Given
from dignn.features.main_directions import column_places
from dignn.features.mlp import (
    NUMBER_FEATURES,
    ContextLayer,
    ResidualBlocks,
    context_columns,
    number_features,
    zero_linear,
)
from dignn.features.settings import DiTabDDPMConfig
from dignn.features.table import Table, even_points
from dignn.graphs.feature_spec import FeatureKind

# The share of counts that are not 1 from which on they are learned rather than drawn column by column.
LEAST_REPEATS = 0.05
# Steps in which all columns of a row are revealed: in 8, rows of a hundred words are told more easily.
MOST_REVEALS = 16
# Calibration: rounds, rows in each, cells that these may have, columns from which there is none, and how many entries
# of a column are too few to tell anything.
_ROUNDS, _ROWS, _CELLS, _MANY, _FEW = 2, 16384, 2**21, 1000, 4


class SetNetwork(nn.Module):
    """What the revealed columns of a row say about the hidden ones.

    Args:
        columns: d.
        labels: C + 1.
        context: numbers that are known of each row beside its label.
    """

    def __init__(self, columns: int, labels: int, config: DiTabDDPMConfig, context: int = 0) -> None:
        super().__init__()
        self.column = nn.Embedding(columns, config.width)
        self.line = nn.Embedding(labels, config.width)  # of the label; files know it by this name
        self.number = nn.Linear(2 * NUMBER_FEATURES, config.width)
        self.blocks = ResidualBlocks(config.width, config.blocks, config.dropout)
        self.out = zero_linear(config.width, columns)
        self.context = ContextLayer(context, config.width)
        self.counts = CountHead(context, labels) if context else None

    def forward(
        self, shown_sum: Tensor, revealed: Tensor, count: Tensor, label: Tensor, context: Tensor | None = None
    ) -> Tensor:
        """Logits of every column, beside its log frequency.  (B, d)

        Args:
            shown_sum: (B, width) sum of the revealed columns' embeddings.
            revealed, count: (B,) how many columns are revealed, and how many the row has.
            label: (B,) class.
            context: (B, k) what else is known of the rows.
        """
        numbers = torch.cat([number_features((1.0 + x).log()) for x in (count, count - revealed)], dim=1)
        shown_sum = shown_sum / revealed.clamp_min(1)[:, None].sqrt()
        return self.out(self.blocks(self.context(shown_sum + self.line(label) + self.number(numbers), context)))


class AbsorbingRows:
    """The process: how rows are hidden, learned and revealed.

    Args:
        columns: d.
        labels: C + 1.
        config: settings.
        context: numbers that are known of each row beside its label.
    """

    # Rows to sample at once.
    chunk = 1024

    def __init__(self, columns: int, labels: int, config: DiTabDDPMConfig, context: int = 0) -> None:
        self._columns, self._labels, self.emphasis = columns, labels, config.emphasis
        self.binding = 0.0  # how much more than 1 the network's word counts
        self.network = SetNetwork(columns, labels, config, context)
        self._learned: LearnedValues | None = None  # of entries, where they depend on each other
        self._exact = True  # whether only values that a column has are drawn

    @classmethod
    def of(cls, table: Table, config: DiTabDDPMConfig) -> AbsorbingRows:
        process = cls(table.spec.width, table.classes + 1, config, table.known)
        with torch.no_grad():
            process.network.column.weight.copy_(column_places(table.rows, config.width, torch.default_generator))
        return process

    # -- learning -------------------------------------------------------------------------------------

    def learn_frequencies(self, table: Table) -> None:
        """Counts what needs no network: frequencies of columns, of numbers of entries and of values, by label."""
        row, column = table.entries
        of_column = torch.bincount(column, minlength=self._columns)
        self._always = of_column == len(table)  # nothing to draw, and a draw would miss some
        number = torch.bincount(row, minlength=len(table)) - self._always.sum()
        self._base, self._base_of_others = LogFrequencies.of(table, self._always)
        weight = table.different_weight  # labels with the same weights count the same
        count = torch.zeros(len(weight), int(number.max()) + 1, dtype=torch.float64)
        self._count = count.index_add_(1, number, weight)[table.line]
        self._presence = presence_by_count(table, number, self._count)
        # Values that are learned need no frequencies by label, which are many numbers where there are many classes.
        if self._varied(table):
            self._values = EntryValues.of(table, weight[-1:])
        else:
            values = EntryValues.of(table, weight)
            self._values = replace(values, weight=values.weight[table.line])

    def follow_classes(self, learned: Table, held: Table, generator: torch.Generator) -> None:
        """Sets how far rows lean towards their class, by rows that the network has not learned from."""
        trial = copy(self)  # counts the learned rows alone
        trial.learn_frequencies(learned)
        told = LogFrequencies.of(held, trial._always).all_rows

        def present(emphasis: float, label: Tensor, given: Given) -> Tensor:
            trial.emphasis = emphasis
            return trial._present(label, generator, given)

        with torch.no_grad():
            self.emphasis = class_strength(self.emphasis, learned, present, told - told[-1], generator)

    def bind_columns(self, table: Table, generator: torch.Generator) -> None:
        """Sets how much the network's word counts, so that generated rows hold together as real ones do."""

        def present(binding: float, label: Tensor, given: Given) -> Tensor:
            self.binding = binding
            return self._present(label, generator, given)

        with torch.no_grad():
            self.binding = column_binding(table, present, generator)

    def learn_values(self, table: Table, seed: Seed) -> tuple[LearnedValues, Table] | None:
        """What is to learn about values, and from which table; None where they are hardly more than ones.

        A norm that all rows share, or values that repeat a column's count in any way, are counted; what rows have in
        common with each other beyond that takes a network.
        """
        if not self._varied(table):
            return None
        found = LearnedValues.of(table, self._values.norm, self._values.length, seed)
        self._learned, self._exact = found[0], table.spec.kind.discrete
        return found

    @staticmethod
    def _varied(table: Table) -> bool:
        """Whether entries have values that are worth learning."""
        entries = table.rows[table.entries]
        if not len(entries):
            return False
        return float((entries != entries[0]).double().mean()) >= (LEAST_REPEATS if table.spec.kind.discrete else 1e-9)

    def learnable(self, table: Table) -> Table:
        """The rows that have something to learn: those with an entry that others lack.

        Where numbers of entries are learned from what is known of rows, a row without any tells as much as others.
        """
        row, column = table.entries
        some = torch.bincount(row[~self._always[column]], minlength=len(table)) > 0
        whole = bool(some.all()) or (self.network.counts is not None and bool(some.any()))
        return table if whole else table[some.nonzero()[:, 0]]

    def loss(self, rows: Tensor, label: Tensor, generator: torch.Generator, context: Tensor | None = None) -> Tensor:
        """Mean over entries of -log p(entry | a random part of the others), rows without any aside.  () nats"""
        column, there = _entries(rows.masked_fill(self._always, 0.0) if bool(self._always.any()) else rows)
        count = there.sum(1)
        place = torch.rand(column.shape, generator=generator).to(rows.device)
        order = place.masked_fill(~there, 2.0).argsort(1).argsort(1)
        share = torch.rand(len(rows), generator=generator).to(rows.device)
        revealed = (share * count).long().minimum(count - 1).clamp_min(0)
        shown = order < revealed[:, None]
        hidden = there & ~shown
        shown_sum = F.embedding_bag(
            column[shown], self.network.column.weight, revealed.cumsum(0) - revealed, mode="sum"
        )
        # A row's own entries are foreseen by what other rows have: frequencies that know a row leave nothing to learn.
        row = torch.arange(len(rows), device=rows.device)[:, None].expand_as(column)
        base = self._base[label]
        base[row[there], column[there]] = self._base_of_others[label[row[there]], column[there]]
        base[row[shown], column[shown]] = -torch.inf
        logits = self.network(shown_sum, revealed, count, label, context) + base
        each = (logits.logsumexp(1, keepdim=True) - logits.gather(1, column)).where(hidden, 0.0)
        # The hidden entries stand for the whole row: their mean times the number of its entries bounds -log p(row).
        entries = count.sum().clamp_min(1)
        found = (each.sum(1) * count / hidden.sum(1).clamp_min(1)).sum() / entries
        if self.network.counts is None or context is None:
            return found
        return found + count_loss(self.network.counts, self._count, context, label, count) * len(count) / entries

    def calibrate(self, table: Table, generator: torch.Generator) -> None:
        """Moves the log frequencies of columns so that generated rows have each as often as the data does.

        What the network says about hidden columns leaves a small bias in each, which shows where many rows are known.
        Thousands of columns are too rare, each of them, for that.
        """
        if self._columns >= _MANY:
            return
        number = min(_ROWS, _CELLS // self._columns)
        row, column = table.entries
        wanted = torch.zeros(self._columns).index_add_(0, column, (table.weight / table.weight.sum())[row])
        few = _FEW / number
        with torch.no_grad():
            for _ in range(_ROUNDS):
                row, label = table.draw_batch(number, generator, 0.0)
                found = torch.zeros(self._columns)
                for some, its in zip(row.split(self.chunk), label.split(self.chunk), strict=True):
                    given = Given(table.occasion(some, generator))
                    found += self._present(its, generator, given).sum(0).cpu()
                found = found / number
                self._base += ((wanted + few) / (found + few)).log().to(self._base.device)

    # -- sampling -------------------------------------------------------------------------------------

    def sample(self, label: Tensor, generator: torch.Generator, given: Given = NOTHING_GIVEN) -> Tensor:
        """A row for each label.  (m, d)

        Fixed columns are revealed first, or never if they are zero.
        """
        label, given = label.to(self._base.device), given.to(self._base.device)
        return self._with_values(self._present(label, generator, given), label, given.context, generator)

    def _present(self, label: Tensor, generator: torch.Generator, given: Given) -> Tensor:
        """Which entries a row for each label has.  (m, d) bool"""
        label, given = label.to(self._base.device), given.to(self._base.device)
        closed = self._always | (self._values.start.diff() == 0)  # never drawn
        chance = count_chances(self._count, label, self.network.counts, given.context)
        present = torch.zeros(len(label), self._columns, dtype=torch.bool, device=label.device)
        if given.fixed is not None:
            fixed = Fixed(given.fixed.values.masked_fill(closed, 0.0), given.fixed.mask | closed)
            chance = given_fixed(chance, fixed, self._presence, self._count)
            present = fixed.mask & (fixed.values != 0)
        count = draw(chance, generator, uniform=even_points(label, generator))
        left, order = (count - present.sum(1)).clamp_min(0).sort(descending=True, stable=True)
        label, count, given, present = label[order], count[order], given[order], present[order]
        base = (self._base + self.emphasis * (self._base - self._base[-1])).masked_fill(closed, -torch.inf)[label]
        if given.fixed is not None:
            base = base.masked_fill(given.fixed.mask, -torch.inf)
        self._reveal(present, left, count, base, label, given.context, generator)
        out = torch.empty_like(present)
        out[order] = present | self._always
        return out

    def _with_values(
        self, present: Tensor, label: Tensor, context: Tensor | None, generator: torch.Generator
    ) -> Tensor:
        if self._learned is None:
            return self._values.draw(present, label, generator)
        rows = self._learned.draw(present, label, generator, context)
        return rows if self._values.norm else self._values.nearest(rows, self._exact)

    def _reveal(
        self,
        present: Tensor,
        left: Tensor,
        count: Tensor,
        base: Tensor,
        label: Tensor,
        context: Tensor | None,
        generator: torch.Generator,
    ) -> None:
        """Reveals the columns of rows that have ``left`` (m,) to come, in descending order; in ``present``, in place.

        The first of a row one after another, later ones of a row with many several at a time. ``base`` (m, d), -inf
        for columns that are not to be drawn, is overwritten.
        """
        start, weight = count - left, self.network.column.weight
        shown_sum = present.float() @ weight
        base.masked_fill_(present, -torch.inf)
        for step in range(min(int(left[0]), MOST_REVEALS)):
            rows = int((left > step).sum())  # the first
            done, then = (_revealed(left[:rows], now) for now in (step, step + 1))
            known = None if context is None else context[:rows]
            logits = self.network(shown_sum[:rows], start[:rows] + done, count[:rows], label[:rows], known)
            draws, wanted = ColumnDraws(logits.mul_(1 + self.binding).add_(base[:rows])), then - done
            for number in range(int(wanted.max())):
                some = int((wanted > number).nonzero()[-1]) + 1
                column, there = draws.draw(even_points(label[:some], generator))
                row = (there & (wanted[:some] > number)).nonzero()[:, 0]
                column = column[row]
                present[row, column] = True
                base[row, column] = -torch.inf
                shown_sum.index_add_(0, row, weight[column])

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, settings = self._values.state()
        if self._learned is not None:
            tensors |= put_under("values.", self._learned.kept())
            settings = {**settings, "exact": self._exact}
        kept = {"base": self._base, "count": self._count, "always": self._always, "presence": self._presence}
        return kept | tensors, {**settings, "emphasis": self.emphasis, "binding": self.binding}

    @classmethod
    def restored(
        cls, tensors: dict[str, Tensor], settings: dict[str, Any], kind: FeatureKind, config: DiTabDDPMConfig
    ) -> AbsorbingRows:
        labels, columns = tensors["base"].shape
        process = cls(columns, labels, config, context_columns(under("network.", tensors)))
        process._base, process._count, process._always = tensors["base"], tensors["count"], tensors["always"]
        process._presence = tensors["presence"]
        process._values = EntryValues.restored(tensors, settings)
        process.emphasis, process.binding = settings["emphasis"], settings["binding"]
        if "exact" in settings:
            norm, length = process._values.norm, process._values.length
            process._learned = LearnedValues.restored(under("values.", tensors), norm, length)
            process._exact = settings["exact"]
        return process


def _revealed(left: Tensor, step: int) -> Tensor:
    """How many of the columns that are to come are revealed after a step: one in each, or more of many."""
    return (left - MOST_REVEALS).clamp_min(0) * step**2 // MOST_REVEALS**2 + step


def _entries(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Numbers of the non-zero columns of each row, and which places hold one.  (b, most), (b, most) bool"""
    row, column = rows.nonzero(as_tuple=True)
    count = torch.bincount(row, minlength=len(rows))
    place = torch.arange(len(row), device=rows.device) - (count.cumsum(0) - count)[row]
    out = column.new_zeros(len(rows), int(count.max()))
    out[row, place] = column
    return out, torch.arange(out.size(1), device=rows.device) < count[:, None]
