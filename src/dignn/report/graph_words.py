"""Graphs in words: what they are made of, and what their nodes carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dignn.evidence.grammar import noun, nouns
from dignn.graphs import description as readable
from dignn.graphs.batch import GraphBatch
from dignn.graphs.column_words import carried
from dignn.graphs.feature_spec import Column, FeatureKind


class Carried(NamedTuple):
    """A column that a node carries: its name, its value and what it holds, and whether the model would miss it."""

    name: str
    value: float
    column: Column
    missed: bool


def features_of(graph: GraphBatch, node: int, missed: Sequence[int], most: int) -> tuple[list[Carried], int]:
    """What a node carries, what the model would miss first, then the largest; and how many columns are left out.

    Args:
        graph: a batch of one graph.
        node: which of its nodes.
        missed: numbers of the columns that the model would miss, in their order; names need not be distinct.
        most: columns to name.
    """
    name = readable.type_name(graph, node)
    spec = graph.schema.spec(name)
    if spec.kind is FeatureKind.NONE or name not in graph.tables:
        return [], 0
    row = graph.tables[name][int(graph.row[0, node])]
    place = {column: number for number, column in enumerate(missed)}
    ranked = sorted(carried(row, spec), key=lambda column: place.get(column, len(place)))
    shown = [Carried(spec.column_name(c), float(row[c]), spec.column(c), c in place) for c in ranked[:most]]
    return shown, len(ranked) - len(shown)


def made_of(graph: GraphBatch) -> str:
    """How many nodes of each type, in words: ``2 authors, 1 paper``."""
    shown = [(count, noun(name) if count == 1 else nouns(name)) for name, count in readable.counts(graph).items()]
    return ", ".join(f"{count} {word}" for count, word in shown)


def unbroken(text: str) -> str:
    """A text whose percentages stay on one line."""
    return text.replace(" %", "\u00a0%")
