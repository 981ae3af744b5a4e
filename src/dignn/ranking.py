"""Candidates of a run, ranked for each class by any of the rules of selection."""

from __future__ import annotations

from functools import cached_property
from typing import get_args

from dignn.batch import GraphBatch
from dignn.config import Config, Selection
from dignn.gnn.adapter import GNNAdapter
from dignn.members import all_members
from dignn.motifs.mining import Parts
from dignn.real import RealGraphs
from dignn.runtime.seeds import Seed
from dignn.selection import Choice, Representative, select_highest, select_representative
from dignn.selection.representative import PARTS, Frequent

SELECTIONS: tuple[Selection, ...] = get_args(Selection)
# Candidates that are ranked for each class: as many as metrics look at.
RANKED = 50


class Ranking:
    """Asks the model about candidates and real graphs, and ranks the candidates.

    Args:
        adapter: asks the model.
        real: real graphs; selection sees those to learn from only.
        candidates: valid candidates.
        config: which rule, and how many explanations.
        seed: of the communities that typical structures are made of.

    Attributes:
        scores, train_scores: of candidates and of real training graphs.
        members: real members of each class among training graphs.
    """

    def __init__(
        self, adapter: GNNAdapter, real: RealGraphs, candidates: GraphBatch, config: Config, seed: Seed
    ) -> None:
        self.candidates, self._real, self._config, self._seed = candidates, real, config, seed
        self.scores, self.train_scores = adapter.score(candidates), adapter.score(real.train)
        self.members = all_members(self.train_scores, real.train)
        self._ranked: dict[Selection, list[list[Choice]]] = {}

    @property
    def chosen(self) -> list[list[Choice]]:
        """Per class by the rule of the settings, best first."""
        return self.by(self._config.selection)

    def by(self, rule: Selection) -> list[list[Choice]]:
        """Per class by a rule, best first."""
        if rule not in self._ranked:
            self._ranked[rule] = self._rank(rule, max(RANKED, self._config.top_k))
        return self._ranked[rule]

    def _rank(self, rule: Selection, number: int) -> list[list[Choice]]:
        if rule == "highest":
            return select_highest(self.candidates, self.scores, number)
        parts = self._parts if rule == "representative" else None
        known = Representative(self.members, parts, self._config.tolerance)
        return select_representative(self.candidates, self.scores, known, number)

    @cached_property
    def _parts(self) -> list[Frequent]:
        return Parts(self._real.train, seed=self._seed.child("parts")).frequent(PARTS)
