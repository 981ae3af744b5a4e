"""Are two small typed graphs the same graph? Fingerprints first, an exact test where they agree."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import networkx as nx
import torch
from networkx.algorithms.isomorphism import categorical_edge_match, categorical_node_match

from dignn.batch import GraphBatch
from dignn.convert import to_networkx


def fingerprints(batch: GraphBatch) -> list[str]:
    """A text per graph that isomorphic graphs (types, labels of nodes and graph, relations, orientations) share.

    Colours of nodes are refined by the colours around them (Weisfeiler-Lehman) until n rounds have passed.
    Different graphs rarely share one; :func:`distinct` decides such cases exactly. Features are not looked at.
    """
    return [_fingerprint(batch, number) for number in range(len(batch))]


def _fingerprint(batch: GraphBatch, number: int) -> str:
    mask = batch.mask[number]
    edge = batch.edge[number][mask][:, mask].tolist()
    colour = [
        f"{kind}:{label}"
        for kind, label in zip(batch.node_type[number][mask].tolist(), batch.label[number][mask].tolist(), strict=True)
    ]
    size = len(colour)
    arcs = [[(edge[u][v], edge[v][u], v) for v in range(size) if edge[u][v] or edge[v][u]] for u in range(size)]
    for _ in range(size):
        refined = [
            _digest(colour[u], sorted(f"{out},{back},{colour[v]}" for out, back, v in arcs[u])) for u in range(size)
        ]
        if len(set(refined)) == len(set(colour)) and size:
            colour = refined
            break
        colour = refined
    return _digest(str(int(batch.graph_label[number])), sorted(colour))


def _digest(head: str, parts: Sequence[str]) -> str:
    return hashlib.blake2b("|".join([head, *parts]).encode(), digest_size=16).hexdigest()


def isomorphic(one: GraphBatch, other: GraphBatch) -> bool:
    """Exactly, for the first graph of each batch. Features are not looked at."""
    if int(one.graph_label[0]) != int(other.graph_label[0]):
        return False
    fields = ("node_type", "edge", "label")
    if all(torch.equal(getattr(one, name), getattr(other, name)) for name in fields):
        return True
    return nx.is_isomorphic(
        to_networkx(one.without_features()),
        to_networkx(other.without_features()),
        node_match=categorical_node_match(["type", "label"], [None, None]),
        edge_match=categorical_edge_match("relation", None),
    )


def distinct(batch: GraphBatch, order: Sequence[int], limit: int | None = None) -> list[int]:
    """The first ``limit`` graphs of ``order`` of which no two are isomorphic."""
    kept: list[int] = []
    by_fingerprint: dict[str, list[int]] = {}
    for number in order:
        if limit is not None and len(kept) >= limit:
            break
        alike = by_fingerprint.setdefault(_fingerprint(batch, number), [])
        if not any(isomorphic(batch[number], batch[other]) for other in alike):
            alike.append(number)
            kept.append(number)
    return kept
