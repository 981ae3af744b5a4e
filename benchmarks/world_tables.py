"""The tables of docs/any-data.md, made of the runs that benchmarks/worlds.py kept: misses first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.tables import markdown, measured_on, span, write_between
from benchmarks.worlds import NAMES

COMMAND = "python -m benchmarks.worlds --table"
Run = dict[str, Any]
# To be reached: how much above its floor a C2ST may be, how far agreement may be from accuracy, seconds of a run and of
# half of the runs, and memory.
C2ST, AGREEMENT, SECONDS, MEDIAN_SECONDS, MEMORY = 0.10, 0.05, 150.0, 90.0, 3.0


@dataclass(frozen=True)
class Aim:
    """A figure of a world: by how much its runs miss what was set.

    Args:
        name: a column of the table.
        text: the cell.
        excess: by how much of the bound the mean over seeds lies beyond it; None where nothing was measured.
    """

    name: str
    text: str
    excess: float | None

    @property
    def met(self) -> bool:
        return self.excess is not None and self.excess <= 1e-9

    @property
    def cell(self) -> str:
        return self.text if self.met else f"**{self.text}**"


def write_page(runs: Sequence[Run], page: Path) -> None:
    """Writes the tables into the page; of a world and seed the last run counts."""
    from dignn.zoo.worlds.world_recipe import recipe_of

    worlds = latest(runs)
    summaries = [[name, recipe_of(int(name.removeprefix("worlds-"))).summary] for name in (*NAMES, *_more(worlds))]
    parts = {
        "worlds": [markdown(["world", "properties"], summaries)],
        "tables": tables(worlds),
    }
    for region, content in parts.items():
        write_between(page, f"<!-- {region}: written by {COMMAND} -->", f"<!-- end of {region} -->", content)


def latest(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """By world, in their order, its last run of every seed."""
    last = {(run["world"], run["seed"]): run for run in runs}
    names = sorted({name for name, _ in last}, key=lambda name: int(name.removeprefix("worlds-")))
    return {name: [last[key] for key in sorted(last) if key[0] == name] for name in names}


def _more(worlds: dict[str, list[Run]]) -> list[str]:
    return [name for name in worlds if name not in NAMES]


def tables(worlds: dict[str, list[Run]]) -> list[str]:
    """A sentence that counts, the table of all worlds, those that miss most first, errors, and where time went."""
    if not worlds:
        return ["No runs yet."]
    aims = {name: aims_of(runs) for name, runs in worlds.items()}
    order = sorted(aims, key=lambda name: (-sum(not aim.met for aim in aims[name]), -_worst(aims[name])))
    rows = [[name, str(len(worlds[name])), *(aim.cell for aim in aims[name]), _model(worlds[name])] for name in order]
    head = ["world", "seeds", *(aim.name for aim in aims[order[0]]), "model's accuracy (majority)"]
    every = [run for runs in worlds.values() for run in runs]
    failed = [f"- {run['world']}, seed {run['seed']}: {run['error']}" for run in every if run["error"]]
    parts = [_counted(aims, every), markdown(head, rows)]
    parts += ["Runs that failed:\n\n" + "\n".join(failed)] if failed else []
    return [*parts, "### Where time goes", _stages(worlds), measured_on(every)]


def _worst(aims: Sequence[Aim]) -> float:
    return max((float("inf") if aim.excess is None else aim.excess for aim in aims), default=0.0)


def aims_of(runs: Sequence[Run]) -> list[Aim]:
    """What was to be reached on a world, and what its runs reached on average."""
    return [
        _above_floor("features: C2ST (floor)", runs, "features_c2st"),
        _above_floor("graphs: C2ST (floor)", runs, "graphs_c2st"),
        _agreement(runs),
        _at_most("seconds", runs, "seconds", SECONDS, 0),
        _at_most("GiB", runs, "gib", MEMORY, 2),
    ]


def _both(runs: Sequence[Run], first: str, second: str) -> list[tuple[float, float]]:
    return [(run[first], run[second]) for run in runs if run[first] is not None and run[second] is not None]


def _above_floor(name: str, runs: Sequence[Run], key: str) -> Aim:
    pairs = _both(runs, key, f"{key}_floor")
    if not pairs:
        failed = any(run["error"] for run in runs)
        return Aim(name, "none", None if failed else 0.0)  # a world without features has nothing to tell apart
    ours, floor = mean(pair[0] for pair in pairs), mean(pair[1] for pair in pairs)
    return Aim(name, f"{ours:.2f} ({floor:.2f})", (ours - floor - C2ST) / C2ST)


def _agreement(runs: Sequence[Run]) -> Aim:
    name, pairs = "agreement (real)", _both(runs, "agreement", "accuracy")
    if not pairs:
        return Aim(name, "none", None)
    ours, real = mean(pair[0] for pair in pairs), mean(pair[1] for pair in pairs)
    return Aim(name, f"{ours:.2f} ({real:.2f})", (abs(ours - real) - AGREEMENT) / AGREEMENT)


def _at_most(name: str, runs: Sequence[Run], key: str, bound: float, digits: int) -> Aim:
    values = [run[key] for run in runs if run[key] is not None]
    if not values or any(run["error"] for run in runs):
        return Aim(name, "none", None)
    return Aim(name, span(values, digits), (max(values) - bound) / bound)


def _model(runs: Sequence[Run]) -> str:
    known = [run["model"] for run in runs if run.get("model")]
    return f"{known[0]['accuracy']:.2f} ({known[0]['majority']:.2f})" if known else "-"


def _counted(aims: dict[str, list[Aim]], runs: Sequence[Run]) -> str:
    missed = {name: [aim.name.split(" (")[0] for aim in found if not aim.met] for name, found in aims.items()}
    number = sum(len(found) for found in aims.values())
    told = [f"{', '.join(names)} on {name}" for name, names in missed.items() if names]
    middle = median([run["seconds"] for run in runs if run["error"] is None] or [float("inf")])
    text = f"{number - sum(map(len, missed.values()))} of {number} figures are reached"
    text += f"; missed: {'; '.join(told)}." if told else "."
    reached = "reached" if middle <= MEDIAN_SECONDS else "missed"
    return f"{text} Half of the runs take at most {middle:.0f} s (aim: {MEDIAN_SECONDS:.0f} s, {reached})."


def _stages(worlds: dict[str, list[Run]]) -> str:
    timed = {name: [run["timings"] for run in runs if run.get("timings")] for name, runs in worlds.items()}
    timed = {name: found for name, found in timed.items() if found}
    stages = list(dict.fromkeys(stage for found in timed.values() for one in found for stage in one))
    rows = [
        [name, *(span([mean([one.get(stage, 0.0) for one in found])], 1) for stage in stages)]
        for name, found in timed.items()
    ]
    return markdown(["world", *stages], rows) if rows else "No run was timed."
