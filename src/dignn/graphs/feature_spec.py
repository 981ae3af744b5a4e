"""What feature columns hold: the kind of each, and all that is known of the features of a node type or a relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, partial
from typing import Any

from dignn.core.checks import choice, instance, names, number, switches, whole_number
from dignn.core.errors import SchemaError
from dignn.graphs.dates import DATE_UNITS, check_epoch


class FeatureKind(str, Enum):
    """What the feature columns of a node type hold, all of them alike, or each its own (mixed)."""

    NONE = "none"  # no features, or the same row for every node
    BINARY = "binary"  # every column 0 or 1
    COUNT = "count"  # non-negative whole numbers
    CATEGORICAL = "categorical"  # every column one of several codes 0, 1, 2, ...
    IDENTITY = "identity"  # a small type whose members are told apart by a one-hot row
    CONTINUOUS = "continuous"
    MIXED = "mixed"  # columns of several kinds, with missing values, or one-hot in groups

    @property
    def discrete(self) -> bool:
        """Whether every column holds whole numbers from 0 on."""
        return self not in (FeatureKind.NONE, FeatureKind.CONTINUOUS, FeatureKind.MIXED)


class ColumnKind(str, Enum):
    """What one column holds."""

    CONSTANT = "constant"  # the same value in every row; kept, not generated
    BINARY = "binary"  # 0 or 1
    COUNT = "count"  # a non-negative whole number
    CATEGORICAL = "categorical"  # one of several codes 0, 1, 2, ...
    ONE_HOT = "one-hot"  # one value of a category that has a column for each; exactly one of its group is 1
    IDENTITY = "identity"  # an id: values are told apart, and there is nothing between them
    CONTINUOUS = "continuous"
    DATE = "date"  # units since an epoch


@dataclass(frozen=True)
class Column:
    """One column of a table whose columns differ.

    Args:
        kind: what it holds.
        levels: number of values (codes 0 to level - 1) of a count or a category.
        missing: whether values may be missing, which is NaN in the data.
        group: (one-hot) number of the group that it is part of.
        constant: (constant) its value.
        unit, epoch: (date) what it counts, and from when on, as YYYY-MM-DD.
    """

    kind: ColumnKind
    levels: int | None = None
    missing: bool = False
    group: int | None = None
    constant: float | None = None
    unit: str | None = None
    epoch: str | None = None

    def __post_init__(self) -> None:
        choice("The kind of a column", self.kind, [kind.value for kind in ColumnKind])
        object.__setattr__(self, "kind", ColumnKind(self.kind))
        switches(self, "missing")
        needs = {
            "levels": (ColumnKind.COUNT, ColumnKind.CATEGORICAL),
            "group": (ColumnKind.ONE_HOT,),
            "constant": (ColumnKind.CONSTANT,),
            "unit": (ColumnKind.DATE,),
            "epoch": (ColumnKind.DATE,),
        }
        for part, kinds in needs.items():
            if (getattr(self, part) is not None) != (self.kind in kinds):
                many = " or ".join(f"'{kind.value}'" for kind in kinds)
                raise SchemaError(f"A column is of kind '{self.kind.value}'; {part}= is needed by {many}, and no other")
        if self.levels is not None:
            whole_number("levels", self.levels, 1)
        if self.group is not None:
            whole_number("group", self.group, 0)
        if self.constant is not None:
            number("constant", self.constant, "a number")
        if self.kind is ColumnKind.DATE:
            choice("The unit of a date", self.unit, list(DATE_UNITS))
            check_epoch(str(self.epoch))

    @property
    def generated(self) -> bool:
        """Whether there is anything to learn."""
        return self.kind is not ColumnKind.CONSTANT

    @property
    def numeric(self) -> bool:
        """Whether values lie on a scale without steps, so that averages and densities mean something."""
        return self.kind in (ColumnKind.CONTINUOUS, ColumnKind.DATE)


# What ``x`` may be, as torch names it.
DTYPES = (
    *("float32", "float64", "float16", "bfloat16", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "sparse_csc")


@dataclass(frozen=True)
class FeatureSpec:
    """The features of one node type, as the model to explain takes them.

    Args:
        kind: what the columns hold.
        width: number of columns; 0 when the type has no feature matrix at all.
        levels: values per column (codes 0 to level - 1) of a count or categorical type.
        names: names of the columns (of the members, for an identity type).
        constant: the row that every node carries, for kind ``none`` with ``width`` > 0.
        dtype, layout: of the data's ``x``, as torch names them; graphs are handed back in them.
        vector: whether ``x`` is a vector, of one number for each node, instead of a matrix with one column.
        columns: (mixed) what each column holds.
    """

    kind: FeatureKind = FeatureKind.NONE
    width: int = 0
    levels: tuple[int, ...] | None = None
    names: tuple[str, ...] | None = None
    constant: tuple[float, ...] | None = None
    dtype: str = "float32"
    layout: str = "strided"
    vector: bool = False
    columns: tuple[Column, ...] | None = None

    def __post_init__(self) -> None:
        self._check_types()
        for given, value, known in (("dtype", self.dtype, DTYPES), ("layout", self.layout, LAYOUTS)):
            if value not in known:
                raise SchemaError(f"Features cannot be of the {given} '{value}'; choose from {', '.join(known)}")
        for given, values in (
            ("names", self.names),
            ("levels", self.levels),
            ("constant", self.constant),
            ("columns", self.columns),
        ):
            if values is not None and len(values) != self.width:
                raise SchemaError(f"{len(values)} {given} were given for {self.width} feature columns; give one each")
        if self.kind is FeatureKind.NONE and (self.width > 0) != (self.constant is not None):
            raise SchemaError("A type of kind 'none' has either no columns or one constant row; give constant=")
        if self.kind in (FeatureKind.COUNT, FeatureKind.CATEGORICAL) and self.levels is None:
            raise SchemaError(f"A type of kind '{self.kind.value}' needs levels=, the number of values per column")
        if (self.kind is FeatureKind.MIXED) != (self.columns is not None):
            raise SchemaError("Columns that differ are of kind 'mixed', which needs columns=, what each column holds")

    def _check_types(self) -> None:
        """Raises for values of another type; those that mean the same, a kind by its name, say, become what is said."""
        choice("kind", self.kind, [kind.value for kind in FeatureKind])
        put = partial(object.__setattr__, self)
        put("kind", FeatureKind(self.kind))
        put("width", whole_number("width", self.width, 0))
        switches(self, "vector")
        if self.names is not None:
            put("names", names("names", self.names))
        if self.levels is not None:
            instance("levels", self.levels, (tuple, list), "the number of values of each column")
            put("levels", tuple(whole_number("levels", level, 1) for level in self.levels))
        if self.constant is not None:
            instance("constant", self.constant, (tuple, list), "the row that every node carries")
            put("constant", tuple(number("constant", value, "a row of numbers") for value in self.constant))
        if self.columns is not None:
            instance("columns", self.columns, (tuple, list), "a Column for each column")
            for column in self.columns:
                instance("An entry of columns", column, Column, "a Column")
            put("columns", tuple(self.columns))

    @property
    def generated(self) -> bool:
        """Whether a feature generator has anything to learn for this type."""
        return self.kind is not FeatureKind.NONE

    def only(self, columns: Sequence[int]) -> FeatureSpec:
        """The spec of some of the columns, in this order."""
        parts: dict[str, Any] = {
            "levels": self.levels,
            "names": self.names,
            "constant": self.constant,
            "columns": self.columns,
        }
        kept: dict[str, Any] = {
            part: tuple(values[column] for column in columns) for part, values in parts.items() if values is not None
        }
        return replace(self, width=len(columns), **kept)

    def column(self, number: int) -> Column:
        """What a column holds, whether columns are all alike or not."""
        if self.columns is not None:
            return self.columns[number]
        if self.kind is FeatureKind.NONE:
            return Column(ColumnKind.CONSTANT, constant=(self.constant or ())[number])
        if self.kind is FeatureKind.IDENTITY:  # a one-hot row: one category with a column for each value
            return Column(ColumnKind.ONE_HOT, group=0)
        return self._alike if self.levels is None else Column(ColumnKind(self.kind.value), levels=self.levels[number])

    @cached_property
    def _alike(self) -> Column:
        """What every column holds, where they are all alike."""
        return Column(ColumnKind(self.kind.value))

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What each column holds, whether columns are all alike or not."""
        if self.columns is not None:
            return tuple(column.kind for column in self.columns)
        return (self.column(0).kind,) * self.width if self.width else ()

    def of_kind(self, *kinds: ColumnKind) -> list[int]:
        """Numbers of the columns of these kinds."""
        return [number for number, kind in enumerate(self.kinds) if kind in kinds]

    @cached_property
    def leaders(self) -> tuple[int, ...]:
        """For each column the first one of its one-hot group, which speaks for all; itself where it stands alone."""
        found = list(range(self.width))
        for group in self.groups:
            for column in group:
                found[column] = group[0]
        return tuple(found)

    @property
    def missing(self) -> tuple[int, ...]:
        """Columns whose values may be missing."""
        return tuple(place for place, column in enumerate(self.columns or ()) if column.missing)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Columns of each category that has a column for each value; of a mixed table."""
        found: dict[int, list[int]] = {}
        for place, column in enumerate(self.columns or ()):
            if column.group is not None:
                found.setdefault(column.group, []).append(place)
        return tuple(tuple(found[group]) for group in sorted(found))

    def column_name(self, column: int) -> str:
        """What a column (of an identity type: a member) is called; its number where it has no name."""
        if self.names is not None:
            return self.names[column]
        return f"member {column}" if self.kind is FeatureKind.IDENTITY else f"column {column}"
