"""Graphs with random words, and a model that answers by a rule which is known: no network, no noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.relation import Relation
from dignn.graphs.tasks.classification import classification
from dignn.model.scores import Scores
from strategies import plain_schema

WORDS = ("applied", "graph", "logic", "neural", "open", "query", "remote", "survey")
SCHEMA = plain_schema(
    (Relation("author", "writes", "paper", "written_by"),),
    node_types=("author", "paper"),
    features=(
        FeatureSpec(FeatureKind.BINARY, len(WORDS), names=WORDS),
        FeatureSpec(FeatureKind.BINARY, 2, names=("a", "b")),
    ),
    target="author",
)
# (m, words of the author), (m, papers) whether each is there and carries "a" -> (m, C) raw scores
Says = Callable[[np.ndarray, np.ndarray], np.ndarray]


def answered(says: Says, count: int = 600, seed: int = 0) -> tuple[GraphBatch, Scores]:
    """An author with up to three papers in each graph, and what a rule says of it."""
    rng = np.random.default_rng(seed)
    words = rng.random((count, len(WORDS))) < 0.5
    there = np.arange(3) < rng.integers(0, 4, count)[:, None]
    carries = (rng.random((count, 3)) < 0.4) & there
    node_type = np.where(np.concatenate([np.ones((count, 1), bool), there], axis=1), [0, 1, 1, 1], -1)
    edge = np.zeros((count, 4, 4), dtype=np.int64)
    edge[:, 0, 1:] = edge[:, 1:, 0] = there
    row = np.where(node_type >= 0, np.arange(count)[:, None] * np.array([1, 3, 3, 3]) + [0, 0, 1, 2], -1)
    papers = np.stack([carries, rng.random((count, 3)) < 0.4], axis=2).reshape(-1, 2)
    batch = GraphBatch(
        schema=SCHEMA,
        node_type=torch.from_numpy(node_type),
        edge=torch.from_numpy(edge),
        label=torch.full((count, 4), -1),
        graph_label=torch.full((count,), -1),
        row=torch.from_numpy(row),
        tables={"author": torch.from_numpy(words).float(), "paper": torch.from_numpy(papers).float()},
    ).check()
    logits = torch.from_numpy(says(words, carries)).float()
    node = torch.zeros(count, dtype=torch.long)
    return batch, Scores(torch.arange(count), node, logits, logits, classification("author"))


def of_margin(margin: np.ndarray) -> np.ndarray:
    """Raw scores of two classes whose difference is a margin."""
    return np.stack([-margin / 2, margin / 2], axis=1)


def additive(words: np.ndarray, carries: np.ndarray) -> np.ndarray:
    """+3 for "query", -3 for "logic", +3 for a paper with "a", -1.5 at base."""
    return of_margin(3.0 * words[:, 5] - 3.0 * words[:, 2] + 3.0 * carries.any(1) - 1.5)


def exclusive(words: np.ndarray, carries: np.ndarray) -> np.ndarray:
    """One of "query" and "neural", and not both."""
    return of_margin(np.where(words[:, 5] != words[:, 3], 6.0, -6.0))


def three_classes(words: np.ndarray, carries: np.ndarray) -> np.ndarray:
    return np.stack([4.0 * words[:, 0] + 2 * words[:, 1], 4.0 * words[:, 2] + 1.0, 4.0 * carries.any(1) + 0.5], axis=1)
