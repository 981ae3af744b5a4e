"""Small graphs of which everything around a place is known by sight."""

from __future__ import annotations

import math

import torch

from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_features import EdgeFeatures, EdgeField
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from strategies import batch_of, plain_schema

RELATIONS = (
    Relation("author", "writes", "paper", "written_by"),
    Relation("author", "reads", "paper", "read_by"),
    Relation("paper", "cites", "paper", "cited_by", directed=True),
    Relation("venue", "has", "paper", "in"),
)
WRITES, READS, CITES, HAS = (relation.label for relation in RELATIONS)


def library_schema() -> Schema:
    """Authors write and read papers, papers cite papers, venues have papers."""
    price = Column(ColumnKind.CONTINUOUS, missing=True)
    return Schema(
        node_types=("author", "paper", "venue"),
        relations=RELATIONS,
        features=(
            FeatureSpec(FeatureKind.BINARY, 3, names=("query", "index", "graph")),
            FeatureSpec(
                FeatureKind.MIXED, 2, names=("price", "kind"), columns=(price, Column(ColumnKind.CATEGORICAL, levels=4))
            ),
            FeatureSpec(FeatureKind.IDENTITY, 2, names=("KDD", "VLDB")),
        ),
        classes=("one", "two"),
        target="author",
    )


def library() -> GraphBatch:
    """Author 0 writes papers 1 and 2, of which 1 cites 2, and reads paper 3; paper 1 is at KDD.

    It has "query" and "graph". Paper 1 costs 4 and is of kind 2, paper 2 costs 2, paper 3 has no price.
    """
    edges = {(0, 1): 1, (0, 2): 1, (0, 3): 2, (1, 2): 3, (4, 1): 4}
    batch = batch_of(library_schema(), [0, 1, 1, 1, 2], edges)
    batch.row[0] = torch.tensor([0, 0, 1, 2, 0])
    batch.tables.update(
        author=torch.tensor([[1.0, 0.0, 1.0]]),
        paper=torch.tensor([[4.0, 2.0], [2.0, 0.0], [math.nan, 1.0]]),
        venue=torch.tensor([[1.0, 0.0]]),
    )
    return batch.check()


def weighted() -> tuple[GraphBatch, list[str]]:
    """A path of nodes 0, 1 and 2 with a chord, edges weighing .9 (0, 1), .1 (1, 2) and .1 (0, 2); one node of three."""
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 1, names=("weight",))
    features = EdgeFeatures(1, (EdgeField("edge_weight", 1),), spec)
    schema = plain_schema((Relation("node", "to", "node", "to"),), target="node", edge_features=(features,))
    batch = batch_of(schema, [0, 0, 0], {(0, 1): 1, (1, 2): 1})
    row = torch.full((1, 3, 3), -1)
    row[0, 0, 1] = row[0, 1, 0] = 0
    row[0, 1, 2] = row[0, 2, 1] = 1
    label = schema.relations[0].label
    tables = {label: torch.tensor([[0.9], [0.1]])}
    made = GraphBatch(schema, batch.node_type, batch.edge, batch.label, batch.graph_label, batch.row, {}, row, tables)
    return made.check(), [label]
