"""Tables of the section on trust that have no picture: features by type, rules of choice, chemistry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dignn.report.charts.parts import percent
from dignn.report.lookup import number_at

ABSENT = "\N{EN DASH}"
_FEATURES = {
    "column_error": "column error",
    "pair_error": "pair error",
    "row_density": "row density",
    "c2st": "C2ST",
    "memorisation": "memorisation",
}
_RULES = {"probability": "probability", "gf": "GF", "typed_gf": "typed GF", "coverage": "coverage"}


def cell(value: float | None) -> str:
    """A figure with digits that mean something, all of one length where they can be."""
    if value is None:
        return ABSENT
    if value != 0 and abs(value) < 0.01:
        shown = f"{value:.5f}" if abs(value) >= 0.00001 else f"{value:.0e}"
    else:
        shown = f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return shown.replace("-", "\N{MINUS SIGN}")


def features_by_type(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """Errors of the features of each node type, each beside that of real rows."""
    names = list(_mapping(metrics, "sound", "features", "by_type"))
    if not names:
        return None
    layers = (metrics, metrics.get("floor"))
    rows = []
    for name in names:
        values = [
            number_at(layer, ("sound", "features", "by_type", name, kind)) for kind in _FEATURES for layer in layers
        ]
        rows.append((str(name), [cell(value) for value in values]))
    return {"head": [word for title in _FEATURES.values() for word in (title, "real")], "rows": rows}


def rules(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """What other rules of choosing explanations would have given from the same candidates."""
    found = _mapping(metrics, "selection")
    if not found:
        return None
    rows = [(str(name), [cell(number_at(found, (name, kind))) for kind in _RULES]) for name in found]
    return {"head": list(_RULES.values()), "rows": rows}


def chemistry(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """Groups that chemists know: how many explanations have them, and how many real molecules."""
    found = _mapping(metrics, "details", "groups")
    kinds = list(dict.fromkeys(kind for name in found for kind in _mapping(found, name)))
    if not kinds:
        return None
    rows = []
    for name in found:
        pairs = [[number_at(found, (name, kind, which)) for which in ("explanations", "real")] for kind in kinds]
        rows.append((str(name), [ABSENT if value is None else percent(value) for pair in pairs for value in pair]))
    return {"head": [word for kind in kinds for word in (str(kind), "real")], "rows": rows}


def _mapping(content: Any, *path: Any) -> Mapping[Any, Any]:
    for name in path:
        content = content.get(name) if isinstance(content, Mapping) else None
    return content if isinstance(content, Mapping) else {}
