"""The schema: which node types and relations a graph may have, what their features are, what is classified.

Everything that must know which pairs of types may be joined, in which order one-hot encodings run,
or what a feature column is called, asks the schema. It is frozen and has a JSON form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dignn.errors import SchemaError
from dignn.suggestions import did_you_mean

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

EdgeType = tuple[str, str, str]


class FeatureKind(str, Enum):
    """What the feature columns of a node type hold."""

    NONE = "none"  # no features, or the same row for every node
    BINARY = "binary"  # every column 0 or 1
    COUNT = "count"  # non-negative whole numbers
    CATEGORICAL = "categorical"  # every column one of several codes 0, 1, 2, ...
    IDENTITY = "identity"  # a small type whose members are told apart by a one-hot row
    CONTINUOUS = "continuous"

    @property
    def discrete(self) -> bool:
        return self not in (FeatureKind.NONE, FeatureKind.CONTINUOUS)


@dataclass(frozen=True)
class FeatureSpec:
    """The features of one node type, as the model to explain takes them.

    Args:
        kind: what the columns hold.
        width: number of columns; 0 when the type has no feature matrix at all.
        levels: values per column (codes 0 to level - 1) of a count or categorical type.
        names: names of the columns (of the members, for an identity type).
        constant: the row that every node carries, for kind ``none`` with ``width`` > 0.
    """

    kind: FeatureKind = FeatureKind.NONE
    width: int = 0
    levels: tuple[int, ...] | None = None
    names: tuple[str, ...] | None = None
    constant: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for field, values in (("names", self.names), ("levels", self.levels), ("constant", self.constant)):
            if values is not None and len(values) != self.width:
                raise SchemaError(f"{len(values)} {field} were given for {self.width} feature columns; give one each")
        if self.kind is FeatureKind.NONE and (self.width > 0) != (self.constant is not None):
            raise SchemaError("A type of kind 'none' has either no columns or one constant row; give constant=")
        if self.kind in (FeatureKind.COUNT, FeatureKind.CATEGORICAL) and self.levels is None:
            raise SchemaError(f"A type of kind '{self.kind.value}' needs levels=, the number of values per column")

    @property
    def generated(self) -> bool:
        """Whether a feature generator has anything to learn for this type."""
        return self.kind is not FeatureKind.NONE

    def column_name(self, column: int) -> str:
        """What a column (of an identity type: a member) is called; its number where it has no name."""
        if self.names is not None:
            return self.names[column]
        return f"member {column}" if self.kind is FeatureKind.IDENTITY else f"column {column}"


@dataclass(frozen=True)
class Relation:
    """A kind of edge; the two directions of one undirected relation are one ``Relation``.

    Args:
        source, name, target: the PyTorch Geometric edge type of the forward direction.
        reverse: name of the edge type ``(target, reverse, source)`` that holds the same edges the other
            way round; None where the data stores only one direction. An undirected relation inside one
            type is its own reverse.
        directed: whether the orientation of an edge *inside one type* carries information
            (paper cites paper). Between two types the types give the orientation.
    """

    source: str
    name: str
    target: str
    reverse: str | None = None
    directed: bool = False

    def __post_init__(self) -> None:
        if self.directed and self.source != self.target:
            raise SchemaError(f"Relation {self.label} joins two types, which already give its orientation")
        if not self.directed and self.source == self.target and self.reverse not in (None, self.name):
            raise SchemaError(f"Relation {self.label} is undirected inside one type, so it is its own reverse")
        if self.directed and self.reverse == self.name:
            raise SchemaError(f"Relation {self.label} is directed, so it cannot be its own reverse; name the other one")

    @property
    def label(self) -> str:
        arrow = "->" if self.directed else "-"
        return f"{self.source} -{self.name}{arrow} {self.target}"

    @property
    def edge_type(self) -> EdgeType:
        return (self.source, self.name, self.target)

    @property
    def reverse_edge_type(self) -> EdgeType | None:
        return None if self.reverse is None else (self.target, self.reverse, self.source)

    @property
    def edge_types(self) -> tuple[EdgeType, ...]:
        """The edge types that store its edges: forward, and reverse if that is another one."""
        reverse = self.reverse_edge_type
        return (self.edge_type,) if reverse is None or self.symmetric else (self.edge_type, reverse)

    @property
    def symmetric(self) -> bool:
        """Whether one edge type stores both directions (undirected inside one type)."""
        return self.source == self.target and not self.directed


class Layout(str, Enum):
    """The PyTorch Geometric class that the model to explain takes."""

    HETERO = "hetero"
    HOMOGENEOUS = "homogeneous"


@dataclass(frozen=True)
class Schema:
    """Node types, relations (the metagraph), features, target and classes of a data set.

    Args:
        node_types: names, in the order of every one-hot encoding.
        relations: relation ``r`` of :class:`~dignn.batch.GraphBatch` is ``relations[r - 1]``.
        features: one spec per node type, same order.
        target: the classified node type, or None for graph classification.
        classes: class names.
        layout: whether the model takes ``HeteroData`` or ``Data``.
        type_in_x: (homogeneous) ``x`` is the one-hot node type.
        edge_attr_names: (homogeneous) ``edge_attr`` is the one-hot relation name, in this order.
    """

    node_types: tuple[str, ...]
    relations: tuple[Relation, ...]
    features: tuple[FeatureSpec, ...]
    classes: tuple[str, ...]
    target: str | None = None
    layout: Layout = Layout.HETERO
    type_in_x: bool = False
    edge_attr_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
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
        if self.target is not None and self.target not in self.node_types:
            known, guess = ", ".join(self.node_types), did_you_mean(self.target, self.node_types)
            raise SchemaError(f"Target '{self.target}' is not a node type{guess}; choose from {known}")
        if not self.classes or len(set(self.classes)) < len(self.classes):
            raise SchemaError(f"Class names must be distinct and at least one; found {list(self.classes)}")
        unknown = {name for _, name, _ in self.edge_types} - set(self.edge_attr_names or ())
        if self.edge_attr_names is not None and unknown:
            raise SchemaError(f"edge_attr_names lacks the relation names {sorted(unknown)}; add them")
        plain_x = self.layout is Layout.HOMOGENEOUS and not self.type_in_x
        if plain_x and len({spec.width for spec in self.features}) > 1:
            raise SchemaError("A homogeneous model needs the same number of feature columns for every node type")

    # -- constructors ---------------------------------------------------------------------------------

    @classmethod
    def from_hetero(cls, data: HeteroData, target: str, **options: Any) -> Schema:
        """The schema of one heterogeneous graph whose ``target`` nodes are classified.

        Options are those of :func:`dignn.inference.infer_schema`.
        """
        from dignn.inference import infer_schema

        return infer_schema(data, target, **options)

    @classmethod
    def from_graphs(cls, graphs: Sequence[Data | HeteroData], **options: Any) -> Schema:
        """The schema of a list of graphs, each with a label ``y`` (graph classification)."""
        from dignn.inference import infer_schema

        return infer_schema(graphs, None, **options)

    # -- questions ------------------------------------------------------------------------------------

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    @property
    def target_index(self) -> int | None:
        return None if self.target is None else self.type_index(self.target)

    def type_index(self, name: str) -> int:
        """The number of a node type.

        Raises:
            SchemaError: there is no such type; the nearest name is in the message.
        """
        try:
            return self.node_types.index(name)
        except ValueError:
            guess = did_you_mean(name, self.node_types)
            raise SchemaError(f"Unknown node type '{name}'{guess}; choose from {', '.join(self.node_types)}") from None

    def spec(self, node_type: str | int) -> FeatureSpec:
        """The features of a node type, by name or number."""
        return self.features[node_type if isinstance(node_type, int) else self.type_index(node_type)]

    def ends(self, relation: int) -> tuple[int, int]:
        """Node types, as indices, of the source and target of relation ``relation`` (from 1)."""
        r = self.relations[relation - 1]
        return self.type_index(r.source), self.type_index(r.target)

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
    def metadata(self) -> tuple[list[str], list[EdgeType]]:
        """What PyTorch Geometric calls metadata: node types and edge types."""
        return list(self.node_types), list(self.edge_types)

    # -- JSON -----------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """A text from which :meth:`from_json` makes the same schema."""

        def plain(value: Any) -> Any:
            if isinstance(value, Enum):
                return value.value
            if isinstance(value, tuple):
                return [plain(item) for item in value]
            if isinstance(value, (FeatureSpec, Relation, Schema)):
                return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
            return value

        return json.dumps(plain(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """The schema that :meth:`to_json` wrote.

        Raises:
            SchemaError: the text is something else.
        """
        try:
            raw = json.loads(text)
            features = tuple(
                FeatureSpec(
                    kind=FeatureKind(spec["kind"]),
                    width=spec["width"],
                    levels=_tuple(spec["levels"]),
                    names=_tuple(spec["names"]),
                    constant=_tuple(spec["constant"]),
                )
                for spec in raw.pop("features")
            )
            return cls(
                node_types=tuple(raw.pop("node_types")),
                relations=tuple(Relation(**relation) for relation in raw.pop("relations")),
                classes=tuple(raw.pop("classes")),
                layout=Layout(raw.pop("layout")),
                edge_attr_names=_tuple(raw.pop("edge_attr_names")),
                features=features,
                **raw,
            )
        except SchemaError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise SchemaError(
                f"This is not the JSON form of a schema ({error!r}); write it with Schema.to_json"
            ) from error


def _tuple(values: list[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
