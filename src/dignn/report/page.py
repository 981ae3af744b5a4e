"""The report: one HTML file without outside parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dignn.explanation import Explanation, Explanations
from dignn.report.looks import looks
from dignn.report.svg import shape_svg, svg
from dignn.runtime.files import write_text
from dignn.runtime.run import STAGES, WALL
from dignn.schema import Schema

# Columns of the classified node that are shown.
FEATURES = 12


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
        "faithfulness": _faithfulness(about.get("metrics")),
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
        "features": [] if node is None else _features(explanation, node),
        "nodes": explanation.composition(),
        "text": None if explanation.evidence is None else explanation.evidence.text,
        "standing": explanation.standing,
        "nearest": None if explanation.evidence is None else explanation.evidence.nearest,
    }


def _features(explanation: Explanation, node: int) -> list[tuple[str, float, bool]]:
    """The classified node's columns: name, value, and whether the model misses it; what it misses most comes first."""
    evidence = explanation.evidence
    missed = [] if evidence is None else [column.name for column in evidence.own_columns if column.drop > 0]
    shown = explanation.top_features(node, 64)
    ranked = sorted(shown, key=lambda pair: missed.index(pair[0]) if pair[0] in missed else len(missed))
    return [(name, value, name in missed) for name, value in ranked[:FEATURES]]


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


def _faithfulness(metrics: dict[str, Any] | None) -> list[tuple[str, float | None, float | None, float | None]]:
    """(what, explanations, real graphs, random trees) of what says whether explanations are true to model and data."""
    if metrics is None:
        return []
    trees = metrics["control"].get("random_trees", {})
    layers = (metrics, metrics["floor"], trees)
    names = {
        "Highest probability, mean over classes (PF)": ("paper", "pf"),
        "The same, inside the range of real members": ("sound", "pf_in_distribution"),
        "Share of the class's motifs in its first graph (GF)": ("paper", "gf"),
        "The same, types of nodes and relations included": ("sound", "typed_gf"),
        "Share of real members near one of ten explanations": ("sound", "coverage"),
    }
    return [(title, *(layer.get(kind, {}).get(key) for layer in layers)) for title, (kind, key) in names.items()]
