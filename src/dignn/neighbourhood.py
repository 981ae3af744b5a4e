"""The class around a node: what links the features of neighbours to the structure's classes.

A target node has its own class. Any other node has the mean of the classes around its neighbours that are
nearer to a target node: papers take their authors' classes, conferences their papers'. In graph
classification every node has the class of its graph. Where no labelled node is in reach, all entries are zero.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import one_hot

from dignn.batch import GraphBatch
from dignn.sampling import Adjacency


def class_around_data(data: Adjacency) -> Tensor:
    """(n, C) for every node of a large graph."""
    classes = data.schema.num_classes
    label = data.graph_label if data.schema.target is None else data.label
    around = _one_hot(torch.from_numpy(label), classes).numpy()
    if data.schema.target is None:
        return torch.from_numpy(around)
    size = len(data.node_type)
    joined = csr_array(
        (np.ones(len(data.neighbour), dtype=np.float32), data.neighbour, data.indptr), shape=(size, size)
    )
    known = around.sum(1) > 0
    open_nodes = data.node_type != data.schema.target_index
    while True:
        count = joined @ known.astype(np.float32)
        new = open_nodes & ~known & (count > 0)
        if not new.any():
            return torch.from_numpy(around)
        around[new] = (joined[new] @ around) / count[new, None]
        known |= new


def class_around_batch(batch: GraphBatch) -> Tensor:
    """(B, N, C) for every node of a batch; zero on padding."""
    classes = batch.schema.num_classes
    if batch.schema.target is None:
        return _one_hot(batch.graph_label, classes)[:, None, :] * batch.mask[:, :, None]
    around = _one_hot(batch.label, classes)
    joined = batch.undirected.float()
    known = around.sum(2) > 0
    open_nodes = batch.mask & ~batch.target_mask
    while True:
        count = joined @ known.float()[:, :, None]  # (B, N, 1)
        new = open_nodes & ~known & (count[:, :, 0] > 0)
        if not new.any():
            return around
        around = torch.where(new[:, :, None], (joined @ around) / count.clamp_min(1), around)
        known = known | new


def _one_hot(label: Tensor, classes: int) -> Tensor:
    """One-hot rows; zero where the label is -1."""
    return one_hot(label.clamp_min(0), classes).float() * (label >= 0)[..., None]
