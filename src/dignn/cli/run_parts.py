"""What a line tells of a run: the parts of its metrics that tables are read from, its graphs and best explanations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dignn.cli.options import EXPLAINER

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation, Explanations
    from dignn.report.reference import Reference

_COLUMNS = ("paper", "sound", "candidates")
# Figures of explanations that every rule of selection would choose, so that methods are compared under one rule.
_SELECTION = "selection"
# What belongs to the data and the model; the runs of one explainer tell it for all.
_BESIDE = ("floor", "control")
_KEYWORDS = 10
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def parts_of_metrics(metrics: Mapping[str, Any], explainer: str) -> dict[str, Any]:
    """The parts of ``metrics.json`` that tables are read from, without figures by node type and intervals."""
    kept = (*_COLUMNS, *(_BESIDE if explainer == EXPLAINER else ()), _SELECTION)
    found = {name: _without(metrics[name], "by_type") for name in kept if name in metrics}
    details = metrics.get("details")
    if details is not None:
        motifs = dict(details["motifs"])
        if isinstance(motifs.get("by_class"), list):
            motifs["by_class"] = {str(number): counts for number, counts in enumerate(motifs["by_class"])}
        coverage = details.get("coverage") or {}
        found["details"] = {
            "motifs": motifs,
            "distinct": details["distinct"],
            "coverage": {"mean": coverage.get("mean")},
        }
    return found


def _without(found: Any, left_out: str) -> Any:
    if isinstance(found, Mapping):
        return {name: _without(value, left_out) for name, value in found.items() if name != left_out}
    return found


def mean_nodes(run: Path) -> float:
    """Nodes per generated graph of a run folder."""
    from dignn.graphs.batch import GraphBatch

    return float(GraphBatch.load(run / "candidates.safetensors").sizes.double().mean())


def best_of(explanations: Explanations) -> dict[str, Any]:
    """The first explanation of each class in numbers and words, by the number of the class."""
    firsts = (several[0] for several in explanations.values() if several)
    return {str(first.class_index): _told(first, explanations.reference) for first in firsts}


def _told(first: Explanation, reference: Reference | None) -> dict[str, Any]:
    from dignn.graphs.feature_spec import FeatureKind

    schema, evidence, node = first.graph.schema, first.evidence, first.node
    own = None if node is None else schema.node_types[int(first.graph.node_type[0, node])]
    words = node is not None and own is not None and schema.spec(own).kind in (FeatureKind.BINARY, FeatureKind.COUNT)
    continuous = {
        name: _spread(first, name) for name in schema.node_types if schema.spec(name).kind is FeatureKind.CONTINUOUS
    }
    return {
        "class": first.class_name,
        "probability": first.score,
        "nodes": int(first.graph.sizes[0]),
        "edges": len(first.edges()),
        "composition": first.composition(),
        "keywords": keywords(first, node, reference) if words and node is not None else [],
        "continuous": {name: values for name, values in continuous.items() if values is not None},
        "text": "" if evidence is None else evidence.text,
    }


def keywords(first: Explanation, node: int, reference: Reference | None) -> list[str]:
    """Words that a node carries, those first that real nodes of the class carry more often than all real nodes do.

    Where it is not known how often they do, the first ones.
    """
    schema, graph = first.graph.schema, first.graph
    name = schema.node_types[int(graph.node_type[0, node])]
    profile = None if reference is None else reference.profiles.get(name)
    carried = [word for word, _ in first.top_features(node, schema.spec(name).width)]
    if profile is not None:
        more = (profile.present[first.class_index] - profile.present[-1]).tolist()
        typical = {schema.spec(name).column_name(column): value for column, value in enumerate(more)}
        carried.sort(key=lambda word: -typical[word])
    return carried[:_KEYWORDS]


def _spread(first: Explanation, name: str) -> dict[str, Any] | None:
    """Mean, deviation and quantiles of all values of a continuous node type in the graph; None without such nodes."""
    import torch

    graph = first.graph
    rows = graph.row[0][graph.node_type[0] == graph.schema.node_types.index(name)]
    if not len(rows) or name not in graph.tables:
        return None
    values = graph.tables[name][rows].double().flatten()
    at = torch.tensor(_QUANTILES, dtype=values.dtype)
    return {
        "mean": float(values.mean()),
        "deviation": float(values.std(correction=0)),
        "quantiles": dict(zip(map(str, _QUANTILES), values.quantile(at).tolist(), strict=True)),
    }
