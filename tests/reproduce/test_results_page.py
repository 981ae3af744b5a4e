"""The page: verdicts first, every miss, then the tables; read from written tables alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dignn.core.errors import DignnError
from dignn.reproduce.claims import judged
from dignn.reproduce.filled import filled
from dignn.reproduce.registry import TABLES
from dignn.reproduce.results_html import results_html
from dignn.reproduce.results_page import results_page
from dignn.reproduce.results_tables import markdown_table, number
from dignn.reproduce.runs import Finished, Run
from dignn.reproduce.setups import Setup
from dignn.reproduce.table_files import Cells, read_tables, write_table
from reproduce.hand_made_runs import run, timed, values

BEST = {
    "class": "mining",
    "probability": 0.99,
    "nodes": 12,
    "edges": 14,
    "composition": "2 author, 10 paper",
    "keywords": ["data", "mining"],
    "continuous": {"term": {"mean": 0.05, "deviation": 0.9, "quantiles": {}}},
    "text": "The model takes it for that.",
}


def tables(*runs: Run) -> dict[str, Any]:
    finished = Finished(runs)
    return {name: filled(one, finished, "fast") for name, one in TABLES.items()}


def verdicts(*runs: Run) -> dict[str, str]:
    return {claim.said: state for claim, state, _ in judged(Cells(tables(*runs)))}


def state_of(beginning: str, *runs: Run) -> str:
    (found,) = [state for said, state in verdicts(*runs).items() if said.startswith(beginning)]
    return found


def test_without_any_run_nothing_is_claimed_and_every_table_is_there() -> None:
    assert set(verdicts().values()) == {"not measured"}
    page = results_page(tables())
    assert page.count("\n## Table ") == 8
    assert "0 of 0 values that have a run and could be one" in page
    assert "0.708" in page  # the paper's value stands where there is no run


def test_claims_are_judged_by_the_values() -> None:
    real = [run(Setup(name), 0, 0.9) for name in ("dblp", "imdb", "mutag")]
    rivals = ("xgnn", "gnninterpreter", "d4explainer")
    above = [run(Setup(name, rival), 0, 0.5) for rival in rivals for name in ("dblp", "imdb", "mutag")]
    said = "PF and GF are above all rivals'"
    assert state_of(said, *real) == "not measured"
    assert state_of(said, *real, *above) == "holds"
    assert state_of(said, *real, *above[:3]) == "holds so far"  # two rivals were never run
    assert state_of(said, *real, *above[:-1]) == "holds so far"
    assert state_of(said, *real, *above[:2], run(Setup("mutag", "xgnn"), 0, 0.95)) == "holds in part"
    assert state_of(said, *real, *(run(Setup(name, "xgnn"), 0, 1.0) for name in ("dblp", "imdb", "mutag"))) == (
        "does not hold"
    )


@pytest.mark.parametrize(("figure", "control"), [("PF", 0.25), ("GF", 0.5)])
def test_what_says_nothing_and_scores_as_high_refutes_a_figure(figure: str, control: float) -> None:
    """Ours are random candidates before refinement, as many as the control has, chosen from by the same rule."""
    said = f"A high {figure} is faithful"
    assert state_of(said, run(Setup("dblp"), 0, control + 0.1)) == "holds so far"
    assert state_of(said, run(Setup("dblp"), 0, control + 0.01)) == "does not hold"
    low = run(Setup("dblp"), 0, control + 0.01)
    refined = replace(low, values={**low.values, "candidates": run(Setup("dblp"), 0, 1.0).values["candidates"]})
    assert state_of(said, refined) == "does not hold"


def test_seconds_compare_only_where_both_were_measured_alike() -> None:
    said, both = "It is faster than D4Explainer", (Setup("imdb"), Setup("imdb", "d4explainer"))
    assert state_of(said, timed(both[0], 0, 9.0), timed(both[1], 0, 10.0)) == "holds so far"
    assert state_of(said, timed(both[0], 0, 11.0), timed(both[1], 0, 10.0)) == "does not hold"
    apart = timed(both[0], 0, 11.0, "def"), timed(both[1], 0, 10.0)
    assert state_of(said, *apart) == "not measured"
    assert "IMDB not comparable, since no runs of both" in results_page(tables(*apart))
    said, large, small = "Its time is about the same", Setup("dblp"), Setup("tree-cycle")
    assert state_of(said, timed(large, 0, 19.0), timed(small, 0, 10.0)) == "holds"
    assert state_of(said, timed(large, 0, 21.0), timed(small, 0, 10.0)) == "does not hold"
    assert state_of(said, timed(large, 0, 19.0), timed(small, 0, 10.0, "def")) == "not measured"


def test_what_is_one_run_and_one_value_of_the_paper_is_judged_once() -> None:
    """All columns of IMDB, which the paper has by variance and by frequency."""
    judgements = {claim.said: figures for claim, _, figures in judged(Cells(tables(run(Setup("imdb"), 0, 0.01))))}
    (found,) = [figures for said, figures in judgements.items() if said.startswith("More cosine")]
    assert found.startswith("1 of 1 comparisons (14 more without a run)")


def test_more_cosine_than_real_rows_have_is_no_realism() -> None:
    """The paper's value of DBLP with 50 columns, .229, beside a floor below and above it."""
    fifty = Setup("dblp", columns=("author=50", "paper=50"))
    low, high = ({**run(fifty, 0, 0.2).values, "floor": {"paper": {"cosine": real}}} for real in (0.15, 0.3))
    assert state_of("More cosine", Run(fifty, "fast", 0, low)) == "does not hold"
    assert state_of("More cosine", Run(fifty, "fast", 0, high)) == "holds so far"


def test_misses_come_before_the_tables_and_are_bold_there() -> None:
    page = results_page(tables(run(Setup("mutag"), 0, 0.3), run(Setup("mutag", "xgnn"), 0, 0.3)))
    first, rest = page.split("## Table 1", 1)
    assert "- Table 3, MUTAG, DiGNNExplainer, PF: 0.300, the paper 1.000" in first
    assert "**0.300**" in rest
    assert "XGNN, PF" not in first  # a rival that is worse than in the paper is no miss of ours
    assert first.index("What holds") < first.index("Every miss") < first.index("What was not run")


def test_the_page_says_how_many_values_are_of_a_single_run() -> None:
    def number_of_values(*runs: Run) -> int:
        return sum(cell["ours"] is not None for table in tables(*runs).values() for cell in table["cells"])

    two, one = [run(Setup("mutag"), seed, 0.9) for seed in (0, 1)], run(Setup("imdb", "xgnn"), 0, 0.9)
    alone, every = number_of_values(one), number_of_values(one, *two)
    assert f"{alone} of {every} values are of a single run" in results_page(tables(one, *two))
    assert "Every value is of 2 or more runs." in results_page(tables(*two))
    assert "There are no runs yet." in results_page(tables())


def test_what_does_not_apply_is_not_counted() -> None:
    page = results_page(tables(run(Setup("mutag"), 0, 0.9)))
    row = next(
        line for line in page.split("### MUTAG, without a generator")[1].splitlines() if "dignnexplainer" in line
    )
    assert " - |" in row  # a figure that this run lacks
    assert row.endswith("| 1 | abc |")
    _, counted = page.split("| What the paper does not report | ")[1].split(" |")[0].split(" of ")
    assert int(counted) < len(TABLES["extras"].cells)


def test_other_values_that_are_worse_than_the_papers_are_listed_apart() -> None:
    weak, fewer = run(Setup("mutag", form="paper"), 0, 0.3), run(Setup("imdb", columns=("movie=10",)), 0, 0.5)
    rival = run(Setup("imdb", "graphvae", columns=()), 0, 0.1)
    page = results_page(tables(weak, fewer, rival, run(Setup("imdb"), 0, 0.5)))
    missed, worse = page.split("## Table 1")[0].split("### Worse than the paper's, and no miss")
    assert "- Table 3, MUTAG, DiGNNExplainer-GCN, PF, paper's model: 0.300, the paper 1.000" in worse
    assert "- Table 2, IMDB, by variance, DiTabDDPM (10), PF: 0.500, the paper 0.924" in worse
    assert worse.count("DiTabDDPM (3066), PF") == 1  # one run, one value of the paper
    assert "VAE" not in worse
    assert "- Table 3, IMDB, DiGNNExplainer, PF: 0.500" in missed
    assert "Table 3, IMDB, DiGNNExplainer, PF:" not in worse


def test_values_whose_target_is_a_multiple_of_nothing_are_named() -> None:
    page = results_page(tables(Run(Setup("mutag"), "fast", 0, values(0.1, floor=-0.001))))
    apart = page.split("### What was not judged")[1].split("###")[0]
    assert apart.strip().startswith("2 values.")
    assert "- ours, Realism of structure, MUTAG, distance of degrees: 0.1000, floor -0.0010" in apart
    assert "What was not judged" not in results_page(tables(run(Setup("mutag"), 0, 0.1)))


def test_weak_models_miss_nothing() -> None:
    page = results_page(tables(run(Setup("mutag", form="paper"), 0, 0.3)))
    assert "DiGNNExplainer, PF" not in page.split("## Table 1")[0]
    assert "DiGNNExplainer, paper's model" in page


def test_a_cell_shows_mean_and_spread_and_a_row_runs_and_commits() -> None:
    page = results_page(tables(run(Setup("mutag"), 0, 0.9, "abc"), run(Setup("mutag"), 1, 1.0, None)))
    assert "| DiGNNExplainer | 1.000 | **0.950 ± 0.071** | 0.425 | 0.950 ± 0.071 | 2 | abc, not noted |" in page


def test_explanations_are_told_in_words() -> None:
    page = results_page(tables(Run(Setup("mutag"), "fast", 0, {"best": {"0": {**BEST, "class": "no"}, "1": BEST}})))
    words = page.split("### Explanations in words")[1]
    assert (
        "- *mining* (0.990): 12 nodes (2 author, 10 paper), 14 edges. Its own features include data, mining." in words
    )
    assert "mean 0.050, deviation 0.900" in words
    assert "*no*" not in words  # of every data set class 1 is shown
    assert "![The best explanation of each class of MUTAG](images/explanations-mutag.png)" in words
    assert "Not run: " in words


def test_written_tables_come_back(tmp_path: Path) -> None:
    written = tables(run(Setup("mutag"), 0, 0.9))
    for name in ("table3", "table1"):
        write_table(tmp_path, written[name])
    found = read_tables(tmp_path)
    assert list(found) == ["table1", "table3"]
    assert found["table3"] == written["table3"]
    assert "the table was not written" in results_page(found)
    lines = (tmp_path / "table3.json").read_text().splitlines()
    assert sum(line.startswith('  {"group"') for line in lines) == len(written["table3"]["cells"])


@pytest.mark.parametrize("content", ['{"format": "dignn.Table.0", "cells": [], "told": []}', "{", "[]"])
def test_a_damaged_table_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "table3.json").write_text(content)
    with pytest.raises(DignnError, match="dignn reproduce table3"):
        read_tables(tmp_path)


def test_the_page_with_plots_shows_ours_beside_the_paper_and_needs_nothing_else() -> None:
    page = results_html(tables(run(Setup("mutag"), 0, 0.3), run(Setup("mutag", "xgnn"), 0, 0.2)))
    assert "<b>DiGNNExplainer: PF, missed</b>" in page
    assert "ours 0.3, real graphs 0.75, the paper 1, XGNN 0.2." in page.replace(".000", "")
    assert page.index("What holds, and what does not") < page.index("Every miss") < page.index("Table 1:")
    assert "<li>Table 3, MUTAG, DiGNNExplainer, PF: 0.300, the paper 1.000</li>" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_numbers_say_what_is_almost_nothing() -> None:
    assert number(0.00004, 3) == "0.00004"
    assert number(-0.0, 3) == "0.000"
    assert number(1536.0, 0) == "1,536"
    assert number(8.0, 1) == "8"
    assert number(0.28456, 3) == "0.285"


def test_what_stands_in_a_cell_does_not_end_it() -> None:
    assert markdown_table(["a"], [["b|c"]]).splitlines()[2] == "| b/c |"
