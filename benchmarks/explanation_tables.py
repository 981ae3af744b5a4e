"""The tables of docs/explanations.md, made of the runs that benchmarks/explanations.py kept.

Cells of what was chosen show the mean over seeds and, in brackets, from least to greatest; floors and controls the mean
over seeds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.explanation_targets import (
    MMD,
    MMD_NAMES,
    PAPER_COSINE,
    PAPER_GF,
    PAPER_MMD,
    PAPER_PF,
    PAPER_SECONDS,
    PUBLISHED_TYPED_GF,
    TITLES,
    Run,
    paper_set,
    shown,
    target_table,
    value_at,
)
from benchmarks.tables import markdown, measured_on, span, write_between

COMMAND = "python -m benchmarks.explanations --table"
REGIONS = ("targets", "example", "tables")
# The set whose sentences are shown as an example.
EXAMPLE = "dblp"
CONTROLS = ("real_subgraphs", "random_trees", "column_noise", "shuffled_rows")
RULES = {
    "representative": "representative (default)",
    "typical": "typical (neutral)",
    "highest": "highest (the paper's)",
}
STAGES = ("FFS", "GGT", "GGAT", "NFGT", "NFGAT", "PP", "GS", "EVIDENCE", "STUDY", "EVAL")
TRUTH = ("motif_recall", "motif_precision", "keyword_recall", "keyword_precision")


def write_tables(runs: list[Run], page: Path) -> None:
    """Writes all tables into the page, each group between its markers; of a data set and seed the last run counts."""
    latest = {(run["dataset"], run["seed"]): run for run in runs}
    sets = {
        name: [latest[key] for key in sorted(latest) if key[0] == name]
        for name in TITLES
        if any(key[0] == name for key in latest)
    }
    parts = {
        "targets": target_table(sets),
        "example": example(sets),
        "tables": [*(part for name, own in sets.items() for part in set_tables(name, own)), *overall_tables(sets)],
    }
    for region in REGIONS:
        write_between(page, f"<!-- {region}: written by {COMMAND} -->", f"<!-- end of {region} -->", parts[region])


# -- example ------------------------------------------------------------------------------------------


def example(sets: dict[str, list[Run]]) -> list[str]:
    """What the best explanations of one data set say."""
    own = sets.get(EXAMPLE)
    return texts(own[0]) if own else ["No runs yet."]


def texts(run: Run) -> list[str]:
    """Each class's sentences of its best explanation."""
    return ["\n".join(f"- **{name}**: {text}" for name, text in run["texts"].items())] if run["texts"] else []


# -- one data set -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A row of a data set's table: a value with the same path in the metrics, the floor and every control."""

    title: str
    path: tuple[str, ...]
    digits: int = 3
    paper: Callable[[str], float | None] = lambda name: None


def _paper_mmd(place: int) -> Callable[[str], float | None]:
    return lambda name: PAPER_MMD[paper_set(name)][place] if paper_set(name) in PAPER_MMD else None


LINES = (
    Line("PF", ("paper", "pf"), paper=lambda name: PAPER_PF.get(paper_set(name))),
    Line("PF inside the real range", ("sound", "pf_in_distribution")),
    Line("GF", ("paper", "gf"), paper=lambda name: PAPER_GF.get(paper_set(name))),
    Line("GF, each kind once", ("details", "different_motifs", "gf")),
    Line("typed GF", ("sound", "typed_gf"), paper=lambda name: PUBLISHED_TYPED_GF.get(name)),
    Line("contrast, lowest class", ("sound", "contrast")),
    Line("coverage by 10", ("sound", "coverage")),
    Line("valid graphs", ("sound", "yield")),
    *(
        Line(f"paper MMD, {MMD_NAMES[metric]}", ("paper", "mmd", metric), paper=_paper_mmd(place))
        for place, metric in enumerate(MMD)
    ),
    Line("cosine", ("paper", "cosine"), paper=PAPER_COSINE.get),
    *(Line(f"sound MMD, {MMD_NAMES[metric]}", ("sound", "mmd", metric), 4) for metric in MMD),
    Line("graphs: C2ST", ("sound", "graphs", "c2st")),
    Line("graphs: novel", ("sound", "graphs", "novelty")),
    Line("graphs: unique", ("sound", "graphs", "uniqueness")),
    Line("features: column error", ("sound", "features", "column_error"), 4),
    Line("features: pair error", ("sound", "features", "pair_error"), 4),
    Line("features: row density", ("sound", "features", "row_density"), 2),
    Line("features: C2ST", ("sound", "features", "c2st")),
    Line("features: memorisation", ("sound", "features", "memorisation")),
)


def set_tables(name: str, runs: Sequence[Run]) -> list[str]:
    """A data set's values beside floor, controls and paper, and the rules of selection side by side."""
    rows = []
    for line in LINES:
        ours = [_number(value_at(run["metrics"], *line.path)) for run in runs]
        if all(value is None for value in ours):
            continue
        refined, real = (
            [_number(value_at(run["metrics"].get(c), *line.path)) for run in runs] for c in ("candidates", "floor")
        )
        wrong = [[_number(value_at(run["metrics"]["control"].get(c), *line.path)) for run in runs] for c in CONTROLS]
        paper = line.paper(name)
        rows.append(
            [
                line.title,
                _without_minus_zero(span(ours, line.digits)),
                *(_without_minus_zero(_middle(values, line.digits)) for values in (refined, real, *wrong)),
                "" if paper is None else f"{paper:.3f}",
            ]
        )
    head = ["", "ours", "all, refined", "real (floor)", *(control.replace("_", " ") for control in CONTROLS), "paper"]
    seeds = f"Seed{'s' if len(runs) > 1 else ''} {', '.join(str(run['seed']) for run in runs)}."
    parts = [f"### {TITLES[name]}", seeds, markdown(head, rows), _rules(runs)]
    if name != EXAMPLE:
        parts += [f"What the best explanations of seed {runs[0]['seed']} say:", *texts(runs[0])]
    if name not in (EXAMPLE, "dblp-50"):
        parts.append(f"![The best explanation of each class of {TITLES[name]}](images/explanations-{name}.png)")
    return parts


def _rules(runs: Sequence[Run]) -> str:
    columns = {
        "probability": ("probability",),
        "GF": ("gf",),
        "typed GF": ("typed_gf",),
        "contrast, lowest class": ("contrast",),
        "coverage by 10": ("coverage",),
        "planted motif": ("planted", "mean", "motif_recall"),
    }
    found = {
        rule: [
            [_number(value_at(run["metrics"]["selection"], rule, *path)) for run in runs] for path in columns.values()
        ]
        for rule in RULES
    }
    used = [n for n in range(len(columns)) if any(v is not None for several in found.values() for v in several[n])]
    rows = [[RULES[rule], *(span(several[n], 3) for n in used)] for rule, several in found.items()]
    return markdown(["rule of selection", *(list(columns)[n] for n in used)], rows)


# -- all data sets ------------------------------------------------------------------------------------


def overall_tables(sets: dict[str, list[Run]]) -> list[str]:
    """Validity, motif statistics, planted truth, chemistry's groups, seconds and memory."""
    if not sets:
        return ["No runs yet."]
    every = [run for runs in sets.values() for run in runs]
    return [
        "### Valid graphs",
        _validity(sets),
        "### Distance of the 50 explanations of each class from held-out graphs (sound MMD)",
        _distances(sets),
        "### Motifs found in the best explanation",
        *_motif_statistics(sets),
        *_if_any("### What was planted", _planted(sets)),
        *_if_any("### Groups of MUTAG", _groups(sets)),
        "### Seconds and memory",
        "Mean over seeds; WALL is the whole run by the clock, in which stages overlap. " + measured_on(every),
        _seconds(sets),
    ]


def _if_any(title: str, table: str | None) -> list[str]:
    return [] if table is None else [title, table]


def _validity(sets: dict[str, list[Run]]) -> str:
    names = ("generated", "connected", "valid")
    rows = [
        [TITLES[name], *(span([run["validity"][n] for run in runs], 0) for n in names)] for name, runs in sets.items()
    ]
    return markdown(["data set", "generated", "connected", "and consistent"], rows)


def _distances(sets: dict[str, list[Run]]) -> str:
    path = ("details", "mmd_of_explanations")
    rows = [
        [TITLES[name], *(span([value_at(run["metrics"], *path, metric) for run in runs], 4) for metric in MMD)]
        for name, runs in sets.items()
    ]
    return markdown(["data set", *MMD_NAMES.values()], rows)


def _motif_statistics(sets: dict[str, list[Run]]) -> list[str]:
    own, common = [], []
    for name, runs in sets.items():
        found = [run["metrics"]["details"]["motifs"] for run in runs]
        if found[0]["common"]:
            parts = ("motifs", "every_class", "half_of_classes", "no_class")
            common.append([TITLES[name], *(_count([one[part] for one in found]) for part in parts)])
            continue
        for place, label in enumerate(runs[0]["metrics"]["details"]["gf"]):
            counts = [one["by_class"][place] for one in found if not one["common"]]
            occur = [_count([value_at(one, part) for one in counts]) for part in ("occur", "do_not_occur")]
            own.append([TITLES[name], label, *occur])
    return [
        *([markdown(["data set", "class", "occur", "do not occur"], own)] if own else []),
        *(
            [markdown(["data set", "common motifs", "in every class", "in at least half", "in none"], common)]
            if common
            else []
        ),
    ]


def _planted(sets: dict[str, list[Run]]) -> str | None:
    rows = []
    for name, runs in sets.items():
        classes = shown(runs[0])["sound"].get("planted") or {}
        for label in [label for label in classes if label != "mean"]:
            path = ("sound", "planted", label)
            other = [
                [value_at(run["metrics"], *where, *path, "motif_recall") for run in runs]
                for where in (("floor",), ("control", "random_trees"))
            ]
            ours = [span([value_at(shown(run), *path, part) for run in runs]) for part in TRUTH]
            rows.append([TITLES[name], label, *ours, *(_middle(values, 2) for values in other)])
    if not rows:
        return None
    head = ["data set", "class", *(part.replace("_", " ") for part in TRUTH), "motif recall, real", "random trees"]
    return markdown(head, rows)


def _groups(sets: dict[str, list[Run]]) -> str | None:
    rows = []
    for runs in sets.values():
        for label, groups in (runs[0]["metrics"]["details"].get("groups") or {}).items():
            for group in groups:
                path = ("details", "groups", label, group)
                first = [value_at(run["metrics"], *path, "first") for run in runs]
                shares = [
                    span([value_at(run["metrics"], *path, part) for run in runs]) for part in ("explanations", "real")
                ]
                rows.append([label, group, f"{sum(map(bool, first))} of {len(first)}", *shares])
    if not rows:
        return None
    return markdown(["class", "group", "best explanation has it", "share of 50 explanations", "share of real"], rows)


def _seconds(sets: dict[str, list[Run]]) -> str:
    rows = []
    for name, runs in sets.items():
        timed = [run for run in runs if run["timings"] is not None]
        times = [run["timings"] for run in timed]
        if not timed:
            continue
        paper = PAPER_SECONDS.get(name)
        rows.append(
            [
                TITLES[name],
                *(_middle([one.get(stage) for one in times], 1) for stage in STAGES),
                span([one["WALL"] for one in times], 0),
                "" if paper is None else f"{paper:,}",
                span([run["memory"] for run in timed], 2),
            ]
        )
    return markdown(["data set", *STAGES, "WALL", "the paper's seconds", "memory, GiB"], rows)


# -- cells --------------------------------------------------------------------------------------------


def _number(value: Any) -> float | None:
    """A value as it is, the lowest of values by class, or None."""
    if isinstance(value, dict):
        known = [one for one in value.values() if one is not None]
        return min(known) if known else None
    return value if value is None else float(value)


def _without_minus_zero(text: str) -> str:
    return re.sub(r"-(0\.0+)(?!\d)", r"\1", text)


def _count(values: Sequence[float | None]) -> str:
    """As a span, whole numbers without a point."""
    return re.sub(r"\.0\b", "", span(values, 1))


def _middle(values: Iterable[float | None], digits: int) -> str:
    known = [value for value in values if value is not None]
    return f"{mean(known):.{digits}f}" if known else "-"
