"""The planted bibliography: what is claimed of it is looked up in the graph itself, not in the code that made it."""

from __future__ import annotations

import itertools
import time

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from dignn.graphs.feature_spec import FeatureKind
from dignn.graphs.schema import Schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load

SEEDS = (0, 1, 2)


@pytest.fixture(scope="module", params=SEEDS, ids=lambda seed: f"seed{seed}")
def planted(request: pytest.FixtureRequest) -> Dataset:
    return load("planted", seed=request.param)


def pairs(dataset: Dataset, *edge_type: str) -> list[tuple[int, int]]:
    return [tuple(pair) for pair in dataset.data[edge_type].edge_index.T.tolist()]


def papers_of(dataset: Dataset) -> list[set[int]]:
    papers: list[set[int]] = [set() for _ in range(dataset.data["author"].num_nodes)]
    for author, paper in pairs(dataset, "author", "writes", "paper"):
        papers[author].add(paper)
    return papers


def self_citers(dataset: Dataset) -> set[int]:
    papers = papers_of(dataset)
    cites = pairs(dataset, "paper", "cites", "paper")
    return {a for a, mine in enumerate(papers) if any(p in mine and q in mine for p, q in cites)}


def duos(dataset: Dataset) -> list[tuple[int, int]]:
    papers = papers_of(dataset)
    return [(a, b) for a, b in itertools.combinations(range(len(papers)), 2) if len(papers[a] & papers[b]) >= 2]


# -- shape --------------------------------------------------------------------------------------------


def test_statistics(planted: Dataset) -> None:
    data = planted.data
    assert {kind: tuple(data[kind].x.shape) for kind in data.node_types} == {
        "author": (800, 50),
        "paper": (1320, 60),
        "term": (660, 12),
        "venue": (20, 1),
    }
    assert data["author"].y.bincount().tolist() == [200, 200, 200, 200]
    count = {edge_type[1]: data[edge_type].edge_index.size(1) for edge_type in data.edge_types}
    assert (count["writes"], count["cites"], count["appears_in"]) == (1820, 520, 1320)
    assert 1600 <= count["mentions"] <= 1700
    assert planted.sizes == (10, 11, 12, 13, 14, 15)


def test_schema(planted: Dataset) -> None:
    schema = planted.schema
    assert schema.node_types == ("author", "paper", "term", "venue")
    assert schema.target == "author"
    assert schema.classes == ("database self-citer", "database duo", "learning self-citer", "learning duo")
    kinds = (FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.CONTINUOUS, FeatureKind.NONE)
    assert tuple(spec.kind for spec in schema.features) == kinds
    assert {(r.label, r.reverse) for r in schema.relations} == {
        ("author -writes- paper", "rev_writes"),
        ("paper -mentions- term", "rev_mentions"),
        ("paper -appears_in- venue", "rev_appears_in"),
        ("paper -cites-> paper", "rev_cites"),
    }
    for kind in ("author", "paper"):
        names = schema.spec(kind).names
        assert len(set(names)) == len(names)
        assert all(name.isalpha() for name in names)
    assert Schema.from_json(schema.to_json()) == schema


def test_the_graph_is_connected_and_every_node_has_edges(planted: Dataset) -> None:
    graph = nx.Graph()
    graph.add_nodes_from((kind, i) for kind in planted.data.node_types for i in range(planted.data[kind].num_nodes))
    for source, name, target in planted.data.edge_types:
        graph.add_edges_from(((source, u), (target, v)) for u, v in pairs(planted, source, name, target))
    assert nx.is_connected(graph)


def test_edges_are_distinct_without_loops_and_stored_both_ways(planted: Dataset) -> None:
    for source, name, target in planted.data.edge_types:
        edges = pairs(planted, source, name, target)
        assert len(set(edges)) == len(edges)
        if not name.startswith("rev_"):
            assert {(v, u) for u, v in edges} == set(pairs(planted, target, f"rev_{name}", source))
    cites = set(pairs(planted, "paper", "cites", "paper"))
    assert not any((q, p) in cites for p, q in cites)


# -- truth --------------------------------------------------------------------------------------------


def test_every_author_has_the_motif_of_its_class_and_not_the_other(planted: Dataset) -> None:
    labels = planted.data["author"].y.tolist()
    names = [motifs[0].name for motifs in planted.truth.motifs]
    assert all(len(motifs) == 1 for motifs in planted.truth.motifs)
    triangle = {a for a, label in enumerate(labels) if names[label] == "citation triangle"}
    square = {a for a, label in enumerate(labels) if names[label] == "co-author square"}
    assert len(triangle) == len(square) == 400
    assert self_citers(planted) == triangle
    found = duos(planted)
    assert {a for pair in found for a in pair} == square
    assert len(found) == 200


def test_the_motifs_are_what_networkx_finds_around_an_author(planted: Dataset) -> None:
    """The Motif objects, matched with types and directions, agree with the labels of some authors."""
    graph = nx.MultiDiGraph()
    for name, (source, target) in {"writes": ("author", "paper"), "cites": ("paper", "paper")}.items():
        for u, v in pairs(planted, source, name, target):
            graph.add_node((source, u), kind=source)
            graph.add_node((target, v), kind=target)
            graph.add_edge((source, u), (target, v), relation=name)
    labels = planted.data["author"].y.tolist()
    for author in range(40):
        near = nx.ego_graph(graph.to_undirected(as_view=True), ("author", author), radius=2).nodes
        around = nx.DiGraph(graph.subgraph(near))
        for motifs in planted.truth.motifs:
            pattern = nx.DiGraph()
            for i, kind in enumerate(motifs[0].node_types):
                pattern.add_node(i, kind=kind, me=i == 0)
            pattern.add_edges_from(
                (u, v, {"relation": kind[1]})
                for (u, v), kind in zip(motifs[0].edges, motifs[0].edge_types, strict=True)
            )
            for node in around:
                around.nodes[node]["me"] = node == ("author", author)
            matcher = nx.isomorphism.DiGraphMatcher(
                around,
                pattern,
                node_match=lambda a, b: a["kind"] == b["kind"] and (a["me"] or not b["me"]),
                edge_match=lambda a, b: a["relation"] == b["relation"],
            )
            assert matcher.subgraph_is_monomorphic() == (motifs == planted.truth.motifs[labels[author]])


def test_every_author_has_the_keywords_of_its_class(planted: Dataset) -> None:
    names = planted.schema.spec("author").names
    x, labels = planted.data["author"].x, planted.data["author"].y
    sets = sorted(set(planted.truth.keywords))
    assert len(sets) == 2
    assert all(len(words) == 8 for words in sets)
    assert not set(sets[0]) & set(sets[1])
    for label, own in enumerate(planted.truth.keywords):
        (other,) = (words for words in sets if words != own)
        rows = x[labels == label]
        own_hits = rows[:, [names.index(word) for word in own]].sum(1)
        other_hits = rows[:, [names.index(word) for word in other]].sum(1)
        assert own_hits.min() >= 5
        assert other_hits.max() <= 1
        assert 0.75 <= own_hits.mean() / 8 <= 0.9


def test_no_other_keyword_marks_a_class(planted: Dataset) -> None:
    names = planted.schema.spec("author").names
    planted_words = {word for words in planted.truth.keywords for word in words}
    rest = [i for i, name in enumerate(names) if name not in planted_words]
    x, y = planted.data["author"].x[:, rest].numpy(), planted.data["author"].y.numpy()
    assert cross_val_score(LogisticRegression(max_iter=1000, C=0.1), x, y, cv=5).mean() <= 0.32


def test_the_motif_is_hidden_from_all_features(planted: Dataset) -> None:
    """Own keywords, mean words of one's papers and mean vectors of their terms say nothing about the motif."""
    data = planted.data
    papers = papers_of(planted)
    terms: list[list[int]] = [[] for _ in range(data["paper"].num_nodes)]
    for paper, term in pairs(planted, "paper", "mentions", "term"):
        terms[paper].append(term)
    rows = []
    for author, mine in enumerate(papers):
        near = [term for paper in mine for term in terms[paper]]
        means = data["paper"].x[sorted(mine)].mean(0), data["term"].x[near].mean(0)
        rows.append(torch.cat([data["author"].x[author], *means]))
    # One author of each duo: two who share papers would recognise each other across the folds.
    second = {b for _, b in duos(planted)}
    chosen = [a for a in range(len(papers)) if a not in second]
    x, motif = torch.stack(rows)[chosen].numpy(), (data["author"].y[chosen] % 2).numpy()
    weighted = LogisticRegression(max_iter=2000, C=0.01, class_weight="balanced")
    assert cross_val_score(weighted, x, motif, cv=5, scoring="balanced_accuracy").mean() <= 0.6


# -- splits and seeds ---------------------------------------------------------------------------------


def test_splits_are_stratified_and_keep_duos_together(planted: Dataset) -> None:
    labels = planted.data["author"].y
    for part, count in (("train", 120), ("val", 40), ("test", 40)):
        assert labels[planted.splits[part]].bincount().tolist() == [count] * 4
    part_of = {int(a): part for part, index in planted.splits.items() for a in index}
    assert len(part_of) == 800
    assert all(part_of[a] == part_of[b] for a, b in duos(planted))


def test_topics_of_a_duo_are_independent(planted: Dataset) -> None:
    topic = planted.data["author"].y // 2
    same = np.mean([bool(topic[a] == topic[b]) for a, b in duos(planted)])
    assert same == 0.5


def test_same_seed_same_bits_and_quickly() -> None:
    start = time.perf_counter()
    one = load("planted", seed=7)
    assert time.perf_counter() - start < 2  # usually 0.1 s
    same, other = load("planted", seed=7), load("planted", seed=8)
    for kind in one.data.node_types:
        assert torch.equal(one.data[kind].x, same.data[kind].x)
    for edge_type in one.data.edge_types:
        assert torch.equal(one.data[edge_type].edge_index, same.data[edge_type].edge_index)
    assert torch.equal(one.data["author"].y, same.data["author"].y)
    assert all(torch.equal(one.splits[part], same.splits[part]) for part in one.splits)
    assert not torch.equal(one.data["author"].x, other.data["author"].x)
    assert not torch.equal(one.data["author"].y, other.data["author"].y)


def test_loading_leaves_the_global_generators_alone() -> None:
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    load("planted"), load("ba-shapes")
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
