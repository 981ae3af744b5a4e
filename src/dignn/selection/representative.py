"""The default rule: graphs of nearly the highest score that are like real members of the class.

Highest scores pick odd ones out: the model is surest of graphs that are like nothing real. Here candidates must lie
inside the real range (:mod:`dignn.selection.members`), and the class that the generator meant must be the one that
the model sees. Of those within a small tolerance of the best probability the first explanation is the one with the
structure most typical of the class: it contains most of the parts that training graphs of the class are made of. The
next ones are chosen from the more typical half to cover the class: each as near as possible to real members that none
before is near to (greedy facility location in the model's embedding space). Members at the edge of a class are unlike
those that the model is surest of, so one of them may be three tolerances below the best, as long as the mean of all
that were chosen before and itself is at most one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dignn.model.scores import Scores
from dignn.selection.candidates import Candidates
from dignn.selection.highest import Choice, by_score
from dignn.selection.members import Members
from dignn.selection.motifs.mining import FrequentParts

# Candidates may be as far from members as the nearer nine tenths of members are from each other.
NEARER_SHARE = 0.9
# Different parts of a class that candidates are compared by.
COMPARED_PARTS = 60
# Candidates that compete at most.
MOST_POOL = 400
# Tolerances that the probability of a single explanation may lie below the best one.
EACH = 3.0
# By which sums of probabilities may differ and still be equal.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Representative:
    """What the rule knows of the real graphs.

    Args:
        members: real members of each class.
        parts: per class its frequent parts, from training graphs; None to begin with the graph whose embedding is
            nearest to members instead of that with the most typical structure.
        tolerance: how far below the best probability inside the real range that of the first explanation, and the mean
            of several, may be.
    """

    members: Sequence[Members]
    parts: Sequence[FrequentParts] | None
    tolerance: float


def select_representative(
    candidates: Candidates, scores: Scores, known: Representative, top_k: int
) -> list[list[Choice]]:
    """For each class ``top_k`` candidates, no two of them isomorphic; a longer list begins like a shorter one."""
    return [_select(candidates, scores, known, number, top_k) for number in range(len(known.members))]


def _select(candidates: Candidates, scores: Scores, known: Representative, number: int, top_k: int) -> list[Choice]:
    members = known.members[number]
    order, inside = _in_order(candidates, scores, members, _tiers(candidates, scores, members), max(MOST_POOL, top_k))
    if not order:
        return []
    rows = [choice.score for choice in order[:inside]]
    probability = scores.probability[rows, members.class_index].double().numpy()
    least = float(probability[0]) - known.tolerance
    clear = float(probability[0]) - EACH * known.tolerance
    pool = order[: min(int((probability >= clear).sum()), MOST_POOL)]
    sure = min(int((probability >= least).sum()), len(pool))
    of_pool = torch.tensor([choice.score for choice in pool])
    some = np.arange(len(pool))
    if known.parts is None:
        typical = -members.place(scores, of_pool).distance
    else:
        typical = known.parts[number].share_in([candidates.plain[choice.graph] for choice in pool])
    first = int(typical[:sure].argmax())
    if known.parts is not None:
        # The half of more typical structure and the first explanation, in order of score again.
        some = np.union1d(np.argsort(-typical, kind="stable")[: -(-len(pool) // 2)], [first])
    covering = _cover(
        scores.embedding[of_pool[some]].double().numpy(),
        probability[some],
        members,
        int(np.searchsorted(some, first)),
        min(top_k, len(some)),
        least,
    )
    chosen = [int(some[place]) for place in covering]
    return [order[place] for place in (chosen + _rest(order, chosen, scores, members.class_index, least))[:top_k]]


def _rest(order: Sequence[Choice], chosen: Sequence[int], scores: Scores, number: int, least: float) -> list[int]:
    """Places of those that were not chosen: first all with at least this probability, tier by tier, then by score."""
    left = sorted(set(range(len(order))) - set(chosen))
    rows = torch.tensor([order[place].score for place in left], dtype=torch.long)
    probability, log_odds = (values[rows, number].double() for values in (scores.probability, scores.log_odds))
    behind = torch.where(probability >= least, -torch.inf, -log_odds)
    return [left[place] for place in behind.argsort(stable=True).tolist()]


def _in_order(
    candidates: Candidates, scores: Scores, members: Members, tiers: Sequence[torch.Tensor], most: int
) -> tuple[list[Choice], int]:
    """Different candidates tier by tier, each tier by score, and how many are of the first tier that has any."""
    ranked: dict[int, Choice] = {}
    best: set[int] = set()
    left = torch.ones(len(candidates), dtype=torch.bool)
    for rows in tiers:
        further = by_score(candidates, scores, members.class_index, rows[left[scores.graph[rows]]])
        ranked |= {choice.graph: choice for choice in further}
        left[scores.graph[rows]] = False
        best = best or set(ranked)
    kept = candidates.distinct(list(ranked), most)
    return [ranked[graph] for graph in kept], sum(graph in best for graph in kept)


def _tiers(candidates: Candidates, scores: Scores, members: Members) -> list[torch.Tensor]:
    """Rows of the scores from which to choose, best tier first; a later one counts where those before are not enough.

    Inside the real range and meant to be of the class; inside the real range; of the class to the model; any.
    """
    number = members.class_index
    predicted = scores.predicted == number
    labels = scores.labels(candidates.graphs)
    meant = (labels == number) | (labels < 0)
    rows = predicted.nonzero()[:, 0]
    real = torch.zeros_like(predicted)
    real[rows] = torch.from_numpy(members.place(scores, rows).inside(NEARER_SHARE))
    return [rows.nonzero()[:, 0] for rows in (real & meant, real, predicted, torch.ones_like(predicted))]


def _cover(
    embedding: np.ndarray, probability: np.ndarray, members: Members, first: int, number: int, least: float
) -> list[int]:
    """Places of at most ``number`` candidates: ``first``, then each time the one that adds most to what is covered.

    A member is covered as much as its nearest chosen one is near: exp(-d^2 / 2 s^2), with s the median distance of
    members from their nearest ones. The mean probability of those chosen never falls below ``least``.

    Args:
        embedding: (n, D) of the candidates, probability: (n,) of the class.
    """
    near = np.zeros((len(embedding), 0))
    if len(members):
        scale = float(np.median(members.apart)) or 1.0
        others = members.embedding
        square = (embedding**2).sum(1)[:, None] - 2 * embedding @ others.T + (others**2).sum(1)[None, :]
        near = np.exp(-np.maximum(square, 0.0) / (2 * scale**2))  # (n, m)
    chosen, covered = [first], near[first].copy()
    while len(chosen) < number:
        fits = probability + probability[chosen].sum() >= (len(chosen) + 1) * least - _ROUNDING
        fits[chosen] = False
        if not fits.any():
            break
        gain = np.where(fits, np.maximum(near, covered).sum(1), -np.inf)
        chosen.append(int(gain.argmax()))
        covered = np.maximum(covered, near[chosen[-1]])
    return chosen
