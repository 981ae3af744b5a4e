"""Counterfactual pairs and undecided graphs as JSON, beside the graphs that are kept for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dignn.goes_by.boundary import Undecided
from dignn.goes_by.contrasts.edit_words import edit_words
from dignn.goes_by.counterfactuals import Counterfactual
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema


def contrasts_told(
    counterfactuals: Sequence[Counterfactual], undecided: Sequence[Undecided], schema: Schema
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], GraphBatch | None]:
    """What was found, in words.

    Returns:
        A dictionary for each pair, one for each undecided graph, and all their graphs, which the dictionaries name by
        number; None where there are none.
    """
    graphs = [graph for each in counterfactuals for graph in (each.before, each.after)]
    graphs += [each.graph for each in undecided]
    pairs = [_pair(each, 2 * number, schema) for number, each in enumerate(counterfactuals)]
    first = 2 * len(pairs)
    between = [
        {
            "classes": [schema.classes[index] for index in each.classes],
            "probability": _by_class(each.probability, schema),
            "graph": first + number,
            "node": each.node,
            "typical": each.typical,
        }
        for number, each in enumerate(undecided)
    ]
    return pairs, between, GraphBatch.cat(graphs) if graphs else None


def _pair(pair: Counterfactual, number: int, schema: Schema) -> dict[str, Any]:
    return {
        "source": schema.classes[pair.source],
        "target": schema.classes[pair.target],
        "probability_before": _by_class(pair.probability_before, schema),
        "probability_after": _by_class(pair.probability_after, schema),
        "inside": pair.inside,
        "edits": [
            {
                "kind": edit.kind.value,
                "words": edit_words(edit, pair.before, pair.after, pair.node),
                "node": edit.node,
                "other": edit.other,
            }
            for edit in pair.edits
        ],
        "graphs": [number, number + 1],
        "node": pair.node,
    }


def _by_class(probability: Sequence[float], schema: Schema) -> dict[str, float]:
    return dict(zip(schema.classes, probability, strict=True))
