"""Classifier tests of all columns of the table at once, beside other work: they take most of its time.

Every test has a seed of its own, so that its value does not depend on where and when it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from dignn.core.background import Background
from dignn.core.processes import map_processes
from dignn.core.seeds import Seed
from dignn.core.threads import cores
from dignn.metrics.c2st import area
from dignn.metrics.column_errors import Matrix

# Rows of all tests together from which on processes are worth their start: graphs and one table of features.
WORTH_ROWS = 6_000


@dataclass(frozen=True)
class TwoSamples:
    """A classifier test that is foreseen.

    Args:
        tables: makes what is to be told apart, (n, d) and (m, d).
        rows: of both tables.
        seed: of the classifier.
    """

    tables: Callable[[], tuple[Matrix, Matrix]]
    rows: int
    seed: Seed

    def area(self) -> float | None:
        """How well a classifier tells the tables apart, see :func:`dignn.metrics.c2st.c2st`."""
        return area(*self.tables(), self.seed.value)


# The area of a test of something, by that and the test.
Told = Callable[[Hashable, TwoSamples], float | None]


def computed(_what: Hashable, test: TwoSamples) -> float | None:
    """The area, computed now."""
    return test.area()


class ToldApart:
    """Areas of foreseen tests, as a context in which they are computed beside other work where they are many.

    Args:
        foreseen: tests, by what is tested.
    """

    def __init__(self, foreseen: Mapping[Hashable, TwoSamples]) -> None:
        worth = cores() > 1 and sum(test.rows for test in foreseen.values()) >= WORTH_ROWS
        self._tests = foreseen if worth else {}
        self._areas: dict[Hashable, Future[float | None]] = {what: Future() for what in self._tests}
        self._beside = Background(self._compute)

    def __enter__(self) -> Self:
        if self._tests:
            self._beside.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._tests:
            self._beside.__exit__(kind, error, trace)

    def __call__(self, what: Hashable, test: TwoSamples) -> float | None:
        """The area of a test, computed now if it was not foreseen.

        Whoever has to wait for it takes part in what is left to compute.
        """
        return self._beside.wait_for(self._areas[what]) if what in self._areas else computed(what, test)

    def _compute(self) -> None:
        areas = list(self._areas.values())

        def keep(number: int, found: float | None) -> None:
            with suppress(InvalidStateError):  # who takes part may end after all of it went wrong
                areas[number].set_result(found)

        try:
            tables = [(*test.tables(), test.seed.value) for test in self._tests.values()]
            map_processes(area, tables, apart=True, found=keep)
        except BaseException as error:
            for waiting in areas:
                with suppress(InvalidStateError):
                    waiting.set_exception(error)
