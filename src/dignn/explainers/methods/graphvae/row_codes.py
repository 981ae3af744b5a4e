"""Rows of features as the autoencoder sees and decodes them: what goes in, what comes out, how well it fits.

A decoder of a VAE gives means, which are no rows: of four thousand words each is likely to be absent, so that taking
the most likely value of each would give empty rows. As in the paper, entries are there where they pass a threshold, one
for all columns of a type, chosen so that decoded rows have as many entries as real ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor

from dignn.features.ditabddpm.generator import SPARSE
from dignn.features.levels import Levels
from dignn.features.tabddpm.scaling import Standard
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Schema

# Numbers for the categories of one row that a decoder gives, at most.
MOST_CATEGORY_CELLS = 20_000
# A frequency of 0 or 1 is not believed: of n rows, half a row more is.
_DOUBT = 0.5


def decodable(schema: Schema) -> bool:
    """Whether rows of all node types can be decoded: none has columns of several kinds, or too many categories."""
    return all(_fits(spec) for spec in schema.features)


def _fits(spec: FeatureSpec) -> bool:
    if spec.kind is FeatureKind.CATEGORICAL:
        return spec.width * max(spec.levels or (1,)) <= MOST_CATEGORY_CELLS
    return spec.kind is not FeatureKind.MIXED


def threshold_for(odds: Tensor, entries: int) -> Tensor:
    """() what so many of the log-odds pass; 0, which stands for even odds, where none or all would have to."""
    finite = odds[odds.isfinite()]
    if not 0 < entries < len(finite):
        return torch.zeros(())
    # Half-way between the last that passes and the first that does not.
    return finite.topk(entries + 1).values[-2:].double().mean().float()


class RowCode(ABC):
    """How rows (m, d) of one node type enter the encoder, and what the decoder says of them."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Numbers that a row enters with, and that the decoder gives for it."""

    @classmethod
    @abstractmethod
    def of(cls, rows: Tensor) -> Self:
        """Measured on rows (n, d) as they stand in training graphs."""

    @abstractmethod
    def encode(self, rows: Tensor) -> Tensor:
        """(m, d) -> (m, size)"""

    @abstractmethod
    def start(self, rows: Tensor) -> Tensor:
        """(size,) what a decoder says that knows only how frequent values are in rows (n, d)."""

    @abstractmethod
    def loss(self, said: Tensor, rows: Tensor) -> Tensor:
        """(m,) negative log-likelihood of rows (m, d), up to a constant; said: (m, size)."""

    @abstractmethod
    def decode(self, said: Tensor, graph: Tensor) -> Tensor:
        """Rows of nodes that stand in these graphs (m,), which ascend.  (m, size) -> (m, d)"""

    def calibrated(self, said: Tensor) -> Self:
        """The same with a threshold with which decoded rows (m, size) are as dense as real ones."""
        return self

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Tensors for a file."""

    @classmethod
    @abstractmethod
    def restored(cls, tensors: dict[str, Tensor]) -> Self:
        """From what :meth:`state` gave."""


@dataclass(frozen=True, eq=False)
class EntryRows(RowCode):
    """Flags, and sparse counts and quantities: which entries are there, by a threshold.

    An entry that is there has the mean of those of its column in training rows (a whole number for counts), so 1 for
    flags.

    Args:
        value: (d,) of entries that are there.
        density: () mean number of entries of a training row, as a share of the columns.
        threshold: () log-odds above which an entry is there.
    """

    value: Tensor
    density: Tensor
    threshold: Tensor

    @property
    def size(self) -> int:
        return len(self.value)

    @classmethod
    def of(cls, rows: Tensor) -> EntryRows:
        there = rows != 0
        value = rows.sum(0) / there.sum(0).clamp_min(1)
        whole = bool((rows == rows.round()).all())
        value = (value.round() if whole else value).where(there.any(0), 1.0)
        return cls(value.float(), there.float().mean(), torch.zeros(()))

    def encode(self, rows: Tensor) -> Tensor:
        return (rows != 0).float()

    def start(self, rows: Tensor) -> Tensor:
        share = ((rows != 0).sum(0) + _DOUBT) / (len(rows) + 2 * _DOUBT)
        return share.logit()

    def loss(self, said: Tensor, rows: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(said, self.encode(rows), reduction="none").sum(1)

    def decode(self, said: Tensor, graph: Tensor) -> Tensor:
        return (said > self.threshold).float() * self.value

    def calibrated(self, said: Tensor) -> EntryRows:
        return replace(self, threshold=threshold_for(said, round(float(self.density) * said.numel())))

    def state(self) -> dict[str, Tensor]:
        return {"value": self.value, "density": self.density, "threshold": self.threshold}

    @classmethod
    def restored(cls, tensors: dict[str, Tensor]) -> EntryRows:
        return cls(**tensors)


@dataclass(frozen=True, eq=False)
class NumberRows(RowCode):
    """Quantities, and counts that are seldom zero: the mean of a Gaussian, in standardised units.

    It comes back within the range of training rows; columns of whole numbers are rounded.

    Args:
        scaling: to mean 0 and deviation 1.
    """

    scaling: Standard

    @property
    def size(self) -> int:
        return len(self.scaling.mean)

    @classmethod
    def of(cls, rows: Tensor) -> NumberRows:
        found = Standard.of(rows, torch.ones(len(rows)))
        return cls(replace(found, deviation=found.deviation.where(found.deviation > 0, 1.0)))  # a column of one value

    def encode(self, rows: Tensor) -> Tensor:
        return self.scaling.encode(rows)

    def start(self, rows: Tensor) -> Tensor:
        return torch.zeros(self.size)

    def loss(self, said: Tensor, rows: Tensor) -> Tensor:
        return (said - self.encode(rows)).square().sum(1) / 2

    def decode(self, said: Tensor, graph: Tensor) -> Tensor:
        return self.scaling.decode(said)

    def state(self) -> dict[str, Tensor]:
        return vars(self.scaling)

    @classmethod
    def restored(cls, tensors: dict[str, Tensor]) -> NumberRows:
        return cls(Standard(**tensors))


@dataclass(frozen=True, eq=False)
class CategoryRows(RowCode):
    """Categories: the most likely one of each column.

    Args:
        levels: the values of each column.
    """

    levels: Levels

    @property
    def size(self) -> int:
        return self.levels.values.numel()

    @classmethod
    def of(cls, rows: Tensor) -> CategoryRows:
        return cls(Levels.of(rows))

    def encode(self, rows: Tensor) -> Tensor:
        return F.one_hot(self._code(rows), self.levels.values.size(1)).flatten(1).float()

    def start(self, rows: Tensor) -> Tensor:
        count = torch.cat([self.encode(some) for some in rows.split(1024)]).sum(0)
        return ((count + _DOUBT) / (len(rows) + 2 * _DOUBT)).log()

    def loss(self, said: Tensor, rows: Tensor) -> Tensor:
        return F.cross_entropy(self._logits(said).transpose(1, 2), self._code(rows), reduction="none").sum(1)

    def decode(self, said: Tensor, graph: Tensor) -> Tensor:
        return self.levels.decode(self._logits(said).argmax(2))

    def _code(self, rows: Tensor) -> Tensor:
        """(m, d) a value that no training row has counts as the nearest one."""
        return self.levels.encode(self.levels.nearest(rows))

    def _logits(self, said: Tensor) -> Tensor:
        """(m, d, K); columns with fewer values never take one that they lack."""
        shaped = said.unflatten(1, self.levels.values.shape)
        return shaped.masked_fill(self.levels.values.isinf(), torch.finfo(said.dtype).min)

    def state(self) -> dict[str, Tensor]:
        return {"levels": self.levels.packed}

    @classmethod
    def restored(cls, tensors: dict[str, Tensor]) -> CategoryRows:
        return cls(Levels.unpacked(tensors["levels"]))


@dataclass(frozen=True, eq=False)
class MemberRows(RowCode):
    """An identity type: the most likely member, as a one-hot row; the data has each once, and so has a graph.

    Args:
        members: () how many there are.
    """

    members: Tensor

    @property
    def size(self) -> int:
        return int(self.members)

    @classmethod
    def of(cls, rows: Tensor) -> MemberRows:
        return cls(torch.tensor(rows.size(1)))

    def encode(self, rows: Tensor) -> Tensor:
        return rows

    def start(self, rows: Tensor) -> Tensor:
        return ((rows.sum(0) + _DOUBT) / (len(rows) + 2 * _DOUBT)).log()

    def loss(self, said: Tensor, rows: Tensor) -> Tensor:
        return F.cross_entropy(said, rows.argmax(1), reduction="none")

    def decode(self, said: Tensor, graph: Tensor) -> Tensor:
        taken = torch.zeros(int(graph.max()) + 1 if len(graph) else 0, self.size, dtype=torch.bool)
        member = torch.empty(len(said), dtype=torch.long)
        turn = torch.arange(len(graph)) - torch.searchsorted(graph, graph)  # which of its graph's nodes each is
        for number in range(int(turn.max()) + 1 if len(graph) else 0):
            here = turn == number
            free = ~taken[graph[here]]
            free |= ~free.any(1, keepdim=True)  # more nodes than members
            member[here] = said[here].masked_fill(~free, -torch.inf).argmax(1)
            taken[graph[here], member[here]] = True
        return F.one_hot(member, self.size).float()

    def state(self) -> dict[str, Tensor]:
        return {"members": self.members}

    @classmethod
    def restored(cls, tensors: dict[str, Tensor]) -> MemberRows:
        return cls(**tensors)


ROW_CODES: dict[str, type[RowCode]] = {
    "entries": EntryRows,
    "numbers": NumberRows,
    "categories": CategoryRows,
    "members": MemberRows,
}
"""Codes by name, for files."""


def code_of(rows: Tensor, kind: FeatureKind) -> str:
    """The name of the code for rows (n, d) of a kind."""
    if kind is FeatureKind.IDENTITY:
        return "members"
    if kind is FeatureKind.CATEGORICAL:
        return "categories"
    sparse = int(rows.count_nonzero()) <= SPARSE * rows.numel()
    return "entries" if kind is FeatureKind.BINARY or sparse else "numbers"
