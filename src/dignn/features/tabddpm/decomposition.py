"""Columns of several kinds as codes and values: what is diffused of a mixed table.

A *unit* is a column, or a category that has a column for each value. Its *code* says which of its levels a row has.
What repeats (zeros, caps, any value that 2 % of the rows share) and what is missing are levels of their own, and so is
every value of a category and of a column with few values. One more level, *other*, stands for all other numbers of a
column: there, and only there, the unit's *value* counts: these numbers, scaled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from dignn.core.files import put_under, under
from dignn.features.given import Fixed
from dignn.features.tabddpm.scaling import PIECE, Scaling, restored_scaling
from dignn.features.table import Table
from dignn.graphs.feature_spec import ColumnKind

# A number of a scale without steps is a level of its own where so many rows and such a share of their weight have it.
LEVEL_ROWS, LEVEL_SHARE = 8, 0.02
# Columns with at most so many values have a level for each; categories always do.
FEW_LEVELS = 20
# Decimals that numbers are rounded to where all of a column are.
MOST_DECIMALS = 3


@dataclass(frozen=True, eq=False)
class Unit:
    """One code of a row.

    Args:
        columns: (k,) numbers of its columns: one, or those of a category that has a column for each value.
        levels: (K, k) what stands in them for each code; NaN where it is missing.
        other: whether there is one more code, K, for numbers that are no level.
    """

    columns: Tensor
    levels: Tensor
    other: bool = False

    @property
    def codes(self) -> int:
        """How many codes there are."""
        return len(self.levels) + self.other

    def encode(self, rows: Tensor) -> Tensor:
        """Codes of rows (m, d): of the level that they have, of other numbers, or else of the nearest level.  (m,)"""
        if not len(self.levels):
            return torch.zeros(len(rows), dtype=torch.long)
        return torch.cat([self._encode(some) for some in rows[:, self.columns].split(PIECE)])

    @cached_property
    def _code_of(self) -> Tensor | None:
        """(k,) the code of a 1 in each column, the first where no row had it there; None unless levels are one-hot."""
        known = self.levels[~self.levels.isnan().any(1)]
        if self.levels.size(1) == 1 or not bool(_one_hot(known).all()):
            return None
        found = torch.zeros(self.levels.size(1), dtype=torch.long)
        found[known.argmax(1)] = torch.arange(len(known))  # what is missing is the last level
        return found

    def _encode(self, own: Tensor) -> Tensor:
        if self._code_of is None:
            return self._nearest(own)
        code, others = self._code_of[own.argmax(1)], (~_one_hot(own)).nonzero()[:, 0]
        if len(others):
            code[others] = self._nearest(own[others])
        return code

    def _nearest(self, own: Tensor) -> Tensor:
        here, lost = self.levels.isnan().any(1), own.isnan().any(1)
        apart = torch.cdist(own.nan_to_num(0.0).double(), self.levels.nan_to_num(0.0).double(), p=1)
        apart = apart.masked_fill(here[None] != lost[:, None], torch.inf)
        least, code = apart.min(1)
        if self.other:
            code = code.masked_fill((least > 0) & ~lost, len(self.levels))
        return code


class Decomposition:
    """The units of a table, and how their other numbers are scaled. It stays on the CPU.

    Args:
        units: of all columns that vary.
        constant: (d,) what stands in the columns that do not.
        scaling: of the other numbers, by the units that have them, in order.
        step: (V,) double: other numbers are multiples of it; 0 where they are not multiples of anything.
    """

    def __init__(self, units: tuple[Unit, ...], constant: Tensor, scaling: tuple[Scaling, ...], step: Tensor) -> None:
        self.units, self.constant, self.scaling, self.step = units, constant, scaling, step

    @classmethod
    def of(cls, table: Table, kind: type[Scaling]) -> Decomposition:
        """What the columns of a mixed table come to, their numbers scaled in this way."""
        spec = table.spec
        grouped = {column for group in spec.groups for column in group}
        units = [_whole_levels(table, torch.tensor(group)) for group in spec.groups]
        units += [_unit(table, column) for column in range(spec.width) if column not in grouped]
        units = [unit for unit in units if unit.codes > 1 or unit.other]  # others are the same in every row
        first = table.rows[0].clone()
        scaling, steps = [], []
        for unit in units:
            if unit.other:
                number = table.rows[:, unit.columns[0]]
                counts = unit.encode(table.rows) == len(unit.levels)
                step = _step(number[counts].double())
                found = number[counts, None].double()
                scaling.append(kind.of((found / step if step else found).float(), table.weight[counts]))
                steps.append(step)
        return cls(tuple(units), first, tuple(scaling), torch.tensor(steps, dtype=torch.float64))

    @cached_property
    def valued(self) -> Tensor:
        """(V,) the units whose other numbers are values."""
        return torch.tensor([place for place, unit in enumerate(self.units) if unit.other], dtype=torch.long)

    @cached_property
    def other(self) -> Tensor:
        """(V,) the code of other numbers in each of these."""
        return torch.tensor([len(self.units[place].levels) for place in self.valued.tolist()], dtype=torch.long)

    @property
    def codes(self) -> list[int]:
        """How many codes each unit has."""
        return [unit.codes for unit in self.units]

    def encode(self, rows: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Codes (m, U) and values (m, V); values that do not count are 0."""
        code = torch.stack([unit.encode(rows) for unit in self.units], dim=1)
        values = torch.zeros(len(rows), len(self.valued))
        for place, unit in enumerate(self.valued.tolist()):
            here = code[:, unit] == self.other[place]
            number = rows[here, self.units[unit].columns[0]].double()
            number = number / self.step[place] if self.step[place] else number
            values[here, place] = self.scaling[place].encode(number[:, None].float(), generator)[:, 0]
        return code, values

    def allowed(self, fixed: Fixed) -> Tensor:
        """Which codes agree with fixed columns: all of a unit of which nothing is fixed.  (m, U, K) bool"""
        most = max(self.codes)
        out = torch.zeros(len(fixed.mask), len(self.units), most, dtype=torch.bool)
        for place, unit in enumerate(self.units):
            mask, own = fixed.mask[:, unit.columns], fixed.values[:, unit.columns]
            same = (own[:, None] == unit.levels) | (own[:, None].isnan() & unit.levels.isnan())
            out[:, place, : len(unit.levels)] = (same | ~mask[:, None]).all(2)  # (m, K, k)
            if unit.other:
                known = mask[:, 0] & ~own[:, 0].isnan()
                out[:, place, len(unit.levels)] = ~mask[:, 0] | (known & ~out[:, place].any(1))
            lost = ~out[:, place].any(1)  # what no row has: the nearest that there is
            out[lost, place] = F.one_hot(unit.encode(fixed.values[lost]), most).bool()
        return out

    def decode(self, code: Tensor, values: Tensor) -> Tensor:
        """Rows of codes (m, U) and values (m, V).  (m, d)"""
        out = self.constant.repeat(len(code), 1)
        for place, unit in enumerate(self.units):
            here = code[:, place] < len(unit.levels)
            out[here.nonzero(), unit.columns] = unit.levels[code[here, place]]
        for place, number in enumerate(self.valued.tolist()):
            here = code[:, number] == self.other[place]
            found = self.scaling[place].decode(values[here, place, None])[:, 0].double()
            found = found * self.step[place] if self.step[place] else found
            out[here, self.units[number].columns[0]] = found.float()
        return out

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Tensor]:
        """Tensors for a file, which takes no NaN."""
        levels = torch.cat([unit.levels.flatten() for unit in self.units])
        kept = {
            "constant": self.constant.nan_to_num(0.0),
            "columns": torch.cat([unit.columns for unit in self.units]),
            "shape": torch.tensor([[len(unit.columns), len(unit.levels), unit.other] for unit in self.units]),
            "levels": levels.nan_to_num(0.0),
            "missing": levels.isnan(),
            "step": self.step,
        }
        for place, scaling in enumerate(self.scaling):
            kept |= put_under(f"scaling.{place}.", vars(scaling))
        return kept

    @classmethod
    def restored(cls, tensors: dict[str, Tensor]) -> Decomposition:
        """From what :meth:`state` gave."""
        levels = tensors["levels"].masked_fill(tensors["missing"], torch.nan)
        units, column, level, scaling = [], 0, 0, []
        for width, number, other in tensors["shape"].tolist():
            own = levels[level : level + width * number].view(number, width)
            units.append(Unit(tensors["columns"][column : column + width], own, bool(other)))
            column, level = column + width, level + width * number
        for place in range(len(tensors["step"])):
            scaling.append(restored_scaling(under(f"scaling.{place}.", tensors)))
        return cls(tuple(units), tensors["constant"], tuple(scaling), tensors["step"])


def _one_hot(rows: Tensor) -> Tensor:
    """(m,) which rows (m, k) have a single 1 and else zeros."""
    return ((rows != 0).sum(1) == 1) & (rows == 1).any(1)


def _unit(table: Table, column: int) -> Unit:
    """The unit of one column."""
    spec, columns = table.spec.column(column), torch.tensor([column])
    number = table.rows[:, column]
    known = number[~number.isnan()]
    discrete = spec.kind in (ColumnKind.BINARY, ColumnKind.CATEGORICAL, ColumnKind.ONE_HOT)
    distinct, place, count = known.unique(return_inverse=True, return_counts=True)
    if discrete or len(distinct) <= FEW_LEVELS:
        return _whole_levels(table, columns)
    weight = table.weight.double()[~number.isnan()]
    share = torch.bincount(place, weight, minlength=len(distinct)) / table.weight.double().sum()
    level = (count >= LEVEL_ROWS) & (share >= LEVEL_SHARE)
    if int((~level).sum()) < 2:  # no scale is left
        return _whole_levels(table, columns)
    levels = distinct[level]
    if len(known) < len(number):
        levels = torch.cat([levels, levels.new_full((1,), torch.nan)])
    return Unit(columns, levels[:, None], other=True)


def _whole_levels(table: Table, columns: Tensor) -> Unit:
    """Every combination of values that rows have in these columns is a level; one with anything missing is missing."""
    own = table.rows[:, columns]
    lost = own.isnan().any(1)
    levels = own[~lost].unique(dim=0)
    if bool(lost.any()):
        levels = torch.cat([levels, levels.new_full((1, len(columns)), torch.nan)])
    return Unit(columns, levels)


def _step(number: Tensor) -> float:
    """What all numbers (n,) are whole multiples of: a number of decimals, or whole days of seconds; 0 for nothing."""
    for decimals in range(MOST_DECIMALS + 1):
        scaled = number * 10**decimals
        whole = scaled.round()
        # Single precision knows about seven digits.
        if bool(((scaled - whole).abs() <= 1e-6 * scaled.abs() + 1e-9).all()) and float(whole.abs().max()) < 2**40:
            return max(math.gcd(*whole.long().abs().unique().tolist()), 1) / 10**decimals
    return 0.0
