"""What explanations show in a notebook: complete, still, and harmless to the page around it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

import hand_made
from dignn.explanation import Explanations
from dignn.report.notebook import explanation_html, explanations_html

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


def test_the_methods_that_jupyter_and_terminals_ask_for() -> None:
    shown = hand_made.explanations()
    assert shown._repr_html_() == explanations_html(shown)
    assert shown["two"][0]._repr_html_() == explanation_html(shown["two"][0])
    assert repr(shown["two"][0]) == "Explanation('two', p = 0.75, 4 nodes: 1 author, 2 paper, 1 venue)"
    assert "tensor" not in repr(shown)
