"""How explanations show themselves in Jupyter: still HTML, without script and without a style sheet.

Every style is an attribute, so that nothing leaks into the notebook, and cards are white with dark text, so that they
are read in light and dark themes alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dignn.graphs.column_words import goes_without_saying, in_words
from dignn.report.goes_by_words import class_words
from dignn.report.graph_drawing import INK
from dignn.report.graph_svg import still_svg, svg
from dignn.report.graph_words import features_of
from dignn.report.legend import entries
from dignn.report.safe_text import clean
from dignn.report.templating import render

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation, Explanations

# Columns of the classified node that are shown.
CARD_COLUMNS = 12
# Classes that are shown: a notebook keeps every card.
CARD_CLASSES = 24
# Phrases of what the model goes by.
CARD_TERMS = 3


def explanation_html(explanation: Explanation) -> str:
    """One explanation: its drawing beside the nearest real example, its text, the classified node's features."""
    features, further = _features(explanation)
    text = render(
        "notebook_explanation.html",
        ink=INK,
        item=explanation,
        drawing=svg(explanation),
        example=_example(explanation),
        legend=_legend([explanation]),
        features=features,
        further=further,
    )
    return clean(text)


def explanations_html(explanations: Explanations) -> str:
    """A card per class with its best explanation, of the first classes, and how to get at the others."""
    shown, hidden = list(explanations.items())[:CARD_CLASSES], list(explanations)[CARD_CLASSES:]
    best = [several[0] for _, several in shown if several]
    words = class_words(explanations.about, explanations.schema, CARD_TERMS)
    cards = [(name, several, svg(several[0]) if several else None, words.get(name)) for name, several in shown]
    legend = _legend(best) if best else []
    concluded = next((each.conclusion for each in words.values() if each.terms), "")
    content = {"cards": cards, "legend": legend, "hidden": hidden, "concluded": concluded}
    return clean(render("notebook_classes.html", ink=INK, **content))


def _example(explanation: Explanation) -> dict[str, Any] | None:
    """The nearest real example, drawn; None where there is none."""
    if explanation.example is None or explanation.evidence is None:
        return None
    nearest, schema = explanation.evidence.nearest, explanation.graph.schema
    what = str(schema.target) if nearest.node is not None else "graph"
    label = "" if nearest.label is None else f", labelled “{schema.classes[nearest.label]}”"
    caption = f"The nearest real {what}{label}; the model says “{schema.classes[nearest.predicted]}”"
    return {"drawing": still_svg(explanation.example, caption, nearest.node), "caption": caption}


def _legend(explanations: Sequence[Explanation]) -> list[tuple[Markup, str]]:
    """What is drawn."""
    return entries([item.graph for item in explanations], any(item.node is not None for item in explanations))


def _features(explanation: Explanation) -> tuple[list[tuple[str, str, bool]], int]:
    """The classified node's columns, what the model would miss first: name, value, whether it would; and the rest."""
    if explanation.node is None:
        return [], 0
    evidence = explanation.evidence
    missed = [] if evidence is None else [column.column for column in evidence.own_columns if column.drop > 0]
    features, further = features_of(explanation.graph, explanation.node, missed, CARD_COLUMNS)
    told = [
        (
            item.name,
            "" if goes_without_saying(item.value, item.column) else f" {in_words(item.value, item.column)}",
            item.missed,
        )
        for item in features
    ]
    return told, further
