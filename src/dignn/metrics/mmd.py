"""Maximum mean discrepancy between sets of graphs (Table 1 of the paper).

Each graph gives a histogram; the kernel of two graphs is exp(-d^2 / (2 sigma^2)) with d the earth mover's
distance of their histograms, which in one dimension is the sum of absolute differences of cumulated histograms.
The result is the biased squared MMD, diagonals included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from dignn.plain import PlainGraph

Histogram = np.ndarray


@dataclass(frozen=True)
class Metric:
    """A histogram of a graph and the kernel's scale.

    Args:
        histogram: from a graph to non-negative numbers.
        sigma: width of the kernel.
        scale: the earth mover's distance is divided by it.
    """

    histogram: Callable[[PlainGraph], Histogram]
    sigma: float
    scale: float = 1.0


def degree_histogram(graph: PlainGraph) -> Histogram:
    """Nodes of degree 0, 1, 2, ...; a self-loop counts 2."""
    degree = graph.adjacency.sum(1) + graph.adjacency.diagonal()
    return np.bincount(degree.astype(np.int64), minlength=1).astype(float)


def clustering_histogram(graph: PlainGraph) -> Histogram:
    """Local clustering coefficients in 100 bins on [0, 1]; self-loops do not count."""
    adjacency = graph.adjacency - np.diag(graph.adjacency.diagonal())
    degree = adjacency.sum(1)
    pairs = degree * (degree - 1)
    closed = (adjacency @ adjacency * adjacency).sum(1)
    return np.histogram(closed / np.maximum(pairs, 1), bins=100, range=(0.0, 1.0))[0].astype(float)


def spectral_histogram(graph: PlainGraph) -> Histogram:
    """Eigenvalues of the normalised Laplacian in 200 bins on [-1e-5, 2]."""
    degree = graph.adjacency.sum(1)
    inverse = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    laplacian = np.diag((degree > 0).astype(float)) - inverse[:, None] * graph.adjacency * inverse
    values = np.linalg.eigvalsh(laplacian)
    values = np.clip(np.round(values, 9), 0.0, 2.0)  # rounding would push the 2 of bipartite graphs out of the range
    return np.histogram(values, bins=200, range=(-1e-5, 2.0))[0].astype(float)


def present_type_histogram(graph: PlainGraph) -> Histogram:
    """Counts of the node types that are present, in type order; absent types are skipped (as the paper does)."""
    counts = type_histogram(graph)
    return counts[counts > 0]


def type_histogram(graph: PlainGraph) -> Histogram:
    """Counts of all node types, each at its own position."""
    return np.bincount(graph.types, minlength=1).astype(float)


# The paper layer, and the sound layer: the spectrum in eigenvalue units with sigma 0.1, types at fixed positions.
METRICS: dict[str, dict[str, Metric]] = {
    "paper": {
        "node_type": Metric(present_type_histogram, sigma=1.0),
        "degree": Metric(degree_histogram, sigma=1.0),
        "clustering": Metric(clustering_histogram, sigma=0.1, scale=100.0),
        "spectral": Metric(spectral_histogram, sigma=1.0),
    },
    "sound": {
        "node_type": Metric(type_histogram, sigma=1.0),
        "degree": Metric(degree_histogram, sigma=1.0),
        "clustering": Metric(clustering_histogram, sigma=0.1, scale=100.0),
        "spectral": Metric(spectral_histogram, sigma=0.1, scale=100.0),
    },
}


def mmd(one: Sequence[PlainGraph], other: Sequence[PlainGraph], metric: Metric) -> float | None:
    """Biased squared MMD between two sets of graphs; empty graphs are dropped.

    Args:
        one, other: the two sets.
        metric: what is compared (node types, degrees, clustering, spectrum), with its kernel.

    Returns:
        0 for equal sets; None if a set is empty.
    """
    histograms = [[metric.histogram(graph) for graph in graphs if len(graph)] for graphs in (one, other)]
    if not all(histograms):
        return None
    width = max(len(histogram) for several in histograms for histogram in several)
    first, second = (cumulated(several, width) for several in histograms)
    return float(
        mean_kernel(first, first, metric) + mean_kernel(second, second, metric) - 2 * mean_kernel(first, second, metric)
    )


def cumulated(histograms: Sequence[Histogram], width: int) -> np.ndarray:
    """Cumulated normalised histograms, padded to one width.  (graphs, width)"""
    padded = np.stack([np.pad(histogram, (0, width - len(histogram))) for histogram in histograms])
    return np.cumsum(padded / padded.sum(1, keepdims=True), axis=1)


def mean_kernel(one: np.ndarray, other: np.ndarray, metric: Metric) -> float:
    """Mean kernel over all pairs."""
    distance = cdist(one, other, "cityblock") / metric.scale
    return float(np.exp(-(distance**2) / (2 * metric.sigma**2)).mean())
