"""The page: verdicts first, every miss, then the tables; read from written tables alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from dignn.core.errors import DignnError
from dignn.reproduce.claims import judged
from dignn.reproduce.misses import WHAT_MISSES_ARE, WHY_UNJUDGED
from dignn.reproduce.registry import TABLES
from dignn.reproduce.results_html import results_html
from dignn.reproduce.results_page import results_page
from dignn.reproduce.results_tables import markdown_table, number, told_apart
from dignn.reproduce.runs import Run
from dignn.reproduce.setups import Setup
from dignn.reproduce.table_files import Cells, read_tables, write_table
from dignn.reproduce.verdicts import WHAT_VERDICTS_ARE
from reproduce.hand_made_runs import run, tables, values

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


def test_without_any_run_nothing_is_claimed_and_every_table_is_there() -> None:
    assert {one.verdict.text for one in judged(Cells(tables()))} == {"not measured"}
    page = results_page(tables())
    assert page.count("\n## Table ") == 8
    assert "0 of 0 values that have a run and could be one" in page
    assert "0.708" in page  # the paper's value stands where there is no run


def test_numbers_that_would_print_alike_get_digits() -> None:
    page = results_page(tables(run(Setup("planted"), 0, 0.5), Run(Setup("dblp"), "fast", 0, values(0.00142, 0.0007))))
    assert "DBLP, distance of degrees: 0.00142, to be ≤ 0.00140, floor 0.0007" in page
    assert told_apart(0.00142, 0.00137, 4) == ("0.00142", "0.00137")
    assert told_apart(0.5, 0.5, 3) == ("0.500", "0.500")
    assert told_apart(0.5, 0.75, 3) == ("0.500", "0.750")


def test_the_page_begins_with_a_tally() -> None:
    page = results_page(tables(run(Setup("mutag"), 0, 0.3), run(Setup("mutag", "xgnn"), 0, 0.2)))
    first = page.split("## What holds")[0]
    assert "- Of the paper's 18 claims " in first
    assert "- Of our own 11 claims " in first
    assert "values with the strong models in Tables 1, 3 and 5, 2 of " in first
    assert " targets " in first
    assert len(first) < 1500
    parts = ["## What holds", "## Every miss", "## The figures behind each claim", "## How to read", "## Table 1:"]
    assert [page.index(part) for part in parts] == sorted(page.index(part) for part in parts)
    verdicts_alone = page.split("## What holds")[1].split("## Every miss")[0]
    assert "comparisons" not in verdicts_alone


def test_a_tables_tally_counts_our_rows_and_a_run_once() -> None:
    """IMDB with all columns stands in two groups; TabDDPM and the VAE are not ours."""
    threshold = (("features", "tabddpm"), ("tabddpm.discrete", "threshold"))
    rivals = run(Setup("imdb", changes=threshold), 0, 0.95), run(Setup("imdb", "graphvae"), 0, 0.95)
    page = results_page(tables(run(Setup("imdb"), 0, 0.97), *rivals))
    said = page.split("## Table 2")[1].split("Of our method's values with the strong models, ")[1].split(" The ")[0]
    assert said == "3 of 45 are better than the paper's, 0 equal, 0 worse, 42 not run."


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
    missed, worse = page.split("## The figures behind each claim")[0].split("### Worse than the paper's, and no miss")
    assert "- Table 3, MUTAG, DiGNNExplainer-GCN, PF, paper's model: 0.300, the paper 1.000" in worse
    assert "- Table 2, IMDB, by variance, DiTabDDPM (10), PF: 0.500, the paper 0.924" in worse
    assert worse.count("DiTabDDPM (3066), PF") == 1  # one run, one value of the paper
    assert "VAE" not in worse
    assert "- Table 3, IMDB, DiGNNExplainer, PF: 0.500" in missed
    assert "Table 3, IMDB, DiGNNExplainer, PF:" not in worse


def test_values_whose_target_is_a_multiple_of_nothing_are_named() -> None:
    page = results_page(tables(Run(Setup("mutag"), "fast", 0, values(0.1, floor=-0.001))))
    apart = page.split("### What was not judged")[1].split("###")[0]
    assert apart.strip().startswith("1 value. ")
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


Damage = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda table: table.pop("binding"), "it lacks binding"),
        (lambda table: table.update(binding="no"), "binding of it is of another kind"),
        (lambda table: table["cells"].pop(), "it lacks 1 of its cells, such as IMDB, by frequency, "),
        (lambda table: table["cells"][0].pop("figure"), "a cell lacks figure"),
        (lambda table: table["cells"].append(3), "a cell is no object"),
        (lambda table: table["cells"].append(table["cells"][0]), "it has a cell twice: DBLP, by variance, "),
        (lambda table: table.update(cells={}), "cells of it is of another kind"),
        (lambda table: table.update(sentences=[1]), "sentences of it are no texts"),
        (lambda table: table["cells"][0]["paper"].pop("value"), "paper of DBLP, by variance, .* lacks value"),
        (lambda table: table["cells"][0].update(ours={"mean": "0.9"}), "mean of ours of DBLP, by variance, "),
        (lambda table: table["cells"][0]["controls"].update(column_noise="x"), "column_noise of controls of DBLP"),
        (lambda table: table["told"].append({}), "an explanation in words lacks group"),
    ],
)
def test_a_table_that_lacks_something_is_refused(tmp_path: Path, damage: Damage, told: str) -> None:
    content = json.loads(json.dumps(tables(run(Setup("imdb"), 0, 0.9))["table2"]))
    damage(content)
    (tmp_path / "table2.json").write_text(json.dumps(content))
    with pytest.raises(DignnError, match=told) as refused:
        read_tables(tmp_path)
    assert "table2.json is damaged" in str(refused.value)
    assert "delete it, and `dignn reproduce table2` writes it again" in str(refused.value)


@pytest.mark.parametrize("content", ['{"format": "dignn.Table.0", "cells": [], "told": []}', "{", "[]"])
def test_a_damaged_table_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "table3.json").write_text(content)
    with pytest.raises(DignnError, match="dignn reproduce table3"):
        read_tables(tmp_path)


def test_the_page_with_plots_shows_ours_beside_the_paper_and_needs_nothing_else() -> None:
    page = results_html(tables(run(Setup("mutag"), 0, 0.3), run(Setup("mutag", "xgnn"), 0, 0.2)))
    assert "<b>DiGNNExplainer: PF 0.300 (1 run), missed</b>" in page
    assert "ours 0.3, real graphs 0.75, the paper 1, XGNN 0.2." in page.replace(".000", "")
    assert page.index("What holds, and what does not") < page.index("Every miss") < page.index("Table 1:")
    assert "<li>Table 3, MUTAG, DiGNNExplainer, PF: 0.300, the paper 1.000</li>" in page
    assert "Of the paper&#39;s" in page.split("What holds, and what does not")[0]  # how many claims hold, first of all
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_the_page_with_plots_shows_what_stands_beside_each_other_and_how_far_runs_spread() -> None:
    on = [run(Setup("dblp"), seed, value) for seed, value in enumerate((0.4, 0.6))]
    off = run(Setup("dblp", changes=(("refined", 0.0),)), 0, 0.3)
    page = results_html(tables(*on, off))
    assert "DBLP: typed GF: ● on 0.500 ± 0.141 (2 runs), □ off 0.300 (1 run)" in page
    assert "DBLP: GF: ● representative 0.500 ± 0.141 (2 runs), □ highest 0.500 ± 0.141 (2 runs)" in page
    covering = {"details": {"coverage": {"mean": {"1": 0.1, "10": 0.4}}}}
    page = results_html(tables(Run(Setup("dblp"), "fast", 0, covering)))
    assert "DBLP: ● coverage of 1 0.100 (1 run), □ coverage of 10 0.400 (1 run)" in page
    assert "DBLP: coverage of 10" not in page  # a value alone says nothing


def test_both_pages_say_the_same_of_verdicts_and_misses() -> None:
    written = tables(Run(Setup("mutag"), "fast", 0, values(0.1, floor=-0.001)))
    html, markdown = unescape(results_html(written)), results_page(written)
    for said in (WHAT_MISSES_ARE, WHY_UNJUDGED, WHAT_VERDICTS_ARE):
        assert said in html
        assert said in markdown
    assert "Misses are bold in the tables." in markdown
    assert "Misses are bold in the tables." not in html
    assert "because real graphs score nothing" not in html
    assert "that the paper's rule chooses" in WHAT_MISSES_ARE
    assert "distances in Table 1 of those that each method's own rule chooses (ours: representative)" in WHAT_MISSES_ARE


def test_a_tally_has_one_and_several() -> None:
    page = results_page(tables(*(run(Setup(name), 0, 0.9) for name in ("dblp", "tree-cycle"))))
    first = page.split("## What holds")[0]
    assert not re.search(r"\b1 (hold|do|are|have)\b", first)
    assert re.search(r"\b1 (holds|does|is|has)\b", first)


def test_each_rival_has_a_mark_of_its_own() -> None:
    few, columns = Setup("imdb", columns=("movie=10",)), ("movie=10",)
    threshold = (("features", "tabddpm"), ("tabddpm.discrete", "threshold"))
    rivals = [Setup("imdb", columns=columns, changes=threshold), Setup("imdb", columns=("movie=5",), changes=threshold)]
    page = results_html(tables(run(few, 0, 0.9), *(run(one, 0, 0.8) for one in rivals)))
    assert "TabDDPM (10) 0.8" in page
    assert "TabDDPM (5)" not in page  # of other columns
    legend = page.split('class="legend"')[1].split("</ul>")[0]
    for name in ("XGNN", "GNNInterpreter", "D4Explainer", "VAE"):
        assert legend.count(name) == 1
    assert legend.count("<li>") == 7


def test_numbers_say_what_is_almost_nothing() -> None:
    assert number(0.00004, 3) == "0.00004"
    assert number(-0.0, 3) == "0.000"
    assert number(1536.0, 0) == "1,536"
    assert number(8.0, 1) == "8"
    assert number(0.28456, 3) == "0.285"


def test_what_stands_in_a_cell_does_not_end_it() -> None:
    assert markdown_table(["a"], [["b|c"]]).splitlines()[2] == "| b/c |"
