"""Figures: everything is drawn, names are shown as they are, and no display is needed."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from io import BytesIO

import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

import hand_made
from dignn.core.errors import DignnError
from dignn.explanations.explanation import Explanation, Explanations
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.report.case_study import explanations_figure
from dignn.report.graph_figure import explanation_figure, size_and_score
from dignn.report.reference import Profile


def rendered(figure: Figure) -> bytes:
    file = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("error")
        warnings.filterwarnings("ignore", message="Glyph")  # the font lacks some of what users write
        figure.savefig(file, format="png", dpi=30)
    return file.getvalue()


def texts(figure: Figure) -> str:
    rendered(figure)
    found = [text for ax in figure.axes for text in (ax.title, ax.yaxis.label, *ax.texts)]
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    found += [text for legend in legends for text in legend.get_texts()]
    assert not any(text.get_parse_math() for text in found if "$" in text.get_text())
    return "\n".join(text.get_text() for text in found)


def test_every_node_is_drawn_and_the_classified_one_ringed() -> None:
    shown = hand_made.explanation()
    (ax,) = explanation_figure(shown).axes
    points = [points for points in ax.collections if isinstance(points, PathCollection)]
    rings = [ring for ring in points if not len(ring.get_facecolor())]
    assert len(points) - len(rings) == int(shown.graph.sizes[0])
    assert len(rings) == 1
    beneath = [point for point in points if (point.get_offsets() == rings[0].get_offsets()).all()]
    assert len(beneath) == 2
    arrows = [text.arrow_patch for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) == len(shown.edges())


def test_what_matters_is_drawn_stronger_whichever_end_of_its_edge_comes_first() -> None:
    (ax,) = explanation_figure(hand_made.explanation()).axes
    widths = [text.arrow_patch.get_linewidth() for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    assert sorted(widths)[-1] > sorted(widths)[-2] + 1  # of 4 edges one was found to matter
    (bare,) = explanation_figure(hand_made.explanation(bare=True)).axes
    widths = [text.arrow_patch.get_linewidth() for text in bare.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(set(widths)) == 1


def test_class_size_probability_types_and_members_are_told() -> None:
    told = texts(explanation_figure(hand_made.explanation()))
    for words in ("two", "Nodes 4, Prob. 0.750", "author", "paper", "venue", "the classified node", "VLDB"):
        assert words in told


@pytest.mark.parametrize(("score", "told"), [(0.99951, "> 0.999"), (1.0, "1.000"), (0.12345, "0.123")])
def test_a_probability_is_not_rounded_up_to_one(score: float, told: str) -> None:
    assert size_and_score(replace(hand_made.explanation(), probability=(1 - score, score))).endswith(f"Prob. {told}")


def test_axes_of_the_user_are_drawn_into() -> None:
    figure = Figure()
    first, second = figure.subplots(1, 2)
    assert explanation_figure(hand_made.explanation(), second) is figure
    assert not first.collections
    assert second.collections
    part = Figure().subfigures(1, 2)[0]
    assert explanation_figure(hand_made.explanation(), part.subplots()) is part.figure


def test_the_study_has_a_column_per_class_with_graph_features_and_densities() -> None:
    figure = explanations_figure(hand_made.explanations())
    assert len(figure.axes) == 2 * 3
    told = texts(figure)
    for words in ("one", "no explanation", "two", "graph", "features of the\nauthor", "paper values", "real nodes"):
        assert words in told
    features, density = figure.axes[4:]
    up, _, down = [lines.get_segments() for lines in features.collections if isinstance(lines, LineCollection)]
    assert [round(segment[1][0]) for segment in up] == [0, 2]  # the words that the author has
    assert [tuple(segment[1]) for segment in down] == [(0, -1), (1, -1), (2, -1)]  # equal shares of real authors
    assert len(density.collections) == 2  # the real class, and four values one by one


def test_categories_are_told_and_not_drawn_as_heights() -> None:
    made = hand_made.explanation()
    spec = FeatureSpec(FeatureKind.CATEGORICAL, 6, levels=(9,) * 6, names=("a", "$b$", "c", "d", "e", "f"))
    schema = replace(made.graph.schema, features=(spec, *made.graph.schema.features[1:]))
    tables = {**made.graph.tables, "author": torch.tensor([[7.0, 0, 3, 1, 1, 1]])}
    made = replace(made, graph=replace(made.graph, schema=schema, tables=tables))
    rows = torch.full((3, 6), 4.5)
    reference = replace(hand_made.reference(), profiles={"author": Profile(torch.ones(3), rows, rows)})
    figure = explanations_figure(Explanations({"two": [made]}, {}, reference))
    told = texts(figure)
    for words in ("categories of the author (not compared)", "c: 3\na: 7\n$b$: 0\n", "and 2 more"):
        assert words in told
    assert not figure.axes[1].collections


def links(explanation: Explanation) -> list[float]:
    """How high the lines end that lead from names to columns of the classified node."""
    ax = explanations_figure(Explanations({"two": [explanation]})).axes[1]
    return [float(text.xy[1]) for text in ax.texts if getattr(text, "arrow_patch", None) is not None]


@pytest.mark.parametrize("top", [0.5, 1 - 1e-9, 1.0])
def test_names_lead_to_the_tops_of_their_columns(top: float) -> None:
    """A largest value of about 1 is no sign of a binary column."""
    made = hand_made.explanation()
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 3)
    schema = replace(made.graph.schema, features=(spec, *made.graph.schema.features[1:]))
    tables = {**made.graph.tables, "author": torch.tensor([[top, -1.0, 0.25]])}
    continuous = replace(made, evidence=None, graph=replace(made.graph, schema=schema, tables=tables))
    assert links(continuous) == pytest.approx([top, 0.0, 0.25])
    assert links(replace(made, evidence=None)) == [1.0, 1.0]


@pytest.mark.parametrize("seen", [True, False])
def test_a_class_whose_values_are_not_in_view_is_said_to_be_so(seen: bool) -> None:
    reference = hand_made.reference()
    paper = reference.profiles["paper"]
    assert paper.share is not None
    profiles = {"paper": replace(paper, share=paper.share * seen)}
    made = replace(hand_made.explanations(), reference=replace(reference, profiles=profiles))
    assert ("no real value of the class in view" in texts(explanations_figure(made))) is not seen


def test_without_a_backdrop_only_the_explanations_are_drawn() -> None:
    figure = explanations_figure(hand_made.explanations(bare=True), rank=1)
    assert "real nodes" not in texts(figure)
    assert len(figure.axes) == 2 * 3


@pytest.mark.parametrize("target", [True, False])
def test_graphs_of_one_node_without_features(target: bool) -> None:
    lone = hand_made.lone(target)
    assert ("the classified node" in texts(explanation_figure(lone))) is target
    assert len(explanations_figure(Explanations({"one": [lone]})).axes) == 1


def test_hostile_names_are_shown_as_they_are() -> None:
    told = texts(explanations_figure(hand_made.explanations(hostile=True)))
    assert "$\\frac{" in told
    assert "_hidden" in told
    assert "<script>" in told


def test_many_classes_wrap() -> None:
    classes: dict[str, list[Explanation]] = {str(number): [hand_made.lone()] for number in range(9)}
    figure = explanations_figure(Explanations(classes))
    rendered(figure)
    assert len(figure.axes) == 9
    assert len({round(ax.get_position().x0, 2) for ax in figure.axes}) == 3


@pytest.mark.parametrize(
    ("explanations", "rank", "told"),
    [(hand_made.explanations(), 2, "0 to 1"), (hand_made.explanations(), -1, "0 to 1"), (Explanations({}), 0, "any")],
)
def test_a_rank_that_no_class_has_is_named(explanations: Explanations, rank: int, told: str) -> None:
    with pytest.raises(DignnError, match=f"rank {rank}; .*{told}"):
        explanations_figure(explanations, rank)


def test_no_display_is_needed() -> None:
    figure = hand_made.explanation().plot()
    assert isinstance(figure.canvas, FigureCanvasAgg) or type(figure.canvas).__name__ == "FigureCanvasBase"
    manager = sys.modules.get("matplotlib.pyplot")
    assert manager is None or not any(manager.figure(number) is figure for number in manager.get_fignums())
    assert figure._repr_png_().startswith(b"\x89PNG")
