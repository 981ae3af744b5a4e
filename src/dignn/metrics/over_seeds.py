"""Figures of several runs of one explainer with different seeds: their mean, and how far they spread.

A run is what ``comparison.jsonl`` has on a line: ``names`` (the rows of a comparison that it counts for), ``seed``,
``seconds``, ``gib``, ``scored``, of ``metrics.json`` the columns ``paper``, ``sound`` and ``candidates``, and, in newer
lines, ``selection``: figures of what several rules would choose from the same candidates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

# What a run cost, and what it scored.
_COSTS, _LAYERS = ("seconds", "gib", "scored"), ("paper", "sound")
FURTHER, BY_RULE = "candidates", "selection"
# The rules by which all methods are compared: the paper's, and the default of the paper's method here.
COMPARED_RULES = ("highest", "representative")
# Beside classes, what stands over all of them; and the two sides of what was planted.
_MEAN, _RECALL, _PRECISION = "mean", "recall", "precision"


@dataclass(frozen=True)
class ComparedFigure:
    """A column of the table of a comparison.

    Args:
        title: as people read it.
        path: where it is in a run; of several numbers there the mean counts, or the lowest.
        digits: behind the point.
        better: which side is good; None for what only informs.
        what: a sentence about it.
        lowest: whether of several numbers the lowest counts and not their mean.
        least: below it, where lower is better, nothing is better.
    """

    title: str
    path: tuple[str, ...]
    digits: int = 3
    better: str | None = "higher"
    what: str = ""
    lowest: bool = False
    least: float = -math.inf

    def of(self, run: Mapping[str, Any]) -> float | None:
        """Its value in a run; None where there is none."""
        found: Any = run
        for name in self.path:
            found = found.get(name) if isinstance(found, Mapping) else None
        values = list(_numbers(found))
        return (min(values) if self.lowest else mean(values)) if values else None


@dataclass(frozen=True)
class PlantedFigure(ComparedFigure):
    """How much of what was planted explanations have, mean over the classes to which that applies.

    Where nothing planted is found, nobody can say how much of it is right: such a precision counts as 0.

    Args:
        parts: names of recalls and precisions, ``motif_recall`` for example; of several the mean counts.
    """

    parts: tuple[str, ...] = ()

    def of(self, run: Mapping[str, Any]) -> float | None:
        """Its value in a run; None where nothing was planted."""
        found: Any = run
        for name in self.path:
            found = found.get(name) if isinstance(found, Mapping) else None
        by_class = [own for name, own in found.items() if name != _MEAN] if isinstance(found, Mapping) else []
        means = [mean(values) for own in by_class if (values := [*self._values(own)])]
        return mean(means) if means else None

    def _values(self, own: Any) -> Iterator[float]:
        """Of a class."""
        for part in self.parts:
            recall, value = (own.get(name) for name in (part.replace(_PRECISION, _RECALL), part))
            yield from _numbers(0.0 if value is None and recall == 0 else value)


PREDICTED = ComparedFigure(
    "PF", (FURTHER, "paper", "pf"), what="the highest probability of any candidate, mean over classes"
)


def _shown(title: str, name: str, what: str = "") -> ComparedFigure:
    """Of explanations as a method chooses them."""
    return ComparedFigure(title, (FURTHER, *name.split(".")), what=what)


def _planted(name: str, *path: str, title: str = "", what: str = "") -> PlantedFigure:
    """Of what was planted, mean of recall and precision."""
    parts = (f"{name}_{_RECALL}", f"{name}_{_PRECISION}")
    return PlantedFigure(title or f"planted {name}s", path, what=what, parts=parts)


# What the table shows, of all candidates as they are chosen from, refinement included.
COMPARED_FIGURES = (
    PREDICTED,
    _shown("PF inside", "sound.pf_in_distribution", "the same inside the range of real members"),
    _shown("GF", "paper.gf", "share of motifs of real graphs that explanations contain"),
    _shown("typed GF", "sound.typed_gf", "the same with types of nodes and relations"),
    _shown("contrast", "sound.contrast", "motifs of the own class minus those of other classes"),
    ComparedFigure(
        "MMD",
        (FURTHER, "paper", "mmd"),
        better="lower",
        what="of the 50 best graphs of each class from real ones: node types, degrees, clustering, spectrum",
    ),
    ComparedFigure(
        "graph C2ST",
        (FURTHER, "sound", "graphs", "c2st"),
        better="lower",
        what="how surely a classifier tells candidates from real graphs; 0.5 is chance, and less is no better",
        least=0.5,
    ),
    _shown("coverage of 10", "sound.coverage", "share of real members near one of ten explanations"),
    *(
        _planted(
            name,
            *(FURTHER, "sound", "planted"),
            what=f"mean of recall and precision of planted {name}s, where they are known",
        )
        for name in ("motif", "keyword")
    ),
    ComparedFigure("seconds", ("seconds",), 1, "lower", "until explanations are there, without measuring them"),
    ComparedFigure("GiB", ("gib",), 2, "lower", "the most memory of the run and all its processes"),
    ComparedFigure("scored", ("scored",), 0, None, "graphs that the model was asked about"),
    ComparedFigure("chosen from", ("valid",), 0, None, "candidates; figures of few and of many do not compare well"),
)
# The same candidates, from which one rule chooses for all methods: figure by figure, each rule beside the other.
SAME_RULE_FIGURES = tuple(
    figure
    for title, name in (
        ("GF", "gf"),
        ("typed GF", "typed_gf"),
        ("contrast", "contrast"),
        ("coverage of 10", "coverage"),
    )
    for figure in (ComparedFigure(f"{title}, {rule}", (BY_RULE, rule, name)) for rule in COMPARED_RULES)
) + tuple(_planted("motif", BY_RULE, rule, "planted", title=f"planted motifs, {rule}") for rule in COMPARED_RULES)


def about_gcn(runs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether runs of a row are about a GCN of the data converted to one kind of node, and not about its own model."""
    return any(run.get("converted") for run in runs)


def by_row(runs: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Runs under the names of their rows, by name whatever was finished first; of a seed the last one counts."""
    found: dict[str, dict[int, Mapping[str, Any]]] = {}
    for run in runs:
        for name in run["names"]:
            found.setdefault(name, {})[run["seed"]] = run
    return {name: [found[name][seed] for seed in sorted(found[name])] for name in sorted(found)}


def over_seeds(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means of all figures of a row, and under ``spread`` their standard deviations, in the same shape.

    A figure counts over the seeds that have it. The standard deviation is that of a sample, null for a single seed.
    """
    parts = [{name: run.get(name) for name in (*_LAYERS, *_COSTS, FURTHER, BY_RULE)} for run in runs]
    return {
        **_joined(parts, lambda values: mean(values)),
        "spread": _joined(parts, lambda values: stdev(values) if len(values) > 1 else None),
        "seeds": [run["seed"] for run in runs],
    }


def mean_and_spread(runs: Sequence[Mapping[str, Any]], figure: ComparedFigure) -> tuple[float | None, float | None]:
    """Of a figure over the seeds that have it; None where none has, and no spread of a single one."""
    values = [value for run in runs if (value := figure.of(run)) is not None]
    return (mean(values) if values else None, stdev(values) if len(values) > 1 else None)


def shown_figures(
    rows: Mapping[str, Sequence[Mapping[str, Any]]], figures: Sequence[ComparedFigure] = COMPARED_FIGURES
) -> list[ComparedFigure]:
    """Those that any row has."""
    return [each for each in figures if any(each.of(run) is not None for runs in rows.values() for run in runs)]


def _joined(parts: Sequence[Any], join: Any) -> Any:
    """One tree of several of the same shape, leaves joined; what is no number in any of them is None."""
    trees = [part for part in parts if isinstance(part, Mapping)]
    if trees:
        names = dict.fromkeys(name for tree in trees for name in tree)
        return {name: _joined([tree.get(name) for tree in trees], join) for name in names}
    values = [part for part in parts if _is_number(part)]
    return join(values) if values else None


def _numbers(found: Any) -> Iterator[float]:
    if isinstance(found, Mapping):
        for part in found.values():
            yield from _numbers(part)
    elif _is_number(found):
        yield float(found)


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)
