"""Tables of the section on trust that have no picture: features by type, rules of choice, chemistry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dignn.core.numerals import tight_percent
from dignn.metrics.measures.feature_errors import VALUES
from dignn.report.lookup import number_at, part

EMPTY_CELL = "\N{EN DASH}"
_FEATURES = {name: name.replace("_", " ") for name in VALUES} | {"c2st": "C2ST"}
_RULES = {"probability": "probability", "gf": "GF", "typed_gf": "typed GF", "coverage": "coverage"}


def cell(value: float | None) -> str:
    """A figure with digits that mean something, all of one length where they can be."""
    if value is None:
        return EMPTY_CELL
    if value != 0 and abs(value) < 0.01:
        shown = f"{value:.5f}" if abs(value) >= 0.00001 else f"{value:.0e}"
    else:
        shown = f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return shown.replace("-", "\N{MINUS SIGN}")


def features_by_type(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """Errors of the features of each node type, each beside that of real rows."""
    layers = [part(layer, "sound", "features", "by_type") for layer in (metrics, metrics.get("floor"))]
    if not layers[0]:
        return None
    rows = [
        (str(name), [cell(number_at(layer, (name, kind))) for kind in _FEATURES for layer in layers])
        for name in layers[0]
    ]
    return {"head": [word for title in _FEATURES.values() for word in (title, "real")], "rows": rows}


def rules(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """What other rules of choosing explanations would have given from the same candidates."""
    found = part(metrics, "selection")
    if not found:
        return None
    rows = [(str(name), [cell(number_at(found, (name, kind))) for kind in _RULES]) for name in found]
    return {"head": list(_RULES.values()), "rows": rows}


def chemistry(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """Groups that chemists know: how many explanations have them, and how many real molecules."""
    found = part(metrics, "details", "groups")
    kinds = list(dict.fromkeys(kind for name in found for kind in part(found, name)))
    if not kinds:
        return None
    rows = []
    for name in found:
        values = [number_at(found, (name, kind, which)) for kind in kinds for which in ("explanations", "real")]
        rows.append((str(name), [EMPTY_CELL if value is None else tight_percent(value) for value in values]))
    return {"head": [word for kind in kinds for word in (str(kind), "real")], "rows": rows}
