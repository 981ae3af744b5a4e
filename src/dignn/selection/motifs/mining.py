"""The parts that real graphs are made of: Louvain communities of small graphs, by class.

Graphs whose target nodes are all of one class tell what is around members of that class (appendix "Community
Detection" of the paper). Where every node is classified, graphs hold nodes of several classes, and all classes share
the parts of all graphs; so they do where some class has too few. Metrics take motifs from held-out graphs and selection
takes parts from training graphs, so that selection never sees what it is measured by.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import igraph
import numpy as np
import torch

from dignn.core.seeds import Seed
from dignn.graphs.batch import PADDING, GraphBatch, spread
from dignn.graphs.isomorphism import fingerprints
from dignn.graphs.motif import GroundTruth
from dignn.graphs.plain_graph import PlainGraph, plain_graphs
from dignn.selection.motifs.matching import Matcher, contains
from dignn.selection.motifs.sets import MotifSets, motif_graph

# Nodes of a part at least, where most graphs have fewer than ten nodes and elsewhere; smaller parts are everywhere.
# So real graphs contain as many of these motifs as of those that the paper published (docs/explanations.md).
LEAST_NODES, SMALL_GRAPH = (3, 4), 10
# Motifs of each class, of each class of whole graphs, and of all classes together, at most (as many as in the paper).
PER_CLASS, PER_GRAPH_CLASS, COMMON = 10, 44, 30
# Of common motifs, the share from around planted shapes; the others are from the graph that they were planted in.
AROUND_SHAPES = 2 / 3
# With fewer parts of a class than this, parts are not divided by class.
LEAST_PARTS = 10
# Graphs of a set in which parts are sought at most, evenly spread.
MOST_GRAPHS = 2000


class Parts:
    """Communities of real graphs, by class.

    Args:
        real: real graphs with labels.
        seed: of Louvain's order of nodes, and of the order of the parts.

    Attributes:
        common: whether all classes share all parts.
        by_class: per class its parts in random order, as often as they occur.
    """

    def __init__(self, real: GraphBatch, *, seed: Seed) -> None:
        real = real[spread(len(real), MOST_GRAPHS)]
        least = LEAST_NODES[bool(len(real)) and int(real.sizes.median()) >= SMALL_GRAPH]
        graph, nodes = _communities(plain_graphs(real), least, seed)
        order = seed.child("order").numpy().permutation(len(graph))
        places = [mask.nonzero()[:, 0] for mask in real.mask]
        self._all = _subgraphs(real, graph[order], [places[graph[number]][nodes[number]] for number in order])
        own = graph_classes(real)[torch.from_numpy(graph[order])]
        chosen = [(own == number).nonzero()[:, 0] for number in range(real.schema.num_classes)]
        of_graphs = real.schema.task.of_graphs
        everything = not of_graphs and len(real.schema.node_types) == 1
        self._most = PER_GRAPH_CLASS if of_graphs else PER_CLASS
        self.common = everything or any(len(parts) < LEAST_PARTS for parts in chosen)
        self.by_class = [self._all] * len(chosen) if self.common else [self._all[numbers] for numbers in chosen]

    def motifs(self, truth: GroundTruth | None = None) -> MotifSets:
        """Motifs to measure explanations by.

        Without ground truth: different parts of each class, in the order in which they were drawn, or common parts as
        often as they occur. With it the shapes that were planted come first, then parts around them, as often as they
        occur: those of a class that hold its shape, or common ones of which most nodes are of classes with a shape and,
        one third, of others.
        """
        if self.common:
            return self._common_motifs(truth)
        if truth is None:
            return MotifSets(tuple(tuple(plain_graphs(parts)) for parts in self._kinds))
        by_class = []
        for own, motifs in zip(self.by_class, truth.motifs, strict=True):
            shapes = [motif_graph(motif, self._all.schema) for motif in motifs]
            parts = plain_graphs(own[:MOST_GRAPHS])
            if shapes:
                holds = contains(parts, shapes, typed=True).any(1)
                parts = [parts[place] for place in np.flatnonzero(holds)]
            by_class.append(tuple([*shapes, *parts][:PER_CLASS]))
        return MotifSets(tuple(by_class))

    def class_typed(self) -> MotifSets:
        """Different parts of each class, in which the class of a labelled node is part of its type."""
        different = [plain_graphs(parts, class_typed=True) for parts in self._kinds]
        if self.common:
            return MotifSets.shared(different[0], len(self.by_class))
        return MotifSets(tuple(map(tuple, different)))

    @cached_property
    def _kinds(self) -> list[GraphBatch]:
        """Different parts of each class, or, once, those that all share."""
        return [_different(parts, self._most) for parts in (self.by_class[:1] if self.common else self.by_class)]

    def _common_motifs(self, truth: GroundTruth | None) -> MotifSets:
        classes = len(self.by_class)
        if truth is None:
            return MotifSets.shared(plain_graphs(self._all[:COMMON]), classes)
        shaped = torch.tensor([bool(motifs) for motifs in truth.motifs])
        label = self._all.label
        known = label >= 0
        planted = (shaped[label.clamp_min(0)] & known).sum(1) * 2 > known.sum(1)
        shapes = {motif.name: motif_graph(motif, self._all.schema) for motifs in truth.motifs for motif in motifs}
        around = round(COMMON * AROUND_SHAPES) - len(shapes)
        chosen = [*planted.nonzero()[:around, 0].tolist(), *(~planted).nonzero()[: COMMON // 3, 0].tolist()]
        return MotifSets.shared([*shapes.values(), *plain_graphs(self._all[chosen])], classes)

    def frequent(self, most: int) -> list[FrequentParts]:
        """Per class its most frequent different parts."""
        found: list[FrequentParts] = []
        for parts in self.by_class[:1] if self.common else self.by_class:
            _, first, count = np.unique(_names(parts), return_index=True, return_counts=True)
            chosen = np.lexsort((first, -count))[:most]
            found.append(FrequentParts(plain_graphs(parts[first[chosen].tolist()]), count[chosen]))
        return found * len(self.by_class) if self.common else found


@dataclass(frozen=True, eq=False)
class FrequentParts:
    """What the structures of a class are made of.

    Args:
        parts: different ones.
        count: (parts,) how often each occurs.
    """

    parts: Sequence[PlainGraph]
    count: np.ndarray

    def share_in(self, graphs: Sequence[PlainGraph]) -> np.ndarray:
        """(n,) share of the parts, each as often as it occurs, that a graph contains; 0 without parts."""
        if not len(self.parts):
            return np.zeros(len(graphs))
        return self._matcher.found_in(graphs) @ (self.count / self.count.sum())

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.parts, typed=True)


def graph_classes(batch: GraphBatch) -> torch.Tensor:
    """The class of each graph: its own, or that of all its target nodes; -1 where these differ or are unknown.  (B,)"""
    if batch.schema.task.of_graphs:
        return batch.graph_label
    known = batch.label >= 0
    highest = batch.label.amax(1)  # -1 where none is known
    lowest = batch.label.where(known, batch.schema.num_classes).amin(1)
    return highest.where(highest == lowest, PADDING)


# -- communities --------------------------------------------------------------------------------------


def _communities(graphs: Sequence[PlainGraph], least: int, seed: Seed) -> tuple[np.ndarray, list[list[int]]]:
    """Number of the graph of each community of at least so many nodes (m,), and its nodes."""
    numbers, nodes = [], []
    igraph.set_random_number_generator(seed.child("louvain").python())
    try:
        for number, graph in enumerate(graphs):
            edges = np.argwhere(np.triu(graph.adjacency, 1)).tolist()
            for members in igraph.Graph(len(graph), edges).community_multilevel():
                if len(members) >= least:
                    numbers.append(number)
                    nodes.append(members)
    finally:
        igraph.set_random_number_generator(random)  # igraph has one for the whole process; this is its default
    return np.array(numbers, dtype=np.int64), nodes


def _subgraphs(batch: GraphBatch, graph: np.ndarray, nodes: Sequence[torch.Tensor]) -> GraphBatch:
    """The induced subgraphs of these nodes, labels kept, features dropped."""
    size = max((len(members) for members in nodes), default=0)
    place = torch.full((len(nodes), size), PADDING)
    for line, members in zip(place, nodes, strict=True):
        line[: len(members)] = members
    there, at, number = place >= 0, place.clamp_min(0), torch.from_numpy(graph)
    pair = there[:, :, None] & there[:, None, :]
    return replace(
        batch.without_features(),
        node_type=torch.where(there, batch.node_type[number[:, None], at], PADDING),
        edge=torch.where(pair, batch.edge[number[:, None, None], at[:, :, None], at[:, None, :]], 0),
        label=torch.where(there, batch.label[number[:, None], at], PADDING),
        graph_label=batch.graph_label[number],
        row=torch.full_like(place, PADDING),
    )


def _names(parts: GraphBatch) -> list[str]:
    """Fingerprints of structure and types; labels do not count."""
    return fingerprints(parts.without_labels())


def _different(parts: GraphBatch, most: int) -> GraphBatch:
    """The first of each kind, at most so many."""
    first: dict[str, int] = {}
    for number, name in enumerate(_names(parts)):
        first.setdefault(name, number)
    return parts[list(first.values())[:most]]
