"""Feature tables of several kinds of columns, and of missing values."""

from __future__ import annotations

import numpy as np

from dignn.zoo.worlds.topic_tables import binary, codes, continuous, count, heavy_tailed, one_hot

# The kind of a column of days since a day, as schemas have it, and between which days its dates lie.
DATE, DAYS = "date:days:1970-01-01", (9_000, 20_000)
# Days by which dates of one class vary.
SPREAD = 400
# One column in this many is constant where values are missing.
CONSTANT_IN = 8
# Least and greatest share of the values of a column that are missing in a class.
GAP_RATES = (0.02, 0.6)


def mixed(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator) -> tuple[np.ndarray, dict[int, str]]:
    """A table with columns of every kind, side by side, some values missing, and which kinds must be said.

    Args:
        topic, topics, columns, rng: as in :mod:`~dignn.zoo.worlds.topic_tables`; at least 16 columns.
    """
    date = rng.uniform(*DAYS, topics)[topic] + SPREAD * rng.normal(size=len(topic))
    parts = [
        date.round()[:, None],
        codes(topic, topics, 1, rng),
        np.full((len(topic), 1), 3.0),
        binary(topic, topics, 2, rng),
        count(topic, topics, 2, rng),
        one_hot(topic, topics, 4, rng),
        heavy_tailed(topic, topics, 2, rng),
    ]
    left = columns - sum(part.shape[1] for part in parts)
    parts.append(_with_gaps(continuous(topic, topics, left, rng), topic, topics, rng))
    return np.concatenate(parts, axis=1).astype(np.float32), {0: DATE, 1: "categorical"}


def missing(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Quantities of which some are missing, in some classes more often than in others; a few columns are constant."""
    still = columns // CONSTANT_IN
    x = _with_gaps(continuous(topic, topics, columns - still, rng), topic, topics, rng)
    return np.concatenate([x, np.full((len(topic), still), 1.5, dtype=np.float32)], axis=1)


def _with_gaps(x: np.ndarray, topic: np.ndarray, topics: int, rng: np.random.Generator) -> np.ndarray:
    """NaN in place of some values, more often in some classes; half of the columns stay whole."""
    rate = rng.uniform(*GAP_RATES, (topics, x.shape[1])) * (np.arange(x.shape[1]) % 2 == 0)
    return np.where(rng.random(x.shape) < rate[topic], np.nan, x).astype(np.float32)
