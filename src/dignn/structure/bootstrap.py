"""Control: real graphs, drawn with replacement. Perfectly realistic, never new."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from dignn.batch import GraphBatch
from dignn.errors import DignnError
from dignn.runtime.progress import Tick, silent
from dignn.runtime.seeds import Seed
from dignn.structure.base import STRUCTURE_GENERATORS


@STRUCTURE_GENERATORS.register("bootstrap")
class BootstrapStructure:
    """Repeats training graphs. What a perfect generator would score, apart from novelty."""

    def __init__(self) -> None:
        self._graphs: GraphBatch | None = None

    def fit(self, graphs: GraphBatch, *, seed: Seed, tick: Tick = silent) -> BootstrapStructure:
        if not len(graphs):
            raise DignnError("There are no training graphs; sample some first")
        self._graphs = graphs.without_features()
        return self

    def sample(self, sizes: Sequence[int], *, seed: Seed, tick: Tick = silent) -> GraphBatch:
        if self._graphs is None:
            raise DignnError("This generator has not learned anything yet; call fit first")
        rng = seed.numpy()
        known = self._graphs.sizes.numpy()
        chosen = torch.empty(len(sizes), dtype=torch.long)
        for number, size in enumerate(sizes):
            options = (known == size).nonzero()[0]
            if not len(options):
                raise DignnError(f"No training graph has {size} nodes; their sizes are {sorted(set(known.tolist()))}")
            chosen[number] = int(rng.choice(options))
        tick(len(sizes), len(sizes))
        return self._graphs[chosen]
