"""The report page as people meet it: with a pointer, with keys, on a phone, on paper, with names that mean harm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dignn.report as report_files
from dignn import Explanations
from dignn.evidence.marks import Marks
from dignn.report.notebook import explanations_html
from small_runs import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PHONE = {"width": 390, "height": 844}
# How many visible elements there are, and those that reach over a side of the window without a box that scrolls.
STICKING_OUT = """() => {
    const seen = Array.from(document.querySelectorAll("main *")).filter((each) => each.checkVisibility());
    const out = seen.filter((each) => {
        const box = each.getBoundingClientRect();
        const hidden = each.closest(".scroll, .command, .visually-hidden");
        return !hidden && box.width > 0 && (box.left < -1 || box.right > innerWidth + 1);
    });
    return [seen.length, out.map((each) => each.outerHTML.slice(0, 120))];
}"""


@pytest.fixture
def opened(page: Page, report: Path) -> Page:
    page.goto(report.as_uri())
    return page


@pytest.fixture(scope="module")
def explanations(report: Path) -> Explanations:
    return Explanations.load(report.parent)


def shown(page: Page, selector: str) -> list[str]:
    """The ids of the visible ones."""
    return [str(each.get_attribute("id")) for each in page.locator(selector).all() if each.is_visible()]


def graph(page: Page, key: str = "class-1-rank-1-made") -> Locator:
    return page.locator(f'svg.graph[data-graph="{key}"]')


def test_hovering_a_node_names_its_features(opened: Page, explanations: Explanations) -> None:
    best = next(iter(explanations.values()))[0]
    assert best.node is not None
    node = graph(opened).locator(f'.node[data-node="{best.node}"]')
    assert opened.locator("#tip").is_hidden()
    node.hover()
    told = opened.inner_text("#tip")
    assert "author" in told
    assert "the classified node" in told
    assert all(name in told for name, _ in best.top_features(best.node, 4))
    joined = {v if u == best.node else u for u, v, _ in best.edges() if best.node in (u, v)}
    lit = {int(str(each.get_attribute("data-node"))) for each in graph(opened).locator(".node.near").all()}
    assert lit == joined
    opened.mouse.move(2, 2)
    opened.wait_for_selector("#tip", state="hidden")
    assert graph(opened).locator(".near").count() == 0


def test_hovering_a_line_names_its_relation(opened: Page, explanations: Explanations) -> None:
    _, _, relation = next(iter(explanations.values()))[0].edges()[0]
    graph(opened).locator('.edge[data-edge="0"] .hit').dispatch_event("pointerover", {"bubbles": True})
    told = opened.inner_text("#tip")
    assert relation.name.replace("_", " ") in told
    assert relation.source in told


def test_real_examples_answer_too(opened: Page) -> None:
    graph(opened, "class-1-rank-1-real").locator(".node").first.hover()
    assert "node 1" in opened.inner_text("#tip")


def test_keys_walk_through_a_graph_with_one_tab_stop(opened: Page) -> None:
    drawing = graph(opened)
    assert drawing.locator('.node[tabindex="0"]').count() == 1
    drawing.locator('.node[tabindex="0"]').focus()
    first = opened.inner_text("#tip")
    opened.keyboard.press("ArrowRight")
    second = opened.inner_text("#tip")
    assert second != first
    assert drawing.locator('.node[tabindex="0"]').count() == 1
    opened.keyboard.press("ArrowLeft")
    assert opened.inner_text("#tip") == first
    opened.keyboard.press("Escape")
    assert opened.locator("#tip").is_hidden()
    opened.keyboard.press("Enter")
    assert opened.inner_text("#tip") == first
    opened.keyboard.press("Tab")
    opened.wait_for_selector("#tip", state="hidden")
    assert opened.evaluate("document.activeElement.closest('svg.graph') === null")
    opened.keyboard.press("Shift+Tab")
    opened.keyboard.press("Shift+Tab")  # past the node: the drawing itself is no stop
    assert opened.evaluate("document.activeElement.closest('svg.graph') === null")


def test_nodes_can_be_dragged_and_take_their_lines_along(opened: Page, explanations: Explanations) -> None:
    u, _, _ = next(iter(explanations.values()))[0].edges()[0]
    node = graph(opened).locator(f'.node[data-node="{u}"]')
    node.scroll_into_view_if_needed()
    before, frame = node.locator(".mark").bounding_box(), graph(opened).bounding_box()
    assert before is not None
    assert frame is not None
    opened.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    opened.mouse.down()
    opened.mouse.move(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2, steps=3)
    opened.mouse.move(frame["x"] - 400, frame["y"] + frame["height"] / 2, steps=3)
    opened.mouse.up()
    after = node.locator(".mark").bounding_box()
    assert after is not None
    assert frame["x"] <= after["x"] < frame["x"] + 20  # it went along, and stopped at the frame
    x = float(str(node.get_attribute("transform")).removeprefix("translate(").split()[0])
    ends = graph(opened).locator(f'.edge[data-u="{u}"] .line').first
    assert float(str(ends.get_attribute("x1"))) == pytest.approx(x, abs=0.2)


def test_classes_and_ranks_are_switched_by_pointer_and_keys(opened: Page, explanations: Explanations) -> None:
    assert shown(opened, ".class-panel") == ["class-1"]
    assert shown(opened, ".rank-panel") == ["class-1-rank-1"]
    tabs = opened.locator("[role=tab][data-class-tab]")
    assert tabs.count() == len(explanations)
    tabs.nth(1).click()
    assert shown(opened, ".class-panel") == ["class-2"]
    assert opened.url.endswith("#class-2")
    opened.keyboard.press("ArrowRight")
    assert shown(opened, ".class-panel") == ["class-3"]
    opened.keyboard.press("End")
    assert shown(opened, ".class-panel") == [f"class-{len(explanations)}"]
    opened.keyboard.press("ArrowRight")
    assert shown(opened, ".class-panel") == ["class-1"]
    opened.locator("#class-1 [role=tab][data-rank-tab]").nth(1).click()
    assert shown(opened, ".rank-panel") == ["class-1-rank-2"]
    assert opened.get_attribute("#tab-class-1-rank-2", "aria-selected") == "true"


def test_links_lead_to_classes_and_explanations(page: Page, report: Path) -> None:
    page.goto(report.as_uri() + "#class-2-rank-2")
    assert shown(page, ".class-panel") == ["class-2"]
    assert shown(page, ".rank-panel") == ["class-2-rank-2"]
    page.locator(".summary a").nth(2).click()
    page.locator("#class-3").wait_for(state="visible")
    assert shown(page, ".class-panel") == ["class-3"]


def test_going_back_opens_what_was_open(page: Page, report: Path) -> None:
    page.goto(report.as_uri())
    page.locator('.jump a[href="#classes"]').click()
    for number in (1, 2):
        page.locator(".summary a").nth(number).click()
        page.locator(f"#class-{number + 1}").wait_for(state="visible")
    page.go_back()
    page.locator("#class-2").wait_for(state="visible")
    assert shown(page, ".class-panel") == ["class-2"]
    page.go_back()
    page.locator("#class-1").wait_for(state="visible")
    assert shown(page, ".class-panel") == ["class-1"]


def test_without_scripts_everything_is_there(browser: object, report: Path, explanations: Explanations) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)  # type: ignore[attr-defined]
    try:
        page = context.new_page()
        page.goto(report.as_uri())
        assert len(shown(page, ".class-panel")) == len(explanations)
        assert len(shown(page, ".rank-panel")) == sum(len(several) for several in explanations.values())
        assert shown(page, "[role=tablist]") == []
    finally:
        context.close()


def test_paper_shows_every_class_and_its_best_explanation(opened: Page, explanations: Explanations) -> None:
    opened.locator("#class-1 [role=tab][data-rank-tab]").nth(1).click()
    opened.emulate_media(media="print")
    assert len(shown(opened, ".class-panel")) == len(explanations)
    assert shown(opened, ".rank-panel") == [f"class-{k + 1}-rank-1" for k in range(len(explanations))]
    assert shown(opened, "[role=tablist]") == []
    ends, begins = (
        opened.locator(selector).evaluate_all(f"all => all.map((each) => each.getBoundingClientRect().{side})")
        for selector, side in ((".class-panel", "bottom"), (".class-panel h3", "top"))
    )
    assert all(top - bottom > 8 for bottom, top in zip(ends, begins[1:], strict=False))  # also where pages are ignored


def test_no_violation_of_accessibility_is_serious(page: Page, report: Path, axe: Callable[[Page], list[str]]) -> None:
    page.set_viewport_size(PHONE)
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    graph(page).locator(".node").first.focus()
    assert axe(page) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out(page: Page, report: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    seen, out = page.evaluate(STICKING_OUT)
    assert seen > 500
    assert out == []


def test_text_of_charts_can_be_read(opened: Page) -> None:
    sizes = opened.locator(".chart text").evaluate_all(
        """all => all.filter((each) => each.checkVisibility()).map((each) => {
            const chart = each.ownerSVGElement;
            const scale = chart.getBoundingClientRect().width / chart.viewBox.baseVal.width;
            return parseFloat(getComputedStyle(each).fontSize) * scale;
        })"""
    )
    assert len(sizes) > 20
    assert min(sizes) >= 10


def test_long_names_stay_inside_their_cards_in_a_notebook(page: Page, explanations: Explanations) -> None:
    several = next(iter(explanations.values()))
    named = {f"{k}{'x' * 150}": [replace(each, class_name=f"{k}{'x' * 150}") for each in several] for k in range(3)}
    page.set_content(explanations_html(Explanations(named)))
    cards = page.locator("div[style*=grid-template-columns] > div")
    assert cards.count() == 3
    assert cards.evaluate_all("all => all.filter((each) => each.scrollWidth > each.clientWidth).length") == 0


def test_names_of_features_do_not_run_into_the_bars(page: Page) -> None:
    from dignn.report.charts.shares import ShareRow, shares

    names = ("W" * 40, "MMMMMMMMMMMMMM", "Income Of The Household", "i" * 60, "語" * 20)
    chart = shares([ShareRow(name, 0.5, 0.2, True, bold) for name in names for bold in (True, False)], title="t")
    styles = Path(report_files.__file__).parent / "templates" / "charts.css"
    page.set_content(f"<style>{styles.read_text()}</style>{chart}")
    ends = page.locator("text.chart-text:not(.chart-small, .chart-number)").evaluate_all(
        "all => all.map((each) => each.getBBox().x + each.getBBox().width)"
    )
    bars = page.locator("rect.chart-real").evaluate_all("all => all.map((each) => each.getBBox().x)")
    assert len(ends) == 2 * len(names)
    assert max(ends) < min(bars[: len(ends)])


def test_of_many_classes_one_is_found_by_its_name(page: Page, explanations: Explanations, tmp_path: Path) -> None:
    several = next(iter(explanations.values()))[:1]
    many = {f"kind {k}": [replace(each, class_name=f"kind {k}") for each in several] for k in range(24)}
    page.set_viewport_size(PHONE)
    page.goto(Explanations(many).report(tmp_path / "report.html").as_uri())
    page.fill("#find", "D 17")
    assert shown(page, "[data-class-tab]") == ["tab-class-18"]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert shown(page, ".class-panel") == ["class-18"]
    page.fill("#find", "")
    assert len(shown(page, "[data-class-tab]")) == 24
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_labels_stay_inside_the_frame_and_the_tooltip_inside_the_window(page: Page, hostile_report: Path) -> None:
    page.set_viewport_size(PHONE)
    page.goto(hostile_report.as_uri())
    for node in graph(page).locator(".node").all():
        node.focus()
        box = page.locator("#tip").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        assert box["y"] + box["height"] <= PHONE["height"]
    outside = """svg => Array.from(svg.querySelectorAll("text"), (text) => {
        const [frame, box] = [svg.getBoundingClientRect(), text.getBoundingClientRect()];
        return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1;
    }).filter(Boolean).length"""
    assert graph(page).evaluate(outside) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_one_drawing_at_a_time_shows_evidence_or_marks(page: Page, explanations: Explanations, tmp_path: Path) -> None:
    name, several = next(iter(explanations.items()))
    best = several[0]
    assert best.evidence is not None
    marks = Marks(tuple(v / 20 for v in range(int(best.graph.sizes[0]))), None)
    best = replace(best, evidence=replace(best.evidence, marks={"gnnexplainer": marks}))
    page.goto(Explanations({name: [best]}).report(tmp_path / "report.html").as_uri())
    panels = ["class-1-rank-1-marks-0", "class-1-rank-1-marks-1"]
    assert shown(page, ".marks-panel") == panels[:1]
    page.click("#tab-class-1-rank-1-marks-1")
    assert shown(page, ".marks-panel") == panels[1:]
    assert page.evaluate("location.hash") == ""  # an address is of a class or an explanation
    page.locator(f'#{panels[1]} .node[data-node="3"]').hover()
    assert "GNNExplainer marks it by 0.15." in page.inner_text("#tip")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_names_that_mean_harm_are_shown_and_do_nothing(page: Page, hostile_report: Path) -> None:
    page.goto(hostile_report.as_uri())
    for tab in page.locator("[role=tab][data-class-tab]").all():
        tab.click()
        visible = page.locator(".rank-panel:not([hidden])").locator("visible=true")
        visible.locator("svg.graph .node").first.hover()
        visible.locator("svg.graph .edge .hit").first.dispatch_event("pointerover", {"bubbles": True})
    graph(page).locator(".node").first.dispatch_event("pointerover", {"bubbles": True})
    assert any(name in page.inner_text("#tip") for name in HOSTILE)
    assert page.locator("img, main a[href^=javascript], svg[onload], [onmouseover]").count() == 0
    assert page.evaluate("window.hacked") is None


def test_scripts_other_than_its_own_are_refused(
    page: Page, complaints: list[str], report: Path, tmp_path: Path
) -> None:
    """Were a name ever put into the page unescaped, the browser would still not run it."""
    text = report.read_text()
    assert text.count("</main>") == 1
    (tmp_path / "report.html").write_text(text.replace("</main>", f"{HOSTILE[0]}{HOSTILE[1]}</main>"))
    page.goto((tmp_path / "report.html").as_uri())
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in told for told in complaints)
    complaints.clear()
