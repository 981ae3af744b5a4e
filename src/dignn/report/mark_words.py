"""Marks of other explainers on an explanation, in words and as strengths of a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dignn.evidence.gathering import Evidence
from dignn.evidence.marks import HIGH, Marks
from dignn.graphs.batch import GraphBatch
from dignn.graphs.description import edges
from dignn.report.emphasis import Emphasis
from dignn.report.lookup import entry, number_at, part

_TITLES = {"gnnexplainer": "GNNExplainer", "captum": "Captum"}


def title(marker: str) -> str:
    """What people call a marker."""
    return _TITLES.get(marker, marker)


def marks_of(evidence: Evidence | None) -> dict[str, Marks]:
    """By marker, what an explanation with this evidence has."""
    return {} if evidence is None else evidence.marks


def agreement_in_words(marker: str, marks: Marks) -> str:
    """How far the marks of one explanation agree with the effects of removal."""
    if marks.agreement is None or marks.random is None or marks.random_high is None:
        if all(value is None for value in marks.nodes):
            return f"{title(marker)} cannot mark nodes of this graph."
        return (
            f"{title(marker)} marks it, too; how far that agrees with these effects cannot be said of so few nodes, or "
            "of nodes that are all alike."
        )
    beside = _beside_random(marks.random, marks.random_high)
    return (
        f"The marks that {title(marker)} gives nodes agree with these effects by {_two(marks.agreement)} (Spearman's "
        f"correlation; {beside})."
    )


def agreements_in_words(about: Mapping[str, Any]) -> list[str]:
    """The same over all explanations of a run, a sentence for each marker."""
    found = []
    for marker in part(about, "marks"):
        rho, random, high = (number_at(about, ("marks", marker, n)) for n in ("agreement", "random", "random_high"))
        count = entry(about, int, "marks", marker, "explanations")
        if rho is not None and random is not None and high is not None and count is not None:
            beside = _beside_random(random, high)
            found.append(
                f"Explanations have marks of {title(str(marker))} beside their own evidence. Over {count:,} of them "
                f"both agree by {_two(rho)} on average (Spearman's correlation of nodes; {beside})."
            )
    return found


def shown_mark(value: float | None) -> str:
    """A mark in a table; empty where there is none."""
    return "" if value is None else _two(value)


def mark_emphasis(marks: Marks, graph: GraphBatch) -> Emphasis:
    """Marks as strengths: the smallest of nodes, and of edges, is 0, the largest 1; what speaks against is 0."""
    nodes = _stretched(marks.nodes)
    lines = _stretched(marks.edges or ())
    pairs = [(u, v) for u, v, _ in edges(graph)]
    return Emphasis(node=nodes, edge={pair: lines[place] for place, pair in enumerate(pairs) if place in lines})


def _stretched(values: Sequence[float | None]) -> dict[int, float]:
    """By place, between 0 and 1, of those that there are; 0 where all are alike."""
    known = {place: max(0.0, value) for place, value in enumerate(values) if value is not None}
    low, high = min(known.values(), default=0.0), max(known.values(), default=0.0)
    return {place: (value - low) / (high - low) if high > low else 0.0 for place, value in known.items()}


def _beside_random(mean: float, high: float) -> str:
    return f"random marks {_two(mean)}, {HIGH} in 100 of them below {_two(high)}"


def _two(value: float) -> str:
    """With two decimals, as correlations are told."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")
