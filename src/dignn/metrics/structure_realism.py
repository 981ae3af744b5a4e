"""Realism of generated structure: how far generated graphs are from real ones that nobody learned from.

Nodes are typed by class: type and label are one token. Every value stands beside its floor, what as many training
graphs score against the same held-out graphs; a perfect generator has a ratio near 1. Sizes are compared apart, because
all metrics change with the size. Where there are few held-out graphs of a size, neighbouring sizes are pooled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np
import torch

from dignn.core.errors import DignnError
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.validity import check_validity
from dignn.metrics.counting import share
from dignn.metrics.measured import names_of
from dignn.metrics.measures.copies import unique_share
from dignn.metrics.measures.mmd import KERNELS, Kernel, cumulated, mean_kernel
from dignn.metrics.tokens import Tokens

# Held-out graphs that a group of sizes has at least, where there are as many.
LEAST_HELD_OUT_GRAPHS = 20
# An MMD of n graphs is the mean over all choices of n out of at most this many times n.
MOST_TIMES = 4
# Below this an MMD is 0 but for rounding.
_ZERO = 1e-12
# A floor below this share of the noise of n and m graphs of which no two are alike is 0, or as good as 0 by chance.
_CHANCE = 0.005

# The kernels; node tokens and typed edges are histograms with a fixed position for everything that occurs.
STRUCTURE_METRICS = {name: KERNELS["sound"][name] for name in ("degree", "clustering", "spectral")}
STRUCTURE_METRICS |= dict.fromkeys(("node_token", "typed_edge"), KERNELS["sound"]["node_type"])


@dataclass(frozen=True)
class StructureRealism:
    """Generated graphs against held-out ones, beside what training graphs score.

    Args:
        ratio: mean over the metrics of value / floor; None if all were left out.
        value: squared MMD by metric, mean over the groups of sizes.
        floor: the same of as many training graphs of the same sizes.
        left_out: metrics that are 0 for generated and real graphs alike (clustering where there are no triangles).
        above_zero_floor: metrics whose floor is 0 (or, by chance, below .005 of the noise 1/n + 1/m) and whose value is
            not. No ratio does them justice; they count as 1 + value / (1/n + 1/m), as if value and floor both had the
            noise of n and m graphs of which no two are alike. That is the most there can be, so they count mildly, and
            never in the generator's favour.
        groups: the sizes that were compared together.
        compared: graphs compared at once in each group, generated and training alike.
        held_out: graphs of each group that they were compared with.
        valid: share of generated graphs that are connected and consistent with the metagraph.
        isomorphic: share of compared generated graphs that are isomorphic to a training graph, tokens included.
        isomorphic_held_out: the same share of held-out graphs.
        unique: share of generated graphs that are isomorphic to no other of those compared at once.
        unique_train: the same share of as many training graphs.
        edges: mean number of edges of compared generated graphs.
        edges_held_out: of held-out graphs.
    """

    ratio: float | None
    value: dict[str, float]
    floor: dict[str, float]
    left_out: tuple[str, ...]
    above_zero_floor: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    compared: tuple[int, ...]
    held_out: tuple[int, ...]
    valid: float
    isomorphic: float
    isomorphic_held_out: float
    unique: float
    unique_train: float
    edges: float
    edges_held_out: float


def structure_realism(
    generated: GraphBatch, train: GraphBatch, held_out: GraphBatch, *, per_size: int = 256
) -> StructureRealism:
    """Measures the structure of generated graphs; features are not looked at.

    Of each size that all three sets have, as many generated as training graphs are compared, at most ``per_size``:
    biased MMD falls with the number of graphs. Where there are more, the value is the exact mean over all choices of so
    many out of up to four times as many, because that of a single choice varies by as much as its size. Sizes are
    pooled in ascending order until a group has 20 held-out graphs; what remains joins the last group.

    Args:
        generated: what a generator made, several graphs of each size.
        train: the graphs that it learned from.
        held_out: real graphs that it never saw.
        per_size: graphs of a size that are compared at most.

    Raises:
        DignnError: no size occurs in all three sets.
    """
    groups = [_Group(sizes, generated, train, held_out, per_size) for sizes in _pooled(generated, train, held_out)]
    compared = GraphBatch.cat([group.generated for group in groups])
    real = GraphBatch.cat([group.held_out for group in groups])
    tokens = Tokens([train, held_out, generated])
    value, floor = _mean_mmd(tokens, groups)
    noise = mean(1.0 / group.count + 1.0 / len(group.held_out) for group in groups)
    zero = [name for name in STRUCTURE_METRICS if floor[name] < _CHANCE * noise]
    left_out = tuple(name for name in zero if value[name] < _ZERO)
    ratios = [
        1.0 + value[name] / noise if name in zero else value[name] / floor[name]
        for name in STRUCTURE_METRICS
        if name not in left_out
    ]
    known = set(names_of(train))
    return StructureRealism(
        ratio=mean(ratios) if ratios else None,
        value=value,
        floor=floor,
        left_out=left_out,
        above_zero_floor=tuple(name for name in zero if name not in left_out),
        groups=tuple(group.sizes for group in groups),
        compared=tuple(group.count for group in groups),
        held_out=tuple(len(group.held_out) for group in groups),
        valid=float(check_validity(generated).valid.double().mean()),
        isomorphic=share([name in known for name in names_of(compared)]) or 0.0,
        isomorphic_held_out=share([name in known for name in names_of(real)]) or 0.0,
        unique=mean(_unique(group.generated, group.count) for group in groups),
        unique_train=mean(_unique(group.train, group.count) for group in groups),
        edges=_mean_edges(compared),
        edges_held_out=_mean_edges(real),
    )


# -- which graphs are compared ------------------------------------------------------------------------


class _Group:
    """Graphs of some sizes: generated and training graphs in the same shares of sizes, and held-out ones.

    Attributes:
        count: how many of them are compared at once.
    """

    def __init__(
        self, sizes: tuple[int, ...], generated: GraphBatch, train: GraphBatch, held_out: GraphBatch, per_size: int
    ) -> None:
        self.sizes = sizes
        most = [min(per_size, *(int((batch.sizes == size).sum()) for batch in (generated, train))) for size in sizes]
        self.count = sum(most)
        self.generated, self.train = (_some(batch, sizes, most) for batch in (generated, train))
        self.held_out = held_out[torch.isin(held_out.sizes, torch.tensor(sizes))]


def _pooled(generated: GraphBatch, train: GraphBatch, held_out: GraphBatch) -> list[tuple[int, ...]]:
    """Sizes that all sets have, pooled until each group has enough held-out graphs."""
    number = Counter(held_out.sizes.tolist())
    shared = sorted((set(number) & set(generated.sizes.tolist()) & set(train.sizes.tolist())) - {0})
    if not shared:
        raise DignnError("No size occurs among generated, training and held-out graphs alike; generate graphs of those")
    groups: list[tuple[int, ...]] = []
    current: tuple[int, ...] = ()
    for size in shared:
        current += (size,)
        if sum(number[member] for member in current) >= LEAST_HELD_OUT_GRAPHS:
            groups.append(current)
            current = ()
    if current:
        groups[-1:] = [groups[-1] + current] if groups else [current]
    return groups


def _some(batch: GraphBatch, sizes: Sequence[int], shares: Sequence[int]) -> GraphBatch:
    """Graphs of each ``sizes[i]`` in these shares, up to four times as many as they say, evenly spread."""
    numbers = [(batch.sizes == size).nonzero()[:, 0] for size in sizes]
    times = min(MOST_TIMES, *(len(number) / share for number, share in zip(numbers, shares, strict=True)))
    chosen = [
        number[spread(len(number), max(share, int(share * times)))]
        for number, share in zip(numbers, shares, strict=True)
    ]
    return batch[torch.cat(chosen)]


# -- distances ----------------------------------------------------------------------------------------


def _mean_mmd(tokens: Tokens, groups: Sequence[_Group]) -> tuple[dict[str, float], dict[str, float]]:
    """MMD by metric of generated and of training graphs against held-out ones, mean over the groups."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in STRUCTURE_METRICS}
    for group in groups:
        for view in (tokens.nodes, tokens.edges):
            graphs = [view(batch) for batch in (group.generated, group.train, group.held_out)]
            for name, metric in STRUCTURE_METRICS.items():
                if (name == "typed_edge") == (view == tokens.edges):
                    *both, held_out = cumulated(graphs, metric)
                    value, floor = (_mmd_of(group.count, one, held_out, metric) for one in both)
                    found[name].append((value, floor))
    values, floors = ({name: mean(pair[side] for pair in found[name]) for name in found} for side in (0, 1))
    return values, floors


def _mmd_of(count: int, graphs: np.ndarray, others: np.ndarray, metric: Kernel) -> float:
    """Mean over all choices of ``count`` of the ``graphs`` of their biased squared MMD from all ``others``.

    Of the three mean kernels only that within the chosen graphs depends on their number: a graph meets itself, with a
    kernel of 1, in one of ``count`` pairs, and all pairs of different graphs are chosen equally often.
    """
    number = len(graphs)
    within = mean_kernel(graphs, graphs, metric)
    if number > count:
        different = (number * within - 1.0) / (number - 1.0)
        within = 1.0 / count + (1.0 - 1.0 / count) * different
    return within + mean_kernel(others, others, metric) - 2 * mean_kernel(graphs, others, metric)


# -- small numbers ------------------------------------------------------------------------------------


def _unique(graphs: GraphBatch, count: int) -> float:
    return unique_share(names_of(graphs[spread(len(graphs), count)])) or 0.0


def _mean_edges(batch: GraphBatch) -> float:
    return float(batch.undirected.sum((1, 2)).double().mean()) / 2
