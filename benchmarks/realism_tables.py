"""The tables of :mod:`benchmarks.realism` in ``docs/realism.md``."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.realism_methods import METHODS, SETS, STAGES, TIMED
from benchmarks.tables import markdown, measured_on, span, write_between
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.metrics.structure_realism import STRUCTURE_METRICS

PAGE = Path("docs/realism.md")
BEGIN, END = "<!-- tables: written by python -m benchmarks.realism --table -->", "<!-- end of tables -->"
STAGES_BEGIN = "<!-- stages: written by python -m benchmarks.realism --table -->"
STAGES_END = "<!-- end of stages -->"
_HEADS = {"degree": "degree", "clustering": "clustering", "spectral": "spectrum"}
_HEADS |= {"node_token": "node tokens", "typed_edge": "typed edges"}


def write_tables(runs: list[dict[str, Any]]) -> None:
    """Puts the tables of all runs between the markers of the page."""
    whole = [run for run in runs if run["method"] not in STAGES]
    write_between(PAGE, BEGIN, END, [quality_table(whole), shape_table(whole), cost_table(whole), measured_on(whole)])
    write_between(PAGE, STAGES_BEGIN, STAGES_END, [stage_table(runs)])
    print(f"wrote {PAGE}")


def quality_table(runs: list[dict[str, Any]]) -> str:
    """Realism: mean over seeds, and the range of the ratio."""
    head = ["data set", "method", "ratio", *_HEADS.values(), "isomorphic", "unique", "yield", "seeds"]
    rows = []
    for name, method, chosen in _grouped(runs):
        found = [run["realism"] for run in chosen]
        metrics = [
            f"{1000 * mean(one['value'][metric] for one in found):.2f} / "
            f"{1000 * mean(one['floor'][metric] for one in found):.2f}"
            for metric in STRUCTURE_METRICS
        ]
        same = [mean(one[field] for one in found) for field in ("isomorphic", "isomorphic_held_out")]
        alone = [mean(one[field] for one in found) for field in ("unique", "unique_train")]
        valid = mean(one["valid"] for one in found)
        first = [_first_yield(run) for run in chosen]
        both = f"{mean(one for one in first if one is not None):.3f} → " if None not in first else ""
        rows.append(
            [
                name,
                method,
                f"**{span([one['ratio'] for one in found])}**",
                *metrics,
                f"{same[0]:.3f} / {same[1]:.3f}",
                f"{alone[0]:.3f} / {alone[1]:.3f}",
                f"{both}{valid:.3f}",
                str(len(chosen)),
            ]
        )
    return markdown(head, rows)


def shape_table(runs: list[dict[str, Any]]) -> str:
    """Classifier test and whole shapes of runs that have them: mean over seeds, generated / real."""
    rows = []
    for name, method, chosen in _grouped([run for run in runs if "c2st" in run]):
        told = " / ".join(f"{mean(run['c2st'][side] or 0.5 for run in chosen):.3f}" for side in (0, 1))
        shapes = [
            f"{shape} " + " / ".join(f"{mean(run['whole'][shape][side] for run in chosen):.2f}" for side in (0, 1))
            for shape in chosen[0]["whole"]
        ]
        steps = [run["steps"] for run in chosen if run["steps"]]
        rows.append([name, method, told, ", ".join(shapes), f"{mean(steps):,.0f}" if steps else "", str(len(chosen))])
    return markdown(["data set", "method", "C2ST", "whole shapes", "steps", "seeds"], rows)


def stage_table(runs: list[dict[str, Any]]) -> str:
    """What each change to node growth bought, seed 0, where all stages were measured."""
    rows = []
    for name in SETS:
        found = {
            key[1:3]: run for key, run in {key_of(run): run for run in runs}.items() if (key[0], key[3]) == (name, 0)
        }
        if all((stage, "fast") in found for stage in STAGES):
            for method, preset in [*((stage, "fast") for stage in STAGES), *(("node-growth", p) for p in PRESETS)]:
                if (method, preset) in found:
                    run = found[method, preset]
                    rows.append([name, method if preset == "fast" else f"{method} ({preset})", *_stage(run)])
    head = [
        "data set",
        "method",
        "ratio",
        "isomorphic",
        "C2ST",
        "whole shapes",
        "steps",
        "training, s",
        "generating, s",
    ]
    return markdown(head, rows)


def _stage(run: dict[str, Any]) -> list[str]:
    shapes = [f"{shape} {both[0]:.2f} / {both[1]:.2f}" for shape, both in run["whole"].items()]
    real = run["realism"]
    return [
        number(real["ratio"]),
        f"{real['isomorphic']:.3f} / {real['isomorphic_held_out']:.3f}",
        " / ".join(number(one) for one in run["c2st"]),
        ", ".join(shapes),
        f"{run['steps']:,}",
        f"{run['train_seconds']:.0f}",
        f"{run['sample_seconds']:.0f}",
    ]


def cost_table(runs: list[dict[str, Any]]) -> str:
    """Seconds and memory: mean over seeds, and their range."""
    head = ["data set", "method", "training graphs", "training, s", "graphs", "generating, s", "MiB before", "peak MiB"]
    rows = [
        [
            name,
            method,
            f"{mean(run['train'] for run in chosen):,.0f}",
            span([run["train_seconds"] for run in chosen], digits=1),
            f"{chosen[0].get('timed', TIMED):,}",
            span([run["sample_seconds"] for run in chosen], digits=1),
            *(f"{mean(run[field] for run in chosen):,.0f}" for field in ("mib_before", "mib")),
        ]
        for name, method, chosen in _grouped(runs)
    ]
    return markdown(head, rows)


def _grouped(runs: list[dict[str, Any]]) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Data set, method (with its preset unless that is ``fast``) and the runs of all seeds, in a fixed order."""
    last = {key_of(run): run for run in runs}
    groups = []
    for name in SETS:
        for method in (*METHODS, *sorted({key[1] for key in last} - set(METHODS))):
            for preset in PRESETS:
                chosen = [run for key, run in last.items() if key[:3] == (name, method, preset)]
                if chosen:
                    groups.append((name, method if preset == "fast" else f"{method} ({preset})", chosen))
    return groups


def _first_yield(run: dict[str, Any]) -> float | None:
    """Share of graphs that were valid before any was drawn again; None where the method draws none again."""
    first = (run["sampling"] or {}).get("first_yield")
    return None if first is None else float(first)


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def key_of(run: dict[str, Any]) -> tuple[str, str, str, int]:
    return run["dataset"], run["method"], run["preset"], run["seed"]
