"""Which runs a comparison consists of: every explainer as it is, at the common budget, and in the paper's own way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dignn.cli.options import EXPLAINER, Known, Own, settings_of
from dignn.cli.subject import Subject, of_dataset, of_file
from dignn.core.errors import DignnError
from dignn.core.progress import Progress
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings

COMMON_ROW, HOMOGENEOUS_ROW = "common", "homogeneous"
# The paper's name for its own method on a GCN, for which heterogeneous graphs are converted to one kind of node.
GCN_ROW = f"{EXPLAINER}-gcn"


@dataclass(frozen=True)
class Compared:
    """What is compared on: data and model, and the settings that all explainers start from.

    Args:
        name: data set, or data file.
        known: options of a data set.
        own: options of a data file; None for a data set.
        preset: of every explainer.
        budget: graphs that a method may score in its row at the common budget; 0 for no such rows.
        folder: where the runs go.
    """

    name: str
    known: Known
    own: Own | None
    preset: str
    budget: int
    folder: Path

    def subject(self, seed: int, progress: Progress, converted: bool = False) -> Subject:
        """Data and model; the model of a data set is trained with this seed.

        Args:
            seed: of the model.
            progress: told of its training.
            converted: take the GCN of the data set converted to one kind of node instead.
        """
        if self.own is None:
            return of_dataset(self.name, seed, replace(self.known, form="gcn") if converted else self.known, progress)
        return of_file(Path(self.name), self.own, progress)

    @property
    def has_gcn(self) -> bool:
        """Whether there is a GCN to compare with: of a data set as it is, whose model is another."""
        return self.own is None and self.known.form == "strong" and not self.known.columns

    def about(self) -> dict[str, Any]:
        """What every line says of it."""
        name = self.name if self.own is None else Path(self.name).name
        return {
            "dataset": name,
            "preset": self.preset,
            "budget": self.budget,
            **({} if self.own is not None else self.known.about()),
        }


@dataclass(frozen=True)
class PlannedRun:
    """A run of a comparison.

    Args:
        explainer: the method.
        seed: of the method, and of the model that dignn trains.
        settings: of the method.
        names: rows of the comparison that it counts for; the first, with the seed, names its folder.
        converted: whether it explains the GCN of the data set converted to one kind of node.
    """

    explainer: str
    seed: int
    settings: RunSettings
    names: tuple[str, ...]
    converted: bool = False

    @property
    def title(self) -> str:
        """The name of its folder."""
        return f"{self.names[0]}-{self.seed}"


def planned(
    compared: Compared, explainers: Sequence[str], seeds: Sequence[int], classes: int, heterogeneous: bool = False
) -> list[PlannedRun]:
    """All runs: every explainer as it is with every seed, and its variants with the first.

    Variants are that at the common budget and, of data sets with several kinds of nodes, that on a GCN of the data
    converted to one kind. Where a method keeps to the budget by itself, its first run counts for both rows. The row
    of dignnexplainer on a GCN has a name of its own, is also of data with one kind of node, and has every seed.

    Args:
        compared: what is compared on.
        explainers: names of explainers, and of :data:`GCN_ROW`.
        seeds: of the runs.
        classes: how many the model tells apart.
        heterogeneous: whether the data is a graph with several kinds of nodes.

    Raises:
        DignnError: the budget is too small for a method with so many classes.
    """
    found = []
    several = compared.has_gcn and heterogeneous
    for seed in seeds:
        for name in explainers:
            if name == GCN_ROW:
                own = settings_of(EXPLAINER, compared.preset)
                found += [PlannedRun(EXPLAINER, seed, own, (name,), converted=True)] if compared.has_gcn else []
                continue
            settings, common, first = settings_of(name, compared.preset), f"{name}-{COMMON_ROW}", seed == seeds[0]
            within = _within(compared, name, settings, classes) if compared.budget and first else None
            found.append(PlannedRun(name, seed, settings, (name, common) if within == settings else (name,)))
            if within is not None and within != settings:
                found.append(PlannedRun(name, seed, within, (common,)))
            if several and first and name != EXPLAINER:
                found.append(PlannedRun(name, seed, settings, (f"{name}-{HOMOGENEOUS_ROW}",), converted=True))
    return found


def _within(compared: Compared, name: str, settings: RunSettings, classes: int) -> RunSettings:
    try:
        return EXPLAINERS[name].within(settings, compared.budget, classes)
    except DignnError as error:
        raise DignnError(
            f"A budget of {compared.budget:,} graphs is too small for {name} with {classes} classes; give a larger "
            "--budget, or 0 for no rows at it"
        ) from error


def unfinished(runs: Sequence[PlannedRun], lines: Sequence[Mapping[str, Any]]) -> Iterator[PlannedRun]:
    """Runs that no line tells of."""
    there = {line.get("run") for line in lines}
    return (run for run in runs if run.title not in there)
