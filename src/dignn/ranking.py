"""Candidates of a run, ranked for each class by any of the rules of selection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import get_args

from dignn.batch import GraphBatch
from dignn.config import Config, Selection
from dignn.gnn.adapter import Scores
from dignn.members import Members
from dignn.motifs.mining import Parts
from dignn.runtime.seeds import Seed
from dignn.selection import Choice, Representative, select_highest, select_representative
from dignn.selection.representative import PARTS, Frequent

SELECTIONS: tuple[Selection, ...] = get_args(Selection)
# Candidates that are ranked for each class: as many as metrics look at.
RANKED = 50


class Ranking:
    """Ranks candidates.

    Args:
        candidates, scores: valid candidates, and what the model says of them.
        train: real graphs; selection sees only those that generators learned from.
        members: real members of each class among them.
        config: which rule.
        number: candidates to rank for each class, and not fewer than metrics look at.
        seed: of the communities that typical structures are made of.
    """

    def __init__(
        self,
        candidates: GraphBatch,
        scores: Scores,
        train: GraphBatch,
        members: Sequence[Members],
        config: Config,
        *,
        number: int,
        seed: Seed,
    ) -> None:
        self.candidates, self.scores = candidates, scores
        self._train, self._members, self._config, self._seed = train, members, config, seed
        self._number = max(RANKED, number)
        self._ranked: dict[Selection, list[list[Choice]]] = {}

    @property
    def chosen(self) -> list[list[Choice]]:
        """Per class by the rule of the settings, best first."""
        return self.by(self._config.selection)

    def by(self, rule: Selection) -> list[list[Choice]]:
        """Per class by a rule, best first."""
        if rule not in self._ranked:
            self._ranked[rule] = self._rank(rule)
        return self._ranked[rule]

    def _rank(self, rule: Selection) -> list[list[Choice]]:
        if rule == "highest":
            return select_highest(self.candidates, self.scores, self._number)
        parts = self._parts if rule == "representative" else None
        known = Representative(self._members, parts, self._config.tolerance)
        return select_representative(self.candidates, self.scores, known, self._number)

    @cached_property
    def _parts(self) -> list[Frequent]:
        return Parts(self._train, seed=self._seed).frequent(PARTS)
