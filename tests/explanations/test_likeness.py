"""What two runs have in common: known answers, and the same by slow loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import hand_made
from dignn.core.errors import DignnError
from dignn.evidence.removal import ColumnEffect, Effect
from dignn.evidence.variants import Kind, Part
from dignn.explanations.explanation import Explanation, Explanations
from dignn.explanations.likeness import (
    COMPARED_WORDS,
    Likeness,
    likeness,
    likeness_across_classes,
    likeness_by_class,
    mean_likeness,
)
from dignn.graphs.batch import GraphBatch
from strategies import batch_of


def drawn(rng: np.random.Generator) -> Explanation:
    """A random graph of the hand-made schema, of authors, papers and a venue; without evidence."""
    types = [0, *rng.choice([0, 1, 1, 2], 7).tolist()]
    relation = {(0, 1): 1, (1, 1): 2, (1, 2): 3}  # by the types of both ends
    pairs = [(u, v) for u in range(8) for v in range(8) if u != v and rng.random() < 0.4]
    edges = {(u, v): relation[types[u], types[v]] for u, v in pairs if (types[u], types[v]) in relation}
    return of_graph(batch_of(hand_made.schema(), types, edges, labels={0: 1}), 0)


def of_graph(graph: GraphBatch, node: int) -> Explanation:
    return replace(hand_made.explanation(bare=True), graph=graph, node=node)


def shuffled(explanation: Explanation, rng: np.random.Generator) -> Explanation:
    """The same graph, whose nodes have other numbers."""
    order = torch.from_numpy(rng.permutation(explanation.graph.node_type.size(1)))
    graph = explanation.graph
    rest = {name: getattr(graph, name)[:, order] for name in ("node_type", "label", "row")}
    moved = replace(graph, edge=graph.edge[:, order][:, :, order], **rest)
    return of_graph(moved, order.tolist().index(explanation.node))


def with_evidence(**changes: Any) -> Explanation:
    made = hand_made.explanation()
    assert made.evidence is not None
    return replace(made, evidence=replace(made.evidence, **changes))


def columns(drops: dict[str, float], node_type: str = "author") -> tuple[ColumnEffect, ...]:
    return tuple(ColumnEffect(node_type, 0, name, drop, (2,), 0) for name, drop in drops.items())


def with_effects(*effects: Effect) -> Explanation:
    evidence = hand_made.explanation().evidence
    assert evidence is not None
    return with_evidence(effects=replace(evidence.effects, effects=effects))


# -- all three ----------------------------------------------------------------------------------------


def test_the_same_explanations_have_all_in_common() -> None:
    several = [hand_made.explanation(0), hand_made.explanation(1)]
    assert likeness(several, several) == Likeness(1.0, 1.0, 1.0)


def test_nothing_in_common() -> None:
    other = with_evidence(own_columns=columns({"luck": 1.0}))
    node = replace(hand_made.lone(), evidence=other.evidence)
    assert node.evidence is not None
    effects = replace(node.evidence.effects, effects=(Effect(Part(Kind.NODE, (0,)), 1.0, 0.5),))
    apart = replace(node, evidence=replace(node.evidence, effects=effects))
    assert likeness([hand_made.explanation()], [apart]) == Likeness(0.0, 0.0, 0.0)


def test_where_one_run_shows_nothing_nothing_stays() -> None:
    assert likeness([hand_made.explanation()], []) == Likeness(0.0, 0.0, 0.0)
    assert likeness([], [hand_made.explanation()]) == Likeness(0.0, 0.0, 0.0)
    assert likeness([], []) == Likeness(None, None, None)
    bare = [hand_made.explanation(bare=True)]
    assert likeness(bare, bare) == Likeness(1.0, None, None)


# -- structure ----------------------------------------------------------------------------------------


def slow_colours(explanation: Explanation) -> Counter[Hashable]:
    """Colours as nested tuples: the type, then what is around, three times."""
    graph = explanation.graph
    edge = graph.edge[0].tolist()
    colour: list[Any] = [(kind, node == explanation.node) for node, kind in enumerate(graph.node_type[0].tolist())]
    found: Counter[Hashable] = Counter()
    for _ in range(3):
        joined = [[v for v in range(len(colour)) if edge[u][v] or edge[v][u]] for u in range(len(colour))]
        colour = [
            (own, tuple(sorted((edge[u][v], edge[v][u], colour[v]) for v in joined[u]))) for u, own in enumerate(colour)
        ]
        found.update(colour)
    return found


def slow_structure(one: Sequence[Explanation], other: Sequence[Explanation]) -> float:
    def alike(first: Explanation, second: Explanation) -> float:
        mine, theirs = slow_colours(first), slow_colours(second)
        return (mine & theirs).total() / (mine | theirs).total()

    best = [max(alike(mine, theirs) for theirs in other) for mine in one]
    best += [max(alike(mine, theirs) for mine in one) for theirs in other]
    return sum(best) / len(best)


def test_structure_by_slow_loops() -> None:
    rng = np.random.default_rng(0)
    one, other = ([drawn(rng) for _ in range(number)] for number in (4, 3))
    other.append(shuffled(one[0], rng))
    found = likeness(one, other).structure
    assert found == pytest.approx(slow_structure(one, other))
    assert found is not None
    assert 0 < found < 1
    assert likeness(other, one).structure == pytest.approx(found)


def test_numbers_of_nodes_say_nothing_and_the_classified_node_does() -> None:
    rng = np.random.default_rng(1)
    graph = drawn(rng)
    assert likeness([graph], [shuffled(graph, rng)]).structure == 1.0
    found = likeness([graph], [replace(graph, node=1)]).structure
    assert found is not None
    assert found < 1


# -- evidence -----------------------------------------------------------------------------------------


def test_words_that_both_mark_by_all() -> None:
    one = with_evidence(own_columns=columns({"query": 2.0, "index": 1.0}), columns_around=())
    other = with_evidence(own_columns=columns({"query": 0.5}), columns_around=columns({"index": 1.0}))
    assert likeness([one], [other]).words == 1 / 3  # the author's own index is another than that of an author nearby


def test_only_the_ten_words_that_are_marked_most_count() -> None:
    often = {f"word {number}": 1.0 for number in range(COMPARED_WORDS)}
    one = [with_evidence(own_columns=columns(often | {"rare": 1.5})), with_evidence(own_columns=columns(often))]
    same = [with_evidence(own_columns=columns(often)), with_evidence(own_columns=columns(often))]
    assert likeness(one, same).words == 1.0  # twice 1 is more than 1.5
    assert likeness(one[:1], same[:1]).words == (COMPARED_WORDS - 1) / (COMPARED_WORDS + 1)


def test_parts_are_weighted_by_what_the_class_loses() -> None:
    paper, edge = Part(Kind.NODE, (0,)), Part(Kind.EDGE, (2, 0))
    one = with_effects(Effect(paper, 3.0, 0.1), Effect(edge, 1.0, 0.2))
    other = with_effects(Effect(paper, 0.5, 0.1), Effect(edge, 0.5, 0.2))
    assert likeness([one], [other]).parts == (0.5 + 0.25) / (0.75 + 0.5)
    unhurt = with_effects(Effect(paper, 3.0, 0.1), Effect(edge, 1.0, 0.2), Effect(Part(Kind.NODE, (3,)), -5.0, 0.9))
    assert likeness([one], [unhurt]).parts == 1.0


def test_parts_know_how_far_they_are() -> None:
    near, far = with_effects(Effect(Part(Kind.EDGE, (2, 0)), 1.0, 0.5)), Effect(Part(Kind.EDGE, (0, 3)), 1.0, 0.5)
    assert likeness([near], [with_effects(far)]).parts == 0.0
    assert likeness([near], [with_effects(Effect(Part(Kind.EDGE, (2, 1)), 9.0, 0.5))]).parts == 1.0  # of the same kind


# -- runs ---------------------------------------------------------------------------------------------


def test_runs_class_by_class_and_across_classes() -> None:
    rng = np.random.default_rng(2)
    run = Explanations({"one": [drawn(rng)], "two": [drawn(rng)]})
    swapped = Explanations({"one": run["two"], "two": run["one"]})
    between = slow_structure(run["one"], run["two"])
    assert {name: found.structure for name, found in likeness_by_class(run, run).items()} == {"one": 1.0, "two": 1.0}
    assert likeness_across_classes(run, swapped).structure == 1.0
    assert likeness_across_classes(run, run).structure == pytest.approx(between)
    assert likeness_by_class(run, swapped)["two"].structure == pytest.approx(between)


def test_runs_of_other_classes_are_refused() -> None:
    with pytest.raises(DignnError, match="explains the classes one, two, the other one; give two of the same classes"):
        likeness_by_class(Explanations({"one": [], "two": []}), Explanations({"one": []}))


def test_the_mean_is_over_what_is_known() -> None:
    assert mean_likeness([Likeness(0.5, None, 1.0), Likeness(1.0, None, None)]) == Likeness(0.75, None, 1.0)
