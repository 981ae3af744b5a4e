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

from dignn.explanations.explanation import Explanations

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
OPENINGS = 3
# Pictures for the documentation: each begins at the top of one element of the page and ends at an edge of another.
PICTURES = {
    "overview": ("header", "#overview", "bottom"),
    "class": ("#classes", "#class-1", "bottom"),
    "trust": ("#trust", "#trust h4:nth-of-type(2)", "top"),
    "making": ("#making", "#making", "bottom"),
}
# Pixels: width of a picture, margins above and below what it shows.
WIDTH, ABOVE, BELOW = 1080, 14, 6
_PLACE = "([name, side]) => document.querySelector(name).getBoundingClientRect()[side] + scrollY"
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
    tab = browser.new_page(viewport={"width": WIDTH, "height": 1000})
    tab.goto(path.resolve().as_uri())
    for name, (first, last, side) in PICTURES.items():
        top = max(tab.evaluate(_PLACE, [first, "top"]) - ABOVE, 0)
        bottom = tab.evaluate(_PLACE, [last, side]) + (BELOW if side == "bottom" else -ABOVE)
        picture = folder / f"report-{name}.png"
        tab.screenshot(path=picture, full_page=True, clip={"x": 0, "y": top, "width": WIDTH, "height": bottom - top})
        print(f"wrote {picture}")
    tab.close()


if __name__ == "__main__":
    main()
