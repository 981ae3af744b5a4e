"""What explanations show in a notebook: complete, still, and harmless to the page around it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import torch

import hand_made
import studied_by_hand
from dignn.evidence.gathering import Evidence
from dignn.evidence.nearest_example import NearestExample
from dignn.evidence.removal import ColumnEffect, Effect, Effects
from dignn.evidence.variants import Kind, Part
from dignn.explanations.explanation import Explanation, Explanations
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Schema
from dignn.report.emphasis import emphasis
from dignn.report.graph_panel import graph_view
from dignn.report.notebook import CARD_CLASSES, explanation_html, explanations_html
from strategies import batch_of

# Tags without an end.
VOID = ("br", "img", "line", "circle", "path", "polygon", "rect")


class Seen(HTMLParser):
    """Tags, attributes and text, and whether every tag is closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


EVERY: list[Callable[[], str]] = [
    lambda: explanation_html(hand_made.explanation()),
    lambda: explanation_html(hand_made.explanation(bare=True)),
    lambda: explanation_html(hand_made.explanation(hostile=True)),
    lambda: explanation_html(hand_made.lone()),
    lambda: explanation_html(hand_made.lone(target=False)),
    lambda: explanations_html(hand_made.explanations()),
    lambda: explanations_html(hand_made.explanations(hostile=True)),
    lambda: explanations_html(studied_by_hand.authors()),
    lambda: explanations_html(studied_by_hand.authors(hostile=True)),
    lambda: explanations_html(Explanations({})),
    lambda: explanations_html(Explanations({"<b>lonely": []})),
]


@pytest.mark.parametrize("made", EVERY)
def test_nothing_runs_nothing_is_fetched_nothing_leaks(made: Callable[[], str]) -> None:
    text = made()
    text.encode()  # a notebook is a text file
    seen = Seen(text)
    assert not seen.open
    assert set(seen.tags) <= {"div", "span", "b", "code", "svg", "g", "title", "text", *VOID} - {"img", "br"}
    assert not {name for name in seen.names if name.startswith("on") or name in ("id", "href", "src")}


def test_an_explanation_beside_the_nearest_real_example() -> None:
    shown = hand_made.explanation()
    seen = Seen(explanation_html(shown))
    words = " ".join(seen.words)
    assert shown.evidence is not None
    for told in ("two", "75 %", "4 nodes: 1 author, 2 paper, 1 venue", shown.evidence.text, "query", "graph"):
        assert told in words
    assert "The nearest real author, labelled “two”; the model says “one”" in words
    assert re.search(r"<b>graph</b>", explanation_html(shown))  # the model would miss it
    alone = Seen(explanation_html(hand_made.explanation(bare=True)))
    assert "nearest" not in " ".join(alone.words)
    assert alone.tags.count("svg") == seen.tags.count("svg") - 1


def test_a_card_per_class_and_how_to_get_the_others() -> None:
    text = " ".join(Seen(explanations_html(hand_made.explanations())).words)
    assert "one" in text
    assert "has no explanation" in text
    assert "1 more: " in text
    assert "explanations['two'][1]" in text


def test_a_card_says_what_the_model_goes_by() -> None:
    text = "".join(Seen(explanations_html(studied_by_hand.authors())).words)
    assert "The model goes by: a venue two steps away is “KDD” (+3.1), it has none of “query” and “index” " in text
    assert text.count("The model goes by") == 1  # the other class has no card
    assert (
        text.count("This reproduces 84 % of its answers on real authors (mean over classes), beside 50 % by guessing.")
        == 1
    )
    assert "goes by" not in explanations_html(hand_made.explanations())


def test_of_many_classes_the_first_are_shown() -> None:
    many = Explanations({f"class {k}": [hand_made.lone()] for k in range(60)})
    text = explanations_html(many)
    assert text.count("<svg viewBox") == CARD_CLASSES == 24
    assert "and 36 more: explanations['class 24'] …" in "".join(Seen(text).words)
    assert " more: " not in explanations_html(Explanations(dict(list(many.items())[:CARD_CLASSES])))
    figure = many.plot()
    assert len(figure.axes) == CARD_CLASSES
    assert figure.get_suptitle() == "24 of 60 classes"
    assert figure.get_figheight() * 110 < 65_535


def test_classes_that_lack_a_rank_do_not_hide_those_that_have_it() -> None:
    many: dict[str, list[Explanation]] = {f"class {k}": [] for k in range(60)}
    figure = Explanations({**many, "late": [hand_made.lone()]}).plot()
    assert [ax.get_title() for ax in figure.axes] == ["one"]


@pytest.mark.parametrize("width", [12, 13, 3000])
def test_columns_that_are_left_out_are_counted(width: int) -> None:
    shown = carrying(width)
    told = " ".join(Seen(explanation_html(shown)).words)
    row = graph_view(shown.graph, "key", "name", 0, emphasis(shown.evidence))["nodes"][0]
    assert row["further"] == max(0, width - 12)
    assert (f"and {row['further']:,} more" in told) == (width > 12)


def test_of_columns_with_one_name_only_the_one_that_is_missed_is_bold() -> None:
    shown = carrying(3)  # all are called the same, and the last is missed
    assert explanation_html(shown).count("<b>same</b>") == 1
    row = graph_view(shown.graph, "key", "name", 0, emphasis(shown.evidence))["nodes"][0]
    assert row["features"] == [("same", " \u00d7 3", True), ("same", " \u00d7 3", False), ("same", " \u00d7 3", False)]
    other = replace(shown, graph=replace(shown.graph, tables={"node": torch.tensor([[9.0, 5.0, 7.0]])}))
    row = graph_view(other.graph, "key", "name", 0, emphasis(other.evidence))["nodes"][0]
    assert [value for _, value, _ in row["features"]] == [" \u00d7 7", " \u00d7 9", " \u00d7 5"]


def carrying(width: int) -> Explanation:
    """A node with ``width`` columns of the same name; the model would miss the last."""
    spec = FeatureSpec(FeatureKind.COUNT, width, names=("same",) * width, levels=(10,) * width)
    schema = Schema(("node",), (), (spec,), ("one", "two"), "node")
    graph = replace(batch_of(schema, [0], {}), tables={"node": torch.full((1, width), 3.0)})
    graph.row[0, 0] = 0
    effects = Effects(0, 0, 0.9, 2.2, (Effect(Part(Kind.COLUMN, (0,), (width - 1,)), 1.0, 0.5),))
    own = (ColumnEffect("node", width - 1, "same", 1.0, (0,), 0),)
    evidence = Evidence("Text.", NearestExample(0, 0, 0, 0, 0, 1.0, 0.5), own, (), effects)
    return replace(hand_made.lone(), graph=graph, evidence=evidence)


def test_the_methods_that_jupyter_and_terminals_ask_for() -> None:
    shown = hand_made.explanations()
    assert shown._repr_html_() == explanations_html(shown)
    assert shown["two"][0]._repr_html_() == explanation_html(shown["two"][0])
    assert repr(shown["two"][0]) == "Explanation('two', p = 0.75, 4 nodes: 1 author, 2 paper, 1 venue)"
    assert "tensor" not in repr(shown)
