"""Step 3: which graphs are consistent with the metagraph and connected (appendix "Postprocessing" of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from dignn.graphs.batch import GraphBatch


@dataclass(frozen=True)
class Validity:
    """(B,) flags of generated graphs."""

    connected: Tensor
    consistent: Tensor

    @property
    def valid(self) -> Tensor:
        return self.connected & self.consistent

    def counts(self) -> dict[str, int]:
        """The paper's validity table: generated, connected, and of those consistent with the metagraph."""
        return {
            "generated": len(self.connected),
            "connected": int(self.connected.sum()),
            "valid": int(self.valid.sum()),
        }


def check_validity(batch: GraphBatch) -> Validity:
    """Which graphs are connected, and which are consistent with the metagraph."""
    return Validity(connected(batch), consistent(batch))


def consistent(batch: GraphBatch) -> Tensor:
    """Whether the metagraph of each graph is a subgraph of the schema's.  (B,)

    That is: every edge joins types that its relation joins in the data. Relations need not all be present.
    """
    allowed = torch.from_numpy(batch.schema.allowed)
    types = batch.node_type.clamp_min(0)
    fits = allowed[types[:, :, None], types[:, None, :], batch.edge]
    return (fits | (batch.edge == 0)).flatten(1).all(1)


def connected(batch: GraphBatch) -> Tensor:
    """Whether each graph has at least one node and one component.  (B,)"""
    if not batch.node_type.size(1):
        return torch.zeros(len(batch), dtype=torch.bool)
    found = components(batch)
    last = found.amax(1)
    return (last >= 0) & ((found == last[:, None]) | ~batch.mask).all(1)


def components(batch: GraphBatch) -> Tensor:
    """(B, N) a number for each node that nodes share if a path joins them, of all graphs different; -1 on padding."""
    count, size = batch.node_type.shape
    graph, u, v = (part.numpy() for part in batch.undirected.nonzero(as_tuple=True))
    ends = (np.ones(len(graph), dtype=bool), (graph * size + u, graph * size + v))
    _, found = connected_components(csr_array(ends, shape=(count * size,) * 2), directed=False)
    return torch.from_numpy(found).view(count, size).long().masked_fill(~batch.mask, -1)
