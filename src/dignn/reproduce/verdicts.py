"""Comparisons that a claim makes, and its verdict by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

HOLDING, SO_FAR, IN_PART, FAILING, UNKNOWN = (
    "holds",
    "holds so far",
    "holds in part",
    "does not hold",
    "not measured",
)
# How many comparisons are told of.
_TOLD = 4


@dataclass(frozen=True)
class Check:
    """One comparison that a claim makes.

    Args:
        on: what it is of, for example a data set.
        holds: whether it comes out as claimed; None where there is nothing to compare.
        figures: what was compared; why it could not be, where there are runs.
        whole: whether all that it should be compared with has runs. What is refuted already needs no more.
    """

    on: str
    holds: bool | None
    figures: str = ""
    whole: bool = True


def state(checks: Sequence[Check]) -> str:
    """The verdict on a claim."""
    known = [check for check in checks if check.holds is not None]
    if not known:
        return UNKNOWN
    if all(check.holds for check in known):
        return HOLDING if len(known) == len(checks) and all(check.whole for check in known) else SO_FAR
    return IN_PART if any(check.holds for check in known) else FAILING


def in_words(checks: Sequence[Check]) -> str:
    """How many comparisons came out as claimed, and those that did not, or else some that did."""
    known = [check for check in checks if check.holds is not None]
    bad = [check for check in known if not check.holds]
    text = f"{len(known) - len(bad)} of {len(known)} comparisons" if known else "no comparison"
    barred = [check for check in checks if check.holds is None and check.figures]
    lacking = len(checks) - len(known) - len(barred)
    partial = sum(not check.whole for check in known)
    more = [f"{lacking} more without a run"] if lacking else []
    more += [f"{one.on} {one.figures}" for one in barred]
    more += [f"{partial} of them still without some run to be held against"] if partial else []
    text += f" ({'; '.join(more)})" if more else ""
    told = [f"{one.on} ({one.figures})" for one in bad or known]
    rest = f" and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    return text + (f"; {'not ' if bad else ''}{', '.join(told[:_TOLD])}{rest}" if told else "")


def compared(
    on: str, ours: float | None, other: float | None, holds: Callable[[float, float], bool], words: str
) -> Check:
    """A comparison of two values; ``words`` has places for both."""
    if ours is None or other is None:
        return Check(on, None)
    return Check(on, holds(ours, other), words.format(_number(ours), _number(other)))


def against_all(
    on: str, ours: float | None, others: Mapping[str, float | None], holds: Callable[[float, float], bool]
) -> Check:
    """Ours beside the best of several; what has no run may still refute it."""
    known = {name: value for name, value in others.items() if value is not None}
    best = next((name for name in known if all(holds(known[name], other) for other in known.values())), "")
    found = compared(on, ours, known.get(best), holds, f"{{}} beside {{}} of {best}")
    return replace(found, whole=len(known) == len(others) or not found.holds)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 20 else f"{value:.3f}" if abs(value) >= 0.1 else f"{value:.4f}"
