"""Finished runs, whatever command made them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any

from dignn.core.code_version import DIRTY
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
        machine: that it was made on; None where nobody noted it.
    """

    setup: Setup
    preset: str
    seed: int
    values: Mapping[str, Any]
    commit: str | None = None
    machine: Mapping[str, Any] | None = None

    def made_like(self, other: Run) -> bool:
        """Whether both were made by the same code, as it was committed, on the same machine.

        Only of such runs seconds say which is faster. Of what nobody noted nothing is known.
        """
        known = self.commit is not None and not self.commit.endswith(DIRTY) and self.machine is not None
        return known and (self.commit, self.machine) == (other.commit, other.machine)


class Finished:
    """Finished runs by what they are of.

    All that is told of a setup, preset and seed comes from one run, so that figures of different code, or seconds that
    were measured in different ways, do not meet in it. Of several the last counts, also where it has less to tell.

    Args:
        runs: in the order in which they count, the last one most.
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs: dict[tuple[Setup, str], dict[int, list[Run]]] = {}
        for run in runs:
            self._runs.setdefault((run.setup, run.preset), {}).setdefault(run.seed, []).append(run)

    def of(self, setup: Setup, preset: str, part: str) -> list[Run]:
        """The run of each seed, in the order of the seeds, where it has a part."""
        by_seed = self._runs.get((setup, preset), {})
        return [by_seed[seed][-1] for seed in sorted(by_seed) if part in by_seed[seed][-1].values]

    def made_like(self, other: Setup, setup: Setup, preset: str, part: str) -> list[Run]:
        """For each run of a setup that has a part, the last one of another that was made like it with its seed.

        None where any has no such run, because means over different seeds do not compare.
        """
        found = []
        for run in self.of(setup, preset, part):
            several = self._runs.get((other, preset), {}).get(run.seed, [])
            alike = [one for one in several if part in one.values and one.made_like(run)]
            if not alike:
                return []
            found.append(alike[-1])
        return found

    def has(self, setup: Setup, preset: str, seed: int, parts: Iterable[str]) -> bool:
        """Whether the run of a setup and seed has all those parts."""
        several = self._runs.get((setup, preset), {}).get(seed, [])
        return bool(several) and all(part in several[-1].values for part in parts)

    def seconds(self, preset: str) -> dict[Setup, float]:
        """The mean seconds of whole runs of each setup.

        What comes after its explanations takes as long as it does in other runs where one does not tell.
        """
        by_seed = [seeds for (_, name), seeds in self._runs.items() if name == preset]
        runs = [several[-1] for seeds in by_seed for several in seeds.values()]
        told = [run.values for run in runs if run.values.get("timings") and run.values.get("seconds") is not None]
        usual = mean(values["timings"][WALL] - values["seconds"] for values in told) if told else 0.0
        found: dict[Setup, list[float]] = {}
        for run in runs:
            if run.values.get("seconds") is not None:
                whole = (run.values.get("timings") or {}).get(WALL, run.values["seconds"] + usual)
                found.setdefault(run.setup, []).append(whole)
        return {setup: mean(values) for setup, values in found.items()}
