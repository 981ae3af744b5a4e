"""Forest fire sampling of small subgraphs (section "Graph generation" of the paper).

A fire starts at a node of the target type. Each burning node, in the order in which they caught fire, draws a
number k from the geometric distribution with the burning probability p (so at least 1, on average 1 / p) and
sets k of its neighbours that do not burn yet on fire, chosen uniformly. The fire stops when exactly n nodes
burn. When it dies earlier, it is lit again at an unburned neighbour of a burned node, so every sample is
connected and only a component with fewer than n nodes fails; then another start is drawn. Relations are
followed in both directions.
"""

from __future__ import annotations

import logging
import math
import random
from collections import deque
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch

log = logging.getLogger(__name__)

BURNING_PROBABILITY = 0.4
# Above this degree a neighbour is drawn by trial and error instead of by listing all of them.
HUB_DEGREE = 64


def forest_fire(
    adjacency: Adjacency,
    sizes: Sequence[int],
    per_size: int,
    *,
    seed: Seed,
    starts: np.ndarray | None = None,
    burning_probability: float = BURNING_PROBABILITY,
) -> GraphBatch:
    """``per_size`` induced subgraphs of each size; node 0 of every subgraph is where its fire started.

    A start whose component has fewer than n nodes is set aside for that size and another is drawn. A size
    for which no start is left has fewer graphs (possibly none), and the log says so.

    Args:
        adjacency: the large graph.
        sizes: different numbers of nodes, each at least 1.
        per_size: subgraphs per size.
        seed: every size derives its own.
        starts: nodes where fires may start; by default all of the target type.
        burning_probability: p of the geometric distribution, in (0, 1].

    Raises:
        DignnError: if nothing at all can be sampled, or an argument is out of range.
    """
    if not 0 < burning_probability <= 1:
        raise DignnError(f"The burning probability is {burning_probability}; it must be above 0 and at most 1")
    if not sizes or min(sizes) < 1 or per_size < 1:
        raise DignnError(f"Sizes {list(sizes)} with {per_size} graphs each cannot be sampled; give positive numbers")
    if len(set(sizes)) < len(sizes):
        raise DignnError(f"Sizes {list(sizes)} name one twice, which would repeat its graphs; name each once")
    pool = adjacency.targets if starts is None else np.asarray(starts, dtype=np.int64)
    if not len(pool):
        things = "nodes" if starts is not None else adjacency.schema.task.things
        raise DignnError(f"There are no {things} to start from; check the data")
    if pool.min() < 0 or pool.max() >= len(adjacency.node_type):
        raise DignnError(f"starts names a node that does not exist; there are {len(adjacency.node_type)}")
    nodes: list[list[int]] = []
    for size in sizes:
        fires = _fires(adjacency, pool, size, per_size, burning_probability, seed.child(size).python())
        nodes += fires
        if len(fires) < per_size:
            why = "no start node has a component of that size"
            log.warning("%d of %d subgraphs with %d nodes: %s", len(fires), per_size, size, why)
    if not nodes:
        largest = _largest_component(adjacency, pool)
        raise DignnError(
            f"No component of the graph has {min(sizes)} nodes, the largest has {largest}; ask for smaller sizes by "
            f"sizes= of the settings, or --sizes, up to {largest}"
        )
    return adjacency.induced(nodes)


def _largest_component(adjacency: Adjacency, pool: np.ndarray) -> int:
    """Nodes of the largest component that has a node to start from."""
    size = len(adjacency.node_type)
    edges = csr_array((np.ones(len(adjacency.neighbour)), adjacency.neighbour, adjacency.indptr), shape=(size, size))
    _, component = connected_components(edges, directed=False)
    return int(np.bincount(component)[component[pool]].max())


def _fires(
    adjacency: Adjacency, pool: np.ndarray, size: int, count: int, probability: float, rng: random.Random
) -> list[list[int]]:
    """Up to ``count`` fires of exactly ``size`` nodes."""
    fires: list[list[int]] = []
    left = len(pool)
    moved: dict[int, int] = {}  # the pool without the starts that cannot work, without copying it
    too_small: set[int] = set()  # nodes of components that burned down before the size was reached
    while len(fires) < count and left:
        place = int(rng.random() * left)
        start = int(pool[moved.get(place, place)])
        if start not in too_small:
            burned = _burn(adjacency, start, size, probability, rng)
            if len(burned) == size:
                fires.append(burned)
                continue
            too_small.update(burned)
        left -= 1
        moved[place] = moved.get(left, left)
    return fires


def _burn(adjacency: Adjacency, start: int, size: int, probability: float, rng: random.Random) -> list[int]:
    burned = [start]
    burning = {start}
    queue = deque(burned)
    log_survival = math.log1p(-probability) if probability < 1 else -math.inf
    while len(burned) < size:
        if queue:
            node = queue.popleft()
            spread = 1 + int(math.log(1.0 - rng.random()) / log_survival)
            caught = _unburned(adjacency, node, min(spread, size - len(burned)), burning, rng)
        else:  # the fire died: light it again beside a burned node
            caught = []
            for node in rng.sample(burned, len(burned)):
                caught = _unburned(adjacency, node, 1, burning, rng)
                if caught:
                    break
            if not caught:
                break
        burned += caught
        burning.update(caught)
        queue.extend(caught)
    return burned


def _unburned(adjacency: Adjacency, node: int, count: int, burning: set[int], rng: random.Random) -> list[int]:
    """Up to ``count`` distinct neighbours of ``node`` that do not burn, uniformly."""
    begin, end = int(adjacency.indptr[node]), int(adjacency.indptr[node + 1])
    degree = end - begin
    if degree <= max(HUB_DEGREE, 4 * (len(burning) + count)):
        free = [v for v in adjacency.neighbour[begin:end].tolist() if v not in burning]
        return rng.sample(free, min(count, len(free)))
    chosen: list[int] = []  # most of a hub's neighbours are free, so trial and error ends soon
    while len(chosen) < count:
        v = int(adjacency.neighbour[begin + int(rng.random() * degree)])
        if v not in burning and v not in chosen:
            chosen.append(v)
    return chosen
