"""Claims: judged by the values, by the paper's own comparison and by ours, and undecided within the spread of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dignn.reproduce.claims import Judged, judged
from dignn.reproduce.results_page import results_page
from dignn.reproduce.runs import Run
from dignn.reproduce.setups import Setup
from dignn.reproduce.table_files import Cells
from dignn.reproduce.tally import tally
from reproduce.hand_made_runs import run, tables, timed, values


def verdicts(*runs: Run) -> dict[str, str]:
    """The verdict on each claim, without the remark that it rests on single runs, which most do here."""
    return {one.claim.said: text_of(one) for one in judged(Cells(tables(*runs)))}


def text_of(one: Judged) -> str:
    return one.verdict.text.removesuffix(", of single runs")


def state_of(beginning: str, *runs: Run) -> str:
    (found,) = [state for said, state in verdicts(*runs).items() if said.startswith(beginning)]
    return found


def test_claims_are_judged_by_the_values() -> None:
    real = [run(Setup(name), 0, 0.9) for name in ("dblp", "imdb", "mutag")]
    rivals = ("xgnn", "gnninterpreter", "d4explainer")
    above = [run(Setup(name, rival), 0, 0.5) for rival in rivals for name in ("dblp", "imdb", "mutag")]
    said = "PF and GF are above all rivals' on real data sets, all asked about one"
    assert state_of(said, *real) == "not measured"
    assert state_of(said, *real, *above) == "holds"
    assert state_of(said, *real, *above[:3]) == "holds so far"  # two rivals were never run
    assert state_of(said, *real, *above[:-1]) == "holds so far"
    assert state_of(said, *real, *above[:2], run(Setup("mutag", "xgnn"), 0, 0.95)) == "holds in 4 of 6"
    assert state_of(said, *real, *(run(Setup(name, "xgnn"), 0, 1.0) for name in ("dblp", "imdb", "mutag"))) == (
        "does not hold"
    )


def judgement(said: str, *runs: Run) -> Judged:
    (found,) = [one for one in judged(Cells(tables(*runs))) if one.claim.said.startswith(said)]
    return found


def by_rule(setup: Setup, seed: int, highest: float, representative: float) -> Run:
    """A run whose GF by the paper's rule is one thing and by ours another."""
    found = run(setup, seed, representative)
    chosen = {"highest": {"gf": highest, "probability": 0.9}, "representative": {"gf": representative}}
    return replace(found, values={**found.values, "selection": chosen})


def test_claims_and_misses_about_gf_are_by_the_papers_rule() -> None:
    """By ours in a claim of its own, for rivals too."""
    ours = by_rule(Setup("tree-grids"), 0, 0.4, 0.95)
    rival = by_rule(Setup("tree-grids", "xgnn"), 0, 0.9, 0.5)
    rival = replace(rival, values={**rival.values, "candidates": values(0.5)["candidates"]})
    said = "GF is above all rivals' on synthetic data sets, all asked about one"
    assert text_of(judgement(said, ours, rival)) == "does not hold"
    assert text_of(judgement("GF is above all rivals' on all data sets", ours, rival)) == "holds so far"
    page = results_page(tables(ours, rival))
    assert "- Table 3, Tree-Grids, DiGNNExplainer, GF: 0.400, the paper 0.893" in page
    assert "| DiGNNExplainer, representative |  |  |  | 0.950 | 1 | abc |" in page


def test_the_papers_own_comparison_is_judged_beside_that_of_one_model() -> None:
    said = "GF is above all rivals' on synthetic data sets"
    weak = [run(Setup("tree-grids", form="paper"), 0, 0.9), run(Setup("tree-grids", "xgnn", "paper"), 0, 0.5)]
    strong = [run(Setup("tree-grids"), 0, 0.4), run(Setup("tree-grids", "xgnn"), 0, 0.5)]
    found = {claim: state for claim, state in verdicts(*weak, *strong).items() if claim.startswith(said)}
    assert found == {
        f"{said}, as the paper compares": "holds so far",
        f"{said}, all asked about one strong model": "does not hold",
    }
    whose = {one.claim.said: one.claim.whose for one in judged(Cells(tables()))}
    assert [whose[claim] for claim in found] == ["the paper", "ours"]


def test_what_lies_within_the_spread_of_runs_is_undecided() -> None:
    ours = [run(Setup("tree-grids"), seed, gf) for seed, gf in enumerate((0.6, 0.8))]
    said = "GF is above all rivals' on synthetic data sets, all asked"
    for rival, state in ((0.65, "undecided"), (0.75, "undecided"), (0.5, "holds so far"), (0.9, "does not hold")):
        found = judgement(said, *ours, run(Setup("tree-grids", "xgnn"), 0, rival))
        assert text_of(found) == state
    near = judgement(said, *ours, run(Setup("tree-grids", "xgnn"), 0, 0.65))
    assert "undecided GF on Tree-Grids (0.700 ± 0.141 beside 0.650 of XGNN)" in near.figures
    alone = judgement(said, ours[0], run(Setup("tree-grids", "xgnn"), 0, 0.65))
    assert alone.verdict.text == "does not hold"  # of a single run no spread is known


def test_a_claim_that_holds_in_part_says_in_how_many() -> None:
    ours = [run(Setup(name), 0, 0.9) for name in ("tree-grids", "tree-cycle", "ba-shapes")]
    above = [run(Setup("tree-grids", "xgnn"), 0, 0.5), run(Setup("tree-cycle", "xgnn"), 0, 0.95)]
    said = "GF is above all rivals' on synthetic data sets, all asked"
    assert text_of(judgement(said, *ours, *above)) == "holds in 1 of 2"
    near = [run(Setup("ba-shapes", "xgnn"), seed, gf) for seed, gf in enumerate((0.6, 1.0))]
    assert text_of(judgement(said, *ours, *above, *near)) == "holds in 1 of 3, 1 undecided"


def test_margins_are_in_the_words_of_claims() -> None:
    said = [one.claim.said for one in judged(Cells(tables()))]
    assert sum("at least 0.05" in one for one in said) == 3
    assert any("at most 2 times" in one for one in said)
    assert any("within 0.05" in one for one in said)


def test_columns_by_frequency_give_about_the_same() -> None:
    said = "PF and GF are about the same, within 0.05"
    way, other = Setup("imdb", columns=("movie=10",)), Setup("imdb", columns=("movie=10",), by="frequency")
    assert text_of(judgement(said, run(way, 0, 0.9), run(other, 0, 0.94))) == "holds so far"
    assert text_of(judgement(said, run(way, 0, 0.9), run(other, 0, 0.84))) == "does not hold"
    assert judgement(said, run(Setup("imdb"), 0, 0.9)).verdict.text == "not measured"  # all columns: one run


def test_other_claims_of_the_paper_are_judged() -> None:
    def stages(training: float) -> Run:
        return Run(Setup("dblp"), "fast", 0, {"timings": {"FFS": 1.0, "GGT": training, "NFGT": 5.0, "WALL": 9.0}})

    assert text_of(judgement("Training the generator of graphs", stages(6.0))) == "holds so far"
    assert text_of(judgement("Training the generator of graphs", stages(4.0))) == "does not hold"
    vae = Setup("imdb", "graphvae")
    assert text_of(judgement("The VAE loses", run(Setup("imdb"), 0, 0.9), run(vae, 0, 0.8))) == "holds so far"
    assert text_of(judgement("The VAE loses", run(Setup("imdb"), 0, 0.9), run(vae, 0, 0.88))) == "does not hold"
    edges = ("structure", "edge-diffusion")
    connected = {"validity": {"connected": 1500}}
    one = Run(Setup("imdb", changes=(edges,)), "fast", 0, connected)
    per_size = Setup("imdb", changes=(edges, ("edge_diffusion.one_model_per_size", True)))
    for valid, state in ((1510, "holds so far"), (1490, "does not hold")):
        other = Run(per_size, "fast", 0, {"validity": {"connected": valid}})
        assert text_of(judgement("One model for several sizes makes more", one, other)) == state


def sure(mean: float | None = None, classes: Sequence[float] = (), seed: int = 0) -> Run:
    """A run of the case study: the mean probability by the paper's rule, and that of each class by ours."""
    words = dict.fromkeys(("class", "composition", "text"), "") | {"edges": 9, "keywords": [], "continuous": {}}
    best = {str(number): {**words, "nodes": 9, "probability": one} for number, one in enumerate(classes)}
    told = {} if mean is None else {"selection": {"highest": {"probability": mean}}}
    return Run(Setup("dblp", columns=("author=50", "paper=50")), "fast", seed, {**told, "best": best})


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (sure(0.98, (0.98, 0.96, 0.98, 0.99)), "holds"),  # no class is below
        (sure(None, (0.98, 0.96, 0.98, 0.99)), "holds"),
        (sure(0.98, (0.98, 0.90, 0.98, 0.99)), "undecided"),  # ours may be less sure than the paper's rule
        (sure(None, (0.98, 0.90, 0.98, 0.99)), "undecided"),
        (sure(0.98, (0.98, 0.96)), "undecided"),  # two classes are not told
        (sure(0.99), "holds"),  # none can be below
        (sure(0.98), "undecided"),  # one may have .92
        (sure(0.94), "does not hold"),  # some class is below
        (sure(0.94, (0.94, 0.90, 0.93, 0.94)), "does not hold"),
        (sure(), "not measured"),
    ],
)
def test_the_case_study_is_judged_by_its_lowest_class(one: Run, kind: str) -> None:
    assert judgement("In the case study", one).verdict.kind == kind


def test_where_nothing_is_refuted_and_something_undecided_a_claim_is_open() -> None:
    synthetic = ("tree-grids", "tree-cycle")
    ours = [run(Setup(name), seed, gf) for name in synthetic for seed, gf in enumerate((0.6, 0.8))]
    rivals = [run(Setup(name, "xgnn"), 0, gf) for name, gf in zip(synthetic, (0.5, 0.65), strict=True)]
    found = judgement("GF is above all rivals' on synthetic data sets, all asked", *ours, *rivals)
    assert found.verdict == ("undecided", "undecided, holds in 1 of 2")
    (counted,) = [line for line in tally({}, [found]) if line.startswith("Of our own 1 ")]
    assert counted.endswith("0 hold, 0 hold in part, 0 do not hold, 1 is open (undecided, or not measured).")


def test_what_holds_of_single_runs_says_so() -> None:
    def verdict(seeds: int, seeds_of_rival: int) -> tuple[str, str]:
        ours = [run(Setup("tree-grids"), seed, 0.8) for seed in range(seeds)]
        rivals = [run(Setup("tree-grids", "xgnn"), seed, 0.5) for seed in range(seeds_of_rival)]
        return judgement("GF is above all rivals' on synthetic data sets, all asked", *ours, *rivals).verdict

    assert verdict(1, 1) == ("holds so far", "holds so far, of single runs")
    assert verdict(2, 1) == verdict(1, 2) == ("holds so far", "holds so far")
    alone, several = ([sure(0.99, seed=seed) for seed in range(number)] for number in (1, 2))
    found = judgement("In the case study", *alone)
    assert found.verdict.text == "holds, of single runs"
    assert "1 claims 1 holds (1 of single runs), " in tally({}, [found])[0]
    assert judgement("In the case study", *several).verdict.text == "holds"
    assert "holds of single runs." in results_page(tables())


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
    judgements = {one.claim.said: one.figures for one in judged(Cells(tables(run(Setup("imdb"), 0, 0.01))))}
    (found,) = [figures for said, figures in judgements.items() if said.startswith("More cosine")]
    assert found.startswith("1 of 1 comparisons (14 more without a run)")


def test_more_cosine_than_real_rows_have_is_no_realism() -> None:
    """The paper's value of DBLP with 50 columns, .229, beside a floor below and above it."""
    fifty = Setup("dblp", columns=("author=50", "paper=50"))
    low, high = ({**run(fifty, 0, 0.2).values, "floor": {"paper": {"cosine": real}}} for real in (0.15, 0.3))
    assert state_of("More cosine", Run(fifty, "fast", 0, low)) == "does not hold"
    assert state_of("More cosine", Run(fifty, "fast", 0, high)) == "holds so far"
