"""Maximum mean discrepancy between sets of graphs (Table 1 of the paper).

Each graph gives a histogram; the kernel of two graphs is exp(-d^2 / (2 sigma^2)) with d the earth mover's
distance of their histograms, which in one dimension is the sum of absolute differences of cumulated histograms.
The result is the biased squared MMD, diagonals included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from dignn.graphs.plain_graph import PlainGraph
from dignn.metrics.counting import mean
from dignn.metrics.judging import RANDOM_TREES, Verdict
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import Figure, Metric, declare

Histogram = np.ndarray
# Edges of the bins of clustering coefficients and of eigenvalues.
_CLUSTERING, _SPECTRUM = np.linspace(0.0, 1.0, 101), np.linspace(-1e-5, 2.0, 201)
# Squared MMD below this is chance: that of 300 graphs from as many of the same kind varies by as much.
_CHANCE = 0.0005
# Distances are drawn from 0 to at least this: on a finer scale chance would look like a difference.
_LEAST_SCALE = 0.01


@dataclass(frozen=True)
class Kernel:
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
    return np.bincount(graph.degree, minlength=1).astype(float)


def clustering_histogram(graph: PlainGraph) -> Histogram:
    """Local clustering coefficients in 100 bins on [0, 1]."""
    return _in_bins(graph.clustering, _CLUSTERING)


def spectral_histogram(graph: PlainGraph) -> Histogram:
    """Eigenvalues of the normalised Laplacian in 200 bins on [-1e-5, 2]."""
    return _in_bins(graph.spectrum, _SPECTRUM)


def _in_bins(values: np.ndarray, edges: np.ndarray) -> Histogram:
    """How many values lie in each bin, as ``np.histogram`` counts them, which takes ten times as long."""
    last = len(edges) - 2
    return np.bincount(np.minimum(np.searchsorted(edges, values, "right") - 1, last), minlength=last + 1).astype(float)


def present_type_histogram(graph: PlainGraph) -> Histogram:
    """Counts of the node types that are present, in type order; absent types are skipped (as the paper does)."""
    counts = type_histogram(graph)
    return counts[counts > 0]


def type_histogram(graph: PlainGraph) -> Histogram:
    """Counts of all node types, each at its own position."""
    return np.bincount(graph.types, minlength=1).astype(float)


_PAPER = {
    "node_type": Kernel(present_type_histogram, sigma=1.0),
    "degree": Kernel(degree_histogram, sigma=1.0),
    "clustering": Kernel(clustering_histogram, sigma=0.1, scale=100.0),
    "spectral": Kernel(spectral_histogram, sigma=1.0),
}
# What the sound layer mends: types at fixed positions, the spectrum in eigenvalue units with sigma 0.1.
_TYPES, _EIGENVALUES = Kernel(type_histogram, sigma=1.0), Kernel(spectral_histogram, sigma=0.1, scale=100.0)
KERNELS = {"paper": _PAPER, "sound": {**_PAPER, "node_type": _TYPES, "spectral": _EIGENVALUES}}


def mmd(one: Sequence[PlainGraph], other: Sequence[PlainGraph], kernel: Kernel) -> float | None:
    """Biased squared MMD between two sets of graphs; empty graphs are dropped.

    Args:
        one, other: the two sets.
        kernel: what is compared (node types, degrees, clustering, spectrum), with its kernel.

    Returns:
        0 for equal sets; None if a set is empty.
    """
    return mmds([one], other, kernel)[0]


def mmds(sets: Sequence[Sequence[PlainGraph]], other: Sequence[PlainGraph], kernel: Kernel) -> list[float | None]:
    """:func:`mmd` of several sets from one other. The histogram of a graph is taken once, in however many it is."""
    graphs = {id(graph): graph for several in (other, *sets) for graph in several if len(graph)}
    known = {number: kernel.histogram(graph) for number, graph in graphs.items()}
    second = _Histograms(other, kernel, known)
    found: list[float | None] = []
    for one in sets:
        first = _Histograms(one, kernel, known)
        width = max(first.width, second.width)
        if not first.width or not second.width:
            found.append(None)
            continue
        between = mean_kernel(first.cumulated(width), second.cumulated(width), kernel)
        found.append(float(first.among(width) + second.among(width) - 2 * between))
    return found


class _Histograms:
    """Of the graphs of a set that are not empty.

    Args:
        graphs: the set.
        kernel: what is compared.
        known: histograms by the ``id`` of graphs.

    Attributes:
        width: of the widest; 0 without any.
    """

    def __init__(self, graphs: Sequence[PlainGraph], kernel: Kernel, known: Mapping[int, Histogram]) -> None:
        self._histograms, self._kernel = [known[id(graph)] for graph in graphs if len(graph)], kernel
        self._cumulated: dict[int, np.ndarray] = {}
        self._among: dict[int, float] = {}
        self.width = max(map(len, self._histograms), default=0)

    def cumulated(self, width: int) -> np.ndarray:
        """Padded to a width.  (graphs, width)"""
        if width not in self._cumulated:
            self._cumulated[width] = _cumulated(self._histograms, width)
        return self._cumulated[width]

    def among(self, width: int) -> float:
        """Mean kernel over all pairs of these graphs."""
        if width not in self._among:
            self._among[width] = mean_kernel(self.cumulated(width), self.cumulated(width), self._kernel)
        return self._among[width]


def cumulated(sets: Sequence[Sequence[PlainGraph]], kernel: Kernel) -> list[np.ndarray]:
    """Cumulated normalised histograms of the graphs of each set that are not empty, padded to one width.

    Returns:
        [(graphs, width)]
    """
    histograms = [[kernel.histogram(graph) for graph in graphs if len(graph)] for graphs in sets]
    width = max(len(histogram) for several in histograms for histogram in several)
    return [_cumulated(several, width) for several in histograms]


def _cumulated(histograms: Sequence[Histogram], width: int) -> np.ndarray:
    counts = np.zeros((len(histograms), width))
    for line, found in zip(counts, histograms, strict=True):
        line[: len(found)] = found
    return np.cumsum(counts / counts.sum(1, keepdims=True), axis=1)


def mean_kernel(one: np.ndarray, other: np.ndarray, kernel: Kernel) -> float:
    """Mean kernel over all pairs."""
    distance = cdist(one, other, "cityblock") / kernel.scale
    return float(np.exp(-(distance**2) / (2 * kernel.sigma**2)).mean())


def distance(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """A squared MMD of structure from held-out graphs."""
    if floor is None:
        return Verdict("fair", "what real graphs score is not known, so this says little")
    base = max(floor, 0.0)
    if value <= 1.25 * base + _CHANCE:
        return Verdict("good", "as near to held-out real graphs as other real graphs are")
    trees = controls.get(RANDOM_TREES)
    if trees is not None and value >= trees > base + _CHANCE:
        return Verdict("poor", "no nearer to held-out real graphs than random trees are")
    if value <= 2 * base + 2 * _CHANCE:
        return Verdict("good", "nearly as near to held-out real graphs as other real graphs are")
    if trees is not None and value - base < 0.25 * (trees - base):
        return Verdict("fair", "not as near as other real graphs are, but far nearer than random trees")
    return Verdict("poor", "clearly different from real graphs")


def _of_paper(kernel: Kernel) -> Callable[[MeasuredGraphs, Reality], float | None]:
    """Of the graphs that stand for each class from training graphs, mean over classes."""
    return lambda measured, reality: mean(mmds([graphs for graphs in measured.best if graphs], reality.train, kernel))


def _of_sets(kernel: Kernel) -> Callable[[MeasuredGraphs, Reality], float | None]:
    """Of all graphs from held-out ones."""
    return lambda measured, reality: mmd(measured.plain, reality.held_out, kernel)


# Titles in the paper's layer, titles in the sound one, and what each compares.
_WORDS = {
    "node_type": ("Node types", "Node types", "How far the mix of node types is from that of real graphs (MMD)."),
    "degree": ("Degrees", "Degrees", "The same for how many neighbours nodes have (MMD)."),
    "clustering": (
        "Clustering",
        "Triangles",
        "The same for how often neighbours are neighbours of each other (MMD of clustering).",
    ),
    "spectral": ("Spectrum", "Overall shape", "The same for the spectrum, which sums up the shape of a graph (MMD)."),
}
for _place, (_name, (_of_explanations, _title, _what)) in enumerate(_WORDS.items()):
    declare(
        Metric(f"sound.mmd.{_name}", "structure", 20 + _place, {"structure"}, _of_sets(KERNELS["sound"][_name])),
        Figure(
            _title,
            _what,
            better="lower",
            judge=distance,
            good="at most twice the floor, give or take chance, and nearer than random trees "
            "(at most 1.25 times: whatever they score)",
            high=_LEAST_SCALE,
            terminal="MMD / floor",
            zero_shows=False,
        ),
    )
    _compute = _of_paper(KERNELS["paper"][_name])
    declare(
        Metric(f"paper.mmd.{_name}", "structure", 60 + _place, {"graphs"}, _compute, against="training"),
        Figure(f"{_of_explanations} of explanations (the paper's MMD)", better="lower"),
    )
