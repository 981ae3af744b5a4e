"""What all figures of a run say together, in a few sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dignn.core.numerals import tight_percent
from dignn.metrics.judging import Level, Verdict
from dignn.metrics.measures.contrast import ALIKE

FigurePath = str | tuple[str, ...]
_GRAPHS: dict[Level, str] = {
    "good": "Generated graphs can hardly be told from real ones.",
    "fair": "Generated graphs differ a little from real ones.",
    "poor": "Generated graphs can be told from real ones: take what they look like with caution.",
}
_FEATURES: dict[Level, str] = {
    "good": "Generated features are like real features.",
    "fair": "Generated features differ a little from real ones.",
    "poor": "Generated features can be told from real ones: do not rely on single features.",
}
_NO_FEATURES = "Whether generated features are like real ones cannot be judged on this data."
# Where only distances show anything.
_BY_DISTANCE = (
    "By every distance of structure generated graphs are like real ones; whether a classifier could tell them apart "
    "cannot be judged on this data."
)
_BEST = "Of the best graphs that are like real members the model is"
_SURE: dict[Level, str] = {
    "good": f"{_BEST} as sure as of its surest real members.",
    "fair": f"{_BEST} less sure than of its surest real members.",
    "poor": "For some class the model is sure of no generated graph that is like real members.",
}
_PARTS: dict[Level, str] = {
    "good": "Explanations contain more of what is typical of their class than random real graphs do.",
    "fair": "Explanations contain about as much of what is typical of their class as random real graphs do.",
    "poor": "Explanations contain less of what is typical of their class than random real graphs do.",
}
_COVER: dict[Level, str] = {
    "good": "",
    "fair": "Explanations show the clearest members of a class, not all kinds of them.",
    "poor": "Explanations show only one corner of a class, not all kinds of members.",
}
_TRUTH: dict[Level, str] = {
    "good": "Explanations show what is known to make a member of each class.",
    "fair": "Explanations show most of what is known to make a member of each class.",
    "poor": "Explanations miss much of what is known to make a member of each class.",
}
_COPIES: dict[Level, str] = {
    "good": "",
    "fair": "Some generated graphs repeat a graph that was learned from.",
    "poor": "Generated graphs repeat those that were learned from far more often than other real graphs do.",
}
_COPIED_FEATURES: dict[Level, str] = {
    "good": "",
    "fair": "Generated features are a little nearer to those that were learned from than to others.",
    "poor": "Generated features are nearer to those that were learned from than to others: some may be copies.",
}
_VALID: dict[Level, str] = {
    "good": "",
    "fair": "Some generated graphs were not valid and were thrown away.",
    "poor": "Many generated graphs were not valid and were thrown away.",
}
_ORDER: tuple[Level, ...] = ("good", "fair", "poor")


@dataclass(frozen=True)
class Judged:
    """A figure with its verdict.

    Args:
        value: what was judged.
        floor: what real graphs score; None where nobody knows.
        verdict: the judgement.
        shown: the value of all candidates, from which the explanations shown are chosen; None where nobody knows.
    """

    value: float
    floor: float | None
    verdict: Verdict
    shown: float | None = None


# Explanations of which the model is less sure, in the mean, are no good news, whatever else it is sure of.
_UNSURE = 0.8
# What these say holds only beside what real graphs score.
_RELATIVE = ("sound.mmd.", "sound.typed_gf", "sound.coverage")


def summed_up(
    judged: Mapping[FigurePath, Judged], shown: float | None = None, *, real: bool = False
) -> list[tuple[Level, str]]:
    """Sentences, each with how good the news is; nothing is said of what was not measured.

    Args:
        judged: by the path of their figure in ``metrics.json``.
        shown: mean probability of the first explanation of each class; None where there are none.
        real: whether graphs are those of the data, so that nothing is to be said of how realistic or new they are.
    """
    valid = [(_VALID, _worst(judged, "sound.yield"))]
    copies = [
        (_COPIES, _worst(judged, "sound.graphs.novelty")),
        (_COPIED_FEATURES, _worst(judged, "sound.features.memorisation")),
    ]
    more = [(_TRUTH, _worst(judged, "sound.planted.")), (_COVER, _worst(judged, "sound.coverage"))]
    realism = [] if real else [*_worded(valid), *_graphs(judged), *_features(judged), *_worded(copies)]
    return [*realism, *_sure(judged, shown), *_parts(judged), *_worded(more), *_contrast(judged)]


def _worst(judged: Mapping[FigurePath, Judged], *starts: str) -> Level | None:
    """The worst level of the figures that show anything."""
    levels = [
        item.verdict.level
        for path, item in judged.items()
        if isinstance(path, str) and path.startswith(starts) and item.verdict.shows
        if not (item.floor is None and path.startswith(_RELATIVE))
    ]
    return max(levels, key=_ORDER.index) if levels else None


def _worded(said: Sequence[tuple[Mapping[Level, str], Level | None]]) -> list[tuple[Level, str]]:
    return [(level, words[level]) for words, level in said if level is not None and words[level]]


def _graphs(judged: Mapping[FigurePath, Judged]) -> list[tuple[Level, str]]:
    """A classifier that tells nothing on this data leaves the distances, which show less."""
    level = _worst(judged, "sound.graphs.c2st", "sound.mmd.")
    if level == "good" and _nothing(judged, "sound.graphs.c2st"):
        return [("fair", _BY_DISTANCE)]
    return _worded([(_GRAPHS, level)])


def _features(judged: Mapping[FigurePath, Judged]) -> list[tuple[Level, str]]:
    """Where the classifier tells nothing on this data, errors can still be too large, but not show realism."""
    kinds = [f"sound.features.{kind}" for kind in ("column_error", "pair_error", "row_density")]
    if not _nothing(judged, "sound.features.c2st"):
        return _worded([(_FEATURES, _worst(judged, "sound.features.c2st", *kinds))])
    errors = _worst(judged, *kinds)
    return [("poor", _FEATURES["poor"])] if errors == "poor" else [("fair", _NO_FEATURES)]


def _nothing(judged: Mapping[FigurePath, Judged], path: str) -> bool:
    """Whether a figure is there, but shows nothing."""
    return path in judged and not judged[path].verdict.shows


def _sure(judged: Mapping[FigurePath, Judged], shown: float | None) -> list[tuple[Level, str]]:
    """Beside real members where these are known; that some class has no sure graph can be said anyway."""
    found = judged.get("sound.pf_in_distribution")
    if found is None or (found.floor is None and found.verdict.level != "poor"):
        return []
    said = _SURE[found.verdict.level]
    if shown is None:
        return [(found.verdict.level, said)]
    surest = found.value if found.shown is None else found.shown
    given_up = ": some certainty is given up for what is typical" if shown < surest - 0.01 else ""
    said = f"{said} The explanations shown first have a mean probability of {tight_percent(shown)}{given_up}."
    return [("fair" if found.verdict.level == "good" and shown < _UNSURE else found.verdict.level, said)]


def _parts(judged: Mapping[FigurePath, Judged]) -> list[tuple[Level, str]]:
    """Explanations that contain everything are good, but need not contain more than real graphs."""
    found = judged.get("sound.typed_gf")
    if found is None or found.floor is None:
        return []
    if found.verdict.level == "good" and found.value <= found.floor:
        return [("good", "Explanations contain all that is typical of their class, and so do random real graphs.")]
    return [(found.verdict.level, _PARTS[found.verdict.level])]


def _contrast(judged: Mapping[FigurePath, Judged]) -> list[tuple[Level, str]]:
    """Names the classes that their typical parts do not tell from others, or less than those of real members do."""
    of_class = {path[-1]: item for path, item in judged.items() if path[:2] == ("sound", "contrast")}
    if not of_class:
        return []
    weak = {name: item.verdict.level for name, item in of_class.items() if item.value <= ALIKE}
    less = [name for name, item in of_class.items() if name not in weak and item.verdict.level != "good"]
    if not weak and not less:
        return [("good", "The typical parts in explanations tell every class from the others.")]
    said: list[tuple[Level, str]] = []
    if weak:
        text = f"The typical parts in explanations do not tell {_named(list(weak))} from the other classes."
        said.append((max(weak.values(), key=_ORDER.index), text))
    if less:
        text = f"The typical parts in explanations tell {_named(less)} from the other classes, but less clearly than"
        said.append(("fair", f"{text} those of real members do."))
    return said


def _named(names: Sequence[str]) -> str:
    """Up to four names."""
    rest = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(f"“{name}”" for name in names[:4]) + rest
