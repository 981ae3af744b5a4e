"""The classes, one panel each: their explanations with everything that speaks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from dignn.core.numerals import number, percent
from dignn.evidence.grammar import listed, noun, nouns, quoted
from dignn.evidence.nearest_example import NearestExample
from dignn.evidence.task_words import TaskWords, words_of
from dignn.graphs import description as readable
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind
from dignn.graphs.isomorphism import isomorphic
from dignn.graphs.schema import Schema
from dignn.report import scorecard_panel
from dignn.report.emphasis import emphasis
from dignn.report.feature_comparison import comparisons
from dignn.report.graph_drawing import INK
from dignn.report.graph_panel import graph_view, legend
from dignn.report.graph_svg import page_svg
from dignn.report.graph_words import made_of
from dignn.report.lookup import entry
from dignn.report.mark_words import agreement_in_words, agreements_in_words, mark_emphasis, marks_of, title
from dignn.report.reference import Reference

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation, Explanations, Standing

# Classes whose probability is shown; the others are summed up.
SHOWN_CLASSES = 8
# Embeddings nearer than this are the same.
SAME = 1e-4
# Bytes of an explanation on the page, about: with everything, and the graph alone.
_WHOLE, _ALONE = 60_000, 15_000


@dataclass(frozen=True)
class Detail:
    """How much of the classes is shown.

    Args:
        ranks: explanations of each class at most; None for all.
        whole: with the nearest real example and the charts, or without.
        classes: classes at most; None for all.
    """

    ranks: int | None = None
    whole: bool = True
    classes: int | None = None

    def expected_bytes(self, explanations: Explanations) -> int:
        """About how large the panels become."""
        shown = sum(len(several[: self.ranks]) for several in list(explanations.values())[: self.classes])
        told = scorecard_panel.panel_bytes(explanations.about, list(explanations)[: self.classes], self.whole)
        return shown * (_WHOLE if self.whole else _ALONE) + told


def content(explanations: Explanations, detail: Detail) -> dict[str, Any]:
    """What the template of the classes needs."""
    named = list(enumerate(explanations.items(), 1))[: detail.classes]
    told = scorecard_panel.panels(explanations.about, explanations.schema, detail.whole)
    return {
        "classes": [
            {**_class(name, several, number, explanations, detail), "goes_by": told.get(name)}
            for number, (name, several) in named
        ],
        "left_out": len(explanations) - len(named),
        "whole": detail.whole,
        "ink": INK,
        "agreements": agreements_in_words(explanations.about),
    }


def ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``11th``."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def near_in_words(nearest: NearestExample) -> str:
    """How near the nearest real example is, compared with real members of the class among themselves."""
    farther = nearest.farther
    if nearest.distance < SAME:
        return "To the model it is the same as the explanation."
    if farther is None:
        return f"Its distance is {number(nearest.distance)}; there are no real members to compare it with."
    if farther >= 0.999:
        return "To the model it is nearer than any two real members of the class are to each other."
    if farther < 0.01:
        return "To the model it is farther away than real members of the class are from each other."
    how = "nearer than usual" if farther > 0.75 else "about as near as usual" if farther > 0.25 else "rather far"
    members = f"{percent(farther)} of the real members of the class"
    return f"To the model it is {how}: for {members}, the nearest other is at least as far."


def same_in_words(one: GraphBatch, other: GraphBatch) -> str:
    """That two graphs of a schema are one graph, where they are: types, members and relations; features aside."""
    if not isomorphic(_with_members(one), _with_members(other)):
        return ""
    kinds = {one.schema.spec(readable.type_name(one, node)).kind for node in range(int(one.sizes[0]))}
    aside = kinds - {FeatureKind.NONE, FeatureKind.IDENTITY}
    return "Features aside, it has the same nodes and edges." if aside else "It has the same nodes and edges."


def _with_members(graph: GraphBatch) -> GraphBatch:
    """The graph with members of types whose nodes have names of their own in place of labels, which are not drawn."""
    label = torch.full_like(graph.label, -1)
    for node in range(int(graph.sizes[0])):
        name = readable.type_name(graph, node)
        if graph.schema.spec(name).kind is FeatureKind.IDENTITY and name in graph.tables:
            label[0, node] = graph.tables[name][int(graph.row[0, node])].argmax()
    return replace(graph, label=label, graph_label=torch.full_like(graph.graph_label, -1))


def standing_in_words(standing: Standing, name: str) -> str:
    """Where an explanation stands among real members of its class."""

    def of_them(share: float) -> str:
        return "any of them" if share >= 1 else f"{percent(share)} of them"

    where = "Inside" if standing.inside else "Outside"
    score, nearer = standing.score_rank, 1 - standing.distance_rank
    sure = f"surer of it than of {of_them(score)}" if score > 0 else "less sure of it than of any of them"
    near = f"nearer to real members than {of_them(nearer)} are to each other"
    if nearer <= 0:
        near = "farther from real members than any of them are from each other"
    return f"{where} the range of real members of {quoted(name)}. The model is {sure}. To the model it is {near}."


def _class(
    name: str, several: list[Explanation], number: int, explanations: Explanations, detail: Detail
) -> dict[str, Any]:
    shown = several[: detail.ranks]
    return {
        "key": f"class-{number}",
        "name": name,
        "known": _known(name, explanations.about, several[0].graph.schema if several else None),
        "items": [
            _item(item, f"class-{number}-rank-{place}", explanations.reference, detail)
            for place, item in enumerate(shown, 1)
        ],
        "left_out": len(several) - len(shown),
    }


def _known(name: str, about: Mapping[str, Any], schema: Schema | None) -> str:
    """How many real members have the label, and how often the model agrees with it; empty where unknown."""
    count = entry(about, int, "facts", "data", "classes", name)
    share = entry(about, float, "agreement", "classes", name)
    if count is None:
        return ""
    words = TaskWords("graph", "graphs", whole=True) if schema is None else words_of(schema.task)
    told = f"{count:,} real {words.things} have this label"
    if share is None:
        return f"{told}."
    seen = "" if words.whole else ", as they stand there"
    return f"{told}; of those in the small real graphs of this run the model gives it to {percent(share)}{seen}."


def _item(explanation: Explanation, key: str, reference: Reference | None, detail: Detail) -> dict[str, Any]:
    missing = _missing(explanation, reference)
    if not detail.whole:
        explanation, reference = replace(explanation, example=None), None
    example, standing = explanation.example, explanation.standing
    graphs = [explanation.graph, *([] if example is None else [example])]
    weight = emphasis(explanation.evidence)
    marks = marks_of(explanation.evidence)
    name = f"Explanation of {explanation.class_name}: {made_of(explanation.graph)}. Arrow keys move between nodes."
    return {
        "key": key,
        "rank": ordinal(explanation.rank + 1),
        "shown": explanation,
        "probabilities": _probabilities(explanation),
        "standing": None if standing is None else standing_in_words(standing, explanation.class_name),
        "graph": graph_view(explanation.graph, f"{key}-made", name, explanation.node, weight, marks),
        "marked": [
            {
                "key": f"{key}-marks-{place}",
                "name": title(marker),
                "text": agreement_in_words(marker, given),
                "drawing": page_svg(
                    explanation.graph,
                    f"{key}-made",
                    f"As {title(marker)} marks it. {name}",
                    explanation.node,
                    mark_emphasis(given, explanation.graph),
                ),
            }
            for place, (marker, given) in enumerate(marks.items(), 1)
        ],
        "example": _example(explanation, key),
        "legend": legend(*graphs, target=explanation.node is not None),
        "comparisons": [] if reference is None else comparisons(explanation, reference.profiles),
        "around": _around(explanation),
        "missing": missing,
    }


def _probabilities(explanation: Explanation) -> list[tuple[str, float]]:
    """The model's probability of the classes: the explained one first, then the likeliest, the rest summed up."""
    own, names = explanation.class_name, explanation.graph.schema.classes
    found = zip(names, explanation.probability, strict=True)
    pairs = sorted(found, key=lambda pair: (pair[0] != own, -pair[1]))
    if len(pairs) > SHOWN_CLASSES:
        rest = pairs[SHOWN_CLASSES - 1 :]
        pairs = [*pairs[: SHOWN_CLASSES - 1], (f"{len(rest)} others together", sum(p for _, p in rest))]
    return pairs


def _example(explanation: Explanation, key: str) -> dict[str, Any] | None:
    """The nearest real example, drawn and in words; None where there is none to draw."""
    example = explanation.example
    if example is None:
        return None
    name = f"Nearest real example: {made_of(example)}. Arrow keys move between nodes."
    nearest = None if explanation.evidence is None else explanation.evidence.nearest
    return {
        "graph": graph_view(example, f"{key}-real", name, None if nearest is None else nearest.node),
        "nearest": nearest,
        "near": None if nearest is None else near_in_words(nearest),
        "same": same_in_words(explanation.graph, example),
    }


def _around(explanation: Explanation) -> list[tuple[str, list[tuple[str, str]]]]:
    """By type the columns of other nodes that the model would miss, and how many nodes have each, in words."""
    evidence = explanation.evidence
    schema = explanation.graph.schema
    found: dict[str, list[tuple[str, str]]] = {}
    for column in () if evidence is None else evidence.columns_around:
        about = schema.spec(column.node_type).column(column.column)
        if not about.numeric:  # these are compared as densities
            words = _how_many(about, column.node_type, len(column.nodes))
            found.setdefault(nouns(column.node_type), []).append((column.name, words))
    return list(found.items())


def _how_many(column: Column, node_type: str, nodes: int) -> str:
    """How many nodes have a word, if several; of a category or an id, which all have, whose it is: ``(13 shops)``."""
    if column.kind in (ColumnKind.CATEGORICAL, ColumnKind.IDENTITY):
        return f"({nodes} {noun(node_type) if nodes == 1 else nouns(node_type)})"
    return f"\u00d7 {nodes}" if nodes > 1 else ""


def _missing(explanation: Explanation, reference: Reference | None) -> str | None:
    """What a reader would expect and does not find, and how to get it."""
    lacks = []
    if explanation.evidence is None:
        lacks.append("what the model would miss")
    if explanation.example is None:
        lacks.append("the nearest real example")
    if reference is None and any(spec.kind is not FeatureKind.NONE for spec in explanation.graph.schema.features):
        lacks.append("the features of real members of the class")
    return listed(lacks) or None
