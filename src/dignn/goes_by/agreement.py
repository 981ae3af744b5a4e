"""How far something that gives classes agrees with what a model says, with intervals.

What is drawn for intervals are things: a node of the data stands in many of its subgraphs, and what is right about it
in one of them mostly is in the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.metrics.counting import interval
from dignn.model.scores import Scores

# Draws of things for an interval of 95 %.
_DRAWS = 200
_OUTER = (2.5, 97.5)
# How much less agreement is as good, at most.
_AS_GOOD = 0.002


@dataclass(frozen=True)
class Found:
    """A figure and its 95 % interval."""

    value: float
    interval: tuple[float, float]


def things_of(batch: GraphBatch, scores: Scores) -> np.ndarray:
    """(m,) what is drawn for intervals: the nodes or graphs of the data that are scored.

    Their graphs instead where there are fewer of these, or where the things are not of the data.
    """
    thing, graph = scores.identities(batch).numpy(), scores.graph.numpy()
    return graph if thing.min(initial=0) < 0 or len(np.unique(graph)) < len(np.unique(thing)) else thing


def balanced_agreement(answers: np.ndarray, given: np.ndarray, thing: np.ndarray, number: int, seed: Seed) -> Found:
    """The share of a model's answers that are given, mean over the classes that it gives.

    Args:
        answers: (m,) the model's classes.
        given: (m,) others.
        thing: (m,) of which thing each is, as :func:`things_of` gives it.
        number: how many classes there are.
        seed: of the draws.
    """
    return _drawn(lambda times: balanced(answers, given, number, times), thing, seed)


def share(right: np.ndarray, among: np.ndarray, thing: np.ndarray, seed: Seed) -> Found | None:
    """The share of some places that are right; None where there are no such places.

    Where all are right, or none is, draws would all say the same; then the interval is that of Wilson, of as many as
    there are different things.

    Args:
        right, among: (m,) bool, which places are right, and which are looked at.
        thing, seed: as :func:`balanced_agreement` takes them.
    """
    if not among.any():
        return None
    value = float(right[among].mean())
    if value in (0.0, 1.0):
        low, high = interval(value, len(np.unique(thing[among])))
        return Found(value, (min(low, value), max(high, value)))  # whatever rounding does

    def drawn(times: np.ndarray) -> float:
        there = times[among].sum()
        return float(times[among & right].sum() / there) if there else np.nan

    return _drawn(drawn, thing, seed)


def ahead(
    answers: np.ndarray, given: np.ndarray, other: np.ndarray, thing: np.ndarray, number: int, seed: Seed
) -> Found:
    """By how much one balanced agreement is above another, of answers to the same places.

    Arguments are those of :func:`balanced_agreement`; other: (m,) answers that are compared with the given ones.
    """

    def difference(times: np.ndarray) -> float:
        return balanced(answers, given, number, times) - balanced(answers, other, number, times)

    return _drawn(difference, thing, seed)


def balanced(answers: np.ndarray, given: np.ndarray, number: int, times: np.ndarray | None = None) -> float:
    """The same without an interval; ``times`` (m,) each place counts."""
    times = np.ones(len(answers)) if times is None else times
    of_class = np.bincount(answers, times, minlength=number)
    hit = np.bincount(answers, times * (answers == given), minlength=number)
    return float((hit / np.maximum(of_class, 1e-12))[of_class > 0].mean())


def fewest(answers: np.ndarray, several: Sequence[np.ndarray], graph: np.ndarray, number: int) -> int:
    """Place of the first of several, in order of how much they say, that agrees as well as the best of them.

    That is within one standard error of the difference, of graphs drawn at random (Breiman et al., Classification and
    Regression Trees, 1984, section 3.4.3, where the error is that of the best itself), and no more than 0.002 below.

    Args:
        answers: (m,) the model's classes.
        several: (m,) each, others.
        graph: (m,) of which graph each is.
        number: how many classes there are.
    """
    agreements = [balanced(answers, given, number) for given in several]
    best = int(np.argmax(agreements))
    of_class = np.bincount(answers, minlength=number)
    weight = 1 / (of_class * (of_class > 0).sum())[answers]
    for place, given in enumerate(several[:best]):
        lost = (several[best] == answers).astype(float) - (given == answers)
        mean = np.bincount(answers, lost, minlength=number) / np.maximum(of_class, 1)
        of_graph = np.bincount(graph, weight * (lost - mean[answers]))
        if agreements[best] - agreements[place] <= min(float(np.sqrt((of_graph**2).sum())), _AS_GOOD):
            return place
    return best


def mean_auc(
    answers: np.ndarray, scores: np.ndarray, thing: np.ndarray, seed: Seed, among: Sequence[int] | None = None
) -> tuple[Found, list[float | None]]:
    """How often a place of a class scores higher than one of no such class: mean over classes, and each.

    None for a class that all places have, or none. Arguments are those of :func:`balanced_agreement`; scores: (m, C);
    among: the classes that are looked at, by default all
    """
    number = scores.shape[1]
    times_of = np.bincount(answers, minlength=number)
    told = [place for place in (range(number) if among is None else among) if 0 < times_of[place] < len(answers)]
    ranked = {place: np.unique(scores[:, place], return_inverse=True) for place in told}

    def one(place: int, times: np.ndarray) -> float | None:
        values, level = ranked[place]
        own = np.bincount(level, times * (answers == place), minlength=len(values))
        other = np.bincount(level, times * (answers != place), minlength=len(values))
        if not own.any() or not other.any():
            return None
        below = np.cumsum(other) - other / 2
        return float(own @ below / (own.sum() * other.sum()))

    def over_all(times: np.ndarray) -> float:
        known = [value for place in told if (value := one(place, times)) is not None]
        return float(np.mean(known)) if known else 0.5

    every = np.ones(len(answers))
    return _drawn(over_all, thing, seed), [one(place, every) if place in ranked else None for place in range(number)]


def _drawn(figure: Callable[[np.ndarray], float], thing: np.ndarray, seed: Seed) -> Found:
    different, place = np.unique(thing, return_inverse=True)
    rng = seed.numpy()
    values = []
    for _ in range(_DRAWS):
        times = np.bincount(rng.integers(0, len(different), len(different)), minlength=len(different))
        values.append(figure(times[place].astype(float)))
    low, high = np.nanpercentile(values, _OUTER)  # a draw may have nothing to tell of
    return Found(figure(np.ones(len(thing))), (float(low), float(high)))
