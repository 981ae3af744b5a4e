"""BA-3Motif: 3,000 Barabasi-Albert graphs with houses, grids or cycles attached; the motif is the class.

Read from one file, ``BA-3motif.npz``, of plain numpy arrays (``docs/datasets.md`` describes them). The file the
authors of ReFine publish is a pickle, which this library does not open.
"""

from __future__ import annotations

import zipfile

import numpy as np
import torch
from torch_geometric.data import Data

from dignn.data.base import Dataset, GroundTruth
from dignn.data.files import RawSet
from dignn.data.motifs import cycle, grid, house
from dignn.data.splits import PARTS
from dignn.errors import DatasetUnavailableError
from dignn.schema import Schema

MOTIF3_FILES = RawSet(name="ba-3motif", title="BA-3Motif", folder="BA3", files=("BA-3motif.npz",))

_CLASSES = ("house", "grid (3x3)", "cycle (5)")
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
    return Dataset(
        name=MOTIF3_FILES.name,
        data=graphs,
        schema=Schema.from_graphs(graphs, classes=classes),
        splits={part: torch.from_numpy(np.flatnonzero(arrays["split"] == code)) for code, part in enumerate(PARTS)},
        sizes=SIZES,
        truth=GroundTruth(motifs=((house(),), (grid(3),), (cycle(5),))),
    )


def _graph(arrays: dict[str, np.ndarray], number: int) -> Data:
    nodes = int(arrays["node_ptr"][number + 1] - arrays["node_ptr"][number])
    once = arrays["edge_index"][:, arrays["edge_ptr"][number] : arrays["edge_ptr"][number + 1]]
    both = np.concatenate([once, once[::-1]], axis=1)
    both = both[:, np.lexsort((both[1], both[0]))]
    return Data(x=torch.ones(nodes, 1), edge_index=torch.from_numpy(both), y=torch.tensor([int(arrays["y"][number])]))
