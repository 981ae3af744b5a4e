"""Explanations made by hand: everything that one can carry, nothing beyond the graph, and names that do harm."""

from __future__ import annotations

from dataclasses import replace

import torch

from dignn.evidence.gathering import Evidence
from dignn.evidence.nearest_example import NearestExample
from dignn.evidence.removal import ColumnEffect, Effect, Effects
from dignn.evidence.variants import Kind, Part
from dignn.explanations.explanation import Explanation, Explanations, Standing
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from dignn.report.reference import DENSITY_BINS, Profile, Reference
from strategies import batch_of

# HTML, XML, mathematics of matplotlib, what XML cannot hold, what no file name can, what legends leave out.
HOSTILE = ("<script>alert(1)</script>", "]]>&amp;'\"", "$\\frac{", "\x00\x1b\r\ud800", "../../etc/passwd", "_hidden")


def schema(hostile: bool = False) -> Schema:
    """Authors write papers at venues, papers cite papers."""
    author, paper, venue = (HOSTILE[5], HOSTILE[0], HOSTILE[2]) if hostile else ("author", "paper", "venue")
    words = (HOSTILE[0], HOSTILE[0], HOSTILE[3]) if hostile else ("query", "index", "graph")
    members = (HOSTILE[1], HOSTILE[2]) if hostile else ("KDD", "VLDB")
    return Schema(
        node_types=(author, paper, venue),
        relations=(
            Relation(author, HOSTILE[3] if hostile else "writes", paper, "written_by"),
            Relation(paper, HOSTILE[1] if hostile else "cites", paper, "cited_by", directed=True),
            Relation(paper, "in", venue, "holds"),
        ),
        features=(
            FeatureSpec(FeatureKind.BINARY, 3, names=words),
            FeatureSpec(FeatureKind.CONTINUOUS, 2),
            FeatureSpec(FeatureKind.IDENTITY, 2, names=members),
        ),
        classes=HOSTILE if hostile else ("one", "two"),
        target=author,
    )


def graph(hostile: bool = False) -> GraphBatch:
    """Node 0 and 1 are papers, 1 cites 0; 2 is an author of both; 3 is a venue of paper 0."""
    made = schema(hostile)
    batch = batch_of(made, [1, 1, 0, 2], {(2, 0): 1, (2, 1): 1, (1, 0): 2, (0, 3): 3}, labels={2: 1})
    batch.row[0] = torch.tensor([0, 1, 0, 0])
    author, paper, venue = made.node_types
    tables = {
        author: torch.tensor([[1.0, 0.0, 1.0]]),
        paper: torch.tensor([[0.5, -2.0], [1.5, 0.25]]),
        venue: torch.tensor([[0.0, 1.0]]),
    }
    return replace(batch, tables=tables).check()


def evidence(of: GraphBatch, text: str = "Without its paper the probability falls.") -> Evidence:
    """Node 0 and the edge from author to paper 0 matter most."""
    author = of.schema.node_types[0]
    effects = [
        Effect(Part(Kind.NODE, (0,)), 2.0, 0.3),
        Effect(Part(Kind.NODE, (1,)), 0.5, 0.7),
        Effect(Part(Kind.NODE, (3,)), None, None),  # the model gives no answer
        Effect(Part(Kind.EDGE, (2, 0)), 1.5, 0.4),
        Effect(Part(Kind.EDGE, (1, 0)), -0.25, 0.8),
    ]
    own = (ColumnEffect(author, 2, of.schema.spec(author).column_name(2), 1.0, (2,), 0),)
    nearest = NearestExample(graph=5, node=2, row=7, label=1, predicted=0, distance=0.5, farther=0.4)
    return Evidence(text, nearest, own, (), Effects(1, 2, 0.75, 1.1, tuple(effects)))


def explanation(rank: int = 0, hostile: bool = False, bare: bool = False) -> Explanation:
    """Of the second class; ``bare`` without anything but its graph."""
    shown = graph(hostile)
    classes = shown.schema.classes
    rest = (1 - 0.75) / (len(classes) - 1)
    return Explanation(
        class_index=1,
        class_name=classes[1],
        rank=rank,
        probability=tuple(0.75 if index == 1 else rest for index in range(len(classes))),
        log_odds=1.1,
        graph=shown,
        node=2,
        candidate=17,
        standing=None if bare else Standing(True, 0.5, 0.25),
        evidence=None if bare else evidence(shown, HOSTILE[0] if hostile else "Without its paper it falls."),
        example=None if bare else graph(hostile),
    )


def reference(hostile: bool = False) -> Reference:
    """Real nodes of every class have every word in equal shares, and values spread evenly between -3 and 3."""
    made = schema(hostile)
    rows = made.num_classes + 1
    author, paper, _ = made.node_types
    profiles = {
        author: Profile(torch.ones(rows), torch.full((rows, 3), 0.25), torch.full((rows, 3), 0.25)),
        paper: Profile(
            torch.ones(rows),
            torch.zeros(rows, 2),
            torch.ones(rows, 2),
            torch.linspace(-3, 3, DENSITY_BINS + 1).repeat(3, 1),
            torch.full((rows, 3, DENSITY_BINS), 1 / DENSITY_BINS),
        ),
    }
    return Reference(graph(hostile), graph(hostile), profiles)


def explanations(hostile: bool = False, bare: bool = False) -> Explanations:
    """One class without, the others with two explanations each (names say so, graphs are the same)."""
    first, *others = schema(hostile).classes
    several = {
        name: [replace(explanation(rank, hostile, bare), class_name=name) for rank in range(2)] for name in others
    }
    return Explanations({first: [], **several}, {}, None if bare else reference(hostile))


def lone(target: bool = True) -> Explanation:
    """A graph of one node without features."""
    made = Schema(("node",), (), (FeatureSpec(),), ("one", "two"), "node" if target else None)
    batch = batch_of(made, [0], {})
    return Explanation(0, "one", 0, (0.9, 0.1), 2.2, batch, 0 if target else None, 0)
