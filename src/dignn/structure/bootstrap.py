"""Control: real graphs, drawn with replacement. Perfectly realistic, never new."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema
from dignn.structure.base import Guide, StructureGenerator
from dignn.structure.registry import STRUCTURE_GENERATORS

_FIELDS = ("node_type", "edge", "label", "graph_label", "row")


@STRUCTURE_GENERATORS.register("bootstrap")
class BootstrapStructure(StructureGenerator):
    """Repeats training graphs. What a perfect generator would score, apart from novelty. Guides are not heard."""

    _graphs: GraphBatch

    def _fit(self, graphs: GraphBatch, seed: Seed, tick: Tick) -> GraphBatch:
        self._graphs = graphs
        return graphs

    def _sample(self, sizes: list[int], seed: Seed, tick: Tick, guide: Guide | None) -> GraphBatch:
        rng = seed.numpy()
        known = self._graphs.sizes.numpy()
        chosen = [int(rng.choice((known == size).nonzero()[0])) for size in sizes]
        tick(len(sizes), len(sizes))
        return self._graphs[torch.tensor(chosen, dtype=torch.long)]

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        return {name: getattr(self._graphs, name) for name in _FIELDS}, {}

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any], schema: Schema) -> None:
        node_type, edge, label, graph_label, row = (tensors[name] for name in _FIELDS)
        self._graphs = GraphBatch(schema, node_type, edge, label, graph_label, row)
