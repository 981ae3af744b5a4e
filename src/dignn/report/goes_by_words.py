"""What a model goes by, in a sentence for each class, and how far to believe it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dignn.core.errors import DignnError
from dignn.core.numerals import percent
from dignn.evidence.grammar import quoted
from dignn.evidence.task_words import words_of
from dignn.goes_by.phrases import is_there, phrase, spec_of
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count, Mean, Quantity
from dignn.goes_by.traits import Holds, Trait
from dignn.goes_by.where import Around, Where
from dignn.graphs.schema import Schema
from dignn.report.told_terms import Share, Studied, ToldRule, ToldTerm, told_study, told_terms

# Phrases of a sentence; the others are counted.
SENTENCE_TERMS = 5
# The share of its points that the effect of a term is at least that is said.
_SAID_SHARE = 0.1
_OPEN, _CLOSE = "“", "”"


@dataclass(frozen=True)
class ClassWords:
    """What the model goes by for a class, in words.

    Args:
        begin: ``The model goes by``, with doubt where there is some.
        terms: the first terms, what is absent said so, and how many more there are; empty where there is none.
        conclusion: how far the words of all classes together give the model's answers.
    """

    begin: str
    terms: str
    conclusion: str

    @property
    def sentence(self) -> str:
        if not self.terms:
            return "Nothing that was looked at speaks for this class or against it."
        return f"{self.begin}: {self.terms}; {self.conclusion}."


def class_words(about: Mapping[str, Any], schema: Schema | None, most: int = SENTENCE_TERMS) -> dict[str, ClassWords]:
    """By class what the model goes by; empty where that was not studied.

    Args:
        about: what is told of a run.
        schema: of its graphs; None where there is none.
        most: how many phrases of terms there are at most.
    """
    study = told_study(about)
    begin = "The model may go by" if study is not None and study.level == "poor" else "The model goes by"
    conclusion = "how far this gives its answers was not tested" if study is None else concluded(study, schema)
    return {
        name: ClassWords(begin, terms_in_words(terms, schema, most), conclusion)
        for name, terms in told_terms(about).items()
    }


def concluded(study: Studied, schema: Schema | None, what: str = "this") -> str:
    """How much of a model's answers is reproduced, as ``this reproduces 94 % of its answers on real authors``.

    That is a mean over classes, which is said.

    Args:
        study: how it was tested.
        schema: of the graphs; None where there is none.
        what: what reproduces them.
    """
    value, guessed = study.scorecard.value, study.majority
    whom = "real data" if schema is None else f"real {words_of(schema.task).things}"
    told = f"{whole_percent(value)} of its answers on {whom} (mean over classes)"
    if guessed is not None and value <= guessed:
        return f"{what} reproduces {told}, no more than guessing does: do not rely on it"
    if study.level == "good":
        return f"{what} reproduces {told}, nearly all"
    beside = "" if guessed is None else f", beside {whole_percent(guessed)} by guessing"
    if study.level == "fair":
        return f"{what} reproduces {told}{beside}"
    return f"{what} reproduces only {told}{beside}: do not rely on it"


def terms_in_words(terms: Sequence[ToldTerm], schema: Schema | None, most: int = SENTENCE_TERMS) -> str:
    """The terms that matter, those worth most first: decoys are not told, and absence is told for what it is.

    What looks at something new comes before what looks at the same once more, by another threshold for example. Terms
    whose effect is not sure, or small beside their points, are counted only, unless there are no others. Where there
    are columns that speak for the class by being there, the first of them is told in any case: a list of what a class
    lacks does not say what it is.
    """
    told = [term for term in terms if not term.decoy and term.points]
    sure = [term for term in told if _acts(term)] or told
    said = _with_presence(_varied(_joined(sure, schema)), most)
    shown, rest = said[:most], sum(len(each.points) for each in said[most:]) + len(told) - len(sure)
    listed = ", ".join([f"{each.words} ({_worth(each.points)})" for each in _elided(shown)])
    return listed + (f" and {rest} more" if rest else "")


def rule_in_words(rule: ToldRule, name: str) -> tuple[str, str]:
    """``If it has “query”, then “one”``, and how often that is right."""
    told = []
    if rule.precision is not None:
        told.append(f"right in {share_in_words(rule.precision)} of the cases where it applies")
    if rule.recall is not None:
        told.append(f"applies to {share_in_words(rule.recall)} of those that the model gives this class")
    return f"If {rule.words}, then {quoted(name)}", "; ".join(told)


def share_in_words(share: Share) -> str:
    """``84 % (81 to 87 %)``."""
    if share.interval is None:
        return whole_percent(share.value)
    low, high = map(whole_percent, share.interval)
    return f"{whole_percent(share.value)} ({low.removesuffix(' %')} to {high})"


def whole_percent(share: float) -> str:
    """A percentage without digits behind the point, but never 0 or 100 where it is not: intervals are wider."""
    return f"{100 * share:.0f} %" if 0.005 <= share < 0.995 else percent(share)


def signed(value: float) -> str:
    """``+3.1``, ``−0.4``, ``+0.04``: one digit, or two where one would be none."""
    digits = f"{abs(value):.1f}" if abs(value) >= 0.095 or not value else f"{abs(value):.2f}"
    sign = "+" if value >= 0 else "\N{MINUS SIGN}"
    return f"{sign}{digits}"


# -- phrases ------------------------------------------------------------------------------------------


def _acts(term: ToldTerm) -> bool:
    """Whether its effect is surely on the side of its points, and a tenth of them at least, as far as it was tried."""
    sure = term.interval is None or min(end * term.points for end in term.interval) > 0
    return sure and (term.effect is None or abs(term.effect) >= _SAID_SHARE * abs(term.points))


@dataclass(frozen=True)
class _Said:
    """A phrase, what each of its terms is worth, what it looks at, and whether it is about columns that are there."""

    words: str
    points: tuple[float, ...]
    quantity: Quantity | None = None
    there: bool = False


def _joined(terms: Sequence[ToldTerm], schema: Schema | None) -> list[_Said]:
    """Phrases of what speaks for a class; several columns that are absent at one place are one phrase."""
    found: list[_Said] = []
    absent: dict[Where, tuple[int, tuple[Trait, ...]]] = {}  # by place, in which phrase and what is not there
    for term in sorted(terms, key=lambda term: -abs(term.points)):
        predicate = term.predicate if term.points > 0 or term.predicate is None else term.predicate.absent
        words = _phrased(predicate, schema)
        lacked = None if predicate is None or words is None or schema is None else _lacked(predicate, schema)
        if predicate is not None and lacked is not None:
            place, before = absent.get(lacked.where, (len(found), ()))
            together = Count(lacked.where, (*before, *lacked.traits))
            both = _phrased(replace(predicate, quantity=together), schema)
            if both is not None:
                absent[lacked.where] = place, together.traits
                points = (*found[place].points, abs(term.points)) if before else (abs(term.points),)
                found[place : place + 1] = [_Said(both, points, together)]
                continue
        said = term.words if term.points > 0 else words or f"not: {term.words}"
        quantity = None if predicate is None else predicate.quantity
        traits = quantity.traits if isinstance(quantity, Count) else ()
        there = predicate is not None and predicate.holds and any(isinstance(trait, Holds) for trait in traits)
        found.append(_Said(said, (abs(term.points),), quantity, there))
    return found


def _with_presence(said: Sequence[_Said], most: int) -> list[_Said]:
    """In this order, but the first phrase about columns that are there is among the first ``most``."""
    first = next((place for place, each in enumerate(said) if each.there), None)
    if first is None or first < most or most < 1:
        return list(said)
    return [*said[: most - 1], said[first], *said[most - 1 : first], *said[first + 1 :]]


def _varied(said: Sequence[_Said]) -> list[_Said]:
    """In this order, but first those that look at something of which no earlier one tells."""
    told: dict[Hashable, set[Hashable]] = {}  # by place, what is looked at there
    new: list[_Said] = []
    again: list[_Said] = []
    for each in said:
        place, looked_at = _subject(each)
        (again if told.get(place, set()) & looked_at else new).append(each)
        told.setdefault(place, set()).update(looked_at)
    return new + again


def _subject(said: _Said) -> tuple[Hashable, set[Hashable]]:
    """Where a phrase looks and at what: columns, numbers of neighbours or nodes, whatever the threshold, or cycles."""
    quantity = said.quantity
    if isinstance(quantity, Count):
        return quantity.where, {_looked_at(trait) for trait in quantity.traits} or {None}
    if isinstance(quantity, Mean):
        return quantity.where, {quantity.column}
    return None, {said.words if quantity is None else quantity}


def _looked_at(trait: Trait) -> Hashable:
    if isinstance(trait, Holds):
        return trait.column
    return (trait.shape, trait.step) if trait.shape == "neighbours" else trait


def _lacked(predicate: Predicate, schema: Schema) -> Count | None:
    """What a predicate says that there is none of, if that is one column; None where it says something else.

    That a value of the place itself is missing is something else.
    """
    quantity = predicate.quantity
    if predicate.holds or predicate.above != 0.5 or not isinstance(quantity, Count) or len(quantity.traits) != 1:
        return None
    (trait,), spec = quantity.traits, spec_of(schema, quantity.where)
    if not isinstance(trait, Holds) or not is_there(spec, trait):
        return None
    own = isinstance(quantity.where, Around) and quantity.where.own
    return None if own and spec.column(trait.column).missing else quantity


def _phrased(predicate: Predicate | None, schema: Schema | None) -> str | None:
    """A predicate in words; None where it is not known, or is not of this schema."""
    try:
        return None if predicate is None or schema is None else phrase(predicate, schema)
    except (DignnError, LookupError, StopIteration):
        return None


def _worth(points: tuple[float, ...]) -> str:
    """``+3.1``; of several the range."""
    low, high = signed(min(points)), signed(max(points))
    if len(points) == 1:
        return high
    return f"each {low}" if low == high else f"each {low} to {high}"


def _elided(said: Sequence[_Said]) -> list[_Said]:
    """Phrases that begin alike and end with a name stand together, and the beginning is said once."""
    several: dict[str, list[_Said]] = {}
    for each in said:
        begin, _, name = each.words.partition(_OPEN)
        alike = name.endswith(_CLOSE) and _OPEN not in name
        several.setdefault(begin if alike else each.words, []).append(each)
    return [
        replace(each, words=each.words.removeprefix(begin)) if place and begin != each.words else each
        for begin, group in several.items()
        for place, each in enumerate(group)
    ]
