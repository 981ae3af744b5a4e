"""What the model goes by for a class, as its panel shows it: the sentence, the scorecard, decoys, rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dignn.graphs.schema import Schema
from dignn.report.charts.term_bar import TermBar, scale_of, term_bar
from dignn.report.goes_by_words import class_words, rule_in_words, signed
from dignn.report.lookup import number_at
from dignn.report.told_terms import ToldTerm, told_rules, told_study, told_terms

# Terms of a class, and terms among them that change nothing.
MOST_TERMS_SHOWN, MOST_DECOYS = 12, 6
# Bytes of a term on the page, and of the sentence of a class, about.
_TERM_BYTES, _SENTENCE_BYTES = 1_100, 1_200


def panels(about: Mapping[str, Any], schema: Schema | None, whole: bool) -> dict[str, dict[str, Any]]:
    """By class what its panel shows; empty where it was not sought.

    Args:
        about: what is told of a run.
        schema: of its graphs; None where there is none.
        whole: with scorecards and rules, or sentences alone.
    """
    study = told_study(about)
    terms = told_terms(about)
    return {
        name: {
            "sentence": words.sentence,
            "level": None if study is None or not words.terms else study.level,
            "card": _card(terms[name], about, name) if whole and terms[name] else None,
            "rules": [rule_in_words(rule, name) for rule in told_rules(about, name)] if whole else [],
        }
        for name, words in class_words(about, schema).items()
    }


def panel_bytes(about: Mapping[str, Any], classes: Sequence[str], whole: bool) -> int:
    """About how large the panels of these classes become."""
    terms = told_terms(about)
    shown = [min(len(terms[name]), MOST_TERMS_SHOWN + MOST_DECOYS) for name in classes if name in terms]
    return _SENTENCE_BYTES * len(shown) + (_TERM_BYTES * sum(shown) if whole else 0)


def _card(terms: Sequence[ToldTerm], about: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Rows of terms on one scale, and of decoys."""
    named = [term for term in terms if not term.decoy][:MOST_TERMS_SHOWN]
    decoys = [term for term in terms if term.decoy]
    shown = decoys[:MOST_DECOYS]
    bars = {id(term): TermBar(term.points, term.effect, term.interval, term.matched, term.decoy) for term in terms}
    scale = scale_of(bars[id(term)] for term in [*named, *shown])
    base, auc = (number_at(about, ("studied", figure, name)) for figure in ("base", "auc_by_class"))

    def row(term: ToldTerm) -> dict[str, Any]:
        effect = _effect(term)
        said = f"{term.words}: {signed(term.points)} points{f'; {effect}' if effect else ''}"
        return {
            "words": term.words,
            "points": signed(term.points),
            "effect": effect,
            "chart": term_bar(bars[id(term)], scale, title=said),
        }

    return {
        "rows": [row(term) for term in named],
        "decoys": [row(term) for term in shown],
        "more_decoys": len(decoys) - len(shown),
        "measured": any(term.effect is not None for term in [*named, *shown]),
        "matched": any(term.matched for term in [*named, *shown]),
        "base": None if base is None else signed(base),
        "auc": None if auc is None else f"{auc:.2f}",
    }


def _effect(term: ToldTerm) -> str:
    """``effect +2.3 (+2.1 to +2.6)``; empty where it was not measured."""
    if term.effect is None:
        return ""
    ends = "" if term.interval is None else f" ({signed(term.interval[0])} to {signed(term.interval[1])})"
    return f"effect {signed(term.effect)}{ends}{', matched' if term.matched else ''}"
