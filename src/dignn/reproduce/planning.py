"""Which runs tables want, which of them there are, and how long the others take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from dignn.explainers.registry import EXPLAINERS, presets_of
from dignn.reproduce.definition import Definition
from dignn.reproduce.runs import Finished
from dignn.reproduce.setups import Setup

# Parts of a run that a floor and controls are read from, and one that words are read from.
YARDSTICK_PARTS, TOLD_PART = ("floor", "control"), "best"
# Presets that every explainer has; whether it has another is known when it is loaded.
_OF_ALL = ("fast", "smoke")


@dataclass(frozen=True)
class Wanted:
    """A run that tables want.

    Args:
        setup, preset, seed: what it is of.
        parts: what is read from it.
    """

    setup: Setup
    preset: str
    seed: int
    parts: frozenset[str]

    @property
    def title(self) -> str:
        """The name of its folder."""
        return f"{self.setup.name}-{self.preset}-{self.seed}"


def wanted(tables: Iterable[Definition], preset: str, runs: int, datasets: Sequence[str] = ()) -> list[Wanted]:
    """The runs of some tables, each once whatever the number of cells that it serves; first seeds first.

    Args:
        tables: which.
        preset: of runs whose cells name none.
        runs: how many seeds, 0, 1, ...
        datasets: of these only; by default of all.
    """
    parts: dict[tuple[int, Setup, str], set[str]] = {}
    for table in tables:
        for setup, own, most, needed in _needed(table):
            if (datasets and setup.dataset not in datasets) or not can_run(setup, own or preset):
                continue
            for seed in range(runs if most is None else min(runs, most)):
                parts.setdefault((seed, setup, own or preset), set()).update(needed)
    inorder = sorted(parts, key=lambda key: key[0])
    return [Wanted(setup, own, seed, frozenset(parts[seed, setup, own])) for seed, setup, own in inorder]


def can_run(setup: Setup, preset: str) -> bool:
    """Whether an explainer has such a preset. What benchmarks of their own measure is no run of an explainer."""
    if setup.explainer not in EXPLAINERS:
        return False
    return preset in _OF_ALL or preset in presets_of(setup.explainer)


def _needed(table: Definition) -> Iterable[tuple[Setup, str | None, int | None, Iterable[str]]]:
    """Setups with their preset, the most seeds, and the parts of runs that cells and words are read from."""
    for cell in table.cells:
        yield cell.setup, cell.preset, cell.most, cell.figure.path[:1]
        if cell.beside is not None and cell.floor() is not None:
            yield cell.beside, cell.preset, cell.most, YARDSTICK_PARTS
    for told in table.told:
        yield told.setup, None, 1, (TOLD_PART,)


def unfinished(every: Iterable[Wanted], finished: Finished) -> list[Wanted]:
    """Those that no runs have all parts of; of a seed those that take longest come first."""
    open_ = [one for one in every if not finished.has(one.setup, one.preset, one.seed, one.parts)]
    expected = expected_seconds(open_, finished)
    return sorted(open_, key=lambda one: (one.seed, -(expected.get(one) or 0.0)))


def expected_seconds(every: Iterable[Wanted], finished: Finished) -> dict[Wanted, float]:
    """How long runs take, by runs of the same setup or else the nearest that there are; of others nothing is said."""
    known: dict[str, Mapping[Setup, float]] = {}
    found = {}
    for one in every:
        if one.preset not in known:
            known[one.preset] = finished.seconds(one.preset)
        value = _expected(one.setup, known[one.preset])
        if value is not None:
            found[one] = value
    return found


def _expected(setup: Setup, known: Mapping[Setup, float]) -> float | None:
    """By runs with the same settings, then the same model, data set, and at last the same explainer."""
    same = [other for other in known if other.explainer == setup.explainer]
    for alike in (
        [other for other in same if other == setup],
        [
            other
            for other in same
            if (other.dataset, other.form, other.columns) == (setup.dataset, setup.form, setup.columns)
        ],
        [other for other in same if other.dataset == setup.dataset],
        same,
    ):
        if alike:
            return mean(known[other] for other in alike)
    return None
