"""The raw files of the data sets that are not generated. Loads nothing heavy: what is here is known at once."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dignn.zoo.datasets.raw_files import RawSet


def _pyg() -> Any:
    """PyTorch Geometric's dataset classes."""
    return import_module("torch_geometric.datasets")


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
    url="https://www.dropbox.com/s/yh4grpeks87ugr2/DBLP_processed.zip?dl=1",
    open=lambda root: _pyg().DBLP(root),
)
IMDB_FILES = RawSet(
    name="imdb",
    title="IMDB",
    folder="IMDB",
    files=("adjM.npz", "features_0.npz", "features_1.npz", "features_2.npz", "labels.npy", "train_val_test_idx.npz"),
    url="https://www.dropbox.com/s/g0btk9ctr1es39x/IMDB_processed.zip?dl=1",
    open=lambda root: _pyg().IMDB(root),
)
MUTAG_FILES = RawSet(
    name="mutag",
    title="MUTAG",
    folder="MUTAG",
    files=tuple(f"MUTAG_{part}.txt" for part in ("A", "edge_labels", "graph_indicator", "graph_labels", "node_labels")),
    url="https://www.chrsmrrs.com/graphkerneldatasets/MUTAG.zip",
    open=lambda root: _pyg().TUDataset(root, name="MUTAG"),
    subfolder="MUTAG",
)
MOTIF3_FILES = RawSet(name="ba-3motif", title="BA-3Motif", folder="BA3", files=("BA-3motif.npz",))
