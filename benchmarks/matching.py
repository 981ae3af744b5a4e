"""Subgraph matching: 200 motifs, Louvain communities of real subgraphs, in 1,536 graphs of 15 nodes, one core.

Three sets: DBLP (typed trees and stars, mostly), BA-Shapes (dense, one type) and DBLP's motifs with the node types
ignored, as in the paper's GF.
"""

from __future__ import annotations

import time
from typing import Any

import networkx as nx
import numpy as np

from benchmarks.measure import peak_memory
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.isomorphism import distinct
from dignn.graphs.plain_graph import PlainGraph, plain_graphs
from dignn.sampling.forest_fire import forest_fire
from dignn.selection.motifs.matching import contains
from dignn.zoo.datasets.registry import load

GRAPHS, SIZE, MOTIFS = 1536, 15, 200
SMALLEST, LARGEST = 3, 10


def run() -> dict[str, Any]:
    found: dict[str, Any] = {"graphs": GRAPHS, "size": SIZE, "motifs": MOTIFS}
    for name in ("dblp", "ba-shapes"):
        graphs, motifs = graphs_and_motifs(name)
        found[name] = {
            f"{'typed' if typed else 'untyped'} {'induced' if induced else 'monomorphism'}": _timed(
                graphs, motifs, typed=typed, induced=induced
            )
            for typed in ((True, False) if name == "dblp" else (False,))
            for induced in (True, False)
        }
    return {**found, "peak_memory_gib": round(peak_memory(), 2)}


def graphs_and_motifs(name: str) -> tuple[list[PlainGraph], list[PlainGraph]]:
    """Real subgraphs, and distinct communities of other real subgraphs."""
    dataset = load(name)
    data = Adjacency.build(dataset.data, dataset.schema)
    graphs = forest_fire(data, (SIZE,), GRAPHS, seed=Seed(0).child("graphs"))
    others = forest_fire(data, (SIZE,), 2 * GRAPHS, seed=Seed(0).child("motifs"))
    others = others[distinct(others, range(len(others)))]
    return plain_graphs(graphs), communities(plain_graphs(others))[:MOTIFS]


def communities(graphs: list[PlainGraph]) -> list[PlainGraph]:
    """Louvain communities of 3 to 10 nodes that differ at least in their typed degrees."""
    seen: dict[tuple[Any, ...], PlainGraph] = {}
    for graph in graphs:
        for members in nx.community.louvain_communities(nx.from_numpy_array(graph.adjacency), seed=0):
            if SMALLEST <= len(members) <= LARGEST:
                part = graph.part(sorted(members))
                key = tuple(sorted(zip(part.types.tolist(), part.adjacency.sum(1).tolist(), strict=True)))
                seen.setdefault(key, part)
        if len(seen) >= MOTIFS:
            break
    return list(seen.values())


def _timed(graphs: list[PlainGraph], motifs: list[PlainGraph], *, typed: bool, induced: bool) -> dict[str, float]:
    begin = time.perf_counter()
    found = contains(graphs, motifs, typed=typed, induced=induced)
    return {
        "motifs": len(motifs),
        "mean_size": round(float(np.mean([len(motif) for motif in motifs])), 1),
        "seconds": round(time.perf_counter() - begin, 3),
        "share": round(float(found.mean()), 4),
    }
