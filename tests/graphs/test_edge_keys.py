"""Edges of a view as sorted keys, against sets of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dignn.graphs import edge_keys
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.distinct_keys import among
from dignn.graphs.edge_keys import EdgeKeys, NumberedEdges
from dignn.graphs.inference import read_data
from strategies import PROPERTY, hetero

ONE, OTHER = ("a", "to", "b"), ("b", "from", "a")
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=8)


def keys(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> EdgeKeys:
    """Edges from 4 nodes of type a to 3 of type b, and back."""
    given = {
        ONE: np.array(one, dtype=np.int64).reshape(-1, 2).T,
        OTHER: np.array(other, dtype=np.int64).reshape(-1, 2).T,
    }
    return EdgeKeys(NumberedEdges(given, {"a": 0, "b": 4}), 7)


@PROPERTY
@given(PAIRS, PAIRS)
def test_keys_are_sets_of_pairs(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    found = keys(one, [(b, a) for a, b in other])
    for edge_type, pairs in ((ONE, [(a, 4 + b) for a, b in one]), (OTHER, [(4 + b, a) for a, b in other])):
        key, times = found.of(edge_type)
        assert key.tolist() == sorted({a * 7 + b for a, b in pairs})
        assert dict(zip(key.tolist(), times.tolist(), strict=True)) == {
            a * 7 + b: pairs.count((a, b)) for a, b in pairs
        }
        assert found.mirrored(edge_type).tolist() == sorted({b * 7 + a for a, b in pairs})
        assert found.once(edge_type) == (len(set(pairs)) == len(pairs))
    assert found.opposite(ONE, OTHER) == (set(one) == set(other))
    before = found.of(ONE)[0].tolist()
    found.forget()
    assert found.of(ONE)[0].tolist() == before


@PROPERTY
@given(st.lists(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_among_is_membership(some: list[int], known: set[int]) -> None:
    found = among(np.array(some, dtype=np.int64), np.array(sorted(known), dtype=np.int64))
    assert found.tolist() == [each in known for each in some]


def test_what_was_read_for_the_schema_is_not_sorted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(0, 1), (1, 0), (2, 1)]
    edges = {ONE: pairs, OTHER: [(b, a) for a, b in pairs], ("a", "cites", "a"): [(0, 1), (2, 0)]}
    data = hetero({"a": 3, "b": 2}, edges, y={"a": [0, 1, 0]})
    sorts = []
    whole = edge_keys.distinct
    monkeypatch.setattr(edge_keys, "distinct", lambda keys: sorts.append(len(keys)) or whole(keys))
    schema, view = read_data(data, "a")
    found = Adjacency.of_view(view, schema)
    assert sorted(sorts) == [2, 3, 3]
    expected = Adjacency.build(data, schema)
    assert found.neighbour.tolist() == expected.neighbour.tolist()
    assert found.relation.tolist() == expected.relation.tolist()


def test_the_users_own_edges_are_not_copied() -> None:
    index = np.arange(6).reshape(2, 3) % 3
    edges = NumberedEdges({ONE: index, OTHER: index}, {"a": 0, "b": 3})
    assert edges._given[ONE] is index
    assert edges[ONE].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert ONE in edges
    assert ("a", "knows", "a") not in edges
    assert list(edges) == [ONE, OTHER]
