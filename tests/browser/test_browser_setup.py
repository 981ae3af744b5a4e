"""The browser that the other tests rely on: it runs pages and notices what they should not do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from small_runs import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGE = '<!doctype html><html lang="en"><head><title>Test</title></head><body><main><h1>Test</h1>{}</main></body></html>'


def opened(page: Page, folder: Path, body: str) -> None:
    (folder / "page.html").write_text(PAGE.format(body))
    page.goto((folder / "page.html").as_uri())


def test_pages_are_run(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, "<p id=out></p><script>document.getElementById('out').textContent = 6 * 7</script>")
    assert page.text_content("#out") == "42"


def test_what_a_page_should_not_do_is_noticed(page: Page, complaints: list[str], tmp_path: Path) -> None:
    (tmp_path / "beside.js").write_text("")
    broken = "<script>console.error('first'); setTimeout(() => { done = 1; throw new Error('second') })</script>"
    outside = "<script src='beside.js'></script><link rel=stylesheet href='http://example.com/style.css'>"
    opened(page, tmp_path, broken + outside)
    page.wait_for_function("window.done === 1")
    told = " ".join(complaints)
    for expected in ("first", "second", "beside.js", "http://example.com/style.css"):
        assert expected in told
    complaints.clear()


def test_serious_violations_are_found(page: Page, axe: Callable[[Page], list[str]], tmp_path: Path) -> None:
    opened(page, tmp_path, "<p>plain</p>")
    assert axe(page) == []
    opened(page, tmp_path, "<p style='color: #ccc; background: #fff'>pale</p><button></button>")
    assert {each.split()[0] for each in axe(page)} == {"color-contrast", "button-name"}


def test_the_page_of_a_run_is_there_to_be_opened(page: Page, report: Path) -> None:
    page.goto(report.as_uri())
    assert "self-citer" in page.inner_text("body")
    assert (report.parent / "metrics.json").exists()


def test_hostile_names_reach_the_page(page: Page, hostile_report: Path) -> None:
    page.goto(hostile_report.as_uri())
    assert HOSTILE[0] in page.inner_text("body")
    assert page.evaluate("window.hacked") is None
