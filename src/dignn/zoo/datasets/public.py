"""DBLP and IMDB (heterogeneous graphs, nodes are classified) and MUTAG (molecules, graphs are classified).

The files are read by PyTorch Geometric's own dataset classes, which can also download them. Class names, atoms
and bonds are in the data sets' descriptions and so are known here; words and titles are read from text files beside
the raw files, where there are any (:mod:`dignn.zoo.datasets.raw_files`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData

from dignn.core.seeds import Seed
from dignn.graphs.schema import Schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.raw_files import RawSet
from dignn.zoo.datasets.raw_sets import DBLP_FILES, IMDB_FILES, MUTAG_FILES
from dignn.zoo.datasets.splits import EIGHTY_TEN_TEN, SPLITS, stratified_split

_DBLP_CLASSES = ("Database", "Data Mining", "Artificial Intelligence", "Information Retrieval")
_IMDB_CLASSES = ("Action", "Comedy", "Drama")
_MUTAG_CLASSES = ("non-mutagenic", "mutagenic")
_ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")
_BONDS = ("aromatic", "single", "double", "triple")


def load_dblp(*, seed: int = 0, download: bool = False) -> Dataset:
    """Authors, papers, terms and conferences; authors are classified by research area. Published split.

    The 20 conferences have no features in the files; here they carry identity (a one-hot row each), because
    conferences say most about an author's area.
    """
    raw = DBLP_FILES.find(download=download)
    data = cast(HeteroData, DBLP_FILES.read(raw)[0])
    data["conference"].x = torch.eye(_count(data, "conference"))
    del data["conference"].num_nodes  # x tells it
    columns = {
        "author": DBLP_FILES.names(raw, "vocabulary", "author", data["author"].x.size(1)),
        "paper": DBLP_FILES.names(raw, "vocabulary", "paper", data["paper"].x.size(1)),
        "conference": DBLP_FILES.names(raw, "names", "conference", _count(data, "conference")),
    }
    return _node_dataset(DBLP_FILES, raw, data, "author", range(10, 16), _DBLP_CLASSES, columns)


def load_imdb(*, seed: int = 0, download: bool = False) -> Dataset:
    """Movies, directors and actors; movies are classified by genre. Published split.

    Directors' and actors' columns are means of their movies' word counts, so they have the movies' names.
    """
    raw = IMDB_FILES.find(download=download)
    data = cast(HeteroData, IMDB_FILES.read(raw)[0])
    words = IMDB_FILES.names(raw, "vocabulary", "movie", data["movie"].x.size(1))
    columns = dict.fromkeys(data.node_types, words)
    return _node_dataset(IMDB_FILES, raw, data, "movie", range(5, 11), _IMDB_CLASSES, columns)


def load_mutag(*, seed: int = 0, download: bool = False) -> Dataset:
    """Molecules with atom types (one-hot ``x``) and bond types (one-hot ``edge_attr``); 80/10/10 split by ``seed``."""
    raw = MUTAG_FILES.find(download=download)
    graphs = [cast(Data, graph) for graph in MUTAG_FILES.read(raw)]
    schema = Schema.from_graphs(
        graphs,
        type_names=MUTAG_FILES.names(raw, "vocabulary", "atom", len(_ATOMS)) or _ATOMS,
        edge_names=MUTAG_FILES.names(raw, "vocabulary", "bond", len(_BONDS)) or _BONDS,
        classes=MUTAG_FILES.names(raw, "classes", "graph", len(_MUTAG_CLASSES)) or _MUTAG_CLASSES,
    )
    labels = np.array([int(graph.y) for graph in graphs])
    splits = stratified_split(labels, EIGHTY_TEN_TEN, Seed(seed).child("data", "mutag"))
    return Dataset("mutag", graphs, schema, splits, sizes=tuple(range(10, 29)))


def load_mutag_untyped(*, seed: int = 0, download: bool = False) -> Dataset:
    """The bare graphs of MUTAG: constant ``x``, no bond types. Same split as ``mutag``."""
    typed = load_mutag(seed=seed, download=download)
    graphs = [
        Data(x=torch.ones(int(graph.num_nodes), 1), edge_index=graph.edge_index, y=graph.y)
        for graph in cast(list[Data], typed.data)
    ]
    schema = Schema.from_graphs(graphs, classes=typed.schema.classes)
    return replace(typed, name="mutag-untyped", data=graphs, schema=schema)


def _node_dataset(
    files: RawSet,
    raw: Path,
    data: HeteroData,
    target: str,
    sizes: range,
    classes: tuple[str, ...],
    columns: Mapping[str, tuple[str, ...] | None],
) -> Dataset:
    """With the names that are beside the files in ``raw``; ``classes`` are those of the data set's description."""
    classes = files.names(raw, "classes", target, len(classes)) or classes
    names = {kind: words for kind, words in columns.items() if words is not None}
    members = {kind: files.names(raw, "names", kind, _count(data, kind)) for kind in data.node_types}
    return Dataset(
        name=files.name,
        data=data,
        schema=Schema.from_hetero(data, target, names=names, classes=classes),
        splits={part: data[target][f"{part}_mask"].nonzero().flatten() for part in SPLITS},
        sizes=tuple(sizes),
        members={kind: titles for kind, titles in members.items() if titles is not None},
    )


def _count(data: HeteroData, node_type: str) -> int:
    return int(data[node_type].num_nodes or 0)
