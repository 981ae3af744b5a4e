"""Explanations with everything that is told of what a model goes by, made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

import hand_made
from dignn.explanations.explanation import Explanation, Explanations
from dignn.goes_by.phrases import phrase
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count, Mean, Rings
from dignn.goes_by.term_keys import predicate_json
from dignn.goes_by.traits import Holds, Shaped
from dignn.goes_by.where import Around
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from strategies import batch_of


def term(predicate: Predicate, points: float, schema: Schema, **more: Any) -> dict[str, Any]:
    """A term as ``explanations.json`` has it; its effect is a little less than its points."""
    effect = {"effect": 0.75 * points, "interval": [0.75 * points - 0.25, 0.75 * points + 0.25]}
    told = {"term": phrase(predicate, schema), "points": points, **effect, "decoy": False, "matched": False}
    return {**told, "predicate": predicate_json(predicate), **more}


def share(value: float) -> dict[str, Any]:
    return {"value": value, "interval": [round(value - 0.03, 3), round(value + 0.03, 3)]}


def study(classes: tuple[str, ...], value: float = 0.84, majority: float = 0.5, **more: Any) -> dict[str, Any]:
    """What is told of the test."""
    found = {"scorecard": share(value), "rules": share(value - 0.06), "auc": share(0.91)}
    return {
        "places": 412,
        "things": 60,
        "terms": 7,
        **found,
        "auc_by_class": {name: None if place else 0.93 for place, name in enumerate(classes)},
        "frontier": {"3": share(value - 0.2), "6": share(value - 0.05), "12": share(value), "25": share(value + 0.02)},
        "majority": majority,
        "floor": {"scorecard": value + 0.02, "rules": value, "auc": 0.94},
        "noise": {"scorecard": majority + 0.04, "rules": majority, "auc": 0.55},
        "base": dict.fromkeys(classes, -1.5),
        **more,
    }


# -- nodes of several types ---------------------------------------------------------------------------


def author_terms(schema: Schema, sign: float = 1.0) -> list[dict[str, Any]]:
    """A venue, words that are there, words that are not, few papers, and a decoy; with -1 all speak for the other."""
    author, paper, venue = schema.node_types
    query, index, graph = (Predicate(Count(Around(author), (Holds(column),))) for column in range(3))
    kdd = Predicate(Count(Around(venue, 2), (Holds(0),)))
    no_vldb = replace(kdd, quantity=Count(Around(venue, 2), (Holds(1),)), holds=False)
    papers = Predicate(Count(Around(paper, 1)), 2.5)
    value = Predicate(Mean(Around(paper, 1), 0), 0.25)
    return [
        term(kdd, 3.1 * sign, schema),
        term(query, -2.4 * sign, schema, effect=None, interval=None),
        term(papers, -1.6 * sign, schema, matched=True),
        term(index, -1.25 * sign, schema),
        term(no_vldb, -0.8 * sign, schema),
        term(value, 0.04 * sign, schema),
        term(graph, 2.9 * sign, schema, effect=0.01, interval=[-0.1, 0.12], decoy=True),
    ]


def authors(hostile: bool = False, value: float = 0.84) -> Explanations:
    """Explanations of authors, studied: the scorecard of each class, rules, a counterfactual pair, undecided graphs."""
    plain = hand_made.explanations(hostile)
    schema = hand_made.schema(hostile)
    first, second = schema.classes[:2]
    terms = author_terms(schema)
    rules = [{"rule": terms[0]["term"], "precision": share(0.92), "recall": share(0.61)}]
    rules += [{"rule": f"{terms[0]['term']} and {terms[5]['term']}", "precision": share(0.97), "recall": None}]
    about = {
        "goes_by": {first: author_terms(schema, -1.0), second: terms},
        "studied": study(schema.classes, value, 1 / len(schema.classes), rule_list={first: [], second: rules}),
        "counterfactuals": [
            {
                "source": second,
                "target": first,
                "probability_before": {first: 0.25, second: 0.75},
                "probability_after": {first: 0.9, second: 0.1},
                "inside": True,
                "edits": [
                    {"kind": "column", "words": "author 3 gets “query”", "node": 2, "other": None},
                    {"kind": "edge removed", "words": "paper 2 no longer cites paper 1", "node": 1, "other": 0},
                    {"kind": "node removed", "words": "venue 4 goes", "node": 3, "other": None},
                    {"kind": "node added", "words": "a venue is added at paper 2", "node": 4, "other": 1},
                ],
                "graphs": [0, 1],
                "node": 2,
            }
        ],
        "undecided": [
            {
                "classes": [first, second],
                "probability": {first: 0.5, second: 0.5},
                "graph": 2,
                "node": 2,
                "typical": 0.7,
            }
        ],
    }
    return replace(plain, about=about, contrasts=author_contrasts(hostile))


def author_contrasts(hostile: bool = False) -> GraphBatch:
    """A graph; the same where one venue has made room for another, and a paper cites no more; and the first again."""
    before = hand_made.graph(hostile)
    after = batch_of(before.schema, [1, 1, 0, 2, 2], {(2, 0): 1, (2, 1): 1, (1, 4): 3}, labels={2: 1})
    after.node_type[0, 3], after.label[0, 3] = -1, -1
    after.row[0] = torch.tensor([0, 1, 0, -1, 0])
    author, paper, venue = before.schema.node_types
    rows = {author: torch.tensor([[1.0, 1.0, 1.0]]), paper: before.tables[paper], venue: torch.tensor([[1.0, 0.0]])}
    return GraphBatch.cat([before, replace(after, tables=rows), before])


# -- whole graphs -------------------------------------------------------------------------------------

MOLECULES = Schema(
    node_types=("C", "N", "O"),
    relations=tuple(Relation(a, "bond", b) for a, b in ("CC", "CN", "CO", "NO")),
    features=(FeatureSpec(), FeatureSpec(FeatureKind.NONE), FeatureSpec()),
    classes=("harmless", "mutagen"),
    target=None,
)


def molecules(value: float = 0.95) -> Explanations:
    """A ring of six carbon atoms with a nitrogen, of a graph classifier, studied."""
    ring = {(k, (k + 1) % 6): 1 for k in range(6)}
    graph = batch_of(MOLECULES, [0] * 6 + [1], {**ring, (0, 6): 2})
    shown = {
        name: [Explanation(place, name, 0, (0.3, 0.7), 0.8, graph, None, 3)]
        for place, name in enumerate(MOLECULES.classes)
    }
    several = [
        term(Predicate(Rings(("C",) * 6), 1.5), 1.2, MOLECULES),
        term(Predicate(Count(Around("N", None))), -2.0, MOLECULES),
        term(Predicate(Count(Around("C", None), (Shaped("leaf"),))), 0.5, MOLECULES),
    ]
    about = {"goes_by": {"harmless": several, "mutagen": []}, "studied": study(MOLECULES.classes, value)}
    return Explanations(shown, about)
