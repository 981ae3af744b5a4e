"""What an explanation carries beside its graph: evidence that a reader can check.

:func:`gather` makes it for all explanations of a run: what removing nodes, edges and features does to the class
(``removal``, ``joint``), the nearest real example (``familiar``), and a sentence or two that say it (``sentences``).
Beside the way of the data: nothing here is imported by generators, selection or metrics.
"""

from dignn.evidence.carried import Evidence, gather
from dignn.evidence.familiar import NearestExample, nearest_real
from dignn.evidence.removal import ColumnEffect, Effect, Effects, removal_effects, strongest_columns
from dignn.evidence.sentences import sentences
from dignn.evidence.variants import Kind, Part, average_rows

__all__ = [
    "ColumnEffect",
    "Effect",
    "Effects",
    "Evidence",
    "Kind",
    "NearestExample",
    "Part",
    "average_rows",
    "gather",
    "nearest_real",
    "removal_effects",
    "sentences",
    "strongest_columns",
]
