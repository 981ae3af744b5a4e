"""DBLP and IMDB (heterogeneous graphs, nodes are classified) and MUTAG (molecules, graphs are classified).

The files are read by PyTorch Geometric's own dataset classes, which can also download them. Class names, atoms
and bonds are in the data sets' descriptions and so are known here; words and titles are read from text files beside
the raw files, where there are any (:mod:`dignn.data.files`).
"""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.datasets import DBLP, IMDB, TUDataset

from dignn.data.base import Dataset
from dignn.data.files import RawSet
from dignn.data.splits import EIGHTY_TEN_TEN, PARTS, stratified_split
from dignn.runtime.seeds import Seed
from dignn.schema import Schema

_DBLP_CLASSES = ("Database", "Data Mining", "Artificial Intelligence", "Information Retrieval")
_IMDB_CLASSES = ("Action", "Comedy", "Drama")
_MUTAG_CLASSES = ("non-mutagenic", "mutagenic")
_ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")
_BONDS = ("aromatic", "single", "double", "triple")

DBLP_FILES = RawSet(
    name="dblp",
    title="DBLP",
    folder="DBLP",
    files=(
        "adjM.npz",
        "features_0.npz",
        "features_1.npz",
        "features_2.npy",
        "labels.npy",
        "node_types.npy",
        "train_val_test_idx.npz",
    ),
    url=DBLP.url,
    open=DBLP,
)
IMDB_FILES = RawSet(
    name="imdb",
    title="IMDB",
    folder="IMDB",
    files=(
        "adjM.npz",
        "features_0.npz",
        "features_1.npz",
        "features_2.npz",
        "labels.npy",
        "train_val_test_idx.npz",
    ),
    url=IMDB.url,
    open=IMDB,
)
MUTAG_FILES = RawSet(
    name="mutag",
    title="MUTAG",
    folder="MUTAG",
    files=tuple(f"MUTAG_{part}.txt" for part in ("A", "edge_labels", "graph_indicator", "graph_labels", "node_labels")),
    url=f"{TUDataset.url}/MUTAG.zip",
    open=lambda root: TUDataset(root, name="MUTAG"),
    subfolder="MUTAG",
)


def load_dblp(*, seed: int = 0, download: bool = False) -> Dataset:
    """Authors, papers, terms and conferences; authors are classified by research area. Published split.

    The 20 conferences have no features in the files; here they carry identity (a one-hot row each), because
    conferences say most about an author's area.
    """
    raw = DBLP_FILES.find(download=download)
    data = cast(HeteroData, DBLP_FILES.read(raw)[0])
    data["conference"].x = torch.eye(_count(data, "conference"))
    del data["conference"].num_nodes  # x tells it
    return _node_dataset(
        DBLP_FILES.name,
        data,
        "author",
        sizes=tuple(range(10, 16)),
        classes=DBLP_FILES.names(raw, "classes", "author", len(_DBLP_CLASSES)) or _DBLP_CLASSES,
        columns={
            "author": DBLP_FILES.names(raw, "vocabulary", "author", data["author"].x.size(1)),
            "paper": DBLP_FILES.names(raw, "vocabulary", "paper", data["paper"].x.size(1)),
            "conference": DBLP_FILES.names(raw, "names", "conference", _count(data, "conference")),
        },
        members={kind: DBLP_FILES.names(raw, "names", kind, _count(data, kind)) for kind in data.node_types},
    )


def load_imdb(*, seed: int = 0, download: bool = False) -> Dataset:
    """Movies, directors and actors; movies are classified by genre. Published split.

    Directors' and actors' columns are means of their movies' word counts, so they have the movies' names.
    """
    raw = IMDB_FILES.find(download=download)
    data = cast(HeteroData, IMDB_FILES.read(raw)[0])
    words = IMDB_FILES.names(raw, "vocabulary", "movie", data["movie"].x.size(1))
    return _node_dataset(
        IMDB_FILES.name,
        data,
        "movie",
        sizes=tuple(range(5, 11)),
        classes=IMDB_FILES.names(raw, "classes", "movie", len(_IMDB_CLASSES)) or _IMDB_CLASSES,
        columns=dict.fromkeys(data.node_types, words),
        members={kind: IMDB_FILES.names(raw, "names", kind, _count(data, kind)) for kind in data.node_types},
    )


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
    return Dataset("mutag", graphs, schema, _mutag_splits(graphs, seed), sizes=tuple(range(10, 29)))


def load_mutag_untyped(*, seed: int = 0, download: bool = False) -> Dataset:
    """The bare graphs of MUTAG: constant ``x``, no bond types. Same split as ``mutag``."""
    raw = MUTAG_FILES.find(download=download)
    graphs = [
        Data(x=torch.ones(int(graph.num_nodes), 1), edge_index=graph.edge_index, y=graph.y)
        for graph in MUTAG_FILES.read(raw)
    ]
    classes = MUTAG_FILES.names(raw, "classes", "graph", len(_MUTAG_CLASSES)) or _MUTAG_CLASSES
    schema = Schema.from_graphs(graphs, classes=classes)
    return Dataset("mutag-untyped", graphs, schema, _mutag_splits(graphs, seed), sizes=tuple(range(10, 29)))


def _node_dataset(
    name: str,
    data: HeteroData,
    target: str,
    *,
    sizes: tuple[int, ...],
    classes: tuple[str, ...],
    columns: dict[str, tuple[str, ...] | None],
    members: dict[str, tuple[str, ...] | None],
) -> Dataset:
    names = {kind: words for kind, words in columns.items() if words is not None}
    return Dataset(
        name=name,
        data=data,
        schema=Schema.from_hetero(data, target, names=names, classes=classes),
        splits={part: data[target][f"{part}_mask"].nonzero().flatten() for part in PARTS},
        sizes=sizes,
        members={kind: titles for kind, titles in members.items() if titles is not None},
    )


def _count(data: HeteroData, node_type: str) -> int:
    return int(data[node_type].num_nodes or 0)


def _mutag_splits(graphs: list[Data], seed: int) -> dict[str, torch.Tensor]:
    labels = np.array([int(graph.y) for graph in graphs])
    return stratified_split(labels, EIGHTY_TEN_TEN, Seed(seed).child("data", "mutag"))
