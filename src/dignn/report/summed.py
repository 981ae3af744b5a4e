"""What all figures of a run say together, in a few sentences."""

from __future__ import annotations

from collections.abc import Mapping

from dignn.report.verdicts import Level, Verdict

Path = str | tuple[str, ...]
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
_SURE: dict[Level, str] = {
    "good": "The model is as sure of explanations that are like real members as of its surest real members.",
    "fair": "The model is a little less sure of explanations that are like real members than of real members.",
    "poor": "The model is unsure of all generated graphs that are like real members: explanations are weak.",
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
    "fair": "Some generated graphs or features repeat what was learned from.",
    "poor": "Many generated graphs or features repeat what was learned from.",
}
_VALID: dict[Level, str] = {
    "good": "",
    "fair": "Some generated graphs were not valid and were thrown away.",
    "poor": "Many generated graphs were not valid and were thrown away.",
}
_ORDER: tuple[Level, ...] = ("good", "fair", "poor")


def summed_up(verdicts: Mapping[Path, Verdict]) -> list[tuple[Level, str]]:
    """Sentences, each with how good the news is; nothing is said of what was not measured.

    Args:
        verdicts: by the path of their figure in ``metrics.json``.
    """

    def worst(*paths: str) -> Level | None:
        levels = [verdicts[path].level for path in paths if path in verdicts]
        return max(levels, key=_ORDER.index) if levels else None

    shapes = [path for path in verdicts if isinstance(path, str) and path.startswith("sound.mmd.")]
    truth = [path for path in verdicts if isinstance(path, str) and path.startswith("sound.planted.")]
    said = [
        (_VALID, worst("sound.yield")),
        (_GRAPHS, worst("sound.graphs.c2st", *shapes)),
        (_FEATURES, worst("sound.features.c2st")),
        (_COPIES, worst("sound.graphs.novelty", "sound.features.memorisation")),
        (_SURE, worst("sound.pf_in_distribution")),
        (_PARTS, worst("sound.typed_gf")),
        (_TRUTH, worst(*truth)),
        (_COVER, worst("sound.coverage")),
    ]
    found = [(level, words[level]) for words, level in said if level is not None and words[level]]
    return [*found, *_contrast(verdicts)]


def _contrast(verdicts: Mapping[Path, Verdict]) -> list[tuple[Level, str]]:
    """Names the classes that their typical parts do not tell from others."""
    of_class = {path[-1]: verdict.level for path, verdict in verdicts.items() if path[:2] == ("sound", "contrast")}
    weak = [name for name, level in of_class.items() if level != "good"]
    if not of_class:
        return []
    if not weak:
        return [("good", "The typical parts in explanations tell every class from the others.")]
    named = ", ".join(f"“{name}”" for name in weak[:4]) + (f" and {len(weak) - 4} more" if len(weak) > 4 else "")
    level = max((of_class[name] for name in weak), key=_ORDER.index)
    return [(level, f"The typical parts in explanations do not tell {named} from the other classes.")]
