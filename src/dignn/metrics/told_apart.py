"""Classifier tests of all columns of the table at once, beside other work: they take most of its time.

Every test has a seed of its own, so that its value does not depend on where and when it is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Self

from dignn.core.background import Background
from dignn.core.processes import map_processes
from dignn.core.seeds import Seed
from dignn.core.threads import cores
from dignn.graphs.feature_spec import FeatureKind
from dignn.metrics.c2st import area
from dignn.metrics.feature_realism import as_numbers, rows_c2st
from dignn.metrics.feature_rows import FeatureRows

# Rows of all tests together from which on processes are worth their start: five tests of 500 rows of each side.
WORTH_ROWS = 5_000


class ToldApart:
    """How well a classifier tells rows from real ones, as a context in which foreseen tests are computed beside.

    Args:
        foreseen: rows of which it will be asked, with their seeds; of others it is computed when it is asked.
    """

    def __init__(self, foreseen: Mapping[FeatureRows, Seed]) -> None:
        tests = {rows: seed for rows, seed in foreseen.items() if rows.kind is not FeatureKind.IDENTITY}
        worth = cores() > 1 and sum(rows.made.shape[0] + rows.real.shape[0] for rows in tests) >= WORTH_ROWS
        self._tests = tests if worth else {}
        self._areas: dict[FeatureRows, Future[float | None]] = {rows: Future() for rows in self._tests}
        self._beside = Background(self._compute)

    def __enter__(self) -> Self:
        if self._tests:
            self._beside.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._tests:
            self._beside.__exit__(kind, error, trace)

    def __call__(self, rows: FeatureRows, seed: Seed) -> float | None:
        """The area; whoever has to wait for it takes part in what is left to compute."""
        return self._beside.wait_for(self._areas[rows]) if rows in self._areas else rows_c2st(rows, seed)

    def _compute(self) -> None:
        areas = list(self._areas.values())
        try:
            tables = [
                (*as_numbers(rows, rows.made, rows.real), seed.child("c2st").value)
                for rows, seed in self._tests.items()
            ]
            map_processes(area, tables, apart=True, found=lambda number, found: areas[number].set_result(found))
        except BaseException as error:
            for waiting in areas:
                if not waiting.done():
                    waiting.set_exception(error)
