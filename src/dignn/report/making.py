"""How explanations were made: what became of generated graphs, how generators learned, time, settings, the command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from dignn.durations import duration
from dignn.explanation import Explanations
from dignn.report.charts import Curve, bars, curves
from dignn.report.generators import features_in_words, refinement_in_words, structure_in_words
from dignn.report.known import part, schema_of
from dignn.report.reproduce import changes, command, leaves, preset_of, python_call
from dignn.runtime.run import STAGES, WALL
from dignn.schema import Layout, Schema

# Loss curves shown; a run with one model per size and class has more.
MOST_CURVES = 12
_PACKAGES = {"dignn": "dignn", "torch": "PyTorch", "torch_geometric": "PyTorch Geometric"}


def content(explanations: Explanations) -> dict[str, Any]:
    """What ``making.html`` shows; parts that a run lacks are None or empty."""
    about = explanations.about
    generation, config = part(about, "generation"), part(about, "config")
    trainings = list(_trainings(generation))
    call = None if (line := command(about)) is not None else python_call(about, _target(schema_of(explanations)))
    return {
        "funnel": _funnel(explanations),
        "sampling": _sampling(part(about, "sampling")),
        "structure": structure_in_words(config),
        "features": features_in_words(part(generation, "features")),
        "refinement": refinement_in_words(generation.get("refinement")),
        "curves": [_curves(names, training) for names, training in trainings[:MOST_CURVES]],
        "more_curves": max(0, len(trainings) - MOST_CURVES),
        **_times(part(about, "timings")),
        "settings": _settings(about),
        "preset": about.get("preset") if changes(about) is None else preset_of(about),
        "seed": about.get("seed"),
        "versions": [(_PACKAGES.get(name, str(name)), str(found)) for name, found in part(about, "versions").items()],
        "command": line,
        "call": call,
    }


def _target(schema: Schema | None) -> str | None:
    """The classified node type of a heterogeneous graph, whose call names it."""
    return None if schema is None or schema.layout is Layout.HOMOGENEOUS else schema.target


def _funnel(explanations: Explanations) -> Markup | None:
    validity = part(explanations.about, "validity")
    counts = [validity.get(name) for name in ("generated", "connected", "valid")]
    if not all(isinstance(count, int) for count in counts):
        return None
    chosen = sum(len(several) for several in explanations.values())
    names = ("Generated", "… and connected", "… and consistent with the data's metagraph", "Chosen as explanations")
    rows = [(name, float(count), f"{count:,}") for name, count in zip(names, [*counts, chosen], strict=True)]  # type: ignore[arg-type]
    return bars(rows, title="From generated graphs to explanations")


def _sampling(sampling: Mapping[str, Any]) -> str | None:
    asked, found = sampling.get("asked"), sampling.get("found")
    if not isinstance(asked, int) or not isinstance(found, int):
        return None
    if found < asked:
        return (
            f"Only {found:,} of {asked:,} real graphs could be drawn: the data has too few components of the wanted "
            "size, or held-out graphs that repeat learned ones."
        )
    return f"The generators learned from {found:,} small real graphs, less one in five that was held out for measuring."


def _trainings(found: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every record of training, wherever it is, with the names on the way to it."""
    if not isinstance(found, Mapping):
        return
    if isinstance(found.get("curves"), Mapping):
        yield tuple(name for name in names if name != "training"), found
        return
    for name, inner in found.items():
        yield from _trainings(inner, (*names, str(name)))


def _curves(names: tuple[str, ...], training: Mapping[str, Any]) -> dict[str, Any]:
    title = f"{names[0].capitalize()}: {', '.join(names[1:])}" if len(names) > 1 else " ".join(names).capitalize()
    series = [
        Curve("training", _points(training["curves"].get("train")), smoothed=True),
        Curve("validation", _points(training["curves"].get("validation"))),
    ]
    said = []
    if isinstance(training.get("parameters"), int):
        said.append(f"{training['parameters']:,} parameters")
    if isinstance(training.get("best_step"), int) and isinstance(training.get("steps"), int):
        early = " (stopped early)" if training.get("stopped_early") else ""
        said.append(f"best at step {training['best_step']:,} of {training['steps']:,}{early}")
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
    spent = {name: timings[name] for name in STAGES if isinstance(timings.get(name), int | float) and timings[name] > 0}
    rows = [(STAGES[name], float(seconds), duration(seconds)) for name, seconds in spent.items()]
    wall = timings.get(WALL)
    whole = duration(wall) if isinstance(wall, int | float) and wall > 0 else None
    return {"times": bars(rows, title="Time of each stage") if rows else None, "wall": whole}


def _settings(about: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Name, value, and whether it differs from the preset."""
    changed = changes(about) or {}
    return [(".".join(path), _shown(value), path in changed) for path, value in leaves(part(about, "config"))]


def _shown(value: Any) -> str:
    """A setting as a table shows it."""
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not set" if value is None else str(value)
