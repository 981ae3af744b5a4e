"""A heterogeneous data set as one graph with one kind of node, whose only feature is its former type.

So the paper makes DBLP and IMDB fit for a GCN, and for methods that know graphs of one kind only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch.nn.functional import one_hot
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from dignn.core.errors import DignnError
from dignn.graphs.flattening import HOMOGENEOUS_RELATION, flatten_for
from dignn.graphs.inference import infer_schema
from dignn.graphs.motif import GroundTruth, Motif
from dignn.graphs.schema import Layout
from dignn.zoo.datasets.dataset import Dataset


def as_homogeneous(dataset: Dataset) -> Dataset:
    """The same nodes and edges as a ``Data`` whose ``x`` is the one-hot node type.

    Edges of all relations are edges of one, in both directions and once each; features and what edges carry are gone.
    Nodes of other types than the target have no class. Of the truth motifs remain, without names and directions of
    relations. A data set with one kind of node is returned as it is.

    Raises:
        DignnError: columns were selected, which are gone, or whole graphs are classified.
    """
    schema = dataset.schema
    if schema.layout is Layout.HOMOGENEOUS:
        return dataset
    if dataset.columns:
        raise DignnError(
            f"With form gcn node types are the only features of '{dataset.name}', so there are no columns to choose; "
            "leave out --columns"
        )
    if schema.task.of_graphs:
        raise DignnError("Only a graph whose nodes are classified is converted to one kind of node; give such data")
    flat = flatten_for(dataset.data, schema)
    pairs = np.concatenate([np.empty((2, 0), dtype=np.int64), *flat.edges.values()], axis=1)
    data = Data(
        x=one_hot(torch.from_numpy(flat.node_type), len(schema.node_types)).float(),
        edge_index=to_undirected(torch.from_numpy(pairs), num_nodes=len(flat.node_type)),
        y=torch.from_numpy(flat.label),
    )
    return replace(
        dataset,
        data=data,
        schema=infer_schema(data, schema.target, classes=schema.classes, type_names=schema.node_types),
        truth=None if dataset.truth is None else _without_relations(dataset.truth),
        homogeneous=True,
    )


def _without_relations(truth: GroundTruth) -> GroundTruth:
    """The motifs in a graph whose edges are all of one relation."""

    def plain(motif: Motif) -> Motif:
        kinds = tuple((source, HOMOGENEOUS_RELATION, target) for source, _, target in motif.edge_types)
        return replace(motif, edge_types=kinds)

    return GroundTruth(tuple(tuple(map(plain, motifs)) for motifs in truth.motifs))
