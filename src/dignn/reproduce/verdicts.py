"""Comparisons that a claim makes, and its verdict by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dignn.reproduce.results_tables import number, told_apart
from dignn.reproduce.table_files import Value

HOLDING, SO_FAR, IN_PART, FAILING, UNDECIDED, UNKNOWN = (
    "holds",
    "holds so far",
    "holds in part",
    "does not hold",
    "undecided",
    "not measured",
)
# What is said of claims that hold by comparisons of which some have a single run on both sides.
OF_SINGLE_RUNS = "of single runs"
WHAT_VERDICTS_ARE = (
    "A comparison is undecided where it would come out otherwise with our value a standard deviation of the runs, of "
    "ours or of the other's, higher or lower. A claim is undecided where a comparison is and none is refuted. Where "
    "neither side has more than a single run, no deviation is known, so such a comparison is decided by very little: a "
    f"claim that holds by any of these holds {OF_SINGLE_RUNS}."
)
# How many comparisons are told of.
_TOLD = 4


@dataclass(frozen=True)
class Check:
    """One comparison that a claim makes.

    Args:
        on: what it is of, for example a data set.
        holds: whether it comes out as claimed; None where there is nothing to compare, or it is undecided.
        figures: what was compared; why it could not be, where there are runs.
        whole: whether all that it should be compared with has runs. What is refuted already needs no more.
        undecided: whether it would come out otherwise within the spread of our runs.
        alone: whether neither side has more than a single run, so that no spread is known.
    """

    on: str
    holds: bool | None
    figures: str = ""
    whole: bool = True
    undecided: bool = False
    alone: bool = False


class Verdict(NamedTuple):
    """What comes of a claim: its kind, and the same in words, with the share of comparisons where it is in part."""

    kind: str
    text: str


def verdict_by(checks: Sequence[Check]) -> Verdict:
    """The verdict on a claim."""
    known = [check for check in checks if check.holds is not None]
    good, open_ = sum(check.holds is True for check in known), sum(check.undecided for check in checks)
    if not known:
        kind = UNDECIDED if open_ else UNKNOWN
        return Verdict(kind, kind)
    if good == len(known):
        if open_:
            return Verdict(UNDECIDED, f"{UNDECIDED}, holds in {good} of {good + open_}")
        kind = HOLDING if len(known) == len(checks) and all(check.whole for check in known) else SO_FAR
        return Verdict(kind, f"{kind}, {OF_SINGLE_RUNS}" if any(check.alone for check in known) else kind)
    more = f", {open_} undecided" if open_ else ""
    if not good:
        return Verdict(FAILING, FAILING + more)
    return Verdict(IN_PART, f"holds in {good} of {len(known) + open_}{more}")


def in_words(checks: Sequence[Check]) -> str:
    """How many comparisons came out as claimed, and those that did not, or else some that did."""
    known = [check for check in checks if check.holds is not None]
    bad, open_ = [check for check in known if not check.holds], [check for check in checks if check.undecided]
    count = len(known) + len(open_)
    text = f"{len(known) - len(bad)} of {count} comparisons" if count else "no comparison"
    barred = [check for check in checks if check.holds is None and check.figures and not check.undecided]
    lacking = len(checks) - count - len(barred)
    partial = sum(not check.whole for check in known)
    more = [f"{lacking} more without a run"] if lacking else []
    more += [f"{one.on} {one.figures}" for one in barred]
    more += [f"{partial} of them still without some run to be held against"] if partial else []
    text += f" ({'; '.join(more)})" if more else ""
    told = [("not ", bad), ("undecided ", open_)] if bad or open_ else [("", known)]
    return "; ".join([text, *(name + _listed(several) for name, several in told if several)])


def _listed(checks: Sequence[Check]) -> str:
    told = [f"{one.on} ({one.figures})" for one in checks]
    return ", ".join(told[:_TOLD]) + (f" and {len(told) - _TOLD} more" if len(told) > _TOLD else "")


def compared(
    on: str, ours: Value | None, other: Value | None, holds: Callable[[float, float], bool], words: str
) -> Check:
    """A comparison of two values; ``words`` has places for both.

    It is undecided where it would come out otherwise with ours as much higher or lower as runs of either spread.
    """
    if ours is None or other is None:
        return Check(on, None)
    spread, alone = max(ours.spread, other.spread), max(ours.runs, other.runs) == 1
    outcomes = {holds(ours.mean + shift, other.mean) for shift in (-spread, 0.0, spread)}
    digits = _digits(max(abs(ours.mean), abs(other.mean)))
    one, two = told_apart(ours.mean, other.mean, digits)
    figures = words.format(one + (f" ± {number(spread, digits)}" if spread else ""), two)
    if len(outcomes) > 1:
        return Check(on, None, figures, undecided=True)
    return Check(on, outcomes.pop(), figures, alone=alone)


def against_all(
    on: str, ours: Value | None, others: Mapping[str, Value | None], holds: Callable[[float, float], bool]
) -> Check:
    """Ours beside the best of several; what has no run may still refute it."""
    known = {name: value for name, value in others.items() if value is not None}
    best = next((name for name in known if all(holds(known[name].mean, other.mean) for other in known.values())), "")
    found = compared(on, ours, known.get(best), holds, f"{{}} beside {{}} of {best}")
    return replace(found, whole=len(known) == len(others) or found.holds is not True)


def _digits(value: float) -> int:
    return 0 if value >= 20 else 3 if value >= 0.1 else 4
