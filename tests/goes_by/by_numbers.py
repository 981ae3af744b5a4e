"""A model of several classes that answers by numbers of the author, of which half do nothing and go with the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from goes_by.answered import SCHEMA, WORDS, additive, answered

_ACTING = len(WORDS) // 2


class ByNumbers(nn.Module):
    """Scores of classes are sums of bends and waves of the first four numbers.

    Args:
        classes: how many there are.
        seed: of the weights.
    """

    def __init__(self, classes: int, seed: int) -> None:
        super().__init__()
        drawn = torch.Generator().manual_seed(seed)
        self._bend = torch.randn(_ACTING, classes, generator=drawn)
        self._wave = torch.randn(_ACTING, classes, generator=drawn)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[tuple[str, str, str], Tensor]) -> Tensor:
        numbers = x_dict["author"][:, :_ACTING]
        return 1.5 * torch.tanh(numbers @ self._bend) + torch.sin(2 * numbers) @ self._wave


def with_numbers(classes: int = 4, seed: int = 0) -> tuple[GraphBatch, Scores, GNNAdapter]:
    """Graphs whose authors have numbers in place of words, of which the last four follow the first."""
    graphs, _ = answered(additive)
    spec = FeatureSpec(FeatureKind.CONTINUOUS, len(WORDS), names=WORDS)
    names = tuple(f"class {number}" for number in range(classes))
    schema = replace(SCHEMA, features=(spec, SCHEMA.features[1]), classes=names)
    values = np.random.default_rng(seed).normal(size=(len(graphs), len(WORDS)))
    values[:, _ACTING:] = 0.8 * values[:, :_ACTING] + 0.6 * values[:, _ACTING:]
    tables = {**graphs.tables, "author": torch.from_numpy(values.astype(np.float32))}
    graphs = replace(graphs, schema=schema, tables=tables)
    adapter = GNNAdapter(ByNumbers(classes, seed), schema)
    return graphs, adapter.score(graphs), adapter
