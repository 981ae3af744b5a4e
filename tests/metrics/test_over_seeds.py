"""Means and spreads over seeds, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from dignn.metrics.over_seeds import (
    COMPARED_FIGURES,
    PREDICTED,
    SAME_RULE_FIGURES,
    ComparedFigure,
    PlantedFigure,
    by_row,
    mean_and_spread,
    over_seeds,
    shown_figures,
)


def a_run(seed: int = 0, pf: float | None = 0.5, *names: str, **changed: Any) -> dict[str, Any]:
    column = {
        "paper": {"pf": pf, "mmd": {"degree": 0.1, "spectral": 0.3}},
        "sound": {"contrast": None, "planted": None},
    }
    costs = {"seconds": 2.0, "gib": 1.0, "scored": 100}
    return {"names": list(names or ("one",)), "seed": seed, **column, **costs, "candidates": column, **changed}


def test_means_and_standard_deviations_have_the_shape_of_the_metrics() -> None:
    found = over_seeds([a_run(0, 0.2, seconds=1.0), a_run(1, 0.4, seconds=2.0), a_run(2, 0.9, seconds=6.0)])
    assert found["paper"]["pf"] == pytest.approx(0.5)
    assert found["spread"]["paper"]["pf"] == pytest.approx((0.26 / 2) ** 0.5)  # 0.09 + 0.01 + 0.16, over 3 - 1
    assert found["candidates"]["paper"]["pf"] == pytest.approx(0.5)
    assert found["seconds"] == pytest.approx(3.0)
    assert found["spread"]["seconds"] == pytest.approx(7.0**0.5)
    assert found["spread"]["paper"]["mmd"] == {"degree": pytest.approx(0), "spectral": pytest.approx(0)}
    assert found["sound"] == found["spread"]["sound"] == {"contrast": None, "planted": None}
    assert found["seeds"] == [0, 1, 2]


def test_a_seed_without_a_figure_does_not_count_for_it() -> None:
    contrast = {"sound": {"contrast": {"a": 0.4, "b": None}}}
    found = over_seeds([a_run(0, None), a_run(1, 0.8, **contrast)])
    assert found["paper"]["pf"] == 0.8
    assert found["spread"]["paper"]["pf"] is None  # of one value nobody knows
    assert found["sound"]["contrast"] == {"a": 0.4, "b": None}


def test_a_figure_is_the_mean_of_what_stands_at_its_place() -> None:
    distance = ComparedFigure("MMD", ("paper", "mmd"))
    assert distance.of(a_run()) == pytest.approx(0.2)
    assert ComparedFigure("none", ("paper", "pf", "deeper")).of(a_run()) is None
    assert mean_and_spread([a_run(0, 0.2), a_run(1, 0.4)], PREDICTED) == (pytest.approx(0.3), pytest.approx(0.02**0.5))
    assert mean_and_spread([a_run(0, None)], PREDICTED) == (None, None)


def test_a_run_may_count_for_two_rows_and_the_last_of_a_seed_counts() -> None:
    rows = by_row([a_run(0, 0.1), a_run(1, 0.2, "one", "one-common"), a_run(0, 0.3), a_run(0, 0.4, "other")])
    assert {name: [run["paper"]["pf"] for run in runs] for name, runs in rows.items()} == {
        "one": [0.3, 0.2],
        "one-common": [0.2],
        "other": [0.4],
    }


def test_what_no_row_has_is_not_shown() -> None:
    titles = [figure.title for figure in shown_figures({"one": [a_run()]})]
    assert titles == ["PF", "MMD", "seconds", "GiB", "scored"]
    assert len({figure.title for figure in COMPARED_FIGURES}) == len(COMPARED_FIGURES)


def test_what_was_planted_is_told_by_motifs_and_keywords() -> None:
    """Nothing found is nothing right; a class without keywords does not count for them; ``mean`` is no class."""
    nothing = dict.fromkeys(("keyword_recall", "keyword_precision"))
    planted = {
        "mean": {"motif_recall": 0.9, "motif_precision": 0.9, **nothing},
        "a": {"motif_recall": 0.5, "motif_precision": 0.75, "keyword_recall": 0.25, "keyword_precision": 0.5},
        "b": {"motif_recall": 0.0, "motif_precision": None, **nothing},
    }
    run = a_run(candidates={"sound": {"planted": planted}})
    motifs, keywords = (figure for figure in COMPARED_FIGURES if figure.title.startswith("planted"))
    assert motifs.of(run) == pytest.approx(((0.5 + 0.75) / 2 + 0.0) / 2)
    assert keywords.of(run) == pytest.approx(0.375)
    precision = PlantedFigure("motif precision", motifs.path, parts=("motif_precision",))
    assert precision.of(run) == pytest.approx(0.375)
    assert motifs.of(a_run()) is None
    unknown = a_run(candidates={"sound": {"planted": {"a": nothing}}})
    assert keywords.of(unknown) is None


def test_one_rule_for_all_is_read_from_what_it_would_choose() -> None:
    """Whatever rule the method itself goes by; older lines do not tell."""
    planted = {"a": {"motif_recall": 1.0, "motif_precision": 0.5}}
    by_highest = {"gf": 0.2, "typed_gf": 0.1, "coverage": 0.3, "contrast": {"a": -0.1, "b": 0.3}, "planted": planted}
    run = a_run(selection={"highest": by_highest, "representative": {**by_highest, "gf": 0.9}})
    titles = [figure.title for figure in SAME_RULE_FIGURES]
    assert titles[:2] == ["GF, highest", "GF, representative"]
    assert {figure.better for figure in SAME_RULE_FIGURES} == {"higher"}
    found = {figure.title: figure.of(run) for figure in SAME_RULE_FIGURES}
    assert found["GF, highest"] == 0.2
    assert found["GF, representative"] == 0.9
    assert found["contrast, highest"] == pytest.approx(0.1)
    assert found["planted motifs, highest"] == pytest.approx(0.75)
    assert over_seeds([run])["selection"]["highest"]["gf"] == 0.2
    assert shown_figures({"one": [a_run()]}, SAME_RULE_FIGURES) == []
    assert over_seeds([a_run()])["selection"] is None
