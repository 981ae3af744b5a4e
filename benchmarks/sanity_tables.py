"""The tables of docs/sanity.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.explanation_targets import TITLES
from benchmarks.sanity_models import OTHER_SEED, PERMUTED, RANDOMISED, REFERENCE, RETRAINED
from benchmarks.tables import markdown, measured_on, write_between

PAGE = Path("docs/sanity.md")
BEGIN, END = "<!-- sanity: written by python -m benchmarks.sanity --table -->", "<!-- end of sanity -->"
SHARES = {
    "structure": "Structure that stays (`structure`)",
    "words": "Feature columns that stay among the ten most marked (`words`)",
    "parts": "Kinds of nodes and edges that stay marked (`parts`)",
}
COLUMNS = {
    RETRAINED: "retrained",
    OTHER_SEED: "other seed",
    RANDOMISED: "random weights",
    PERMUTED: "permuted labels",
}
NEAR = {
    "graphs": "graphs copied",
    "held_out_graphs": "of held-out",
    "rows": "rows copied",
    "held_out_rows": "of held-out",
    "nearer": "nearer to learned rows",
    "held_out_nearer": "of real",
    "farther": "members farther",
    "nearest_of_all": "nearest of all",
}
Runs = Mapping[str, Mapping[str, Mapping[str, Any]]]


def write_tables(runs: Sequence[Mapping[str, Any]]) -> None:
    """Puts the tables into the page."""
    write_between(PAGE, BEGIN, END, tables(runs))


def tables(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each data set what stays, PF, and how near the data is; then where it was measured. Preset ``fast`` only."""
    ours = [run for run in runs if run["preset"] == "fast"]
    parts = []
    for dataset in dict.fromkeys(run["dataset"] for run in ours):
        by_name: dict[str, dict[str, Any]] = {}
        for run in sorted(ours, key=lambda run: str(run["explainer"])):
            if run["dataset"] == dataset:
                by_name.setdefault(str(run["explainer"]), {})[run["run"]] = run
        parts += [f"### {TITLES.get(dataset, dataset)}", *_of_dataset(by_name)]
    return [*parts, measured_on([dict(run) for run in ours])] if parts else ["No runs yet."]


def _of_dataset(by_name: Runs) -> list[str]:
    parts = []
    for share, title in SHARES.items():
        rows = [
            [f"`{name}`", *(_stays(runs.get(run), share) for run in COLUMNS), _across(runs.get(REFERENCE), share)]
            for name, runs in by_name.items()
        ]
        if any(cell != "-" for row in rows for cell in row[1:]):
            parts += [f"**{title}**", markdown(["explainer", *COLUMNS.values(), "the reference itself"], rows)]
    models = {REFERENCE: REFERENCE, **COLUMNS}
    rows = [[f"`{name}`", *(_said(runs.get(run)) for run in models)] for name, runs in by_name.items()]
    parts += ["**PF, and classes that have explanations**", markdown(["explainer", *models.values()], rows)]
    near = [
        [f"`{name}`", *(_number(runs[REFERENCE]["membership"][figure]) for figure in NEAR)]
        for name, runs in by_name.items()
        if REFERENCE in runs
    ]
    return [*parts, "**How near the data is**", markdown(["explainer", *NEAR.values()], near)]


def _stays(run: Mapping[str, Any] | None, share: str) -> str:
    """What stays of the same class, and of different ones."""
    return (
        "-" if run is None or run["stays"][share] is None else f"{_number(run['stays'][share])} {_across(run, share)}"
    )


def _across(run: Mapping[str, Any] | None, share: str) -> str:
    value = None if run is None else run["across_classes"][share]
    return "-" if value is None else f"({value:.2f})"


def _said(run: Mapping[str, Any] | None) -> str:
    return "-" if run is None else f"{_number(run['pf'])}, {run['explained']} of {run['classes']}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
