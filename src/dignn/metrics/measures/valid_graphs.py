"""Yield: the share of generated graphs that can be used."""

from __future__ import annotations

from collections.abc import Mapping

from dignn.core.numerals import tight_percent
from dignn.metrics.judging import Verdict
from dignn.metrics.metric import Figure, Metric, declare


def valid(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of generated graphs that are connected and consistent with the metagraph."""
    if value >= 0.98:
        return Verdict("good", "all are" if value == 1 else "nearly all are")
    lost = f"{tight_percent(1 - value)} were thrown away"
    if value >= 0.8:
        return Verdict("fair", lost)
    return Verdict("poor", f"{lost}: the generator has not learned how graphs are built")


declare(
    Metric("sound.yield", "structure", 10, {"graphs"}, lambda measured, reality: measured.valid),
    Figure(
        "Valid",
        "Share of generated graphs that are connected and join only what the data joins (yield).",
        judge=valid,
        good=".98 or more",
        terminal="valid graphs",
    ),
)
