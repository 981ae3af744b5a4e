"""What commands show at their end: accuracies of a model, the best explanation of each class, the main figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dignn.console import accuracies, say, table
from dignn.report.characters import shortened
from dignn.report.lookup import number_at

if TYPE_CHECKING:
    from dignn.explanation import Explanation, Explanations

# Words of a class that a row shows, and characters of them all; characters of a name in a row.
WORDS, WIDEST, LONGEST = 6, 60, 30
ABSENT = "-"
# No value of metrics.json but a ratio of some.
MMD_RATIO = "mmd ratio"
# Main figures: a title, and where the value is in each layer of metrics.json.
FIGURES = {
    "PF": "paper.pf",
    "PF inside real range": "sound.pf_in_distribution",
    "GF": "paper.gf",
    "GF with types": "sound.typed_gf",
    "coverage of 10": "sound.coverage",
    "valid graphs": "sound.yield",
    "MMD / floor": MMD_RATIO,
    "C2ST of features": "sound.features.c2st",
    "C2ST of graphs": "sound.graphs.c2st",
}
# Controls, in words short enough for a terminal.
CONTROLS = {
    "real_subgraphs": "real, best",
    "random_trees": "trees",
    "column_noise": "noise",
    "shuffled_rows": "shuffled",
}
# A floor below this is chance, and nothing is divided by it.
LEAST_FLOOR = 1e-6


def print_accuracy(card: Mapping[str, Any]) -> None:
    """The accuracies on a model's card."""
    fewer = "".join(f", {len(chosen)} columns of {name}" for name, chosen in card.get("columns", {}).items())
    table(
        ("graphs", "part", "accuracy"),
        accuracies(card["accuracy"]),
        title=f"{card['architecture']} on {card['dataset']}, {card['form']} form, seed {card['seed']}{fewer}",
    )


def print_summary(explanations: Explanations) -> None:
    """The end of a run: a row per class, what the explanations say, and the main figures beside floor and controls."""
    _print_classes(explanations)
    for name, several in explanations.items():
        if several and several[0].evidence is not None:
            say(f"{name}: {several[0].evidence.text}")
    _print_figures(explanations.about.get("metrics") or {}, explanations.about.get("timings") or {})


def summary(explanations: Explanations, folder: Path) -> dict[str, Any]:
    """The same for programs, as JSON takes it."""
    metrics, timings = explanations.about.get("metrics") or {}, explanations.about.get("timings") or {}
    floor = metrics.get("floor") or {}
    figures = {
        path.removeprefix("paper.").removeprefix("sound.").replace(" ", "_"): {
            "value": figure(metrics, floor, path),
            "floor": figure(floor, floor, path),
        }
        for path in FIGURES.values()
    }
    return {
        "run": str(folder),
        "report": str(folder / "report.html"),
        "seconds": timings.get("WALL"),
        "classes": {name: _told(several[0]) if several else None for name, several in explanations.items()},
        "figures": {name: found for name, found in figures.items() if found["value"] is not None},
    }


def _told(best: Explanation) -> dict[str, Any]:
    names = best.graph.schema.node_types
    codes = best.graph.node_type[0].tolist()
    return {
        "probability": best.score,
        "text": None if best.evidence is None else best.evidence.text,
        "inside": None if best.standing is None else best.standing.inside,
        "nodes": {name: codes.count(code) for code, name in enumerate(names) if code in codes},
    }


def figure(layer: Mapping[str, Any], floor: Mapping[str, Any], path: str) -> float | None:
    """One of :data:`FIGURES` of a layer."""
    return mmd_ratio(layer, floor) if path == MMD_RATIO else number_at(layer, path)


def mmd_ratio(metrics: Mapping[str, Any], floor: Mapping[str, Any]) -> float | None:
    """The mean over the sound layer's metrics of value / floor, of those whose floor is not 0."""
    names = ("node_type", "degree", "clustering", "spectral")
    pairs = [(number_at(metrics, f"sound.mmd.{name}"), number_at(floor, f"sound.mmd.{name}")) for name in names]
    ratios = [one / other for one, other in pairs if one is not None and other is not None and other > LEAST_FLOOR]
    return sum(ratios) / len(ratios) if ratios else None


def _print_classes(explanations: Explanations) -> None:
    rows = []
    for name, several in explanations.items():
        rows.append(_row(several[0]) if several else (shortened(name, LONGEST), "no candidate", "", "", ""))
    known = any(several and several[0].evidence is not None for several in explanations.values())
    features = "features the model would miss most" if known else "largest features"
    columns = ("class", "probability", "in distribution", "nodes", features)
    shown = [number for number in range(len(columns)) if number < 2 or any(row[number] for row in rows)]
    table(
        [columns[number] for number in shown],
        [[row[number] for number in shown] for row in rows],
        title="Best explanation per class",
    )


def _row(best: Explanation) -> tuple[str, ...]:
    from dignn.report.words import made_of

    return (
        shortened(best.class_name, LONGEST),
        f"{best.score:.4f}",
        "" if best.standing is None else "yes" if best.standing.inside else "no",
        ", ".join(shortened(part, LONGEST) for part in made_of(best.graph).split(", ")),
        _line(_words(best)),
    )


def _line(words: list[str]) -> str:
    """As many of the words as leave a row low, but one of them at least."""
    line = ""
    for word in (shortened(word, LONGEST) for word in words):
        if line and len(line) + len(word) > WIDEST:
            break
        line = f"{line}, {word}" if line else word
    return line


def _words(best: Explanation) -> list[str]:
    """Columns of the classified node: those whose removal hurts most, or, where that is not known, the largest."""
    if best.node is None:
        return []
    if best.evidence is not None:
        return [column.name for column in best.evidence.own_columns[:WORDS] if column.drop > 0]
    return [column for column, _ in best.top_features(best.node, WORDS)]


def _print_figures(metrics: Mapping[str, Any], timings: Mapping[str, float]) -> None:
    floor = metrics.get("floor") or {}
    layers = {"ours": metrics, "real": floor}
    for name, layer in (metrics.get("control") or {}).items():
        layers[CONTROLS.get(name, name)] = layer
    rows = []
    for title, path in FIGURES.items():
        found = [figure(layer, floor, path) for layer in layers.values()]
        if found[0] is not None:
            rows.append([title, *(ABSENT if number is None else f"{number:.3f}" for number in found)])
    if rows:
        table(["figure", *layers], rows, title="Main figures; real graphs as floor, the others as controls")
    if "WALL" in timings:
        say(f"{timings['WALL']:.1f} s in all")
