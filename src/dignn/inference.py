"""Reads a schema off the data: feature kinds, relations and their reverses, classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.errors import SchemaError
from dignn.schema import EdgeType, FeatureKind, FeatureSpec, Layout, Relation, Schema
from dignn.view import HOMOGENEOUS_TYPE, View, view_of

# Whole numbers above this are measurements (a year, a price) rather than counts.
MAX_COUNT = 255


def infer_schema(
    data: Data | HeteroData | Sequence[Data | HeteroData],
    target: str | None = None,
    *,
    kinds: Mapping[str, FeatureKind | str] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    classes: Sequence[str] | None = None,
    type_names: Sequence[str] | None = None,
    edge_names: Sequence[str] | None = None,
) -> Schema:
    """Describes ``data``.

    A feature matrix is binary if it holds only 0 and 1, counts if it holds whole numbers from 0 to 255, an
    identity if it is the identity matrix, absent if every row is the same, and continuous otherwise;
    ``kinds`` overrules this (``categorical`` must be said). Two edge types that hold the same edges in
    opposite directions are one relation.

    Args:
        data: one graph (node classification) or a list of graphs (graph classification).
        target: the classified node type of a ``HeteroData``.
        kinds: feature kind by node type, where the guess is wrong.
        names: column names by node type (member names for an identity type).
        classes: class names; by default ``class 0``, ``class 1``, ...
        type_names: for ``Data`` whose ``x`` is a one-hot node type: the names of the types.
        edge_names: for ``Data`` whose ``edge_attr`` is a one-hot relation: the names of the relations.
    """
    single = isinstance(data, (Data, HeteroData))
    choices = data.node_types if isinstance(data, HeteroData) else list(type_names or ())
    if single and choices and target is None:
        raise SchemaError(f"Say which node type is classified: target= one of {', '.join(choices)}")
    if isinstance(data, Data) and target is None:
        target = HOMOGENEOUS_TYPE
    if not single and target is not None:
        raise SchemaError("A list of graphs is classified as graphs; give one graph, or no target")
    view = view_of(
        data,
        type_names=type_names,
        edge_names=edge_names,
        target=target,
        homogeneous_type=target if target is not None and not type_names else HOMOGENEOUS_TYPE,
    )
    for option, given in (("kinds", kinds), ("names", names)):
        unknown = set(given or {}) - set(view.type_names)
        if unknown:
            raise SchemaError(
                f"{option} names unknown node types {sorted(unknown)}; choose from {', '.join(view.type_names)}"
            )
    hetero = isinstance(data if single else data[0], HeteroData)
    return Schema(
        node_types=view.type_names,
        relations=_relations(view),
        features=tuple(
            infer_features(
                view.x[name],
                name,
                kind=(kinds or {}).get(name),
                names=(names or {}).get(name),
            )
            for name in view.type_names
        ),
        classes=_classes(view, target, classes),
        target=target,
        layout=Layout.HETERO if hetero else Layout.HOMOGENEOUS,
        type_in_x=bool(type_names),
        edge_attr_names=tuple(edge_names) if edge_names is not None else None,
    )


def infer_features(
    x: Tensor | None,
    node_type: str,
    *,
    kind: FeatureKind | str | None = None,
    names: Sequence[str] | None = None,
) -> FeatureSpec:
    """The spec of one feature matrix (n, d); None for a type without features."""
    options: dict[str, Any] = {"names": None if names is None else tuple(names)}
    said = None if kind is None else _kind(kind)
    if x is None or x.size(1) == 0:
        if said not in (None, FeatureKind.NONE):
            raise SchemaError(f"Node type '{node_type}' is said to be {said.value}, but it has no x")
        return FeatureSpec(**options)
    width = x.size(1)
    guess = _guess_kind(x)
    chosen = guess if said is None else said
    options |= {"kind": chosen, "width": width}
    whole = guess in (FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.IDENTITY) or _whole_numbers(x)
    if chosen is FeatureKind.NONE:
        if len(x) and not bool((x == x[0]).all()):
            raise SchemaError(f"Node type '{node_type}' is said to have no features, but its rows of x differ")
        options["constant"] = tuple(x[0].tolist()) if len(x) else (0.0,) * width
    elif chosen.discrete and not whole:
        raise SchemaError(
            f"Node type '{node_type}' is said to be {chosen.value}, but x holds values that are not 0, 1, 2, ..."
        )
    elif chosen is FeatureKind.BINARY and x.numel() and float(x.max()) > 1:
        raise SchemaError(
            f"Node type '{node_type}' is said to be binary, but x holds {float(x.max()):g}; say kind 'count'"
        )
    elif chosen is FeatureKind.IDENTITY and not bool((x.sum(1) == 1).all() and (x <= 1).all()):
        raise SchemaError(f"Node type '{node_type}' is said to carry identities, but its rows are not one-hot")
    elif chosen in (FeatureKind.COUNT, FeatureKind.CATEGORICAL):
        top = x.max(0).values if len(x) else torch.zeros(width)
        options["levels"] = tuple(int(value) + 1 for value in top.tolist())
    return FeatureSpec(**options)


def _kind(name: FeatureKind | str) -> FeatureKind:
    try:
        return FeatureKind(name)
    except ValueError:
        known = ", ".join(kind.value for kind in FeatureKind)
        raise SchemaError(f"'{name}' is not a kind of features; choose from {known}") from None


def _guess_kind(x: Tensor) -> FeatureKind:
    if len(x) == 0:
        return FeatureKind.CONTINUOUS
    if len(x) == x.size(1) > 1 and bool((x == torch.eye(len(x))).all()):
        return FeatureKind.IDENTITY
    if bool((x == x[0]).all()):
        return FeatureKind.NONE
    if bool(((x == 0) | (x == 1)).all()):
        return FeatureKind.BINARY
    if _whole_numbers(x) and float(x.max()) <= MAX_COUNT:
        return FeatureKind.COUNT
    return FeatureKind.CONTINUOUS


def _whole_numbers(x: Tensor) -> bool:
    return bool((x >= 0).all() and (x == x.round()).all())


def _classes(view: View, target: str | None, names: Sequence[str] | None) -> tuple[str, ...]:
    labels = view.graph_label if target is None else view.label
    assert labels is not None  # view_of fills one of the two
    if labels.max(initial=-1) < 0:
        place = "The graphs have" if target is None else f"Node type '{target}' has"
        raise SchemaError(f"{place} no labels; set y, one class each (-1 where unknown)")
    count = int(labels.max()) + 1
    if names is None:
        return tuple(f"class {number}" for number in range(count))
    if len(names) < count:
        raise SchemaError(f"{len(names)} class names were given, but the labels go up to {count - 1}; name every class")
    return tuple(names)


# -- relations ----------------------------------------------------------------------------------------


def _relations(view: View) -> tuple[Relation, ...]:
    size = len(view.node_type)
    keys = {edge_type: np.unique(index[0] * size + index[1]) for edge_type, index in view.edges.items()}
    found: list[Relation] = []
    open_types = sorted(keys, key=lambda edge_type: _order(edge_type, view.type_names))
    while open_types:
        edge_type = open_types.pop(0)
        source, name, target = edge_type
        flipped = np.unique(view.edges[edge_type][1] * size + view.edges[edge_type][0])
        if source == target and np.array_equal(keys[edge_type], flipped):
            found.append(Relation(source, name, target, reverse=name))
            continue
        partners = [
            other
            for other in open_types
            if (other[2], other[0]) == (source, target) and np.array_equal(keys[other], flipped)
        ]
        # Empty edge types all look alike: a name that says "reverse" decides between several.
        partners.sort(key=lambda other: (other[1] not in (name, f"rev_{name}"), other[1]))
        partner = partners[0] if partners else None
        if partner is not None:
            open_types.remove(partner)
        reverse = None if partner is None else partner[1]
        found.append(Relation(source, name, target, reverse=reverse, directed=source == target))
    return tuple(found)


def _order(edge_type: EdgeType, type_names: Sequence[str]) -> tuple[int, int, bool, str]:
    source, name, target = edge_type
    return type_names.index(source), type_names.index(target), name.startswith("rev_"), name
