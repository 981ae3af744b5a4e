"""DBLP, IMDB, MUTAG and BA-3Motif as published: counts, classes, splits, names.

That loading writes nothing beside the raw files and says nothing is seen to where they are loaded, in conftest.py.
"""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

from dignn.graphs.feature_spec import FeatureKind
from dignn.graphs.schema import Layout
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load

pytestmark = pytest.mark.usefixtures("dignn_data")


def split_sizes(dataset: Dataset) -> tuple[int, int, int]:
    joined = torch.cat(list(dataset.splits.values()))
    assert len(joined.unique()) == len(joined)
    return tuple(len(dataset.splits[part]) for part in ("train", "val", "test"))  # type: ignore[return-value]


def edge_counts(data: HeteroData) -> dict[tuple[str, str], int]:
    return {(edge_type[0], edge_type[2]): data[edge_type].edge_index.size(1) for edge_type in data.edge_types}


def test_dblp(dblp: Dataset) -> None:
    dataset, data, schema = dblp, dblp.data, dblp.schema
    assert schema.node_types == ("author", "paper", "term", "conference")
    assert schema.target == "author"
    assert {kind: tuple(data[kind].x.shape) for kind in schema.node_types} == {
        "author": (4057, 334),
        "paper": (14328, 4231),
        "term": (7723, 50),
        "conference": (20, 20),
    }
    edges = edge_counts(data)
    assert (edges["author", "paper"], edges["paper", "term"], edges["paper", "conference"]) == (19645, 85810, 14328)
    assert len(schema.relations) == 3
    assert all(relation.reverse == "to" for relation in schema.relations)
    assert data["author"].y.bincount().tolist() == [1197, 745, 1109, 1006]
    assert split_sizes(dataset) == (400, 400, 3257)
    kinds = [FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.CONTINUOUS, FeatureKind.IDENTITY]
    assert [spec.kind for spec in schema.features] == kinds
    assert max(schema.spec("paper").levels) == 6
    assert torch.equal(data["conference"].x, torch.eye(20))
    assert dataset.sizes == (10, 11, 12, 13, 14, 15)


def test_dblp_names(dblp: Dataset, dignn_data: Path) -> None:
    dataset, schema = dblp, dblp.schema
    assert schema.classes == ("Database", "Data Mining", "Artificial Intelligence", "Information Retrieval")
    if not (dignn_data / "DBLP" / "names_conference.txt").is_file():
        pytest.skip("the text files with names are not beside the raw files")
    assert schema.spec("conference").names[:3] == ("AAAI", "CIKM", "CVPR")
    assert "mining" in schema.spec("author").names
    assert "clustering" in schema.spec("paper").names
    assert len(dataset.members["term"]) == 7723
    # The names are in the order of the rows: authors who publish at a conference work in its area.
    venue = schema.spec("conference").names.index("VLDB")
    papers = dataset.data["conference", "to", "paper"].edge_index
    papers = papers[1][papers[0] == venue]
    author, paper = dataset.data["author", "to", "paper"].edge_index
    areas = dataset.data["author"].y[author[torch.isin(paper, papers)]].bincount()
    assert schema.classes[int(areas.argmax())] == "Database"


def test_imdb(imdb: Dataset, dignn_data: Path) -> None:
    dataset, data, schema = imdb, imdb.data, imdb.schema
    assert schema.node_types == ("movie", "director", "actor")
    assert schema.target == "movie"
    assert {kind: tuple(data[kind].x.shape) for kind in schema.node_types} == {
        "movie": (4278, 3066),
        "director": (2081, 3066),
        "actor": (5257, 3066),
    }
    edges = edge_counts(data)
    assert (edges["movie", "director"], edges["movie", "actor"]) == (4278, 12828)
    assert data["movie"].y.bincount().tolist() == [1135, 1584, 1559]
    assert split_sizes(dataset) == (400, 400, 3478)
    assert [spec.kind for spec in schema.features] == [
        FeatureKind.COUNT,
        FeatureKind.CONTINUOUS,
        FeatureKind.CONTINUOUS,
    ]
    assert schema.classes == ("Action", "Comedy", "Drama")
    assert dataset.sizes == (5, 6, 7, 8, 9, 10)
    if (dignn_data / "IMDB" / "vocabulary_movie.txt").is_file():
        assert schema.spec("actor").names == schema.spec("movie").names
        assert schema.spec("movie").names is not None
        assert len(dataset.members["movie"]) == 4278


def test_mutag(others: dict[str, Dataset]) -> None:
    graphs, schema = others["mutag"].data, others["mutag"].schema
    assert len(graphs) == 188
    assert sum(graph.num_nodes for graph in graphs) == 3371
    assert sum(graph.edge_index.size(1) for graph in graphs) == 7442
    assert np.bincount([int(graph.y) for graph in graphs]).tolist() == [63, 125]
    small = [int(graph.y) for graph in graphs if 11 <= graph.num_nodes <= 15]
    assert sorted(np.bincount(small).tolist()) == [14, 44]
    assert schema.node_types == ("C", "N", "O", "F", "I", "Cl", "Br")
    assert schema.edge_attr_names == ("aromatic", "single", "double", "triple")
    assert schema.target is None
    assert schema.layout is Layout.HOMOGENEOUS
    assert schema.type_in_x
    assert all(relation.symmetric for relation in schema.relations if relation.source == relation.target)
    assert graphs[0].x.size(1) == 7
    assert graphs[0].edge_attr.size(1) == 4
    # Chemistry agrees with the names: mostly carbon, nitro groups have a double bond N=O, no halogen is in a ring.
    atoms = torch.cat([graph.x for graph in graphs]).sum(0)
    assert int(atoms.argmax()) == 0
    assert ("N", "double", "O") in schema.edge_types
    assert ("C", "aromatic", "C") in schema.edge_types
    assert not any(r.name == "aromatic" and {"F", "I", "Cl", "Br"} & {r.source, r.target} for r in schema.relations)


def test_mutag_untyped_is_the_same_graphs_without_types() -> None:
    typed, bare = load("mutag", seed=3), load("mutag-untyped", seed=3)
    assert bare.schema.node_types == ("node",)
    assert len(bare.schema.relations) == 1
    for one, other in zip(typed.data, bare.data, strict=True):
        assert torch.equal(one.edge_index, other.edge_index)
        assert torch.equal(one.y, other.y)
        assert other.edge_attr is None
        assert torch.equal(other.x, torch.ones(one.num_nodes, 1))
    assert all(torch.equal(typed.splits[part], bare.splits[part]) for part in typed.splits)


def test_mutag_split_is_stratified_and_depends_on_the_seed() -> None:
    dataset = load("mutag", seed=0)
    assert split_sizes(dataset) == (152, 18, 18)
    for index in dataset.splits.values():
        share = np.mean([int(dataset.data[i].y) for i in index])
        assert share == pytest.approx(125 / 188, abs=0.02)
    same, other = load("mutag", seed=0), load("mutag", seed=1)
    assert all(torch.equal(dataset.splits[part], same.splits[part]) for part in same.splits)
    assert not torch.equal(dataset.splits["test"], other.splits["test"])


def test_ba_3motif(others: dict[str, Dataset]) -> None:
    dataset = others["ba-3motif"]
    graphs = dataset.data
    assert len(graphs) == 3000
    assert sum(graph.num_nodes for graph in graphs) == 65767
    assert sum(graph.edge_index.size(1) for graph in graphs) == 2 * 88535
    assert np.bincount([int(graph.y) for graph in graphs]).tolist() == [1000, 1000, 1000]
    assert split_sizes(dataset) == (2200, 400, 400)
    assert dataset.schema.classes == ("house", "grid (3x3)", "cycle (5)")
    assert dataset.schema.target is None
    sizes = {graph.num_nodes for graph in graphs}
    assert set(dataset.sizes) <= sizes


def test_ba_3motif_graphs_contain_their_motif(others: dict[str, Dataset]) -> None:
    dataset = others["ba-3motif"]
    for label, (motif,) in enumerate(dataset.truth.motifs):
        pattern = nx.Graph(list(motif.edges))
        members = [graph for graph in dataset.data if int(graph.y) == label][:20]
        for graph in members:
            assert graph.is_undirected()
            assert torch.equal(graph.x, torch.ones(graph.num_nodes, 1))
            whole = nx.Graph(graph.edge_index.T.tolist())
            assert nx.is_connected(whole)
            assert nx.isomorphism.GraphMatcher(whole, pattern).subgraph_is_monomorphic()
