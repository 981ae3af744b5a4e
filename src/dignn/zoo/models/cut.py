"""Graphs cut down to explanation size, of which the class is still known."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from dignn.graphs.batch import GraphBatch
from dignn.graphs.motif import GroundTruth, Motif


def one_motif(graphs: GraphBatch, truth: GroundTruth) -> GraphBatch:
    """Each graph cut down to its base and one of the motifs that make its class.

    The motifs must be the last nodes of a graph, each in the order of its definition, as in BA-3Motif; graphs that
    are not made like this are left out.
    """
    pieces = []
    for number, label in enumerate(graphs.graph_label.tolist()):
        one = graphs[number]
        keep = _base_and_motif(one.edge[0] > 0, truth.motifs[label][0]) if label >= 0 else None
        if keep is not None:
            rest = {name: getattr(one, name)[:, keep] for name in ("node_type", "label", "row")}
            pieces.append(replace(one, edge=one.edge[:, keep][:, :, keep], **rest))
    return GraphBatch.cat(pieces) if pieces else graphs[:0]


def _base_and_motif(joined: Tensor, motif: Motif) -> Tensor | None:
    """Nodes of the base and of the first motif.  joined: (n, n)"""
    size = len(motif.node_types)
    pattern = torch.zeros(size, size, dtype=torch.bool)
    for u, v in motif.edges:
        pattern[u, v] = pattern[v, u] = True
    base = len(joined)
    while base >= size and torch.equal(joined[base - size : base, base - size : base], pattern):
        base -= size
    connected = bool(joined[:base, base : base + size].any())
    return torch.arange(base + size) if base < len(joined) and connected else None
