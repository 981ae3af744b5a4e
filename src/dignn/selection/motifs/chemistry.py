"""Groups of atoms that chemists hold responsible for what molecules do, as far as MUTAG's graphs show them."""

from __future__ import annotations

from dignn.graphs.motif import Motif
from dignn.graphs.schema import EdgeType, Schema


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
