"""Values of sparse rows given which entries they have: codes by a network, scales from real rows of the same size.

Of a row's values first its scale and level are drawn, both from one real row of the label that is alike (in the number
of its entries, and in what values their columns have on average); then the codes of its entries in a few rounds, a
random part of them in each, given all columns of the row, its size, scale and level, the label, and the codes that are
there by then. So words of one topic are large together: codes, too, are hidden and revealed (absorbing diffusion).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dignn.core.devices import moved
from dignn.core.files import put_under, under
from dignn.core.seeds import Seed
from dignn.diffusion.categorical import draw
from dignn.features.ditabddpm.sparse_values import normalised
from dignn.features.ditabddpm.value_codes import CODES, ValueCodes
from dignn.features.main_directions import column_places
from dignn.features.mlp import NUMBER_FEATURES, ContextLayer, ResidualBlocks, number_features, zero_linear
from dignn.features.table import Table

# Real rows that are most alike, among which scale and level are drawn, and how many real rows are known.
ALIKE_ROWS, KEPT_ROWS = 8, 4096
# A column's codes are mixed with those of all columns as if so many more entries had been seen.
_BORROWED = 4.0
_WIDTH = 64
# Rounds in which the codes of a row are revealed.
VALUE_ROUNDS = 6
# The log frequency of a code that no entry has; files take no infinity.
_NEVER = -1e4
_COUNTED = ("base", "size", "scale", "level", "likely", "expected", "weight", "spread")


class ShownEntries(NamedTuple):
    """The entries of rows, one after another, and which of their codes are known.

    Args:
        row, column: (e,) where they stand.
        code: (e,) of their values.
        shown: (e,) bool; the codes of the others do not count.
        asked: (e,) bool, of which the codes are to be foretold.
    """

    row: Tensor
    column: Tensor
    code: Tensor
    shown: Tensor
    asked: Tensor


class EntryNetwork(nn.Module):
    """Logits of the codes of entries, beside their log frequencies.

    Args:
        columns: d.
        labels: C + 1.
        context: numbers that are known of each row beside its label.
    """

    def __init__(self, columns: int, labels: int, context: int) -> None:
        super().__init__()
        self.column = nn.Embedding(columns, _WIDTH)
        self.line = nn.Embedding(labels, _WIDTH)
        self.code = nn.Embedding(CODES, _WIDTH)
        self.number = nn.Linear(4 * NUMBER_FEATURES, _WIDTH)
        self.context = ContextLayer(context, _WIDTH)
        self.blocks = ResidualBlocks(_WIDTH, 2, 0.0)
        self.entry, self.gate = nn.Linear(_WIDTH, _WIDTH), nn.Linear(_WIDTH, _WIDTH)
        self.out = zero_linear(_WIDTH, CODES)

    def forward(self, entries: ShownEntries, numbers: Tensor, label: Tensor, context: Tensor | None = None) -> Tensor:
        """Entries of B rows, (B, 3) size, scale and level of these, (B,), (B, k) -> (entries that are asked, codes)

        The share of a row's codes that are shown is a fourth number.
        """
        row, shown = entries.row, entries.shown
        own = self.column(entries.column)
        count, revealed = (torch.bincount(some, minlength=len(label)) for some in (row, row[shown]))
        summed = own.new_zeros(len(label), own.size(1)).index_add(0, row, own) / count.clamp_min(1)[:, None].sqrt()
        said = own[shown] * self.code(entries.code[shown])
        said = torch.zeros_like(summed).index_add(0, row[shown], said) / revealed.clamp_min(1)[:, None].sqrt()
        numbers = torch.cat([numbers, (revealed / count.clamp_min(1))[:, None]], dim=1)
        seen = torch.cat([number_features(number) for number in numbers.unbind(1)], dim=1)
        hidden = self.blocks(self.context(summed + said + self.line(label) + self.number(seen), context))
        hidden, own = hidden[row[entries.asked]], own[entries.asked]
        return self.out(F.silu(hidden * (1 + self.gate(own)) + self.entry(own)))


class LearnedValues(nn.Module):
    """Values of the entries of rows.

    Args:
        codes: how values become codes.
        columns, labels, context: d, C + 1, and k.
    """

    base: Tensor
    size: Tensor
    scale: Tensor
    level: Tensor
    likely: Tensor
    expected: Tensor
    weight: Tensor
    spread: Tensor

    def __init__(self, codes: ValueCodes, columns: int, labels: int, context: int) -> None:
        super().__init__()
        self.codes = codes
        self.network = EntryNetwork(columns, labels, context)
        self.norm, self.length = 0, 0.0
        for name in _COUNTED:
            self.register_buffer(name, torch.empty(0), persistent=False)

    @classmethod
    def of(cls, table: Table, norm: int, length: float, seed: Seed) -> tuple[LearnedValues, Table]:
        """With all that needs no network counted, and what the network learns from: a table of codes.

        Args:
            table: whose values are learned.
            norm, length: the norm that its rows share, see :class:`EntryValues`.
            seed: of what is drawn.
        """
        codes = ValueCodes.of(table.rows, table.spec.kind.discrete)
        columns = table.rows.size(1)
        with seed.child("network").torch_globally():
            made = cls(codes, columns, table.classes + 1, table.known)
            with torch.no_grad():
                made.network.column.weight.copy_(column_places(table.rows, _WIDTH, torch.default_generator))
        made.norm, made.length = norm, length
        found = codes.encode(table.rows, seed.child("spread").torch())
        count = torch.zeros(columns, CODES, dtype=torch.float64)
        weight = (table.weight / table.weight.mean()).double()
        count.index_put_((found.column, found.code), weight[found.row], accumulate=True)
        there = count.sum(0) > 0
        count = count + _BORROWED * count.sum(0) / count.sum().clamp_min(1e-9)
        made.base = (count / count.sum(1, keepdim=True)).clamp_min(1e-6).log().where(there, _NEVER).float()
        number = torch.bincount(found.row, minlength=len(table))
        some = (number > 0).nonzero()[:, 0]
        coded = torch.zeros(len(table), columns + 2)
        coded[found.row, found.column] = found.code + 1.0
        coded[:, -2], coded[:, -1] = found.scale, found.level
        learned = replace(table, rows=coded)[some]
        # What values a column has on average, and so each row would have by its columns alone.
        share = found.excess.new_zeros(columns).index_add_(0, found.column, found.excess)
        made.expected = share / torch.bincount(found.column, minlength=columns).clamp_min(1)
        likely = made.expected.new_zeros(len(table)).index_add_(0, found.row, made.expected[found.column])
        made.expected = made.expected.float()
        if len(some) > KEPT_ROWS:
            chosen = torch.multinomial(table.weight[some], KEPT_ROWS, generator=seed.child("kept").torch())
            some = some[chosen.sort().values]
        made.likely = (likely / number.clamp_min(1)).float()[some]
        made.size, made.scale, made.level = number[some], found.scale[some], found.level[some]
        made.weight = table.label_weight[:, some]
        both = torch.stack([made.scale, made.level])
        made.spread = torch.stack([both.mean(1), both.std(1, unbiased=False).clamp_min(1e-6)], dim=1)
        return made, learned

    def loss(self, rows: Tensor, label: Tensor, generator: torch.Generator, context: Tensor | None) -> Tensor:
        """Mean over entries of -log p(code | a random part of the others, and all else of the row).  () nats"""
        coded, scale, level = rows[:, :-2], rows[:, -2], rows[:, -1]
        row, column = coded.nonzero(as_tuple=True)
        code, share = coded[row, column].long() - 1, torch.rand(len(rows), generator=generator).to(rows.device)
        shown = torch.rand(len(row), generator=generator).to(rows.device) < share[row]
        logits = self._logits(ShownEntries(row, column, code, shown, ~shown), scale, level, label, context)
        each = F.cross_entropy(logits, code[~shown], reduction="none")
        # The hidden entries stand for all of the row.
        count, hidden = (torch.bincount(some, minlength=len(rows)) for some in (row, row[~shown]))
        return (each * (count / hidden.clamp_min(1))[row[~shown]]).sum() / count[hidden > 0].sum().clamp_min(1)

    def _logits(
        self, entries: ShownEntries, scale: Tensor, level: Tensor, label: Tensor, context: Tensor | None
    ) -> Tensor:
        parts = [(x - mean) / deviation for x, (mean, deviation) in zip((scale, level), self.spread, strict=True)]
        number = torch.bincount(entries.row, minlength=len(label))
        numbers = torch.stack([(1.0 + number).log(), *parts], dim=1)
        return self.network(entries, numbers, label, context) + self.base[entries.column[entries.asked]]

    def draw(self, present: Tensor, label: Tensor, generator: torch.Generator, context: Tensor | None = None) -> Tensor:
        """A table with values at the entries that are present, row i of label ``label[i]``.  (m, d) bool -> (m, d)"""
        out = present.float()
        row, column = present.nonzero(as_tuple=True)
        alike = self._alike(present, label, generator)
        scale, level = self.scale[alike], self.level[alike]
        turn = torch.randint(VALUE_ROUNDS, row.shape, generator=generator).to(row.device)
        code = torch.zeros_like(row)
        for number in range(VALUE_ROUNDS):
            entries = ShownEntries(row, column, code, shown=turn < number, asked=turn == number)
            logits = self._logits(entries, scale, level, label, context)
            code[entries.asked] = draw((logits - logits.amax(1, keepdim=True)).exp(), generator)
        if not self.codes.ranks:
            code = code.masked_fill((level == 0)[row], 0)  # all values of such a row are one multiple
        unit = torch.zeros_like(scale) if self.norm else scale  # a norm decides how large values are
        value = moved(self.codes, column.device).decode(column, code, unit[row], generator)
        out[row, column] = value
        return normalised(out, self.norm, self.length) if self.norm else out

    def _alike(self, present: Tensor, label: Tensor, generator: torch.Generator) -> Tensor:
        """A real row of the label with about as many entries, in columns of about such values.  (m,)"""
        size = present.sum(1)
        likely = (present.float() @ self.expected) / size.clamp_min(1)
        place = torch.stack([(1.0 + size).log(), likely], dim=1)
        real = torch.stack([(1.0 + self.size).log(), self.likely], dim=1)
        deviation = real.std(0, unbiased=False).clamp_min(1e-6)
        out = torch.empty_like(label)
        for one in label.unique().tolist():
            here, weight = label == one, self.weight[one]
            own = (weight > 0).nonzero()[:, 0]
            own = own if len(own) else torch.arange(len(weight), device=label.device)
            apart = torch.cdist(place[here] / deviation, real[own] / deviation)
            near = apart.topk(min(ALIKE_ROWS, len(own)), dim=1, largest=False).indices
            drawn = draw(weight[own][near].clamp_min(1e-9), generator)
            out[here] = own[near.gather(1, drawn[:, None])[:, 0]]
        return out

    # -- files ----------------------------------------------------------------------------------------

    def kept(self) -> dict[str, Tensor]:
        """Tensors for a file."""
        own = {name: getattr(self, name) for name in _COUNTED}
        own |= put_under("codes.", vars(self.codes))
        return own | put_under("network.", self.network.state_dict())

    @classmethod
    def restored(cls, tensors: dict[str, Tensor], norm: int, length: float) -> LearnedValues:
        """From what :meth:`kept` gave."""
        weights = under("network.", tensors)
        first = weights.get("context.layers.0.weight")
        labels = len(weights["line.weight"])
        columns = len(weights["column.weight"])
        made = cls(ValueCodes(**under("codes.", tensors)), columns, labels, 0 if first is None else first.size(1))
        for name in _COUNTED:
            setattr(made, name, tensors[name])
        made.network.load_state_dict(weights)
        made.norm, made.length = norm, length
        return made.eval()
