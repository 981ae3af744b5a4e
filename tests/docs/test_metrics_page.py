"""The page on metrics explains every figure that people meet."""

from __future__ import annotations

import pytest

from dignn.metrics.judging import Judge
from dignn.metrics.metric import all_metrics
from docs.blocks import ROOT

FIGURES = [(metric.figure_path(figure), figure) for metric in all_metrics() for figure in metric.figures]
JUDGES = {path: figure.judge for path, figure in FIGURES if figure.judge is not None}
PAGE = (ROOT / "docs" / "metrics.md").read_text()
NOISE = {"random_trees": 0.9, "column_noise": 0.9}
# What the table of the page calls good: a value that just is, and one that just is not, where real graphs score .4.
GOOD = {
    ".98 or more": (0.98, 0.97),
    "at most twice the floor, give or take chance, and nearer than random trees "
    "(at most 1.25 times: whatever they score)": (0.8, 0.82),
    ".6 or less, or no higher than real graphs from real graphs, and below random trees; "
    "only where real graphs are told apart at .35 to .65": (0.6, 0.65),
    ".6 or less, or no higher than real rows from real rows, and below noise; "
    "only where real rows are told apart at .35 to .65": (0.6, 0.65),
    "as often as held-out graphs are, or more often": (0.4, 0.3),
    "as varied as real graphs, or more": (0.4, 0.3),
    "at most 1.25 times the floor, and clearly below noise": (0.5, 0.51),
    "at most .05 above the floor": (0.44, 0.46),
    ".95 or more, and random trees and noise are below it (fair without controls)": (0.95, 0.94),
    "as high as for the surest real members, give or take .02": (0.39, 0.37),
    ".05 above the floor or more, or 1": (0.46, 0.44),
    "no lower than that of ten random real graphs": (0.4, 0.3),
    "above .05, and at least half of what real members show": (0.2, 0.19),
    ".9 or more": (0.9, 0.89),
}


def test_the_table_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every figure that is declared is explained."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.metric_table import table

    assert table() in PAGE, "run `python -m benchmarks.metric_table --table`"
    assert len(FIGURES) > 20


@pytest.mark.parametrize(("path", "judge"), JUDGES.items())
def test_what_the_page_calls_good_the_report_calls_good(path: str, judge: Judge) -> None:
    good, other = GOOD[next(figure.good for known, figure in FIGURES if known == path)]
    assert judge(good, 0.4, NOISE).level == "good"
    assert judge(other, 0.4, NOISE).level != "good"


def test_more_than_the_floor_is_good_where_the_page_says_so() -> None:
    for path in ("sound.graphs.novelty", "sound.graphs.uniqueness", "sound.contrast", "sound.coverage", "paper.gf"):
        assert JUDGES[path](1.0, 0.4, NOISE).level == "good"
    assert JUDGES["paper.gf"](1.0, 0.98, NOISE).level == "good"
    assert JUDGES["sound.contrast"](0.04, 0.05, NOISE).level != "good"
    for controls in ({"column_noise": 0.97}, {"random_trees": 0.97}, {}):
        assert JUDGES["paper.pf"](0.97, 0.4, controls).level == "fair"
    assert JUDGES["sound.mmd.degree"](0.7, 0.4, {"random_trees": 0.6}).level != "good"
    assert JUDGES["sound.mmd.degree"](0.5, 0.4, {"random_trees": 0.45}).level == "good"
    for path in ("sound.graphs.c2st", "sound.features.c2st"):
        assert JUDGES[path](0.65, 0.65, NOISE).level == "good"
        assert JUDGES[path](0.65, 0.66, NOISE).level != "good"
        assert JUDGES[path](0.5, 0.34, NOISE).level != "good"


def test_what_noise_reaches_is_not_good_where_the_page_says_so() -> None:
    for name in ("column_error", "pair_error", "row_density", "c2st"):
        assert JUDGES[f"sound.features.{name}"](0.45, 0.4, {"column_noise": 0.45}).level != "good"
    assert JUDGES["sound.graphs.c2st"](0.45, 0.4, {"random_trees": 0.45}).level != "good"
