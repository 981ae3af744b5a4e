"""Which runs tables want: each once, those that are there left out, long ones first."""

from __future__ import annotations

import re

import pytest

from dignn.metrics.over_seeds import ComparedFigure
from dignn.reproduce.definition import Cell, Definition, Told
from dignn.reproduce.planning import expected_seconds, unfinished, wanted
from dignn.reproduce.registry import TABLES
from dignn.reproduce.runs import Finished, Run
from dignn.reproduce.setups import Setup
from reproduce.hand_made_runs import run

OURS, RIVAL, OTHER = Setup("dblp"), Setup("dblp", "xgnn"), Setup("imdb")
PF, GGT = ComparedFigure("PF", ("candidates", "paper", "pf")), ComparedFigure("GGT", ("timings", "GGT"))


def table(*cells: Cell, told: tuple[Told, ...] = ()) -> Definition:
    return Definition("it", "It", cells, (), told=told)


def test_a_run_that_serves_several_cells_and_tables_is_wanted_once_with_all_its_parts() -> None:
    one = table(Cell("DBLP", "ours", PF, OURS), Cell("DBLP", "rival", PF, RIVAL, beside=OURS))
    other = table(Cell("DBLP", "ours", GGT, OURS), told=(Told("DBLP", "ours", OURS),))
    found = {(each.setup, each.seed): each.parts for each in wanted([one, other], "fast", 2)}
    shared = {"candidates", "floor", "control", "timings"}
    assert found == {
        (OURS, 0): {*shared, "best"},  # words are of the first seed
        (RIVAL, 0): {"candidates"},
        (OURS, 1): shared,
        (RIVAL, 1): {"candidates"},
    }


def test_what_is_finished_is_left_out_if_it_has_all_parts() -> None:
    every = wanted([table(Cell("DBLP", "ours", PF, OURS), Cell("DBLP", "ours", GGT, OURS))], "fast", 2)
    assert unfinished(every, Finished([run(OURS, 0, 0.5), run(OURS, 1, 0.5)])) == []
    parts = [Run(OURS, "fast", 0, {"candidates": {}}), Run(OURS, "fast", 1, {"timings": {}})]
    assert [one.seed for one in unfinished(every, Finished(parts))] == [0, 1]
    between = [*parts, Run(OURS, "fast", 0, {"timings": {}})]  # two runs have them between them, but only one counts
    assert [one.seed for one in unfinished(every, Finished(between))] == [0, 1]
    assert [one.seed for one in unfinished(every, Finished([run(OURS, 0, 0.5, preset="smoke")]))] == [0, 1]


def test_only_the_data_sets_that_are_asked_for_and_at_most_so_many_seeds() -> None:
    one = table(Cell("DBLP", "ours", PF, OURS, most=1), Cell("IMDB", "ours", PF, OTHER))
    assert [(each.setup, each.seed) for each in wanted([one], "fast", 2)] == [(OURS, 0), (OTHER, 0), (OTHER, 1)]
    assert {each.setup for each in wanted([one], "fast", 2, ["imdb"])} == {OTHER}


def test_what_benchmarks_make_and_presets_that_an_explainer_lacks_are_not_planned() -> None:
    by_benchmark = Cell("DBLP", "ours", PF, Setup("dblp", "scorecards"), made_by="python -m it")
    assert wanted([table(by_benchmark)], "fast", 3) == []
    assert {
        each.setup for each in wanted([table(Cell("a", "b", PF, RIVAL), Cell("a", "c", PF, OURS))], "paper", 1)
    } == {OURS}


def test_first_seeds_come_first_and_of_a_seed_what_takes_longest() -> None:
    one = table(Cell("DBLP", "ours", PF, OURS), Cell("DBLP", "rival", PF, RIVAL))
    long = Run(RIVAL, "fast", 7, {"seconds": 500.0, "timings": {"WALL": 501.0}})
    found = unfinished(wanted([one], "fast", 2), Finished([run(OURS, 7, 0.5), long]))
    assert [(each.seed, each.setup.explainer) for each in found] == [
        *((0, "xgnn"), (0, "dignnexplainer")),
        *((1, "xgnn"), (1, "dignnexplainer")),
    ]


def test_seconds_are_expected_by_the_nearest_runs() -> None:
    finished = Finished([run(OURS, 0, 0.5), Run(RIVAL, "fast", 0, {"seconds": 20.0})])
    asked = [Setup("dblp"), Setup("dblp", columns=("author=2",)), Setup("imdb", "xgnn"), Setup("imdb", "graphvae")]
    every = wanted([table(*(Cell("x", setup.name, PF, setup) for setup in asked))], "fast", 1)
    found = {one.setup: seconds for one, seconds in expected_seconds(every, finished).items()}
    assert found[asked[0]] == found[asked[1]] == pytest.approx(12.0)  # with measuring
    assert found[asked[2]] == pytest.approx(22.0)  # where measuring was not noted, that of others
    assert asked[3] not in found
    assert expected_seconds(wanted([table(Cell("x", "y", PF, OURS))], "smoke", 1), finished) == {}


def test_one_run_serves_several_tables_of_the_paper() -> None:
    alone = [len(wanted([one], "fast", 1)) for one in TABLES.values()]
    together = len(wanted(TABLES.values(), "fast", 1))
    assert together < 0.75 * sum(alone)


def test_runs_have_names_of_their_own() -> None:
    every = wanted(TABLES.values(), "fast", 2)
    assert len({one.title for one in every}) == len(every)
    assert all(re.fullmatch(r"[\w=+.-]+", one.title) for one in every)
