"""Classifier tests beside other work give what they give one by one."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dignn.core.errors import DignnError
from dignn.core.pieces import Pieces
from dignn.core.processes import WAITED_FOR, map_processes
from dignn.core.seeds import Seed
from dignn.metrics import told_apart
from dignn.metrics.column_errors import Matrix
from dignn.metrics.told_apart import ToldApart, TwoSamples, computed


def samples(seed: int, count: int = 40) -> TwoSamples:
    """Rows of three columns that are easier to tell apart the larger the seed is."""

    def tables() -> tuple[Matrix, Matrix]:
        rng = np.random.default_rng(seed)
        made, real = (sparse.csr_matrix(rng.normal(size=(count, 3)) + shift) for shift in (seed, 0))
        return made, real

    return TwoSamples(tables, 2 * count, Seed(seed))


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tests were foreseen each time; in a thread instead of processes, which take long to start."""
    numbers: list[int] = []

    def here(function: Callable[..., Any], arguments: list[Any], **options: Any) -> list[Any]:
        numbers.append(len(arguments))
        return map_processes(function, arguments, workers=0, **options)

    monkeypatch.setattr(told_apart, "map_processes", here)
    monkeypatch.setattr(told_apart, "cores", lambda: 2)
    monkeypatch.setattr(told_apart, "WORTH_ROWS", 200)
    monkeypatch.setattr("dignn.metrics.c2st.TREES", 2)
    return numbers


def test_foreseen_or_not_the_areas_are_the_same(beside: list[int]) -> None:
    foreseen = {number: samples(number) for number in range(3)}
    with ToldApart(foreseen) as told:
        areas = [told(number, test) for number, test in foreseen.items()]
        assert told("another", samples(1)) == areas[1]
    assert beside == [3]
    assert areas == [computed(number, test) for number, test in foreseen.items()]
    assert areas[0] != areas[2]


def test_few_tests_and_a_single_core_start_no_processes(beside: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    with ToldApart({number: samples(number) for number in range(2)}) as told:  # 160 rows
        told(0, samples(0))
    monkeypatch.setattr(told_apart, "cores", lambda: 1)
    with ToldApart({number: samples(number) for number in range(9)}):
        pass
    assert beside == []


def test_processes_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told_apart, "cores", lambda: 2)
    monkeypatch.setattr(told_apart, "WORTH_ROWS", 1)
    foreseen = {number: samples(number) for number in range(3)}
    with ToldApart(foreseen) as told:
        areas = [told(number, test) for number, test in foreseen.items()]
    assert areas == [computed(number, test) for number, test in foreseen.items()]


def test_who_waits_takes_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is at work on the first test while all others are done here, and each is done once."""
    here: list[float] = []
    waits = threading.Event()

    def in_process(function: Callable[..., Any], arguments: list[Any], *, apart: bool, found: Any) -> None:
        pieces = Pieces(function, arguments, found)
        number, first = next(iter(pieces))
        WAITED_FOR.offered.append(pieces)
        waits.wait(60)
        found(number, function(*first))
        pieces.helped()

    def look(made: Matrix, real: Matrix, seed: int) -> float:
        here.append(float(seed))
        if len(here) == 3:  # the others are done
            waits.set()
        return float(seed)

    monkeypatch.setattr(told_apart, "map_processes", in_process)
    monkeypatch.setattr(told_apart, "cores", lambda: 2)
    monkeypatch.setattr(told_apart, "WORTH_ROWS", 1)
    monkeypatch.setattr(told_apart, "area", look)
    foreseen = {number: samples(number) for number in range(4)}
    with ToldApart(foreseen) as told:
        areas = [told(number, test) for number, test in foreseen.items()]
    assert areas == [float(test.seed.value) for test in foreseen.values()]
    assert sorted(here) == sorted(areas)


@pytest.mark.parametrize("where", ["tables", "map_processes"])
def test_who_waits_learns_what_went_wrong(beside: list[int], monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise DignnError("A process ended")

    foreseen = {number: samples(number) for number in range(3)}
    if where == "tables":
        foreseen[2] = replace(foreseen[2], tables=fail)
    else:
        monkeypatch.setattr(told_apart, where, fail)
    with pytest.raises(DignnError, match="A process ended"), ToldApart(foreseen) as told:
        told(0, foreseen[0])


def test_who_takes_part_while_a_process_ends_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found when all have been told that it went wrong changes nothing."""
    late: list[Callable[[int, float], None]] = []

    def end(*_: Any, found: Callable[[int, float], None], **__: Any) -> Any:
        late.append(found)
        raise DignnError("A process ended")

    monkeypatch.setattr(told_apart, "map_processes", end)
    monkeypatch.setattr(told_apart, "cores", lambda: 2)
    monkeypatch.setattr(told_apart, "WORTH_ROWS", 1)
    foreseen = {0: samples(0)}
    with ToldApart(foreseen) as told:
        for _ in range(2):
            with pytest.raises(DignnError, match="A process ended"):
                told(0, foreseen[0])
            late[0](0, 0.5)


def test_processes_of_classifiers_do_without_torch() -> None:
    code = "import sys, dignn.metrics.c2st, dignn.core.processes; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
