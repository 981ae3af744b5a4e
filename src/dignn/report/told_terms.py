"""What a run tells of the terms that a model goes by and of how well they were tested, read without trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dignn.core.errors import DignnError
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.term_keys import predicate_from
from dignn.metrics.judging import Level
from dignn.report.lookup import entry, number_at, part

Interval = tuple[float, float]
# From here on a share of answers is nearly all; below the other it is too few, however many classes there are.
_NEARLY_ALL, _TOO_FEW = 0.9, 0.6


@dataclass(frozen=True)
class ToldTerm:
    """A term of the scorecard of a class.

    Args:
        words: what is true of a place, as the end of a sentence that begins with "where".
        points: what it adds to the score of the class; below 0 where its absence speaks for the class.
        effect: by how much the log-odds of the class change, in the mean, where it is made true; None where that was
            not tried.
        interval: 95 % of the effect.
        decoy: whether it goes with the class and changes nothing where it is set.
        matched: whether it could not be set, so that matched pairs of graphs stand in.
        predicate: the same for programs; None where it is not told.
    """

    words: str
    points: float
    effect: float | None = None
    interval: Interval | None = None
    decoy: bool = False
    matched: bool = False
    predicate: Predicate | None = None


@dataclass(frozen=True)
class Share:
    """A figure with its 95 % interval, and what the same scores that was found on other graphs.

    Args:
        value: the figure.
        interval: None where it is not known.
        floor: found on real graphs that are learned from.
        noise: found on candidates that are noise.
    """

    value: float
    interval: Interval | None = None
    floor: float | None = None
    noise: float | None = None


@dataclass(frozen=True)
class Studied:
    """How well what a model is said to go by gives its answers on real graphs that were held out.

    Args:
        scorecard: balanced agreement of the scorecards that are shown.
        majority: of who always gives one class; None where it is not known.
        places: on how many places of graphs it was tested; None where that is not known.
        things: how many different nodes or graphs these are; None where that is not known.
        rules, auc: balanced agreement of the rules, and the mean AUC of classes; None where they are not known.
        frontier: by number of terms, balanced agreement, fewest terms first.
        auc_by_class: where it could be told.
    """

    scorecard: Share
    majority: float | None
    places: int | None
    things: int | None
    rules: Share | None
    auc: Share | None
    frontier: Mapping[int, Share]
    auc_by_class: Mapping[str, float]

    @property
    def level(self) -> Level:
        """How far to believe it: nearly all answers, most of what guessing leaves, or less."""
        value, guessed = self.scorecard.value, self.majority or 0.0
        if value <= guessed:
            return "poor"
        if value >= _NEARLY_ALL:
            return "good"
        return "poor" if value < max(_TOO_FEW, (1 + guessed) / 2) else "fair"


@dataclass(frozen=True)
class ToldRule:
    """A rule of a class: where its words are true, the class follows; precision and recall where they are known."""

    words: str
    precision: Share | None
    recall: Share | None


def told_terms(about: Mapping[str, Any]) -> dict[str, list[ToldTerm]]:
    """By class the terms, as they are told; what is damaged is left out, and so is a class that is no list."""
    found = {}
    for name, several in part(about, "goes_by").items():
        if isinstance(name, str) and isinstance(several, Sequence) and not isinstance(several, str):
            found[name] = [term for each in several if (term := _term(each)) is not None]
    return found


def told_study(about: Mapping[str, Any]) -> Studied | None:
    """How well they were tested; None where they were not."""
    scorecard = _share(about, "scorecard")
    if scorecard is None:
        return None
    several = {
        int(terms): share
        for terms, content in part(about, "studied", "frontier").items()
        if str(terms).isdecimal() and (share := _figure(content)) is not None
    }
    aucs = part(about, "studied", "auc_by_class")
    places = entry(about, int, "studied", "places")  # older runs tell places alone, and call them things
    return Studied(
        scorecard,
        majority=number_at(about, "studied.majority"),
        places=places,
        things=None if places is None else entry(about, int, "studied", "things"),
        rules=_share(about, "rules"),
        auc=_share(about, "auc"),
        frontier=dict(sorted(several.items())),
        auc_by_class={name: value for name in aucs if (value := number_at(aucs, (name,))) is not None},
    )


def told_rules(about: Mapping[str, Any], name: str) -> list[ToldRule]:
    """The rules of a class, as they are told."""
    return [
        ToldRule(words, _figure(part(each, "precision")), _figure(part(each, "recall")))
        for each in entry(about, list, "studied", "rule_list", name) or []
        if (words := entry(each, str, "rule"))
    ]


def interval_of(content: Any) -> Interval | None:
    """An interval; None where it is none."""
    ends = entry(content, list, "interval") or []
    low, high = (number_at({"end": end}, "end") for end in ends) if len(ends) == 2 else (None, None)
    return None if low is None or high is None or low > high else (low, high)


def _term(content: Any) -> ToldTerm | None:
    words, points = entry(content, str, "term"), number_at(content, "points")
    if not words or points is None:
        return None
    try:
        predicate = predicate_from(content.get("predicate"))
    except DignnError:
        predicate = None
    flags = {name: entry(content, bool, name) is True for name in ("decoy", "matched")}
    return ToldTerm(words, points, number_at(content, "effect"), interval_of(content), **flags, predicate=predicate)


def _share(about: Mapping[str, Any], name: str) -> Share | None:
    found = _figure(part(about, "studied", name))
    if found is None:
        return None
    floor, noise = (number_at(about, ("studied", layer, name)) for layer in ("floor", "noise"))
    return Share(found.value, found.interval, floor, noise)


def _figure(content: Any) -> Share | None:
    value = number_at(content, "value")
    return None if value is None else Share(value, interval_of(content))
