"""Everything that an explanation carries beside its graph, gathered for all explanations of a run at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from dignn.batch import GraphBatch
from dignn.evidence.familiar import NearestExample, nearest_real
from dignn.evidence.joint import with_joint
from dignn.evidence.removal import ColumnEffect, Effects, removal_effects, strongest_columns
from dignn.evidence.sentences import sentences
from dignn.evidence.variants import average_rows
from dignn.gnn.adapter import GNNAdapter, Scores

# Single columns that are kept with an explanation.
KEPT_COLUMNS = 40


class Explained(Protocol):
    """What is known of an explanation when its evidence is gathered."""

    @property
    def graph(self) -> GraphBatch: ...

    @property
    def node(self) -> int | None: ...

    @property
    def class_index(self) -> int: ...


@dataclass(frozen=True)
class Evidence:
    """What speaks for one explanation.

    Args:
        effects: what removing nodes, edges and features does; of single columns those with the largest effects.
        own_columns, columns_around: the strongest columns of the target node, and of the other nodes by type.
        nearest: the nearest real example.
        text: one or two sentences.
    """

    effects: Effects
    own_columns: tuple[ColumnEffect, ...]
    columns_around: tuple[ColumnEffect, ...]
    nearest: NearestExample
    text: str

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "nearest": self.nearest.to_json(),
            "own_columns": [_plain(column) for column in self.own_columns],
            "columns_around": [_plain(column) for column in self.columns_around],
            "removal": self.effects.to_json(),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Evidence:
        return cls(
            effects=Effects.from_json(content["removal"]),
            own_columns=tuple(ColumnEffect.from_json(column) for column in content["own_columns"]),
            columns_around=tuple(ColumnEffect.from_json(column) for column in content["columns_around"]),
            nearest=NearestExample.from_json(content["nearest"]),
            text=content["text"],
        )


def gather(
    adapter: GNNAdapter, explained: Sequence[Explained], real: GraphBatch, known: Scores | None = None
) -> list[Evidence]:
    """The evidence of every explanation, in their order.

    Args:
        adapter: the model.
        explained: explanations of any classes.
        real: real graphs with features: where the nearest example is sought, and whose feature tables say what an
            average row is.
        known: the model's scores of ``real``, if they are there already.
    """
    if not explained:
        return []
    averages = average_rows(real)
    known = adapter.score(real) if known is None else known
    scores = adapter.score(GraphBatch.cat([item.graph for item in explained]))
    rows = {
        (graph, node): row
        for row, (graph, node) in enumerate(zip(scores.graph.tolist(), scores.node.tolist(), strict=True))
    }
    chosen = [rows[number, -1 if item.node is None else item.node] for number, item in enumerate(explained)]
    nearest = nearest_real(scores.embedding[chosen], [item.class_index for item in explained], known, real)
    found = []
    for item, example in zip(explained, nearest, strict=True):
        effects = removal_effects(adapter, item.graph, item.node, item.class_index, averages)
        effects = with_joint(adapter, item.graph, effects, averages)
        own, around = strongest_columns(effects, item.graph)
        text = sentences(item.graph, effects, own, around)
        found.append(Evidence(effects.shortened(KEPT_COLUMNS), own, around, example, text))
    return found


def _plain(column: ColumnEffect) -> dict[str, Any]:
    return {**asdict(column), "nodes": list(column.nodes)}
