"""Figures that mend what the paper's cannot see, and what each should reach."""

from __future__ import annotations

from dignn.metrics.over_seeds import FURTHER, ComparedFigure, PlantedFigure
from dignn.reproduce.definition import LIKE_REAL, REAL_GRAPHS, REAL_SUBGRAPHS, Target

_Wanted = tuple[ComparedFigure, Target | None]
_SOUND = (FURTHER, "sound")


def _figure(
    title: str, *path: str, better: str | None = "higher", lowest: bool = False, digits: int = 3
) -> ComparedFigure:
    return ComparedFigure(title, (*_SOUND, *path), digits, better, lowest=lowest)


def _distance(title: str, name: str) -> _Wanted:
    return _figure(title, "mmd", name, better="lower", digits=4), Target("≤", 2.0, of=REAL_GRAPHS)


def _error(title: str, name: str, times: float) -> _Wanted:
    return _figure(title, "features", name, better="lower", digits=4), Target("≤", times, of=REAL_GRAPHS)


STRUCTURE_REALISM: tuple[_Wanted, ...] = (
    (_figure("valid share", "yield"), Target("≥", 0.98)),
    _distance("distance of types", "node_type"),
    _distance("distance of degrees", "degree"),
    _distance("distance of clustering", "clustering"),
    _distance("distance of spectra", "spectral"),
    (_figure("C2ST of graphs", "graphs", "c2st", better="lower"), Target("≤", 0.65)),
    (_figure("novelty", "graphs", "novelty", better=LIKE_REAL), None),
    (_figure("uniqueness", "graphs", "uniqueness", better=LIKE_REAL), None),
)
FEATURE_REALISM: tuple[_Wanted, ...] = (
    _error("column error", "column_error", 1.2),
    _error("pair error", "pair_error", 1.5),
    _error("row density", "row_density", 2.0),
    (_figure("C2ST of features", "features", "c2st", better="lower"), Target("≤", 0.65)),
    (_figure("memorisation", "features", "memorisation", better=LIKE_REAL), Target("≥", 0.4, most=0.6)),
)
REALISM = {"Realism of structure": STRUCTURE_REALISM, "Realism of features": FEATURE_REALISM}
FAITHFUL: tuple[_Wanted, ...] = (
    (ComparedFigure("PF", (FURTHER, "paper", "pf")), None),
    (_figure("PF inside", "pf_in_distribution"), Target("≥", 0.95)),
    (ComparedFigure("GF", (FURTHER, "paper", "gf")), None),
    (_figure("typed GF", "typed_gf"), None),  # judged on equal footing
    (_figure("lowest contrast", "contrast", lowest=True), Target(">", 0.0)),  # of any class
    (_figure("coverage of 10", "coverage"), None),
)
# Beside as many random real graphs, chosen from by the same rule; it is a share, so nothing is above 1.
EQUAL_TARGETS = {"typed GF": Target(">", 1.0, of=REAL_SUBGRAPHS, most=1.0)}
PLANTED_TRUTH: tuple[_Wanted, ...] = tuple(
    (PlantedFigure(part.replace("_", " "), (*_SOUND, "planted"), parts=(part,)), Target("≥", 0.9))
    for part in ("motif_recall", "motif_precision", "keyword_recall", "keyword_precision")
)
COSTS: tuple[_Wanted, ...] = (
    (ComparedFigure("seconds", ("seconds",), 0, "lower"), None),
    (ComparedFigure("GGAT", ("timings", "GGAT"), 1, "lower"), None),
)


def figure_titled(title: str) -> ComparedFigure:
    """The figure of this title."""
    return next(figure for figure, _ in STRUCTURE_REALISM + FEATURE_REALISM + FAITHFUL + COSTS if figure.title == title)
