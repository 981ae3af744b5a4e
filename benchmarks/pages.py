"""Report pages in a real browser: how large, how long to write and to open, and what axe-core finds.

    python -m benchmarks.pages runs/demo runs/dblp                  # a table, for docs/report.md
    python -m benchmarks.pages runs/demo --pictures docs/images     # and pictures of the first run's page

Needs Chromium and what `make setup` installs for the tests. Opening is measured from the start of navigation to the
first picture on the screen after everything is loaded, three times; the slowest counts.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from dignn.explanation import Explanations

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
OPENINGS = 3
# Parts of a page that the documentation shows: where they begin, and pixels from there.
PICTURES = {
    "overview": ("h1", 1010),
    "class": ("#classes", 1280),
    "trust": ("#trust", 1220),
    "making": ("#making", 1180),
}
# Resolves with milliseconds since the start of navigation when the next frame is on the screen.
_DRAWN = "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folders of finished runs")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write pictures of the first run's page there")
    options = parser.parse_args()
    program = os.environ.get("DIGNN_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        print("| run | MB | seconds to write | seconds to open | wider than a phone | axe: serious or critical |")
        print("|---|---|---|---|---|---|")
        for run in options.runs:
            found = measured(run, browser, Path(folder) / f"{run.name}.html")
            print("| " + " | ".join(str(value) for value in found.values()) + " |")
        if options.pictures is not None:
            take_pictures(browser, Path(folder) / f"{options.runs[0].name}.html", options.pictures)
        browser.close()


def measured(run: Path, browser: Browser, path: Path) -> dict[str, Any]:
    explanations = Explanations.load(run)
    explanations.report(path)  # fonts and templates are loaded once
    begin = time.perf_counter()
    explanations.report(path)
    written = time.perf_counter() - begin
    opened = []
    for _ in range(OPENINGS):
        tab = opened_page(browser, path, "desktop")
        opened.append(tab.evaluate(_DRAWN) / 1000)
        found = Axe().run(tab).response["violations"]
        grave = [each for each in found if each["impact"] in ("serious", "critical")]
        tab.close()
    phone = opened_page(browser, path, "phone")
    wider = phone.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    phone.close()
    return {
        "run": run.name,
        "MB": f"{path.stat().st_size / 1e6:.2f}",
        "write": f"{written:.1f}",
        "open": f"{max(opened):.2f}",
        "wider": "yes" if wider else "no",
        "axe": len(grave),
    }


def opened_page(browser: Browser, path: Path, width: str) -> Page:
    size = WIDTHS[width]
    tab = browser.new_page(viewport={"width": size[0], "height": size[1]})
    tab.goto(path.resolve().as_uri(), wait_until="load")
    return tab


def take_pictures(browser: Browser, path: Path, folder: Path) -> None:
    tab = opened_page(browser, path, "desktop")
    for name, (start, height) in PICTURES.items():
        top = tab.locator(start).first.evaluate("element => element.getBoundingClientRect().top + window.scrollY")
        clip = {"x": 0, "y": max(0, top - 40), "width": WIDTHS["desktop"][0], "height": height}
        tab.screenshot(path=folder / f"report-{name}.png", full_page=True, clip=clip)  # type: ignore[arg-type]
        print(f"wrote {folder / f'report-{name}.png'}")
    tab.close()


if __name__ == "__main__":
    main()
