"""What a run tells of counterfactual pairs and of graphs that the model cannot decide, read without trust."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dignn.report.lookup import entry, number_at, part


@dataclass(frozen=True)
class ToldEdit:
    """What an edit changes.

    Args:
        kind: what kind of edit it is.
        words: what it does.
        node: position of the node, of an edge one end; None where it is not told.
        other: the other end of an edge, or the node that a new one is joined to.
    """

    kind: str
    words: str
    node: int | None
    other: int | None

    @property
    def whole_node(self) -> bool:
        """Whether a node comes or goes, with its edges."""
        return self.kind.startswith("node")

    @property
    def nodes(self) -> frozenset[int]:
        """The nodes that it changes, adds or removes."""
        of_node = self.other is None or self.whole_node
        return frozenset() if self.node is None or not of_node else frozenset([self.node])

    @property
    def edges(self) -> frozenset[tuple[int, int]]:
        """The edges likewise, either way round."""
        if self.node is None or self.other is None:
            return frozenset()
        return frozenset([(self.node, self.other), (self.other, self.node)])


@dataclass(frozen=True)
class ToldPair:
    """Two graphs that differ in a few edits, and that the model gives different classes.

    Args:
        source, target: the classes before and after.
        before, after: the model's probability of classes.
        inside: whether the second is inside the real range of its class; None where that is not told.
        edits: what is different.
        graphs: numbers of the two graphs.
        node: position of the classified node; None for graph classification.
    """

    source: str
    target: str
    before: Mapping[str, float]
    after: Mapping[str, float]
    inside: bool | None
    edits: tuple[ToldEdit, ...]
    graphs: tuple[int, int]
    node: int | None


@dataclass(frozen=True)
class ToldUndecided:
    """A graph that lies between two classes: the model's probabilities, its number, the classified node."""

    classes: tuple[str, str]
    probability: Mapping[str, float]
    graph: int
    node: int | None


def told_pairs(about: Mapping[str, Any]) -> list[ToldPair]:
    """The pairs, as they are told; damaged ones are left out."""
    found = []
    for each in entry(about, list, "counterfactuals") or []:
        source, target = (entry(each, str, name) for name in ("source", "target"))
        graphs = _numbers(each, "graphs")
        if source and target and len(graphs) == 2:
            before, after = (_probabilities(each, f"probability_{when}") for when in ("before", "after"))
            edits = tuple(edit for one in entry(each, list, "edits") or [] if (edit := _edit(one)) is not None)
            inside, node = entry(each, bool, "inside"), _position(each, "node")
            found.append(ToldPair(source, target, before, after, inside, edits, (graphs[0], graphs[1]), node))
    return found


def told_undecided(about: Mapping[str, Any]) -> list[ToldUndecided]:
    """The graphs that the model cannot decide; damaged entries are left out."""
    found = []
    for each in entry(about, list, "undecided") or []:
        classes, graph = entry(each, list, "classes") or [], _position(each, "graph")
        if len(classes) == 2 and all(isinstance(name, str) for name in classes) and graph is not None:
            names, chances = (classes[0], classes[1]), _probabilities(each, "probability")
            found.append(ToldUndecided(names, chances, graph, _position(each, "node")))
    return found


def _edit(content: Any) -> ToldEdit | None:
    words = entry(content, str, "words")
    if not words:
        return None
    node, other = (_position(content, name) for name in ("node", "other"))
    return ToldEdit(entry(content, str, "kind") or "", words, node, other)


def _probabilities(content: Any, name: str) -> dict[str, float]:
    found = part(content, name)
    return {each: value for each in found if (value := number_at(found, (each,))) is not None}


def _position(content: Any, name: str) -> int | None:
    found = entry(content, int, name)
    return found if found is not None and found >= 0 else None


def _numbers(content: Any, name: str) -> list[int]:
    found = entry(content, list, name) or []
    return [each for each in found if type(each) is int and each >= 0]
