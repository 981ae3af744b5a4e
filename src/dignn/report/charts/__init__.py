"""Charts of the report as SVG: pure functions of numbers and names, without scripts, identifiers or outside parts.

Every chart is 360 units wide, drawn at that size at most and smaller where there is less room, and says in its
``aria-label`` what a sighted reader sees. Colours come from ``templates/charts.css``.
"""

from dignn.report.charts.bars import bars
from dignn.report.charts.curves import Curve, curves
from dignn.report.charts.densities import Density, densities
from dignn.report.charts.dots import Control, DotRow, dots
from dignn.report.charts.shares import ShareRow, shares

__all__ = [
    "Control",
    "Curve",
    "Density",
    "DotRow",
    "ShareRow",
    "bars",
    "curves",
    "densities",
    "dots",
    "shares",
]
