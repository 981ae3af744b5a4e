"""Selection: the highest score per class, deterministic, without duplicates."""

from __future__ import annotations

import networkx as nx
import pytest
import torch

from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureSpec
from dignn.graphs.schema import Relation, Schema
from dignn.model.scores import Scores
from dignn.selection.candidates import Candidates
from dignn.selection.highest import Choice, select_highest
from networkx_graphs import from_networkx

SCHEMA = Schema(
    node_types=("a", "b"),
    relations=(Relation("a", "to", "b", reverse="to"), Relation("b", "near", "b", reverse="near")),
    features=(FeatureSpec(), FeatureSpec()),
    classes=("one", "two"),
    target="a",
)


def star(leaves: int, targets: int = 1) -> nx.Graph:
    """``targets`` nodes of type a around one b with further b leaves."""
    graph = nx.Graph()
    graph.add_node(0, type="b")
    for node in range(1, targets + 1):
        graph.add_node(node, type="a")
        graph.add_edge(0, node, relation=1)
    for node in range(targets + 1, targets + leaves + 1):
        graph.add_node(node, type="b")
        graph.add_edge(0, node, relation=2)
    return graph


def scored(graphs: list[nx.Graph], logits: list[list[float]]) -> tuple[GraphBatch, Scores]:
    batch = from_networkx(graphs, SCHEMA)
    graph, node = batch.target_mask.nonzero(as_tuple=True)
    values = torch.tensor(logits)
    return batch, Scores(graph, node, values, values, SCHEMA.task)


def test_each_class_gets_its_highest_graph() -> None:
    batch, scores = scored([star(1), star(2), star(3)], [[3.0, 0.0], [0.0, 4.0], [1.0, 0.0]])
    one, two = select_highest(Candidates(batch), scores, top_k=2)
    assert [choice.graph for choice in one] == [0, 2]
    assert [choice.graph for choice in two] == [1, 2]


def test_a_graph_counts_once_with_its_best_target_node() -> None:
    batch, scores = scored([star(1, targets=3)], [[1.0, 0.0], [5.0, 0.0], [2.0, 9.0]])
    one, two = select_highest(Candidates(batch), scores, top_k=3)
    assert one == [Choice(graph=0, score=1)]
    assert two == [Choice(graph=0, score=2)]


def test_isomorphic_candidates_are_taken_once() -> None:
    batch, scores = scored([star(2), star(2), star(1)], [[3.0, 0.0], [2.0, 0.0], [1.0, 0.0]])
    assert [choice.graph for choice in select_highest(Candidates(batch), scores, top_k=3)[0]] == [0, 2]


def test_graphs_that_differ_only_in_what_the_generator_intended_are_taken_once() -> None:
    batch, scores = scored([star(2), star(2)], [[3.0, 0.0], [2.0, 0.0]])
    batch.label[0, 1], batch.label[1, 1] = 0, 1
    assert [choice.graph for choice in select_highest(Candidates(batch), scores, top_k=3)[0]] == [0]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]])
def test_ties_do_not_depend_on_the_order_of_candidates(order: list[int]) -> None:
    graphs = [star(leaves) for leaves in (1, 2, 3, 4)]
    batch, scores = scored([graphs[number] for number in order], [[50.0, 0.0]] * 4)
    sizes = [int(batch.sizes[choice.graph]) for choice in select_highest(Candidates(batch), scores, top_k=4)[0]]
    reference_batch, reference = scored(graphs, [[50.0, 0.0]] * 4)
    assert sizes == [
        int(reference_batch.sizes[c.graph]) for c in select_highest(Candidates(reference_batch), reference, 4)[0]
    ]


def test_saturated_probabilities_are_still_ranked() -> None:
    batch, scores = scored([star(1), star(2)], [[60.0, 0.0], [90.0, 0.0]])
    assert scores.probability[:, 0].tolist() == [1.0, 1.0]
    assert select_highest(Candidates(batch), scores, top_k=1)[0][0].graph == 1
