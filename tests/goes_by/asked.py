"""Models that answer by a rule which is known, as PyTorch modules that can be asked about any graph."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from goes_by.answered import SCHEMA, WORDS, answered, of_margin

_WRITES = ("author", "writes", "paper")


class ByWords(nn.Module):
    """Two classes; the log-odds of the second are so much for each word of the author, and for a paper with "a".

    Args:
        paper: for a paper with "a", however many there are.
        words: for each word.
    """

    def __init__(self, paper: float, **words: float) -> None:
        super().__init__()
        self._paper = paper
        self._words = torch.tensor([words.get(word, 0.0) for word in WORDS])

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[tuple[str, str, str], Tensor]) -> Tensor:
        author, paper = edge_index_dict[_WRITES]
        carrying = torch.zeros(len(x_dict["author"])).index_add_(0, author, x_dict["paper"][paper, 0])
        margin = x_dict["author"] @ self._words + self._paper * (carrying > 0) - 1.5
        return torch.stack([-margin / 2, margin / 2], dim=1)


def asked(model: nn.Module, *, copied: bool = False) -> tuple[GraphBatch, Scores, GNNAdapter]:
    """An author with up to three papers in each graph, and what a model says of it.

    ``copied``: whether "remote" is there exactly where "query" is.
    """
    batch, _ = answered(lambda words, carries: of_margin(words[:, 0].astype(float)))
    if copied:
        batch.tables["author"][:, WORDS.index("remote")] = batch.tables["author"][:, WORDS.index("query")]
    adapter = GNNAdapter(model, SCHEMA)
    return batch, adapter.score(batch), adapter
