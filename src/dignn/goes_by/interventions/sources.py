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

    @classmethod
    def joined(cls, parts: list[Pairs]) -> Pairs:
        """Those of all parts, of which there is one."""
        return cls(
            GraphBatch.cat([part.true for part in parts]),
            GraphBatch.cat([part.false for part in parts]),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("node", "source", "predicate")),
        )


def one_each(batch: GraphBatch, node: np.ndarray) -> Places:
    """Places of which each graph of a batch has one, at these positions (B,)."""
    return Places(batch, torch.arange(len(batch)), torch.from_numpy(node))


def chosen_places(true: np.ndarray, graph: np.ndarray, most: int, seed: Seed, *, both: bool = True) -> np.ndarray:
    """Numbers of places that pairs are made of: of as many graphs as there are, and half of them on each side.

    Args:
        true: (m,) bool, of which places a predicate is true.
        graph: (m,) which graph each place is in.
        most: places at most.
        seed: of the choice.
        both: whether places are chosen of which it is false, too.
    """
    order = seed.numpy().permutation(len(true))
    times: dict[int, int] = {}
    turn = np.empty(len(order), dtype=int)
    for place in order.tolist():
        turn[place] = times.get(int(graph[place]), 0)
        times[int(graph[place])] = turn[place] + 1
    order = order[np.argsort(turn[order], kind="stable")]
    on, off = order[true[order]], order[~true[order]]
    if not both:
        return np.sort(on[:most])
    half = max(most // 2, most - len(off))
    return np.sort(np.concatenate([on[:half], off[: most - min(half, len(on))]]))
