"""Edges as keys, against NumPy's own words."""

from __future__ import annotations

import numpy as np
import pytest

from dignn.graphs.distinct_keys import distinct, mirrored


@pytest.mark.parametrize(("size", "edges"), [(1, 0), (1, 4), (5, 60), (400, 90), (100_000, 2000)])
def test_keys_are_those_of_numpy(size: int, edges: int) -> None:
    rng = np.random.default_rng(edges)
    source, target = rng.integers(size, size=(2, edges))
    keys, times = distinct(source * size + target)
    expected, counts = np.unique(source * size + target, return_counts=True)
    assert np.array_equal(keys, expected)
    assert np.array_equal(times, counts)
    assert np.array_equal(mirrored(keys, size), np.unique(target * size + source))
