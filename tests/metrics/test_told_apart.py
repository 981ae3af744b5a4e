"""Classifier tests beside other work give what they give one by one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dignn.core.errors import DignnError
from dignn.core.processes import map_processes
from dignn.core.seeds import Seed
from dignn.graphs.feature_spec import FeatureKind
from dignn.metrics import told_apart
from dignn.metrics.feature_realism import rows_c2st
from dignn.metrics.feature_rows import FeatureRows
from dignn.metrics.told_apart import ToldApart


def rows(seed: int, kind: FeatureKind = FeatureKind.CONTINUOUS) -> FeatureRows:
    rng = np.random.default_rng(seed)
    made, real = (sparse.csr_matrix(rng.normal(size=(40, 3)) + shift) for shift in (seed, 0))
    return FeatureRows(kind, made, real)


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tests were foreseen each time; in a thread instead of processes, which take long to start."""
    numbers: list[int] = []

    def here(function: Callable[..., Any], arguments: list[Any], **options: Any) -> list[Any]:
        numbers.append(len(arguments))
        return map_processes(function, arguments, workers=1, **options)

    monkeypatch.setattr(told_apart, "map_processes", here)
    monkeypatch.setattr(told_apart, "cores", lambda: 2)
    monkeypatch.setattr(told_apart, "WORTH_ROWS", 200)
    monkeypatch.setattr("dignn.metrics.c2st.TREES", 2)
    return numbers


def test_foreseen_or_not_the_areas_are_the_same(beside: list[int]) -> None:
    foreseen = {rows(number): Seed(number) for number in range(3)}
    other = rows(1)
    with ToldApart({**foreseen, rows(4, FeatureKind.IDENTITY): Seed(4)}) as told:
        areas = [told(one, seed) for one, seed in foreseen.items()]
        assert told(other, Seed(1)) == areas[1]
    assert beside == [3]
    assert areas == [rows_c2st(one, seed) for one, seed in foreseen.items()]
    assert areas[0] != areas[2]


def test_few_tests_and_a_single_core_start_no_processes(beside: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = rows(0), rows(1)
    with ToldApart({one: Seed(0), two: Seed(1)}) as told:  # 160 rows
        told(one, Seed(0))
    monkeypatch.setattr(told_apart, "cores", lambda: 1)
    with ToldApart({rows(number): Seed(0) for number in range(9)}):
        pass
    assert beside == []


@pytest.mark.parametrize("where", ["as_numbers", "map_processes"])
def test_who_waits_learns_what_went_wrong(beside: list[int], monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise DignnError("A process ended")

    monkeypatch.setattr(told_apart, where, fail)
    foreseen = {rows(number): Seed(0) for number in range(3)}
    with pytest.raises(DignnError, match="A process ended"), ToldApart(foreseen) as told:
        told(next(iter(foreseen)), Seed(0))


def test_processes_of_classifiers_do_without_torch() -> None:
    code = "import sys, dignn.metrics.c2st, dignn.core.processes; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
