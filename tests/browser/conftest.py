"""A real browser that opens pages from disk, and pages for it to open.

Tests are skipped where there is no Chromium. Nothing here may reach the network or wait for long.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from small_runs import hostile_run, made_once, planted_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Milliseconds that a page may take for anything, and seconds after which a test that hangs loses its browser.
PATIENCE, LIFETIME = 10_000, 60
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


# -- the browser --------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser's program."""
    pytest.importorskip("playwright", reason="playwright is not installed; run make setup")
    named = os.environ.get("DIGNN_CHROMIUM")
    for name in (named,) if named else NAMES:
        found = shutil.which(name)
        if found:
            return found
    if named:
        pytest.skip(f"DIGNN_CHROMIUM names '{named}', which is no program; name a Chromium or unset it")
    pytest.skip("There is no Chromium here; install the package chromium or name one by DIGNN_CHROMIUM")


# Not for the whole session: while it runs, nothing else in this process can run an event loop of its own. Hence this
# folder is a package.
@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """Chromium without a window, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=list(QUIET), timeout=3 * PATIENCE)
        yield running
        running.close()


@pytest.fixture
def complaints() -> list[str]:
    """What a page did that it should not have: errors, messages about errors, requests beyond itself.

    It must be empty after the test; a test that expects a complaint looks at it and clears the list.
    """
    return []


@pytest.fixture
def page(browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """A tab of its own, without network, that must stay without complaints."""
    rescue = threading.Timer(LIFETIME, _kill_browser)
    rescue.daemon = True
    rescue.start()
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    try:
        context.set_default_timeout(PATIENCE)
        tab = context.new_page()
        tab.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: complaints.append(request.url) if _leaves(request) else None)
        yield tab
        assert complaints == []
    finally:
        context.close()
        rescue.cancel()


def _leaves(request: Request) -> bool:
    """Whether a request goes beyond the page's own file."""
    if request.url.startswith("file:"):
        return request.resource_type != "document"
    return not request.url.startswith(("data:", "blob:"))


def _kill_browser() -> None:
    """Ends the browsers of this process: whoever waits for one gets an error instead of waiting for ever."""
    for process in psutil.Process().children(recursive=True):
        try:
            if "chrom" in process.name():
                process.kill()
        except psutil.NoSuchProcess:
            continue


@pytest.fixture
def axe() -> Callable[[Page], list[str]]:
    """Finds the serious and critical violations of accessibility of a page: rule, help, elements."""
    from axe_playwright_python.sync_playwright import Axe

    def violations(page: Page) -> list[str]:
        found: list[dict[str, Any]] = Axe().run(page).response["violations"]
        return [_told(each) for each in found if each["impact"] in ("serious", "critical")]

    return violations


def _told(violation: dict[str, Any]) -> str:
    where = "; ".join(node["html"][:160] for node in violation["nodes"][:3])
    return f"{violation['id']} ({len(violation['nodes'])} times): {violation['help']}: {where}"


# -- pages to open ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def report(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small run on the planted data; its run folder lies around it. Not to be written to."""
    return made_once(tmp_path_factory, "planted", planted_run) / "report.html"


@pytest.fixture(scope="session")
def hostile_report(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the same run where every name looks like HTML that sets ``window.hacked``."""
    return made_once(tmp_path_factory, "hostile", hostile_run) / "report.html"
