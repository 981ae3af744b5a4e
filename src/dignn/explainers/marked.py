"""Explanations with the marks of other explainers beside their own evidence."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from dignn.core.errors import RunFolderError
from dignn.core.files import read_json
from dignn.core.progress import Tick, silent
from dignn.core.seeds import Seed
from dignn.evidence.marks import mark, summed_up
from dignn.evidence.registry import MARKED_BY, available, check_markers
from dignn.explanations.explanation import Explanation
from dignn.explanations.explanation_files import EXPLANATIONS
from dignn.model.adapter import GNNAdapter

log = logging.getLogger(__name__)


def marked(
    by_class: Mapping[str, Sequence[Explanation]],
    markers: Sequence[str],
    adapter: GNNAdapter,
    seed: Seed,
    tick: Tick = silent,
) -> tuple[dict[str, list[Explanation]], dict[str, dict[str, Any]]]:
    """The explanations with marks, and by marker how far it agrees with their evidence, as JSON takes it.

    Args:
        by_class: explanations with evidence.
        markers: names of :data:`~dignn.evidence.registry.MARKED_BY`.
        adapter: asks the model.
        seed: marks of an explanation depend on it, on its class and on its number among the candidates.
        tick: told how far it is.
    """
    found = {name: list(several) for name, several in by_class.items()}
    places = [(name, rank) for name, several in found.items() for rank in range(len(several))]
    told = {}
    for turn, marker in enumerate(markers):
        done = []
        for number, (name, rank) in enumerate(places):
            item = found[name][rank]
            if item.evidence is not None:
                own = seed.child(item.class_index, item.candidate)
                marks = mark(marker, adapter, item.graph, item.evidence.effects, own)
                evidence = replace(item.evidence, marks={**item.evidence.marks, marker: marks})
                found[name][rank] = replace(item, evidence=evidence)
                done.append((marks, evidence.effects, own))
            tick(turn * len(places) + number + 1, len(markers) * len(places))
        told[marker] = asdict(summed_up(done))
    return found, told


def chosen_markers(marks: Iterable[str] | None, folder: Path | None) -> tuple[str, ...]:
    """Markers of explanations: those that are asked for and those whose marks the run folder has; ``()`` for none."""
    asked = () if marks is None else check_markers(marks)
    return () if marks is not None and not asked else tuple(dict.fromkeys((*_noted_markers(folder), *asked)))


def _noted_markers(folder: Path | None) -> tuple[str, ...]:
    """Those whose marks a run folder has already, as far as they are to be had."""
    if folder is None or not (folder / EXPLANATIONS).exists():
        return ()
    try:
        there = read_json(folder / EXPLANATIONS).get("marks")
    except RunFolderError:  # it is made anew
        return ()
    known = [name for name in there if name in MARKED_BY] if isinstance(there, dict) else []
    lacking = [name for name in known if not available(name)]
    if lacking:
        log.warning("Marks of %s in %s are left out: what makes them is not installed", ", ".join(lacking), folder)
    return tuple(name for name in known if name not in lacking)
