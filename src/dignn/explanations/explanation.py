"""What the explainer returns: for each class, ranked explanation graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from torch_geometric.data import Data, HeteroData

from dignn.core.checks import instance, whole_number
from dignn.core.checks import path as checked_path
from dignn.core.errors import DignnError, UnknownNameError
from dignn.core.json_types import restored
from dignn.core.suggestions import not_known
from dignn.core.torch_defaults import plain_torch
from dignn.evidence.gathering import Evidence
from dignn.explanations import explanation_files
from dignn.explanations.pyg_explanation import Masks, PyGExplanation, pyg_explanation
from dignn.graphs import description as readable
from dignn.graphs.batch import GraphBatch
from dignn.graphs.column_words import in_json
from dignn.graphs.conversion import to_networkx, to_pyg
from dignn.graphs.schema import Layout, Relation, Schema
from dignn.report.export.formats import export, export_all
from dignn.report.goes_by_words import class_words
from dignn.report.notebook import explanation_html, explanations_html
from dignn.report.page import write_page
from dignn.report.reference import Reference
from dignn.report.told_terms import ToldTerm, told_terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Feature columns of a node that ``explanations.json`` tells at most.
TOLD_FEATURES = 64
# Classes whose probability it tells at most: the most probable ones, and the one that is explained.
TOLD_CLASSES = 100


@dataclass(frozen=True)
class Standing:
    """How far inside the real distribution an explanation lies, among real members of its class.

    Args:
        inside: whether its score and its distance from members are like those of nearly all members.
        score_rank: share of members of which the model is less sure (by the raw score of the class).
        distance_rank: share of members that are nearer to other members than this explanation is.
    """

    inside: bool
    score_rank: float
    distance_rank: float


@dataclass(frozen=True, repr=False)
class Explanation:
    """One graph that speaks for one class.

    Args:
        class_index, class_name: the class that it explains.
        rank: 0 for the best of its class.
        probability: what the model gives every class. Of more than a hundred a file tells the most probable ones; what
            was loaded gives the others equal shares of what is left.
        log_odds: log p / (1 - p) of this class.
        graph: the graph, a batch of one.
        node: position of the classified node among all nodes of ``graph``; None for graph classification. Its place
            in :meth:`to_hetero_data` is :attr:`row`.
        candidate: its number among the candidates.
        standing: how it stands among real members of the class.
        evidence: what the model sees in it: effects of removing its parts, the nearest real example, a text.
        example: the nearest real graph, a batch of one with features; ``evidence.nearest`` tells of it.
    """

    class_index: int
    class_name: str
    rank: int
    probability: tuple[float, ...]
    log_odds: float
    graph: GraphBatch
    node: int | None
    candidate: int
    standing: Standing | None = None
    evidence: Evidence | None = None
    example: GraphBatch | None = None

    @property
    def score(self) -> float:
        """The model's probability of the class."""
        return self.probability[self.class_index]

    @property
    def row(self) -> int | None:
        """The classified node's row in :meth:`to_hetero_data`; None for graph classification.

        In a ``HeteroData`` it counts the nodes of its type, in a ``Data`` all nodes.
        """
        if self.node is None:
            return None
        kind = self.graph.node_type[0]
        counted = kind == kind[self.node] if self.graph.schema.layout is Layout.HETERO else kind >= 0
        return int(counted[: self.node].sum())

    @plain_torch()
    def top_features(self, node: int, most: int = 8) -> list[tuple[str, float]]:
        """Names and values of a node's non-zero columns, largest first (columns of a continuous type by size).

        Columns that differ come in their order, categories and dates also where they are 0; a missing value is NaN.

        Args:
            node: position of the node, as in :meth:`edges`.
            most: of how many columns.
        """
        count = int(self.graph.sizes[0])
        node = whole_number("node", node)
        if not 0 <= node < count:
            raise DignnError(f"node is {node}, but the graph has {count} nodes; give one from 0 to {count - 1}")
        return readable.top_features(self.graph, node, whole_number("most", most, 1))

    def edges(self) -> list[tuple[int, int, Relation]]:
        """(source, target, relation) of every edge, an undirected one once."""
        return readable.edges(self.graph)

    def composition(self) -> str:
        """How many nodes of each type, for example ``2 author, 5 paper``."""
        return readable.composition(self.graph)

    @plain_torch()
    def to_hetero_data(self) -> HeteroData | Data:
        """The graph as the model takes it, with features: ``HeteroData``, or ``Data`` for a homogeneous model."""
        return to_pyg(self.graph, [self.node])[0]

    @plain_torch()
    def to_pyg(self, masks: Masks = "nodes") -> PyGExplanation:
        """The graph as an explanation of ``torch_geometric.explain``, ``Explanation`` or ``HeteroExplanation``.

        Masks say how far the probability of the class falls when a part is taken away; they are 0 where it does not
        fall, and where nobody tried. ``edge_mask`` has a value for each edge, the same for both directions of an
        undirected one. Beside the graph there are

        - ``target``, ``prediction`` and ``index``: the class, the probabilities and the row of the classified node, in
          the form that PyTorch Geometric's explainers give them; rows that are not explained hold -1 and NaN;
        - ``columns``: by node type the names of feature columns, for ``feat_labels`` of
          ``visualize_feature_importance``;
        - ``untried_columns`` (with ``masks="features"``): by node type the columns that were not tried on any node,
          or of which the evidence keeps nothing because others matter more. Their zeros say nothing.

        Args:
            masks: ``nodes`` for a ``node_mask`` (n, 1) with a value for each node, as ``visualize_graph``,
                ``get_explanation_subgraph`` and ``get_complement_subgraph`` want it; the classified node, without
                which there is no answer, has the whole probability. ``features`` for one (n, d) with a value for each
                feature column of each node, as ``visualize_feature_importance`` wants it.

        Raises:
            DignnError: ``masks`` is something else, or the explanation carries no evidence.
        """
        return pyg_explanation(self, masks)

    @plain_torch()
    def to_networkx(self) -> nx.Graph | nx.DiGraph:
        """The graph for networkx, see :func:`dignn.graphs.conversion.to_networkx`."""
        return to_networkx(self.graph)

    @plain_torch()
    def plot(self, ax: Axes | None = None) -> Figure:
        """Draws the graph with matplotlib, into ``ax`` if it is given, and returns the figure."""
        from matplotlib.axes import Axes

        from dignn.report.graph_figure import explanation_figure  # loads matplotlib

        instance("ax", ax, (Axes, NoneType), "axes of matplotlib")
        return explanation_figure(self, ax)

    @plain_torch()
    def export(self, path: Path | str) -> Path:
        """Writes the graph in the format that the file's name ends with, and returns the path.

        ``.graphml`` and ``.gexf`` for graph tools, ``.json`` (:meth:`summary`), ``.png`` and ``.svg``.
        """
        return export(self, checked_path("path", path))

    def __repr__(self) -> str:
        size = int(self.graph.sizes[0])
        return f"Explanation({self.class_name!r}, p = {self.score:.4g}, {size} nodes: {self.composition()})"

    @plain_torch()
    def _repr_html_(self) -> str:
        return explanation_html(self)

    def summary(self) -> dict[str, Any]:
        """A JSON form for people and programs: scores, typed nodes with named features, edges."""
        schema = self.graph.schema
        nodes = [
            {
                "type": schema.node_types[int(code)],
                "features": [
                    [name, in_json(value, column)]
                    for name, value, column in readable.told_features(self.graph, node, TOLD_FEATURES)
                ],
            }
            for node, code in enumerate(self.graph.node_type[0].tolist())
        ]
        edges = [
            {"source": u, "target": v, "relation": relation.name, "directed": relation.directed, **self._carried(u, v)}
            for u, v, relation in self.edges()
        ]
        return {
            "class": self.class_name,
            "rank": self.rank,
            "probability": {schema.classes[place]: self.probability[place] for place in self._told_classes()},
            "log_odds": self.log_odds,
            "target_node": self.node,
            "candidate": self.candidate,
            "standing": None if self.standing is None else asdict(self.standing),
            "nodes": nodes,
            "edges": edges,
            "evidence": None if self.evidence is None else self.evidence.to_json(),
        }

    def _told_classes(self) -> list[int]:
        """Classes whose probability is told, in their order."""
        every = range(len(self.probability))
        if len(every) <= TOLD_CLASSES:
            return list(every)
        ranked = np.argsort(-np.array(self.probability), kind="stable").tolist()
        return sorted([self.class_index, *(place for place in ranked if place != self.class_index)][:TOLD_CLASSES])

    def _carried(self, u: int, v: int) -> dict[str, Any]:
        """Named features of an edge, where edges of its relation have some."""
        found = readable.edge_features(self.graph, u, v)
        return {"features": [[name, in_json(value, column)] for name, value, column in found]} if found else {}

    @classmethod
    def from_summary(
        cls, name: str, summary: Mapping[str, Any], graph: GraphBatch, example: GraphBatch | None
    ) -> Explanation:
        """The explanation that :meth:`summary` tells of.

        Args:
            name: the class that it explains.
            summary: as JSON.
            graph, example: the explanation's graph, and the nearest real one if it is there.

        Raises:
            KeyError, TypeError, ValueError: the summary is damaged, or is not of this graph.
        """
        classes, node = graph.schema.classes, summary["target_node"]
        probability = _of_every_class(summary["probability"], classes)
        if not all(map(math.isfinite, probability)):
            raise ValueError("a probability is no number")
        _check_nodes(graph, node)
        evidence = None if summary["evidence"] is None else Evidence.from_json(summary["evidence"])
        if evidence is not None:
            _check_evidence(evidence, graph, example)
        return cls(
            class_index=classes.index(name),
            class_name=name,
            rank=int(summary["rank"]),
            probability=probability,
            log_odds=float(summary["log_odds"]),
            graph=graph,
            node=node,
            candidate=int(summary["candidate"]),
            standing=None if summary["standing"] is None else restored(Standing, summary["standing"]),
            evidence=evidence,
            example=example,
        )


def _of_every_class(told: Mapping[str, float], classes: Sequence[str]) -> tuple[float, ...]:
    """Probabilities of all classes; of more than are told the others share what is left.

    Raises:
        KeyError, TypeError, ValueError: there are others, or fewer than are told.
    """
    if not isinstance(told, Mapping):
        raise TypeError(f"probabilities of classes are a {type(told).__name__}")
    if unknown := told.keys() - set(classes):
        raise ValueError(f"there is a probability of {min(unknown)!r}, which is no class")
    if len(told) < min(len(classes), TOLD_CLASSES):
        raise KeyError(f"there are probabilities of {len(told)} of {len(classes)} classes only")
    left = max(0.0, 1.0 - math.fsum(told.values())) / max(1, len(classes) - len(told))
    return tuple(float(told.get(each, left)) for each in classes)


def _check_evidence(evidence: Evidence, graph: GraphBatch, example: GraphBatch | None) -> None:
    """Raises where it tells of what is neither in the graph nor in the nearest real one."""
    nearest, schema = evidence.nearest, graph.schema
    _check_nodes(graph, *(node for effect in evidence.effects.effects for node in effect.part.nodes))
    _check_nodes(example, nearest.node)
    for label in (nearest.label, nearest.predicted):
        if label is not None and not 0 <= label < schema.num_classes:
            raise ValueError(f"the nearest example is of class {label}, which does not exist")
    for name, marks in evidence.marks.items():
        parts = (("nodes", marks.nodes, int(graph.sizes[0])), ("edges", marks.edges, len(readable.edges(graph))))
        for what, values, count in parts:
            if values is not None and len(values) != count:
                raise ValueError(f"{name} marks {len(values)} {what} of {count}")
    for column in (*evidence.own_columns, *evidence.columns_around):
        if not 0 <= column.column < schema.spec(column.node_type).width:
            raise ValueError(f"{column.node_type} has no column {column.column}")


def _check_nodes(graph: GraphBatch | None, *nodes: Any) -> None:
    """Raises where one is no position in the graph, if that is there, nor None."""
    for node in nodes:
        if node is not None and not (type(node) is int and node >= 0 and (graph is None or node < int(graph.sizes[0]))):
            raise ValueError(f"{node!r} is no node of its graph")


@dataclass(frozen=True, repr=False)
class Explanations(Mapping[str, list[Explanation]]):
    """Class names to explanations, best first. A class that no candidate reaches has an empty list.

    Args:
        by_class: the explanations.
        about: what a report tells beside the graphs: configuration, metrics, timings.
        reference: what they are seen against; None where only explanations are known.
        contrasts: the graphs that counterfactual pairs and undecided graphs in ``about`` name by number.
    """

    by_class: dict[str, list[Explanation]]
    about: dict[str, Any] = field(default_factory=dict)
    reference: Reference | None = None
    contrasts: GraphBatch | None = None

    def __post_init__(self) -> None:
        instance("by_class", self.by_class, dict, "a dictionary from class names to lists of explanations")
        for name, several in self.by_class.items():
            instance("A class name", name, str, "a text")
            instance(f"by_class['{name}']", several, list, "a list of explanations")
            for each in several:
                instance(f"An entry of by_class['{name}']", each, Explanation, "an Explanation")
        instance("about", self.about, dict, "a dictionary")
        instance("reference", self.reference, (Reference, NoneType), "a Reference, or None")
        instance("contrasts", self.contrasts, (GraphBatch, NoneType), "a GraphBatch, or None")

    @property
    def schema(self) -> Schema | None:
        """The schema of the graphs; None where there is no explanation."""
        return next((several[0].graph.schema for several in self.values() if several), None)

    @property
    def goes_by(self) -> dict[str, list[ToldTerm]]:
        """By class the terms of its scorecard, those worth most first, decoys last; empty where none were sought."""
        return told_terms(self.about)

    def sentence(self, name: str) -> str | None:
        """What the model goes by for a class, and how far that gives its answers; None where it was not sought.

        Args:
            name: of the class.

        Raises:
            UnknownNameError: there is no such class.
        """
        self[name]  # raises
        found = class_words(self.about, self.schema).get(name)
        return None if found is None else found.sentence

    def __getitem__(self, name: str) -> list[Explanation]:
        if not isinstance(name, str):
            raise UnknownNameError(
                f"{name!r} is a {type(name).__name__}; explanations go by the name of their class: "
                f"{', '.join(self.by_class)}"
            )
        if name not in self.by_class:
            raise UnknownNameError(not_known("class", name, self.by_class))
        return self.by_class[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_class)

    def __len__(self) -> int:
        return len(self.by_class)

    def __repr__(self) -> str:
        lines = []
        for name, several in self.by_class.items():
            listed = [f"    {item!r}," for item in several]
            lines += [f"  {name!r}: [", *listed, "  ],"] if listed else [f"  {name!r}: [],"]
        return "\n".join(["Explanations({", *lines, "})"])

    @plain_torch()
    def _repr_html_(self) -> str:
        return explanations_html(self)

    @plain_torch()
    def plot(self, rank: int = 0) -> Figure:
        """Draws the explanation of one rank of every class, with its features, as the paper's case study does."""
        from dignn.report.case_study import explanations_figure  # loads matplotlib

        return explanations_figure(self, whole_number("rank", rank, 0))

    @plain_torch()
    def export(self, folder: Path | str, format: str) -> list[Path]:
        """Writes every explanation to a file CLASS-NUMBER.FORMAT and returns the paths.

        As json, what the model goes by is written beside them, where that was sought: ``goes_by.json``.

        Args:
            folder: where to; it is made if it is not there.
            format: graphml, gexf, json, png or svg, see :meth:`Explanation.export`.
        """
        return export_all(self, checked_path("folder", folder), format)

    @plain_torch()
    def report(self, path: Path | str) -> Path:
        """Writes a page that a person can read, one file without outside parts, and returns its path."""
        return write_page(self, checked_path("path", path))

    @plain_torch()
    def save(self, folder: Path | str) -> None:
        """Writes ``explanations.json`` (to read) and the graphs with features into a folder."""
        ranked = [item for several in self.values() for item in several]
        explanation_files.save(
            checked_path("folder", folder),
            {name: [item.summary() for item in several] for name, several in self.items()},
            [item.graph for item in ranked],
            [item.example for item in ranked if item.example is not None],
            self.about,
            self.reference,
            self.contrasts,
        )

    @classmethod
    @plain_torch()
    def load(cls, folder: Path | str) -> Explanations:
        """Reads what :meth:`save` wrote, and what else a run folder tells.

        Raises:
            RunFolderError: there are no explanations, or a file is damaged or of another version.
        """
        return cls(*explanation_files.load(checked_path("folder", folder), Explanation.from_summary))
