"""Motifs of data sets get the schema's codes, and chemistry's groups are found in real and hand-made molecules."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest
from networkx.algorithms.isomorphism import GraphMatcher, categorical_edge_match, categorical_node_match

from dignn.core.errors import DignnError
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg
from dignn.graphs.feature_spec import FeatureSpec
from dignn.graphs.motif import Motif
from dignn.graphs.plain_graph import PlainGraph
from dignn.graphs.schema import Layout, Relation, Schema
from dignn.selection.motifs.chemistry import amine, aromatic_ring, fused_rings, known_groups, nitro
from dignn.selection.motifs.sets import MotifSets, group_hits, isomorphic, motif_graph
from dignn.zoo.datasets.registry import DATASETS, load
from dignn.zoo.datasets.shapes import citation_triangle, house
from strategies import batch_of, plain_schema

BONDS = ("aromatic", "single", "double")
ATOMS = Schema(
    node_types=("C", "N", "O"),
    relations=tuple(
        Relation(source, bond, target, bond)
        for source, target in (("C", "C"), ("C", "N"), ("N", "O"), ("C", "O"))
        for bond in BONDS
    ),
    features=(FeatureSpec(),) * 3,
    classes=("no", "yes"),
    layout=Layout.HOMOGENEOUS,
    type_in_x=True,
    edge_attr_names=BONDS,
)
CODE = {(r.source, r.name, r.target): code for code, r in enumerate(ATOMS.relations, start=1)}


def molecule(atoms: str, bonds: dict[tuple[int, int], str]) -> GraphBatch:
    """For example ``molecule("CN", {(0, 1): "single"})``."""
    edges = {}
    for (u, v), bond in bonds.items():
        ends = (atoms[u], bond, atoms[v])
        edges[u, v] = CODE.get(ends) or CODE[ends[::-1]]
    return batch_of(ATOMS, ["CNO".index(atom) for atom in atoms], edges)


def ring(atoms: str = "CCCCCC", bond: str = "aromatic") -> dict[tuple[int, int], str]:
    return {(i, (i + 1) % len(atoms)): bond for i in range(len(atoms))}


def names_in(graph: GraphBatch) -> set[str]:
    groups = known_groups(ATOMS)
    return {group.name for group, there in zip(groups, group_hits(graph, groups)[0], strict=True) if there}


# -- chemistry ----------------------------------------------------------------------------------------


def test_groups_in_hand_made_molecules() -> None:
    aniline = molecule("CCCCCCN", {**ring(), (0, 6): "single"})
    nitrobenzene = molecule("CCCCCCNOO", {**ring(), (0, 6): "single", (6, 7): "double", (6, 8): "single"})
    pyridine = molecule("NCCCCC", ring())
    cyclohexane = molecule("CCCCCC", ring(bond="single"))
    dimethylamine = molecule("CNC", {(0, 1): "single", (1, 2): "single"})
    naphthalene = molecule("C" * 10, {**ring("C" * 10), (0, 5): "aromatic"})
    assert names_in(aniline) == {"aromatic ring", "amine"}
    assert names_in(nitrobenzene) == {"aromatic ring", "nitro"}  # its nitrogen is bound to more than the carbon
    assert names_in(pyridine) == {"aromatic ring with N"}
    assert names_in(cyclohexane) == names_in(dimethylamine) == set()
    assert names_in(naphthalene) == {"aromatic ring", "fused aromatic rings"}


def test_nitro_needs_both_bonds() -> None:
    both_single = molecule("CNOO", {(0, 1): "single", (1, 2): "single", (1, 3): "single"})
    assert names_in(both_single) == set()


def test_schemas_without_atoms_have_no_groups() -> None:
    assert known_groups(plain_schema()) == ()
    assert known_groups(ATOMS) == (nitro(), amine(), aromatic_ring(), aromatic_ring(1), fused_rings())


@pytest.mark.skipif(not DATASETS["mutag"].available, reason="needs MUTAG's files")
def test_groups_of_mutag_by_networkx() -> None:
    dataset = load("mutag")
    graphs, groups = from_pyg(dataset.data, dataset.schema), known_groups(dataset.schema)
    found = group_hits(graphs, groups)
    atoms, bonds = dataset.schema.node_types, dataset.schema.edge_attr_names
    for number, data in enumerate(dataset.data[:60]):
        graph = nx.Graph()
        graph.add_nodes_from((v, {"atom": atoms[kind]}) for v, kind in enumerate(data.x.argmax(1).tolist()))
        for (u, v), bond in zip(data.edge_index.t().tolist(), data.edge_attr.argmax(1).tolist(), strict=True):
            graph.add_edge(u, v, bond=bonds[bond])
        for place, group in enumerate(groups):
            motif = nx.Graph()
            motif.add_nodes_from((v, {"atom": atom}) for v, atom in enumerate(group.node_types))
            for (u, v), (_, bond, _) in zip(group.edges, group.edge_types, strict=True):
                motif.add_edge(u, v, bond=bond)
            matcher = GraphMatcher(graph, motif, categorical_node_match("atom", 0), categorical_edge_match("bond", 0))
            there = any(
                all(graph.degree(v) == motif.degree(p) for v, p in image.items() if p in group.closed)
                for image in matcher.subgraph_monomorphisms_iter()
            )
            assert found[number, place] == there
    shares = [found[(graphs.graph_label == label).numpy()].mean(0) for label in (0, 1)]
    assert shares[0][0] == shares[1][0] == 1  # every molecule has a nitro group: it tells no class
    assert shares[1][4] > 5 * shares[0][4]  # fused rings do


# -- motifs of data sets ------------------------------------------------------------------------------


def test_a_motif_with_the_codes_of_a_schema() -> None:
    schema = Schema(
        node_types=("paper", "author"),
        relations=(
            Relation("paper", "cites", "paper", "rev_cites", directed=True),
            Relation("paper", "by", "author", "writes"),
        ),
        features=(FeatureSpec(),) * 2,
        classes=("a", "b"),
        target="author",
    )
    plain = motif_graph(citation_triangle(), schema)
    assert plain.types.tolist() == [1, 0, 0]
    assert plain.relation.tolist() == [[0, 2, 2], [2, 0, 1], [2, 0, 0]]
    assert plain.adjacency.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    with pytest.raises(DignnError, match="'house' has edges"):
        motif_graph(house(), schema)


def test_isomorphic_motifs() -> None:
    path = PlainGraph.from_edges(3, [(0, 1), (1, 2)], [0, 1, 0])
    same = PlainGraph.from_edges(3, [(0, 2), (1, 2)], [0, 0, 1])
    typed = PlainGraph.from_edges(3, [(0, 1), (1, 2)], [0, 1, 1])
    part = PlainGraph.from_edges(2, [(0, 1)], [0, 1])
    assert isomorphic([path, typed], [same, typed, part]).tolist() == [[True, False, False], [False, True, False]]


def test_sets_of_motifs_are_checked() -> None:
    edge = PlainGraph.from_edges(2, [(0, 1)])
    shared = MotifSets.shared([edge], 3)
    assert shared.common
    assert len(shared) == 3
    assert shared.by_class == ((edge,),) * 3
    with pytest.raises(DignnError, match="the same for every class"):
        MotifSets(((edge,), ()), common=True)


def test_only_closed_positions_are_closed() -> None:
    """Two carbons in a row: as an end of a chain, and anywhere."""
    anywhere = Motif("pair", ("C", "C"), ((0, 1),), (("C", "single", "C"),))
    end = replace(anywhere, closed=(0,))
    alone = replace(anywhere, closed=(0, 1))
    chain = molecule("CCC", {(0, 1): "single", (1, 2): "single"})
    circle = molecule("CCC", ring("CCC", "single"))
    pair = molecule("CC", {(0, 1): "single"})
    found = [group_hits(graph, [anywhere, end, alone])[0].tolist() for graph in (chain, circle, pair)]
    assert found == [[True, True, False], [True, False, False], [True, True, True]]
