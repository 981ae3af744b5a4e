"""What pairs of graphs are made of, and what they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from dignn.core.seeds import Seed
from dignn.goes_by.places import Places
from dignn.graphs.batch import GraphBatch


@dataclass(frozen=True, eq=False)
class Pairs:
    """n pairs of graphs of which one has what a predicate says.

    Args:
        true, false: n graphs each, of which the predicate is true, and false.
        node: (n,) position of the classified node in both; -1 where graphs are classified.
        source: (n,) which graph of a batch each pair was made of.
        predicate: (n,) number of the predicate.
    """

    true: GraphBatch
    false: GraphBatch
    node: np.ndarray
    source: np.ndarray
    predicate: np.ndarray

    def __len__(self) -> int:
        return len(self.node)


def one_each(batch: GraphBatch, node: np.ndarray) -> Places:
    """Places of which each graph of a batch has one, at these positions (B,)."""
    return Places(batch, torch.arange(len(batch)), torch.from_numpy(node))


def chosen_places(true: np.ndarray, possible: np.ndarray, graph: np.ndarray, most: int, seed: Seed) -> np.ndarray:
    """Numbers of places that pairs are made of: of as many graphs as there are, and half of them on each side.

    Args:
        true: (m,) bool, of which places a predicate is true.
        possible: (m,) bool, which may be chosen.
        graph: (m,) which graph each place is in.
        most: places at most.
        seed: of the choice.
    """
    order = seed.numpy().permutation(np.flatnonzero(possible))
    _, which = np.unique(graph[order], return_inverse=True)
    by_graph = np.argsort(which, kind="stable")
    turn = np.empty(len(order), dtype=int)  # how many places of its graph come before each
    turn[by_graph] = np.arange(len(order)) - np.searchsorted(which[by_graph], which[by_graph])
    order = order[np.argsort(turn, kind="stable")]
    on, off = order[true[order]], order[~true[order]]
    half = max(most // 2, most - len(off))
    return np.sort(np.concatenate([on[:half], off[: most - min(half, len(on))]]))
