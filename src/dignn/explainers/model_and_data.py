"""Plain facts about a model and its data, for people: what it is, how much of it there is, how often they agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema
from dignn.model.scores import Scores
from dignn.sampling.division import RealGraphs


def model_and_data(model: Any, real: RealGraphs, schema: Schema) -> dict[str, Any]:
    """What a report says of the model and of the data first; as JSON takes it."""
    parameters = [weight.numel() for weight in model.parameters()] if isinstance(model, nn.Module) else None
    name = getattr(model, "__name__", type(model).__name__)
    kinds = np.bincount(real.data.node_type, minlength=len(schema.node_types))
    labels = real.labels
    labelled = np.bincount(labels[labels >= 0], minlength=schema.num_classes)
    return {
        "model": {"name": name, "parameters": None if parameters is None else sum(parameters)},
        "data": {
            "graphs": real.number,
            "nodes": dict(zip(schema.node_types, kinds.tolist(), strict=True)),
            "edges": len(real.data.neighbour) // 2,
            "classes": dict(zip(schema.classes, labelled.tolist(), strict=True)),
        },
    }


def agreement(scores: Scores, graphs: GraphBatch) -> dict[str, Any]:
    """How often the model gives real target nodes (or graphs) their label, as it sees them in small graphs.

    A node that stands in several graphs counts as one, by the share of them in which the model agrees.

    Returns:
        ``count`` of labelled nodes (or graphs), ``share`` of all of them, and by class in ``classes``; None where
        there are none.
    """
    label, identity = scores.labels(graphs), scores.identities(graphs)
    known = label >= 0
    agrees = (scores.predicted == label)[known].double()
    _, place, times = torch.unique(identity[known], return_inverse=True, return_counts=True)
    share = torch.zeros(len(times), dtype=torch.double).index_add_(0, place, agrees) / times
    classes = torch.empty(len(times), dtype=torch.long).index_copy_(0, place, label[known])

    def mean(values: torch.Tensor) -> float | None:
        return float(values.mean()) if len(values) else None

    return {
        "count": len(times),
        "share": mean(share),
        "classes": {name: mean(share[classes == index]) for index, name in enumerate(graphs.schema.classes)},
    }
