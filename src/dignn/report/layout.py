"""Where nodes are drawn: one layout for every drawing."""

from __future__ import annotations

import numpy as np

from dignn.graphs.batch import GraphBatch
from dignn.graphs.igraph_graphs import igraph_of

# Starting positions that are tried; the clearest drawing is kept. Graphs with more nodes are drawn once.
TRIES, LARGE = 12, 40
# A drawing counts as at least this high for its width: the lower it is, the less it is stretched.
_LEAST_SIDE = 0.6
# A node nearer than this to an edge that is not its own seems to lie on it; in lengths of an edge.
_TOO_NEAR = 0.3


def layout(graph: GraphBatch) -> dict[int, tuple[float, float]]:
    """Positions of the nodes of one graph in the unit square, such that drawn distances are near path lengths.

    Of several such drawings the one with the fewest crossings of edges, and nodes on edges. The same every time.
    """
    size = int(graph.sizes[0])
    if size == 1:
        return {0: (0.5, 0.5)}
    ends = graph.undirected[0].triu().nonzero().numpy()  # (m, 2)
    distance = np.minimum(igraph_of(size, ends.tolist()).distances(), float(size))  # that far between components
    point = _fitted(_clearest(distance, ends))
    return {node: (float(x), float(y)) for node, (x, y) in enumerate(point)}


def _fitted(point: np.ndarray) -> np.ndarray:
    """Turned so that the longer side lies flat, as frames do, and fitted into the unit square.

    The shorter side is stretched a little at most, so that a ring stays round.
    """
    point = point - point.mean(0)
    axes = np.linalg.svd(point, full_matrices=False)[2]
    axes *= np.where(axes[range(2), np.abs(axes).argmax(1)] < 0, -1.0, 1.0)[:, None]  # else a matter of rounding
    point = point @ axes.T
    low, high = point.min(0), point.max(0)
    extent = np.maximum(high - low, _LEAST_SIDE * (high - low).max())
    return 0.5 + (point - (low + high) / 2) / np.where(extent > 0, extent, 1.0)


def _clearest(distance: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The clearest of several drawings, the first of which is often clear already.  (n, 2)"""
    size = len(distance)
    angle = 2 * np.pi * np.arange(size) / size
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1) * distance.max() / 2
    if size > LARGE:
        return _stress_layouts(distance, circle[None])[0]
    rng = np.random.default_rng(0)
    best, least = circle, np.inf
    for starts in ([circle], [circle[rng.permutation(size)] for _ in range(TRIES - 1)]):
        for point in _stress_layouts(distance, np.stack(starts)):
            clutter = _crossings(point, ends) + 2 * _covered(point, ends)  # a node on an edge misleads more
            if clutter < least:
                best, least = point, clutter
        if not least:
            break
    return best


def _stress_layouts(distance: np.ndarray, point: np.ndarray, rounds: int = 200) -> np.ndarray:
    """Stress majorisation with weights 1 / distance^2 from several starts.  (tries, n, 2) -> (tries, n, 2)"""
    size = len(distance)
    weight = np.divide(1.0, distance**2, out=np.zeros_like(distance), where=distance > 0)
    inverse = np.linalg.pinv(np.diag(weight.sum(1)) - weight)
    wanted = weight * distance
    diagonal = np.arange(size)
    for _ in range(rounds):
        drawn = np.linalg.norm(point[:, :, None] - point[:, None], axis=3)  # (tries, n, n)
        pull = np.divide(wanted, drawn, out=np.zeros_like(drawn), where=drawn > 1e-9)
        laplacian = -pull
        laplacian[:, diagonal, diagonal] = pull.sum(2)
        point = inverse @ (laplacian @ point)
    return point


def _crossings(point: np.ndarray, ends: np.ndarray) -> int:
    """Pairs of edges that cross.  point: (n, 2), ends: (m, 2) numbers of nodes"""
    if not len(ends):
        return 0
    a, b = point[ends[:, 0]], point[ends[:, 1]]  # (m, 2)

    def side(start: np.ndarray, end: np.ndarray, of: np.ndarray) -> np.ndarray:
        """On which side of each edge each point is.  (m, m)"""
        along, to = (end - start)[:, None], of[None] - start[:, None]
        return along[..., 0] * to[..., 1] - along[..., 1] * to[..., 0]

    parts = (side(a, b, a) * side(a, b, b) < 0) & (side(a, b, a) * side(a, b, b) < 0).T
    shared = (ends[:, None, :, None] == ends[None, :, None, :]).any((2, 3))
    return int((parts & ~shared).sum()) // 2


def _covered(point: np.ndarray, ends: np.ndarray) -> int:
    """Nodes that seem to lie on an edge which is not theirs, or on one another."""
    size = len(point)
    apart = np.linalg.norm(point[:, None] - point[None], axis=2) + np.eye(size) * size
    hidden = int((apart < _TOO_NEAR).sum()) // 2
    if not len(ends):
        return hidden
    a, along = point[ends[:, 0]], point[ends[:, 1]] - point[ends[:, 0]]
    squared = np.maximum((along**2).sum(1), 1e-12)
    share = np.clip(((point[:, None] - a[None]) * along[None]).sum(2) / squared, 0, 1)  # (n, m)
    gap = np.linalg.norm(point[:, None] - (a[None] + share[..., None] * along[None]), axis=2)
    own = (ends[None, :, 0] == np.arange(size)[:, None]) | (ends[None, :, 1] == np.arange(size)[:, None])
    return hidden + int(((gap < _TOO_NEAR) & ~own).sum())
