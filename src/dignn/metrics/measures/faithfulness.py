"""GF, ground-truth faithfulness: does an explanation contain what its class is made of?

Explanations are given per class as plain graphs, best first. A class without graphs or without motifs says nothing
and is left out; a value about which no class says anything is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dignn.core.errors import DignnError
from dignn.core.numerals import tight_percent
from dignn.graphs.plain_graph import PlainGraph
from dignn.metrics.counting import mean
from dignn.metrics.judging import Verdict
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import Figure, Metric, declare
from dignn.selection.motifs.sets import MotifSets

GraphsByClass = Sequence[Sequence[PlainGraph]]


def ground_truth_faithfulness(
    explanations: GraphsByClass, motifs: MotifSets, *, typed: bool, induced: bool = True
) -> float | None:
    """GF: the mean over classes of the mean share of the class's motifs that its graphs contain.

    Args:
        explanations: per class its graphs: the best one in the paper, any number here.
        motifs: per class its motifs.
        typed: whether types of nodes and relations must agree; not in the paper.
        induced: whether further edges among the nodes of a motif are forbidden, as in the paper.
    """
    return mean(class_faithfulness(explanations, motifs, typed=typed, induced=induced))


def class_faithfulness(
    explanations: GraphsByClass, motifs: MotifSets, *, typed: bool, induced: bool = True
) -> list[float | None]:
    """GF of each class."""
    check_classes(explanations, motifs)
    return [
        float(motifs.found_in(graphs, number, typed=typed, induced=induced).mean()) if len(graphs) and own else None
        for number, (graphs, own) in enumerate(zip(explanations, motifs.by_class, strict=True))
    ]


def motif_statistics(explanations: GraphsByClass, motifs: MotifSets, *, typed: bool = False) -> dict[str, Any]:
    """The paper's table of motif statistics, of each class's best explanation (its first graph).

    Class-specific motifs: ``by_class``, per class how many of its motifs ``occur`` and ``do_not_occur``, None for
    a class without graphs or motifs. Common motifs: how many there are (``motifs``), and how many occur in the
    explanation of ``every_class``, of at least ``half_of_classes`` and of ``no_class``; None without any explanation.
    """
    check_classes(explanations, motifs)
    best = [list(graphs[:1]) for graphs in explanations]
    hits = [motifs.found_in(graphs, number, typed=typed) for number, graphs in enumerate(best)]
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
    occurs = {
        "every_class": classes == len(shown),
        "half_of_classes": 2 * classes >= len(shown),
        "no_class": classes == 0,
    }
    return {"common": True, "motifs": number, **{name: int(which.sum()) for name, which in occurs.items()}}


def check_classes(explanations: GraphsByClass, motifs: MotifSets) -> None:
    """Refuses explanations and motifs of different numbers of classes."""
    if len(explanations) != len(motifs):
        raise DignnError(
            f"There are explanations of {len(explanations)} classes and motifs of {len(motifs)}; "
            "give a list for every class"
        )


def contained(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of the class's motifs that its first explanation contains."""
    if floor is None:
        return Verdict("fair", "what real graphs contain is not known, so this says little")
    real, share = "a random real graph of the class contains", tight_percent(floor)
    if value >= min(floor + 0.05, 1.0 - 1e-9):
        return Verdict("good", f"{tight_percent(value)}; {real} {share}")
    if value >= floor - 0.05:
        return Verdict("fair", f"about as many as {real} ({share})")
    return Verdict("poor", f"fewer than {real} ({share})")


def _gf(*, typed: bool) -> Callable[[MeasuredGraphs, Reality], float | None]:
    return lambda measured, reality: ground_truth_faithfulness(measured.first(), reality.motifs, typed=typed)


_GOOD = ".05 above the floor or more, or 1"
declare(
    Metric("paper.gf", "faithfulness", 30, {"graphs", "motifs"}, _gf(typed=False), about="explanations"),
    Figure(
        "Typical parts",
        "Share of a class's typical parts (motifs) in its first explanation, node types ignored (GF).",
        judge=contained,
        good=_GOOD,
        terminal="GF",
    ),
)
declare(
    Metric("sound.typed_gf", "faithfulness", 40, {"graphs", "motifs"}, _gf(typed=True), about="explanations"),
    Figure(
        "Typical parts, with types",
        "The same with types of nodes and relations matched (typed GF).",
        judge=contained,
        good=_GOOD,
        terminal="GF with types",
    ),
)
