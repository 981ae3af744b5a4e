"""Rules over clues: each says exactly whether it holds, and by how much as a smooth margin of the same sign.

Margins of conjunction and disjunction are Rvachev's R-functions, a + b -+ sqrt(a^2 + b^2): smooth, and positive exactly
where both or either of their arguments are (V. L. Rvachev, Theory of R-functions, 1982). So the probability that a
model makes of a margin is above one half exactly where the rule holds, and every clue that matters moves it.

Amounts are numbers for :meth:`Rule.holds` and tensors for :meth:`Rule.margin`, which uses operators only; this loads
nothing heavy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dignn.zoo.known.clues import Clue

# What there is of a clue: a number for one node, or a tensor for many.
Amount = Callable[[Clue], Any]
# Below the R-functions' root, so that it has a slope where both arguments are 0; too small to change a sign.
_TINY = 1e-12


class Rule(ABC):
    """Something that holds of a node or does not."""

    @property
    @abstractmethod
    def clues(self) -> tuple[Clue, ...]:
        """Everything that it looks at, each once."""

    @property
    @abstractmethod
    def compared(self) -> tuple[tuple[Above, int], ...]:
        """Every comparison with a bound, and whether more speaks for the rule (1), against it (-1) or both (0)."""

    @abstractmethod
    def holds(self, amount: Amount) -> bool:
        """Whether it holds where the clues have these amounts."""

    @abstractmethod
    def margin(self, amount: Amount) -> Any:
        """Smooth in the amounts, positive exactly where the rule holds and negative where it does not."""


@dataclass(frozen=True)
class Above(Rule):
    """The amounts of some clues together are above a bound; 1.5 stands for "at least two".

    Args:
        what: clues whose amounts are added.
        bound: never itself an amount.
        scale: by how much the amount must be above the bound for the margin to be large.
    """

    what: tuple[Clue, ...]
    bound: float
    scale: float = 1.0

    @property
    def clues(self) -> tuple[Clue, ...]:
        return self.what

    @property
    def compared(self) -> tuple[tuple[Above, int], ...]:
        return ((self, 1),)

    def holds(self, amount: Amount) -> bool:
        return bool(sum(amount(clue) for clue in self.what) > self.bound)

    def margin(self, amount: Amount) -> Any:
        beyond = (sum(amount(clue) for clue in self.what) - self.bound) / self.scale
        return beyond / (1 + beyond**2) ** 0.5


@dataclass(frozen=True)
class Not(Rule):
    """The rule does not hold."""

    rule: Rule

    @property
    def clues(self) -> tuple[Clue, ...]:
        return self.rule.clues

    @property
    def compared(self) -> tuple[tuple[Above, int], ...]:
        return tuple((above, -sign) for above, sign in self.rule.compared)

    def holds(self, amount: Amount) -> bool:
        return not self.rule.holds(amount)

    def margin(self, amount: Amount) -> Any:
        return -self.rule.margin(amount)


@dataclass(frozen=True)
class _Pair(Rule):
    """A rule of two rules."""

    one: Rule
    other: Rule

    @property
    def clues(self) -> tuple[Clue, ...]:
        return tuple(dict.fromkeys((*self.one.clues, *self.other.clues)))

    @property
    def compared(self) -> tuple[tuple[Above, int], ...]:
        return (*self.one.compared, *self.other.compared)

    def _margins(self, amount: Amount) -> tuple[Any, Any]:
        return self.one.margin(amount), self.other.margin(amount)


@dataclass(frozen=True)
class Both(_Pair):
    """Both rules hold."""

    def holds(self, amount: Amount) -> bool:
        return self.one.holds(amount) and self.other.holds(amount)

    def margin(self, amount: Amount) -> Any:
        a, b = self._margins(amount)
        return a + b - (a**2 + b**2 + _TINY) ** 0.5


@dataclass(frozen=True)
class Either(_Pair):
    """One of the rules holds, or both do."""

    def holds(self, amount: Amount) -> bool:
        return self.one.holds(amount) or self.other.holds(amount)

    def margin(self, amount: Amount) -> Any:
        a, b = self._margins(amount)
        return a + b + (a**2 + b**2 + _TINY) ** 0.5


@dataclass(frozen=True)
class OnlyOne(_Pair):
    """One of the rules holds and the other does not."""

    @property
    def compared(self) -> tuple[tuple[Above, int], ...]:
        return tuple((above, 0) for above, _ in super().compared)

    def holds(self, amount: Amount) -> bool:
        return self.one.holds(amount) != self.other.holds(amount)

    def margin(self, amount: Amount) -> Any:
        a, b = self._margins(amount)
        return -a * b


def some(clue: Clue) -> Above:
    """There is at least one."""
    return at_least(1, clue)


def at_least(count: int, *clues: Clue) -> Above:
    """There are at least ``count``, all clues together."""
    return Above(clues, count - 0.5)


def between(low: float, high: float, clue: Clue, scale: float) -> Both:
    """The amount is inside an interval."""
    return Both(Above((clue,), low, scale), Not(Above((clue,), high, scale)))
