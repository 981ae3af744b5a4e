"""What tests of edge diffusion share: quick settings, small graphs, a process with random weights."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from dignn.diffusion.settings import TrainingConfig
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Relation
from dignn.structure.edge_diffusion.edge_process import EdgeProcess
from dignn.structure.edge_diffusion.edge_tokens import Tokens
from dignn.structure.settings import EdgeDiffusionConfig
from dignn.structure.vocabulary import Vocabulary
from strategies import batch_of, plain_schema

QUICK = EdgeDiffusionConfig(batch=8, sampler_steps=6, restarts=1, training=TrainingConfig(steps=6, validate_every=3))
MARGINAL = replace(QUICK, noise="marginal")
BOTH = pytest.mark.parametrize("config", [QUICK, MARGINAL], ids=["absorbing", "marginal"])
PLAIN = plain_schema()
CHAIN = plain_schema((Relation("a", "to", "b"), Relation("b", "to", "c")), node_types=("a", "b", "c"))
ARROWS = plain_schema((Relation("node", "to", "node", directed=True), Relation("node", "with", "node", "with")))
SIZES = [8, 10, 8, 8, 10]


def path(size: int, schema=PLAIN, graph_label: int = -1, code: int = 1) -> GraphBatch:
    return batch_of(schema, [0] * size, {(i, i + 1): code for i in range(size - 1)}, graph_label=graph_label)


def star(size: int) -> GraphBatch:
    return batch_of(PLAIN, [0] * size, {(0, i): 1 for i in range(1, size)})


def process(kind: type[EdgeProcess], graphs: GraphBatch, config: EdgeDiffusionConfig = QUICK) -> EdgeProcess:
    """A process with random weights that has counted these graphs."""
    vocabulary = Vocabulary.of(graphs)
    tokens = Tokens.by_size(graphs, vocabulary)
    torch.manual_seed(0)
    made = kind(vocabulary, list(tokens), config)  # type: ignore[call-arg]
    made.count(tokens)
    return made


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
