"""Marks of other explainers on the page: in words, in tables, as strengths of a drawing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import hand_made
from dignn import Explanation, Explanations
from dignn.evidence.marks import Marks
from dignn.report.emphasis import Emphasis
from dignn.report.mark_words import agreement_in_words, agreements_in_words, mark_emphasis
from dignn.report.page import write_page

MARKS = Marks((0.25, 0.75, -0.5, None), (0.1, 0.3, 0.2, 0.2), 0.625, -0.004, 0.5)
TOLD = {"agreement": -0.25, "explanations": 2, "random": 0.0, "random_high": 0.125}


def marked(marks: Marks = MARKS) -> Explanation:
    item = hand_made.explanation()
    assert item.evidence is not None
    return replace(item, evidence=replace(item.evidence, marks={"gnnexplainer": marks, "mine": marks}))


def page(folder: Path, item: Explanation, about: dict | None = None) -> str:
    found = Explanations({"two": [item]}, about or {})
    return write_page(found, folder / "page.html").read_text()


def test_agreement_in_words() -> None:
    told = agreement_in_words("gnnexplainer", MARKS)
    assert "GNNExplainer gives nodes agree with these effects by 0.62" in told
    assert "random marks 0.00, 95 in 100 of them below 0.50" in told
    assert "mine" in agreement_in_words("mine", MARKS)
    assert "cannot be said" in agreement_in_words("gnnexplainer", Marks((0.5, 0.5), ()))
    assert agreement_in_words("captum", Marks((None, None), None)) == "Captum cannot mark nodes of this graph."


def test_agreement_of_a_run_in_words() -> None:
    (told,) = agreements_in_words({"marks": {"gnnexplainer": TOLD}})
    assert "Over 2 of them both agree by \N{MINUS SIGN}0.25 on average" in told


@pytest.mark.parametrize("marks", [None, [], {"gnnexplainer": None}, {"gnnexplainer": {**TOLD, "agreement": None}}])
def test_what_is_not_known_is_not_told(marks: object) -> None:
    assert agreements_in_words({"marks": marks}) == []


def test_marks_are_stretched_from_the_smallest_to_the_largest() -> None:
    graph = hand_made.graph()
    found = mark_emphasis(MARKS, graph)
    assert found.node == pytest.approx({0: 1 / 3, 1: 1.0, 2: 0.0})  # what speaks against is drawn as if it said nothing
    assert sorted(found.edge.values()) == pytest.approx([0, 0.5, 0.5, 1])
    assert mark_emphasis(Marks((0.5,) * 4, None), graph) == Emphasis(node=dict.fromkeys(range(4), 0.0))


def test_the_page_has_a_drawing_and_columns_for_every_marker(tmp_path: Path) -> None:
    text = page(tmp_path, marked(), {"marks": {"gnnexplainer": TOLD}})
    plain = page(tmp_path, hand_made.explanation())
    assert text.count('<svg viewBox="0 0 440 350"') == plain.count('<svg viewBox="0 0 440 350"') + 2
    assert "Evidence</button>" in text
    assert re.findall(r'<td class="marked" data-by="GNNExplainer">([^<]*)</td>', text)[:4] == [
        "0.25",
        "0.75",
        "\N{MINUS SIGN}0.50",
        "",
    ]
    assert "both agree by" in text
    for words in ("Evidence</button>", 'class="marked"', "GNNExplainer"):
        assert words not in plain


def test_the_second_drawing_shows_the_marks(tmp_path: Path) -> None:
    text = page(tmp_path, marked())
    own, theirs = re.findall(r'data-node="1" data-r="([\d.]+)"', text)[:2]
    assert float(theirs) > float(own)  # it has the largest mark and costs less than another
