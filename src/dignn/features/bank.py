"""FeatureBank: one generator per node type that has features, and the filling of generated structures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from dignn.batch import PADDING, GraphBatch
from dignn.errors import DignnError
from dignn.features.base import FEATURE_GENERATORS, FeatureGenerator
from dignn.neighbourhood import class_around_batch, class_around_data
from dignn.runtime.progress import Tick, silent
from dignn.runtime.seeds import Seed
from dignn.sampling import Adjacency
from dignn.schema import FeatureKind, Schema

# How often members that stand twice in one graph are drawn again; a graph may have more nodes than there are members.
REDRAWS = 50


class FeatureBank:
    """Generates the features of whole graphs.

    Args:
        schema: the data's schema.
        method: name of the feature generator, for all types or by type.
    """

    def __init__(self, schema: Schema, method: str | Mapping[str, str] = "bootstrap") -> None:
        self.schema = schema
        names = [name for name in schema.node_types if schema.spec(name).generated]
        chosen = dict.fromkeys(names, method) if isinstance(method, str) else dict(method)
        for name in chosen:
            schema.type_index(name)  # raises on a type that does not exist
        missing = set(names) - set(chosen)
        if missing:
            raise DignnError(f"No feature generator was named for {', '.join(sorted(missing))}; name one for each type")
        self.generators: dict[str, FeatureGenerator] = {name: FEATURE_GENERATORS[chosen[name]]() for name in names}

    def fit(
        self, data: Adjacency, learned: np.ndarray | None = None, *, seed: Seed, tick: Tick = silent
    ) -> FeatureBank:
        """Learns from the feature rows of the data, each with the class around its node.

        ``learned`` (n,) says which nodes may be learned from; by default all.
        """
        learned = np.ones(len(data.node_type), dtype=bool) if learned is None else learned
        condition = class_around_data(data)
        for number, (name, generator) in enumerate(self.generators.items()):
            here = learned & (data.node_type == self.schema.type_index(name))
            nodes = torch.from_numpy(here.nonzero()[0])
            if len(nodes):  # an empty type is never generated, so it needs no features
                rows = data.tables[name][torch.from_numpy(data.row)[nodes]]
                part = _part(tick, number, len(self.generators))
                generator.fit(rows, condition[nodes], self.schema.spec(name), seed=seed.child(name), tick=part)
                part(1, 1)
        return self

    def fill(self, batch: GraphBatch, *, seed: Seed, tick: Tick = silent) -> GraphBatch:
        """The same graphs with generated features; each node's follow the class around it."""
        condition = class_around_batch(batch)
        row = torch.full_like(batch.row, PADDING)
        tables = {}
        for number, (name, generator) in enumerate(self.generators.items()):
            here = batch.node_type == self.schema.type_index(name)
            part = _part(tick, number, len(self.generators))
            tables[name] = torch.empty(0, self.schema.spec(name).width)
            if here.any():
                tables[name] = generator.sample(condition[here], seed=seed.child(name), tick=part)
                if self.schema.spec(name).kind is FeatureKind.IDENTITY:
                    self._tell_apart(tables[name], here, condition, generator, seed.child(name))
            row[here] = torch.arange(int(here.sum()))
            part(1, 1)
        return replace(batch, row=row, tables=tables)

    def _tell_apart(
        self, table: Tensor, here: Tensor, condition: Tensor, generator: FeatureGenerator, seed: Seed
    ) -> None:
        """Draws members anew, in place, where one stands twice in a graph; the data has each only once."""
        graph = here.nonzero()[:, 0]
        for attempt in range(REDRAWS):
            seen: set[tuple[int, int]] = set()
            twice = []
            for number, pair in enumerate(zip(graph.tolist(), table.argmax(1).tolist(), strict=True)):
                if pair in seen:
                    twice.append(number)
                seen.add(pair)
            if not twice:
                return
            table[twice] = generator.sample(condition[here][twice], seed=seed.child("again", attempt), tick=silent)


def _part(tick: Tick, number: int, count: int) -> Tick:
    """Progress of one of ``count`` equal parts as progress of the whole."""
    return lambda done, total: tick(1000 * number + 1000 * done // max(total, 1), 1000 * count)
