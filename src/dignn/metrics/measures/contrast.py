"""Contrast: does an explanation show its own class rather than any class?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dignn.graphs.plain_graph import PlainGraph
from dignn.metrics.counting import mean
from dignn.metrics.judging import Verdict
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.measures.faithfulness import check_classes
from dignn.metrics.metric import Figure, Metric, declare
from dignn.selection.motifs.sets import MotifSets

# A contrast up to this, on either side of 0, tells no classes apart.
ALIKE = 0.05


def contrast(explanations: Sequence[Sequence[PlainGraph]], motifs: MotifSets) -> list[float | None]:
    """By class, how much more often its graphs contain motifs of their own class than motifs of the others.

    Types of nodes and relations must agree. Class c is compared with every other class d: the share of c's
    motifs that d does not have, minus the share of d's motifs that c does not have, each the mean over the graphs of c
    ("have" means isomorphic). Motifs of both are left out on both sides, because easy motifs that every class
    has would otherwise count for the own class alone; so graphs that have nothing to do with any class score about 0.
    The value is the mean over the classes d for which something is left on both sides; None without any, and
    always for common motifs. It lies between -1 and 1.
    """
    check_classes(explanations, motifs)
    if motifs.common:
        return [None] * len(motifs)
    hits = [motifs.any_found_in(graphs) for graphs in explanations]
    return [_contrast(found, number, motifs.owner, motifs.had) for number, found in enumerate(hits)]


def _contrast(hits: np.ndarray, number: int, owner: np.ndarray, had: np.ndarray) -> float | None:
    """Of one class.

    Args:
        hits: (graphs, motifs) which of its graphs contain which motifs.
        owner: (motifs,) the class that each motif is of, ascending.
        had: (motifs, classes) which classes have the same.
    """
    if not len(hits):
        return None
    share = hits.mean(0)
    classes, first = np.unique(owner, return_index=True)  # of very many most have no motifs
    parts = dict(zip(classes.tolist(), map(slice, first, [*first[1:], len(owner)]), strict=True))
    own = parts.pop(number, slice(0))
    found = []
    for other, its in parts.items():
        mine, theirs = share[own][~had[own, other]], share[its][~had[its, number]]
        if len(mine) and len(theirs):
            found.append(float(mine.mean() - theirs.mean()))
    return mean(found)


def _by_class(measured: MeasuredGraphs, reality: Reality) -> dict[str, float | None] | None:
    if reality.class_typed.common:
        return None
    values = contrast(measured.first(as_seen=True), reality.class_typed)
    return dict(zip(measured.classes, values, strict=True))


def contrasted(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of a class's own motifs minus that of other classes' motifs."""
    more = "shows more of its own typical parts than of other classes'"
    if value > ALIKE:
        if floor is None or value >= floor / 2:
            return Verdict("good", more)
        return Verdict("fair", f"{more}, but less so than real members")
    if value < -ALIKE:
        return Verdict("poor", "shows more of other classes' typical parts than of its own")
    alike = "its parts do not tell it from other classes"
    if floor is None:
        return Verdict("fair", f"{alike}; whether those of real members do is not known")
    if floor > 0.1:
        return Verdict("poor", f"{alike}, though those of real members do")
    return Verdict("fair", f"{alike}; those of real members hardly do either")


declare(
    Metric("sound.contrast", "contrast", 10, {"model", "motifs"}, _by_class, about="explanations"),
    Figure(
        "Contrast", path="*", judge=contrasted, good="above .05, and at least half of what real members show", low=-0.2
    ),
)
