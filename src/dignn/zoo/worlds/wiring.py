"""Edges between nodes of hidden classes: who is joined to whom, without loops and without a pair twice."""

from __future__ import annotations

import numpy as np


def partners(classes: int, unlike: bool) -> np.ndarray:
    """(C,) the class that each class seeks: its own, or the other of its pair (the last of an odd number its own)."""
    own = np.arange(classes)
    return np.minimum(own ^ 1, classes - 1) if unlike else own


def seek(hidden: np.ndarray, wanted: np.ndarray, alike: float, rng: np.random.Generator) -> np.ndarray:
    """(m,) for each of ``wanted`` classes a node of it with probability ``alike``, else any.

    Args:
        hidden: (n,) hidden classes of the nodes to choose from.
        wanted: (m,) classes.
        alike: probability.
        rng: draws.
    """
    order = np.argsort(hidden, kind="stable")
    sizes = np.bincount(hidden, minlength=int(wanted.max(initial=0)) + 1)
    first = np.cumsum(sizes) - sizes
    place = first[wanted] + (rng.random(len(wanted)) * sizes[wanted]).astype(np.int64)
    found = order[np.minimum(place, len(order) - 1)]
    free = (rng.random(len(wanted)) >= alike) | (sizes[wanted] == 0)
    return np.where(free, rng.integers(len(hidden), size=len(wanted)), found)


def join(
    source: np.ndarray,
    ends: np.ndarray | None,
    degree: float,
    alike: float,
    seeks: np.ndarray,
    rng: np.random.Generator,
    *,
    cover: bool = True,
) -> np.ndarray:
    """(E, 2) edges from nodes to nodes: every source has at least one, popular ones have more.

    Args:
        source: (n,) hidden classes of the nodes that edges start from.
        ends: (m,) of those where they end; None inside one type.
        degree: edges per source, on average, before those that repeat are left out.
        alike: probability that an edge ends at the class that its source seeks.
        seeks: (C,) which class that is.
        rng: draws.
        cover: whether every node of another type where edges end has at least one, too.
    """
    others = source if ends is None else ends
    popular = rng.pareto(3, len(source)) + 0.5
    more = rng.choice(len(source), int(len(source) * (degree - 1)), p=popular / popular.sum())
    starts = np.concatenate([np.arange(len(source)), more])
    pairs = np.stack([starts, seek(others, seeks[source[starts]], alike, rng)], axis=1)
    if ends is not None and cover:
        back = np.argsort(seeks)  # who seeks a class
        lonely = np.setdiff1d(np.arange(len(ends)), pairs[:, 1])
        found = seek(source, back[ends[lonely]], alike, rng)
        pairs = np.concatenate([pairs, np.stack([found, lonely], axis=1)])
    return simple(pairs, inside=ends is None)


def simple(pairs: np.ndarray, inside: bool) -> np.ndarray:
    """(E, 2) each pair once, in order; ``inside`` one type without loops, and whichever way round it comes."""
    if inside:
        pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0)
