"""FeatureBank: one generator per node type that has features, and the filling of generated structures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch

from dignn.batch import PADDING, GraphBatch
from dignn.errors import DignnError
from dignn.features.base import FEATURE_GENERATORS, FeatureGenerator
from dignn.neighbourhood import class_around_batch, class_around_data
from dignn.runtime.progress import Tick, silent
from dignn.runtime.seeds import Seed
from dignn.sampling import Adjacency
from dignn.schema import Schema


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

    def fit(self, data: Adjacency, *, seed: Seed, tick: Tick = silent) -> FeatureBank:
        """Learns from every row of the data, each with the class around its node."""
        condition = class_around_data(data)
        for number, (name, generator) in enumerate(self.generators.items()):
            nodes = torch.from_numpy((data.node_type == self.schema.type_index(name)).nonzero()[0])
            if len(nodes):  # an empty type is never generated, so it needs no features
                rows = data.tables[name][torch.from_numpy(data.row)[nodes]]
                generator.fit(rows, condition[nodes], self.schema.spec(name), seed=seed.child(name), tick=silent)
            tick(number + 1, len(self.generators))
        return self

    def fill(self, batch: GraphBatch, *, seed: Seed, tick: Tick = silent) -> GraphBatch:
        """The same graphs with generated features; each node's follow the class around it."""
        condition = class_around_batch(batch)
        row = torch.full_like(batch.row, PADDING)
        tables = {}
        for number, (name, generator) in enumerate(self.generators.items()):
            here = batch.node_type == self.schema.type_index(name)
            tables[name] = torch.empty(0, self.schema.spec(name).width)
            if here.any():
                tables[name] = generator.sample(condition[here], seed=seed.child(name), tick=silent)
            row[here] = torch.arange(int(here.sum()))
            tick(number + 1, len(self.generators))
        return replace(batch, row=row, tables=tables)
