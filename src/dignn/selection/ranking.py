"""Candidates ranked for each class by any of the rules of selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.model.scores import Scores
from dignn.selection.candidates import Candidates
from dignn.selection.covering import select_covering
from dignn.selection.highest import Choice, select_highest
from dignn.selection.members import Members
from dignn.selection.motifs.mining import FrequentParts, Parts
from dignn.selection.proposed import select_proposed
from dignn.selection.representative import COMPARED_PARTS, Representative, select_representative
from dignn.selection.settings import Selection

# Candidates that are ranked for each class: as many as metrics look at.
RANKED = 50


@dataclass(frozen=True, eq=False)
class Ranker:
    """What the rules know of the real graphs, the same for every set of candidates.

    Args:
        train: real graphs; selection sees only those that generators learned from.
        members: real members of each class among them.
        rule: by which explanations are chosen.
        tolerance: how far below the best probability the first and the mean of several may be.
        seed: of the communities that typical structures are made of.
    """

    train: GraphBatch
    members: Sequence[Members]
    rule: Selection
    tolerance: float
    seed: Seed

    def rank(self, candidates: GraphBatch, scores: Scores, number: int = RANKED) -> Ranking:
        """Ranks valid candidates, of which the model says ``scores``: ``number`` for each class, and at least 50."""
        return Ranking(candidates, scores, self, max(RANKED, number))

    @cached_property
    def typical_parts(self) -> list[FrequentParts]:
        """Per class what its structures are made of."""
        return Parts(self.train, seed=self.seed).frequent(COMPARED_PARTS)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates in the order of each rule, made when it is asked for and once.

    Args:
        candidates, scores: valid candidates, and what the model says of them.
        ranker: knows the real graphs.
        number: candidates to rank for each class.
    """

    candidates: GraphBatch
    scores: Scores
    ranker: Ranker
    number: int
    _ranked: dict[Selection, list[list[Choice]]] = field(default_factory=dict)

    @cached_property
    def _graphs(self) -> Candidates:
        return Candidates(self.candidates)

    @property
    def chosen(self) -> list[list[Choice]]:
        """Per class by the rule of the settings, best first."""
        return self.by(self.ranker.rule)

    def by(self, rule: Selection) -> list[list[Choice]]:
        """Per class by a rule, best first."""
        if rule not in self._ranked:
            self._ranked[rule] = self._rank(rule)
        return self._ranked[rule]

    def _rank(self, rule: Selection) -> list[list[Choice]]:
        if rule == "highest":
            return select_highest(self._graphs, self.scores, self.number)
        if rule == "covering":
            return select_covering(self._graphs, self.scores, self.ranker.members, self.number)
        if rule == "proposed":
            return select_proposed(self._graphs, self.scores, self.number)
        parts = self.ranker.typical_parts if rule == "representative" else None
        known = Representative(self.ranker.members, parts, self.ranker.tolerance)
        return select_representative(self._graphs, self.scores, known, self.number)
