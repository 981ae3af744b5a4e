"""Verdicts and their sum say no more than the figures support."""

from __future__ import annotations

from itertools import product

import pytest

from dignn.metrics.judging import Judge
from dignn.metrics.metric import all_metrics
from dignn.report.trust_summary import FigurePath, Judged, summed_up

# Judges by the path of their figure.
JUDGES: dict[FigurePath, Judge] = {
    ("sound", "contrast", "A") if figure.path == "*" else metric.figure_path(figure): figure.judge
    for metric in all_metrics()
    for figure in metric.figures
    if figure.judge is not None
}
# Words that compare with real graphs, and the names of controls.
REAL = ("real member", "real graph", "real ones are", "real rows are", "other real")
CONTROLS = {"random_trees": "random trees", "column_noise": "noise"}


def judged(path: FigurePath, value: float, floor: float | None, controls: dict[str, float]) -> Judged:
    return Judged(value, floor, JUDGES[path](value, floor, controls))


def summary(*items: tuple[FigurePath, float, float | None]) -> str:
    found = summed_up({path: judged(path, value, floor, {}) for path, value, floor in items})
    return " ".join(f"{level}: {sentence}" for level, sentence in found)


@pytest.mark.parametrize("path", JUDGES)
@pytest.mark.parametrize("value", [0.0, 0.04, 0.3, 0.55, 0.65, 0.75, 0.8, 0.92, 0.97, 1.0])
def test_without_a_floor_nothing_is_said_about_real_graphs(path: FigurePath, value: float) -> None:
    item = judged(path, value, None, {})
    told = item.verdict.text.replace("like real members", "")
    said = " ".join(sentence for _, sentence in summed_up({path: item})).replace("like real members", "")
    for words in (said, told):
        unknown = "not known" in words or "near to" in words  # coverage says itself how many members are near
        assert unknown or not any(real in words for real in REAL), words


@pytest.mark.parametrize("path", JUDGES)
@pytest.mark.parametrize("known", [(), ("random_trees",), ("column_noise",)])
def test_a_control_that_was_not_measured_is_not_spoken_of(path: FigurePath, known: tuple[str, ...]) -> None:
    for value, floor, score in product((0.0, 0.1, 0.4, 0.9, 0.99), (0.0, 0.05, 0.5, 0.98, None), (0.02, 0.6, 0.99)):
        text = JUDGES[path](value, floor, dict.fromkeys(known, score)).text
        named = [name for name, words in CONTROLS.items() if words in text and "not known" not in text]
        assert set(named) <= set(known), text


@pytest.mark.parametrize("path", ["sound.mmd.degree", "sound.features.column_error"])
def test_what_is_no_better_than_a_control_is_poor_unless_as_good_as_real(path: FigurePath) -> None:
    controls = {"random_trees": 0.15, "column_noise": 0.15}
    assert judged(path, 0.18, 0.1, controls).verdict.level == "poor"
    assert judged(path, 0.14, 0.1, controls).verdict.level != "poor"
    assert judged(path, 0.12, 0.1, dict.fromkeys(controls, 0.11)).verdict.level != "poor"


@pytest.mark.parametrize(
    ("path", "value", "floor", "noise", "shuffled"),
    [
        ("sound.features.c2st", 0.867, 0.860, 0.859, 0.769),
        ("sound.features.c2st", 0.794, 0.900, 0.877, 0.819),
        ("sound.features.c2st", 0.497, 0.493, 0.396, 0.493),
        ("sound.features.pair_error", 0.160, 0.142, 0.153, 0.130),
        ("sound.features.column_error", 0.152, 0.140, 0.140, 0.133),
    ],
)
def test_features_are_not_praised_where_noise_does_as_well(
    path: str, value: float, floor: float, noise: float, shuffled: float
) -> None:
    item = judged(path, value, floor, {"column_noise": noise, "shuffled_rows": shuffled})
    assert item.verdict.level == "fair"
    assert not item.verdict.shows
    said = summed_up({"sound.features.c2st": judged("sound.features.c2st", 0.8, 0.9, {}), path: item})
    assert [level for level, _ in said] == ["fair"]
    assert "cannot be judged" in said[0][1]


@pytest.mark.parametrize("path", [path for path in JUDGES if ".features." in path and "memorisation" not in path])
def test_no_figure_of_features_is_good_where_noise_scores_the_same(path: FigurePath) -> None:
    for value, floor in product((0.0, 0.1, 0.3, 0.45, 0.55, 0.62, 0.9), (0.0, 0.1, 0.4, 0.5, 0.62, 0.9, None)):
        assert judged(path, value, floor, {"column_noise": value}).verdict.level != "good"
        real = judged(path, value, floor, {"shuffled_rows": value})  # rows that are real: no sign of anything bad
        assert real == judged(path, value, floor, {})


@pytest.mark.parametrize("path", ["sound.graphs.c2st", "sound.features.c2st"])
def test_a_classifier_that_goes_wrong_on_real_data_judges_nothing(path: FigurePath) -> None:
    for floor, value in product((0.1, 0.3, 0.7, 0.9), (0.4, 0.5, 0.6, 0.7)):
        item = judged(path, value, floor, {})
        assert item.verdict.text.startswith("cannot be judged here")
        assert "good" not in [level for level, _ in summed_up({path: item})]
    assert judged(path, 0.99, 0.7, {}).verdict.level == "poor"  # far beyond what real ones score
    assert judged(path, 0.55, 0.55, {}).verdict.level == "good"


def test_distances_are_summed_up_where_the_classifier_judges_nothing() -> None:
    near, far = (judged("sound.mmd.degree", value, 0.01, {}) for value in (0.01, 0.3))
    blind = judged("sound.graphs.c2st", 0.6, 0.7, {})
    [(level, said)] = summed_up({"sound.mmd.degree": near, "sound.graphs.c2st": blind})
    assert level == "fair"
    assert "whether a classifier could tell them apart cannot be judged" in said
    [(level, said)] = summed_up({"sound.mmd.degree": far, "sound.graphs.c2st": blind})
    assert level == "poor"
    wrong = judged("sound.features.pair_error", 0.3, 0.1, {"column_noise": 0.2})
    features = judged("sound.features.c2st", 0.8, 0.9, {})
    [(level, said)] = summed_up({"sound.features.pair_error": wrong, "sound.features.c2st": features})
    assert level == "poor"
    assert "can be told from real ones" in said


def test_all_typical_parts_are_good_whatever_real_graphs_contain() -> None:
    assert JUDGES["sound.typed_gf"](1.0, 0.97, {}).level == "good"
    near = JUDGES["sound.typed_gf"](0.99, 0.97, {})
    assert near.level == "fair"
    assert near.text.startswith("about as many as")
    assert "more of what is typical" in summary(("sound.typed_gf", 1.0, 0.97))
    alike = summary(("sound.typed_gf", 1.0, 1.0))
    assert alike.startswith("good:")
    assert "more" not in alike


def test_a_mean_over_classes_is_no_statement_about_every_graph() -> None:
    said = summary(("sound.pf_in_distribution", 2 / 3, 0.99))
    assert said.startswith("poor: For some class")


def test_a_weak_contrast_is_told_from_none() -> None:
    fair = summary((("sound", "contrast", "A"), 0.1, 0.5))
    assert fair.startswith("fair:")
    assert "tell “A” from the other classes, but less clearly" in fair
    assert "do not tell" not in fair
    none = summary((("sound", "contrast", "A"), 0.01, 0.5))
    assert none.startswith("poor:")
    assert "do not tell “A” from" in none


def test_a_model_that_is_not_sure_is_never_called_better_than_one_that_is() -> None:
    order = ["poor", "fair", "good"]
    for controls in ({}, {"random_trees": 0.5}, {"column_noise": 0.97}):
        found = [order.index(JUDGES["paper.pf"](value / 100, None, controls).level) for value in range(101)]
        assert found == sorted(found)


def test_a_poor_error_is_not_hidden_by_a_classifier_that_sees_nothing_wrong() -> None:
    wrong = judged("sound.features.pair_error", 0.5, 0.1, {"column_noise": 0.3})
    features = judged("sound.features.c2st", 0.5, 0.5, {"column_noise": 0.9})
    assert (wrong.verdict.level, features.verdict.level) == ("poor", "good")
    [(level, _)] = summed_up({"sound.features.pair_error": wrong, "sound.features.c2st": features})
    assert level == "poor"


def test_a_mean_over_classes_is_not_told_as_a_share_of_all_answers() -> None:
    told = judged("sound.fidelity.scorecard", 0.84, 0.86, {}).verdict.text.replace("\u00a0", " ")
    assert told == "they give 84 % of its answers (mean over classes); those found on real graphs give 86 %"
