"""Control sets: graphs that are bad in one known way each, beside random real ones. A metric must tell them apart.

The real graphs show what the best possible generator scores. Random trees are consistent and connected, but their
structure is wrong; column noise and shuffled rows have the candidates' structure and wrong features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.edge_tables import own_cells, rows_in, with_rows
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Schema
from dignn.metrics.counting import some


@dataclass(frozen=True)
class Control:
    """What a control is called.

    Args:
        words: on the page.
        short: in the terminal.
        features: whether it has the candidates' structure and features of its own; else it has a structure of its own
            and real features.
    """

    words: str
    short: str
    features: bool = False


CONTROLS = {
    "real_subgraphs": Control("training graphs, chosen by the same rule", "real, best"),
    "random_trees": Control("random trees", "trees"),
    "column_noise": Control("noise in every column", "noise", features=True),
    "shuffled_rows": Control("shuffled rows", "shuffled", features=True),
}
# Rows of column noise drawn at once: bounds memory for wide tables.
NOISE_ROWS = 1024


def control_sets(candidates: GraphBatch, train: GraphBatch, seed: Seed) -> dict[str, GraphBatch]:
    """The four controls that every table of metrics shows, of as many graphs as there are candidates.

    Real rows, columns, types and labels are drawn from the nodes of the training graphs, each as often as it stands
    there. Types without generated features keep what they have.

    Args:
        candidates: generated graphs with features.
        train: real graphs with features.
        seed: decides all draws.

    Returns:
        ``real_subgraphs``: training graphs as they are, fewer where there are not so many. ``random_trees``: of the
        candidates' sizes, see :func:`random_trees`, with real rows. ``column_noise``: the candidates' structure, every
        column of a row drawn from its own marginal in the type (an identity type draws a member, a one-hot group a
        category). ``shuffled_rows``: the candidates' structure, real rows of the type at random, which fit neither
        class nor neighbours. Edges get rows in the same ways.
    """
    return {name: control_set(name, candidates, train, seed) for name in CONTROLS}


def control_set(name: str, candidates: GraphBatch, train: GraphBatch, seed: Seed) -> GraphBatch:
    """One of them, see :func:`control_sets`."""
    own = seed.child(name)
    if name == "real_subgraphs":
        return train[some(len(train), len(candidates), own.numpy()).tolist()]
    if name == "random_trees":
        trees = random_trees(train, candidates.sizes.tolist(), seed=own)
        return _with_rows(trees, train, _real_rows, own.child("rows"))
    return _with_rows(candidates, train, _noise if name == "column_noise" else _real_rows, own)


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
    joined_share = schema.allowed[:, :, 1:].any(2) * share
    answered = schema.task.types(schema.node_types)
    first = share * joined_share.any(1) * answered
    first = first if first.any() else share * answered
    width = max(sizes, default=0)
    node_type = np.full((len(sizes), width), PADDING)
    edge = np.zeros((len(sizes), width, width), dtype=np.int64)
    for number, size in enumerate(sizes):
        kinds, pairs = _grow(size, first, joined_share, rng)
        node_type[number, :size] = kinds
        join(schema, edge[number], kinds, pairs, rng)
    kinds_of_all = torch.from_numpy(node_type)
    target = schema.task.node_mask(kinds_of_all, schema.node_types)
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
    size: int, first: np.ndarray, joined_share: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Types of a tree's nodes, and the pairs that it joins, in a random direction."""
    kinds = [int(rng.choice(len(first), p=first / first.sum()))]
    pairs: list[tuple[int, int]] = []
    for node in range(1, size):
        other = int(rng.integers(node))
        option = joined_share[kinds[other]]
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

# (table, its spec, rows of it that real nodes have, how many, generator) -> new table, rows of it for the nodes
Draw = Callable[[Tensor, FeatureSpec, Tensor, int, torch.Generator], tuple[Tensor, Tensor]]


def _with_rows(graphs: GraphBatch, real: GraphBatch, draw: Draw, seed: Seed) -> GraphBatch:
    """The graphs with other features for every type, and every relation, whose features are generated."""
    tables, row = dict(graphs.tables), graphs.row.clone()
    for code, name in enumerate(graphs.schema.node_types):
        spec, known = graphs.schema.spec(code), real.row[real.node_type == code]
        if not spec.generated or name not in real.tables or not len(known):
            continue
        here = graphs.node_type == code
        # A one-hot row is one choice, not many columns.
        draw_rows = _real_rows if spec.kind is FeatureKind.IDENTITY else draw
        tables[name], row[here] = draw_rows(real.tables[name], spec, known, int(here.sum()), seed.child(name).torch())
    found = replace(graphs, tables=tables, row=row)
    for label, features in real.schema.generated_edges.items():
        cells, known = own_cells(graphs, graphs.node_type, label), rows_in(real, label)
        if len(known):
            made = draw(real.edge_tables[label], features.spec, known, len(cells[0]), seed.child(label).torch())
            found = with_rows(found, label, cells, made[1], made[0])
    return found


def _real_rows(
    table: Tensor, spec: FeatureSpec, known: Tensor, count: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Whole rows at random; the table is shared, not copied."""
    return table, known[torch.randint(len(known), (count,), generator=generator)]


def _noise(
    table: Tensor, spec: FeatureSpec, known: Tensor, count: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Every column of a row from another real row; a one-hot group, which is one choice, from one."""
    width = table.size(1)
    made = table.new_empty(count, width)
    for start in range(0, count, NOISE_ROWS):
        shape = (min(NOISE_ROWS, count - start), width)
        drawn = torch.randint(len(known), shape, generator=generator)
        drawn = drawn[:, spec.leaders] if spec.groups else drawn
        made[start : start + NOISE_ROWS] = table.gather(0, known[drawn])
    return made, torch.arange(count)
