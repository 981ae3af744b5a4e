"""Novelty and uniqueness: are generated graphs copies, of what was learned from or of each other?

Graphs are told apart by fingerprints, types and labels of nodes included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dignn.core.numerals import tight_percent
from dignn.metrics.counting import share
from dignn.metrics.judging import Verdict
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import Figure, Metric, declare


def novelty(measured: MeasuredGraphs, reality: Reality) -> float | None:
    """Share of graphs that are isomorphic to no training graph; None without graphs."""
    return share([name not in reality.train_names for name in measured.names])


def uniqueness(measured: MeasuredGraphs, reality: Reality) -> float | None:
    """:func:`unique_share` of graphs."""
    return unique_share(measured.names)


def unique_share(names: Sequence[str]) -> float | None:
    """Share of graphs that are isomorphic to no other of them, which falls with their number; None without graphs."""
    count = Counter(names)
    return share([count[name] == 1 for name in names])


def new(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of generated graphs that are the same as no graph that was learned from."""
    copies = f"{tight_percent(1 - value)} repeat a graph that was learned from"
    if floor is None:
        return _unlike(value, copies)
    if abs(value - floor) <= 0.05:
        return Verdict("good", "new about as often as real graphs that were not learned from")
    if value > floor:
        return Verdict("good", "new more often than real graphs, among which shapes repeat")
    usual = f"of other real graphs {tight_percent(1 - floor) if floor < 1 else 'none'} do"
    return Verdict("fair" if value >= 0.75 * floor else "poor", f"{copies}; {usual}")


def different(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of generated graphs that are the same as no other generated graph."""
    if floor is None:
        return _unlike(value, f"{tight_percent(1 - value)} are the same as another")
    if value >= floor - 0.05:
        return Verdict("good", "about as varied as real graphs are, or more")
    if value >= 0.75 * floor:
        return Verdict("fair", "less varied than real graphs are")
    return Verdict("poor", "clearly less varied than real graphs are: the generator repeats itself")


def _unlike(value: float, repeated: str) -> Verdict:
    """Of a share of graphs that repeat nothing, where nobody knows how often real graphs repeat."""
    if value >= 0.95:
        return Verdict("good", "all are" if value == 1 else "nearly all are")
    return Verdict("fair", f"{repeated}; how many real graphs do is not known")


declare(
    Metric("sound.graphs.novelty", "structure", 40, {"structure"}, novelty, against="training"),
    Figure(
        "New",
        "Share of generated graphs that are the same as no graph that was learned from (novelty).",
        better="near",
        judge=new,
        good="as often as held-out graphs are, or more often",
    ),
)
declare(
    Metric("sound.graphs.uniqueness", "structure", 50, {"structure"}, uniqueness),
    Figure(
        "Different",
        "Share of generated graphs that are the same as no other, among as many as of others (uniqueness).",
        better="near",
        judge=different,
        good="as varied as real graphs, or more",
    ),
)
