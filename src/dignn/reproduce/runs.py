"""Finished runs, whatever command made them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any

from dignn.core.run_folder import WALL
from dignn.reproduce.setups import Setup


@dataclass(frozen=True)
class Run:
    """A finished run.

    Args:
        setup: what it is of.
        preset: of its settings.
        seed: of model, data and generators.
        values: what is read from it: parts of ``metrics.json``, ``timings.json`` and ``explanations.json``, by name.
        commit: at which it was made; None where nobody noted it.
    """

    setup: Setup
    preset: str
    seed: int
    values: Mapping[str, Any]
    commit: str | None = None


class Finished:
    """Finished runs by what they are of.

    Args:
        runs: in the order of their making; of several of a setup, preset and seed the last that has a value counts.
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs: dict[tuple[Setup, str], dict[int, list[Run]]] = {}
        for run in runs:
            self._runs.setdefault((run.setup, run.preset), {}).setdefault(run.seed, []).insert(0, run)

    def of(self, setup: Setup, preset: str, part: str) -> list[Run]:
        """A run for each seed, the latest one that has a part, in the order of the seeds."""
        found = []
        for _, several in sorted(self._runs.get((setup, preset), {}).items()):
            found += [run for run in several if part in run.values][:1]
        return found

    def has(self, setup: Setup, preset: str, seed: int, parts: Iterable[str]) -> bool:
        """Whether runs of a setup and seed have all those parts between them."""
        several = self._runs.get((setup, preset), {}).get(seed, [])
        return bool(several) and all(any(part in run.values for run in several) for part in parts)

    def seconds(self, preset: str) -> dict[Setup, float]:
        """The mean seconds of whole runs of each setup.

        What comes after its explanations takes as long as it does in other runs where one does not tell.
        """
        by_seed = [seeds for (_, name), seeds in self._runs.items() if name == preset]
        runs = [run for seeds in by_seed for several in seeds.values() for run in several]
        told = [run.values for run in runs if run.values.get("timings") and run.values.get("seconds") is not None]
        usual = mean(values["timings"][WALL] - values["seconds"] for values in told) if told else 0.0
        found: dict[Setup, list[float]] = {}
        for run in runs:
            if run.values.get("seconds") is not None:
                whole = (run.values.get("timings") or {}).get(WALL, run.values["seconds"] + usual)
                found.setdefault(run.setup, []).append(whole)
        return {setup: mean(values) for setup, values in found.items()}
