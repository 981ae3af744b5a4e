"""An explanation's features beside those of real nodes of its class, as charts: the paper's case-study figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from markupsafe import Markup
from torch import Tensor

from dignn.core.numerals import percent
from dignn.evidence.grammar import noun, nouns, quoted
from dignn.graphs.column_words import behind_name, in_words
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec
from dignn.report.charts.densities import densities
from dignn.report.charts.shares import ShareRow, shares
from dignn.report.reference import Profile

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation

# Columns of a discrete type that are shown: those that are there, and those of the class that are not.
PRESENT, ABSENT = 12, 6
# Columns of a categorical type whose values are told.
TOLD_COLUMNS = 12
# Columns of which it is told how often they are missing.
TOLD_MISSING = 3
# Columns of a continuous type that have a density of their own.
SINGLE = 6
# Columns whose standard deviations differ by more than this factor are not shown on one axis.
UNLIKE = 10
# A comparison of more charts than this takes the whole width of the page, so that their text is large enough.
NARROW = 2


@dataclass(frozen=True)
class Comparison:
    """The charts of one node type: what they compare, and the charts, the main one first; none for categories."""

    title: str
    caption: str
    charts: tuple[Markup, ...]

    @property
    def wide(self) -> bool:
        """Whether it takes the whole width of the page."""
        return len(self.charts) > NARROW


def comparisons(explanation: Explanation, profiles: dict[str, Profile]) -> list[Comparison]:
    """A comparison for the classified node's type, if it has columns, and for every continuous type in the graph.

    Where whole graphs are classified, every type with columns is compared.
    """
    graph = explanation.graph
    schema = graph.schema
    found = []
    for name in sorted(schema.node_types, key=lambda name: name != schema.target):
        code = schema.type_index(name)
        here = (graph.node_type[0] == code).nonzero()[:, 0].tolist()
        if not here or name not in profiles or name not in graph.tables:
            continue
        compared = _Compared(explanation, name, here, profiles[name])
        spec, answered = schema.spec(name), schema.task.types(schema.node_types)[code]
        if spec.kind is FeatureKind.IDENTITY:  # its columns are names
            continue
        there = spec.of_kind(ColumnKind.BINARY, ColumnKind.COUNT, ColumnKind.ONE_HOT)
        named = spec.of_kind(ColumnKind.CATEGORICAL, ColumnKind.IDENTITY)
        numbers = spec.of_kind(ColumnKind.CONTINUOUS, ColumnKind.DATE)
        if there and answered:
            found.append(_discrete(compared, there))
        if named and answered:
            found.append(_categories(compared, named))
        if numbers:
            found.append(_continuous(compared, numbers))
    return [comparison for comparison in found if comparison.charts or comparison.caption]


@dataclass(frozen=True)
class _Compared:
    """Nodes of one type of an explanation, and real nodes of that type."""

    explanation: Explanation
    name: str
    nodes: list[int]
    profile: Profile

    @property
    def spec(self) -> FeatureSpec:
        return self.explanation.graph.schema.spec(self.name)

    @property
    def own(self) -> int | None:
        """The classified node, if it is of this type."""
        return self.explanation.node if self.explanation.node in self.nodes else None

    @property
    def line(self) -> int:
        """Which line of the profile is compared with: the class, or all (-1) where no node counts for it."""
        index = self.explanation.class_index
        return index if float(self.profile.weight[index]) > 0 else -1

    @property
    def of_class(self) -> str:
        """The name of that line."""
        if self.line >= 0:
            return f"of {quoted(self.explanation.class_name)}"
        return "of all classes (none of this class has a label)"

    def rows(self, nodes: Sequence[int]) -> Tensor:
        """Feature rows of some of the nodes.  (n, d)"""
        return self.explanation.graph.tables[self.name][self.explanation.graph.row[0, list(nodes)]]

    def missed(self, nodes: Sequence[int]) -> list[int]:
        """Columns of some of the nodes that the model would miss, those that it would miss most first."""
        evidence = self.explanation.evidence
        columns = () if evidence is None else (*evidence.own_columns, *evidence.columns_around)
        here = [c for c in columns if c.node_type == self.name and c.drop > 0 and not set(c.nodes).isdisjoint(nodes)]
        return list(dict.fromkeys(effect.column for effect in sorted(here, key=lambda effect: -effect.drop)))


def _lacking(compared: _Compared, columns: Sequence[int], nodes: Sequence[int]) -> str:
    """How often values of these columns are missing, here and in real nodes; empty where none are."""
    share = compared.profile.missing
    if share is None:
        return ""
    here, told = compared.rows(nodes).isnan(), []
    known = share[compared.line]
    lost = [column for column in columns if float(known[column]) > 0 or bool(here[:, column].any())]
    for column in lost[:TOLD_MISSING]:
        count = int(here[:, column].sum())
        own = "" if not count else ", and here" if len(nodes) == 1 else f", and in {count} of {len(nodes)} here"
        name = quoted(compared.spec.column_name(column))
        told.append(f"{name} is missing in {percent(float(known[column]))} of the real ones{own}")
    more = [f"so are {len(lost) - TOLD_MISSING:,} others in some"] if len(lost) > TOLD_MISSING else []
    return f" {'; '.join([*told, *more])}." if told else ""


def _discrete(compared: _Compared, columns: Sequence[int]) -> Comparison:
    own = compared.nodes if compared.own is None else [compared.own]
    rows = compared.rows(own)
    there = ((rows != 0) & ~rows.isnan()).any(0).tolist()
    real, everywhere = compared.profile.present[compared.line], compared.profile.present[-1]
    shown = set(columns)
    order = (real - everywhere).argsort(descending=True, stable=True).tolist()
    typical = [column for column in order if column in shown]
    missed = [column for column in compared.missed(own) if there[column] and column in shown]
    present = [*missed, *(column for column in typical if there[column] and column not in missed)][:PRESENT]
    # Columns that are rarer in the class than elsewhere say nothing when they are absent.
    absent = [c for c in typical if not there[c] and float(real[c]) > float(everywhere[c])][:ABSENT]
    bars = [
        ShareRow(_title(compared, c, rows), float(real[c]), float(everywhere[c]), there[c], c in missed)
        for c in [*present, *absent]
    ]
    single, of_class = compared.own is not None, compared.line >= 0
    who = f"the classified {noun(compared.name)}" if single else nouns(compared.name)
    real_ones = f"real {nouns(compared.name)}"
    caption = (
        f"Share of {real_ones} {compared.of_class} that have each feature (bar)"
        f"{f', and of all {real_ones} (tick)' if of_class else ''}. "
        f"First come features that {'it' if single else 'one of them'} has"
    )
    if absent:
        caption += f", then features typical of the class that {'it has not' if single else 'none of them has'}"
    title = f"Features of {who}, and the share of {real_ones} {compared.of_class} that have them"
    charts = (shares(bars, title=title, of_class=of_class),) if bars else ()
    lacking = _lacking(compared, columns, own)
    caption = f"{caption}.{lacking}" if charts else lacking.strip()
    return Comparison(f"What {who} carr{'ies' if single else 'y'}", caption, charts)


def _title(compared: _Compared, column: int, rows: Tensor) -> str:
    """The name of a column; where columns differ, with how much of it a single row (n, d) has."""
    name = compared.spec.column_name(column)
    value = float(rows[0, column])
    if compared.spec.columns is None or len(rows) > 1 or not value > 0:
        return name
    return name + behind_name(value, compared.spec.column(column))


def _categories(compared: _Compared, numbers: Sequence[int]) -> Comparison:
    """Codes of categories have no mean and no order: only what the classified node has is told."""
    several, spec = nouns(compared.name), compared.spec
    which = "The" if spec.columns is None else "Some"
    left_out = f"{which} columns of {several} hold categories, which are not compared with those of real {several}."
    if compared.own is None:
        return Comparison(f"What {several} carry", left_out + _lacking(compared, numbers, compared.nodes), ())
    row = compared.rows([compared.own])[0]
    missed = [column for column in compared.missed([compared.own]) if column in numbers]
    columns = [*missed, *(column for column in numbers if column not in missed)]
    chip = Markup('<span class="chip">{}: {}</span>')
    told = [
        chip.format(spec.column_name(column), in_words(float(row[column]), spec.column(column)))
        for column in columns[:TOLD_COLUMNS]
    ]
    if len(columns) > TOLD_COLUMNS:
        told.append(Markup('<span class="small">and {:,} more</span>').format(len(columns) - TOLD_COLUMNS))
    left_out += _lacking(compared, numbers, [compared.own])
    caption = f"{left_out} Codes of this one{', those first that the model would miss' if missed else ''}:"
    chips = Markup('<p class="chips">{}</p>').format(Markup("").join(told))
    what = "What the classified {} carries" if spec.columns is None else "Categories of the classified {}"
    return Comparison(what.format(noun(compared.name)), caption, (chips,))


def _continuous(compared: _Compared, numbers: Sequence[int]) -> Comparison:
    several, width, profile = nouns(compared.name), len(numbers), compared.profile
    if profile.bounds is None or profile.share is None:
        return Comparison(compared.name, "", ())
    together = profile.numeric is None and _alike(profile.bounds, profile.share)
    columns = missed = [column for column in compared.missed(compared.nodes) if column in numbers]
    if not together:  # then columns by themselves are all there is to see
        known = numbers if profile.numeric is None else profile.numeric.tolist()
        columns = [*missed, *(column for column in known if column not in missed)]
    columns = columns[:SINGLE] if len(profile.bounds) > 1 else []
    shown: list[int | None] = [*([None] if together else []), *columns]
    charts = tuple(_density(compared, column) for column in shown)
    many = len(compared.nodes)
    who = f"the one {noun(compared.name)}" if many == 1 else f"the {many} {several}"
    caption = f"Values of {who} of the explanation beside those of real {several} {compared.of_class}: "
    if together:
        caption += f"{'first ' if columns else ''}all {width:,} features together"
        caption += ", then those that the model would miss most." if columns else "."
    else:
        caption += f"{len(columns)} of {width:,} features" if len(columns) < width else "feature by feature"
        caption += ", those first that the model would miss most." if missed else "."
    caption += _lacking(compared, columns, compared.nodes)
    return Comparison(f"Values that {several} carry", caption, charts)


def _alike(bounds: Tensor, share: Tensor) -> bool:
    """Whether the columns of a type have scales that one axis can hold, as far as they are known."""
    bounds, share = bounds[1:].double(), share[-1, 1:].double()
    middle = (bounds[:, 1:] + bounds[:, :-1]) / 2
    total = share.sum(1).clamp(min=1e-12)
    mean = (middle * share).sum(1) / total
    spread = (((middle - mean[:, None]) ** 2 * share).sum(1) / total).sqrt()
    spread = spread[spread > 1e-9 * spread.max()] if len(spread) else spread  # constant columns have none
    return len(spread) == 0 or float(spread.max() / spread.min()) <= UNLIKE


def _density(compared: _Compared, column: int | None) -> Markup:
    """The density of a column of a continuous type, or of all columns together (None)."""
    real = compared.profile.density(compared.line, column, "real class" if compared.line >= 0 else "all classes")
    assert real is not None  # the type is continuous
    rows, several = compared.rows(compared.nodes), nouns(compared.name)
    if column is None:
        return densities(real, rows.flatten().tolist(), title=f"All feature values of {several}", xlabel="value")
    what = compared.spec.column_name(column)
    if compared.spec.kinds[column] is ColumnKind.DATE:
        real = replace(real, written=partial(in_words, column=compared.spec.column(column)))
    own = None if compared.own is None else float(compared.rows([compared.own])[0, column])
    return densities(real, rows[:, column].tolist(), title=f"{what} of {several}", xlabel=what, own=own)
