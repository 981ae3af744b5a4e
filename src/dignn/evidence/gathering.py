"""Everything that an explanation carries beside its graph, gathered for all explanations of a run at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from dignn.core.json_types import plain, restored
from dignn.evidence.edge_variants import average_edge_rows
from dignn.evidence.marks import Marks
from dignn.evidence.nearest_example import NearestExample, nearest_real
from dignn.evidence.neutral_rows import average_rows
from dignn.evidence.removal import ColumnEffect, Effects, effects_by_class, strongest_columns
from dignn.evidence.removal_together import with_joint
from dignn.evidence.sentences import sentences
from dignn.evidence.variants import Part
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores

# Single columns that are kept with an explanation.
KEPT_COLUMNS = 40


ExplainedClass = tuple[GraphBatch, int | None, int]
"""An explanation: its graph, the position of the classified node (None for graph classification), and the class."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for one explanation.

    Args:
        text: one or two sentences.
        nearest: the nearest real example.
        own_columns, columns_around: the strongest columns of the target node, and of the other nodes by type.
        effects: what removing nodes, edges and features does; of single columns those with the largest effects.
        marks: what other explainers make of it, by name, where that was asked for.
    """

    text: str
    nearest: NearestExample
    own_columns: tuple[ColumnEffect, ...]
    columns_around: tuple[ColumnEffect, ...]
    effects: Effects
    marks: dict[str, Marks] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The entries of ``explanations.json``, where an effect stands in one object with its part."""
        found = plain(self)
        removal, marks = found.pop("effects"), found.pop("marks")
        effects = [{**effect.pop("part"), **effect} for effect in removal["effects"]]
        return {**found, "removal": {**removal, "effects": effects}, **({"marks": marks} if marks else {})}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Evidence:
        """Raises KeyError, TypeError or ValueError where it is not what :meth:`to_json` gives."""
        found = {"marks": {}, **content}
        removal = found.pop("removal")
        names = [item.name for item in fields(Part)]
        flat = [dict(effect) for effect in removal["effects"]]
        effects = [{"part": {name: effect.pop(name) for name in names}, **effect} for effect in flat]
        return restored(cls, {**found, "effects": {**removal, "effects": effects}})


def gather(
    adapter: GNNAdapter, explained: Sequence[ExplainedClass], real: GraphBatch, known: Scores | None = None
) -> list[Evidence]:
    """The evidence of every explanation, in their order.

    Where one graph explains several classes the model is asked about it once.

    Args:
        adapter: the model.
        explained: explanations of any classes.
        real: real graphs with features: where the nearest example is sought, and whose feature tables say what an
            average row is.
        known: the model's scores of ``real``, if they are there already.
    """
    if not explained:
        return []
    averages = average_rows(real) | average_edge_rows(real)
    known = adapter.score(real) if known is None else known
    graphs, nodes, classes = zip(*explained, strict=True)
    scores = adapter.score(GraphBatch.cat(graphs))
    places = {place: row for row, place in enumerate(zip(scores.graph.tolist(), scores.node.tolist(), strict=True))}
    chosen = [places[number, -1 if node is None else node] for number, node in enumerate(nodes)]
    nearest = nearest_real(scores.embedding[chosen], classes, known, real)
    found: dict[int, Evidence] = {}
    for numbers in _of_one_graph(explained):
        graph, node, _ = explained[numbers[0]]
        by_class = effects_by_class(adapter, graph, node, [classes[number] for number in numbers], averages)
        for number, single in zip(numbers, by_class, strict=True):
            effects = with_joint(adapter, graph, single, averages)
            own, around = strongest_columns(effects, graph)
            text = sentences(graph, effects, own, around)
            found[number] = Evidence(text, nearest[number], own, around, effects.shortened(KEPT_COLUMNS))
    return [found[number] for number in range(len(explained))]


def _of_one_graph(explained: Sequence[ExplainedClass]) -> list[list[int]]:
    """Numbers of explanations, those with the same graph (one object) and classified node together."""
    found: dict[tuple[int, int | None], list[int]] = {}
    for number, (graph, node, _) in enumerate(explained):
        found.setdefault((id(graph), node), []).append(number)
    return list(found.values())
