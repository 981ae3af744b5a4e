"""What the explanations of two runs have in common: what both show, and what the evidence of both names.

Three shares, each 1 for the same explanations and 0 where nothing is common. They are compared with each other, not
with 1: graphs of one data set are alike in any case, as those of different classes are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from dignn.core.errors import DignnError
from dignn.evidence.removal import DROP_DIGITS
from dignn.evidence.variants import Kind, steps_from
from dignn.explanations.explanation import Explanation, Explanations
from dignn.graphs.description import type_name
from dignn.graphs.plain_graph import PlainGraph, plain_graphs
from dignn.metrics.counting import mean
from dignn.metrics.node_colours import node_colours

# Feature columns of a class that are compared: those that its evidence marks most.
COMPARED_WORDS = 10


@dataclass(frozen=True)
class Likeness:
    """How much two lists of explanations have in common; a share is None where neither has anything of the kind.

    Args:
        structure: mean over the explanations of both lists of the likeness to the one of the other list that is most
            alike. Two graphs are as alike as their multisets of node colours (types, refined by neighbours and
            relations for three rounds, the classified node marked): common colours by all colours.
        words: of the ten feature columns that the evidence of either list marks most, those that both mark, by all. A
            column of the classified node is another than the same of a node around it. Marked is what the class loses
            when it is removed, summed over the list.
        parts: the same of all single nodes (by type and steps from the classified node) and edges (by relation and
            steps of the nearer end), each weighted by its share of what the class loses.
    """

    structure: float | None
    words: float | None
    parts: float | None


def likeness(one: Sequence[Explanation], other: Sequence[Explanation]) -> Likeness:
    """Of two lists of explanations, as of one class in two runs. Features of nodes count by the evidence alone."""
    return Likeness(
        structure=_structure(_colours(one), _colours(other)),
        words=_common(_words(one), _words(other)),
        parts=_common(_parts(one), _parts(other)),
    )


def likeness_by_class(one: Explanations, other: Explanations) -> dict[str, Likeness]:
    """Of two runs, class by class.

    Raises:
        DignnError: they explain different classes.
    """
    if set(one) != set(other):
        raise DignnError(
            f"One run explains the classes {', '.join(one)}, the other {', '.join(other)}; give two of the same classes"
        )
    return {name: likeness(one[name], other[name]) for name in one}


def likeness_across_classes(one: Explanations, other: Explanations) -> Likeness:
    """Of explanations of different classes, one of each run, mean over pairs of classes: what is alike in any case.

    Both may be the same run.
    """
    return mean_likeness([likeness(one[mine], other[theirs]) for mine in one for theirs in other if mine != theirs])


def mean_likeness(several: Sequence[Likeness]) -> Likeness:
    """Each share's mean over those that are known."""
    names = [item.name for item in fields(Likeness)]
    return Likeness(**{name: mean([getattr(each, name) for each in several]) for name in names})


# -- what is compared ---------------------------------------------------------------------------------


def _common(one: Mapping[Hashable, float], other: Mapping[Hashable, float]) -> float | None:
    """What two weighted sets have in common, by all that they have (Jaccard); None where both are empty."""

    def total(choose: Callable[[float, float], float]) -> float:
        return sum(choose(one.get(key, 0), other.get(key, 0)) for key in {**one, **other})

    every = total(max)
    return total(min) / every if every else None


def _structure(one: Sequence[Counter[Hashable]], other: Sequence[Counter[Hashable]]) -> float | None:
    table = [[_common(mine, theirs) or 0.0 for theirs in other] for mine in one]
    best = [max(row, default=0.0) for row in table]
    best += [max((row[number] for row in table), default=0.0) for number in range(len(other))]
    return mean(best)


def _colours(explanations: Sequence[Explanation]) -> list[Counter[Hashable]]:
    """Colours of the nodes of each graph."""
    if not explanations:
        return []
    counts: list[Counter[Hashable]] = [Counter() for _ in explanations]
    for number, colour in zip(*(part.tolist() for part in node_colours(list(map(_marked, explanations)))), strict=True):
        counts[number][colour] += 1
    return counts


def _marked(explanation: Explanation) -> PlainGraph:
    """The graph, whose classified node has a type of its own."""
    (graph,) = plain_graphs(explanation.graph)
    if explanation.node is None:
        return graph
    types = graph.types.copy()
    types[int(explanation.graph.mask[0, : explanation.node].sum())] += len(explanation.graph.schema.node_types)
    return replace(graph, types=types)


def _words(explanations: Sequence[Explanation]) -> dict[Hashable, float]:
    """The columns that the evidence marks most, each with the weight 1."""
    drop: dict[tuple[str, str, str], float] = {}
    for evidence in (each.evidence for each in explanations if each.evidence is not None):
        for place, columns in (("own", evidence.own_columns), ("around", evidence.columns_around)):
            for column in columns:
                word = place, column.node_type, column.name
                drop[word] = drop.get(word, 0.0) + column.drop
    first = sorted(drop, key=lambda word: (-round(drop[word], DROP_DIGITS), word))[:COMPARED_WORDS]
    return dict.fromkeys(first, 1.0)


def _parts(explanations: Sequence[Explanation]) -> dict[Hashable, float]:
    """Kinds of nodes and edges that the evidence marks, each with its share of what the class loses."""
    drop: dict[Hashable, float] = {}
    for each in explanations:
        steps = steps_from(each.graph, each.node)
        for effect in each.evidence.effects.of(Kind.NODE, Kind.EDGE) if each.evidence is not None else ():
            nodes, lost = effect.part.nodes, round(effect.drop or 0.0, DROP_DIGITS)
            if lost > 0:
                distance = min(steps[v] for v in nodes)
                key = effect.part.kind, _what(each, nodes), distance
                drop[key] = drop.get(key, 0.0) + lost
    whole = sum(drop.values())
    return {key: lost / whole for key, lost in drop.items()}


def _what(explanation: Explanation, nodes: Sequence[int]) -> Hashable:
    """The type of a node, or the relation of an edge."""
    graph = explanation.graph
    return type_name(graph, nodes[0]) if len(nodes) == 1 else int(graph.edge[0, nodes[0], nodes[1]])
