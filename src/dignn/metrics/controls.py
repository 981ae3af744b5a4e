"""Control sets: graphs that are bad in one known way each, beside random real ones. A metric must tell them apart.

The real graphs show what the best possible generator scores. Random trees are consistent and connected, but their
structure is wrong; column noise and shuffled rows have the candidates' structure and wrong features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from dignn.batch import PADDING, GraphBatch
from dignn.errors import DignnError
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind, Schema

# Rows of column noise drawn at once: bounds memory for wide tables.
CHUNK = 1024


def control_sets(candidates: GraphBatch, train: GraphBatch, *, number: int, seed: Seed) -> dict[str, GraphBatch]:
    """The four controls that every table of metrics shows.

    Real rows, columns, types and labels are drawn from the nodes of the training graphs, each as often as it stands
    there. Types without generated features keep what they have.

    Args:
        candidates: generated graphs with features.
        train: real graphs with features.
        number: graphs of each control; fewer where there are not so many candidates, or training graphs.
        seed: decides all draws.

    Returns:
        ``real_subgraphs``: training graphs as they are. ``random_trees``: of the candidates' sizes, see
        :func:`random_trees`, with real rows. ``column_noise``: the candidates' structure, every column of a row drawn
        from its own marginal in the type (an identity type draws a member). ``shuffled_rows``: the candidates'
        structure, real rows of the type at random, which fit neither class nor neighbours.
    """
    some = candidates[_some(len(candidates), number, seed.child("candidates"))]
    trees = random_trees(train, some.sizes.tolist(), seed=seed.child("random_trees"))
    return {
        "real_subgraphs": train[_some(len(train), number, seed.child("real_subgraphs"))],
        "random_trees": _with_rows(trees, train, _real_rows, seed.child("random_trees", "rows")),
        "column_noise": _with_rows(some, train, _noise, seed.child("column_noise")),
        "shuffled_rows": _with_rows(some, train, _real_rows, seed.child("shuffled_rows")),
    }


def _some(count: int, number: int, seed: Seed) -> list[int]:
    """At most ``number`` numbers below ``count`` at random, ascending."""
    return np.sort(seed.numpy().permutation(count)[:number]).tolist()


# -- structure ----------------------------------------------------------------------------------------


def random_trees(real: GraphBatch, sizes: Sequence[int], *, seed: Seed) -> GraphBatch:
    """Trees that grow node by node, each joined to any earlier one, consistent with the metagraph; no features.

    A new node's type is drawn from those that may be joined to the earlier node, as frequent as in the real graphs, and
    its relation from all that may join the two types. Where nodes are classified, a tree starts with a target node.
    Labels of nodes, or of graphs, are as frequent as in the real graphs.

    Args:
        real: real graphs.
        sizes: nodes of each tree, at least 1.

    Raises:
        DignnError: a tree of more than one node is asked for, and the metagraph joins nothing to its first node.
    """
    rng, schema = seed.numpy(), real.schema
    share = np.bincount(real.node_type[real.mask].numpy(), minlength=len(schema.node_types)).astype(float)
    # What may stand beside a node of each type, and how often it does.  (types, types)
    beside = schema.allowed[:, :, 1:].any(2) * share
    first = np.eye(len(share))[schema.target_index] if schema.target_index is not None else share * beside.any(1)
    first = first if first.any() else share
    width = max(sizes, default=0)
    node_type = np.full((len(sizes), width), PADDING)
    edge = np.zeros((len(sizes), width, width), dtype=np.int64)
    for number, size in enumerate(sizes):
        kinds, pairs = _grow(size, first, beside, rng)
        node_type[number, :size] = kinds
        join(schema, edge[number], kinds, pairs, rng)
    kinds_of_all = torch.from_numpy(node_type)
    target = torch.zeros_like(kinds_of_all, dtype=torch.bool)
    if schema.target_index is not None:
        target = kinds_of_all == schema.target_index
    label = torch.full_like(kinds_of_all, PADDING)
    label[target] = _drawn(real.label[real.target_mask], int(target.sum()), rng)
    return GraphBatch(
        schema=schema,
        node_type=kinds_of_all,
        edge=torch.from_numpy(edge),
        label=label,
        graph_label=_drawn(real.graph_label, len(sizes), rng),
        row=torch.full_like(kinds_of_all, PADDING),
    )


def join(
    schema: Schema, edge: np.ndarray, kinds: np.ndarray, pairs: Sequence[tuple[int, int]], rng: np.random.Generator
) -> None:
    """Joins pairs of nodes by relations at random that their types allow; directed ones from the first to the second.

    Args:
        edge: (n, n) cells that are filled in.
        kinds: types of the nodes.
    """
    for u, v in pairs:
        relation = int(rng.choice(np.flatnonzero(schema.allowed[kinds[u], kinds[v], 1:]) + 1))
        edge[u, v] = relation
        if not schema.relations[relation - 1].directed:
            edge[v, u] = relation


def _grow(
    size: int, first: np.ndarray, beside: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Types of a tree's nodes, and the pairs that it joins, in a random direction."""
    kinds = [int(rng.choice(len(first), p=first / first.sum()))]
    pairs: list[tuple[int, int]] = []
    for node in range(1, size):
        other = int(rng.integers(node))
        option = beside[kinds[other]]
        if not option.any():
            raise DignnError("No node can be joined to the first node of a tree; the relations leave its type alone")
        kinds.append(int(rng.choice(len(option), p=option / option.sum())))
        pairs.append((other, node) if rng.random() < 0.5 else (node, other))
    return np.array(kinds[:size]), pairs


def _drawn(labels: Tensor, count: int, rng: np.random.Generator) -> Tensor:
    """Labels as frequent as the known ones among these; unknown if none is known.  (count,)"""
    known = labels[labels >= 0].numpy()
    return torch.from_numpy(rng.choice(known, count)) if len(known) else torch.full((count,), PADDING)


# -- features -----------------------------------------------------------------------------------------

# (table, rows of it that real nodes have, how many, kind, generator) -> new table, rows of it for the nodes
Draw = Callable[[Tensor, Tensor, int, FeatureKind, torch.Generator], tuple[Tensor, Tensor]]


def _with_rows(graphs: GraphBatch, real: GraphBatch, draw: Draw, seed: Seed) -> GraphBatch:
    """The graphs with other features for every type whose features are generated."""
    tables, row = dict(graphs.tables), graphs.row.clone()
    for code, name in enumerate(graphs.schema.node_types):
        spec, known = graphs.schema.spec(code), real.row[real.node_type == code]
        if not spec.generated or name not in real.tables or not len(known):
            continue
        here = graphs.node_type == code
        generator = seed.child(name).torch()
        tables[name], row[here] = draw(real.tables[name], known, int(here.sum()), spec.kind, generator)
    return replace(graphs, tables=tables, row=row)


def _real_rows(
    table: Tensor, known: Tensor, count: int, kind: FeatureKind, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Whole rows at random; the table is shared, not copied."""
    return table, known[torch.randint(len(known), (count,), generator=generator)]


def _noise(
    table: Tensor, known: Tensor, count: int, kind: FeatureKind, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Every column of a row from another real row."""
    if kind is FeatureKind.IDENTITY:  # a one-hot row is one choice, not many columns
        return _real_rows(table, known, count, kind, generator)
    width = table.size(1)
    made = table.new_empty(count, width)
    for start in range(0, count, CHUNK):
        shape = (min(CHUNK, count - start), width)
        made[start : start + CHUNK] = table.gather(0, known[torch.randint(len(known), shape, generator=generator)])
    return made, torch.arange(count)
