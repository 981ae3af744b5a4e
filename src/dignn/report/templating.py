"""Markup from the templates of this room."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dignn.core.numerals import percent
from dignn.report.charts.parts import WIDTH, line, path, text
from dignn.report.graph_words import made_of, unbroken

_LOADER = PackageLoader("dignn.report")
_JINJA = Environment(loader=_LOADER, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
_JINJA.globals |= {"line": line, "path": path, "text": text}
_JINJA.filters |= {"tenths": "{:.1f}".format, "percent": percent, "made_of": made_of, "unbroken": unbroken}


def source(name: str) -> str:
    """A template, a script or a style sheet as it is."""
    return _LOADER.get_source(_JINJA, name)[0]


def chart(kind: str, height: float, label: str, **content: Any) -> Markup:
    """A chart of a kind that has a template; ``label`` is what it says to those who cannot see."""
    return render(f"chart_{kind}.svg", width=WIDTH, height=f"{height:g}", label=label, **content)


def render(name: str, **content: Any) -> Markup:
    """A template filled in; texts are escaped."""
    return Markup(_JINJA.get_template(name).render(content))
