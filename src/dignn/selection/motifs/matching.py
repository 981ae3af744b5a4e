"""Which graphs contain which motifs: exact subgraph isomorphism of many motifs in many small graphs.

Three steps. Nodes are described by *signatures* (type, self-loop, triangles, and how many other nodes of each type
stand in each relation to it), for all graphs at once; a node of a graph comes into question for a node of a motif if
it has at least as much of everything. Pairs of graph and motif in which some signature has too few nodes are refused,
again all at once. Only what is left is searched (:mod:`dignn.selection.motifs.plans`).

200 motifs of DBLP in 1,536 graphs take 2.1 CPU seconds with types and 1.9 without (``python -m benchmarks matching``);
igraph's LAD takes 4.1 and 10.3, its VF2 (which cannot ask for induced subgraphs) 3.9 and 2.8.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dignn.graphs.plain_graph import PlainGraph
from dignn.selection.motifs.plans import Plan, fill, make_plan

# Cells of relation matrices looked at together, and signatures that graphs and motifs are compared by.
_CELLS, _COMPARED = 100_000, 2**26
_PADDING = -1


def contains(
    graphs: Sequence[PlainGraph], motifs: Sequence[PlainGraph], *, typed: bool, induced: bool = True
) -> np.ndarray:
    """Whether each graph contains each motif.  (graphs, motifs) bool

    Args:
        graphs, motifs: connected or not, of any size; self-loops count. Every graph contains a motif without nodes.
        typed: whether node types and relations, with their orientation, must agree; else edges are all alike and
            have no direction.
        induced: whether the nodes found must have no further edges among them (node-induced subgraph isomorphism, as
            in the paper), or may have (monomorphism).

    Raises:
        DignnError: if a motif is too hard to find in a graph, which only large ones are.
    """
    return Matcher(motifs, typed=typed, induced=induced).found_in(graphs)


class Matcher:
    """Motifs that are looked for again and again: what was found in a graph is remembered.

    Args:
        motifs, typed, induced: as of :func:`contains`.
    """

    def __init__(self, motifs: Sequence[PlainGraph], *, typed: bool, induced: bool = True) -> None:
        patterns = [_Arrays.of(motif, typed) for motif in motifs]
        place = {pattern.key: number for number, pattern in enumerate({each.key: each for each in patterns}.values())}
        self._which = [place[pattern.key] for pattern in patterns]
        self._patterns = list({pattern.key: pattern for pattern in patterns}.values())
        self._typed, self._induced = typed, induced
        self._known: dict[bytes, np.ndarray] = {}  # which of the patterns a graph contains

    def found_in(self, graphs: Sequence[PlainGraph]) -> np.ndarray:
        """Whether each graph contains each motif.  (graphs, motifs) bool"""
        if not graphs or not self._which:
            return np.zeros((len(graphs), len(self._which)), dtype=bool)
        hosts = [_Arrays.of(graph, self._typed) for graph in graphs]
        new = list({host.key: host for host in hosts if host.key not in self._known}.values())
        if new:
            for host, found in zip(new, self._language.search_all(new), strict=True):
                self._known[host.key] = found
        return np.stack([self._known[host.key] for host in hosts])[:, self._which]

    @cached_property
    def _language(self) -> _Language:
        return _Language(self._patterns, induced=self._induced)


# -- arrays -------------------------------------------------------------------------------------------


class _Arrays(NamedTuple):
    """A graph of n nodes: types (n,), relation (n, n), and a key that tells such arrays apart."""

    types: np.ndarray
    relation: np.ndarray

    key: bytes

    @classmethod
    def of(cls, graph: PlainGraph, typed: bool) -> _Arrays:
        types = graph.types.astype(np.int64) if typed else np.zeros(len(graph), np.int64)
        relation = (graph.relation if typed else graph.adjacency != 0).astype(np.int64)
        return cls(types, relation, hashlib.blake2b(types.tobytes() + relation.tobytes(), digest_size=16).digest())


def _padded(graphs: Sequence[_Arrays]) -> tuple[np.ndarray, np.ndarray]:
    """Types (G, N) and relations (G, N, N) of several graphs, with -1 where a graph has no node."""
    size = max(1, *(len(graph.types) for graph in graphs))
    types = np.full((len(graphs), size), _PADDING, np.int64)
    relation = np.full((len(graphs), size, size), _PADDING, np.int64)
    for number, graph in enumerate(graphs):
        n = len(graph.types)
        types[number, :n] = graph.types
        relation[number, :n, :n] = graph.relation
    return types, relation


def _sets(member: np.ndarray) -> np.ndarray:
    """Sets of nodes (..., N) bool as Python integers, bit v for node v.  (...) object"""
    packed = np.packbits(member, axis=-1, bitorder="little")
    raw, width = packed.tobytes(), packed.shape[-1]
    whole = [int.from_bytes(raw[begin : begin + width], "little") for begin in range(0, len(raw), width)]
    return np.array(whole, dtype=object).reshape(packed.shape[:-1])


# -- signatures ---------------------------------------------------------------------------------------


class _Language:
    """What the motifs are made of: node types, pairs of relations, signatures of nodes, and plans.

    A pair of relations is (there, back), the codes from one node to another and from that back; (0, 0) for none.
    """

    def __init__(self, motifs: list[_Arrays], *, induced: bool) -> None:
        self._induced = induced
        types, relation = _padded(motifs)
        there = types != _PADDING
        both = there[:, :, None] & there[:, None, :] & ~np.eye(types.shape[1], dtype=bool)
        pairs = np.stack([relation, relation.transpose(0, 2, 1)], axis=-1)
        self._types = np.unique(types[there])
        self._pairs = np.unique(pairs[both], axis=0)
        described = self._describe(types, relation, self._accepts(types, relation))
        self._signatures, number = np.unique(described[there], axis=0, return_inverse=True)
        signature = np.full(types.shape, _PADDING)
        signature[there] = number.reshape(-1)
        code = np.zeros(relation.shape, np.int64)
        for place, pair in enumerate(self._pairs):
            code[(pairs == pair).all(-1)] = place
        places: dict[Plan, int] = {}
        self._which = []  # the plan of each motif
        for motif, sign, kind in zip(motifs, signature, code, strict=True):
            n = len(motif.types)
            joined = ((motif.relation != 0) | (motif.relation.T != 0)) & ~np.eye(n, dtype=bool)
            plan = make_plan(sign[:n], kind[:n, :n], joined)
            self._which.append(places.setdefault(plan, len(places)))
        self._plans = list(places)
        self._needs = self._needed(signature)

    def search_all(self, graphs: list[_Arrays]) -> np.ndarray:
        """As :meth:`search`, some at a time, so that memory stays small."""
        at_once = _CELLS // max(1, *(len(graph.types) for graph in graphs)) ** 2
        at_once = max(1, min(at_once, _COMPARED // max(1, self._needs.size)))
        parts = [graphs[begin : begin + at_once] for begin in range(0, len(graphs), at_once)]
        return np.concatenate([self.search(part) for part in parts])

    def search(self, graphs: list[_Arrays]) -> np.ndarray:
        """Which of the graphs contain which of the motifs.  (graphs, motifs) bool"""
        types, relation = _padded(graphs)
        accepts = self._accepts(types, relation)
        fits = self._covers(self._describe(types, relation, accepts), self._signatures)  # (G, N, S)
        fits &= (types != _PADDING)[:, :, None]
        enough = (fits.sum(1)[:, None, :] >= self._needs).all(2)  # (G, plans)
        domains = _sets(fits.transpose(0, 2, 1)).tolist()  # (G, S)
        tables = _sets(accepts.transpose(1, 0, 2, 3)).tolist()  # (G, pairs, N)
        joined = ((relation > 0) | (relation > 0).transpose(0, 2, 1)) & ~np.eye(types.shape[1], dtype=bool)
        neighbours = _sets(joined).tolist() if self._induced else [None] * len(graphs)
        found = np.zeros(enough.shape, dtype=bool)
        for number, place in zip(*enough.nonzero(), strict=True):
            plan = self._plans[place]
            domain = [domains[number][sign] for sign in plan.signatures]
            found[number, place] = fill(plan, domain, tables[number], neighbours[number])
        return found[:, self._which]

    def _accepts(self, types: np.ndarray, relation: np.ndarray) -> np.ndarray:
        """Whether two different nodes may stand to each other as a pair of relations says.  (pairs, G, N, N)

        Without induced, further arcs do no harm.
        """
        back = relation.transpose(0, 2, 1)
        result = np.empty((len(self._pairs), *relation.shape), dtype=bool)
        for place, (out, into) in enumerate(self._pairs.tolist()):
            outward = (relation == out) if out or self._induced else (relation != _PADDING)
            inward = (back == into) if into or self._induced else (relation != _PADDING)
            result[place] = outward & inward
        size = types.shape[1]
        result[:, :, range(size), range(size)] = False
        return result

    def _describe(self, types: np.ndarray, relation: np.ndarray, accepts: np.ndarray) -> np.ndarray:
        """Type, self-loop, triangles and, by pair of relations and type, other nodes.  (G, N, 3 + pairs * types)"""
        size = types.shape[1]
        of_type = (types[:, :, None] == self._types).astype(np.float32)  # (G, N, types)
        counts = [(cells.astype(np.float32) @ of_type).astype(np.int64) for cells in accepts]
        joined = np.any(accepts[self._pairs.any(1)], axis=0).astype(np.float32)
        triangles = np.einsum("gij,gij->gi", joined @ joined, joined).astype(np.int64)  # each counted twice
        loops = relation[:, range(size), range(size)]
        return np.concatenate([types[:, :, None], loops[:, :, None], triangles[:, :, None], *counts], axis=2)

    def _covers(self, described: np.ndarray, signatures: np.ndarray) -> np.ndarray:
        """Whether nodes come into question for signatures.  described: (..., D), signatures: (S, D); (..., S)"""
        kinds, number = np.unique(described.reshape(-1, described.shape[-1]), axis=0, return_inverse=True)
        kind, wanted = kinds[:, None, :], signatures[None, :, :]
        loop = kind[..., 1] == wanted[..., 1]
        if not self._induced:
            loop |= wanted[..., 1] == 0
        table = (kind[..., 0] == wanted[..., 0]) & loop & (kind[..., 2:] >= wanted[..., 2:]).all(-1)
        return table[number.reshape(-1)].reshape(*described.shape[:-1], len(signatures))

    def _needed(self, signature: np.ndarray) -> np.ndarray:
        """By plan and signature, how many nodes must come into question for the signature.  (plans, S)

        A node that comes into question for one signature does so for every weaker one, so that it counts for those too.
        """
        weaker = self._covers(self._signatures, self._signatures)  # (S, S): the first covers the second
        own = np.zeros((len(self._plans), len(self._signatures)), np.int64)
        for numbers, place in zip(signature, self._which, strict=True):
            own[place] = np.bincount(numbers[numbers >= 0], minlength=len(self._signatures))
        return own @ weaker
