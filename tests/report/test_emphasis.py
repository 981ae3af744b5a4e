"""How much parts matter to the model: what was measured, found by whoever draws."""

from __future__ import annotations

from dataclasses import replace

from dignn import readable
from dignn.report.emphasis import emphasis
from hand_made import explanation


def test_every_measured_edge_is_found_under_the_ends_that_drawings_use() -> None:
    shown = explanation()
    strength = emphasis(shown).edge
    ends = {(u, v) for u, v, _ in readable.edges(shown.graph)}
    # The author (node 2) is the source of the relation and comes after the paper: drawings ask for (0, 2).
    assert (0, 2) in ends
    assert strength[0, 2] == strength[2, 0] > 0


def test_without_evidence_there_is_no_emphasis() -> None:
    assert not emphasis(replace(explanation(), evidence=None)).node
