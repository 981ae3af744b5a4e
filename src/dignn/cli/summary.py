"""What commands show: accuracies of a model, the best explanation of each class, and at the end the main figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dignn.cli.console import say, table
from dignn.report.lookup import entry, number_at, part, shows_real
from dignn.report.safe_text import shortened

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation, Explanations

# Words of a class that a row shows, and characters of them all; characters of a name in a row.
ROW_WORDS, ROW_LETTERS, NAME_LETTERS = 6, 60, 30
# Phrases of what the model goes by, in a line.
LINE_TERMS = 3
NO_VALUE = "-"
# A floor below this is chance, and nothing is divided by it.
LEAST_FLOOR = 1e-6


def print_accuracy(card: Mapping[str, Any]) -> None:
    """The accuracies on a model's card."""
    fewer = "".join(f", {len(chosen)} columns of {name}" for name, chosen in card.get("columns", {}).items())
    rows = [
        (graphs.replace("_", " "), part.replace("_", " "), "not measured" if value is None else f"{value:.3f}")
        for graphs, parts in card["accuracy"].items()
        for part, value in parts.items()
    ]
    table(
        ("graphs", "part", "accuracy"),
        rows,
        title=f"{card['architecture']} on {card['dataset']}, {card['form']} form, seed {card['seed']}{fewer}",
    )


def print_summary(explanations: Explanations) -> None:
    """Explanations and figures of a run."""
    print_explanations(explanations)
    print_goes_by(explanations)
    print_figures(explanations)


def print_explanations(explanations: Explanations) -> None:
    """A row per class, and what the explanations say."""
    _print_classes(explanations)
    for name, several in explanations.items():
        if several and several[0].evidence is not None:
            say(f"{name}: {several[0].evidence.text}")
    _print_marks(explanations)
    difference = _difference(explanations)
    if difference is not None:
        say(f"Warning: {difference}")


def print_goes_by(explanations: Explanations) -> None:
    """What the model goes by, a line for each class, and one that says how far to believe them."""
    from dignn.report.goes_by_words import class_words

    found = class_words(explanations.about, explanations.schema, LINE_TERMS)
    told = {name: words for name, words in found.items() if words.terms}
    for name, words in told.items():
        say(f"{words.begin}, for {shortened(name, NAME_LETTERS)}: {words.terms}")
    for conclusion in dict.fromkeys(words.conclusion for words in told.values()):
        say(f"{conclusion[0].upper()}{conclusion[1:]}.")


def print_figures(explanations: Explanations) -> None:
    """The main figures beside floor and controls, where they were measured, and the seconds of the run."""
    _print_figures(explanations.about.get("metrics") or {}, shows_real(explanations.about))
    timings = explanations.about.get("timings") or {}
    if "WALL" in timings:
        say(f"{timings['WALL']:.1f} s, without loading and training the model")


def summary(explanations: Explanations, folder: Path) -> dict[str, Any]:
    """The same for programs, as JSON takes it."""
    from dignn.report.goes_by_words import class_words

    goes_by = class_words(explanations.about, explanations.schema)
    metrics, timings = explanations.about.get("metrics") or {}, explanations.about.get("timings") or {}
    floor = metrics.get("floor") or {}
    columns = {"value": metrics, "candidates": metrics.get("candidates"), "floor": floor}
    figures = {
        _key(paths): {name: figure(column, floor, paths) for name, column in columns.items()}
        for paths in _main_figures().values()
    }
    return {
        "run": str(folder),
        "report": str(folder / "report.html"),
        "seconds": timings.get("WALL"),
        "classes": {name: _told(several[0]) if several else None for name, several in explanations.items()},
        "figures": {name: found for name, found in figures.items() if found["value"] is not None},
        "difference": _difference(explanations),
        "marks": part(explanations.about, "marks"),
        "goes_by": {name: words.sentence for name, words in goes_by.items() if name in explanations},
        "fidelity": _fidelity(explanations.about),
    }


def _difference(explanations: Explanations) -> str | None:
    """How the model answers otherwise on the user's own graphs, where that was accepted."""
    return entry(explanations.about, str, "difference")


def _fidelity(about: Mapping[str, Any]) -> dict[str, Any] | None:
    """How well what the model is said to go by gives its answers; None where that was not tested."""
    from dignn.report.told_terms import told_study

    study = told_study(about)
    if study is None:
        return None
    figures = {"scorecard": study.scorecard, "rules": study.rules, "auc": study.auc}
    shown = {name: None if share is None else asdict(share) for name, share in figures.items()}
    return {**shown, "majority": study.majority, "places": study.places, "things": study.things, "level": study.level}


def _told(best: Explanation) -> dict[str, Any]:
    from dignn.graphs.description import counts

    return {
        "probability": best.score,
        "text": None if best.evidence is None else best.evidence.text,
        "inside": None if best.standing is None else best.standing.inside,
        "nodes": counts(best.graph),
    }


def _main_figures() -> dict[str, list[str]]:
    """By title, where the values are in each column of metrics.json; several for one that sums them up."""
    from dignn.metrics.metric import all_metrics

    found: dict[str, list[str]] = {}
    for metric in all_metrics():
        for shown in metric.figures:
            if shown.terminal is not None:
                found.setdefault(shown.terminal, []).append(metric.figure_path(shown))
    return found


def _key(paths: Sequence[str]) -> str:
    """The name for programs: ``features.c2st``, ``mmd_ratio``."""
    _, _, name = paths[0].partition(".")
    return name if len(paths) == 1 else f"{name.rpartition('.')[0]}_ratio"


def figure(column: Any, floor: Any, paths: Sequence[str]) -> float | None:
    """A value of a column, or the mean of value / floor over several values, of those whose floor is not 0."""
    values = [number_at(column, path) for path in paths]
    if len(values) == 1:
        return values[0]
    pairs = zip(values, (number_at(floor, path) for path in paths), strict=True)
    ratios = [one / other for one, other in pairs if one is not None and other is not None and other > LEAST_FLOOR]
    return sum(ratios) / len(ratios) if ratios else None


def _print_classes(explanations: Explanations) -> None:
    rows = [
        _row(several[0]) if several else (shortened(name, NAME_LETTERS), "no candidate", "", "", "")
        for name, several in explanations.items()
    ]
    known = any(several and several[0].evidence is not None for several in explanations.values())
    features = "features the model would miss most" if known else "largest features"
    columns = ("class", "probability", "in distribution", "nodes", features)
    shown = [number for number in range(len(columns)) if number < 2 or any(row[number] for row in rows)]
    table(
        [columns[number] for number in shown],
        [[row[number] for number in shown] for row in rows],
        title="Best explanation per class",
    )


def _print_marks(explanations: Explanations) -> None:
    """How far marks of other explainers agree with the evidence, where there are some."""
    columns = ("agreement", "random", "random_high")
    rows = []
    for name in part(explanations.about, "marks"):
        found = [number_at(explanations.about, ("marks", name, column)) for column in columns]
        count = entry(explanations.about, int, "marks", name, "explanations")
        rows.append([name, *(NO_VALUE if each is None else f"{each:.3f}" for each in found), str(count or 0)])
    if rows:
        head = ("marks", "agreement", "random marks", "95 in 100 of them below", "explanations")
        table(head, rows, title="Marks beside the evidence: mean of Spearman's correlation over explanations")


def _row(best: Explanation) -> tuple[str, ...]:
    from dignn.report.graph_words import made_of

    return (
        shortened(best.class_name, NAME_LETTERS),
        f"{best.score:.4f}",
        "" if best.standing is None else "yes" if best.standing.inside else "no",
        ", ".join(shortened(part, NAME_LETTERS) for part in made_of(best.graph).split(", ")),
        _line(_words(best)),
    )


def _line(words: list[str]) -> str:
    """As many of the words as leave a row low, but one of them at least."""
    line = ""
    for word in (shortened(word, NAME_LETTERS) for word in words):
        if line and len(line) + len(word) > ROW_LETTERS:
            break
        line = f"{line}, {word}" if line else word
    return line


def _words(best: Explanation) -> list[str]:
    """Columns of the classified node: those whose removal hurts most, or, where that is not known, the largest."""
    if best.node is None:
        return []
    if best.evidence is not None:
        return [column.name for column in best.evidence.own_columns[:ROW_WORDS] if column.drop > 0]
    return [column for column, _ in best.top_features(best.node, ROW_WORDS)]


def _print_figures(metrics: Mapping[str, Any], real: bool) -> None:
    from dignn.metrics.controls import CONTROLS

    floor = metrics.get("floor") or {}
    refined = {"all" if real else "refined": metrics["candidates"]} if metrics.get("candidates") else {}
    columns = {"some" if real else "ours": metrics, **refined, "real": floor}
    for name, column in (metrics.get("control") or {}).items():
        columns[CONTROLS[name].short if name in CONTROLS else name] = column
    rows = []
    for title, paths in _main_figures().items():
        found = [figure(column, floor, paths) for column in columns.values()]
        if found[0] is not None:
            rows.append([title, *(NO_VALUE if number is None else f"{number:.3f}" for number in found)])
    if rows:
        table(["figure", *columns], rows, title="Main figures; real graphs as floor, the others as controls")
        if refined and real:
            say("some: as many of the real graphs as of controls; all: all of them, from which those shown are chosen")
        elif refined:
            say(
                "ours: random candidates, not refined, as many as of real graphs and of controls; "
                "refined: all candidates, refined where need be, from which the explanations shown are chosen"
            )
