"""PF, predictive faithfulness: how sure is the model, at best, and of what is like real members?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from dignn.metrics.judging import NO_GOOD, Verdict
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import Figure, Metric, declare
from dignn.model.scores import Scores
from dignn.selection.members import Members

# Nodes whose place among members is looked up at once, surest first, until one lies inside their range.
NODES_AT_ONCE = 512


def predictive_faithfulness(scores: Scores | None) -> float | None:
    """PF: the mean over classes of the highest probability that any candidate gets."""
    if scores is None or not len(scores):
        return None
    return float(scores.probability.max(0).values.mean())


def in_distribution(scores: Scores | None, members: Sequence[Members]) -> float | None:
    """PF over what lies inside the real range; a class of which nothing does counts 0."""
    if scores is None or not len(scores):
        return None
    probability = scores.probability
    best = []
    for number, known in enumerate(members):
        pieces = probability[:, number].argsort(descending=True, stable=True).split(NODES_AT_ONCE)
        inside = (rows[torch.from_numpy(known.place(scores, rows).inside())] for rows in pieces)
        best.append(next((float(probability[rows, number].max()) for rows in inside if len(rows)), 0.0))
    return sum(best) / len(best)


def surest(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """The highest probability, whatever the graph is like."""
    if value < 0.95:  # a mean over classes
        unsure = "for some class no graph was found that the model is sure of"
        return Verdict("fair" if value >= 0.8 else "poor", unsure)
    known = {name: controls[name] for name in NO_GOOD if name in controls}
    if not known:
        return Verdict("fair", "the model is sure of some graph of each class; whether it is of noise is not known")
    as_high = [NO_GOOD[name] for name, score in known.items() if score >= value - 0.02]
    if as_high:
        return Verdict("fair", f"about as high for {' and '.join(as_high)} as well, so by itself it says little")
    less = " and of ".join(NO_GOOD[name] for name in known)
    return Verdict("good", f"the model is sure of the best graphs, and less sure of {less}")


def sure_inside(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """The highest probability among graphs that are like real members of the class."""
    if floor is not None and value >= floor - 0.02:
        return Verdict("good", "as sure as of its surest real members")
    if value < 0.7:  # a mean over classes; one without such graphs counts 0
        return Verdict("poor", "unsure: some class has no generated graph in the real range that is a clear member")
    if floor is None:
        return Verdict("fair", "how sure the model is of real members is not known, so this says little")
    little = "sure, though a little less than" if value >= 0.9 else "less sure than"
    return Verdict("fair", f"{little} of its surest real members")


def _inside(measured: MeasuredGraphs, reality: Reality) -> float | None:
    return in_distribution(measured.scores, reality.members)


declare(
    Metric(
        "paper.pf", "faithfulness", 10, {"model"}, lambda measured, reality: predictive_faithfulness(measured.scores)
    ),
    Figure(
        "Probability",
        "The highest probability that any generated graph gets, mean over classes (PF).",
        judge=surest,
        good=".95 or more, and random trees and noise are below it (fair without controls)",
        terminal="PF",
    ),
)
declare(
    Metric("sound.pf_in_distribution", "faithfulness", 20, {"model"}, _inside),
    Figure(
        "Probability, inside the real range",
        "The same among graphs that the model sees as it sees real members; not only of those shown.",
        judge=sure_inside,
        good="as high as for the surest real members, give or take .02",
        terminal="PF inside real range",
    ),
)
