"""What stands beside a study is found in processes as it is found here: nothing is hurried in this file."""

from __future__ import annotations

from dataclasses import asdict
from unittest import mock

import pytest

from dignn.core.seeds import Seed
from dignn.explainers import studying
from dignn.explainers.studying import _Beside, found_on
from goes_by.answered import SCHEMA, answered, three_classes


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_find_the_same(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    test = answered(three_classes, 200, seed=1)
    jobs = [(*answered(three_classes, 300, seed=seed), *test, Seed(0)) for seed in (2, 3)]
    direct = [found_on(*job) for job in jobs]
    monkeypatch.setattr(studying, "_WORTH_COLUMNS", 0)
    monkeypatch.setattr(studying, "cores", lambda: workers)
    with mock.patch.object(studying, "find", wraps=studying.find) as here, _Beside(jobs, SCHEMA) as beside:
        found = beside()
    assert here.call_count == len(jobs) if workers == 1 else here.call_count < len(jobs)
    assert [each and asdict(each) for each in found] == [each and asdict(each) for each in direct]
    assert None not in found
