"""The feature table of a node type, by the name of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from dignn.core.seeds import Seed
from dignn.graphs.column_kinds import Kinds
from dignn.zoo.worlds.mixed_tables import missing, mixed
from dignn.zoo.worlds.sketch import Sketch
from dignn.zoo.worlds.topic_tables import binary, codes, continuous, count, embeddings, heavy_tailed, one_hot
from dignn.zoo.worlds.word_tables import bags, gathered, of_length_1, of_sum_1, tf_idf

# Topics of rows (n,), how many topics, how many columns, a generator -> (n, columns)
Maker: TypeAlias = Callable[[np.ndarray, int, int, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class MadeTable:
    """Rows of features.

    Args:
        x: (n, d) of float32, or of int64 for codes.
        kinds: of the columns, where a schema cannot read them off the numbers.
    """

    x: np.ndarray
    kinds: Kinds | None = None


_MAKERS: dict[str, Maker] = {
    "binary": binary,
    "count": count,
    "one-hot": one_hot,
    "continuous": continuous,
    "heavy-tailed": heavy_tailed,
    "missing": missing,
    "unit embeddings": partial(embeddings, unit=True),
    "free embeddings": partial(embeddings, unit=False),
    "TF-IDF": lambda *given: tf_idf(bags(*given)),
    "words of sum 1": lambda *given: of_sum_1(bags(*given)),
    "words of length 1": lambda *given: of_length_1(bags(*given)),
}
_GATHERED = {"sums of words": False, "means of words": True}


def make_table(sketch: Sketch, node_type: str, shown: Mapping[str, np.ndarray], topics: int, seed: Seed) -> MadeTable:
    """The table of a type.

    Args:
        sketch: nodes and edges, and of which kind the table is.
        node_type: the type.
        shown: by type, (n,) the topic that each node's row is about.
        topics: how many there are; the last is no class's.
        seed: of what is drawn.
    """
    kind, columns = sketch.tables[node_type]
    rng, topic = seed.numpy(), shown[node_type]
    if kind == "identity":
        return MadeTable(np.eye(len(topic), dtype=np.float32))
    if kind == "constant":
        return MadeTable(np.ones((len(topic), columns), dtype=np.float32))
    if kind == "codes":
        return MadeTable(codes(topic, topics, columns, rng), "categorical")
    if kind == "mixed":
        return MadeTable(*mixed(topic, topics, columns, rng))
    if kind in _GATHERED:
        return MadeTable(gathered(sketch, node_type, shown, topics, columns, rng, mean=_GATHERED[kind]))
    return MadeTable(_MAKERS[kind](topic, topics, columns, rng))
