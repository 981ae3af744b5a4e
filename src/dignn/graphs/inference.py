"""Reads a schema off the data: feature kinds, relations and their reverses, classes."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import NoneType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.core.checks import instance
from dignn.core.checks import names as names_of
from dignn.core.errors import SchemaError
from dignn.core.torch_defaults import plain_torch
from dignn.graphs.distinct_keys import distinct, mirrored
from dignn.graphs.edge_forms import form_of
from dignn.graphs.feature_matrix import Contents, FeatureForm
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.flattening import HOMOGENEOUS_TYPE, FlatGraphs, flatten
from dignn.graphs.intake import given_graphs
from dignn.graphs.relation_codes import NUMBERS, ONE_HOT, relation_names
from dignn.graphs.schema import Layout, Relation, Schema
from dignn.graphs.tasks.base import Task
from dignn.graphs.tasks.classification import classification

log = logging.getLogger(__name__)

# Whole numbers above this are measurements (a year, a price) rather than counts.
MAX_COUNT = 255


@plain_torch()
def infer_schema(
    data: Any,
    target: str | None = None,
    *,
    task: Task | None = None,
    kinds: Mapping[str, FeatureKind | str] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    classes: Sequence[str] | None = None,
    type_names: Sequence[str] | None = None,
    edge_names: Sequence[str] | None = None,
) -> Schema:
    """Describes ``data``.

    A feature matrix is binary if it holds only 0 and 1, counts if it holds whole numbers from 0 to 255, an
    identity if it is the identity matrix, absent if every row is the same, and continuous otherwise;
    ``kinds`` overrules this (``categorical`` must be said, and of an integer tensor with larger numbers the kind must
    be). Two edge types that hold the same edges in opposite directions are one relation. The schema remembers the dtype
    and layout of features, and in which fields and forms edges are kept.

    Args:
        data: one graph (node classification) or several graphs (graph classification), in any form that
            :func:`~dignn.graphs.intake.given_graphs` knows.
        target: the classified node type of a ``HeteroData``.
        task: what is answered about, where that is no classification of nodes or graphs.
        kinds: feature kind by node type, where the guess is wrong.
        names: column names by node type (member names for an identity type).
        classes: class names; by default ``class 0``, ``class 1``, ...
        type_names: for ``Data`` whose ``x`` is a one-hot node type: the names of the types.
        edge_names: for ``Data`` whose ``edge_attr`` is a one-hot relation: the names of the relations. Where ``Data``
            has an integer ``edge_type``, they are the names of its numbers instead, unless they are as many as
            ``edge_attr`` has columns; by default ``relation 0``, ``relation 1``, ...
    """
    instance("target", target, (str, NoneType), "the name of a node type")
    instance("task", task, (Task, NoneType), "a Task")
    classes, type_names, edge_names = (
        None if given is None else names_of(option, given)
        for option, given in (("classes", classes), ("type_names", type_names), ("edge_names", edge_names))
    )
    for option, by_type in (("kinds", kinds), ("names", names)):
        instance(option, by_type, (Mapping, NoneType), "a dictionary by node type")
    data = given_graphs(data)
    graphs = data if isinstance(data, list) else [data]
    field, relation_labels = relation_names(graphs, edge_names)
    task = task or classification(_target(data, target, type_names))
    if target not in (None, task.target):
        raise SchemaError(f"The task is about {task.things}, the target is '{target}'; give one of them")
    view = flatten(
        data,
        type_names=type_names,
        edge_names=relation_labels,
        edge_field=field,
        task=task,
        homogeneous_type=(not type_names and task.target) or HOMOGENEOUS_TYPE,
    )
    for option, given in (("kinds", kinds), ("names", names)):
        unknown = set(given or {}) - set(view.type_names)
        if unknown:
            found, known = sorted(map(str, unknown)), ", ".join(view.type_names)
            raise SchemaError(f"{option} names unknown node types {found}; choose from {known}")
    return Schema(
        node_types=view.type_names,
        relations=_relations(view),
        features=tuple(
            _features_of(view, name, (kinds or {}).get(name), (names or {}).get(name)) for name in view.type_names
        ),
        classes=task.classes(_labels(view, task), classes),
        target=task.target,
        task=task,
        layout=Layout.HETERO if isinstance(graphs[0], HeteroData) else Layout.HOMOGENEOUS,
        type_in_x=bool(type_names),
        edge_attr_names=relation_labels if field == ONE_HOT else None,
        edge_type_names=relation_labels if field == NUMBERS else None,
        edge_form=form_of(graphs),
        edge_order=tuple(view.edges) if isinstance(graphs[0], HeteroData) else None,
    )


def _target(data: Any, target: str | None, type_names: Sequence[str] | None) -> str | None:
    """The node type that is classified; None for a list of graphs."""
    if not isinstance(data, (Data, HeteroData)):
        if target is not None:
            raise SchemaError("A list of graphs is classified as graphs; give one graph, or no target")
        return None
    choices = data.node_types if isinstance(data, HeteroData) else list(type_names or ())
    if choices and target is None:
        raise SchemaError(f"Say which node type is classified: target= one of {', '.join(choices)}")
    return target or HOMOGENEOUS_TYPE


def _labels(view: FlatGraphs, task: Task) -> np.ndarray:
    """Of all that is answered about."""
    answered = task.types(view.type_names)[view.node_type]
    return task.node_class(view.label[answered], view.graph_label)


def infer_features(
    x: Tensor | None,
    node_type: str,
    *,
    kind: FeatureKind | str | None = None,
    names: Sequence[str] | None = None,
    form: FeatureForm | None = None,
) -> FeatureSpec:
    """The spec of one feature matrix (n, d), dense or sparse; None for a type without features.

    Args:
        x: the matrix.
        node_type: the type, for messages.
        kind: of its columns, where that is known.
        names: of its columns.
        form: what the matrix is outside, if ``x`` was made from it.

    Raises:
        SchemaError: the matrix is not of the kind that was said, or holds whole numbers of which it must be said.
    """
    return _spec(x, node_type, kind, names, form)[0]


def _features_of(
    view: FlatGraphs, name: str, kind: FeatureKind | str | None, names: Sequence[str] | None
) -> FeatureSpec:
    """Of a type of the data; says so where floating-point numbers that may be ids are taken for quantities."""
    spec, held = _spec(view.x[name], name, kind, names, view.form[name])
    guessed = kind is None and spec.kind is FeatureKind.CONTINUOUS
    if guessed and held is not None and held.counting and held.largest > MAX_COUNT:
        log.warning(
            "Node type '%s' has whole numbers up to %.0f in x, which are taken for quantities; if they are ids, "
            "say so by infer_schema(..., kinds={'%s': 'categorical'}), or --kinds %s=categorical",
            *(name, held.largest, name, name),
        )
    return spec


def _spec(
    x: Tensor | None,
    node_type: str,
    kind: FeatureKind | str | None,
    names: Sequence[str] | None,
    form: FeatureForm | None,
) -> tuple[FeatureSpec, Contents | None]:
    """As :func:`infer_features` has it, and what the matrix holds, where it holds anything."""
    form = form if form is not None else FeatureForm() if x is None else FeatureForm.of(x)
    options: dict[str, Any] = {
        "names": None if names is None else names_of(f"names of '{node_type}'", names),
        **asdict(form),
    }
    said = None if kind is None else _kind(kind)
    if x is None or x.size(1) == 0:
        if said not in (None, FeatureKind.NONE):
            raise SchemaError(
                f"Node type '{node_type}' is said to be {said.value}, but it has no x; add x, or leave its kind out"
            )
        return FeatureSpec(**options), None
    held = Contents.of(x.float() if x.layout is torch.strided else x) if len(x) else None
    chosen = said or _guess_kind(held)
    if said is None and form.integer and held is not None:
        _refuse_codes(held, chosen, node_type)
    if held is not None:
        _check_kind(held, chosen, node_type)
    if chosen is FeatureKind.NONE:
        options["constant"] = tuple(held.least.tolist()) if held is not None else (0.0,) * x.size(1)
    elif chosen in (FeatureKind.COUNT, FeatureKind.CATEGORICAL):
        top = held.greatest.tolist() if held is not None else [0] * x.size(1)
        options["levels"] = tuple(int(value) + 1 for value in top)
    return FeatureSpec(**options, kind=chosen, width=x.size(1)), held


def _check_kind(held: Contents, chosen: FeatureKind, node_type: str) -> None:
    if chosen is FeatureKind.NONE and not held.constant:
        raise SchemaError(
            f"Node type '{node_type}' is said to have no features, but its rows of x differ; leave its kind out"
        )
    if chosen.discrete and not held.counting:
        raise SchemaError(
            f"Node type '{node_type}' is said to be {chosen.value}, but x holds values that are not 0, 1, 2, ...; "
            "say kind 'continuous', or leave it out"
        )
    if chosen is FeatureKind.BINARY and held.largest > 1:
        raise SchemaError(
            f"Node type '{node_type}' is said to be binary, but x holds {held.largest:g}; say kind 'count'"
        )
    if chosen is FeatureKind.IDENTITY and not held.one_hot:
        raise SchemaError(
            f"Node type '{node_type}' is said to carry identities, but its rows are not one-hot; leave its kind out"
        )


def _refuse_codes(held: Contents, guess: FeatureKind, node_type: str) -> None:
    """Large whole numbers of an integer tensor may be numbers of rows in an embedding, between which nothing lies."""
    if guess is FeatureKind.CONTINUOUS and held.largest > MAX_COUNT:
        raise SchemaError(
            f"Node type '{node_type}' has whole numbers up to {held.largest:.0f} in x, which may be ids or quantities; "
            f"say which by infer_schema(..., kinds={{'{node_type}': 'categorical'}}) for ids or codes, 'count' for "
            f"counts, or 'continuous' for quantities (on the command line --kinds {node_type}=categorical)"
        )


def _kind(name: FeatureKind | str) -> FeatureKind:
    try:
        return FeatureKind(name)
    except ValueError:
        known = ", ".join(kind.value for kind in FeatureKind)
        raise SchemaError(f"'{name}' is not a kind of features; choose from {known}") from None


def _guess_kind(held: Contents | None) -> FeatureKind:
    if held is None:
        return FeatureKind.CONTINUOUS
    if held.identity:
        return FeatureKind.IDENTITY
    if held.constant:
        return FeatureKind.NONE
    if held.counting and held.largest <= MAX_COUNT:
        return FeatureKind.BINARY if held.largest <= 1 else FeatureKind.COUNT
    return FeatureKind.CONTINUOUS


# -- relations ----------------------------------------------------------------------------------------


def _relations(view: FlatGraphs) -> tuple[Relation, ...]:
    size = max(1, len(view.node_type))
    keys = {edge_type: distinct(index[0] * size + index[1])[0] for edge_type, index in view.edges.items()}
    found: list[Relation] = []
    place = view.type_names.index
    open_types = sorted(keys, key=lambda end: (place(end[0]), place(end[2]), end[1].startswith("rev_"), end[1]))
    while open_types:
        edge_type = open_types.pop(0)
        source, name, target = edge_type
        flipped = mirrored(keys[edge_type], size)
        if source == target and np.array_equal(keys[edge_type], flipped):
            found.append(Relation(source, name, target, reverse=name))
            continue
        partners = [
            other
            for other in open_types
            if (other[2], other[0]) == (source, target) and np.array_equal(keys[other], flipped)
        ]
        # Empty edge types all look alike: a name that says "reverse" decides between several.
        partner = min(partners, key=lambda other: (other[1] not in (name, f"rev_{name}"), other[1]), default=None)
        if partner is not None:
            open_types.remove(partner)
        reverse = None if partner is None else partner[1]
        found.append(Relation(source, name, target, reverse=reverse, directed=source == target))
    return tuple(found)
