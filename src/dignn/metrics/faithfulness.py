"""Does an explanation look like its class, to the model and to the eye? PF, GF, contrast and motif statistics.

Explanations are given per class as plain graphs, best first. A class without graphs or without motifs says nothing
and is left out; a value about which no class says anything is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dignn.errors import DignnError
from dignn.gnn.adapter import Scores
from dignn.motifs.matching import contains
from dignn.motifs.sets import MotifSets, isomorphic
from dignn.plain import PlainGraph

Explained = Sequence[Sequence[PlainGraph]]


def predictive_faithfulness(scores: Scores) -> float | None:
    """PF: the mean over classes of the highest probability that any candidate gets."""
    if not len(scores.graph):
        return None
    return float(scores.probability.max(0).values.mean())


def ground_truth_faithfulness(
    explanations: Explained, motifs: MotifSets, *, typed: bool, induced: bool = True
) -> float | None:
    """GF: the mean over classes of the mean share of the class's motifs that its graphs contain.

    Args:
        explanations: per class its graphs: the best one in the paper, any number here.
        motifs: per class its motifs.
        typed: whether types of nodes and relations must agree; not in the paper.
        induced: whether further edges among the nodes of a motif are forbidden, as in the paper.
    """
    known = [
        share for share in class_faithfulness(explanations, motifs, typed=typed, induced=induced) if share is not None
    ]
    return float(np.mean(known)) if known else None


def class_faithfulness(
    explanations: Explained, motifs: MotifSets, *, typed: bool, induced: bool = True
) -> list[float | None]:
    """GF of each class."""
    _check(explanations, motifs)
    return [
        float(contains(graphs, own, typed=typed, induced=induced).mean()) if len(graphs) and own else None
        for graphs, own in zip(explanations, motifs.by_class, strict=True)
    ]


def contrast(explanations: Explained, motifs: MotifSets) -> list[float | None]:
    """By class, how much more often its graphs contain motifs of their own class than motifs of the others.

    Types of nodes and relations must agree. Class c is compared with every other class d: the share of c's
    motifs that d does not have, minus the share of d's motifs that c does not have, each the mean over the graphs of c
    ("have" means isomorphic). Motifs of both are left out on both sides, because easy motifs that every class
    has would otherwise count for the own class alone; so graphs that have nothing to do with any class score about 0.
    The value is the mean over the classes d for which something is left on both sides; None without any, and
    always for common motifs. It lies between -1 and 1.
    """
    _check(explanations, motifs)
    if motifs.common:
        return [None] * len(motifs)
    return [_contrast(graphs, number, motifs) for number, graphs in enumerate(explanations)]


def _contrast(graphs: Sequence[PlainGraph], number: int, motifs: MotifSets) -> float | None:
    own = motifs.by_class[number]
    if not len(graphs) or not own:
        return None
    own_hits = contains(graphs, own, typed=True).mean(0)  # (own motifs,)
    found = []
    for other, theirs in enumerate(motifs.by_class):
        if other == number or not theirs:
            continue
        same = isomorphic(own, theirs)
        mine_alone, theirs_alone = ~same.any(1), ~same.any(0)
        if mine_alone.any() and theirs_alone.any():
            their_hits = contains(graphs, theirs, typed=True).mean(0)
            found.append(own_hits[mine_alone].mean() - their_hits[theirs_alone].mean())
    return float(np.mean(found)) if found else None


def motif_statistics(explanations: Explained, motifs: MotifSets, *, typed: bool = False) -> dict[str, Any]:
    """The paper's table of motif statistics, of each class's best explanation (its first graph).

    Class-specific motifs: ``by_class``, per class how many of its motifs ``occur`` and ``do_not_occur``, None for
    a class without graphs or motifs. Common motifs: how many there are (``motifs``), and how many occur in the
    explanation of ``every_class``, of at least ``half_of_classes`` and of ``no_class``; None without any explanation.
    """
    _check(explanations, motifs)
    best = [list(graphs[:1]) for graphs in explanations]
    hits = [contains(graphs, own, typed=typed) for graphs, own in zip(best, motifs.by_class, strict=True)]
    if not motifs.common:
        return {
            "common": False,
            "by_class": [
                {"occur": int(found.sum()), "do_not_occur": int((~found).sum())} if found.size else None
                for found in hits
            ],
        }
    shown = [found for found in hits if len(found)]
    number = len(motifs.by_class[0]) if len(motifs) else 0
    if not shown:
        return {"common": True, "motifs": number, **dict.fromkeys(("every_class", "half_of_classes", "no_class"))}
    classes = np.concatenate(shown).sum(0)  # (motifs,) in how many explanations
    return {
        "common": True,
        "motifs": number,
        "every_class": int((classes == len(shown)).sum()),
        "half_of_classes": int((2 * classes >= len(shown)).sum()),
        "no_class": int((classes == 0).sum()),
    }


def _check(explanations: Explained, motifs: MotifSets) -> None:
    if len(explanations) != len(motifs):
        raise DignnError(
            f"There are explanations of {len(explanations)} classes and motifs of {len(motifs)}; "
            "give a list for every class"
        )
