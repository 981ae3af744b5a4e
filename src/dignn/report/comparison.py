"""An explanation's features beside those of real nodes of its class, as charts: the paper's case-study figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from torch import Tensor

from dignn.backdrop import Profile
from dignn.evidence import ColumnEffect
from dignn.evidence.grammar import noun, nouns, quoted
from dignn.explanation import Explanation
from dignn.report.charts import Density, ShareRow, densities, shares
from dignn.schema import FeatureKind

# Columns of a discrete type that are shown: those that are there, and those of the class that are not.
PRESENT, ABSENT = 12, 6
# Columns of a categorical type whose values are told.
TOLD = 12
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
    schema = explanation.graph.schema
    found = []
    for name in sorted(schema.node_types, key=lambda name: name != schema.target):
        nodes = _nodes(explanation, name)
        if not nodes or name not in profiles or name not in explanation.graph.tables:
            continue
        kind = schema.spec(name).kind
        if kind in (FeatureKind.BINARY, FeatureKind.COUNT) and schema.target in (name, None):
            found.append(_discrete(explanation, name, nodes, profiles[name]))
        elif kind is FeatureKind.CATEGORICAL and schema.target in (name, None):
            found.append(_categories(explanation, name, nodes))
        elif kind is FeatureKind.CONTINUOUS:
            found.append(_continuous(explanation, name, nodes, profiles[name]))
    return [comparison for comparison in found if comparison.charts or comparison.caption]


def _nodes(explanation: Explanation, name: str) -> list[int]:
    code = explanation.graph.schema.type_index(name)
    return [int(node) for node in (explanation.graph.node_type[0] == code).nonzero()[:, 0]]


def _rows(explanation: Explanation, name: str, nodes: Sequence[int]) -> Tensor:
    """Feature rows of some nodes of one type.  (n, d)"""
    return explanation.graph.tables[name][explanation.graph.row[0, list(nodes)]]


def _line(explanation: Explanation, profile: Profile) -> tuple[int, str]:
    """Which line of a profile is compared with, and its name: the class, or all (-1) where no node counts for it."""
    if float(profile.weight[explanation.class_index]) > 0:
        return explanation.class_index, f"of {quoted(explanation.class_name)}"
    return -1, "of all classes (none of this class has a label)"


def _missed(explanation: Explanation, name: str, nodes: Sequence[int]) -> list[ColumnEffect]:
    """Columns of nodes of a type that the model would miss, those that it would miss most first."""
    if explanation.evidence is None:
        return []
    columns = (*explanation.evidence.own_columns, *explanation.evidence.columns_around)
    here = [c for c in columns if c.node_type == name and c.drop > 0 and not set(c.nodes).isdisjoint(nodes)]
    return sorted(here, key=lambda effect: -effect.drop)


def _discrete(explanation: Explanation, name: str, nodes: Sequence[int], profile: Profile) -> Comparison:
    schema = explanation.graph.schema
    own = [explanation.node] if explanation.node is not None else nodes
    there = (_rows(explanation, name, own) != 0).any(0)
    line, of_class = _line(explanation, profile)
    real, everywhere = profile.present[line], profile.present[-1]
    typical = (real - everywhere).argsort(descending=True, stable=True).tolist()
    missed = [effect.column for effect in _missed(explanation, name, own) if bool(there[effect.column])]
    present = [*missed, *(column for column in typical if bool(there[column]) and column not in missed)][:PRESENT]
    # Columns that are rarer in the class than elsewhere say nothing when they are absent.
    absent = [c for c in typical if not bool(there[c]) and float(real[c]) > float(everywhere[c])][:ABSENT]
    spec = schema.spec(name)
    rows = [
        ShareRow(spec.column_name(c), float(real[c]), float(everywhere[c]), bool(there[c]), c in missed)
        for c in [*present, *absent]
    ]
    who = f"the classified {noun(name)}" if schema.target else nouns(name)
    real_ones = f"real {nouns(name)}"
    bars = f"Share of {real_ones} {of_class} that have each feature (bar)"
    caption = (
        f"{bars}{f', and of all {real_ones} (tick)' if line >= 0 else ''}. "
        f"First come features that {'it' if schema.target else 'one of them'} has"
    )
    caption += f", then features typical of the class that {_lacking(explanation)}." if absent else "."
    title = f"Features of {who}, and the share of {real_ones} {of_class} that have them"
    chart = shares(rows, title=title, of_class=line >= 0) if rows else None
    return Comparison(
        f"What {who} carr{'ies' if schema.target else 'y'}", caption if chart else "", (chart,) if chart else ()
    )


def _lacking(explanation: Explanation) -> str:
    return "none of them has" if explanation.node is None else "it has not"


def _categories(explanation: Explanation, name: str, nodes: Sequence[int]) -> Comparison:
    """Codes of categories have no mean and no order: only what the classified node has is told."""
    spec = explanation.graph.schema.spec(name)
    left_out = f"The columns of {nouns(name)} hold categories, which are not compared with those of real {nouns(name)}."
    if explanation.node is None:
        return Comparison(f"What {nouns(name)} carry", left_out, ())
    row = _rows(explanation, name, [explanation.node])[0]
    missed = [effect.column for effect in _missed(explanation, name, [explanation.node])]
    columns = [*missed, *(column for column in range(spec.width) if column not in missed)]
    chip = Markup('<span class="chip">{}: {}</span>')
    told = [chip.format(spec.column_name(column), f"{float(row[column]):g}") for column in columns[:TOLD]]
    if len(columns) > TOLD:
        told.append(Markup('<span class="small">and {:,} more</span>').format(len(columns) - TOLD))
    caption = f"{left_out} Codes of this one{', those first that the model would miss' if missed else ''}:"
    chips = Markup('<p class="chips">{}</p>').format(Markup("").join(told))
    return Comparison(f"What the classified {noun(name)} carries", caption, (chips,))


def _continuous(explanation: Explanation, name: str, nodes: Sequence[int], profile: Profile) -> Comparison:
    if profile.bounds is None or profile.share is None:
        return Comparison(name, "", ())
    spec = explanation.graph.schema.spec(name)
    _, of_class = _line(explanation, profile)
    together = _alike(profile)
    columns = list(dict.fromkeys(effect.column for effect in _missed(explanation, name, nodes)))
    missed = len(columns)
    if not together:  # then columns by themselves are all there is to see
        columns += [column for column in range(spec.width) if column not in columns]
    columns = columns[:SINGLE] if len(profile.bounds) > 1 else []
    charts = [_density(explanation, name, nodes, profile, column) for column in ([None] if together else []) + columns]
    many = "the one" if len(nodes) == 1 else f"the {len(nodes)}"
    caption = (
        f"Values of {many} {noun(name) if len(nodes) == 1 else nouns(name)} of the explanation beside those of real "
        f"{nouns(name)} {of_class}: "
    )
    if together:
        caption += f"{'first ' if columns else ''}all {spec.width:,} features together"
        caption += ", then those that the model would miss most." if columns else "."
    else:
        caption += f"{len(columns)} of {spec.width:,} features" if len(columns) < spec.width else "feature by feature"
        caption += ", those first that the model would miss most." if missed else "."
    return Comparison(f"Values that {nouns(name)} carry", caption, tuple(charts))


def _alike(profile: Profile) -> bool:
    """Whether the columns of a type have scales that one axis can hold, as far as they are known."""
    if profile.bounds is None or profile.share is None:
        return False
    bounds, share = profile.bounds[1:].double(), profile.share[-1, 1:].double()
    middle = (bounds[:, 1:] + bounds[:, :-1]) / 2
    total = share.sum(1).clamp(min=1e-12)
    mean = (middle * share).sum(1) / total
    spread = (((middle - mean[:, None]) ** 2 * share).sum(1) / total).sqrt()
    spread = spread[spread > 1e-9 * spread.max()] if len(spread) else spread  # constant columns have none
    return len(spread) == 0 or float(spread.max() / spread.min()) <= UNLIKE


def _density(explanation: Explanation, name: str, nodes: Sequence[int], profile: Profile, column: int | None) -> Markup:
    """The density of a column of a continuous type, or of all columns together (None)."""
    assert profile.bounds is not None
    assert profile.share is not None
    rows = _rows(explanation, name, nodes)
    line, _ = _line(explanation, profile)
    place = 0 if column is None else 1 + column
    mean = profile.mean[line].mean() if column is None else profile.mean[line, column]
    what = "value" if column is None else explanation.graph.schema.spec(name).column_name(column)
    own = explanation.node if explanation.node in nodes and column is not None else None
    return densities(
        Density(
            profile.bounds[place].tolist(),
            profile.share[line, place].tolist(),
            float(mean),
            "real class" if line >= 0 else "all classes",
        ),
        (rows.flatten() if column is None else rows[:, column]).tolist(),
        title=f"All feature values of {nouns(name)}" if column is None else f"{what} of {nouns(name)}",
        xlabel=what,
        own=None if own is None or column is None else float(_rows(explanation, name, [own])[0, column]),
    )
