"""Step 3: which graphs are consistent with the metagraph and connected (appendix "Postprocessing" of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
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
    count, size = batch.node_type.shape
    if not size:
        return torch.zeros(count, dtype=torch.bool)
    reach = batch.undirected | torch.eye(size, dtype=torch.bool)
    for _ in range(max(1, (size - 1).bit_length())):  # paths of length 1, 2, 4, ...
        reach = (reach.float() @ reach.float()) > 0
    pair = batch.mask[:, :, None] & batch.mask[:, None, :]
    return (reach | ~pair).flatten(1).all(1) & batch.mask.any(1)
