"""Tables of fidelity, made from the lines of the results file of ``benchmarks.fidelity``."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from benchmarks.tables import markdown, measured_on, span
from dignn.evidence.grammar import listed
from dignn.goes_by.fidelity import TOLD_TERMS
from dignn.metrics.judging import COLUMN_NOISE

# What is to be reached with no more than twelve terms for each class.
GOALS = {
    "planted": 0.95,
    "dblp": 0.84,
    "ba-shapes": 0.92,
    "tree-cycle": 0.92,
    "tree-grids": 0.93,
    "ba-3motif": 0.97,
    "mutag": 0.88,
    "imdb": 0.53,
}
# How names of data of models whose rule is known begin.
KNOWN = "known-"
# Those that stand beside each other, as results name them and as tables do.
OURS = {"scorecard": "scorecard", "rules": "rules"}
RIVALS = {
    "tree": "tree",
    "tree_8": "tree, 8 leaves",
    "tree_64": "tree, 64 leaves",
    "types_1": "EL, types, one",
    "types_3": "EL, types, three",
    "features_1": "EL, features, one",
    "features_3": "EL, features, three",
}
# Those that are told in words: trees of the size of scorecards and of rules, and expressions as many as rules.
_TOLD = {
    "tree": "a tree",
    "tree_8": "a tree with 8 leaves",
    "types_3": "three class expressions with types",
    "features_3": "three class expressions with types and features",
}


def _last(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a data set, a seed and a number of graphs the last run; in the order of the goals, then by name."""
    last = {(run["dataset"], run["seed"], run["graphs"]): run for run in runs}
    order = {name: place for place, name in enumerate(GOALS)}
    return [last[key] for key in sorted(last, key=lambda key: (order.get(key[0], len(order)), *key))]


# -- scorecards and rules -----------------------------------------------------------------------------


def tables(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Scorecards by number of terms, then what stands beside them, then single rules; and where it was measured."""
    several = _last([run for run in runs if not run["dataset"].startswith(KNOWN)])
    if not several:
        return ["No runs yet."]
    return [
        markdown(_HEAD, [_row(run) for run in several]),
        markdown(_FRONTIER_HEAD, [_frontier(run) for run in several]),
        markdown(_RULES_HEAD, [_rules(run) for run in several]),
        _measured(several),
    ]


def in_short(run: dict[str, Any]) -> str:
    """A run in a line."""
    return " | ".join([*_row(run), *(f"{name} {_value(run['others'], name)}" for name in RIVALS)])


def _measured(runs: Sequence[dict[str, Any]]) -> str:
    commits = sorted({str(run["commit"]) for run in runs})
    return f"{measured_on(runs)} By the code of {', '.join(commits)}."


_HEAD = (
    *("data set", "seed", "graphs", "goal", "scorecard", "terms", "AUC", "rules"),
    *("floor", "floor, rules", "noise", "tree", "one class", "CPU s"),
)
_FRONTIER_HEAD = (
    *("data set", "seed", "graphs", "found on"),
    *(f"{terms} terms" for terms in TOLD_TERMS),
    *("tested on", "different things"),
)
_RULES_HEAD = ("data set", "seed", "graphs", "rules", "precision", "recall")


def _row(run: dict[str, Any]) -> list[str]:
    own, floor, noise = run["generated"], run["floor"], run[COLUMN_NOISE]
    tree = run["others"]["tree"] if "others" in run else run["tree"]  # older lines
    return [
        run["dataset"],
        str(run["seed"]),
        str(run["graphs"]),
        f"{GOALS[run['dataset']]:.2f}" if run["dataset"] in GOALS else "-",
        _with_interval(own["scorecard"]),
        str(own["terms"]),
        f"{own['auc']['value']:.3f}",
        _with_interval(own["rules"]),
        _value(floor, "scorecard"),
        _value(floor, "rules"),
        _value(noise, "scorecard"),
        f"{tree['agreement']['value']:.3f}",
        f"{own['majority']:.3f}",
        f"{own['cpu_seconds']:.1f}",
    ]


def _value(told: dict[str, Any] | None, name: str) -> str:
    if told is None:
        return "-"
    found = told[name].get("agreement", told[name])
    return f"{found['value']:.3f}"


def _with_interval(found: dict[str, Any]) -> str:
    low, high = found["interval"]
    return f"{found['value']:.3f} ({low:.3f} to {high:.3f})"


def _frontier(run: dict[str, Any]) -> list[str]:
    own = run["generated"]
    shown = [f"{found['value']:.3f}" for found in own["frontier"].values()]
    tested = [str(own["places"]), str(own.get("things", "-"))]  # older lines have places alone
    return [run["dataset"], str(run["seed"]), str(run["graphs"]), str(own["found_on"]), *shown, *tested]


def _rules(run: dict[str, Any]) -> list[str]:
    rules = [rule for of_class in run["generated"]["by_rule"] for rule in of_class]
    parts = [[rule[name]["value"] for rule in rules if rule[name] is not None] for name in ("precision", "recall")]
    shown = [f"{mean(values):.3f} ({min(values):.3f} to {max(values):.3f})" if values else "-" for values in parts]
    return [run["dataset"], str(run["seed"]), str(run["graphs"]), str(len(rules)), *shown]


# -- beside others ------------------------------------------------------------------------------------


def rival_tables(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Agreement beside others and who is ahead, on data sets and on models whose rule is known; what it costs."""
    several = [run for run in _last(runs) if "others" in run]
    real = [run for run in several if not run["dataset"].startswith(KNOWN)]
    known = [run for run in several if run["dataset"].startswith(KNOWN)]
    parts = []
    for some, title, intervals in ((real, "data set", True), (known, "known model", False)):
        if some:
            parts += [_beside(some, title, intervals), _who_wins(some, title)]
    return [*parts, _cost(several), _measured(several)] if several else ["No runs yet."]


def _by_data(runs: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Runs of the same data, of all seeds; apart where more graphs were generated than a run makes."""
    found: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        name = run["dataset"].removeprefix(KNOWN)
        more = "" if not run["drawing_cpu_seconds"] else f" with {run['graphs']} graphs"
        found.setdefault(f"{name}{more}", []).append(run)
    return found


def _agreement(run: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = run["generated"][name] if name in OURS else run["others"][name]["agreement"]
    return found


def _over_seeds(several: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Means of a figure and of the ends of its interval."""
    low, high = (mean(found["interval"][end] for found in several) for end in (0, 1))
    return {"value": mean(found["value"] for found in several), "interval": [low, high]}


def _beside(runs: Sequence[dict[str, Any]], title: str, intervals: bool) -> str:
    """A row for each data set, the best of it bold, and means over all."""
    names = {**OURS, **RIVALS}
    found = {
        data: {name: _over_seeds([_agreement(run, name) for run in own]) for name in names}
        for data, own in _by_data(runs).items()
    }
    if len(found) > 1:
        found["mean of rows"] = {name: _over_seeds([row[name] for row in found.values()]) for name in names}
    rows = []
    for data, row in found.items():
        best = max(round(one["value"], 3) for one in row.values())
        cells = [_with_interval(one) if intervals else f"{one['value']:.3f}" for one in row.values()]
        bold = [round(one["value"], 3) == best for one in row.values()]
        rows.append([data, *(f"**{cell}**" if is_best else cell for cell, is_best in zip(cells, bold, strict=True))])
    return markdown((title, *names.values()), rows)


def _who_wins(runs: Sequence[dict[str, Any]], title: str) -> str:
    """Where scorecards, and rules, are ahead of each rival: the interval of the difference says."""
    lines = []
    for own, label in (("scorecard", "Scorecards"), ("rules", "Rules")):
        for rival, named in _TOLD.items():
            where: dict[str, list[str]] = {"ahead of": [], "level with": [], "behind": []}
            for data, some in _by_data(runs).items():
                low, high = _over_seeds([run["others"][rival][f"{own}_ahead"] for run in some])["interval"]
                where["ahead of" if low > 0 else "behind" if high < 0 else "level with"].append(data)
            said = [f"{how} {named} on {_told(data, title)}" for how, data in where.items() if data]
            lines.append(f"- {label} are {'; '.join(said)}.")
    return "\n".join(lines)


def _told(data: Sequence[str], title: str) -> str:
    several = f"{len(data)} {title}{'s' if len(data) > 1 else ''}"
    return f"{several} ({listed(list(data))})"


def _cost(runs: Sequence[dict[str, Any]]) -> str:
    ours = span([run["generated"]["cpu_seconds"] for run in runs], 1)
    took = {name: span([run["others"][name]["cpu_seconds"] for run in runs], 1) for name in RIVALS}
    others = {"a tree": took["tree"], "EL with types": took["types_3"], "EL with features as well": took["features_3"]}
    said = listed([f"{name} {seconds}" for name, seconds in others.items()])
    return (
        f"CPU seconds to find them, mean over runs and from least to greatest: scorecards and rules together {ours}, "
        f"{said}."
    )
