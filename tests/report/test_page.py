"""The report page: self-contained, complete, safe."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dignn import DiGNNExplainer, Explanations
from dignn.config import PRESETS
from dignn.data import load
from tiny_models import TinyHetero


@pytest.fixture(scope="module")
def explanations() -> Explanations:
    dataset = load("planted")
    config = replace(
        PRESETS["smoke"],
        sizes=(8, 9),
        subgraphs_per_size=10,
        candidates=24,
        top_k=2,
        structure="bootstrap",
        features="bootstrap",
    )
    with pytest.MonkeyPatch.context() as patch:  # metrics have tests of their own
        patch.setattr("dignn.metrics.c2st.TREES", 2)
        patch.setattr("dignn.metrics.table.CONTROL_GRAPHS", 12)
        model = TinyHetero(dataset.schema)
        return DiGNNExplainer(model, dataset.data, schema=dataset.schema, config=config).fit().explain()


def page(explanations: Explanations, folder: Path) -> str:
    return explanations.report(folder / "report.html").read_text()


def test_the_page_needs_nothing_from_outside(explanations: Explanations, tmp_path: Path) -> None:
    text = page(explanations, tmp_path)
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", text)
    assert "<script" not in text
    assert len(text) < 1_000_000


def test_every_class_and_every_explanation_is_drawn(explanations: Explanations, tmp_path: Path) -> None:
    text = page(explanations, tmp_path)
    for name in explanations:
        assert f"<h2>{name}</h2>" in text
    assert text.count('role="img"') == sum(len(several) for several in explanations.values())


def test_features_are_shown_by_name(explanations: Explanations, tmp_path: Path) -> None:
    best = next(iter(explanations.values()))[0]
    text = page(explanations, tmp_path)
    for column, _ in best.top_features(best.node, 4):
        assert f'<span class="word">{column}' in text


def test_names_that_look_like_html_are_shown_and_not_executed(explanations: Explanations, tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    several = [replace(item, class_name=name) for item in next(iter(explanations.values()))]
    text = page(Explanations({name: several}, explanations.about | {"dataset": name}), tmp_path)
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_a_class_without_explanation_is_shown_for_what_it_is(explanations: Explanations, tmp_path: Path) -> None:
    text = page(Explanations({"lonely": []}), tmp_path)
    assert "lonely" in text
    assert "no explanation" in text


def test_plot_draws_every_node_and_marks_the_classified_one(explanations: Explanations) -> None:
    import matplotlib

    matplotlib.use("Agg")
    best = next(iter(explanations.values()))[0]
    axes = best.plot()
    drawn = sum(len(points.get_offsets()) for points in axes.collections)
    assert drawn == int(best.graph.sizes[0]) + 1
    assert best.class_name in axes.get_title()
