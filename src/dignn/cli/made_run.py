"""A run that is made for its figures: what came of it, and what it cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dignn.cli.run_parts import best_of, mean_nodes, parts_of_metrics
from dignn.cli.subject import Subject
from dignn.core.files import read_json
from dignn.core.machine import machine, watched_memory
from dignn.core.progress import Progress
from dignn.core.run_folder import TIMINGS, made_at, seconds_until_shown

if TYPE_CHECKING:
    from dignn.explainers.settings import RunSettings
    from dignn.explanations.explanation import Explanations


@dataclass(frozen=True)
class MadeRun:
    """What came of a run.

    Args:
        explainer: the method, by name.
        explanations: of it.
        metrics: ``metrics.json``.
        timings: ``timings.json``.
        scored: graphs that the model was asked about, those that explanations are chosen from included.
        gib: the most memory of the run and all its processes.
        mean_nodes: of the graphs that it generated.
        commit: of the code that began it; None where nobody noted it.
    """

    explainer: str
    explanations: Explanations
    metrics: dict[str, Any]
    timings: dict[str, float]
    scored: int
    gib: float
    mean_nodes: float
    commit: str | None

    @property
    def validity(self) -> dict[str, int]:
        """How many graphs were generated, connected and valid."""
        return self.explanations.about["validity"]

    @property
    def seconds(self) -> float:
        """Until explanations are there."""
        return round(seconds_until_shown(self.timings), 4)

    def told(self) -> dict[str, Any]:
        """For a line of a finished run: by which code, what it cost, what it made, and the figures of tables."""
        return {
            **({} if self.commit is None else {"commit": self.commit}),
            "seconds": self.seconds,
            "gib": self.gib,
            "scored": self.scored,
            "validity": self.validity,
            "mean_nodes": self.mean_nodes,
            "timings": self.timings,
            **parts_of_metrics(self.metrics, self.explainer),
            "best": best_of(self.explanations),
            "machine": machine(),
        }


def made_run(
    subject: Callable[[], Subject], explainer: str, settings: RunSettings, seed: int, folder: Path, preset: str
) -> MadeRun:
    """Makes a run, or goes on with it.

    Args:
        subject: loads data and model.
        explainer: the method, by name.
        settings: of it.
        seed: of it.
        folder: of the run.
        preset: that the settings started from.
    """
    with watched_memory() as memory:
        method = subject().explainer(explainer, settings, seed, folder, preset, Progress())
        explanations = method.fit().explain()
    scored = read_json(folder / "generation.json", "scored")["scored"] + explanations.about["validity"]["valid"]
    metrics, timings = read_json(folder / "metrics.json", "paper", "sound", "candidates"), read_json(folder / TIMINGS)
    return MadeRun(explainer, explanations, metrics, timings, scored, memory.gib, mean_nodes(folder), made_at(folder))
