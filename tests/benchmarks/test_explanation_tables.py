"""Tables of runs: what was reached is told from what was missed, and only what is between the markers changes."""

from __future__ import annotations

import copy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
REGIONS = ("targets", "example", "tables")


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import explanation_tables

    return explanation_tables


@pytest.fixture
def judge(tables: ModuleType) -> ModuleType:
    from benchmarks import explanation_targets

    return explanation_targets


def layers(value: float) -> dict[str, Any]:
    mmd = dict.fromkeys(("node_type", "degree", "clustering", "spectral"), value / 10)
    features = dict.fromkeys(("column_error", "pair_error", "row_density", "c2st", "memorisation"), value)
    sound = {
        "yield": 1.0,
        "mmd": mmd,
        "graphs": {"novelty": value, "uniqueness": value, "c2st": None},
        "features": features,
        "typed_gf": value,
        "contrast": {"a": value, "b": -value},
        "pf_in_distribution": value,
        "coverage": value,
        "planted": None,
    }
    return {"paper": {"mmd": mmd, "cosine": None, "pf": value, "gf": value}, "sound": sound}


def a_run(dataset: str = "dblp", seed: int = 0, value: float = 0.5) -> dict[str, Any]:
    """A run all of whose values are alike."""
    rule = {
        "probability": value,
        "gf": value,
        "typed_gf": value,
        "contrast": None,
        "coverage": value,
        "planted": None,
    }
    details = {
        "gf": {"a": value, "b": value},
        "motifs": {"common": False, "by_class": [{"occur": 7, "do_not_occur": 3}, None]},
        "distinct": {"a": 50, "b": 46},
        "mmd_of_explanations": layers(value)["sound"]["mmd"],
        "groups": None,
    }
    metrics = {
        **layers(value),
        "floor": layers(0.111),
        "control": {"random_trees": layers(0.222)},
        "selection": dict.fromkeys(("representative", "typical", "highest"), rule),
        "details": details,
    }
    stages = ("FFS", "GGT", "GGAT", "NFGT", "NFGAT", "PP", "GS", "EVAL")
    return {
        "dataset": dataset,
        "seed": seed,
        "timings": {**dict.fromkeys(stages, 2.0), "WALL": 100.0},
        "memory": 1.0,
        "validity": {"generated": 10, "connected": 9, "valid": 8},
        "metrics": metrics,
        "texts": {"a": f"About a of {dataset}.", "b": "About b."},
        "machine": {"cores": 2, "processor": "p", "python": "3", "torch": "2"},
    }


@pytest.fixture
def page(tmp_path: Path) -> Path:
    parts = [
        f"before {region}\n<!-- {region}: written by python -m benchmarks.explanations --table -->\nold\n"
        f"<!-- end of {region} -->\nafter {region}\n"
        for region in REGIONS
    ]
    path = tmp_path / "page.md"
    path.write_text("".join(parts), encoding="utf-8")
    return path


def rows_of(text: str, first: str) -> list[list[str]]:
    """Cells of the table rows that begin with a text."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    return [cells for cells in lines if cells[0] == first]


def test_a_row_shows_mean_and_range_beside_floor_control_and_paper(tables: ModuleType, page: Path) -> None:
    tables.write_tables([a_run(seed=0, value=0.4), a_run(seed=1, value=0.8)], page)
    (row,) = rows_of(page.read_text(encoding="utf-8"), "PF")
    assert row == ["PF", "0.600 (0.400 to 0.800)", "-", "0.111", "-", "0.222", "-", "-", "0.999"]


def test_all_candidates_stand_beside_and_targets_are_of_the_explanations_shown(
    tables: ModuleType, judge: ModuleType, page: Path
) -> None:
    run = a_run(value=0.4)
    run["metrics"]["candidates"] = layers(0.9)
    tables.write_tables([run], page)
    (row,) = rows_of(page.read_text(encoding="utf-8"), "PF")
    assert row[1:3] == ["0.400", "0.900"]
    assert judge.average([run], "paper", "pf") == 0.9


def test_contrast_is_that_of_the_lowest_class(tables: ModuleType, page: Path) -> None:
    tables.write_tables([a_run(value=0.4)], page)
    (row,) = rows_of(page.read_text(encoding="utf-8"), "contrast, lowest class")
    assert row[1] == "-0.400"


def test_only_what_is_between_markers_changes_and_writing_again_changes_nothing(tables: ModuleType, page: Path) -> None:
    runs = [a_run(), a_run("mutag"), a_run("ba-shapes"), a_run("planted")]
    tables.write_tables(runs, page)
    first = page.read_text(encoding="utf-8")
    assert "old" not in first
    for region in REGIONS:
        assert f"before {region}\n" in first
        assert f"\nafter {region}\n" in first
    tables.write_tables(runs, page)
    assert page.read_text(encoding="utf-8") == first


def test_of_a_set_and_seed_the_last_run_counts(tables: ModuleType, page: Path) -> None:
    tables.write_tables([a_run(value=0.4), a_run(value=0.7)], page)
    (row,) = rows_of(page.read_text(encoding="utf-8"), "PF")
    assert row[1] == "0.700"


def test_a_page_without_runs_says_so(tables: ModuleType, page: Path) -> None:
    tables.write_tables([], page)
    assert page.read_text(encoding="utf-8").count("No runs yet.") == len(REGIONS)


def test_the_page_of_this_project_has_the_markers(tables: ModuleType, tmp_path: Path) -> None:
    copied = tmp_path / "explanations.md"
    copied.write_text((ROOT / "docs/explanations.md").read_text(encoding="utf-8"), encoding="utf-8")
    tables.write_tables([a_run()], copied)
    assert "About a of dblp." in copied.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("relation", "reached", "met", "cell"),
    [
        ("≥", 0.97, True, "0.970 ≥ 0.970"),
        ("≥", 0.9699, False, "**0.9699 < 0.970**"),
        ("≤", 0.9701, False, "**0.9701 > 0.970**"),
        (">", 0.97, False, "**0.970 ≤ 0.970**"),
        ("≥", None, False, "**none** (≥ 0.970)"),
    ],
)
def test_a_cell_shows_on_which_side_of_the_bound_a_value_is(
    judge: ModuleType, relation: str, reached: float | None, met: bool, cell: str
) -> None:
    target = judge.Target("PF", reached, relation, 0.97)
    assert (target.met, target.cell()) == (met, cell)


def test_the_mean_over_seeds_decides_and_the_lowest_class(judge: ModuleType) -> None:
    runs = [a_run(value=0.96), a_run(seed=1, value=0.99)]
    for run, contrast in zip(runs, ({"a": -0.1, "b": 0.5}, {"a": 0.3, "b": 0.4}), strict=True):
        run["metrics"]["sound"]["contrast"] = contrast
    found = {target.name: target for target in judge.targets("dblp", runs)}
    assert found["PF"].met
    assert found["PF"].reached == pytest.approx(0.975)
    assert found["contrast"].reached == pytest.approx(0.1)
    assert found["different of 50"].reached == 46


def test_distances_are_compared_in_the_digits_that_the_paper_prints(judge: ModuleType) -> None:
    good, bad = a_run(), a_run()
    for run, degree in ((good, 0.09649), (bad, 0.09651)):
        run["metrics"] = copy.deepcopy(run["metrics"])
        run["metrics"]["paper"]["mmd"]["degree"] = degree
    met = [{t.name: t.met for t in judge.targets("dblp", [run])}["MMD degrees"] for run in (good, bad)]
    assert met == [True, False]


def test_missed_figures_are_counted_and_named(tables: ModuleType) -> None:
    slow = a_run("planted")
    slow["timings"]["WALL"] = 121.0
    slow["metrics"]["sound"]["planted"] = {
        label: dict.fromkeys(tables.TRUTH, share) for label, share in (("mean", 0.95), ("a", 1.0), ("b", 0.9))
    }
    sentence, table, *_ = tables.target_table({"planted": [slow]})
    assert sentence == "6 of 7 figures are reached; missed: seconds of the run on planted."
    assert "**121 > 120**" in table
