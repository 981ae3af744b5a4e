"""The section on trust: every figure beside floor and controls, honest words, and never a failure."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from typing import Any

import pytest
import torch
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import escape

from dignn.explanations.explanation import Explanations
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from dignn.metrics.judging import Judge, told_apart
from dignn.metrics.measures import (
    contrast,
    copies,
    coverage,
    faithfulness,
    feature_errors,
    mmd,
    predictive,
    truth,
    valid_graphs,
)
from dignn.metrics.metric import all_metrics
from dignn.report import trust
from dignn.report.reference import SHOWN, Reference
from hand_made import lone
from strategies import batch_of

HOSTILE = "\"><script>alert('1')</script>&{{ 7 * 7 }}"
JUNK: tuple[Any, ...] = (None, "text", [], {}, [1, "a"], True, -1, float("nan"), {HOSTILE: HOSTILE})


def layer(distance: float, c2st: float, share: float, classes: tuple[str, ...] = ("one", "two")) -> dict[str, Any]:
    """A layer of ``metrics.json``; ``share`` is what is better when it is high."""
    mmd = dict.fromkeys(("node_type", "degree", "clustering", "spectral"), distance)
    errors = {"column_error": distance, "pair_error": distance, "row_density": distance}
    features = {**errors, "c2st": c2st, "memorisation": 0.5}
    planted = dict.fromkeys(("motif_recall", "motif_precision", "keyword_recall", "keyword_precision"), share)
    return {
        "paper": {"mmd": dict(mmd), "cosine": 0.1, "pf": share, "gf": share},
        "sound": {
            "yield": 1.0,
            "mmd": dict(mmd),
            "graphs": {"novelty": 0.9, "uniqueness": 0.95, "c2st": c2st},
            "features": {**features, "by_type": {"author": dict(features)}},
            "typed_gf": share,
            "contrast": dict.fromkeys(classes, share - 0.3),
            "coverage": share,
            "fidelity": dict.fromkeys(("scorecard", "rules", "auc"), share),
            "planted": {"mean": planted},
            "pf_in_distribution": share,
            "missing_rates": {"error": distance, "by_class": dict.fromkeys(classes, distance)},
        },
    }


def metrics(distance: float = 0.01, c2st: float = 0.52, share: float = 0.9, **options: Any) -> dict[str, Any]:
    rule = {"probability": share, "gf": share, "typed_gf": share, "coverage": share}
    return {
        **layer(distance, c2st, share, **options),
        "candidates": layer(distance, c2st, share, **options),
        "floor": layer(0.01, 0.5, 0.6, **options),
        "control": {
            "real_subgraphs": layer(0.011, 0.5, 0.65, **options),
            "random_trees": layer(0.5, 0.98, 0.2, **options),
            "column_noise": layer(0.4, 0.9, 0.3, **options),
            "shuffled_rows": layer(0.2, 0.8, 0.4, **options),
        },
        "selection": {"representative": rule, "highest": dict(rule)},
        "details": {
            "compared": 300,
            "groups": {"mutagenic": {"nitro": {"first": True, "explanations": 1.0, "real": 0.5}}},
        },
    }


ENVIRONMENT = Environment(loader=PackageLoader("dignn.report"), autoescape=True, undefined=StrictUndefined)


def rendered(about: dict[str, Any], reference: Reference | None = None) -> str:
    content = trust.content(Explanations({}, about, reference))
    return ENVIRONMENT.get_template("trust.html").render(trust=content)


def words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def summary(**values: float) -> str:
    content = trust.content(Explanations({}, {"metrics": metrics(**values)}))
    return " ".join(f"{level}: {sentence}" for level, sentence in content["summary"])


@pytest.mark.parametrize("measured", [{}, {"metrics": metrics()}])
def test_a_difference_that_was_accepted_comes_first(measured: dict[str, Any]) -> None:
    told = words(rendered({"difference": f"The model goes by edge_weight {HOSTILE}", **measured}))
    assert told.index("the model may answer otherwise") < told.index("The model goes by edge_weight")
    assert told.index("The model goes by edge_weight") < told.index("measure" if not measured else "good")
    assert "script" not in rendered({"difference": HOSTILE}).replace(str(escape(HOSTILE)), "")
    for nothing in ({}, *({"difference": junk} for junk in JUNK if not isinstance(junk, str))):
        assert "answer otherwise" not in rendered({**nothing, **measured})


def test_good_figures_are_called_good() -> None:
    said = summary()
    assert "fair:" not in said
    assert "poor:" not in said
    assert "hardly be told from real ones" in said
    assert "Of the best graphs that are like real members the model is as sure as" in said
    assert "more of what is typical" in said
    assert "tell every class from the others" in said


def test_the_best_graphs_are_not_taken_for_those_shown() -> None:
    """Three classes, one without explanations; the second explanation of a class does not count."""
    first = lone()
    several = [replace(first, class_index=0, probability=(share, 1 - share)) for share in (0.8, 0.7, 0.1)]
    shown = {"one": [several[0], several[2]], "two": [several[1]], "three": []}
    content = trust.content(Explanations(shown, {"metrics": metrics()}))
    said = [sentence for _, sentence in content["summary"] if "best graphs" in sentence]
    assert len(said) == 1
    told = said[0].replace("\N{NO-BREAK SPACE}", " ")
    assert "The explanations shown first have a mean probability of 75 %: some certainty is given up" in told
    assert ("fair", said[0]) in content["summary"]  # 75 % is not sure
    assert "given up" not in " ".join(summed_up_with(0.9))
    assert "shown first" not in summary()


def test_verdicts_speak_of_random_candidates_or_of_the_explanations_shown() -> None:
    """What is judged beside controls rests on as many graphs as they do; the rest is said of what is shown."""
    found = metrics(share=0.7)
    found["candidates"] = layer(0.5, 0.99, 0.9)
    content = trust.content(Explanations({}, {"metrics": found}))
    rows = {row.item.name: row for part in ("realism", "faithfulness") for row in content[part]["rows"]}
    for name in ("Degrees", "Told from real graphs", "Single columns"):
        assert rows[name].judged.verdict.level == "good"
    assert rows["Probability"].judged.value == 0.7
    for name in ("Typical parts", "Coverage", "Pattern found", "one"):
        assert rows[name].judged.value == rows[name].judged.shown != 0.7
    chart = rows["Coverage"].chart
    assert "all candidates, refined where need be 0.9, real graphs 0.6, 300 random candidates, not refined 0.7" in chart
    assert 'class="chart-made"' in chart
    assert 'class="chart-shown"' in chart
    told = [words for _, words in content["faithfulness"]["legend"]]
    assert told[0] == "300 random candidates, not refined"
    assert told[1].endswith("the explanations shown are chosen from these")
    table = content["faithfulness"]["table"]
    assert table["head"][:3] == [
        "300 random candidates, not refined",
        "all candidates, refined where need be",
        "real graphs",
    ]
    assert dict(table["rows"])["Coverage"][:3] == ["0.700", "0.900", "0.600"]


def test_runs_of_an_earlier_version_have_one_column_of_their_own() -> None:
    found = metrics()
    del found["candidates"], found["details"]
    page = rendered({"metrics": found})
    assert "not refined" in page
    assert "all candidates, refined where need be" not in page
    assert 'class="chart-shown"' not in page


def test_fresh_data_and_what_held_out_means_stand_beside_the_figures() -> None:
    found = metrics()
    assert "fresh data" not in rendered({"metrics": found})
    found["fresh"], found["floor"]["fresh"] = layer(0.123, 0.5, 0.6)["sound"], layer(0.0456, 0.5, 0.6)["sound"]
    found["details"]["overlap"] = {"targets": 0.99, "graphs": 0.55}
    page = words(rendered({"metrics": found})).replace("\N{NO-BREAK SPACE}", " ")
    assert "Against graphs of fresh data" in page
    assert "Degrees 0.123 0.046" in page
    assert "99.0 % of these stand in graphs that were learned from, as neighbours, and 55 % of held-out graphs" in page
    found["details"]["overlap"]["targets"] = 0.0  # whole graphs are divided
    assert "Nothing was learned from held-out graphs" in rendered({"metrics": found})


def summed_up_with(share: float) -> list[str]:
    only = replace(lone(), class_index=0, probability=(share, 1 - share))
    return [sentence for _, sentence in trust.content(Explanations({"one": [only]}, {"metrics": metrics()}))["summary"]]


def test_bad_figures_are_called_bad() -> None:
    said = summary(distance=0.45, c2st=0.97, share=0.2)
    assert "good:" not in said
    assert "Generated graphs can be told from real ones" in said
    assert "Generated features can be told" in said
    assert "For some class the model is sure of no generated graph" in said
    assert "less of what is typical" in said
    assert "do not tell “one”, “two” from" in said


def test_every_measure_is_named_drawn_judged_and_in_the_table() -> None:
    page = rendered({"metrics": metrics()})
    figures = [figure for metric in all_metrics() for figure in metric.figures if figure.path != "*"]
    drawn = [figure for figure in figures if figure.judge is not None]
    for figure in drawn:
        assert f"<b>{figure.title}</b>" in page
    for figure in figures:
        assert f'<th scope="row">{escape(figure.title)}</th>' in page
    number = len(drawn) + 2  # contrast of two classes
    assert page.count('<svg class="chart"') == number
    assert page.count('class="measure-verdict"') == number
    assert "random trees 0.5" in page  # controls are in the words of charts
    assert page.count('tabindex="0"') == page.count('class="scroll"')


def test_what_does_not_apply_is_left_out() -> None:
    found = metrics()
    layers = [found, found["candidates"], found["floor"], *found["control"].values()]
    for part in layers:
        part["sound"]["features"] = dict.fromkeys(part["sound"]["features"])
        part["sound"]["planted"] = part["sound"]["contrast"] = part["sound"]["missing_rates"] = None
        part["sound"]["mmd"]["node_type"] = 0.0  # one node type: all graphs are alike in it
    page = rendered({"metrics": found})
    assert "Single columns" not in page
    assert "Planted truth" not in page
    assert "Contrast" not in page
    assert "<b>Node types</b>" not in page
    assert "noise in every column" not in page  # it would be the same as the candidates
    assert "random trees" in page
    assert "None" not in words(page)


def test_a_run_without_metrics_says_how_to_get_them() -> None:
    page = rendered({})
    assert "dignn evaluate RUN" in page
    assert "not been measured" in page
    assert "not been measured" in rendered({"metrics": None})


def test_many_classes_leave_the_picture_readable_and_the_table_complete() -> None:
    names = tuple(f"class {number}" for number in range(40))
    found = metrics(classes=names)
    found["candidates"]["sound"]["contrast"]["class 33"] = -0.4
    page = rendered({"metrics": found})
    assert page.count("Contrast of class") == 40
    assert "<b>class 33</b>" in page  # the lowest are drawn
    assert f"{40 - trust.CONTRASTED_CLASSES} more are in the table" in page
    assert "do not tell “class 33” from" in page


def test_names_are_shown_and_never_run() -> None:
    found = metrics(classes=(HOSTILE, "a.b"))
    found["sound"]["features"]["by_type"] = {HOSTILE: {"c2st": 0.5}}
    found["details"]["groups"] = {HOSTILE: {HOSTILE: {"explanations": 0.5, "real": 0.5}}}
    found["selection"] = {HOSTILE: {"gf": 0.5}}
    page = rendered({"metrics": found})
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>a.b</b>" in page  # a dot in a name is no path
    assert ">49<" not in page


def paths(content: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = content.items() if isinstance(content, dict) else ()
    return [above, *(path for name, part in inner for path in paths(part, (*above, name)))]


def broken(about: dict[str, Any], path: tuple[Any, ...], junk: Any) -> dict[str, Any]:
    """A copy with junk at one place."""
    made = copy.deepcopy(about)
    part = made
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = junk
    return made


def at(content: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        content = content[name]
    return content


def test_a_damaged_file_never_stops_the_page() -> None:
    """Every third number is replaced by one kind of junk, in turn, and every part that holds others by each kind."""
    about = {"metrics": metrics()}
    places = paths(about)[1:]
    cases = [(path, JUNK[number % len(JUNK)]) for number, path in enumerate(places[::3])]
    cases += [(path, junk) for path in places if isinstance(at(about, path), dict) and len(path) < 4 for junk in JUNK]
    for path, junk in cases:
        page = rendered(broken(about, path, junk))
        assert "How far to trust it" in page, path
        assert "<script" not in page, path


def test_real_and_generated_graphs_are_shown_with_a_legend() -> None:
    kinds = ("author", HOSTILE)
    feature = FeatureSpec(FeatureKind.NONE, 0)
    schema = Schema(kinds, (Relation("author", "r", HOSTILE, "s"),), (feature, feature), ("a", "b"), target="author")
    one = batch_of(schema, [0, 1, 1], {(0, 1): 1, (0, 2): 1})
    page = rendered({}, Reference(GraphBatch.cat([one] * 30), GraphBatch.cat([one] * 3), {}))
    assert page.count('class="thumbnail"') == SHOWN + 3
    assert "24 graphs that nothing was learned from, not chosen" in words(page)
    assert "3 graphs of all sizes, not chosen" in words(page)
    assert "<script" not in page
    assert "adds them" in rendered({})  # an older run keeps none


# -- verdicts -----------------------------------------------------------------------------------------

RANK = {"good": 0, "fair": 1, "poor": 2}
WORSE_WHEN_HIGHER: tuple[Judge, ...] = (
    mmd.distance,
    feature_errors.feature_error,
    told_apart,
    feature_errors.memorised,
)
WORSE_WHEN_LOWER: tuple[Judge, ...] = (
    valid_graphs.valid,
    copies.new,
    copies.different,
    predictive.sure_inside,
    faithfulness.contained,
    coverage.covered,
    contrast.contrasted,
    truth.shown,
    truth.right,
)


@pytest.mark.parametrize("judge", [*WORSE_WHEN_HIGHER, *WORSE_WHEN_LOWER])
@pytest.mark.parametrize("floor", [0.01, 0.5, 0.9, None])
def test_a_worse_value_is_never_judged_better(judge: Judge, floor: float | None) -> None:
    values = torch.linspace(0, 1, 101).tolist()
    if judge in WORSE_WHEN_LOWER:
        values.reverse()
    found = [judge(value, floor, {"random_trees": 0.95, "column_noise": 0.9}) for value in values]
    ranks = [RANK[verdict.level] for verdict in found]
    assert ranks == sorted(ranks)
    assert all(verdict.text and not verdict.text.endswith(".") for verdict in found)


@pytest.mark.parametrize(
    ("judge", "value", "floor", "level"),
    [
        (mmd.distance, 0.0101, 0.01, "good"),
        (mmd.distance, 0.05, 0.01, "fair"),
        (mmd.distance, 0.4, 0.01, "poor"),
        (mmd.distance, 0.0004, 0.0, "good"),  # chance
        (told_apart, 0.52, 0.5, "good"),
        (told_apart, 0.63, 0.64, "good"),  # real graphs are told from real graphs as well
        (told_apart, 0.68, 0.7, "fair"),  # so often that the test does not work
        (told_apart, 0.9, 0.5, "poor"),
        (feature_errors.memorised, 0.62, 0.61, "good"),
        (feature_errors.memorised, 0.8, 0.5, "poor"),
        (copies.new, 0.45, 0.45, "good"),
        (copies.new, 0.1, 0.9, "poor"),
        (predictive.sure_inside, 0.97, 0.98, "good"),
        (predictive.sure_inside, 0.4, 0.98, "poor"),
        (coverage.covered, 0.1, 0.7, "poor"),
        (contrast.contrasted, 0.0, 0.4, "poor"),
        (contrast.contrasted, -0.3, 0.0, "poor"),
    ],
)
def test_levels(judge: Judge, value: float, floor: float, level: str) -> None:
    assert judge(value, floor, {"random_trees": 0.98}).level == level


def test_a_probability_that_noise_reaches_is_not_praised() -> None:
    assert predictive.surest(0.99, 0.99, {"column_noise": 0.99}).level == "fair"
    assert predictive.surest(0.99, 0.99, {"column_noise": 0.5}).level == "good"
