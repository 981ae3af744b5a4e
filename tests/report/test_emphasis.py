"""How much parts matter to the model: what was measured, found by whoever draws."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dignn.evidence.gathering import Evidence
from dignn.evidence.removal import Effect, Effects
from dignn.evidence.variants import Kind, Part
from dignn.graphs import description as readable
from dignn.report.emphasis import MUCH, emphasis
from hand_made import explanation


def with_effects(*effects: Effect) -> Evidence:
    known = explanation().evidence
    assert known is not None
    return replace(known, effects=Effects(1, 2, 0.75, 1.1, effects))


def test_every_measured_edge_is_found_under_the_ends_that_drawings_use() -> None:
    ends = [(u, v) for u, v, _ in readable.edges(explanation().graph)]
    for turned in (False, True):  # whichever end the measurement names first
        parts = [Part(Kind.EDGE, pair[::-1] if turned else pair) for pair in ends]
        told = emphasis(with_effects(*(Effect(part, 1.0 + k, 0.1 * k) for k, part in enumerate(parts))))
        assert [told.edge[pair] for pair in ends] == pytest.approx([(1 + k) / len(ends) for k in range(len(ends))])
        assert [told.without_edge[pair] for pair in ends] == pytest.approx([0.1 * k for k in range(len(ends))])


def test_nodes_and_edges_share_one_scale() -> None:
    node, edge = Part(Kind.NODE, (0,)), Part(Kind.EDGE, (2, 0))
    told = emphasis(with_effects(Effect(node, 4.0, 0.1), Effect(edge, 1.0, 0.5)))
    assert (told.node[0], told.edge[2, 0]) == (1.0, 0.25)
    told = emphasis(with_effects(Effect(node, 1.0, 0.5), Effect(edge, 4.0, 0.1)))
    assert (told.node[0], told.edge[2, 0]) == (0.25, 1.0)


@pytest.mark.parametrize(
    ("drops", "strengths"),
    [
        ((0.5 * MUCH, 0.25 * MUCH), (0.5, 0.25)),  # little is drawn as little
        ((MUCH, 0.5 * MUCH), (1.0, 0.5)),
        ((2 * MUCH, MUCH), (1.0, 0.5)),  # beyond, the largest is as strong as can be
        ((2 * MUCH, -3 * MUCH), (1.0, 0.0)),  # what the class gains by is not missed, and sets no scale
    ],
)
def test_strength_goes_from_nothing_to_one(drops: tuple[float, ...], strengths: tuple[float, ...]) -> None:
    told = emphasis(with_effects(*(Effect(Part(Kind.NODE, (k,)), drop, 0.5) for k, drop in enumerate(drops))))
    assert tuple(told.node.values()) == strengths


def test_two_directed_edges_between_one_pair_keep_what_each_costs() -> None:
    there, back = Part(Kind.EDGE, (0, 1)), Part(Kind.EDGE, (1, 0))
    told = emphasis(with_effects(Effect(there, 2.0, 0.2), Effect(back, 1.0, 0.6)))
    assert told.edge == {(0, 1): 1.0, (1, 0): 0.5}
    assert told.without_edge == {(0, 1): 0.2, (1, 0): 0.6}


def test_columns_are_those_that_cost_something_the_dearest_first() -> None:
    drops = {(2, 0): 0.5, (2, 1): -1.0, (2, 2): 0.75, (0, 1): 0.1, (1, 0): 0.0}
    told = emphasis(with_effects(*(Effect(Part(Kind.COLUMN, (v,), (j,)), d, 0.5) for (v, j), d in drops.items())))
    assert told.columns == {2: [2, 0], 0: [1]}
    assert told.node == told.edge == {}


def test_parts_without_an_answer_have_no_probability() -> None:
    told = emphasis(with_effects(Effect(Part(Kind.NODE, (3,)), None, None), Effect(Part(Kind.NODE, (0,)), 1.0, 0.5)))
    assert told.node.get(3, 0.0) == 0.0
    assert told.without_node == {0: 0.5}


def test_without_evidence_there_is_no_emphasis() -> None:
    assert not emphasis(None).node
