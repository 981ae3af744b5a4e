"""Code blocks of Markdown pages: finding them, and running or checking each by its language.

Python blocks of a page run top to bottom in one namespace. Of shell blocks every command is run or checked by
:mod:`docs.commands`; a shell starts a new process, so they know nothing that Python blocks have registered. JSON is
parsed. ``text`` is what is no code: trees and output. Any other language, and a block without one, fails, so that
nobody can add a block that nothing checks.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any
from unittest import mock

from dignn.core.registry import Registry
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.explainers.registry import EXPLAINERS
from dignn.features.registry import FEATURE_GENERATORS
from dignn.graphs.tasks.base import TASKS
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.zoo.datasets.registry import DATASETS
from docs.commands import check, split

REGISTRIES: tuple[Registry[Any], ...] = (DATASETS, STRUCTURE_GENERATORS, FEATURE_GENERATORS, PRESETS, EXPLAINERS, TASKS)
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "README.md"
_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+|~~~+) *(?P<language>[^\s`]*)[^`]*$")
_ITEM = re.compile(r"^ *([-*+]|\d+[.)]) ")


class BlockError(AssertionError):
    """A block of a page does not do what the page says."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; ``line`` is that of its opening fence, from 1."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line} ({self.language or 'no language'})"


def pages() -> list[Path]:
    """Every page that people read."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", EXAMPLES]
    return [*found, *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page.

    Raises:
        BlockError: a block has no end, or a paragraph is code by its indent alone, which has no language.
    """
    found: list[Block] = []
    lines = page.read_text().splitlines()
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            _refuse_indented(page, lines, number)
            number += 1
            continue
        fence = opening["fence"]
        end = next((k for k in range(number + 1, len(lines)) if lines[k].strip() == fence), None)
        if end is None:
            raise BlockError(f"{page.name}:{number + 1} opens a block that has no end")
        text = dedent("\n".join(lines[number + 1 : end]) + "\n")
        found.append(Block(page, number + 1, opening["language"], text))
        number = end + 1
    return found


def _refuse_indented(page: Path, lines: list[str], number: int) -> None:
    """Four spaces make code too, unless the paragraph belongs to an item of a list (or to options of the API pages)."""
    line = lines[number]
    if not line.startswith("    ") or not line.strip() or (number and lines[number - 1].strip()):
        return
    before = [other for other in lines[:number] if other.strip() and not other.startswith(" ")]
    if before and (_ITEM.match(before[-1]) or before[-1].startswith(":::")):
        return
    raise BlockError(f"{page.name}:{number + 1} is code by its indent; fence it and say its language")


def run_page(page: Path, given: dict[str, Any]) -> int:
    """Runs every block of a page in the working folder, and returns how many there are.

    Args:
        page: the page.
        given: names that its Python blocks may use without having made them.
    """
    found = blocks(page)
    module = ModuleType("page")  # dataclasses look the module of a class up
    sys.modules["page"] = module
    namespace: dict[str, Any] = vars(module)
    namespace.update(given)
    installed = [dict(registry) for registry in REGISTRIES]  # loads what is only named so far
    with _only(*(dict(items) for items in installed)):  # what a page registers, it registers for itself
        for block in found:
            try:
                with _only(*installed) if block.language == "sh" else nullcontext():
                    _run(block, namespace)
            except (Exception, SystemExit) as error:
                raise BlockError(f"{block}: {type(error).__name__}: {error}") from error
    return len(found)


@contextmanager
def _only(*known: dict[str, Any]) -> Iterator[None]:
    """Inside, only these have names, and what is registered is forgotten afterwards."""
    with ExitStack() as stack:
        for registry, items in zip(REGISTRIES, known, strict=True):
            stack.enter_context(mock.patch.object(registry, "_items", items))
        yield


def _run(block: Block, namespace: dict[str, Any]) -> None:
    match block.language:
        case "python":
            # Blank lines before it, so that a traceback names the line of the page.
            exec(compile("\n" * block.line + block.text, str(block.page), "exec"), namespace)
        case "sh":
            for command in split(block.text):
                check(command)
        case "json":
            json.loads(block.text)
        case "text":
            return
        case "":
            raise BlockError("a block needs a language: python, sh, json or text")
        case other:
            raise BlockError(f"nothing checks blocks of '{other}'; use python, sh, json or text")
