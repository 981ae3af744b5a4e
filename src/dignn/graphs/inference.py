"""Reads a schema off the data: feature kinds, relations and their reverses, classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
from torch_geometric.data import Data, HeteroData

from dignn.core.checks import instance
from dignn.core.checks import names as names_of
from dignn.core.errors import SchemaError
from dignn.core.torch_defaults import plain_torch
from dignn.graphs.column_kinds import Kinds
from dignn.graphs.edge_fields import find_fields
from dignn.graphs.edge_forms import form_of
from dignn.graphs.edge_inference import infer_edge_features
from dignn.graphs.feature_inference import infer_features
from dignn.graphs.flattening import HOMOGENEOUS_TYPE, FlatGraphs, flatten
from dignn.graphs.intake import given_graphs
from dignn.graphs.relation_codes import NUMBERS, ONE_HOT, relation_names
from dignn.graphs.schema import Layout, Relation, Schema
from dignn.graphs.tasks.base import Task
from dignn.graphs.tasks.classification import classification


@plain_torch()
def infer_schema(
    data: Any,
    target: str | None = None,
    *,
    task: Task | None = None,
    kinds: Mapping[str, Kinds] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    classes: Sequence[str] | None = None,
    type_names: Sequence[str] | None = None,
    edge_names: Sequence[str] | None = None,
) -> Schema:
    """Describes ``data``.

    A feature matrix is binary if it holds only 0 and 1, counts if it holds whole numbers from 0 to 255, an
    identity if it is the identity matrix, absent if every row is the same, and continuous otherwise. Where its columns
    differ in that, where values are missing (NaN), or where a one-hot group stands beside other columns, it is mixed,
    and each column has a kind of its own (:mod:`dignn.graphs.feature_inference`). ``kinds`` overrules this
    (``categorical``, ``identity`` of a column and ``date`` must be said, and of an integer column with larger numbers
    the kind must be). Two edge types that hold the same edges in opposite directions are one relation. Fields of edges
    with a row of numbers for each (``edge_attr``, ``edge_weight``, ...) are features of the relation. The schema
    remembers the dtype and layout of features, and in which fields and forms edges are kept.

    Args:
        data: one graph (node classification) or several graphs (graph classification), in any form that
            :func:`~dignn.graphs.intake.given_graphs` knows.
        target: the classified node type of a ``HeteroData``.
        task: what is answered about, where that is no classification of nodes or graphs.
        kinds: by node type, where the guess is wrong, the kind of all columns, or by name or number of a column its
            kind: ``{"user": "count", "paper": {"price": "continuous", 3: "categorical", "year":
            "date:years:0000-01-01", "red": "one-hot:colour"}}``. A kind is a text, a ``ColumnKind`` or a ``Column``.
            Features of edges go by the label of their relation, ``author -writes- paper``.
        names: column names by node type (member names for an identity type), or by the label of a relation.
        classes: class names; by default ``class 0``, ``class 1``, ...
        type_names: for ``Data`` whose ``x`` is a one-hot node type: the names of the types.
        edge_names: for ``Data`` whose ``edge_attr`` is a one-hot relation: the names of the relations. Where ``Data``
            has an integer ``edge_type``, they are the names of its numbers instead, unless they are as many as
            ``edge_attr`` has columns; by default ``relation 0``, ``relation 1``, ...
    """
    return read_data(
        data, target, task=task, kinds=kinds, names=names, classes=classes, type_names=type_names, edge_names=edge_names
    )[0]


@plain_torch()
def read_data(
    data: Any,
    target: str | None = None,
    *,
    task: Task | None = None,
    kinds: Mapping[str, Kinds] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    classes: Sequence[str] | None = None,
    type_names: Sequence[str] | None = None,
    edge_names: Sequence[str] | None = None,
) -> tuple[Schema, FlatGraphs]:
    """The schema that :func:`infer_schema` gives, which has the same arguments, and the data as it was read for it."""
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
        edge_fields=find_fields(graphs, field if relation_labels is not None else None),
    )
    relations = _relations(view)
    of_edges = [relation.label for relation in relations if any(map(view.edge_values.get, relation.edge_types))]
    for option, given in (("kinds", kinds), ("names", names)):
        unknown = set(given or {}) - {*view.type_names, *of_edges}
        if unknown:
            found, known = sorted(map(str, unknown)), ", ".join((*view.type_names, *of_edges))
            raise SchemaError(
                f"{option} names {found}, no node type and no relation with features; choose from {known}"
            )
    schema = Schema(
        node_types=view.type_names,
        relations=relations,
        edge_features=infer_edge_features(view, relations, kinds or {}, names or {}),
        features=tuple(
            infer_features(
                view.x[name],
                name,
                kind=(kinds or {}).get(name),
                names=(names or {}).get(name),
                form=view.form[name],
                warn=True,
            )
            for name in view.type_names
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
    return schema, view


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


# -- relations ----------------------------------------------------------------------------------------


def _relations(view: FlatGraphs) -> tuple[Relation, ...]:
    found: list[Relation] = []
    place = view.type_names.index
    open_types = sorted(view.edges, key=lambda end: (place(end[0]), place(end[2]), end[1].startswith("rev_"), end[1]))
    while open_types:
        edge_type = open_types.pop(0)
        source, name, target = edge_type
        if source == target and view.keys.opposite(edge_type, edge_type):
            found.append(Relation(source, name, target, reverse=name))
            continue
        partners = [
            other
            for other in open_types
            if (other[2], other[0]) == (source, target) and view.keys.opposite(edge_type, other)
        ]
        # Empty edge types all look alike: a name that says "reverse" decides between several.
        partner = min(partners, key=lambda other: (other[1] not in (name, f"rev_{name}"), other[1]), default=None)
        if partner is not None:
            open_types.remove(partner)
        reverse = None if partner is None else partner[1]
        found.append(Relation(source, name, target, reverse=reverse, directed=source == target))
    return tuple(found)
