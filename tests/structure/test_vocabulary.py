"""Tokens of nodes and edges."""

from __future__ import annotations

import logging

import pytest
import torch
from hypothesis import given

from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Relation
from dignn.structure.vocabulary import Vocabulary
from strategies import PROPERTY, batch_of, batches, plain_schema

FIELDS = ("node_type", "edge", "label", "graph_label")


@PROPERTY
@given(batches(min_graphs=1))
def test_graphs_survive_encoding_and_decoding(batch: GraphBatch) -> None:
    words = Vocabulary.of(batch)
    back = words.decode(*words.encode(batch), batch.graph_label).check()
    for name in FIELDS:
        assert torch.equal(getattr(back, name), getattr(batch, name))


@PROPERTY
@given(batches(min_graphs=1))
def test_tokens_of_a_pair_mirror_each_other_and_agree_with_the_metagraph(batch: GraphBatch) -> None:
    words = Vocabulary.of(batch)
    nodes, edges = words.encode(batch)
    assert torch.equal(words.mirror[edges], edges.transpose(1, 2))
    assert torch.equal(words.mirror[words.mirror], torch.arange(words.edge_count))
    pair = batch.mask[:, :, None] & batch.mask[:, None, :]
    fits = words.allowed[nodes.clamp_min(0)[:, :, None], nodes.clamp_min(0)[:, None, :], edges]
    assert bool(fits[pair].all())
    assert bool(words.allowed[..., 0].all())
    assert torch.equal(words.allowed, words.allowed.transpose(0, 1)[..., words.mirror])


@PROPERTY
@given(batches(min_graphs=1))
def test_json_gives_the_same_vocabulary_back(batch: GraphBatch) -> None:
    words = Vocabulary.of(batch)
    assert Vocabulary.from_json(words.to_json(), words.schema) == words


def test_a_directed_relation_has_a_token_for_each_orientation() -> None:
    cites = Relation("paper", "cites", "paper", directed=True)
    schema = plain_schema((cites, Relation("paper", "like", "paper")), node_types=("paper",))
    graph = batch_of(schema, [0, 0, 0, 0], {(0, 1): 1, (1, 2): 2, (2, 3): 1, (3, 2): 1})
    words = Vocabulary.of(graph)
    assert words.edges == ((0, 0), (0, 1), (1, 0), (1, 1), (2, 2))
    assert words.mirror.tolist() == [0, 2, 1, 3, 4]
    assert words.mirror.tolist() != list(range(words.edge_count))


def test_target_nodes_are_told_apart_by_class() -> None:
    schema = plain_schema((Relation("a", "to", "b", "of"),), node_types=("a", "b"), target="a")
    graph = batch_of(schema, [0, 0, 0, 1], {(0, 3): 1}, labels={0: 0, 1: 1})
    words = Vocabulary.of(graph)
    assert words.nodes == ((0, -1), (0, 0), (0, 1), (1, -1))
    assert words.mirror.tolist() == list(range(words.edge_count))
    assert bool(words.allowed[1, 3, 1])
    assert not bool(words.allowed[1, 2, 1])


def test_what_never_occurs_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    schema = plain_schema(
        (Relation("a", "to", "b", "of"), Relation("b", "near", "b")), node_types=("a", "b", "c"), target="a"
    )
    graph = batch_of(schema, [0, 1], {(0, 1): 1}, labels={0: 1})
    with caplog.at_level(logging.WARNING):
        Vocabulary.of(graph)
    missing = "a node of type 'c' or a node of class 'class 0' or an edge b -near- b"
    assert caplog.messages == [f"No training graph has {missing}, so no generated graph will"]


def test_many_classes_that_never_occur_are_one_message(caplog: pytest.LogCaptureFixture) -> None:
    classes = tuple(f"class {number}" for number in range(50))
    schema = plain_schema((), node_types=("a",), target="a", classes=classes)
    with caplog.at_level(logging.WARNING):
        Vocabulary.of(batch_of(schema, [0], {}, labels={0: 1}))
    named = [f"a node of class '{name}'" for name in ("class 0", "class 2", "class 3", "class 4", "class 5")]
    assert caplog.messages == [
        f"No training graph has {' or '.join(named)} or 44 more such things, so no generated graph will"
    ]
