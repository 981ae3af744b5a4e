"""The schema: which node types and relations a graph may have, what their features are, what is classified.

Everything that must know which pairs of types may be joined, in which order one-hot encodings run,
or what a feature column is called, asks the schema. It is frozen and has a JSON form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from functools import cached_property, partial
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

import dignn
from dignn.core.checks import choice, instance, names, switches, whole_number
from dignn.core.errors import SchemaError
from dignn.core.fingerprint import fingerprint
from dignn.core.json_types import restored
from dignn.core.suggestions import did_you_mean
from dignn.graphs.edge_features import EdgeFeatures, check_edge_features
from dignn.graphs.edge_forms import EDGE_INDEX_TENSOR, EdgeForm
from dignn.graphs.feature_spec import FeatureSpec
from dignn.graphs.relation import EdgeType, Relation, edge_types
from dignn.graphs.tasks.base import Task
from dignn.graphs.tasks.classification import classification

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData


class Layout(str, Enum):
    """The PyTorch Geometric class that the model to explain takes."""

    HETERO = "hetero"
    HOMOGENEOUS = "homogeneous"


@dataclass(frozen=True)
class Schema:
    """Node types, relations (the metagraph), features, target and classes of a data set.

    Args:
        node_types: names, in the order of every one-hot encoding.
        relations: relation ``r`` of :class:`~dignn.graphs.batch.GraphBatch` is ``relations[r - 1]``.
        features: one spec per node type, same order.
        classes: class names.
        target: the classified node type, or None for graph classification.
        layout: whether the model takes ``HeteroData`` or ``Data``.
        type_in_x: (homogeneous) ``x`` is the one-hot node type.
        edge_attr_names: (homogeneous) ``edge_attr`` is the one-hot relation name, in this order.
        edge_type_names: (homogeneous) ``edge_type`` is the number of the relation name, in this order.
        edge_form: in which fields and forms the data keeps its edges.
        task: what is answered about, and how; by default the classification of the target.
        edge_order: the edge types in the order in which the data has them, which some layers go by; by default that
            of the relations. It makes no other schema.
        edge_features: what the edges of relations carry, for those that carry something.
    """

    node_types: tuple[str, ...]
    relations: tuple[Relation, ...]
    features: tuple[FeatureSpec, ...]
    classes: tuple[str, ...]
    target: str | None = None
    layout: Layout = Layout.HETERO
    type_in_x: bool = False
    edge_attr_names: tuple[str, ...] | None = None
    edge_type_names: tuple[str, ...] | None = None
    edge_form: EdgeForm = EDGE_INDEX_TENSOR
    task: Task = None  # type: ignore[assignment]  # filled in from the target
    edge_order: tuple[EdgeType, ...] | None = field(default=None, compare=False)
    edge_features: tuple[EdgeFeatures, ...] = ()

    def __post_init__(self) -> None:
        self._check_types()
        if self.task is None:
            object.__setattr__(self, "task", classification(self.target))
        elif self.target is None:
            object.__setattr__(self, "target", self.task.target)
        if len(set(self.node_types)) != len(self.node_types) or not self.node_types:
            raise SchemaError(f"Node types must be distinct and at least one; found {list(self.node_types)}")
        if len(self.features) != len(self.node_types):
            raise SchemaError(
                f"{len(self.features)} feature specs for {len(self.node_types)} node types; give one each"
            )
        for relation in self.relations:
            for end in (relation.source, relation.target):
                if end not in self.node_types:
                    raise SchemaError(f"Relation {relation.label} names the unknown node type '{end}'")
        if len(set(self.edge_types)) != len(self.edge_types):
            raise SchemaError(f"Relations must be distinct, also in reverse; found {list(self.edge_types)}")
        if self.task.target != self.target:
            raise SchemaError(f"The task is about {self.task.things}, the target is '{self.target}'; give one of them")
        self.task.check(self.node_types)
        if not self.classes or len(set(self.classes)) < len(self.classes):
            raise SchemaError(f"Class names must be distinct and at least one; found {list(self.classes)}")
        if self.edge_attr_names is not None and self.edge_type_names is not None:
            raise SchemaError("Relations are told by edge_attr or by edge_type; give the names of one of them")
        for option, told in (("edge_attr_names", self.edge_attr_names), ("edge_type_names", self.edge_type_names)):
            unknown = {name for _, name, _ in self.edge_types} - set(told or ())
            if told is not None and unknown:
                raise SchemaError(f"{option} lacks the relation names {sorted(unknown)}; add them")
        plain_x = self.layout is Layout.HOMOGENEOUS and not self.type_in_x
        if plain_x and len({spec.width for spec in self.features}) > 1:
            raise SchemaError("A homogeneous model needs the same number of feature columns for every node type")
        check_edge_features(self.edge_features, self.relations, one_store=self.layout is Layout.HOMOGENEOUS)

    def _check_types(self) -> None:
        """Raises for values of another type; lists become tuples, a layout by its name becomes one."""
        put = partial(object.__setattr__, self)
        for named, kind in (("relations", Relation), ("features", FeatureSpec), ("edge_features", EdgeFeatures)):
            several = getattr(self, named)
            instance(named, several, (tuple, list), f"a tuple of {kind.__name__} objects")
            for each in several:
                instance(f"An entry of {named}", each, kind, f"a {kind.__name__}")
            put(named, tuple(several))
        put("node_types", names("node_types", self.node_types))
        put("classes", names("classes", self.classes))
        for named in ("edge_attr_names", "edge_type_names"):
            if getattr(self, named) is not None:
                put(named, names(named, getattr(self, named)))
        instance("edge_form", self.edge_form, EdgeForm, "an EdgeForm")
        if self.edge_order is not None:
            put("edge_order", edge_types("edge_order", self.edge_order))
        instance("target", self.target, (str, NoneType), "the name of a node type, or None for graph classification")
        choice("layout", self.layout, [layout.value for layout in Layout])
        put("layout", Layout(self.layout))
        switches(self, "type_in_x")
        instance("task", self.task, (Task, NoneType), "a Task, or None for the classification of the target")

    # -- constructors ---------------------------------------------------------------------------------

    @classmethod
    def from_hetero(cls, data: HeteroData, target: str, **options: Any) -> Schema:
        """The schema of one heterogeneous graph whose ``target`` nodes are classified.

        Options are those of :func:`dignn.graphs.inference.infer_schema`.
        """
        return dignn.infer_schema(data, target, **options)

    @classmethod
    def from_graphs(cls, graphs: Sequence[Data | HeteroData], **options: Any) -> Schema:
        """The schema of a list of graphs, each with a label ``y`` (graph classification)."""
        return dignn.infer_schema(graphs, None, **options)

    # -- questions ------------------------------------------------------------------------------------

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    @property
    def graph_classes(self) -> int:
        """Classes that a graph as a whole may be of; 0 where answers are about nodes."""
        return self.num_classes if self.task.of_graphs else 0

    @property
    def target_index(self) -> int | None:
        return self.node_types.index(self.target) if self.target in self.node_types else None

    def type_index(self, name: str) -> int:
        """The number of a node type.

        Raises:
            SchemaError: there is no such type; the nearest name is in the message.
        """
        try:
            return self.node_types.index(name)
        except ValueError:
            guess = did_you_mean(str(name), self.node_types)
            raise SchemaError(f"Unknown node type '{name}'{guess}; choose from {', '.join(self.node_types)}") from None

    def spec(self, node_type: str | int) -> FeatureSpec:
        """The features of a node type, by name or number."""
        if isinstance(node_type, str):
            return self.features[self.type_index(node_type)]
        if not 0 <= whole_number("node_type", node_type) < len(self.features):
            last = len(self.features) - 1
            raise SchemaError(f"There is no node type number {node_type}; give a name, or a number from 0 to {last}")
        return self.features[node_type]

    def ends(self, relation: int) -> tuple[int, int]:
        """Node types, as indices, of the source and target of relation ``relation`` (from 1)."""
        if not 1 <= whole_number("relation", relation) <= len(self.relations):
            raise SchemaError(f"There is no relation number {relation}; give one from 1 to {len(self.relations)}")
        r = self.relations[relation - 1]
        return self.type_index(r.source), self.type_index(r.target)

    @cached_property
    def edge_features_by_label(self) -> dict[str, EdgeFeatures]:
        """What edges carry, by the label of their relation; for relations whose edges carry something."""
        return {self.relations[features.relation - 1].label: features for features in self.edge_features}

    @cached_property
    def generated_edges(self) -> dict[str, EdgeFeatures]:
        """The same for those of which there is something to learn: they have a table."""
        return {label: features for label, features in self.edge_features_by_label.items() if features.spec.generated}

    def table_spec(self, name: str) -> FeatureSpec:
        """The features of a node type, or of the edges of a relation by its label."""
        features = self.edge_features_by_label.get(name)
        return self.spec(name) if features is None or name in self.node_types else features.spec

    @property
    def edge_fields(self) -> dict[EdgeType | None, list[str]]:
        """The fields of edges by the key of their store: an edge type, or None for that of a ``Data``."""
        found: dict[EdgeType | None, list[str]] = {}
        for features in self.edge_features:
            relation = self.relations[features.relation - 1]
            for edge_type in relation.edge_types:
                names = found.setdefault(edge_type if self.layout is Layout.HETERO else None, [])
                carried = [field.name for field in features.fields if field.carried_by(relation, edge_type)]
                names += [name for name in carried if name not in names]
        return found

    @cached_property
    def allowed(self) -> np.ndarray:
        """``allowed[s, t, r]``: may ``edge[u, v]`` be ``r`` for u of type s and v of type t?  (T, T, R + 1)

        ``r = 0`` (no edge) is always allowed. This is the metagraph as a mask.
        """
        count = len(self.node_types)
        mask = np.zeros((count, count, len(self.relations) + 1), dtype=bool)
        mask[:, :, 0] = True
        for r in range(1, len(self.relations) + 1):
            s, t = self.ends(r)
            mask[s, t, r] = mask[t, s, r] = True
        return mask

    @property
    def edge_types(self) -> tuple[EdgeType, ...]:
        """Every PyTorch Geometric edge type, both directions of each relation that stores them."""
        return tuple(edge_type for relation in self.relations for edge_type in relation.edge_types)

    @property
    def edge_types_as_stored(self) -> tuple[EdgeType, ...]:
        """The same in the order in which the data has them."""
        place = {edge_type: number for number, edge_type in enumerate(self.edge_order or ())}
        return tuple(sorted(self.edge_types, key=lambda edge_type: place.get(edge_type, len(place))))

    @property
    def metadata(self) -> tuple[list[str], list[EdgeType]]:
        """What PyTorch Geometric calls metadata: node types and edge types."""
        return list(self.node_types), list(self.edge_types)

    # -- JSON -----------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """A text from which :meth:`from_json` makes the same schema."""
        content = _without_defaults(asdict(self), _LATER)
        content["features"] = [_without_defaults(spec, _LATER_SPEC) for spec in content["features"]]
        for edges in content.get("edge_features", ()):
            edges["spec"] = _without_defaults(edges["spec"], _LATER_SPEC)
        del content["task"]
        if self.task != classification(self.target):
            content["task"] = self.task.to_json()
        return json.dumps(content, indent=1)

    @property
    def fingerprint(self) -> str:
        """A short text that tells schemas apart."""
        return fingerprint([replace(self, edge_order=None).to_json()])

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """The schema that :meth:`to_json` wrote.

        Raises:
            SchemaError: the text is something else.
        """
        try:
            raw = {**_LATER, **json.loads(text)}
            names, codes, order = (raw.pop(key) for key in ("edge_attr_names", "edge_type_names", "edge_order"))
            carried = [{**edges, "spec": {**_LATER_SPEC, **edges["spec"]}} for edges in raw.pop("edge_features")]
            return cls(
                node_types=tuple(raw.pop("node_types")),
                relations=tuple(restored(Relation, relation) for relation in raw.pop("relations")),
                features=tuple(restored(FeatureSpec, {**_LATER_SPEC, **spec}) for spec in raw.pop("features")),
                classes=tuple(raw.pop("classes")),
                layout=Layout(raw.pop("layout")),
                edge_attr_names=None if names is None else tuple(names),
                edge_order=None if order is None else tuple(map(tuple, order)),
                edge_type_names=None if codes is None else tuple(codes),
                edge_form=restored(EdgeForm, raw.pop("edge_form")),
                edge_features=tuple(restored(EdgeFeatures, edges) for edges in carried),
                task=Task.from_json(raw.pop("task")) if "task" in raw else classification(raw["target"]),
                **raw,
            )
        except SchemaError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise SchemaError(
                f"This is not the JSON form of a schema ({error!r}); write it with Schema.to_json"
            ) from error


# Fields that earlier files lack. Where they say nothing new they are left out, so that fingerprints stay as they were.
_LATER: dict[str, Any] = {
    **{"edge_type_names": None, "edge_form": asdict(EDGE_INDEX_TENSOR), "edge_order": None},
    "edge_features": (),
}
_LATER_SPEC: dict[str, Any] = {"dtype": "float32", "layout": "strided", "vector": False, "columns": None}


def _without_defaults(content: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key not in defaults or value != defaults[key]}
