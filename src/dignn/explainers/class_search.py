"""Explainers that look for one class at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from dignn.core.seeds import Seed
from dignn.explainers.base import Explainer
from dignn.graphs.batch import GraphBatch


class ClassSearch(Explainer):
    """Candidates of one class after the other.

    A method provides :meth:`search`, which may ask ``self.adapter`` for scores or, differentiable in the weights of
    edges, for :meth:`~dignn.model.adapter.GNNAdapter.score_weighted`.
    """

    @abstractmethod
    def search(self, class_index: int, sizes: Sequence[int], seed: Seed) -> GraphBatch:
        """A graph for each size that speaks for the class, with or without features."""

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        """The classes take turns over the sizes, so that each has all of them; graphs are meant for their class."""
        classes = self.schema.num_classes
        found = []
        with self.run.stage("GGAT") as tick:
            for number in range(min(classes, len(sizes))):  # with fewer sizes than classes the last ones have none
                made = self.search(number, sizes[number::classes], self.seed.child("GGAT", number))
                found.append(self.schema.task.meant_for(made, number))
                tick(number + 1, min(classes, len(sizes)))
        return GraphBatch.cat(found)
