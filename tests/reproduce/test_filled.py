"""Tables filled from runs: means, spreads, floors, controls, verdicts, and nothing where there is no run."""

from __future__ import annotations

from statistics import stdev

import pytest

from dignn.metrics.over_seeds import ComparedFigure
from dignn.reproduce.definition import LIKE_REAL, PAPERS, Cell, Definition, Target, Told
from dignn.reproduce.filled import filled, verdict
from dignn.reproduce.runs import Finished, Run
from dignn.reproduce.setups import Setup
from reproduce.hand_made_runs import run, timed, values

OURS, RIVAL = Setup("dblp"), Setup("dblp", "xgnn")
PF = ComparedFigure("PF", ("candidates", "paper", "pf"))
CONTRAST = ComparedFigure("contrast", ("candidates", "sound", "contrast"), lowest=True)


def table(*cells: Cell, told: tuple[Told, ...] = ()) -> Definition:
    return Definition("table3", "Faithfulness", cells, ("It differs.",), binding=True, told=told)


def only(cell: Cell, *runs: Run) -> dict[str, object]:
    (found,) = filled(table(cell), Finished(runs), "fast")["cells"]
    return found


def test_ours_is_the_mean_over_seeds_with_its_deviation_and_commits() -> None:
    found = only(Cell("DBLP", "ours", PF, OURS, 0.5), run(OURS, 1, 0.9, "def"), run(OURS, 0, 0.6))
    ours = found["ours"]
    assert isinstance(ours, dict)
    assert ours["mean"] == pytest.approx(0.75)
    assert ours["sd"] == pytest.approx(stdev([0.9, 0.6]), abs=1e-6)
    assert (ours["runs"], ours["seeds"], ours["commits"]) == (2, [0, 1], ["abc", "def"])
    alone = only(Cell("DBLP", "ours", PF, OURS, 0.5), run(OURS, 0, 0.6, None))["ours"]
    assert isinstance(alone, dict)
    assert (alone["sd"], alone["commits"]) == (None, ["not noted"])


def test_of_several_runs_of_a_seed_the_last_counts_for_everything() -> None:
    """Also where it has less to tell: figures of two runs do not meet in a table."""
    older, newer = run(OURS, 0, 0.6, "old"), run(OURS, 0, 0.9, "new")
    found = only(Cell("DBLP", "ours", PF, OURS), older, newer)
    assert (found["ours"]["mean"], found["ours"]["commits"]) == (0.9, ["new"])  # type: ignore[index]
    without = Run(OURS, "fast", 0, {"timings": {"GGT": 1.0}}, "newest")
    assert only(Cell("DBLP", "ours", PF, OURS, 0.5), older, newer, without)["verdict"] == "not run"
    stage = only(Cell("DBLP", "ours", ComparedFigure("GGT", ("timings", "GGT")), OURS), older, newer, without)
    assert stage["ours"]["commits"] == ["newest"]  # type: ignore[index]


def test_seconds_beside_another_method_are_of_runs_that_were_made_like_its_own() -> None:
    """At the same commit, on the same machine, with every seed; which run counts elsewhere does not matter."""
    cell = Cell("DBLP", "rival", ComparedFigure("seconds", ("seconds",)), OURS, made_like=RIVAL)
    theirs, ours, newer = timed(RIVAL, 0, 9.0), timed(OURS, 0, 5.0), timed(OURS, 0, 3.0, "new")
    assert only(cell, theirs, ours, newer)["ours"]["mean"] == 5.0  # type: ignore[index]
    for other in (newer, timed(OURS, 0, 5.0, cores=8), timed(OURS, 1, 5.0)):
        found = only(cell, theirs, other)
        assert (found["ours"], found["applies"]) == (None, False)
    assert only(cell, theirs, timed(RIVAL, 1, 9.0), ours)["ours"] is None  # not of all seeds
    for unknown in (None, "abc-dirty"):
        assert only(cell, timed(RIVAL, 0, 9.0, unknown), timed(OURS, 0, 5.0, unknown))["ours"] is None
    assert only(cell, ours)["applies"] is True  # the rival was not run


def test_a_cell_without_a_run_says_so_and_keeps_the_papers_value() -> None:
    found = only(Cell("DBLP", "ours", PF, OURS, 0.5, 0.1), run(OURS, 0, 0.6, preset="smoke"), run(RIVAL, 0, 0.6))
    assert found["paper"] == {"value": 0.5, "spread": 0.1}
    assert found["ours"] is None
    assert found["verdict"] == "not run"
    assert found["applies"] is True


def test_a_figure_that_a_run_does_not_have_does_not_apply() -> None:
    planted = ComparedFigure("planted", ("candidates", "sound", "planted"))
    found = only(Cell("DBLP", "ours", planted, OURS, target=Target("≥", 0.9)), run(OURS, 0, 0.6))
    assert (found["ours"], found["applies"], found["verdict"]) == (None, False, None)


def test_floor_and_controls_are_those_of_the_yardstick() -> None:
    found = only(Cell("DBLP", "rival", PF, RIVAL, 0.5, beside=OURS), run(RIVAL, 0, 0.6), run(OURS, 0, 0.9))
    assert found["floor"] == 0.75
    assert found["controls"] == {}  # they are told once, by our method's own row
    own = only(Cell("DBLP", "ours", PF, OURS, 0.5, beside=OURS), run(OURS, 0, 0.9))
    assert own["controls"] == {"real_subgraphs": 0.5, "column_noise": 0.25}


@pytest.mark.parametrize(
    ("better", "paper", "ours", "floor", "state"),
    [
        ("higher", 0.5, 0.6, None, "better"),
        ("higher", 0.5, 0.4, None, "worse"),
        ("lower", 0.5, 0.4, None, "better"),
        ("lower", 0.5, 0.5004, None, "equal"),  # in the digits that are printed
        ("lower", 0.5, 0.5006, None, "worse"),
        (LIKE_REAL, 0.9, 0.4, 0.5, "better"),
        (LIKE_REAL, 0.6, 0.3, 0.5, "worse"),
        (LIKE_REAL, 0.6, 0.3, None, None),
        (None, 0.6, 0.3, 0.5, None),
    ],
)
def test_verdicts(better: str | None, paper: float, ours: float, floor: float | None, state: str | None) -> None:
    assert verdict(ComparedFigure("it", ("it",), better=better), paper, ours, floor) == state


def test_targets_are_numbers_or_multiples_of_the_floor() -> None:
    def state(target: Target, pf: float, floor: float = 0.75) -> object:
        one = Run(OURS, "fast", 0, values(pf, floor))
        return only(Cell("DBLP", "ours", PF, OURS, beside=OURS, target=target), one)["verdict"]

    assert state(Target("≥", 0.9), 0.9) == "met"
    assert state(Target(">", 0.9), 0.9) == "missed"
    assert state(Target("≤", 2.0, of="floor"), 1.5) == "met"
    assert state(Target("≤", 2.0, of="floor"), 1.51) == "missed"
    assert state(Target("≤", 2.0, of="floor"), 1.51, floor=0.0) == "not judged"  # of nothing a multiple
    assert state(Target("≤", 2.0, of="floor"), 1.51, floor=-0.1) == "not judged"
    assert state(Target(">", 1.0, of="real_subgraphs"), 0.51) == "met"  # these have a half
    assert state(Target(">", 1.0, of="real_subgraphs"), 0.5) == "missed"
    assert state(Target(">", 1.0, of="real_subgraphs", most=0.5), 0.5) == "not judged"  # nothing is above
    assert state(Target(">", 1.0, of="shuffled_rows"), 0.5) == "not judged"  # not measured
    assert [state(Target("≥", 0.4, most=0.6), pf) for pf in (0.3, 0.4, 0.6, 0.7)] == ["missed", "met", "met", "missed"]


def test_of_classes_the_lowest_counts_where_the_figure_says_so() -> None:
    assert only(Cell("DBLP", "ours", CONTRAST, OURS), run(OURS, 0, 0.75))["ours"]["mean"] == 0.25  # type: ignore[index]


def test_explanations_in_words_are_of_the_first_seed_and_the_class() -> None:
    best = {"0": {"class": "a"}, "1": {"class": "b"}}
    runs = [Run(OURS, "fast", seed, {"best": {**best, "2": {"class": f"seed {seed}"}}}, "abc") for seed in (1, 0)]
    told = (Told("DBLP", "ours", OURS), Told("DBLP", "ours", OURS, 1), Told("DBLP", "rival", RIVAL, 1, model=PAPERS))
    every, one, none = filled(table(told=told), Finished(runs), "fast")["told"]
    assert (every["seed"], every["classes"]["2"]["class"]) == (0, "seed 0")
    assert one["classes"] == {"1": {"class": "b"}}
    assert (none["classes"], none["seed"]) == ({}, None)
