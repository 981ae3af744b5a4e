"""How often generated graphs contain the whole shape that their data set plants for their class, beside real ones."""

from __future__ import annotations

from dignn.graphs.batch import GraphBatch
from dignn.graphs.motif import GroundTruth
from dignn.graphs.plain_graph import plain_graphs
from dignn.selection.motifs.matching import contains
from dignn.selection.motifs.sets import motif_graph


def whole_shapes(generated: GraphBatch, real: GraphBatch, truth: GroundTruth | None) -> dict[str, list[float]]:
    """By shape, the share of generated and of real graphs of its class that contain it.

    Shapes of one node type (houses, cycles, grids) are looked for as node-induced subgraphs. A graph is of a class if
    that is its label, or the label of one of its nodes.
    """
    found: dict[str, list[float]] = {}
    for label, motifs in enumerate(truth.motifs if truth is not None else ()):
        for motif in motifs:
            if len(set(motif.node_types)) == 1:
                pattern = [motif_graph(motif, real.schema)]
                shares = [contains(plain_graphs(_of(batch, label)), pattern, typed=True) for batch in (generated, real)]
                found[motif.name] = [float(share.mean()) if len(share) else 0.0 for share in shares]
    return found


def _of(batch: GraphBatch, label: int) -> GraphBatch:
    return batch[batch.graph_label == label if batch.schema.graph_classes else (batch.label == label).any(1)]
