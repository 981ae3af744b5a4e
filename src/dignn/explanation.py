"""What the explainer returns: for each class, ranked explanation graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
from torch_geometric.data import Data, HeteroData

from dignn import readable
from dignn.backdrop import Backdrop
from dignn.batch import GraphBatch
from dignn.convert import to_networkx, to_pyg
from dignn.errors import DignnError
from dignn.evidence import Evidence
from dignn.schema import Relation
from dignn.suggestions import did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        probability: what the model gives every class.
        log_odds: log p / (1 - p) of this class.
        graph: the graph, a batch of one.
        node: position of the classified node; None for graph classification.
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

    def top_features(self, node: int, most: int = 8) -> list[tuple[str, float]]:
        """Names and values of a node's non-zero columns, largest first (columns of a continuous type by size)."""
        return readable.top_features(self.graph, node, most)

    def edges(self) -> list[tuple[int, int, Relation]]:
        """(source, target, relation) of every edge, an undirected one once."""
        return readable.edges(self.graph)

    def composition(self) -> str:
        """How many nodes of each type, for example ``2 author, 5 paper``."""
        return readable.composition(self.graph)

    def to_hetero_data(self) -> HeteroData | Data:
        """The graph as the model takes it, with features: ``HeteroData``, or ``Data`` for a homogeneous model."""
        return to_pyg(self.graph)[0]

    def to_networkx(self) -> nx.Graph | nx.DiGraph:
        """The graph for networkx, see :func:`dignn.convert.to_networkx`."""
        return to_networkx(self.graph)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draws the graph with matplotlib, into ``ax`` if it is given, and returns the figure."""
        from dignn.report.figure import explanation_figure

        return explanation_figure(self, ax)

    def export(self, path: Path | str) -> Path:
        """Writes the graph in the format that the file's name ends with, and returns the path.

        ``.graphml`` and ``.gexf`` for graph tools, ``.json`` (:meth:`summary`), ``.png`` and ``.svg``.
        """
        from dignn.export import export

        return export(self, Path(path))

    def __repr__(self) -> str:
        size = int(self.graph.sizes[0])
        return f"Explanation({self.class_name!r}, p = {self.score:.4g}, {size} nodes: {self.composition()})"

    def _repr_html_(self) -> str:
        from dignn.report.notebook import explanation_html

        return explanation_html(self)

    def summary(self) -> dict[str, Any]:
        """A JSON form for people and programs: scores, typed nodes with named features, edges."""
        schema = self.graph.schema
        nodes = [
            {"type": schema.node_types[int(code)], "features": [list(pair) for pair in self.top_features(node, 64)]}
            for node, code in enumerate(self.graph.node_type[0].tolist())
        ]
        edges = [
            {"source": u, "target": v, "relation": relation.name, "directed": relation.directed}
            for u, v, relation in self.edges()
        ]
        return {
            "class": self.class_name,
            "rank": self.rank,
            "probability": dict(zip(schema.classes, self.probability, strict=True)),
            "log_odds": self.log_odds,
            "target_node": self.node,
            "candidate": self.candidate,
            "standing": None if self.standing is None else asdict(self.standing),
            "nodes": nodes,
            "edges": edges,
            "evidence": None if self.evidence is None else self.evidence.to_json(),
        }


@dataclass(frozen=True, repr=False)
class Explanations(Mapping[str, list[Explanation]]):
    """Class names to explanations, best first. A class that no candidate reaches has an empty list.

    Args:
        by_class: the explanations.
        about: what a report tells beside the graphs: configuration, metrics, timings.
        backdrop: what they are seen against; None where only explanations are known.
    """

    by_class: dict[str, list[Explanation]]
    about: dict[str, Any] = field(default_factory=dict)
    backdrop: Backdrop | None = None

    def __getitem__(self, name: str) -> list[Explanation]:
        if name not in self.by_class:
            guess = did_you_mean(name, self.by_class)
            raise DignnError(f"There is no class called '{name}'{guess}; choose from {', '.join(self.by_class)}")
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

    def _repr_html_(self) -> str:
        from dignn.report.notebook import explanations_html

        return explanations_html(self)

    def plot(self, rank: int = 0) -> Figure:
        """Draws the explanation of one rank of every class, with its features, as the paper's case study does."""
        from dignn.report.case_study import explanations_figure

        return explanations_figure(self, rank)

    def export(self, folder: Path | str, format: str) -> list[Path]:
        """Writes every explanation to a file CLASS-RANK.FORMAT and returns the paths.

        Args:
            folder: where to; it is made if it is not there.
            format: graphml, gexf, json, png or svg, see :meth:`Explanation.export`.
        """
        from dignn.export import export_all

        return export_all(self, Path(folder), format)

    def report(self, path: Path | str) -> Path:
        """Writes a page that a person can read, one file without outside parts, and returns its path."""
        from dignn.report.page import write_page

        return write_page(self, Path(path))

    def save(self, folder: Path | str) -> None:
        """Writes ``explanations.json`` (to read) and the graphs with features into a folder."""
        from dignn.explanation_files import save

        save(self, Path(folder))

    @classmethod
    def load(cls, folder: Path | str) -> Explanations:
        """Reads what :meth:`save` wrote, and what else a run folder tells.

        Raises:
            RunFolderError: there are no explanations, or a file is damaged or of another version.
        """
        from dignn.explanation_files import load

        return load(Path(folder))
