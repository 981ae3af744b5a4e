"""How well what the model is said to go by gives its answers on real graphs: figures, words and a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dignn.evidence.task_words import words_of
from dignn.metrics.judging import Level
from dignn.report.charts.dots import Control, DotRow, dots, mark
from dignn.report.charts.frontier import frontier
from dignn.report.goes_by_words import concluded, share_in_words, whole_percent
from dignn.report.told_terms import Share, Studied, told_study

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanations

_NOISE, _GUESSED = "cross", "square"
# Where guessing lies of an AUC, and from where on an AUC is good and fair.
_CHANCE, _GOOD_AUC, _FAIR_AUC = 0.5, 0.9, 0.75
_WHAT = {
    "scorecards": "share of answers that the class with most points gives, every class counting the same",
    "rules": "share of answers that if-then rules give, every class counting the same",
    "AUC": "how often a place of a class has more points for it than another place, mean over classes",
}


def content(explanations: Explanations) -> dict[str, Any] | None:
    """What ``fidelity.html`` shows; None where it was not tested."""
    study = told_study(explanations.about)
    if study is None:
        return None
    schema = explanations.schema
    things = "places" if schema is None else words_of(schema.task).things
    figures = {"scorecards": study.scorecard, "rules": study.rules, "AUC": study.auc}
    return {
        "level": study.level,
        "text": f"{concluded(study, schema, 'What this page says that it goes by')}.{_looked_at(explanations)}",
        "tested_on": _tested_on(study, things),
        "rows": [_row(name, share, study) for name, share in figures.items() if share is not None],
        "legend": _legend(study),
        "frontier": _frontier(study),
        "aucs": [(name, f"{value:.3f}") for name, value in study.auc_by_class.items()],
    }


def _looked_at(explanations: Explanations) -> str:
    """That only some of very many classes were looked at; empty where all were."""
    some, every = len(explanations.goes_by), len(explanations)
    if not 0 < some < every:
        return ""
    return f" Of {every:,} classes the {some:,} were looked at that the model gives most often to generated graphs."


def _tested_on(study: Studied, things: str) -> str | None:
    """``60 real authors that were held out, at 1,916 places in subgraphs``; None where it is not known."""
    if study.things is None or study.places is None:
        return None
    places = f", at {study.places:,} places in subgraphs" if study.places > study.things else ""
    return f"{study.things:,} real {things} that were held out{places}"


def _row(name: str, share: Share, study: Studied) -> dict[str, Any]:
    """A figure beside what the same scores that was found elsewhere, and beside guessing."""
    guessed = _CHANCE if name == "AUC" else study.majority
    controls = [Control("found on noise", share.noise, _NOISE), Control("guessing", guessed, _GUESSED)]
    drawn = DotRow(share.value, share.floor, controls, "higher", 0.0, 1.0, "found on generated graphs")
    written = _auc if name == "AUC" else share_in_words
    told = [written(share)]
    for what, value in (("found on real graphs", share.floor), ("found on noise", share.noise), ("guessing", guessed)):
        told += [] if value is None else [f"{what} {written(Share(value))}"]
    return {
        "name": name.capitalize() if name != "AUC" else name,
        "what": _WHAT[name],
        "chart": dots(drawn, title=name),
        "level": _level(share.value)
        if name == "AUC"
        else Studied(share, guessed, None, None, None, None, {}, {}).level,
        "text": "; ".join(told),
    }


def _level(auc: float) -> Level:
    return "good" if auc >= _GOOD_AUC else "fair" if auc >= _FAIR_AUC else "poor"


def _auc(share: Share) -> str:
    """``0.91 (0.88 to 0.94)``."""
    if share.interval is None:
        return f"{share.value:.2f}"
    return f"{share.value:.2f} ({share.interval[0]:.2f} to {share.interval[1]:.2f})"


def _legend(study: Studied) -> list[tuple[Markup, str]]:
    """Marks and what they stand for."""
    known = [share for share in (study.scorecard, study.rules, study.auc) if share is not None]
    kinds = {"made": "found on generated graphs, as this page shows it"}
    if any(share.floor is not None for share in known):
        kinds["floor"] = "found on the real graphs that are learned from"
    if any(share.noise is not None for share in known):
        kinds[_NOISE] = "found on graphs that are noise"
    frame = '<svg viewBox="0 0 20 20" width="18" height="18" class="chart-mark" aria-hidden="true">{}</svg>'
    kinds[_GUESSED] = "guessing: always one class"
    return [(Markup(frame.format(mark(kind, 10, 10))), words) for kind, words in kinds.items()]


def _frontier(study: Studied) -> dict[str, Any] | None:
    """The curve, and what more terms would bring in words."""
    if len(study.frontier) < 2:
        return None
    intervals = {terms: share.interval for terms, share in study.frontier.items() if share.interval is not None}
    shares = {terms: share.value for terms, share in study.frontier.items()}
    most = max(shares)
    return {
        "chart": frontier(
            shares, intervals, study.majority, title="Share of answers, mean over classes, by number of terms"
        ),
        "text": f"With up to {most} terms for each class it would be {whole_percent(shares[most])}.",
    }
