"""How people in graph generation measure sets of graphs: valid, unique and novel ones, and ratios of MMDs.

Each graph is told by numbers: shares of degrees, of clustering coefficients (100 bins), of eigenvalues of the
normalised Laplacian (200 bins), mean numbers of the 15 orbits of graphlets of up to four nodes, and shares of the
energies of twelve spectral wavelets at each node (100 bins). Two graphs are alike by exp(-v^2 / (2 sigma^2)) for half
the sum v of absolute differences, sets by the biased squared MMD. A *ratio* is the MMD of generated from test graphs
over that of training from test graphs; the mean over all metrics whose training MMD is not 0 to four decimals is what
people compare (Bergmeister et al. 2024).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean

import igraph
import networkx as nx
import numpy as np

Describe = Callable[[nx.Graph], np.ndarray]

# Orbits by graphlet: how many of its nodes are in each, in the usual order; graphlets are edge lists.
_GRAPHLETS: tuple[tuple[tuple[tuple[int, int], ...], tuple[int, ...]], ...] = (
    (((0, 1), (1, 2)), (2, 1)),
    (((0, 1), (1, 2), (0, 2)), (3,)),
    (((0, 1), (1, 2), (2, 3)), (2, 2)),
    (((0, 1), (0, 2), (0, 3)), (3, 1)),
    (((0, 1), (1, 2), (2, 3), (0, 3)), (4,)),
    (((0, 1), (1, 2), (0, 2), (2, 3)), (1, 2, 1)),
    (((0, 1), (1, 2), (2, 3), (0, 3), (0, 2)), (2, 2)),
    (((0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (1, 3)), (4,)),
)
WAVELETS, _LARGEST_EIGENVALUE = 12, 2.0


def degree_shares(graph: nx.Graph) -> np.ndarray:
    found = np.bincount([degree for _, degree in graph.degree]).astype(float)
    return found / found.sum()


def clustering_shares(graph: nx.Graph) -> np.ndarray:
    return _shares(np.array(list(nx.clustering(graph).values())), 100, 0.0, 1.0)


def spectrum_shares(graph: nx.Graph) -> np.ndarray:
    return _shares(_eigen(graph)[0], 200, -1e-5, 2.0)


def orbit_means(graph: nx.Graph) -> np.ndarray:
    """(15,) how often a mean node is in each orbit of the graphlets of two to four nodes.

    Orbits of all nodes together follow from the numbers of graphlets, which igraph counts.
    """
    found = igraph.Graph(len(graph), [*nx.convert_node_labels_to_integers(graph).edges])
    counts = {size: np.nan_to_num(found.motifs_randesu(size)) for size in (3, 4)}
    totals = [2.0 * graph.number_of_edges()]
    for edges, members in _GRAPHLETS:
        graphlet = igraph.Graph(edges=edges)
        number = counts[graphlet.vcount()][graphlet.isoclass()]
        totals += [number * each for each in members]
    return np.array(totals) / len(graph)


def wavelet_shares(graph: nx.Graph) -> np.ndarray:
    """Shares of the energies that twelve spectral wavelets (Hammond et al. 2011) have at the graph's nodes."""
    most = float(wavelets(np.arange(0, _LARGEST_EIGENVALUE, 0.01)).max())
    counts = [np.histogram(own, 100, (0.0, most))[0] for own in wavelet_energies(graph)]
    found = np.concatenate(counts).astype(float)
    return found / max(found.sum(), 1.0)


def wavelet_energies(graph: nx.Graph) -> np.ndarray:
    """(12, n) the squared length of each wavelet around each node."""
    value, vector = _eigen(graph)
    return wavelets(value) ** 2 @ vector.T**2


def wavelets(value: np.ndarray) -> np.ndarray:
    """(12, n) cubic-spline wavelets at eigenvalues (n,): a scaling function, then from coarse to fine."""
    least = _LARGEST_EIGENVALUE / 20
    scales = np.geomspace(2 / least, 1 / _LARGEST_EIGENVALUE, WAVELETS - 1)
    found = np.stack([_spline(scale * value) for scale in scales])
    height = _spline(np.linspace(1, 2, 1001)).max()
    return np.concatenate([height * np.exp(-((value / (0.4 * least)) ** 4))[None], found])


def _spline(x: np.ndarray) -> np.ndarray:
    """x^2 up to 1, 4 / x^2 from 2 on, and between them the cubic that joins both smoothly."""
    middle = -5 + 11 * x - 6 * x**2 + x**3
    return np.where(x < 1, x**2, np.where(x <= 2, middle, 4 / np.maximum(x, 1e-9) ** 2))


def _eigen(graph: nx.Graph) -> tuple[np.ndarray, np.ndarray]:
    return np.linalg.eigh(nx.normalized_laplacian_matrix(graph).toarray())


def _shares(values: np.ndarray, bins: int, least: float, most: float) -> np.ndarray:
    found = np.histogram(values, bins, (least, most))[0].astype(float)
    return found / max(found.sum(), 1.0)


# What graphs are told by, and sigma.
METRICS: dict[str, tuple[Describe, float]] = {
    "degree": (degree_shares, 1.0),
    "clustering": (clustering_shares, 0.1),
    "orbit": (orbit_means, 30.0),
    "spectrum": (spectrum_shares, 1.0),
    "wavelet": (wavelet_shares, 1.0),
}
# An MMD of training graphs that is 0 to so many decimals tells nothing of the set.
_DECIMALS = 4


@dataclass(frozen=True)
class Ratios:
    """MMDs of generated from test graphs, those of training graphs, and the mean of their ratios."""

    generated: dict[str, float]
    training: dict[str, float]

    @property
    def ratio(self) -> float:
        return mean(self.generated[name] / floor for name, floor in self.training.items() if round(floor, _DECIMALS))


def ratios(
    generated: Sequence[nx.Graph], training: Sequence[nx.Graph], test: Sequence[nx.Graph], draws: int, seed: int
) -> Ratios:
    """MMDs from the test graphs of all training graphs, and of as many generated graphs as there are test graphs.

    Of generated graphs the mean over ``draws`` random choices: a single one varies by as much as its value. Fewer
    graphs have a larger MMD, so even other real graphs have a ratio above 1.
    """
    rng = np.random.default_rng(seed)
    size = min(len(test), len(generated))
    chosen = [rng.choice(len(generated), size, replace=False) for _ in range(draws)]
    found: list[dict[str, float]] = [{}, {}]
    for name, (describe, sigma) in METRICS.items():
        rows = [describe(graph) for graphs in (generated, training, test) for graph in graphs]
        width = max(map(len, rows))
        table = np.stack([np.pad(row, (0, width - len(row))) for row in rows])
        made, known, real = np.split(table, np.cumsum([len(generated), len(training)]))
        among = _kernel(real, real, sigma).mean()
        inside, across = _kernel(made, made, sigma), _kernel(made, real, sigma)
        parts = [inside[np.ix_(some, some)].mean() + among - 2 * across[some].mean() for some in chosen]
        found[0][name] = float(np.mean(parts))
        found[1][name] = float(_kernel(known, known, sigma).mean() + among - 2 * _kernel(known, real, sigma).mean())
    return Ratios(*found)


def _kernel(one: np.ndarray, other: np.ndarray, sigma: float) -> np.ndarray:
    apart = np.stack([0.5 * np.abs(other - row).sum(1) for row in one])
    return np.exp(-(apart**2) / (2 * sigma**2))
