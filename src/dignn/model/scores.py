"""What a model says about target nodes or graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from dignn.graphs.batch import GraphBatch
from dignn.graphs.tasks.base import Task


@dataclass(frozen=True, eq=False)
class Scores:
    """What the model says about m target nodes, or m graphs.

    Args:
        graph: (m,) which graph of the batch.
        node: (m,) position of the target node; -1 where the answer is about the graph.
        logits: (m, C) raw scores of the classes.
        embedding: (m, D) what the model's last linear layer sees, or the logits where there is none.
        task: says what the raw scores mean.
    """

    graph: Tensor
    node: Tensor
    logits: Tensor
    embedding: Tensor
    task: Task

    def __len__(self) -> int:
        return len(self.graph)

    def __getitem__(self, rows: Tensor) -> Scores:
        """Some of them, by number or by a mask."""
        return Scores(self.graph[rows], self.node[rows], self.logits[rows], self.embedding[rows], self.task)

    @staticmethod
    def cat(parts: Sequence[Scores], first: Sequence[int]) -> Scores:
        """Those of several batches as if of one; ``first[i]`` is the number in it of the first graph of batch i."""
        graph = torch.cat([part.graph + start for part, start in zip(parts, first, strict=True)])
        node, logits, embedding = (
            torch.cat([getattr(part, name) for part in parts]) for name in ("node", "logits", "embedding")
        )
        return Scores(graph, node, logits, embedding, parts[0].task)

    @cached_property
    def probability(self) -> Tensor:
        """(m, C)"""
        return self.task.probability(self.logits)

    @cached_property
    def log_odds(self) -> Tensor:
        """(m, C) log p / (1 - p): orders like the probability, and still tells scores apart near 1."""
        return self.task.log_odds(self.logits)

    @cached_property
    def predicted(self) -> Tensor:
        """(m,) the class that the model gives."""
        return self.logits.argmax(1)

    def labels(self, batch: GraphBatch) -> Tensor:
        """(m,) the class that the batch gives what is scored; -1 where unknown."""
        return self.task.labels(batch, self.graph, self.node)

    def identities(self, batch: GraphBatch) -> Tensor:
        """(m,) which nodes (or graphs) of the data are scored; -1 where they are not of the data."""
        return self.task.identities(batch, self.graph, self.node)
