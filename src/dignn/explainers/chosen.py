"""Chosen candidates as explanations: where they stand among real members, and the evidence of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from dignn.evidence.gathering import gather
from dignn.explanations.explanation import Explanation, Explanations, Standing
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import Validity
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.selection.members import Members
from dignn.selection.ranking import Ranking


@dataclass(frozen=True, eq=False)
class Explained:
    """Explanations, and what measuring them needs.

    Args:
        explanations: by class.
        ranking: of all valid candidates, from which they were chosen.
        validity: of all candidates.
    """

    explanations: Explanations
    ranking: Ranking
    validity: Validity

    def told(self, *, contrasts: GraphBatch | None = None, **more: Any) -> Explained:
        """The same with more to tell, and graphs that go with it."""
        before = self.explanations
        kept = before.contrasts if contrasts is None else contrasts
        return replace(self, explanations=replace(before, about={**before.about, **more}, contrasts=kept))


def chosen_explanations(
    ranking: Ranking,
    top_k: int,
    candidate: Tensor,
    members: Sequence[Members],
    adapter: GNNAdapter,
    real: tuple[GraphBatch, Scores],
) -> dict[str, list[Explanation]]:
    """By class, the first explanations that a ranking gives.

    Args:
        ranking: valid candidates, ranked.
        top_k: explanations of a class.
        candidate: (m,) the number of each of them among all candidates.
        members: real members of each class.
        adapter: the model, which is asked about parts of explanations.
        real: real graphs, where the nearest example is sought, and their scores.
    """
    found = []
    classes = ranking.candidates.schema.classes
    chosen = {choice.graph for several in ranking.chosen for choice in several[:top_k]}
    one = {number: ranking.candidates[number] for number in chosen}  # which several classes may share
    said: dict[int, tuple[float, ...]] = {}
    for index, several in enumerate(ranking.chosen):
        rows = torch.tensor([choice.score for choice in several[:top_k]], dtype=torch.long)
        place = members[index].place(ranking.scores, rows)
        inside = place.inside()
        for rank, choice in enumerate(several[:top_k]):
            node = int(ranking.scores.node[choice.score])
            if choice.score not in said:
                said[choice.score] = tuple(ranking.scores.probability[choice.score].tolist())
            standing = Standing(bool(inside[rank]), float(place.logit_rank[rank]), float(place.distance_rank[rank]))
            found.append(
                Explanation(
                    class_index=index,
                    class_name=classes[index],
                    rank=rank,
                    probability=said[choice.score],
                    log_odds=float(ranking.scores.log_odds[choice.score, index]),
                    graph=one[choice.graph],
                    node=None if node < 0 else node,
                    candidate=int(candidate[choice.graph]),
                    standing=standing,
                )
            )
    graphs, scores = real
    evidence = gather(adapter, [(item.graph, item.node, item.class_index) for item in found], graphs, scores)
    examples = {number: graphs[number] for number in {shown.nearest.graph for shown in evidence}}
    by_class: dict[str, list[Explanation]] = {name: [] for name in classes}
    for item, shown in zip(found, evidence, strict=True):
        by_class[item.class_name].append(replace(item, evidence=shown, example=examples[shown.nearest.graph]))
    return by_class
