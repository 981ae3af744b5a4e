"""What the layers sum up, of the explanations that are shown, and what other rules of selection would give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from dignn.graphs.batch import GraphBatch
from dignn.metrics.counting import mean
from dignn.metrics.measured import PAPER_GRAPHS, MeasuredGraphs, Reality, measured_graphs
from dignn.metrics.measures import coverage
from dignn.metrics.measures.faithfulness import class_faithfulness, ground_truth_faithfulness, motif_statistics
from dignn.metrics.measures.mmd import KERNELS, mmds
from dignn.metrics.metric import all_metrics
from dignn.sampling.division import RealGraphs
from dignn.selection.motifs.chemistry import known_groups
from dignn.selection.motifs.sets import group_hits
from dignn.selection.ranking import Ranking
from dignn.selection.settings import SELECTIONS

Value = TypeVar("Value")


def by_rule(ranking: Ranking, reality: Reality) -> dict[str, Any]:
    """``selection``: what each rule gives from the same candidates, by every metric of which graphs are chosen."""
    found: dict[str, Any] = {}
    for rule in dict.fromkeys((*SELECTIONS, ranking.ranker.rule)):
        chosen = ranking.by(rule)
        measured = measured_graphs(ranking.candidates, ranking.scores, chosen)
        first = [(several[0].score, number) for number, several in enumerate(chosen) if several]
        best = [float(ranking.scores.probability[place]) for place in first]
        chosen_by = [metric for metric in all_metrics() if metric.about == "explanations"]
        values = {metric.path.partition(".")[2]: metric.of(measured, reality) for metric in chosen_by}
        found[rule] = {"probability": mean(best), **values}
    return found


def details(ranking: Ranking, shown: MeasuredGraphs, reality: Reality, real: RealGraphs) -> dict[str, Any]:
    """``details``: values by class, motif statistics, distances of explanations, and how far held-out graphs are known.

    Args:
        ranking, shown: all candidates, with what stands for each class.
        reality: what they are measured against.
        real: the real graphs.
    """

    def named(values: Sequence[Value]) -> dict[str, Value]:
        return dict(zip(shown.classes, values, strict=True))

    first, motifs = shown.first(), reality.motifs
    covered = coverage.of_measured(shown, reality)
    sets = [graphs for graphs in shown.best if graphs]
    kinds = motifs.different()
    return {
        "gf": named(class_faithfulness(first, motifs, typed=False)),
        "typed_gf": named(class_faithfulness(first, motifs, typed=True)),
        "motifs": motif_statistics(first, motifs),
        # Each kind of motif once, however often it occurs, and how many kinds each class has.
        "different_motifs": {
            "number": [len(several) for several in kinds.by_class],
            "gf": ground_truth_faithfulness(first, kinds, typed=False),
            "typed_gf": ground_truth_faithfulness(first, kinds, typed=True),
        },
        "coverage": {"mean": covered["mean"], **named(covered["by_class"])},
        "distinct": named([len(several) for several in shown.best]),
        "mmd_of_explanations": {
            name: mean(mmds(sets, reality.held_out, kernel)) for name, kernel in KERNELS["sound"].items()
        },
        "members": named([len(members) for members in reality.members]),
        "groups": _groups(ranking, GraphBatch.cat([real.train, real.held_out])),
        "overlap": real.overlap(),
    }


def _groups(ranking: Ranking, real: GraphBatch) -> dict[str, Any] | None:
    """Of each known chemical group, the share of a class's explanations and of its real graphs that have it."""
    groups = known_groups(real.schema) if real.schema.task.of_graphs else ()
    if not groups:
        return None
    hits = group_hits(real, groups)
    found: dict[str, Any] = {}
    for number, name in enumerate(real.schema.classes):
        own = (real.graph_label == number).numpy()
        chosen = [choice.graph for choice in ranking.chosen[number][:PAPER_GRAPHS]]
        shown = group_hits(ranking.candidates[chosen], groups) if chosen else np.zeros((0, len(groups)), dtype=bool)
        found[name] = {
            group.name: {
                "first": bool(shown[0, place]) if len(shown) else None,
                "explanations": float(shown[:, place].mean()) if len(shown) else None,
                "real": float(hits[own, place].mean()) if own.any() else None,
            }
            for place, group in enumerate(groups)
        }
    return found
