"""What the explainer returns: for each class, ranked explanation graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
from torch_geometric.data import Data, HeteroData

from dignn import readable
from dignn.batch import GraphBatch
from dignn.convert import to_networkx, to_pyg
from dignn.errors import DignnError, RunFolderError
from dignn.evidence import Evidence
from dignn.runtime.files import read_json, write_json
from dignn.schema import Relation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "dignn.Explanations.2"
COUNTS = ("validity", "sampling")  # parts of ``about`` that no other file of a run folder holds


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


@dataclass(frozen=True)
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
        return to_networkx(self.graph)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the graph with matplotlib and returns the axes."""
        from dignn.report.figure import draw

        return draw(self, ax)

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


@dataclass(frozen=True)
class Explanations(Mapping[str, list[Explanation]]):
    """Class names to explanations, best first. A class that no candidate reaches has an empty list.

    ``about`` holds what a report tells beside the graphs: configuration, metrics, timings.
    """

    by_class: dict[str, list[Explanation]]
    about: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> list[Explanation]:
        if name not in self.by_class:
            raise DignnError(f"There is no class called '{name}'; choose from {', '.join(self.by_class)}")
        return self.by_class[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_class)

    def __len__(self) -> int:
        return len(self.by_class)

    def report(self, path: Path | str) -> Path:
        """Writes a page that a person can read, one file without outside parts, and returns its path."""
        from dignn.report.page import write_page

        return write_page(self, Path(path))

    def save(self, folder: Path | str) -> None:
        """Writes ``explanations.json`` (to read) and ``explanations.safetensors`` (the graphs with features)."""
        folder = Path(folder)
        ranked = [explanation for several in self.by_class.values() for explanation in several]
        graphs = GraphBatch.cat([explanation.graph for explanation in ranked]) if ranked else None
        if graphs is not None:
            graphs.save(folder / "explanations.safetensors")
        write_json(
            folder / "explanations.json",
            {
                "format": FORMAT,
                **{name: self.about[name] for name in COUNTS if name in self.about},
                "classes": {name: [item.summary() for item in several] for name, several in self.by_class.items()},
            },
        )

    @classmethod
    def load(cls, folder: Path | str) -> Explanations:
        """Reads what :meth:`save` wrote."""
        folder = Path(folder)
        if not (folder / "explanations.json").exists():
            raise RunFolderError(f"{folder} holds no explanations.json; give the folder of a finished run")
        content = read_json(folder / "explanations.json", "format", "classes")
        if content.get("format") != FORMAT:
            raise RunFolderError(
                f"{folder}/explanations.json has the format {content.get('format')}, not {FORMAT}; run again"
            )
        several = content["classes"]
        graphs = GraphBatch.load(folder / "explanations.safetensors") if any(several.values()) else None
        by_class: dict[str, list[Explanation]] = {}
        position = 0
        for index, (name, items) in enumerate(several.items()):
            by_class[name] = []
            for item in items:
                assert graphs is not None  # there is an item, so there are graphs
                by_class[name].append(
                    Explanation(
                        class_index=index,
                        class_name=name,
                        rank=item["rank"],
                        probability=tuple(item["probability"].values()),
                        log_odds=item["log_odds"],
                        graph=graphs[position],
                        node=item["target_node"],
                        candidate=item["candidate"],
                        standing=None if item["standing"] is None else Standing(**item["standing"]),
                        evidence=None if item["evidence"] is None else Evidence.from_json(item["evidence"]),
                    )
                )
                position += 1
        return cls(by_class, _about(folder) | {name: content[name] for name in COUNTS if name in content})


def _about(folder: Path) -> dict[str, Any]:
    """What a run folder tells beside the graphs; nothing where only explanations were saved."""
    about = read_json(folder / "config.json") if (folder / "config.json").exists() else {}
    for name in ("metrics", "timings"):
        if (folder / f"{name}.json").exists():
            about[name] = read_json(folder / f"{name}.json")
    return about
