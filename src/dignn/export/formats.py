"""Which files there are, and what they are called."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import networkx as nx

from dignn.errors import DignnError
from dignn.explanation import Explanation, Explanations
from dignn.export.gexf import write_gexf
from dignn.export.portable import portable_graph
from dignn.runtime.files import fill_folder, write_atomically, write_json, write_text

# Bytes of a class's name in a file name; systems allow about 255 for all of it.
LONGEST = 100
PNG_DPI = 200


def _graphml(explanation: Explanation, path: Path) -> None:
    # The variant that needs only the standard library, so that everyone gets the same bytes.
    write_atomically(path, lambda temporary: nx.write_graphml_xml(portable_graph(explanation), temporary))


def _gexf(explanation: Explanation, path: Path) -> None:
    write_atomically(path, lambda temporary: write_gexf(explanation, temporary))


def _json(explanation: Explanation, path: Path) -> None:
    write_json(path, explanation.summary())


def _png(explanation: Explanation, path: Path) -> None:
    from dignn.report.figure import explanation_figure

    figure = explanation_figure(explanation)
    write_atomically(path, lambda temporary: figure.savefig(temporary, format="png", dpi=PNG_DPI))


def _svg(explanation: Explanation, path: Path) -> None:
    from dignn.report.standalone import standalone_svg

    write_text(path, standalone_svg(explanation))


FORMATS: dict[str, Callable[[Explanation, Path], None]] = {
    "graphml": _graphml,
    "gexf": _gexf,
    "json": _json,
    "png": _png,
    "svg": _svg,
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
    """
    suffix = _known(format, "You gave")
    folder = Path(folder)
    stems = file_stems(list(explanations))
    several = {
        f"{stems[name]}-{number}.{suffix}": explanation
        for name, ranked in explanations.items()
        for number, explanation in enumerate(ranked, 1)
    }

    def write(made: Path) -> None:
        for name, explanation in several.items():
            export(explanation, made / name)

    return fill_folder(folder, list(several), write) if several else []


def file_stems(names: list[str]) -> dict[str, str]:
    """For every name a stem that any system takes in a file name, distinct also where case does not count."""
    stems: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", name)).strip("._-") or "class"
        plain = plain.encode()[:LONGEST].decode(errors="ignore")
        stem, number = plain, 2
        while stem.casefold() in used:
            stem, number = f"{plain}_{number}", number + 1
        used.add(stem.casefold())
        stems[name] = stem
    return stems


def _known(suffix: str, found: str) -> str:
    """The format that a suffix names."""
    name = suffix.lower().removeprefix(".")
    if name not in FORMATS:
        what = f"the suffix '{suffix}'" if suffix else "no suffix"
        raise DignnError(f"{found} {what}, which is no format of exports; choose from {', '.join(FORMATS)}")
    return name
