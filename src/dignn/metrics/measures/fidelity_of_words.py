"""Fidelity: how well what a model is said to go by gives its answers on real graphs that nothing was learned from.

It is found on all candidates and tested by :mod:`dignn.goes_by.fidelity`; here it gets its place among the figures.
"""

from __future__ import annotations

from collections.abc import Mapping

from dignn.core.numerals import tight_percent
from dignn.metrics.judging import Verdict
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import Figure, Metric, declare

# Shares of a model's answers from which on words give them well, or mostly; and how near they are to the floor's.
_WELL, _MOSTLY, _NEAR = 0.9, 0.75, 0.03


def faithful(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """The share of the model's answers on held-out graphs that words give, mean over classes."""
    right = f"they give {tight_percent(value)} of its answers (mean over classes)"
    if floor is not None:
        right += f"; those found on real graphs give {tight_percent(floor)}"
    if value >= _WELL:
        return Verdict("good", right)
    if floor is not None and value < floor - _NEAR:
        return Verdict("poor" if value < _MOSTLY else "fair", f"{right}: generated graphs tell less")
    return Verdict("fair" if value >= _MOSTLY else "poor", right)


def ranked(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """AUC of the scores of scorecards, mean over classes."""
    right = f"shown one of the class and one of another, scores are right in {tight_percent(value)} of cases"
    return Verdict("good" if value >= _WELL else "fair" if value >= _MOSTLY else "poor", right)


def _value(measured: MeasuredGraphs, reality: Reality) -> dict[str, float]:
    return dict(measured.fidelity)


declare(
    Metric("sound.fidelity", "goes_by", 10, {"fidelity"}, _value),
    Figure(
        "Scorecards",
        "Share of the model's answers on held-out real graphs that scorecards of at most twelve terms give, mean over "
        "classes.",
        "scorecard",
        judge=faithful,
        good=".9 or more",
        terminal="words right",
    ),
    Figure("Rules", "The same of at most three rules for each class.", "rules", judge=faithful, good=".9 or more"),
    Figure(
        "Scores",
        "How often scorecards give a member of a class more than another thing (AUC), mean over classes.",
        "auc",
        judge=ranked,
        good=".9 or more",
        low=0.5,
    ),
)
