"""What a feature generator learns from: rows with the class around each, and how often each occurs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.graphs.column_checks import breach, missing_where_it_may_not
from dignn.graphs.feature_matrix import CELLS
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

# A condition that lacks no more than this to 1 lacks nothing.
_ROUNDING = 1e-4
# Rows with at most this share of entries that are not zero are kept in files as those entries.
_PACKED = 0.2


@dataclass(frozen=True, eq=False)
class Contexts:
    """What is known of n rows on K occasions each, most of which they share.

    Args:
        known: (m, k) what is known on each of m occasions; NaN for what is not.
        place: (n, K) which of them are those of each row.
    """

    known: Tensor
    place: Tensor

    @classmethod
    def of(cls, context: Tensor) -> Contexts:
        """From (n, k) for one occasion of each row, or (n, K, k)."""
        number = context.shape[1] if context.dim() == 3 else 1
        each = len(context) * number
        return cls(context.reshape(each, context.size(-1)), torch.arange(each).view(-1, number))

    def __len__(self) -> int:
        return len(self.place)

    def __getitem__(self, rows: Tensor) -> Contexts:
        return Contexts(self.known, self.place[rows])

    @property
    def each(self) -> Tensor:
        """(n, K, k)"""
        return self.known[self.place]


@dataclass(frozen=True, eq=False)
class Table:
    """Feature rows of one node type; n rows, d columns, C classes.

    A row may belong to several classes in parts. A generator is asked for rows of one *label* each: a class, or C,
    which stands for nodes without a class and knows all rows.

    Args:
        rows: (n, d) float.
        condition: (n, C) distribution over the classes around the node. What is missing to 1 stands for nodes without
            a class: all zero where there are none.
        weight: (n,) how often the row counts.
        spec: what the columns hold.
        context: what else is known of each row, on K occasions on which it was seen; None for nothing.
    """

    rows: Tensor
    condition: Tensor
    weight: Tensor
    spec: FeatureSpec
    context: Contexts | None = None

    @classmethod
    def of(
        cls,
        rows: Tensor,
        condition: Tensor,
        spec: FeatureSpec,
        weight: Tensor | None = None,
        *,
        context: Tensor | Contexts | None = None,
    ) -> Table:
        """A table that has been looked at: rows there, of the spec's width, and numbers all through.

        ``context``: (n, k) for one occasion, or (n, K, k), or of occasions that rows share.
        """
        if not len(rows):
            raise DignnError("There are no feature rows to learn from; check the node type")
        if rows.dim() != 2 or rows.size(1) != spec.width:
            raise DignnError(
                f"Feature rows of shape {tuple(rows.shape)} do not have the {spec.width} columns asked for"
            )
        if len(condition) != len(rows) or (weight is not None and len(weight) != len(rows)):
            raise DignnError(
                f"{len(rows)} feature rows need as many conditions and weights; {len(condition)} were given"
            )
        for some in rows.split(max(1, CELLS // spec.width)) if spec.width else ():
            _check_rows(some, spec)
        if bool((condition < 0).any()) or bool((condition.sum(1) > 1 + _ROUNDING).any()):
            raise DignnError("Conditions must be shares of classes: not negative, and at most 1 in all")
        weight = torch.ones(len(rows)) if weight is None else weight.float()
        if not bool((weight > 0).all()):
            raise DignnError("Weights of feature rows must be above 0; leave out rows that do not count")
        if isinstance(context, Tensor):
            check_context(context, len(rows))
            context = Contexts.of(context.float())
        return cls(rows.float(), condition.float(), weight, spec, context)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Tensor) -> Table:
        context = None if self.context is None else self.context[index]
        return Table(self.rows[index], self.condition[index], self.weight[index], self.spec, context)

    @property
    def classes(self) -> int:
        """C."""
        return self.condition.size(1)

    @property
    def known(self) -> int:
        """k, the columns of the context; 0 without any."""
        return 0 if self.context is None else self.context.known.size(1)

    def occasion(self, row: Tensor, generator: torch.Generator) -> Tensor | None:
        """What is known of some rows (m,) on a random occasion of each.  (m, k)"""
        if self.context is None:
            return None
        place = self.context.place
        count = place.size(1)
        which = place[row, torch.randint(count, (len(row),), generator=generator) if count > 1 else 0]
        return self.context.known[which]

    @cached_property
    def entries(self) -> tuple[Tensor, Tensor]:
        """Rows and columns of all numbers that are not zero, row by row.  (e,), (e,)"""
        row, column = self.rows.nonzero(as_tuple=True)
        return row, column

    @cached_property
    def different_weight(self) -> Tensor:
        """(L, n) what each row counts for each class that some row carries, and last for all other labels: all rows."""
        carried = self.condition[:, (self.condition > 0).any(0)]
        return torch.cat([carried, torch.ones(len(self), 1)], dim=1).double().T * self.weight.double()

    @cached_property
    def line(self) -> Tensor:
        """(C + 1,) which of the L lines is that of each label. Classes that no row carries share one."""
        carried = torch.cat([(self.condition > 0).any(0), torch.tensor([False])])
        return (carried.cumsum(0) - 1).where(carried, int(carried.sum()))

    @property
    def label_weight(self) -> Tensor:
        """(C + 1, n) what each row counts for each label. A class that no row carries counts all rows, as C does."""
        return self.different_weight[self.line]

    @cached_property
    def _cumulated(self) -> Tensor:
        """(L, n)"""
        weight = self.different_weight
        return weight.cumsum(1) / weight.sum(1, keepdim=True)

    @cached_property
    def _steps(self) -> tuple[Tensor, Tensor]:
        """Of each row the classes that it carries, and last C, and what their parts add up to.  (n, k), (n, k)"""
        row, column = self.condition.nonzero(as_tuple=True)
        count = torch.bincount(row, minlength=len(self))
        place = torch.arange(len(row)) - (count.cumsum(0) - count)[row]
        most = int(count.max()) + 1
        label = torch.full((len(self), most), self.classes)
        part = torch.zeros(len(self), most, dtype=torch.float64)
        label[row, place], part[row, place] = column, self.condition[row, column].double()
        part[:, -1] = _of_none(self.condition)
        return label, part.cumsum(1)

    def draw(self, label: Tensor, generator: torch.Generator, columns: int = 1) -> Tensor:
        """Numbers of ``columns`` independently drawn rows for each label, with replacement.  (m, columns)"""
        point = torch.rand(len(label), columns, generator=generator, dtype=torch.float64)
        drawn = torch.empty(len(label), columns, dtype=torch.long)
        for number in label.unique().tolist():
            here = label == number
            drawn[here] = torch.searchsorted(self._cumulated[self.line[number]], point[here], right=True)
        return drawn.clamp_max(len(self) - 1)

    def draw_batch(self, size: int, generator: torch.Generator, nameless: float) -> tuple[Tensor, Tensor]:
        """Rows to learn from, evenly spread over the table, and a label of each.  (size,), (size,)

        ``nameless``: share of rows that learn for label C although they have a class.
        """
        point = (torch.arange(size) + torch.rand(size, generator=generator, dtype=torch.float64)) / size
        row = torch.searchsorted(self._cumulated[-1], point, right=True).clamp_max(len(self) - 1)
        labels, cumulated = self._steps
        label = _drawn(cumulated[row], labels[row], torch.rand(size, 1, generator=generator, dtype=torch.float64))
        return row, label.masked_fill(torch.rand(size, generator=generator) < nameless, self.classes)

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Tensor]:
        """Tensors for a file."""
        kept = {"condition": self.condition, "weight": self.weight}
        if self.context is not None:
            kept["context"] = self.context.each
        rows, absent = self.rows, self.rows.isnan()
        if bool(absent.any()):  # files hold numbers
            kept["missing"] = absent.nonzero().to(torch.int32)
            rows = rows.masked_fill(absent, 0.0)
        if float((rows != 0).double().mean()) > _PACKED:
            return {**kept, "rows": rows}
        place = rows.nonzero()
        value = rows[place[:, 0], place[:, 1]]
        return {**kept, "place": place.to(torch.int32), "value": value}

    @classmethod
    def restored(cls, tensors: dict[str, Tensor], spec: FeatureSpec) -> Table:
        """From what :meth:`state` gave."""
        if "rows" in tensors:
            rows = tensors["rows"]
        else:
            rows = torch.zeros(len(tensors["weight"]), spec.width)
            rows[tensors["place"][:, 0].long(), tensors["place"][:, 1].long()] = tensors["value"]
        if "missing" in tensors:
            rows = rows.clone()
            rows[tensors["missing"][:, 0].long(), tensors["missing"][:, 1].long()] = torch.nan
        context = tensors.get("context")
        # Earlier versions wrote (n, k), of one occasion.
        return cls(
            rows, tensors["condition"], tensors["weight"], spec, None if context is None else Contexts.of(context)
        )

    # -- parts ----------------------------------------------------------------------------------------

    def divide(self, share: int, generator: torch.Generator) -> tuple[Table, Table | None]:
        """All but one in ``share`` rows, and those; None of them where that would leave fewer than one of each."""
        held = len(self) // share
        if not held:
            return self, None
        order = torch.randperm(len(self), generator=generator)
        return self[order[held:].sort().values], self[order[:held].sort().values]


def _check_rows(rows: Tensor, spec: FeatureSpec) -> None:
    """Raises unless rows (n, d) are numbers, and such as the spec says."""
    bad = rows.isinf().any(0)
    lost = missing_where_it_may_not(rows, spec)
    if bool(bad.any()) or lost is not None:
        column = spec.column_name(int(bad.nonzero()[0, 0]) if lost is None else lost)
        raise DignnError(f"Feature '{column}' holds NaN or infinite values; fill or drop them before learning")
    found = breach(rows, spec) if spec.columns is not None else None
    if found is not None:
        raise DignnError(f"Feature '{spec.column_name(found[0])}' holds {found[1]}; say another kind")
    if spec.kind.discrete and bool(((rows < 0) | (rows != rows.round())).any()):
        raise DignnError(f"Features of kind '{spec.kind.value}' must be 0, 1, 2, ...; say kind 'continuous'")
    if spec.kind is FeatureKind.BINARY and bool((rows > 1).any()):
        raise DignnError(f"Binary features must be 0 or 1, not {float(rows.max()):g}; say kind 'count'")


def check_context(context: Tensor, rows: int) -> None:
    """Raises unless there is a row of numbers, or NaN for what is missing, for each of so many rows, or several."""
    if context.dim() not in (2, 3) or len(context) != rows or (context.dim() == 3 and not context.size(1)):
        raise DignnError(f"{rows} rows need a context (rows, columns) of as many; {tuple(context.shape)} was given")
    if bool(context.isinf().any()):
        raise DignnError("The context of rows holds infinite values; fill or drop them before")


def draw_label(condition: Tensor, generator: torch.Generator) -> Tensor:
    """A class for each condition (m, C), or C for none with what the condition lacks to 1.  (m,)"""
    cumulated = torch.cat([condition.double(), _of_none(condition)[:, None]], dim=1).cumsum(1)
    point = torch.rand(len(condition), 1, generator=generator, dtype=torch.float64)
    return _drawn(cumulated, torch.arange(condition.size(1) + 1).expand_as(cumulated), point)


def _of_none(condition: Tensor) -> Tensor:
    """What conditions (m, C) lack to 1.  (m,) float64"""
    none = 1 - condition.sum(1, dtype=torch.float64)
    return none.where(none > _ROUNDING, 0.0)


def _drawn(cumulated: Tensor, label: Tensor, point: Tensor) -> Tensor:
    """Labels (m, k) whose parts add up to ``cumulated`` (m, k), at points (m, 1) from 0 to 1.  (m,)"""
    place = torch.searchsorted(cumulated, point * cumulated[:, -1:], right=True)
    return label.gather(1, place.clamp_max(label.size(1) - 1))[:, 0]


def even_points(label: Tensor, generator: torch.Generator) -> Tensor:
    """Uniform numbers in [0, 1), spread evenly over the rows of each label, in random order.  (m,) float64

    Each by itself is uniform. Draws with them are each from their own distribution, but as a set closer to what is
    expected than independent ones: m rows miss no more of a rare value than the data did.
    """
    order = torch.rand(len(label), generator=generator).to(label.device).argsort()
    order = order[label[order].argsort(stable=True)]
    count = torch.bincount(label)
    rank = torch.empty_like(label)
    rank[order] = torch.arange(len(label), device=label.device) - (count.cumsum(0) - count)[label[order]]
    inside = torch.rand(len(label), generator=generator, dtype=torch.float64).to(label.device)
    return ((rank + inside) / count[label]).clamp_max(1 - 1e-7)
