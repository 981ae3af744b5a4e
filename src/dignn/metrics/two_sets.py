"""Any two sets of graphs, or two feature tables, in the shape of ``metrics.json``: other tools' output measured alike.

Metrics are measured whose needs are met; what needs the explained model is null. Nothing is said about the classes of
target nodes.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.column_checks import breach as unfit
from dignn.graphs.feature_inference import infer_features
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.isomorphism import fingerprints
from dignn.graphs.plain_graph import PlainGraph
from dignn.graphs.schema import Relation, Schema
from dignn.metrics.column_errors import matrix_of, table_of
from dignn.metrics.counting import share
from dignn.metrics.feature_realism import Table, breach, compared_rows
from dignn.metrics.feature_rows import ClassRows
from dignn.metrics.graph_statistics import by_size
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import layers
from dignn.selection.motifs.sets import MotifSets

log = logging.getLogger(__name__)


def compare_graphs(
    real: Sequence[PlainGraph],
    generated: Sequence[PlainGraph],
    motifs: Sequence[PlainGraph] | None = None,
    *,
    seed: Seed | None = None,
) -> dict[str, Any]:
    """``paper`` and ``sound`` metrics of generated graphs, as far as they need graphs alone.

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
    measured = MeasuredGraphs(
        has=frozenset({"graphs", "structure"}),
        valid=share(_valid(generated, real)),
        plain=made,
        names=_fingerprints(made),
        best=[generated],
        shown=None,
    )
    reality = Reality(
        seed=seed or Seed(0),
        held_out=real,
        train=real,
        train_names=frozenset(_fingerprints(real)),
        motifs=MotifSets(() if motifs is None else (tuple(motifs),)),
    )
    return layers(lambda metric: metric.of(measured, reality))


def compare_tables(
    real: Table, generated: Table, kind: FeatureKind | FeatureSpec | str | None = None, *, seed: Seed | None = None
) -> dict[str, Any]:
    """``paper`` and ``sound`` metrics of generated feature rows (n, d) against real ones (m, d).

    Args:
        kind: what the columns hold, or, where they differ, a spec of them. By default guessed from the real rows, or
            from all rows where the generated ones are not of that kind (0.3 among real 0 and 1).
        seed: of everything that is drawn.

    Raises:
        DignnError: the tables cannot be compared, see :func:`dignn.metrics.feature_realism.feature_realism`.
    """
    one, other = table_of(real), table_of(generated)
    rows = compared_rows(other, None, one, _guess(one, other) if kind is None else kind, seed or Seed(0))
    of_all = ClassRows(rows.made, rows.real, rows.columns)
    measured = MeasuredGraphs(has=frozenset({"features"}), rows={"rows": rows}, class_rows=[of_all])
    reality = Reality(seed=seed or Seed(0))
    found = layers(lambda metric: metric.of(measured, reality))
    del found["sound"]["features"]["by_type"]  # rows of a table have no node type
    return found


# -- graphs -------------------------------------------------------------------------------------------


def _valid(graphs: Sequence[PlainGraph], real: Sequence[PlainGraph]) -> list[bool]:
    """Whether each graph is connected and its metagraph a subgraph of the real graphs'."""
    types, pairs = (set().union(*parts) for parts in zip(*map(_metagraph, real), strict=True))
    return [
        own_types <= types and own_pairs <= pairs and len(graph) > 0 and connected_components(graph.adjacency)[0] == 1
        for graph, (own_types, own_pairs) in zip(graphs, map(_metagraph, graphs), strict=True)
    ]


def _metagraph(graph: PlainGraph) -> tuple[set[int], set[tuple[int, int]]]:
    """Node types, and unordered pairs of types that are joined."""
    u, v = np.nonzero(np.triu(graph.adjacency))
    ends = np.sort(np.stack([graph.types[u], graph.types[v]], axis=1), axis=1)
    return set(graph.types.tolist()), {(int(one), int(other)) for one, other in ends}


def _fingerprints(graphs: Sequence[PlainGraph]) -> list[str]:
    """A text per graph that isomorphic graphs share, node types included."""
    names: dict[int, str] = {}
    # Graphs of one size at a time need no padding; fingerprints do not depend on what else is in a batch.
    for numbers in by_size(graphs).values():
        names |= zip(numbers, fingerprints(_batch([graphs[number] for number in numbers])), strict=True)
    return [names[number] for number in range(len(graphs))]


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


# -- tables -------------------------------------------------------------------------------------------


def _guess(real: Tensor, generated: Tensor) -> FeatureKind | FeatureSpec:
    """What the columns hold: the kind of the real rows, or the next wider one that fits the generated rows too."""
    spec, tables = infer_features(real, "rows"), [matrix_of(table) for table in (real, generated)]
    kind = spec.kind
    if kind is FeatureKind.MIXED or bool(generated.isnan().any()):
        fits = generated.dim() != 2 or generated.size(1) != spec.width or unfit(generated.float(), spec) is None
        return spec if fits else infer_features(torch.cat([real, generated]), "rows")
    # Equal rows are "no features" to a model; here they are rows like others.
    first = FeatureKind.BINARY if kind is FeatureKind.NONE else kind
    wider = _WIDER[_WIDER.index(first) :]
    chosen = next(option for option in wider if not any(breach(table, option) for table in tables))
    if kind not in (FeatureKind.NONE, chosen):
        log.warning("Real rows are %s, generated ones are not; both are compared as %s", kind.value, chosen.value)
    return chosen


# Kinds that rows can be guessed to be, each with room for all before it.
_WIDER = (FeatureKind.IDENTITY, FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.CONTINUOUS)
