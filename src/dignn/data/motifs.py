"""The motifs that data sets plant: house, cycle, grid, and the two typed ones of the planted bibliography.

And the groups of atoms that chemists hold responsible for what molecules do, as far as MUTAG's graphs show them.
"""

from __future__ import annotations

from dignn.data.base import Motif
from dignn.schema import EdgeType, Schema
from dignn.view import HOMOGENEOUS_RELATION, HOMOGENEOUS_TYPE

WRITES: EdgeType = ("author", "writes", "paper")
CITES: EdgeType = ("paper", "cites", "paper")


def _untyped(name: str, size: int, edges: tuple[tuple[int, int], ...]) -> Motif:
    edge_type = (HOMOGENEOUS_TYPE, HOMOGENEOUS_RELATION, HOMOGENEOUS_TYPE)
    return Motif(name, (HOMOGENEOUS_TYPE,) * size, edges, (edge_type,) * len(edges))


def house() -> Motif:
    """Five nodes: a square 0, 1, 2, 3 (0 and 1 in the middle, 2 and 3 at the bottom) and the roof's top 4."""
    return _untyped("house", 5, ((0, 1), (1, 2), (2, 3), (3, 0), (4, 0), (4, 1)))


def cycle(length: int) -> Motif:
    return _untyped(f"{length}-cycle", length, tuple((i, (i + 1) % length) for i in range(length)))


def grid(side: int) -> Motif:
    """A square grid of ``side`` x ``side`` nodes, numbered row by row from a corner."""
    across = [(row * side + column, row * side + column + 1) for row in range(side) for column in range(side - 1)]
    down = [(number, number + side) for number in range(side * (side - 1))]
    return _untyped(f"{side}x{side} grid", side * side, tuple(across + down))


def citation_triangle() -> Motif:
    """An author (position 0) wrote two papers, and the first of them cites the second."""
    return Motif("citation triangle", ("author", "paper", "paper"), ((0, 1), (0, 2), (1, 2)), (WRITES, WRITES, CITES))


def coauthor_square() -> Motif:
    """An author (position 0) and a colleague wrote two papers together."""
    return Motif(
        "co-author square", ("author", "author", "paper", "paper"), ((0, 2), (0, 3), (1, 2), (1, 3)), (WRITES,) * 4
    )


# -- chemistry ----------------------------------------------------------------------------------------


def nitro() -> Motif:
    """A nitrogen (position 0) with two oxygens, one by a double and one by a single bond: NO2 as MUTAG writes it."""
    return Motif("nitro", ("N", "O", "O"), ((0, 1), (0, 2)), (("N", "double", "O"), ("N", "single", "O")))


def amine() -> Motif:
    """A nitrogen (position 0) with a single bond to a carbon and to nothing else: NH2.

    MUTAG's graphs leave the hydrogens out, so that it is known by what the nitrogen lacks: without this
    condition every nitro group on a carbon would have one.
    """
    return Motif("amine", ("N", "C"), ((0, 1),), (("N", "single", "C"),), closed=(0,))


def aromatic_ring(nitrogens: int = 0) -> Motif:
    """Six atoms in a ring of aromatic bonds: carbons, but for the first ``nitrogens``."""
    kinds = tuple("N" if position < nitrogens else "C" for position in range(6))
    edges = tuple((i, (i + 1) % 6) for i in range(6))
    bonds: tuple[EdgeType, ...] = tuple((kinds[u], "aromatic", kinds[v]) for u, v in edges)
    return Motif("aromatic ring with N" if nitrogens else "aromatic ring", kinds, edges, bonds)


def fused_rings() -> Motif:
    """Two aromatic rings of carbons that share a bond (positions 0 and 5): naphthalene."""
    edges = (*((i, i + 1) for i in range(9)), (9, 0), (0, 5))
    return Motif("fused aromatic rings", ("C",) * 10, edges, (("C", "aromatic", "C"),) * len(edges))


def known_groups(schema: Schema) -> tuple[Motif, ...]:
    """Chemistry's groups that graphs of this schema can have: node types are atoms, relations are named by bonds.

    None where the types are no atoms.
    """
    known = set(schema.edge_types)
    groups = (nitro(), amine(), aromatic_ring(), aromatic_ring(nitrogens=1), fused_rings())
    return tuple(group for group in groups if known.issuperset(group.edge_types))
