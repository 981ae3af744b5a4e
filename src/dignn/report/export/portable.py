"""An explanation as a graph whose attributes are plain values, as GraphML and GEXF hold them.

An explanation may have directed and undirected edges at once. Both formats have one kind for the whole graph, and most
programs refuse a mixture. So the graph is directed as soon as the schema has a directed relation, every edge stands
there once, from the relation's source type to its target type, and its attribute ``directed`` says whether the
orientation means anything.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import networkx as nx

from dignn.evidence.removal import Effect
from dignn.graphs.column_words import in_json, in_words
from dignn.graphs.description import edge_features, edges, member_name, told_features, type_name
from dignn.graphs.feature_spec import Column, FeatureKind
from dignn.report.emphasis import measured
from dignn.report.safe_text import clean, distinct

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation

# Types with at most this many columns get an attribute per column; the features of others are one text.
ATTRIBUTE_COLUMNS = 50
# Columns in the text of a continuous type that has more than these: nearly every value differs from 0 there.
MOST_VALUES = 64


def portable_graph(explanation: Explanation) -> nx.Graph | nx.DiGraph:
    """The graph with plain attributes.

    Nodes have ``type``, ``label`` (the member's name, or the type), ``target``, ``features`` (as text),
    ``importance`` (log-odds that the class loses without the node, where known) and, for types of few columns, an
    attribute ``TYPE: COLUMN`` per column. Edges have ``relation``, ``directed``, ``importance``, and where they carry
    something ``features`` (as text) and, if that is one number, ``weight``. The graph has
    ``class``, ``probability``, ``log_odds``, ``rank`` and, where known, ``text``.
    """
    batch = explanation.graph
    schema = batch.schema
    graph = nx.DiGraph() if any(relation.directed for relation in schema.relations) else nx.Graph()
    graph.graph.update(_of_graph(explanation))
    of_node, of_edge = measured(explanation.evidence)
    titles = _column_titles(explanation)
    for node in batch.mask[0].nonzero()[:, 0].tolist():
        columns = _columns(explanation, node, titles)
        graph.add_node(node, **_of_node(explanation, node), **columns, **_importance(of_node.get(node)))
    for u, v, relation in edges(batch):
        known = {**_carried(explanation, u, v), **_importance(of_edge.get((u, v)))}
        graph.add_edge(u, v, relation=clean(relation.name), directed=relation.directed, **known)
    return graph


def _importance(effect: Effect | None) -> dict[str, Any]:
    return {} if effect is None else {"importance": effect.drop}


def _carried(explanation: Explanation, u: int, v: int) -> dict[str, Any]:
    """What an edge carries."""
    found = edge_features(explanation.graph, u, v)
    if not found:
        return {}
    text = {"features": clean("; ".join(f"{title}={_text(value, column)}" for title, value, column in found))}
    weighed = len(found) == 1 and math.isfinite(found[0][1]) and found[0][2].numeric
    return {**text, "weight": found[0][1]} if weighed else text


def _of_graph(explanation: Explanation) -> dict[str, Any]:
    scores = {"probability": explanation.score, "log_odds": explanation.log_odds, "rank": explanation.rank}
    text = {} if explanation.evidence is None else {"text": clean(explanation.evidence.text)}
    return {"class": clean(explanation.class_name), **scores, **text}


def _of_node(explanation: Explanation, node: int) -> dict[str, Any]:
    graph = explanation.graph
    name = type_name(graph, node)
    spec = graph.schema.spec(name)
    few = spec.kind.discrete or spec.width <= ATTRIBUTE_COLUMNS
    shown = told_features(graph, node, spec.width if few else MOST_VALUES)
    return {
        "type": clean(name),
        "label": clean(member_name(graph, node) or name),
        "target": node == explanation.node,
        "features": clean("; ".join(f"{title}={_text(value, column)}" for title, value, column in shown)),
    }


def _text(value: float, column: Column) -> str:
    """A value with six digits, a date as such; ``missing`` where it is."""
    return in_words(value, column) if math.isnan(value) or column.unit is not None else f"{value:.6g}"


def _columns(explanation: Explanation, node: int, titles: dict[str, list[str]]) -> dict[str, float | str]:
    """The values of a node's columns, of a type that has few; those that are missing are left out."""
    graph = explanation.graph
    name = type_name(graph, node)
    if name not in titles:
        return {}
    row, spec = graph.tables[name][int(graph.row[0, node])].tolist(), graph.schema.spec(name)
    values = ((title, in_json(row[place], spec.column(place))) for place, title in enumerate(titles[name]))
    return {title: value for title, value in values if value is not None}


def _column_titles(explanation: Explanation) -> dict[str, list[str]]:
    """By type name, distinct attribute names of its columns: names of users need not be distinct."""
    schema = explanation.graph.schema
    used: set[str] = set()
    titles: dict[str, list[str]] = {}
    for name, spec in zip(schema.node_types, schema.features, strict=True):
        none = spec.kind in (FeatureKind.NONE, FeatureKind.IDENTITY) or name not in explanation.graph.tables
        if none or spec.width > ATTRIBUTE_COLUMNS:
            continue
        plain = [clean(f"{name}: {spec.column_name(column)}") for column in range(spec.width)]
        titles[name] = [distinct(title, used, "{} ({})") for title in plain]
    return titles
