"""The real graphs of a run: those that generators learn from, and those held out for measuring.

Nodes are divided once, by the seed: one in five of every type is held out. Generators see feature rows of learned nodes
only. Subgraphs to learn from start at learned target nodes, held-out subgraphs at held-out ones; a held-out subgraph
that has exactly the nodes of a learned one is dropped. Fires burn the whole graph all the same, so that nodes of both
kinds stand in subgraphs of both kinds: thinning the graph would falsify it (:meth:`RealGraphs.overlap` tells how
much). Where whole graphs are classified, graphs are divided instead.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.core.checks import MAX_NODES
from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.conversion import batch_of_view
from dignn.graphs.feature_spec import FeatureKind
from dignn.graphs.flattening import FlatGraphs, flatten_for
from dignn.graphs.intake import graphs_of
from dignn.graphs.isomorphism import fingerprints
from dignn.graphs.schema import Schema
from dignn.graphs.validity import connected
from dignn.sampling.forest_fire import forest_fire
from dignn.sampling.own_graphs import cut

log = logging.getLogger(__name__)

DEFAULT_SIZES = tuple(range(10, 16))
# Target nodes around which it is looked how large graphs can be, where nobody says.
LOOKED_AT = 64
# One node (or graph) in this many is held out.
HELD_OUT = 5
# Graphs on which a model is tried before anything is learned, and on which its answers are compared with those on the
# user's own objects.
TRIAL_GRAPHS, COMPARED_GRAPHS = 8, 32

AnyData: TypeAlias = Data | HeteroData | Sequence[Data | HeteroData]


class RealGraphs(ABC):
    """Real graphs and the division of the data; :func:`divide` makes the kind that the task needs.

    Args:
        data: the adjacency of all graphs.
        learned: (n,) which of its nodes generators may learn from.

    Attributes:
        train, held_out: after :meth:`sample`, real graphs to learn from and to measure against, ordered by size.
        train_given, held_out_given: the same with the labels that the data gives, and no others.
        report: after :meth:`sample`, how many graphs were asked for and found; ``unlabelled``, where there are such
            things, how many of those that are answered about in them had no label.
    """

    train: GraphBatch
    held_out: GraphBatch
    train_given: GraphBatch
    held_out_given: GraphBatch
    report: dict[str, int]

    def __init__(self, data: Adjacency, learned: np.ndarray) -> None:
        self.data, self.learned = data, learned
        self._data_given = data

    def sample(self) -> None:
        """Draws the graphs: subgraphs by forest fire, or the data's own graphs, with the labels that the data gives."""
        self.data = self._data_given
        train, held_out, asked = self._draw()
        self.report = {"asked": asked, "found": len(train) + len(held_out)}
        if not len(train) or not len(held_out):
            raise DignnError("There are too few real graphs to learn from some and measure against others; give more")
        self.train, self.held_out = _by_size(train), _by_size(held_out)
        self.train_given, self.held_out_given = self.train, self.held_out

    def like(self, count: int) -> list[int]:
        """Sizes of ``count`` graphs, as frequent as among the connected training graphs: others are not made."""
        known = self.train.sizes[connected(self.train)].sort().values
        if not len(known):
            raise DignnError(
                f"None of the {len(self.train)} graphs to learn from is connected, and explanations are connected "
                "graphs; give connected ones, for example the largest component of each (LargestConnectedComponents)"
            )
        return known[torch.linspace(0, len(known) - 1, count).round().long()].tolist()

    @cached_property
    def learned_rows(self) -> dict[str, Tensor]:
        """By node type, which rows (of its feature table, or just its nodes) generators may learn from.

        And by the label of a relation, which rows of its edges: those between nodes that may be learned from.
        """
        masks = {}
        for code, name in enumerate(self.data.schema.node_types):
            own = self.data.node_type == code
            rows = len(self.data.tables.get(name, ())) or int(self.data.row[own].max(initial=-1)) + 1
            masks[name] = torch.zeros(rows, dtype=torch.bool)
            masks[name][torch.from_numpy(self.data.row[self.learned & own])] = True
        for label in self.data.edge_tables:
            source, target = self.data.edge_ends(label)
            masks[label] = torch.from_numpy(self.learned[source] & self.learned[target])
        return masks

    def overlap(self) -> dict[str, float]:
        """How far held-out graphs are known from training graphs.

        Returns:
            ``targets``: share of the held-out things that are answered about and stand in training graphs; ``graphs``:
            share of held-out graphs with a twin among training graphs, types and labels of nodes included.
        """
        task = self.data.schema.task
        held_out, train = (task.answers(batch) for batch in (self.held_out, self.train))
        new = ~is_learned(self.held_out, *held_out, self.learned_rows)
        targets = torch.unique(task.identities(self.held_out, *held_out)[new])
        seen = torch.zeros(len(targets), dtype=torch.bool)
        if not task.of_graphs:
            seen = torch.isin(targets, task.identities(self.train, *train))
        known = set(fingerprints(self.train))
        twins = [name in known for name in fingerprints(self.held_out)]
        return {"targets": float(seen.double().mean()) if len(seen) else 0.0, "graphs": sum(twins) / len(twins)}

    # -- what a kind of division provides -------------------------------------------------------------

    @property
    @abstractmethod
    def number(self) -> int:
        """Graphs in the data: one, or those that are classified."""

    @property
    @abstractmethod
    def labels(self) -> np.ndarray:
        """Classes of all target nodes, or of all graphs; -1 where unknown."""

    @abstractmethod
    def trial(self) -> GraphBatch:
        """A few graphs to try a model on."""

    @abstractmethod
    def compared(self) -> tuple[GraphBatch, list[Data | HeteroData]]:
        """Real graphs, and the same as the user's own objects.

        Those that something was dropped from, and some that miss values, are among them.
        """

    @abstractmethod
    def _draw(self) -> tuple[GraphBatch, GraphBatch, int]:
        """Training graphs, held-out graphs, and how many were asked for."""


class Sizes(Protocol):
    """Settings that sampling asks for.

    Attributes:
        sizes: nodes of the graphs; None for 10 to 15 (fewer where components are smaller), or the sizes of the data's
            graphs.
        subgraphs_per_size: of which one in five is held out.
    """

    @property
    def sizes(self) -> tuple[int, ...] | None: ...

    @property
    def subgraphs_per_size(self) -> int: ...


def divide(data: AnyData, schema: Schema, settings: Sizes, seed: Seed, view: FlatGraphs | None = None) -> RealGraphs:
    """Divides the data.

    Args:
        data: one graph, or a list where whole graphs are classified.
        schema: its schema.
        settings: sizes and numbers of graphs.
        seed: decides the division and the subgraphs.
        view: the data as it was read for the schema; by default it is read now.
    """
    if schema.task.of_graphs:
        return WholeGraphs(data, schema, settings.sizes, seed, view)
    return Subgraphs(data, schema, settings.sizes, settings.subgraphs_per_size, seed, view)


class Subgraphs(RealGraphs):
    """Subgraphs of one large graph."""

    number = 1

    def __init__(
        self,
        data: AnyData,
        schema: Schema,
        sizes: Sequence[int] | None,
        per_size: int,
        seed: Seed,
        view: FlatGraphs | None = None,
    ) -> None:
        (self._graph,) = graphs_of(data)
        adjacency = Adjacency.of_view(flatten_for(data, schema) if view is None else view, schema)
        super().__init__(adjacency, _divide_nodes(adjacency, seed.child("division").numpy()))
        self._sizes = sizes or _possible_sizes(adjacency, seed.child("sizes").numpy())
        self._per_size, self._seed = per_size, seed

    @property
    def labels(self) -> np.ndarray:
        return self.data.label[self.data.targets]

    def trial(self) -> GraphBatch:
        """A few graphs of the smallest and the largest size."""
        sizes = sorted({min(self._sizes), max(self._sizes)})
        return forest_fire(self.data, sizes, TRIAL_GRAPHS // 2, seed=self._seed.child("trial"))

    def compared(self) -> tuple[GraphBatch, list[Data | HeteroData]]:
        """Fires, and the surroundings of edges that were dropped and of nodes that miss values."""
        sizes = sorted({min(self._sizes), max(self._sizes)})
        fires = forest_fire(self.data, sizes, COMPARED_GRAPHS // len(sizes), seed=self._seed.child("compared"))
        ends = [pair for kind in self.data.dropped.values() for pair in kind.some.tolist()]
        ends += [[node] for node in self.data.lacking]
        around = [nodes for pair in ends if self._answered(nodes := self.data.around(pair, max(self._sizes)))]
        batch = GraphBatch.cat([fires, self.data.induced(around)]) if around else fires
        return batch, cut(self._graph, self.data, batch)

    def _answered(self, nodes: Sequence[int]) -> bool:
        """Whether something among the nodes is answered about."""
        return bool(self.data.schema.task.types(self.data.schema.node_types)[self.data.node_type[nodes]].any())

    def _draw(self) -> tuple[GraphBatch, GraphBatch, int]:
        measured = max(1, self._per_size // HELD_OUT)
        train = self._fires("train", self.learned, self._per_size - measured)
        held_out = _without(self._fires("held-out", ~self.learned, measured), train)
        return train, held_out, self._per_size * len(self._sizes)

    def _fires(self, name: str, nodes: np.ndarray, per_size: int) -> GraphBatch:
        starts = self.data.targets[nodes[self.data.targets]]
        return forest_fire(self.data, self._sizes, per_size, seed=self._seed.child(name), starts=starts)


class WholeGraphs(RealGraphs):
    """The data's own graphs, of the wanted sizes."""

    def __init__(
        self,
        data: AnyData,
        schema: Schema,
        sizes: Sequence[int] | None,
        seed: Seed,
        view: FlatGraphs | None = None,
    ) -> None:
        self._own = fitting = _fitting(data, sizes)
        if view is None or len(fitting) < len(data):
            view = flatten_for(fitting, schema)
        self._graphs = batch_of_view(view, schema)
        self._learned = _divide(len(fitting), seed.child("division").numpy())
        super().__init__(Adjacency.of_view(view, schema), np.repeat(self._learned, self._graphs.sizes.numpy()))

    @property
    def number(self) -> int:
        return len(self._graphs)

    @property
    def labels(self) -> np.ndarray:
        return self._graphs.graph_label.numpy()

    def trial(self) -> GraphBatch:
        return self._graphs[:TRIAL_GRAPHS]

    def compared(self) -> tuple[GraphBatch, list[Data | HeteroData]]:
        first = np.cumsum([0, *self._graphs.sizes.tolist()])
        ends = [kind.some[:, 0] for kind in self.data.dropped.values()]
        ends.append(np.array(self.data.lacking, dtype=int))
        without = np.searchsorted(first, np.concatenate([np.empty(0, dtype=int), *ends]), side="right") - 1
        chosen = sorted({*spread(len(self._graphs), COMPARED_GRAPHS), *without.tolist()})
        return self._graphs[chosen], [self._own[number] for number in chosen]

    def _draw(self) -> tuple[GraphBatch, GraphBatch, int]:
        learned = torch.from_numpy(self._learned)
        return self._graphs[learned], self._graphs[~learned], len(self._graphs)


def is_learned(batch: GraphBatch, graph: Tensor, node: Tensor, learned: Mapping[str, Tensor]) -> Tensor:
    """(m,) whether generators learned from the things at these places of real graphs: their rows, or their graphs.

    Args:
        learned: :attr:`RealGraphs.learned_rows`.
    """
    place = node.clamp_min(0)  # of a whole graph all nodes are learned, or none
    kind, row = batch.node_type[graph, place], batch.row[graph, place]
    found = torch.zeros(len(graph), dtype=torch.bool)
    for code, name in enumerate(batch.schema.node_types):
        found[kind == code] = learned[name][row[kind == code]]
    return found


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
    answered = data.schema.task.types(data.schema.node_types)
    for code, spec in enumerate(data.schema.features):
        nodes = np.flatnonzero(data.node_type == code)
        if answered[code] or (len(nodes) >= HELD_OUT and spec.kind is not FeatureKind.IDENTITY):
            learned[nodes] = _divide(len(nodes), rng)
    return learned


def _possible_sizes(data: Adjacency, rng: np.random.Generator) -> Sequence[int]:
    """10 to 15 nodes, or up to the largest component around some target nodes where that has fewer."""
    targets = data.targets
    starts = targets[rng.integers(0, len(targets), LOOKED_AT)].tolist() if len(targets) else []
    largest = max((len(data.around([start], max(DEFAULT_SIZES))) for start in starts), default=0)
    if largest >= max(DEFAULT_SIZES) or largest < 2:
        return DEFAULT_SIZES  # of single nodes there is nothing to sample, which forest fire says
    return range(max(2, largest * min(DEFAULT_SIZES) // max(DEFAULT_SIZES)), largest + 1)


def _fitting(data: Sequence[Data | HeteroData], sizes: Sequence[int] | None) -> list[Data | HeteroData]:
    """The graphs of the wanted sizes, or all that are small enough."""
    counts = [int(graph.num_nodes or 0) for graph in data]
    wanted = set(sizes) if sizes is not None else set(range(1, MAX_NODES + 1))
    chosen = [graph for graph, count in zip(data, counts, strict=True) if count in wanted]
    if not chosen:
        asked = f"one of the sizes {sorted(wanted)}" if sizes is not None else f"at most {MAX_NODES} nodes"
        raise DignnError(f"No graph has {asked}; they have {min(counts)} to {max(counts)} nodes")
    empty, large = counts.count(0), sum(count > MAX_NODES for count in counts)
    if sizes is None and empty:
        log.warning("%d graphs without nodes are left out", empty)
    if sizes is None and large:
        log.warning("%d graphs with more than %d nodes are left out", large, MAX_NODES)
    return chosen


def _without(graphs: GraphBatch, others: GraphBatch) -> GraphBatch:
    """Those of ``graphs`` whose nodes are not exactly those of one of ``others``."""
    seen = set(_node_sets(others))
    return graphs[torch.tensor([nodes not in seen for nodes in _node_sets(graphs)], dtype=torch.bool)]


def _node_sets(graphs: GraphBatch) -> list[frozenset[tuple[int, int]]]:
    pairs = torch.stack([graphs.node_type, graphs.row], dim=2)  # (B, N, 2)
    return [frozenset(map(tuple, pairs[number][mask].tolist())) for number, mask in enumerate(graphs.mask)]


def _by_size(graphs: GraphBatch) -> GraphBatch:
    return graphs[torch.argsort(graphs.sizes, stable=True)]
