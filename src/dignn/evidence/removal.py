"""What the model's answer rests on: how far it moves when a part of the graph is removed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dignn.core.errors import ModelMismatchError
from dignn.evidence.neutral_rows import Averages
from dignn.evidence.variants import Kind, Part, check_one, parts_of, steps_from, without
from dignn.graphs.batch import GraphBatch
from dignn.graphs.description import type_name
from dignn.model.adapter import GNNAdapter

# Drops are ordered by this many digits: sums in another order differ in later ones.
DROP_DIGITS = 4


@dataclass(frozen=True)
class Effect:
    """What removing one part does to the class that is explained.

    Args:
        part: what is removed.
        drop: log-odds before less log-odds after; positive where removing it hurts the class. None where the model
            gives no answer without the part.
        probability: of the class after the removal; None likewise.
    """

    part: Part
    drop: float | None
    probability: float | None


@dataclass(frozen=True)
class Effects:
    """The effects of removing every part of one graph.

    Args:
        class_index: the class that is explained.
        node: position of the classified node; None for graph classification.
        probability, log_odds: of the class in the whole graph.
        effects: one per part.
    """

    class_index: int
    node: int | None
    probability: float
    log_odds: float
    effects: tuple[Effect, ...]

    def of(self, *kinds: Kind) -> list[Effect]:
        """Effects of removing single things of some kinds that the model answers, those that hurt most first."""
        chosen = [e for e in self.effects if e.part.kind in kinds and not e.part.joint and e.drop is not None]
        return sorted(chosen, key=lambda effect: -round(effect.drop or 0.0, DROP_DIGITS))

    def shortened(self, columns: int) -> Effects:
        """With the ``columns`` single columns of the largest effects, either way, and all other parts."""
        single = [effect for effect in self.effects if effect.part.kind is Kind.COLUMN and not effect.part.joint]
        largest = sorted(single, key=lambda effect: -round(abs(effect.drop or 0.0), DROP_DIGITS))[:columns]
        dropped = {effect.part for effect in single} - {effect.part for effect in largest}
        return replace(self, effects=tuple(effect for effect in self.effects if effect.part not in dropped))


@dataclass(frozen=True)
class ColumnEffect:
    """A feature column of the target node, or of the other nodes of one type.

    Args:
        node_type, column, name: which column.
        drop: the sum of the log-odds that the class loses when it is removed from one node after the other.
        nodes: the nodes that have it.
        steps: the fewest steps from the target to one of them.
    """

    node_type: str
    column: int
    name: str
    drop: float
    nodes: tuple[int, ...]
    steps: int


def removal_effects(
    adapter: GNNAdapter,
    graph: GraphBatch,
    node: int | None,
    class_index: int,
    averages: Averages | None = None,
    parts: Sequence[Part] | None = None,
) -> Effects:
    """How far the class's log-odds and probability fall when each part of a graph is removed.

    All variants are scored as one batch. A model that fails on a variant (a graph without edges, say) leaves that
    effect open and no other.

    Args:
        adapter: the model.
        graph: a batch of one graph, with features where the data has some.
        node: position of the classified node; None for graph classification.
        class_index: the class that is explained.
        averages: by type name the row that stands for removed features, see
            :func:`~dignn.evidence.neutral_rows.average_rows`; zeros where it is not given.
        parts: what to remove; everything there is by default.
    """
    return effects_by_class(adapter, graph, node, [class_index], averages, parts)[0]


def effects_by_class(
    adapter: GNNAdapter,
    graph: GraphBatch,
    node: int | None,
    classes: Sequence[int],
    averages: Averages | None = None,
    parts: Sequence[Part] | None = None,
) -> list[Effects]:
    """The same for several classes that one graph explains: the model is asked once.

    Arguments are those of :func:`removal_effects`.
    """
    check_one(graph, node)
    averages = averages or {}
    chosen = parts_of(graph, node, averages) if parts is None else parts
    nothing = Part(Kind.COLUMN)
    lone = int(graph.mask.sum()) == 1  # without its node nothing would be left to score
    possible = [part for part in chosen if not (lone and part.kind is Kind.NODE)]
    values = _score(adapter, without(graph, [nothing, *possible], averages, node), node, classes)
    return [_of_class(index, node, own, possible, chosen) for index, own in zip(classes, values, strict=True)]


def _of_class(
    class_index: int, node: int | None, values: Tensor, possible: Sequence[Part], chosen: Sequence[Part]
) -> Effects:
    """Effects of the parts that were ``chosen``.

    ``values``: (1 + n, 2) log-odds and probability in the whole graph, and without each of the ``possible`` ones.
    """
    log_odds, probability = values[0].tolist()
    if math.isnan(log_odds):
        raise ModelMismatchError("The model gives no answer for the whole graph, so there is nothing to compare with")
    pairs = zip(possible, values[1:].tolist(), strict=True)
    answered = {part: Effect(part, log_odds - odds, p) for part, (odds, p) in pairs if not math.isnan(odds)}
    effects = tuple(answered.get(part, Effect(part, None, None)) for part in chosen)
    return Effects(class_index, node, probability, log_odds, effects)


def strongest_columns(
    effects: Effects, graph: GraphBatch, most: int = 8
) -> tuple[tuple[ColumnEffect, ...], tuple[ColumnEffect, ...]]:
    """Columns whose removal hurts most: those of the target node, and those of all others by node type.

    In graph classification there is no target node, so that all are others. Each has at most ``most``, strongest
    first, equal ones by name; columns whose removal does not hurt are left out.
    """
    steps = steps_from(graph, effects.node)
    schema = graph.schema
    groups: dict[tuple[bool, str, int], list[Effect]] = {}
    for effect in effects.of(Kind.COLUMN):
        (v,), (column,) = effect.part.nodes, effect.part.columns
        groups.setdefault((v == effects.node, type_name(graph, v), column), []).append(effect)
    found: dict[bool, list[ColumnEffect]] = {True: [], False: []}
    for (own, name, column), several in groups.items():
        drop = sum(effect.drop or 0.0 for effect in several)
        nodes = tuple(sorted(effect.part.nodes[0] for effect in several))
        if round(drop, DROP_DIGITS) > 0:
            nearest = min(steps[v] for v in nodes)
            found[own].append(ColumnEffect(name, column, schema.spec(name).column_name(column), drop, nodes, nearest))
    return _first(found[True], most), _first(found[False], most)


def _first(columns: Iterable[ColumnEffect], most: int) -> tuple[ColumnEffect, ...]:
    return tuple(sorted(columns, key=lambda c: (-round(c.drop, DROP_DIGITS), c.node_type, c.name, c.column))[:most])


def _score(adapter: GNNAdapter, variants: GraphBatch, node: int | None, classes: Sequence[int]) -> Tensor:
    """Log-odds and probability of each class in every variant; NaN where the model fails.  (classes, n, 2)"""
    try:
        scores = adapter.score(variants)
    except ModelMismatchError:
        if len(variants) == 1:
            return torch.full((len(classes), 1, 2), torch.nan, dtype=torch.double)
        half = len(variants) // 2
        parts = (variants[:half], variants[half:])
        return torch.cat([_score(adapter, part, node, classes) for part in parts], dim=1)
    wanted = slice(None) if node is None else scores.node == node
    several = list(classes)
    values = torch.stack([scores.log_odds[wanted][:, several], scores.probability[wanted][:, several]], dim=-1)
    values = values.transpose(0, 1)
    return values.masked_fill(~values.isfinite().all(-1, keepdim=True), torch.nan)
