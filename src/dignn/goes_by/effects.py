"""Effects: whether what goes with a class also acts, tried by intervention on graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from scipy.stats import t as student

from dignn.core.checks import instance
from dignn.core.errors import DignnError
from dignn.core.progress import Tick, silent
from dignn.core.seeds import Seed
from dignn.features.bank import FeatureBank
from dignn.goes_by.interventions.cutting import cut
from dignn.goes_by.interventions.matched_pairs import matched
from dignn.goes_by.interventions.setting_columns import by_columns, set_columns, settable
from dignn.goes_by.interventions.sources import Pairs, chosen_places
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate, truth
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores

# Pairs of graphs for each predicate, for all together, and for one at least; fewer are not enough.
_PAIRS, _ALL_PAIRS, _FEWEST_PAIRS, _ENOUGH = 48, 2304, 16, 8
# Predicates that are tried at most, those of most points.
_MOST_TRIED = 600
# A change of log-odds counts as no more than this, so that extremes of a model without bounds do not speak for all.
_MOST_CHANGE = 10.0
# Shares of its points that the effect of a decoy does not reach on their side, and single changes not in size.
_EFFECT_SHARE, _SIZE_SHARE = 0.05, 0.25


@dataclass(frozen=True)
class Effect:
    """What a predicate does to the log-odds of a class.

    Args:
        mean: change of the log-odds from false to true; None where there was nothing to compare.
        interval: 95 %, over the graphs that pairs were made of; None for fewer than two.
        matched: whether graphs were compared that are as they are, since nothing could be set or cut.
        pairs: how many pairs of graphs were compared.
        size: mean size of the change, whatever its sign.
    """

    mean: float | None
    interval: tuple[float, float] | None
    matched: bool
    pairs: int
    size: float = 0.0

    @property
    def tried(self) -> bool:
        """Whether it was tried at all; of very many predicates some are not."""
        return self.matched or self.pairs > 0

    def acts(self, points: float) -> bool:
        """Whether it does something that is worth these points, on whatever side."""
        return abs(self.mean or 0.0) >= _EFFECT_SHARE * abs(points) or self.size >= _SIZE_SHARE * abs(points)

    def decoy(self, points: float) -> bool:
        """Whether a term with these points goes with its class and does not act, or acts the other way round.

        It does where not even the better end of the interval is on the side of the points, or where the mean change
        does not come to 5 % of them there, and single changes not to 25 % in size: what acts in one direction here and
        in the other there, as either part of an exclusive or does, is no decoy, though its mean is nothing. What was
        not tried is none.
        """
        if self.mean is None or self.interval is None or not points:
            return False
        side = 1 if points > 0 else -1
        if max(side * end for end in self.interval) < 0:
            return True
        return side * self.mean < _EFFECT_SHARE * abs(points) and self.size < _SIZE_SHARE * abs(points)


def effects(
    terms: Sequence[tuple[int, Predicate, float]],
    batch: GraphBatch,
    scores: Scores,
    adapter: GNNAdapter,
    bank: FeatureBank | None,
    seed: Seed,
    tick: Tick = silent,
    *,
    known: Mapping[tuple[int, Predicate], Effect] | None = None,
) -> list[Effect]:
    """The effect of each term, tried on pairs of graphs that are alike but for its predicate.

    Where a predicate looks at columns, the fewest that decide are set (:mod:`.interventions.setting_columns`); where it
    looks at structure, this is cut (:mod:`.interventions.cutting`); where that gives too few pairs, graphs are compared
    that are alike in all other terms of the class (:mod:`.interventions.matched_pairs`).

    Args:
        terms: class, predicate and points of each.
        batch: graphs with features, generated ones for example.
        scores: what the model says of them.
        adapter: the model, which is asked about the graphs of all pairs.
        bank: draws rows anew; None where none has learned.
        seed: of everything that is drawn.
        tick: progress.
        known: effects of (class, predicate) that were tried before, and are not tried again.

    Raises:
        DignnError: a term is of a class that there is not.
    """
    instance("scores", scores, Scores, "what the model says, as GNNAdapter.score gives it")
    instance("adapter", adapter, GNNAdapter, "a GNNAdapter")
    number = scores.logits.size(1)
    for place, _, _ in terms:
        if not 0 <= place < number:
            raise DignnError(f"A term is of class {place}, and the model has {number} classes; number them from 0")
    found = dict(known or {})
    by_points = sorted(terms, key=lambda term: -abs(term[2]))
    new = dict.fromkeys(_plain(one) for place, one, _ in by_points if (place, one) not in found)
    every = list(dict.fromkeys([*list(new)[:_MOST_TRIED], *(_plain(one) for _, one, _ in terms)]))
    number_of = {one: place for place, one in enumerate(every)}
    of_class: list[set[int]] = [set() for _ in range(number)]
    for place, one, _ in terms:
        of_class[place].add(number_of[_plain(one)])
    if new and len(scores):
        trial = _Trial(Places.of(batch, scores), every, of_class, scores, adapter, bank, seed.child("effects"))
        changes = trial.changes(min(len(new), _MOST_TRIED), tick)
        for place, one, _ in terms:
            if (place, one) not in found and number_of[_plain(one)] < len(changes):
                found[place, one] = changes[number_of[_plain(one)]].effect(place, 1 if one.holds else -1)
    tick(1, 1)
    return [found.get((place, one), Effect(None, None, False, 0)) for place, one, _ in terms]


def _plain(predicate: Predicate) -> Predicate:
    return replace(predicate, holds=True)


@dataclass(frozen=True, eq=False)
class _Change:
    """Changes of log-odds (n, C) from false to true, and the graphs (n,) that they were made of."""

    by: np.ndarray
    source: np.ndarray
    matched: bool

    def effect(self, place: int, side: int) -> Effect:
        if not len(self.by):
            return Effect(None, None, self.matched, 0)
        by = side * self.by[:, place].clip(-_MOST_CHANGE, _MOST_CHANGE)
        graphs, which = np.unique(self.source, return_inverse=True)
        each = np.bincount(which, by) / np.bincount(which)
        mean, interval = float(each.mean()), None
        if len(graphs) > 1:
            half = float(student.ppf(0.975, len(each) - 1) * each.std(ddof=1) / len(each) ** 0.5)
            interval = mean - half, mean + half
        return Effect(mean, interval, self.matched, len(by), float(np.abs(by).mean()))


@dataclass(frozen=True, eq=False)
class _Trial:
    """Tries predicates on places."""

    places: Places
    predicates: list[Predicate]
    of_class: list[set[int]]
    scores: Scores
    adapter: GNNAdapter
    bank: FeatureBank | None
    seed: Seed

    def changes(self, number: int, tick: Tick) -> list[_Change]:
        """Of each of the first so many predicates."""
        true, graph = truth(self.places, self.predicates), self.places.graph
        most = max(_FEWEST_PAIRS, min(_PAIRS, _ALL_PAIRS // number))
        tried = dict(enumerate(self.predicates[:number]))
        columns = {each: one for each, one in tried.items() if by_columns(one)}
        structure = {each: one for each, one in tried.items() if each not in columns}
        chosen = {}
        for each, predicate in tried.items():
            possible = settable(self.places, predicate) if each in columns else true[:, each]
            chosen[each] = chosen_places(true[:, each], possible, graph, most, self.seed.child("places", each))
        others = {each: [self.predicates[other] for other in self._others(each)] for each in structure}
        found: dict[int, _Change] = {}
        made = chain(
            set_columns(self.places, columns, chosen, self.bank, self.seed),
            cut(self.places, structure, chosen, others, self.seed),
        )
        for pairs in made:
            change = self._asked(pairs)
            for each in np.unique(pairs.predicate).tolist():
                here = pairs.predicate == each
                found[each] = _Change(change[here], pairs.source[here], False)
            tick(len(found), number)
        return [
            found[each] if each in found and len(found[each].by) >= _ENOUGH else self._matched(true, each, most)
            for each in tried
        ]

    def _others(self, each: int) -> list[int]:
        """Other predicates of the classes that go by this one."""
        return sorted(set().union(*(some for some in self.of_class if each in some)) - {each})

    def _asked(self, pairs: Pairs) -> np.ndarray:
        """(n, C) changes of log-odds."""
        odds = []
        for side in (pairs.true, pairs.false):
            scores = self.adapter.score(side)
            wanted = pairs.node[scores.graph.numpy()] == scores.node.numpy()
            odds.append(scores.log_odds.numpy()[wanted])
        return odds[0] - odds[1]

    def _matched(self, true: np.ndarray, each: int, most: int) -> _Change:
        seed = self.seed.child("matched", each)
        chosen = chosen_places(true[:, each], np.ones(len(true), dtype=bool), self.places.graph, most, seed)
        intended = self.scores.labels(self.places.batch).numpy()
        with_it, without = matched(true[:, each], true[:, self._others(each)], intended, chosen, seed)
        odds = self.scores.log_odds.numpy()
        return _Change(odds[with_it] - odds[without], self.places.graph[with_it], True)
