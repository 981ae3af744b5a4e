"""The documentation site: it builds without a warning, needs nothing from elsewhere, and its links hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docs.blocks import ROOT

MISSING = [name for name in ("mkdocs", "material", "mkdocstrings") if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not installed; pip install '.[docs]'")
# Attributes by which a page fetches something by itself; a link waits for the reader.
FETCHED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
}


class Page(HTMLParser):
    """What a page fetches, where it links to, and the places in it that links can name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: set[str] = set()
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.fetched |= {given[name] for element, name in FETCHED if element == tag and name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """The pages of the built site by their files."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return {path: Page(path) for path in folder.rglob("*.html")}


def test_every_page_of_docs_is_on_the_site_and_in_its_menu(site: dict[Path, Page]) -> None:
    home = min((path for path in site if path.name == "index.html"), key=lambda path: len(path.parts))
    for page in (ROOT / "docs").rglob("*.md"):
        built = page.relative_to(ROOT / "docs").with_suffix(".html")
        assert home.parent / built in site
        assert built.as_posix() in site[home].links, f"{page.name} is not in the nav of mkdocs.yml"


def test_nothing_is_fetched_from_elsewhere(site: dict[Path, Page]) -> None:
    for path, page in site.items():
        assert not [url for url in page.fetched if urlsplit(url).netloc], path.name
    for path in {style for page in site for style in page.parent.rglob("*.css")}:
        outside = re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)'\"]*", path.read_text())
        assert not outside, path.name


def test_links_between_pages_hold(site: dict[Path, Page]) -> None:
    checked = 0
    for path, page in site.items():
        if path.name == "404.html":
            continue  # shown under any address, so its links are absolute
        for link in page.links | page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("data:"):
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert other.exists(), f"{path.name} links to {link}"
            if parts.fragment and other in site:
                assert unquote(parts.fragment) in site[other].places, f"{path.name} links to {link}"
            checked += 1
    assert checked > 200


def test_docstrings_leave_no_markup_of_another_language(site: dict[Path, Page]) -> None:
    for path in site:
        assert not re.search(r":(class|meth|func|data|mod|attr):", path.read_text()), path.name
