"""Tells of rows that are too few to learn from."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from dignn.features.base import FeatureGenerator

log = logging.getLogger(__name__)

# What becomes of such rows, and how many classes that have so few a message names.
REPEATED, NAMED_CLASSES = "they are repeated as they are", 3


def tell_of_few_rows(
    few: Mapping[str, int], parts: Mapping[tuple[str, int | None], FeatureGenerator], classes: Sequence[str]
) -> None:
    """One sentence for each type: data may have many small classes.

    Args:
        few: rows of types that have too few of them.
        parts: generators by node type, and by class where each has its own.
        classes: names of the classes.
    """
    for name, number in few.items():
        log.warning("The data has only %d feature rows of '%s' to learn from; %s", number, name, REPEATED)
    small: dict[str, dict[str, float]] = {}
    for (name, own), generator in parts.items():
        rows = generator.report.get("few_rows", {})
        whole = rows.get(str(generator.classes))  # the label that all rows have
        if whole is not None and own is None:
            log.warning("The data has only %.0f feature rows of '%s' to learn from; %s", whole, name, REPEATED)
            continue
        for label, number in rows.items():
            small.setdefault(name, {})[classes[int(label) if own is None else own]] = number
    for name, found in small.items():
        if len(found) == 1:
            only = next(iter(found.items()))
            log.warning("Class '%s' has only %.0f feature rows of '%s' to learn from; %s", *only, name, REPEATED)
            continue
        named = ", ".join(f"'{each}': {number:.0f}" for each, number in list(found.items())[:NAMED_CLASSES])
        more = f" and {len(found) - NAMED_CLASSES} more" if len(found) > NAMED_CLASSES else ""
        what = "%d classes have few feature rows of '%s' to learn from (%s%s); %s"
        log.warning(what, len(found), name, named, more, REPEATED)
