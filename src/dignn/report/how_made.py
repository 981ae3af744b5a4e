"""How explanations were made: what became of generated graphs, how generators learned, time, settings, the command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dignn.core.durations import duration
from dignn.core.presets import leaves
from dignn.core.run_folder import STAGES, WALL
from dignn.graphs.schema import Layout
from dignn.report.charts.bars import bars
from dignn.report.charts.curves import Curve, curves
from dignn.report.generator_words import features_in_words, refinement_in_words, structure_in_words
from dignn.report.lookup import entry, number_at, part, shows_real
from dignn.report.made_again import changes, command, preset_of, python_call

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanations

# Loss curves shown; a run with one model per size and class has more.
MOST_CURVES = 12
_PACKAGES = {"dignn": "dignn", "torch": "PyTorch", "torch_geometric": "PyTorch Geometric"}


def content(explanations: Explanations) -> dict[str, Any]:
    """What ``how_made.html`` shows; parts that a run lacks are None or empty."""
    about = explanations.about
    generation, config = part(about, "generation"), part(about, "config")
    trainings = list(_trainings(generation))
    line, schema = command(about), explanations.schema
    # The call of a heterogeneous graph names the classified node type.
    target = None if schema is None or schema.layout is Layout.HOMOGENEOUS else schema.target
    return {
        "funnel": _funnel(explanations),
        "sampling": _sampling(part(about, "sampling"), shows_real(about)),
        "structure": structure_in_words(config),
        "features": features_in_words(part(generation, "features")),
        "refinement": refinement_in_words(generation.get("refinement")),
        "curves": [_curves(names, training) for names, training in trainings[:MOST_CURVES]],
        "more_curves": max(0, len(trainings) - MOST_CURVES),
        **_times(part(about, "timings")),
        "settings": _settings(about),
        "preset": preset_of(about) or about.get("preset"),
        "seed": about.get("seed"),
        "versions": [(_PACKAGES.get(name, str(name)), str(found)) for name, found in part(about, "versions").items()],
        "command": line,
        "call": None if line is not None else python_call(about, target),
    }


def _funnel(explanations: Explanations) -> Markup | None:
    validity = part(explanations.about, "validity")
    counts = {
        "Looked at" if shows_real(explanations.about) else "Generated": entry(validity, int, "generated"),
        "… and connected": entry(validity, int, "connected"),
        "… and consistent with the data's metagraph": entry(validity, int, "valid"),
        "Chosen as explanations": sum(len(several) for several in explanations.values()),
    }
    rows = [(name, float(count), f"{count:,}") for name, count in counts.items() if count is not None]
    if len(rows) < len(counts):
        return None
    return bars(rows, title="From graphs to explanations")


def _sampling(sampling: Mapping[str, Any], real: bool) -> str | None:
    asked, found = entry(sampling, int, "asked"), entry(sampling, int, "found")
    if asked is None or found is None:
        return None
    unlabelled = entry(sampling, int, "unlabelled")
    more = " What has no label there got the class that the model gives it." if unlabelled else ""
    if found < asked:
        return (
            f"Only {found:,} of {asked:,} real graphs could be drawn: the data has too few components of the wanted "
            f"size, or held-out graphs that repeat learned ones.{more}"
        )
    who = "Shown graphs were chosen from" if real else "The generators learned from"
    return f"{who} {found:,} small real graphs, less one in five that was held out for measuring.{more}"


def _trainings(found: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every record of training, wherever it is, with the names on the way to it."""
    if entry(found, dict, "curves") is not None:
        yield tuple(name for name in names if name != "training"), found
        return
    for name, inner in part(found).items():
        yield from _trainings(inner, (*names, str(name)))


def _curves(names: tuple[str, ...], training: Mapping[str, Any]) -> dict[str, Any]:
    title = f"{names[0].capitalize()}: {', '.join(names[1:])}" if len(names) > 1 else " ".join(names).capitalize()
    series = [
        Curve("training", _points(training["curves"].get("train")), smoothed=True),
        Curve("validation", _points(training["curves"].get("validation"))),
    ]
    parameters, best, steps = (entry(training, int, name) for name in ("parameters", "best_step", "steps"))
    said = [] if parameters is None else [f"{parameters:,} parameters"]
    if best is not None and steps is not None:
        early = " (stopped early)" if training.get("stopped_early") else ""
        said.append(f"best at step {best:,} of {steps:,}{early}")
    return {"title": title, "chart": curves(series, title=f"Loss of {title}"), "note": ", ".join(said)}


def _points(found: Any) -> list[tuple[float, float]]:
    """The pairs of numbers in what should be a curve."""
    pairs = found if isinstance(found, list) else []
    return [
        (float(pair[0]), float(pair[1]))
        for pair in pairs
        if isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(value, int | float) for value in pair)
    ]


def _times(timings: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds by stage and in all."""
    spent = {name: number_at(timings, (name,)) or 0.0 for name in (*STAGES, WALL)}
    rows = [(STAGES[name], spent[name], duration(spent[name])) for name in STAGES if spent[name] > 0]
    return {
        "times": bars(rows, title="Time of each stage") if rows else None,
        "wall": duration(spent[WALL]) if spent[WALL] > 0 else None,
    }


def _settings(about: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Name, value, and whether it differs from the preset."""
    changed = changes(about) or {}
    return [(name, _shown(value), name in changed) for name, value in leaves(part(about, "config"))]


def _shown(value: Any) -> str:
    """A setting as a table shows it."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not set" if value is None else str(value)
