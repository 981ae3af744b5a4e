"""Takes the pictures of ``docs/report.md``: ``python docs/hooks/screenshots.py runs/demo/report.html``.

Needs playwright and a Chromium, as the tests of the page do.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

IMAGES = Path(__file__).parents[1] / "images"
WIDTH = 1080
# Margins above and below what is shown.
ABOVE, BELOW = 14, 6
# A picture begins at the top of one element of the page and ends at the bottom of another, or at the top of it.
PICTURES = {
    "report-overview.png": ("header", "#overview", "bottom"),
    "report-class.png": ("#classes", "#class-1", "bottom"),
    "report-trust.png": ("#trust", "#trust h4:nth-of-type(2)", "top"),
    "report-making.png": ("#making", "#making", "bottom"),
}
PLACE = "([name, side]) => document.querySelector(name).getBoundingClientRect()[side] + scrollY"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path, help="report.html of a run of the demo")
    page = parser.parse_args().page.resolve()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = os.environ.get("DIGNN_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": 1000})
        tab.goto(page.as_uri())
        for name, (first, last, side) in PICTURES.items():
            top = max(tab.evaluate(PLACE, [first, "top"]) - ABOVE, 0)
            bottom = tab.evaluate(PLACE, [last, side]) + (BELOW if side == "bottom" else -ABOVE)
            clip = {"x": 0, "y": top, "width": WIDTH, "height": bottom - top}
            tab.screenshot(path=IMAGES / name, full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    main()
