"""Feature tables that follow a topic per row: binary, counts, categories, quantities, embeddings.

Each function takes the topics (n,) of the rows, how many topics there are, how many columns to make, and a generator.
The last topic is that of rows that show no class.
"""

from __future__ import annotations

import numpy as np

# Chances that a word of another topic and of the own one is there; how much more often those of the own are counted.
RARE, OWN, RATE = 0.06, 0.75, 3.0
# Levels of a column of codes; members of a group of one-hot columns.
CODE_LEVELS, GROUP_SIZE = (8, 40), (3, 7)
# Standard deviations between the means of topics, dimensions that embeddings really have, and their noise.
APART, RANK, BLUR = 2.2, 8, 0.15
# How often other columns are drawn for a topic that has those of another.
SIGNATURE_TRIES = 20


def signature(topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """(topics, columns) which columns belong to each topic; none to the last."""
    own = np.zeros((topics, columns), dtype=bool)
    number = max(1, min(12, columns // 3))
    order = rng.permutation(columns)
    for topic in range(topics - 1):  # in turn, so that topics share as few as possible
        own[topic, order[(topic * number + np.arange(number)) % columns]] = True
        for _ in range(SIGNATURE_TRIES):
            if not (own[:topic] == own[topic]).all(1).any():
                break
            own[topic] = rng.random(columns) < 0.5
    return own


def binary(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Zeros and ones."""
    base = RARE * rng.uniform(0.3, 3, columns)
    chance = np.where(signature(topics, columns, rng), OWN, base)
    return (rng.random((len(topic), columns)) < chance[topic]).astype(np.float32)


def count(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Whole numbers."""
    base = RARE * 2 * rng.uniform(0.3, 3, columns)
    return rng.poisson(np.where(signature(topics, columns, rng), RATE, base)[topic]).astype(np.float32)


def codes(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of categories, in no order."""
    return np.stack([_category(topic, topics, int(rng.integers(*CODE_LEVELS)), rng) for _ in range(columns)], axis=1)


def one_hot(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Groups of columns of which one is 1 and the others are 0."""
    parts, left = [], columns
    while left:
        size = left if left < GROUP_SIZE[0] + GROUP_SIZE[1] else int(rng.integers(*GROUP_SIZE))
        parts.append(np.eye(size, dtype=np.float32)[_category(topic, topics, size, rng)])
        left -= size
    return np.concatenate(parts, axis=1)


def _category(topic: np.ndarray, topics: int, levels: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) categories: each topic has some favourites; the last topic has none."""
    share = rng.dirichlet(np.full(levels, 0.12), topics)
    share[-1] = rng.dirichlet(np.full(levels, 3.0))
    share = 0.9 * share + 0.1 / levels
    return (rng.random((len(topic), 1)) > share.cumsum(1)[topic][:, :-1]).sum(1)


def continuous(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Quantities in units of their own, related to each other, the first of them with two modes."""
    means = _means(topics, columns, rng)
    mixed = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    x = (means[topic] + rng.normal(size=(len(topic), columns)) * rng.uniform(0.5, 1, columns)) @ mixed
    if columns > 1:
        x[:, 0] += 6 * (rng.random(len(topic)) < 0.4)
    return (x * 10 ** rng.uniform(-1, 2, columns) + rng.normal(size=columns) * 10).astype(np.float32)


def heavy_tailed(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Positive quantities over many orders of magnitude, some of them often 0."""
    power = _means(topics, columns, rng)[topic] * 0.8 + rng.normal(size=(len(topic), columns))
    x = np.exp(power + rng.uniform(-1, 5, columns))
    zero = rng.choice([0.0, 0.15], columns, p=[0.6, 0.4])
    return np.where(rng.random(x.shape) < zero, 0, x).astype(np.float32)


def _means(topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """(topics, columns) means of topics: in a row on few columns, in all directions on many; the last in the middle."""
    if columns < 3:
        places = rng.permutation(topics - 1) - (topics - 2) / 2
        means = np.repeat(2 * APART * places[:, None], columns, axis=1)
    else:
        means = APART * rng.choice([-1.0, 0.0, 1.0], (topics - 1, columns)) * np.sqrt(8 / max(8, columns))
        means += APART * np.eye(topics - 1, columns)
    return np.concatenate([means, np.zeros((1, columns))])


def embeddings(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator, *, unit: bool) -> np.ndarray:
    """Dense rows that vary in few directions, as neural networks make them; ``unit``: of length 1."""
    axes = rng.normal(size=(RANK, columns)) / np.sqrt(RANK)
    within = (rng.normal(size=(len(topic), RANK)) * 0.6) @ axes
    centres = rng.normal(size=(topics, columns)) * np.append(np.ones(topics - 1), 0.0)[:, None] * 0.8
    x = np.tanh(within + centres[topic]) + BLUR * rng.normal(size=(len(topic), columns))
    if unit:
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x.astype(np.float32)
