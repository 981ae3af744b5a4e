"""The report: one HTML file without outside parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dignn.explanation import Explanation, Explanations
from dignn.report.drawing import looks, shape_svg, svg
from dignn.runtime.files import write_text
from dignn.runtime.run import STAGES, WALL
from dignn.schema import Schema


def write_page(explanations: Explanations, path: Path) -> Path:
    """Renders the page, puts it at ``path`` and returns the path."""
    environment = Environment(loader=PackageLoader("dignn.report"), autoescape=True, undefined=StrictUndefined)
    write_text(path, environment.get_template("page.html").render(_content(explanations)))
    return path


def _content(explanations: Explanations) -> dict[str, Any]:
    about = explanations.about
    classes = [(name, [_item(item) for item in several]) for name, several in explanations.items()]
    first = next((several[0] for several in explanations.values() if several), None)
    timings = about.get("timings", {})
    return {
        "title": about.get("dataset", "your model"),
        "about": about,
        "classes": classes,
        "legend": [] if first is None else _legend(first.graph.schema),
        "realism": _realism(about.get("metrics")),
        "pf": (about.get("metrics") or {}).get("paper", {}).get("pf"),
        "validity": about.get("validity", {}),
        "sampling": about.get("sampling", {}),
        "stages": [(STAGES[name], timings[name]) for name in STAGES if timings.get(name)],
        "wall": timings.get(WALL),
    }


def _item(explanation: Explanation) -> dict[str, Any]:
    node = explanation.node
    return {
        "rank": explanation.rank + 1,
        "score": explanation.score,
        "drawing": Markup(svg(explanation)),
        "features": [] if node is None else explanation.top_features(node, 12),
        "nodes": explanation.composition(),
    }


def _legend(schema: Schema) -> list[tuple[str, Markup]]:
    return [
        (name, Markup(f'<svg viewBox="0 0 24 24" class="mark" aria-hidden="true">{shape_svg(look, 12, 12)}</svg>'))
        for name, look in looks(schema).items()
    ]


def _realism(metrics: dict[str, Any] | None) -> list[tuple[str, float | None, float | None]]:
    """(what, generated, real against real) of the sound layer."""
    if metrics is None:
        return []
    names = {"node_type": "Node types", "degree": "Degrees", "clustering": "Clustering", "spectral": "Spectrum"}
    found, floor = metrics["sound"]["mmd"], metrics["floor"]["sound"]["mmd"]
    return [(title, found[key], floor[key]) for key, title in names.items()]
