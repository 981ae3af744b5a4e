"""BA-3Motif: 3,000 Barabasi-Albert graphs with houses, grids or cycles attached; the motif is the class.

Read from one file, ``BA-3motif.npz``, of plain numpy arrays (``docs/datasets.md`` describes them). The file the
authors of ReFine publish is a pickle, which this library does not open.
"""

from __future__ import annotations

import zipfile

import numpy as np
import torch
from torch_geometric.data import Data

from dignn.core.errors import DatasetUnavailableError
from dignn.core.seeds import Seed
from dignn.graphs.motif import GroundTruth
from dignn.graphs.schema import Schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.raw_sets import MOTIF3_FILES
from dignn.zoo.datasets.shapes import bare_graph, cycle, grid, house
from dignn.zoo.datasets.splits import SPLITS

_CLASSES = ("house", "grid (3x3)", "cycle (5)")
_BASE, _CYCLE = 6, 2
_ARRAYS = ("node_ptr", "edge_ptr", "edge_index", "y", "split")
SIZES = (15, 16, 21, 24, 26)  # sizes that occur: 6 base nodes and 2 to 4 houses or cycles, or 1 to 2 grids


def load(*, seed: int = 0, download: bool = False) -> Dataset:
    """Graphs with constant ``x`` and both directions of every edge; the stored split. No download exists.

    Raises:
        DatasetUnavailableError: the file is not here, or is not what it should be.
    """
    raw = MOTIF3_FILES.find(download=download)
    path = raw / MOTIF3_FILES.files[0]
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name].astype(np.int64) for name in _ARRAYS}
        graphs = [_graph(arrays, number) for number in range(len(arrays["y"]))]
    except (KeyError, ValueError, IndexError, AttributeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DatasetUnavailableError(
            f"{path} is not BA-3Motif as plain numpy arrays ({error!r}); put one in its place as docs/datasets.md says"
        ) from error
    classes = MOTIF3_FILES.names(raw, "classes", "graph", len(_CLASSES)) or _CLASSES
    return _dataset(graphs, arrays["split"], classes)


def make(*, seed: int, download: bool = False) -> Dataset:
    """As many graphs by the same recipe, every fifth for validation or test; ``download`` has no effect."""
    graphs = made(seed)
    return _dataset(graphs, np.resize([0, 0, 0, 0, 0, 0, 0, 0, 1, 2], len(graphs)), _CLASSES)


def _dataset(graphs: list[Data], split: np.ndarray, classes: tuple[str, ...]) -> Dataset:
    return Dataset(
        name=MOTIF3_FILES.name,
        data=graphs,
        schema=Schema.from_graphs(graphs, classes=classes),
        splits={part: torch.from_numpy(np.flatnonzero(split == code)) for code, part in enumerate(SPLITS)},
        sizes=SIZES,
        truth=GroundTruth(motifs=((house(),), (grid(3),), (cycle(5),))),
    )


def made(seed: int, count: int = 1000) -> list[Data]:
    """Graphs that nobody has seen, by the recipe that the file was made by: ``count`` of each class.

    To a Barabasi-Albert graph of 6 nodes (5 links a node, 3 for grids) 2 to 4 houses or cycles, or 1 to 3 grids, are
    joined, evenly spread, by their first nodes; half of the cycles by a second node as well. Then one pair of nodes for
    every ten edges is drawn, and joined unless both are in motifs. Found by counting in the file: numbers of links,
    their ends and the share of random edges agree with it for every class and number of motifs.
    """
    rng = Seed(seed).child("data", "ba-3motif").numpy()
    return [_made(label, rng) for label in range(len(_CLASSES)) for _ in range(count)]


def _made(label: int, rng: np.random.Generator) -> Data:
    motif, links, fewest = ((house(), 5, 2), (grid(3), 3, 1), (cycle(5), 5, 2))[label]
    number = fewest + int(rng.integers(3))
    edges = _base(links, rng)
    size = len(motif.node_types)
    nodes = _BASE + size * number
    for place in range(number):
        first, anchor = _BASE + size * place, place * (_BASE // number)
        edges |= {(first + u, first + v) if u < v else (first + v, first + u) for u, v in motif.edges}
        edges.add((anchor, first))
        if label == _CYCLE and rng.random() < 0.5:
            one, other = first + int(rng.integers(1, 4)), anchor + int(rng.integers(1, 4))
            edges.add((min(one, other), max(one, other)))
    for _ in range(len(edges) // 10):
        low = high = 0
        while low == high or (low, high) in edges:
            low, high = sorted(rng.integers(nodes, size=2).tolist())
        if low < _BASE:
            edges.add((low, high))
    return bare_graph(nodes, np.array(sorted(edges), dtype=np.int64).T, np.array([label]))


def _base(links: int, rng: np.random.Generator) -> set[tuple[int, int]]:
    """The first node to come is joined to all before it, each later one to ``links`` by preference for high degrees."""
    edges: set[tuple[int, int]] = {(node, links) for node in range(links)}
    for node in range(links + 1, _BASE):
        ends = [end for edge in sorted(edges) for end in edge]
        chosen: set[int] = set()
        while len(chosen) < links:
            chosen.add(int(rng.choice(ends)))
        edges |= {(other, node) for other in chosen}
    return edges


def _graph(arrays: dict[str, np.ndarray], number: int) -> Data:
    nodes = int(arrays["node_ptr"][number + 1] - arrays["node_ptr"][number])
    once = arrays["edge_index"][:, arrays["edge_ptr"][number] : arrays["edge_ptr"][number + 1]]
    return bare_graph(nodes, once, arrays["y"][[number]])
