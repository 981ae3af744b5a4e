"""Scorecards and counterfactual pairs as people meet them: on a screen, on a phone, with tabs and keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import studied_by_hand

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE = {"width": 390, "height": 844}
# What reaches over the right side of the window without a box that scrolls.
STICKING_OUT = """() => Array.from(document.querySelectorAll(".goes-by *, #contrasts *"))
    .filter((each) => each.checkVisibility() && !each.closest(".scroll, .visually-hidden"))
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
    .map((each) => each.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of explanations with two pairs."""
    made = studied_by_hand.authors()
    made.about["counterfactuals"] *= 2
    return made.report(tmp_path_factory.mktemp("studied") / "report.html")


def test_one_pair_is_open_and_tabs_open_the_others(page: Page, studied: Path) -> None:
    page.goto(studied.as_uri())
    assert page.locator("#contrast-1").is_visible()
    assert page.locator("#contrast-2").is_hidden()
    page.click("#tab-contrast-2")
    assert page.locator("#contrast-1").is_hidden()
    assert page.locator("#contrast-2").is_visible()


def test_graphs_of_a_pair_answer_and_their_marks_move_with_them(page: Page, studied: Path) -> None:
    page.goto(studied.as_uri())
    graph = page.locator('svg.graph[data-graph="contrast-1-before"]')
    node = graph.locator('.node[data-node="1"]')
    node.scroll_into_view_if_needed()
    node.hover()
    assert "paper" in page.inner_text("#tip")
    band = graph.locator('.edge[data-u="1"] line.change')
    before = band.get_attribute("x1"), band.get_attribute("x2")
    box = node.locator(".mark").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 30, steps=4)
    page.mouse.up()
    assert (band.get_attribute("x1"), band.get_attribute("x2")) != before


def test_no_part_is_wider_than_a_phone(page: Page, studied: Path) -> None:
    page.set_viewport_size(PHONE)
    page.goto(studied.as_uri())
    page.click('[data-class-tab]:has-text("two")')
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.evaluate(STICKING_OUT) == []


def test_no_violation_of_accessibility_is_serious(page: Page, studied: Path, axe: Callable[[Page], list[str]]) -> None:
    page.goto(studied.as_uri())
    page.click('[data-class-tab]:has-text("two")')
    assert axe(page) == []
