"""Parts that count together: words that stand in for each other, and cycles that no single edge makes.

A model that is sure of a class often does not miss any single word. So words of the target node are removed one after
the other, each time the one without which the class loses most; and every kind of cycle is broken at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dignn.evidence.neutral_rows import Averages
from dignn.evidence.removal import DROP_DIGITS, Effect, Effects, removal_effects
from dignn.evidence.shape import cycles_of
from dignn.evidence.variants import Kind, Part
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter

# Columns that are removed together at most.
MOST_TOGETHER = 8
# Log-odds that the features of the target node must be worth, and that no single column of it is.
WORTH, LITTLE = 1.0, 0.1


def with_joint(adapter: GNNAdapter, graph: GraphBatch, effects: Effects, averages: Averages | None = None) -> Effects:
    """``effects`` with those of breaking cycles and, where no single one matters, of columns removed together."""

    def removed(parts: list[Part]) -> tuple[Effect, ...]:
        return removal_effects(adapter, graph, effects.node, effects.class_index, averages, parts).effects

    breaks = [cycles.broken for cycles in cycles_of(graph, effects) if cycles.broken.joint]
    found = list(removed(breaks)) if breaks else []
    own = [effect for effect in effects.of(Kind.ROW) if effect.part.nodes == (effects.node,)]
    single = [effect for effect in effects.of(Kind.COLUMN) if effect.part.nodes == (effects.node,)]
    if own and single and (own[0].drop or 0.0) >= WORTH and (single[0].drop or 0.0) < LITTLE:
        together = _greedy(single, removed)
        found += [together] if together.part.joint else []
    return replace(effects, effects=(*effects.effects, *found))


def _greedy(single: list[Effect], removed: Callable[[list[Part]], tuple[Effect, ...]]) -> Effect:
    """The columns that are removed one after the other, until the class has less than half of the probability."""
    best = single[0]
    while len(best.part.columns) < min(MOST_TOGETHER, len(single)) and (best.probability or 0.0) >= 0.5:
        taken = best.part
        more = [
            Part(Kind.COLUMN, (*taken.nodes, *effect.part.nodes), (*taken.columns, *effect.part.columns))
            for effect in single
            if effect.part.columns[0] not in taken.columns
        ]
        answered = [effect for effect in removed(more) if effect.drop is not None]
        if not answered:
            break
        best = min(answered, key=lambda effect: (-round(effect.drop or 0.0, DROP_DIGITS), effect.part.columns))
    return best
