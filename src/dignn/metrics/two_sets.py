"""Any two sets of graphs, or two feature tables, in the shape of ``metrics.json``: other tools' output measured alike.

What needs the explained model or a training set is null. Nothing is said about the classes of target nodes.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from dignn.batch import PADDING, GraphBatch
from dignn.errors import DignnError
from dignn.inference import infer_features
from dignn.isomorphism import fingerprints
from dignn.metrics.columns import table_of
from dignn.metrics.features import Table, feature_realism
from dignn.metrics.graph_c2st import graph_c2st
from dignn.metrics.mmd import METRICS, mmd
from dignn.motifs.matching import contains
from dignn.plain import PlainGraph
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind, FeatureSpec, Relation, Schema

log = logging.getLogger(__name__)

FEATURE_VALUES = ("column_error", "pair_error", "row_density", "c2st", "memorisation")
_NOT_MEASURED = ("contrast", "pf_in_distribution", "coverage", "planted")


def compare_graphs(
    real: Sequence[PlainGraph],
    generated: Sequence[PlainGraph],
    motifs: Sequence[PlainGraph] | None = None,
    *,
    seed: Seed | None = None,
) -> dict[str, Any]:
    """``paper`` and ``sound`` metrics of generated graphs.

    Graphs without nodes count in the yield and in GF, as failures, and nowhere else. Values are None where there is
    nothing to compare. The real graphs stand for the data: a generated graph is consistent if all its node types and
    all pairs of types that it joins occur in some real graph (a self-loop joins its type with itself), and novel if it
    is isomorphic to no real graph.

    Args:
        real, generated: what is compared, node types as the same codes.
        motifs: for GF, the mean over generated graphs of the share of motifs that they contain; motifs without nodes
            do not count.
        seed: of the classifier two-sample test.

    Raises:
        DignnError: there is no real graph with nodes, or no motif with nodes.
    """
    real, made = ([graph for graph in graphs if len(graph)] for graphs in (real, generated))
    motifs = None if motifs is None else [motif for motif in motifs if len(motif)]
    if not real:
        raise DignnError("There is no real graph with nodes, so there is nothing to compare with; give some")
    if motifs is not None and not motifs:
        raise DignnError("There is no motif with nodes; give some, or no motifs at all")
    paper, sound = ({name: mmd(made, real, metric) for name, metric in METRICS[layer].items()} for layer in METRICS)
    return {
        "paper": {"mmd": paper, "cosine": None, "pf": None, "gf": _faithfulness(generated, motifs, typed=False)},
        "sound": {
            "yield": _share(_valid(generated, real)),
            "mmd": sound,
            "features": None,
            "graphs": {**_new(made, real), "c2st": graph_c2st(made, real, seed=seed or Seed(0))},
            "typed_gf": _faithfulness(generated, motifs, typed=True),
            **dict.fromkeys(_NOT_MEASURED),
        },
    }


def compare_tables(
    real: Table, generated: Table, kind: FeatureKind | str | None = None, *, seed: Seed | None = None
) -> dict[str, Any]:
    """``paper`` and ``sound`` metrics of generated feature rows (n, d) against real ones (m, d).

    Args:
        kind: what the columns hold. By default guessed from the real rows, or from all rows where the generated ones
            are not of that kind (0.3 among real 0 and 1).
        seed: of everything that is drawn.

    Raises:
        DignnError: the tables cannot be compared, see :func:`dignn.metrics.features.feature_realism`.
    """
    one, other = table_of(real), table_of(generated)
    chosen = _guess(one, other) if kind is None else kind
    value = feature_realism(other, None, one, chosen, seed=seed or Seed(0)).value
    nothing = dict.fromkeys(METRICS["paper"])
    return {
        "paper": {"mmd": nothing, "cosine": value["cosine"], "pf": None, "gf": None},
        "sound": {
            "yield": None,
            "mmd": nothing,
            "features": {name: value[name] for name in FEATURE_VALUES},
            "graphs": dict.fromkeys(("novelty", "uniqueness", "c2st")),
            "typed_gf": None,
            **dict.fromkeys(_NOT_MEASURED),
        },
    }


# -- graphs -------------------------------------------------------------------------------------------


def _faithfulness(graphs: Sequence[PlainGraph], motifs: Sequence[PlainGraph] | None, *, typed: bool) -> float | None:
    """Mean over graphs of the share of motifs that are node-induced subgraphs; a graph without nodes has none."""
    if motifs is None or not graphs:
        return None
    there = [graph for graph in graphs if len(graph)]
    return float(contains(there, motifs, typed=typed).sum()) / (len(graphs) * len(motifs)) if there else 0.0


def _valid(graphs: Sequence[PlainGraph], real: Sequence[PlainGraph]) -> list[bool]:
    """Whether each graph is connected and its metagraph a subgraph of the real graphs'."""
    types, pairs = (set().union(*parts) for parts in zip(*map(_metagraph, real), strict=True))
    found = []
    for graph in graphs:
        own_types, own_pairs = _metagraph(graph)
        consistent = own_types <= types and own_pairs <= pairs
        found.append(consistent and len(graph) > 0 and connected_components(graph.adjacency)[0] == 1)
    return found


def _metagraph(graph: PlainGraph) -> tuple[set[int], set[tuple[int, int]]]:
    """Node types, and unordered pairs of types that are joined."""
    u, v = np.nonzero(np.triu(graph.adjacency))
    ends = np.sort(np.stack([graph.types[u], graph.types[v]], axis=1), axis=1)
    return set(graph.types.tolist()), {(int(one), int(other)) for one, other in ends}


def _new(made: Sequence[PlainGraph], real: Sequence[PlainGraph]) -> dict[str, float | None]:
    """Novelty and uniqueness, by fingerprints."""
    names, known = _fingerprints(made), set(_fingerprints(real))
    count = Counter(names)
    return {
        "novelty": _share([name not in known for name in names]),
        "uniqueness": _share([count[name] == 1 for name in names]),
    }


def _fingerprints(graphs: Sequence[PlainGraph]) -> list[str]:
    """A text per graph that isomorphic graphs share, node types included."""
    names = [""] * len(graphs)
    # Graphs of one size at a time need no padding; fingerprints do not depend on what else is in a batch.
    for size in {len(graph) for graph in graphs}:
        numbers = [number for number, graph in enumerate(graphs) if len(graph) == size]
        for number, name in zip(numbers, fingerprints(_batch([graphs[i] for i in numbers])), strict=True):
            names[number] = name
    return names


def _batch(graphs: Sequence[PlainGraph]) -> GraphBatch:
    """Graphs of one size as a batch that knows no more than numbered types and one relation; self-loops stay."""
    node_type = torch.from_numpy(np.stack([graph.types for graph in graphs]))
    names = tuple(str(code) for code in range(int(node_type.max()) + 1))
    schema = Schema(names, (Relation("0", "to", "0", "to"),), (FeatureSpec(),) * len(names), ("any",))
    return GraphBatch(
        schema=schema,
        node_type=node_type,
        edge=torch.from_numpy(np.stack([graph.relation for graph in graphs])),
        label=torch.full_like(node_type, PADDING),
        graph_label=torch.full((len(graphs),), PADDING),
        row=torch.full_like(node_type, PADDING),
    )


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


# -- tables -------------------------------------------------------------------------------------------


def _guess(real: Tensor, generated: Tensor) -> FeatureKind:
    """What the columns hold: the kind of the real rows, or the next wider one that fits the generated rows too."""
    kind = infer_features(real, "rows").kind
    # Equal rows are "no features" to a model; here they are rows like others.
    first = FeatureKind.BINARY if kind is FeatureKind.NONE else kind
    chosen = next(
        option for option in _WIDER[_WIDER.index(first) :] if all(_fits(table, option) for table in (real, generated))
    )
    if kind not in (FeatureKind.NONE, chosen):
        log.warning(
            "The real rows are %s, the generated ones are not; both are compared as %s", kind.value, chosen.value
        )
    return chosen


# Kinds that rows can be guessed to be, each with room for all before it.
_WIDER = (FeatureKind.IDENTITY, FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.CONTINUOUS)


def _fits(table: Tensor, kind: FeatureKind) -> bool:
    if kind is FeatureKind.CONTINUOUS:
        return True
    whole = bool((table >= 0).all() and (table == table.round()).all())
    few = kind is FeatureKind.COUNT or bool((table <= 1).all())
    return whole and few and (kind is not FeatureKind.IDENTITY or bool((table.sum(1) == 1).all()))
