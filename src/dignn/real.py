"""The real graphs of a run: those that generators learn from, and those held out for measuring.

Nodes are divided once, by the seed: one in five of every type is held out. Generators see feature rows of learned
nodes only. Subgraphs to learn from start at learned target nodes, held-out subgraphs at held-out ones; a held-out
subgraph that has exactly the nodes of a learned one is dropped. In graph classification graphs are divided instead.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.batch import GraphBatch
from dignn.config import MAX_NODES, Config
from dignn.convert import from_pyg
from dignn.errors import DignnError, ModelMismatchError
from dignn.gnn.adapter import GNNAdapter
from dignn.runtime.seeds import Seed
from dignn.sampling import Adjacency, forest_fire
from dignn.schema import FeatureKind, Schema

log = logging.getLogger(__name__)

DEFAULT_SIZES = tuple(range(10, 16))
# One node (or graph) in this many is held out.
HELD_OUT = 5
# Graphs on which a model is tried before anything is learned.
TRIAL_GRAPHS = 8


class RealGraphs:
    """Real graphs and the division of the data.

    Args:
        data: one graph (node classification) or a list (graph classification).
        schema: its schema.
        config: sizes and numbers of graphs.
        seed: decides the division and the subgraphs.

    Attributes:
        data: the adjacency of all graphs.
        learned: (n,) which of its nodes generators may learn from.
        train, held_out: after :meth:`sample`, real graphs to learn from and to measure against, ordered by size.
        report: after :meth:`sample`, how many graphs were asked for and found.
    """

    train: GraphBatch
    held_out: GraphBatch
    report: dict[str, Any]

    def __init__(
        self, data: Data | HeteroData | Sequence[Data | HeteroData], schema: Schema, config: Config, seed: Seed
    ) -> None:
        self._config, self._seed = config, seed
        self._graphs: GraphBatch | None = None
        rng = seed.child("division").numpy()
        if schema.target is not None:
            self.data = Adjacency.build(data, schema)
            self.learned = _divide_nodes(self.data, rng)
            return
        fitting = _fitting(data, config.sizes)
        self.data = Adjacency.build(fitting, schema)
        self._graphs = from_pyg(fitting, schema)
        self._learned_graphs = _divide(len(fitting), rng)
        self.learned = np.repeat(self._learned_graphs, self._graphs.sizes.numpy())

    @property
    def number(self) -> int:
        """Graphs in the data: one, or those that are classified."""
        return 1 if self._graphs is None else len(self._graphs)

    @property
    def labels(self) -> np.ndarray:
        """Classes of all target nodes, or of all graphs; -1 where unknown."""
        if self._graphs is None:
            return self.data.label[self.data.targets]
        return self._graphs.graph_label.numpy()

    def trial(self) -> GraphBatch:
        """A few graphs of the smallest and the largest size."""
        if self._graphs is not None:
            return self._graphs[:TRIAL_GRAPHS]
        sizes = sorted({min(self._sizes), max(self._sizes)})
        return forest_fire(self.data, sizes, TRIAL_GRAPHS // 2, seed=self._seed.child("trial"))[0]

    def sample(self) -> None:
        """Draws the graphs: subgraphs by forest fire, or the data's own graphs."""
        if self._graphs is not None:
            learned = torch.from_numpy(self._learned_graphs)
            train, held_out = self._graphs[learned], self._graphs[~learned]
            self.report = {"asked": len(self._graphs), "found": len(self._graphs)}
        else:
            per_size = self._config.subgraphs_per_size
            measured = max(1, per_size // HELD_OUT)
            train = self._fires("train", self.learned, per_size - measured)
            held_out = _without(self._fires("held-out", ~self.learned, measured), train)
            self.report = {"asked": per_size * len(self._sizes), "found": len(train) + len(held_out)}
        if not len(train) or not len(held_out):
            raise DignnError("There are too few real graphs to learn from some and measure against others; give more")
        self.train, self.held_out = _by_size(train), _by_size(held_out)

    def like(self, count: int) -> list[int]:
        """Sizes of ``count`` graphs, as frequent as among the training graphs."""
        known = self.train.sizes.sort().values
        return known[torch.linspace(0, len(known) - 1, count).round().long()].tolist()

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self._config.sizes if self._config.sizes is not None else DEFAULT_SIZES

    def _fires(self, name: str, nodes: np.ndarray, per_size: int) -> GraphBatch:
        starts = self.data.targets[nodes[self.data.targets]]
        return forest_fire(self.data, self._sizes, per_size, seed=self._seed.child(name), starts=starts)[0]


def refuse_dropped_fields(adapter: GNNAdapter, data: Data | HeteroData | Sequence[Data | HeteroData]) -> None:
    """Raises if the model takes something that the data has and generated graphs would lack."""
    graphs = [data] if isinstance(data, (Data, HeteroData)) else data
    for field in ("edge_attr", "edge_weight"):
        described = field == "edge_attr" and adapter.schema.edge_attr_names is not None
        there = any(field in store for graph in graphs for store in graph.edge_stores)
        if there and adapter.asks_for(field) and not described:
            raise ModelMismatchError(
                f"The model takes {field}, which generated graphs do not have; describe it by edge_names= of the "
                "schema where it is a one-hot relation, or give forward=, a function of the model and the data"
            )


def _divide(count: int, rng: np.random.Generator) -> np.ndarray:
    """Which of ``count`` things may be learned from: all but one in five, and at least one of each."""
    if count < 2:
        raise DignnError(f"There is only {count} of what is classified; at least 2 are needed to learn and to measure")
    learned = np.ones(count, dtype=bool)
    learned[rng.permutation(count)[: max(1, count // HELD_OUT)]] = False
    return learned


def _divide_nodes(data: Adjacency, rng: np.random.Generator) -> np.ndarray:
    """Type by type; the members of an identity type are values rather than examples, so all are learned."""
    learned = np.ones(len(data.node_type), dtype=bool)
    for code in range(len(data.schema.node_types)):
        nodes = np.flatnonzero(data.node_type == code)
        classified = code == data.schema.target_index
        if classified or (len(nodes) >= HELD_OUT and data.schema.spec(code).kind is not FeatureKind.IDENTITY):
            learned[nodes] = _divide(len(nodes), rng)
    return learned


def _fitting(data: Any, sizes: tuple[int, ...] | None) -> list[Data | HeteroData]:
    """The graphs of the wanted sizes, or all that are small enough."""
    counts = [int(graph.num_nodes or 0) for graph in data]
    wanted = set(sizes) if sizes is not None else set(range(1, MAX_NODES + 1))
    chosen = [graph for graph, count in zip(data, counts, strict=True) if count in wanted]
    if not chosen:
        asked = f"one of the sizes {sorted(wanted)}" if sizes is not None else f"at most {MAX_NODES} nodes"
        raise DignnError(f"No graph has {asked}; they have {min(counts)} to {max(counts)} nodes")
    if sizes is None and len(chosen) < len(counts):
        log.warning("%d graphs with more than %d nodes are left out", len(counts) - len(chosen), MAX_NODES)
    return chosen


def _without(graphs: GraphBatch, others: GraphBatch) -> GraphBatch:
    """Those of ``graphs`` whose nodes are not exactly those of one of ``others``."""
    seen = set(_node_sets(others))
    return graphs[torch.tensor([nodes not in seen for nodes in _node_sets(graphs)], dtype=torch.bool)]


def _node_sets(graphs: GraphBatch) -> list[frozenset[tuple[int, int]]]:
    pairs = torch.stack([graphs.node_type, graphs.row], dim=2)  # (B, N, 2)
    return [frozenset(map(tuple, pairs[number][mask].tolist())) for number, mask in enumerate(graphs.mask)]


def _by_size(graphs: GraphBatch) -> GraphBatch:
    order: Tensor = torch.argsort(graphs.sizes, stable=True)
    return graphs[order]
