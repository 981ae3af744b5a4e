"""Where nodes are drawn: one layout for every drawing."""

from __future__ import annotations

import networkx as nx
import numpy as np

from dignn.batch import GraphBatch
from dignn.convert import to_networkx


def layout(graph: GraphBatch) -> dict[int, tuple[float, float]]:
    """Positions of the nodes of one graph in the unit square, such that drawn distances are near path lengths.

    The same every time.
    """
    joined = nx.Graph(to_networkx(graph))
    nodes = list(joined)
    if len(nodes) == 1:
        return {nodes[0]: (0.5, 0.5)}
    far = float(len(nodes))  # between components
    length = dict(nx.all_pairs_shortest_path_length(joined))
    distance = np.array([[float(length[u].get(v, far)) for v in nodes] for u in nodes])
    point = _stress_layout(distance)
    point -= point.min(0)
    point /= np.where(point.max(0) > 0, point.max(0), 1.0)
    return {node: (float(x), float(y)) for node, (x, y) in zip(nodes, point, strict=True)}


def _stress_layout(distance: np.ndarray, rounds: int = 200) -> np.ndarray:
    """Stress majorisation with weights 1 / distance^2, from points on a circle.  (n, 2)"""
    size = len(distance)
    angle = 2 * np.pi * np.arange(size) / size
    point = np.stack([np.cos(angle), np.sin(angle)], axis=1) * distance.max() / 2
    weight = np.divide(1.0, distance**2, out=np.zeros_like(distance), where=distance > 0)
    inverse = np.linalg.pinv(np.diag(weight.sum(1)) - weight)
    for _ in range(rounds):
        drawn = np.linalg.norm(point[:, None] - point[None], axis=2)
        pull = np.divide(weight * distance, drawn, out=np.zeros_like(drawn), where=drawn > 1e-9)
        point = inverse @ ((np.diag(pull.sum(1)) - pull) @ point)
    return point
