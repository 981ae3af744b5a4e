"""Colours of nodes: what stands around them, as a number (Weisfeiler and Leman), refined for a few rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dignn.graphs.plain_graph import PlainGraph

# Rounds of refinement: colours of round r describe a node's surroundings up to distance r.
ROUNDS = 3


def node_colours(graphs: Sequence[PlainGraph]) -> tuple[np.ndarray, np.ndarray]:
    """Colours of all nodes in rounds 1 to ROUNDS: the graph, and a number of 64 bits.  (nodes * rounds,) twice

    A multiset of colours is the sum of their scrambled values, so that the order of nodes does not matter. A colour
    means the same in every call.
    """
    sizes = np.array([len(graph) for graph in graphs])
    begin = np.cumsum(sizes) - sizes
    owner = np.repeat(np.arange(len(graphs)), sizes)
    arcs = [np.nonzero(graph.adjacency) for graph in graphs]
    source = np.concatenate([u + start for (u, _), start in zip(arcs, begin, strict=True)])
    target = np.concatenate([v + start for (_, v), start in zip(arcs, begin, strict=True)])
    there = np.concatenate([graph.relation[u, v] for graph, (u, v) in zip(graphs, arcs, strict=True)])
    back = np.concatenate([graph.relation[v, u] for graph, (u, v) in zip(graphs, arcs, strict=True)])
    join = _scramble(there.astype(np.uint64) << np.uint64(32) | back.astype(np.uint64))
    colour = _scramble(np.concatenate([graph.types for graph in graphs]).astype(np.uint64))
    found = []
    for _ in range(ROUNDS):
        around = np.zeros(len(colour), np.uint64)
        np.add.at(around, source, _scramble(join + colour[target]))
        colour = _scramble(_scramble(colour) + around)
        found.append(colour)
    return np.tile(owner, ROUNDS), np.concatenate(found)


def _scramble(value: np.ndarray) -> np.ndarray:
    """A number of 64 bits for each, one to one, that has lost all likeness with it."""
    value = (value + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(32))
