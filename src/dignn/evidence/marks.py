"""Marks of other explainers on an explanation, and how far they agree with its own evidence.

Agreement is Spearman's correlation of the marks of nodes with what their removal costs the class. By itself it says
little, so random marks stand beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.explain import CaptumExplainer

from dignn.core.seeds import Seed
from dignn.evidence.registry import MARKED_BY
from dignn.evidence.removal import DROP_DIGITS, Effects
from dignn.evidence.variants import Kind
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.masked_model import MaskedModel

# Random marks that agreement is compared with, and the percentile of theirs that is told.
DRAWS, HIGH = 1000, 95
# Two nodes always agree or disagree entirely.
FEWEST_PAIRS = 3


@dataclass(frozen=True)
class Marks:
    """What one explainer makes of one explanation.

    Args:
        nodes: by position; None where the features of a node cannot be masked.
        edges: in the order of :func:`dignn.graphs.description.edges`; None where edges cannot be masked.
        agreement: with the effects of removing nodes, from -1 to 1; None where there are fewer than three nodes to
            compare, or all have the same mark or the same effect.
        random: mean agreement of random marks of the same nodes.
        random_high: what 95 of 100 of them stay below.
    """

    nodes: tuple[float | None, ...]
    edges: tuple[float, ...] | None
    agreement: float | None = None
    random: float | None = None
    random_high: float | None = None


@dataclass(frozen=True)
class Agreement:
    """Of the marks of several explanations.

    Args:
        agreement: the mean over those where it is defined; None where it is nowhere.
        explanations: how many these are.
        random: the mean over the same explanations of random marks.
        random_high: what 95 of 100 such means stay below.
    """

    agreement: float | None
    explanations: int
    random: float | None
    random_high: float | None


def mark(name: str, adapter: GNNAdapter, graph: GraphBatch, effects: Effects, seed: Seed) -> Marks:
    """Marks of one explanation, beside those that are random.

    Args:
        name: the marker, one of :data:`~dignn.evidence.registry.MARKED_BY`.
        adapter: asks the model, which stays as it is.
        graph: a batch of one graph.
        effects: what removing its parts does to the class that it explains.
        seed: of this explanation; the same one gives the same marks.
    """
    model = MaskedModel(adapter, graph, effects.node, effects.class_index)
    size = graph.node_type.size(1)
    if model.reason is not None:
        return Marks((None,) * size, None)
    masked = bool(model.edge_index.numel())
    with seed.child(name).torch_globally():
        explainer = MARKED_BY[name](model, masked)
        found = explainer(model.shares, model.edge_index, target=torch.ones(1))
    known = model.nodes.tolist()
    values = found.node_mask.detach().reshape(size).tolist()
    nodes = tuple(_finite(value) if there else None for value, there in zip(values, known, strict=True))
    added = isinstance(explainer.algorithm, CaptumExplainer)  # what it gives are shares of the log-odds
    edges = model.of_edges(found.edge_mask.detach(), added=added) if masked else None
    whole = edges is not None and all(map(math.isfinite, edges))
    draws = random_agreement(nodes, effects, seed)
    rho = agreement(nodes, effects)
    return Marks(nodes, tuple(edges) if edges is not None and whole else None, rho, *_mean_and_high(draws))


def agreement(nodes: Sequence[float | None], effects: Effects) -> float | None:
    """Spearman's correlation of marks with the log-odds that the class loses without each node.

    The classified node, without which nothing is answered, is left out, and what has no mark or no effect. Equal
    values share their mean rank.
    """
    ranks = _ranks(nodes, effects)
    return None if ranks is None else float(_correlation(ranks[0], ranks[1]))


def random_agreement(nodes: Sequence[float | None], effects: Effects, seed: Seed) -> np.ndarray | None:
    """(draws,) the same of random marks on the same nodes; None where agreement is not defined."""
    ranks = _ranks(nodes, effects)
    if ranks is None:
        return None
    marks = seed.child("random").numpy().random((DRAWS, len(ranks[1])))
    return _correlation(marks.argsort(axis=1).argsort(axis=1).astype(float), ranks[1])


def summed_up(marked: Sequence[tuple[Marks, Effects, Seed]]) -> Agreement:
    """The mean over explanations: each with its marks, its effects, and the seed that marked it."""
    known = [(marks, effects, seed) for marks, effects, seed in marked if marks.agreement is not None]
    draws = [random_agreement(marks.nodes, effects, seed) for marks, effects, seed in known]
    means = np.mean([each for each in draws if each is not None], axis=0) if known else None
    rho = sum(marks.agreement or 0.0 for marks, _, _ in known) / len(known) if known else None
    return Agreement(rho, len(known), *_mean_and_high(means))


def _ranks(nodes: Sequence[float | None], effects: Effects) -> tuple[np.ndarray, np.ndarray] | None:
    """Of marks and of effects, of the nodes that have both; None where they say nothing."""
    pairs = [(nodes[effect.part.nodes[0]], effect.drop) for effect in effects.of(Kind.NODE)]
    known = np.array([(m, d) for m, d in pairs if m is not None and d is not None]).reshape(-1, 2)
    known = known.round(DROP_DIGITS)
    if len(known) < FEWEST_PAIRS or bool((known == known[0]).all(0).any()):
        return None
    return _mean_ranks(known[:, 0]), _mean_ranks(known[:, 1])


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    """From 1; equal values share the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (count.cumsum() - (count - 1) / 2)[place]


def _correlation(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Pearson's, over the last axis."""
    one, other = (each - each.mean(-1, keepdims=True) for each in (one, other))
    return (one * other).sum(-1) / np.sqrt((one**2).sum(-1) * (other**2).sum(-1))


def _mean_and_high(draws: np.ndarray | None) -> tuple[float | None, float | None]:
    return (None, None) if draws is None else (float(draws.mean()), float(np.percentile(draws, HIGH)))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
