"""Edge features that follow the hidden classes of an edge's ends."""

from __future__ import annotations

import numpy as np

from dignn.core.seeds import Seed
from dignn.zoo.worlds.topic_tables import continuous, count, one_hot

# The field that holds them, by kind.
FIELD_OF = {"weight": "edge_weight", "one-hot": "edge_attr", "several": "edge_attr", "continuous": "edge_attr"}
# Columns by kind; of "several" those of its quantities, categories and counts.
CONTINUOUS_COLUMNS, KINDS_OF_EDGES, SEVERAL = 3, 5, (2, 4, 2)
# Parameters of the Beta distribution of weights between nodes of one class, and of two.
HEAVY, LIGHT = (8, 2), (2, 6)


def edge_table(kind: str, ends: tuple[np.ndarray, np.ndarray], topics: int, seed: Seed) -> np.ndarray:
    """Features of edges: (E,) weights, or (E, columns).

    Args:
        kind: of the features, a key of :data:`FIELD_OF`.
        ends: (E,) the hidden classes of both ends.
        topics: how many classes there are, and one for none.
        seed: of what is drawn.
    """
    rng = seed.numpy()
    alike = ends[0] == ends[1]
    if kind == "weight":
        weight = np.where(alike, rng.beta(*HEAVY, len(alike)), rng.beta(*LIGHT, len(alike)))
        return np.maximum(weight, 0.01).astype(np.float32)
    topic = np.where(alike, ends[0], topics - 1)
    if kind == "one-hot":
        return one_hot(topic, topics, KINDS_OF_EDGES, rng)
    if kind == "continuous":
        return continuous(topic, topics, CONTINUOUS_COLUMNS, rng)
    makers = (continuous, one_hot, count)
    parts = [make(topic, topics, columns, rng) for make, columns in zip(makers, SEVERAL, strict=True)]
    return np.concatenate(parts, axis=1).astype(np.float32)
