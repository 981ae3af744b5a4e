"""Which files there are, and what they are called."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx

from dignn.core.checks import instance
from dignn.core.errors import DignnError
from dignn.core.files import fill_folder, write_atomically, write_json, write_text
from dignn.report.export.gexf import write_gexf
from dignn.report.export.portable import portable_graph
from dignn.report.export.svg_file import standalone_svg
from dignn.report.goes_by_words import class_words
from dignn.report.lookup import entry, part
from dignn.report.safe_text import distinct

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation, Explanations

# Bytes of a class's name in a file name; systems allow about 255 for all of it.
FILE_NAME_BYTES = 100
PNG_DPI = 200
# No explanation's file is called like this: their names end with numbers.
GOES_BY_FILE = "goes_by.json"


def _png(explanation: Explanation, path: Path) -> None:
    from dignn.report.graph_figure import explanation_figure

    figure = explanation_figure(explanation)
    write_atomically(path, lambda temporary: figure.savefig(temporary, format="png", dpi=PNG_DPI))


FORMATS: dict[str, Callable[[Explanation, Path], None]] = {
    # The variant that needs only the standard library, so that everyone gets the same bytes.
    "graphml": lambda item, path: write_atomically(path, partial(nx.write_graphml_xml, portable_graph(item))),
    "gexf": lambda item, path: write_atomically(path, partial(write_gexf, portable_graph(item), item.graph)),
    "json": lambda item, path: write_json(path, item.summary()),
    "png": _png,
    "svg": lambda item, path: write_text(path, standalone_svg(item)),
}


def export(explanation: Explanation, path: Path | str) -> Path:
    """Writes an explanation to a file whose suffix says how, and returns its path.

    Args:
        explanation: what to write.
        path: ends in ``.graphml`` or ``.gexf`` (the graph with attributes, for Gephi, yEd, networkx), ``.json`` (what
            :meth:`Explanation.summary` gives), ``.png`` or ``.svg`` (the drawing).

    Raises:
        DignnError: the suffix is none of these.
    """
    path = Path(path)
    FORMATS[_known(path.suffix, f"{path.name} has")](explanation, path)
    return path


def export_all(explanations: Explanations, folder: Path | str, format: str) -> list[Path]:
    """Writes every explanation to a file ``CLASS-NUMBER.FORMAT`` in ``folder``; their paths in order.

    Numbers begin at 1, where ranks begin at 0. What no file name can hold becomes ``_`` in a class's name; classes
    whose names are then the same get a number. Where one explanation cannot be written, ``folder`` stays as it was.
    As json, what the model goes by is in ``goes_by.json`` beside them, where that was sought.
    """
    suffix = _known(format, "You gave")
    folder = Path(folder)
    stems = file_stems(list(explanations))
    several = {
        f"{stems[name]}-{number}.{suffix}": explanation
        for name, ranked in explanations.items()
        for number, explanation in enumerate(ranked, 1)
    }

    told = _goes_by(explanations) if suffix == "json" else None

    def write(made: Path) -> None:
        for name, explanation in several.items():
            export(explanation, made / name)
        if told is not None:
            write_json(made / GOES_BY_FILE, told)

    names = [*several, *([] if told is None else [GOES_BY_FILE])]
    return fill_folder(folder, names, write) if names else []


def _goes_by(explanations: Explanations) -> dict[str, Any] | None:
    """Sentence, scorecard and rules of every class, and how they were tested; None where they were not sought."""
    about, studied = explanations.about, part(explanations.about, "studied")
    classes = {
        name: {
            "sentence": words.sentence,
            "terms": about["goes_by"][name],
            "rules": entry(studied, list, "rule_list", name) or [],
        }
        for name, words in class_words(about, explanations.schema).items()
        if name in explanations
    }
    fidelity = {name: value for name, value in studied.items() if name != "rule_list"}
    return {"classes": classes, "fidelity": fidelity or None} if classes else None


def file_stems(names: list[str]) -> dict[str, str]:
    """For every name a stem that any system takes in a file name, distinct also where case does not count."""
    stems: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", name)).strip("._-") or "class"
        stems[name] = distinct(plain.encode()[:FILE_NAME_BYTES].decode(errors="ignore"), used)
    return stems


def _known(suffix: str, found: str) -> str:
    """The format that a suffix names."""
    instance("format", suffix, str, f"one of {', '.join(FORMATS)}")
    name = suffix.lower().removeprefix(".")
    if name not in FORMATS:
        what = f"the suffix '{suffix}'" if suffix else "no suffix"
        raise DignnError(f"{found} {what}, which is no format of exports; choose from {', '.join(FORMATS)}")
    return name
