"""Tables of worlds: misses come first, failures are told, and only what is between the markers changes."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import world_tables

    return world_tables


def a_run(world: str = "worlds-1", seed: int = 0, **changed: Any) -> dict[str, Any]:
    """A run that reaches everything."""
    return {
        "world": world,
        "seed": seed,
        "seconds": 60.0,
        "gib": 1.0,
        "features_c2st": 0.55,
        "features_c2st_floor": 0.5,
        "graphs_c2st": 0.55,
        "graphs_c2st_floor": 0.5,
        "agreement": 0.9,
        "accuracy": 0.92,
        "error": None,
        "model": {"accuracy": 0.95, "majority": 0.5},
        "timings": {"GGT": 20.0, "WALL": 60.0},
        "machine": {"cores": 2, "processor": "x86_64", "python": "3.11", "torch": "2"},
        **changed,
    }


def test_what_is_missed_stands_first_and_in_bold(tables: ModuleType) -> None:
    runs = [a_run("worlds-1"), a_run("worlds-2", features_c2st=0.8), a_run("worlds-3", seconds=200.0, agreement=0.5)]
    counted, table, *_ = tables.tables(tables.latest(runs))
    assert counted.startswith("12 of 15 figures are reached; missed: features: C2ST on worlds-2; agreement, seconds on")
    assert [line.split(" | ")[0] for line in table.splitlines()[2:]] == ["| worlds-3", "| worlds-2", "| worlds-1"]
    assert "**0.80 (0.50)**" in table
    assert "**0.50 (0.92)**" in table
    assert "**200**" in table


def test_bounds_belong_to_what_is_reached(tables: ModuleType) -> None:
    run = a_run(features_c2st=0.6, graphs_c2st=0.6, agreement=0.87, accuracy=0.92, seconds=150.0, gib=3.0)
    assert all(aim.met for aim in tables.aims_of([run]))


def test_a_world_without_features_has_nothing_to_tell_apart(tables: ModuleType) -> None:
    run = a_run(features_c2st=None, features_c2st_floor=None)
    assert all(aim.met for aim in tables.aims_of([run]))


def test_a_run_that_failed_reaches_nothing_and_is_told(tables: ModuleType) -> None:
    failed = dict.fromkeys(("features_c2st", "graphs_c2st", "agreement", "accuracy"), None)
    run = a_run("worlds-4", error="SchemaError: hold NaN", **failed)
    parts = tables.tables(tables.latest([a_run(), run]))
    assert any("- worlds-4, seed 0: SchemaError: hold NaN" in part for part in parts)
    assert not any(aim.met for aim in tables.aims_of([run]) if aim.name != "GiB")


def test_the_last_run_of_a_seed_counts(tables: ModuleType) -> None:
    runs = [a_run(seconds=500.0), a_run("worlds-10"), a_run("worlds-2"), a_run(seconds=50.0)]
    worlds = tables.latest(runs)
    assert list(worlds) == ["worlds-1", "worlds-2", "worlds-10"]
    assert [run["seconds"] for run in worlds["worlds-1"]] == [50.0]


def test_only_what_is_between_the_markers_changes(tables: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs" / "any-data.md").read_text(encoding="utf-8"), encoding="utf-8")
    tables.write_page([a_run()], page)
    written = page.read_text(encoding="utf-8")
    assert "| worlds-12 |" in written
    assert "5 of 5 figures are reached." in written
    tables.write_page([a_run()], page)
    assert page.read_text(encoding="utf-8") == written


def test_a_command_is_ended_in_time_with_all_that_it_started(tables: ModuleType) -> None:
    from benchmarks.watched import watch

    assert watch([sys.executable, "-c", "print('done')"], 60.0).output == "done\n"
    asleep = watch([sys.executable, "-c", "import time; time.sleep(60)"], 0.4)
    assert asleep.code is None
    assert asleep.gib > 0 or not Path("/proc").is_dir()
    assert watch([sys.executable, "-c", "raise SystemExit(3)"], 60.0).code == 3


def test_an_error_is_told_in_a_line(tables: ModuleType) -> None:
    from benchmarks.worlds import told

    from dignn.zoo.worlds.decks import hand_of

    try:
        hand_of(0)
    except Exception as error:
        line = told(error)
    assert line.startswith("DignnError: There is no world 0; worlds are numbered from 1 (decks.py, line ")


def test_a_line_has_its_keys_whatever_happens(tables: ModuleType) -> None:
    from benchmarks.worlds import _nothing, c2st_of

    features = {"c2st": 0.6, "by_type": {"a": {"c2st": 0.6}}}
    sound = {"features": features, "graphs": {"c2st": 0.7}}
    found = c2st_of({"sound": sound, "floor": {"sound": sound}})
    assert found["by_type"] == {"a": {"c2st": 0.6, "floor": 0.6}}
    assert {"world", "seed", "seconds", "gib", "agreement", "accuracy", "error"} | (found.keys() - {"by_type"}) == set(
        _nothing("worlds-1", 0)
    )
