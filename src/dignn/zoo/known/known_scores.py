"""Explanations of a known model, judged by its rule and without a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dignn.core.checks import instance
from dignn.core.errors import DignnError
from dignn.evidence.gathering import Evidence
from dignn.evidence.removal import DROP_DIGITS
from dignn.evidence.variants import Kind, Part
from dignn.explanations.explanation import Explanation, Explanations
from dignn.zoo.known.known_model import FAILS, HOLDS, KnownModel
from dignn.zoo.known.walks import Used

# Among how many of the best explanations sufficient patterns are sought.
BEST = 10


@dataclass(frozen=True)
class KnownScore:
    """How well explanations tell what a known model goes by.

    Args:
        satisfied: share of explanations on the right side of the rule, mean of both classes; one without any has 0.
        holds: share of the explanations of the class "rule holds" of which the rule holds.
        fails: share of the explanations of the class "rule fails" of which it does not hold.
        patterns_found: share of the sufficient patterns that are in one of the ten best of the class "rule holds".
        patterns_alone: the same, counting graphs with one pattern only. Who sees two patterns together in every
            graph takes them for one.
        missing: the names of the patterns that are in none of them.
        evidence_precision: share of the marked parts of these explanations that the rule uses; None where none is
            marked.
        marked: how many parts are marked.
        decoys: how far explanations of the two classes differ in decoys: mean over decoys of the size of Somers' D,
            P(more where the rule holds) - P(less), 0 where they do not tell the class. None where a class has no
            explanation.
    """

    satisfied: float
    holds: float
    fails: float
    patterns_found: float
    patterns_alone: float
    missing: tuple[str, ...]
    evidence_precision: float | None
    marked: int
    decoys: float | None


def score_known(model: KnownModel, explanations: Explanations) -> KnownScore:
    """Judges explanations of a known model, whoever made them.

    Args:
        model: the known model.
        explanations: of its two classes, best first. Evidence is judged where they carry some.

    Raises:
        DignnError: the classes are others, or an explanation has no classified node.
    """
    instance("model", model, KnownModel, "a KnownModel")
    instance("explanations", explanations, Explanations, "Explanations")
    if set(explanations) != {FAILS, HOLDS}:
        raise DignnError(
            f"The explanations are of the classes {', '.join(explanations)}; a known model has '{FAILS}' and '{HOLDS}'"
        )
    right = {
        name: [_satisfied(model, each) is (name == HOLDS) for each in explanations[name]] for name in (HOLDS, FAILS)
    }
    holds, fails = _share(right[HOLDS]), _share(right[FAILS])
    best = explanations[HOLDS][:BEST]
    shown = [model.patterns_in(each.graph, _node(each)) for each in best]
    found, alone = {name for names in shown for name in names}, {names[0] for names in shown if len(names) == 1}
    correct = [_is_used(part, model.used(each.graph, _node(each))) for each in best for part in marked(each.evidence)]
    return KnownScore(
        satisfied=(holds + fails) / 2,
        holds=holds,
        fails=fails,
        patterns_found=len(found) / len(model.patterns),
        patterns_alone=len(alone) / len(model.patterns),
        missing=tuple(name for name in model.patterns if name not in found),
        evidence_precision=_share(correct) if correct else None,
        marked=len(correct),
        decoys=_decoys(model, explanations),
    )


def marked(evidence: Evidence | None) -> list[Part]:
    """The single nodes, edges and feature columns without which the class loses: what a page draws as important."""
    if evidence is None:
        return []
    effects = evidence.effects.of(Kind.NODE, Kind.EDGE, Kind.COLUMN)
    return [effect.part for effect in effects if round(effect.drop or 0.0, DROP_DIGITS) > 0]


def _decoys(model: KnownModel, explanations: Explanations) -> float | None:
    """Size of Somers' D of the decoys between explanations of the two classes, mean over decoys."""
    if not all(explanations.values()):
        return None
    found = []
    for decoy in model.decoys:
        more, less = (
            np.array([model.amount(decoy, each.graph, _node(each)) for each in explanations[name]])
            for name in (HOLDS, FAILS)
        )
        found.append(abs(float(np.sign(more[:, None] - less[None, :]).mean())))
    return float(np.mean(found))


def _is_used(part: Part, used: Used) -> bool:
    if part.kind is Kind.NODE:
        return part.nodes[0] in used.nodes
    if part.kind is Kind.EDGE:
        return part.edges[0] in used.edges
    return (part.nodes[0], part.columns[0]) in used.columns


def _satisfied(model: KnownModel, explanation: Explanation) -> bool:
    return model.satisfied(explanation.graph, _node(explanation))


def _node(explanation: Explanation) -> int:
    if explanation.node is None:
        raise DignnError("An explanation has no classified node; known models classify nodes, so say which")
    return explanation.node


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 0.0
