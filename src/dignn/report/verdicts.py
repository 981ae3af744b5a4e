"""What a figure means, in plain words: each value beside what real graphs score and what noise scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from dignn.report.charts.parts import number, percent

Level = Literal["good", "fair", "poor"]
TREES, NOISE = "random_trees", "column_noise"
# Squared MMD below this is chance: that of 400 graphs from as many of the same kind varies by as much.
_CHANCE = 0.0005
# A contrast up to this, on either side of 0, tells no classes apart.
ALIKE = 0.05
# Where real ones are told from other real ones less or more often than this, the classifier test does not work.
_WORKS = (0.35, 0.65)
# Controls that are no good. Shuffled rows are real rows, so no figure of features alone need be better than theirs.
_NO_GOOD = {TREES: "random trees", NOISE: "noise"}


@dataclass(frozen=True)
class Verdict:
    """A judgement of one figure.

    Args:
        level: how good it is.
        text: a sentence without its capital and full stop.
        shows: False where the figure tells nothing on this data, because noise scores as well or real rows as badly.
    """

    level: Level
    text: str
    shows: bool = True


@dataclass(frozen=True)
class Judged:
    """A figure with what real graphs score (None where nobody knows) and its verdict."""

    value: float
    floor: float | None
    verdict: Verdict


# A judge takes the value, the floor (what real graphs score; None where nobody knows) and the controls by name.
Judge = Callable[[float, float | None, Mapping[str, float]], Verdict]


def valid(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of generated graphs that are connected and consistent with the metagraph."""
    if value >= 0.98:
        return Verdict("good", "all are" if value == 1 else "nearly all are")
    if value >= 0.8:
        return Verdict("fair", f"{percent(1 - value)} were thrown away")
    return Verdict("poor", f"{percent(1 - value)} were thrown away: the generator has not learned how graphs are built")


def distance(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """A squared MMD of structure from held-out graphs."""
    if floor is None:
        return Verdict("fair", "what real graphs score is not known, so this says little")
    base = max(floor, 0.0)
    if value <= 1.25 * base + _CHANCE:
        return Verdict("good", "as near to held-out real graphs as other real graphs are")
    trees = controls.get(TREES)
    if trees is not None and value >= trees > base + _CHANCE:
        return Verdict("poor", "no nearer to held-out real graphs than random trees are")
    if value <= 2 * base + 2 * _CHANCE:
        return Verdict("good", "nearly as near to held-out real graphs as other real graphs are")
    if trees is not None and value - base < 0.25 * (trees - base):
        return Verdict("fair", "not as near as other real graphs are, but far nearer than random trees")
    return Verdict("poor", "clearly different from real graphs")


def feature_error(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """An error of features against held-out rows."""
    noise = controls.get(NOISE)
    if floor is not None and value <= 1.25 * floor + 1e-9:
        if noise is not None and noise <= 1.05 * value:
            return Verdict("fair", "no better than noise scores here, so it shows nothing", shows=False)
        return Verdict("good", "as near to held-out real features as other real ones are")
    if noise is not None and value >= noise:
        return Verdict("poor", "no nearer to real features than noise is")
    if floor is None:
        return Verdict("fair", "what real rows score is not known, so this says little")
    if value <= 2 * floor:
        return Verdict("fair", "somewhat farther from held-out real features than other real ones are")
    return Verdict("poor", f"{number(value / floor) if floor else 'many'} times as far off as real features are")


def single_columns(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """An error of single columns: noise draws them from real ones, so being as good as noise is no more than that."""
    verdict = feature_error(value, floor, controls)
    if verdict.shows:
        return verdict
    return replace(verdict, text="no better than noise, which draws every column by itself from real ones")


def told_apart(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """C2ST: AUC of a classifier that tells generated from real; of one of each, how often it is right."""
    right = f"shown one of each, it is right in {percent(value)} of cases; guessing gives {percent(0.5)}"
    if floor is not None and not _WORKS[0] <= floor <= _WORKS[1] and value <= max(floor + 0.1, 0.7):
        return Verdict("fair", f"cannot be judged here: {_told_real(floor)}", shows=False)
    as_low = [words for name, words in _NO_GOOD.items() if name in controls and controls[name] <= value + 0.02]
    if as_low and value <= 0.7:
        return Verdict(
            "fair", f"no better than {' and '.join(as_low)} here, so it shows nothing ({right})", shows=False
        )
    if value <= 0.6:
        return Verdict("good", f"a classifier can hardly tell them apart ({right})")
    if floor is not None and value <= floor + 0.03:
        return Verdict("good", f"told apart hardly better than real ones are from real ones ({right})")
    if value <= 0.7:
        return Verdict("fair", f"a classifier tells them apart a little better than by chance ({right})")
    if value <= 0.85:
        return Verdict("poor", f"a classifier tells them apart more often than not ({right})")
    return Verdict("poor", f"a classifier tells them apart easily ({right})")


def _told_real(floor: float) -> str:
    """Of a classifier test that goes wrong on real data alone, as it does where there is little of it."""
    if floor > 0.5:
        return f"real ones are told from other real ones as well (right in {percent(floor)} of cases)"
    return f"even real ones and other real ones are taken for each other (right in {percent(floor)} of cases)"


def memorised(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of generated rows that are nearer to a row that was learned from than to one that was held out."""
    base = 0.5 if floor is None else floor
    than = "to what was held out" if floor is None else "real rows are"
    if value > base + 0.1:
        return Verdict("poor", f"nearer to what was learned from than {than}: some may be copies")
    if value > base + 0.05:
        return Verdict("fair", f"a little nearer to what was learned from than {than}")
    return Verdict("good", f"hardly nearer to what was learned from than {than}: not copied")


def new(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of generated graphs that are the same as no graph that was learned from."""
    copies = f"{percent(1 - value)} repeat a graph that was learned from"
    if floor is None:
        return _unlike(value, copies)
    if abs(value - floor) <= 0.05:
        return Verdict("good", "new about as often as real graphs that were not learned from")
    if value > floor:
        return Verdict("good", "new more often than real graphs, among which shapes repeat")
    usual = f"of other real graphs {percent(1 - floor) if floor < 1 else 'none'} do"
    return Verdict("fair" if value >= 0.75 * floor else "poor", f"{copies}; {usual}")


def different(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of generated graphs that are the same as no other generated graph."""
    if floor is None:
        return _unlike(value, f"{percent(1 - value)} are the same as another")
    if value >= floor - 0.05:
        return Verdict("good", "about as varied as real graphs are, or more")
    if value >= 0.75 * floor:
        return Verdict("fair", "less varied than real graphs are")
    return Verdict("poor", "clearly less varied than real graphs are: the generator repeats itself")


def _unlike(value: float, repeated: str) -> Verdict:
    """Of a share of graphs that repeat nothing, where nobody knows how often real graphs repeat."""
    if value >= 0.95:
        return Verdict("good", "all are" if value == 1 else "nearly all are")
    return Verdict("fair", f"{repeated}; how many real graphs do is not known")


def surest(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """The highest probability, whatever the graph is like."""
    if value < 0.95:  # a mean over classes
        return Verdict(
            "fair" if value >= 0.8 else "poor", "for some class no graph was found that the model is sure of"
        )
    known = {name: controls[name] for name in _NO_GOOD if name in controls}
    if not known:
        return Verdict("fair", "the model is sure of some graph of each class; whether it is of noise is not known")
    as_high = [_NO_GOOD[name] for name, score in known.items() if score >= value - 0.02]
    if as_high:
        return Verdict("fair", f"about as high for {' and '.join(as_high)} as well, so by itself it says little")
    less = " and of ".join(_NO_GOOD[name] for name in known)
    return Verdict("good", f"the model is sure of the best generated graphs, and less sure of {less}")


def sure_inside(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """The highest probability among graphs that are like real members of the class."""
    if floor is not None and value >= floor - 0.02:
        return Verdict("good", "as sure as of its surest real members")
    if value < 0.7:  # a mean over classes; one without such graphs counts 0
        return Verdict("poor", "unsure: some class has no generated graph in the real range that is a clear member")
    if floor is None:
        return Verdict("fair", "how sure the model is of real members is not known, so this says little")
    little = "sure, though a little less than" if value >= 0.9 else "less sure than"
    return Verdict("fair", f"{little} of its surest real members")


def motifs(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of the class's motifs that its first explanation contains."""
    if floor is None:
        return Verdict("fair", "what real graphs contain is not known, so this says little")
    if value >= min(floor + 0.05, 1.0 - 1e-9):
        return Verdict("good", f"{percent(value)}; a random real graph of the class contains {percent(floor)}")
    if value >= floor - 0.05:
        return Verdict("fair", f"about as many as a random real graph of the class contains ({percent(floor)})")
    return Verdict("poor", f"fewer than a random real graph of the class contains ({percent(floor)})")


def covered(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of real members that are near one of ten explanations."""
    said = f"ten explanations are near to {percent(value)} of real members"
    if floor is None:
        return Verdict("fair", said)
    said += f"; ten random real graphs to {percent(floor)}"
    if value >= floor - 0.05:
        return Verdict("good", said)
    if value >= 0.4 * floor:
        return Verdict("fair", f"{said}: they show the clearest members, not all kinds of them")
    return Verdict("poor", f"{said}: they show one corner of the class")


def contrasted(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of a class's own motifs minus that of other classes' motifs."""
    more = "shows more of its own typical parts than of other classes'"
    if value > ALIKE:
        if floor is None or value >= floor / 2:
            return Verdict("good", more)
        return Verdict("fair", f"{more}, but less so than real members")
    if value < -ALIKE:
        return Verdict("poor", "shows more of other classes' typical parts than of its own")
    alike = "its parts do not tell it from other classes"
    if floor is None:
        return Verdict("fair", f"{alike}; whether those of real members do is not known")
    if floor > 0.1:
        return Verdict("poor", f"{alike}, though those of real members do")
    return Verdict("fair", f"{alike}; those of real members hardly do either")


def found(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Recall of what was planted."""
    if value >= 0.9:
        return Verdict("good", "all of it is there" if value == 1 else "nearly all of it is there")
    if value >= 0.6:
        return Verdict("fair", "most of it is there")
    return Verdict("poor", "much of it is missing")


def right(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Precision of what was planted."""
    if value >= 0.9:
        return Verdict("good", "always the class's own" if value == 1 else "nearly always the class's own")
    if value >= 0.6:
        return Verdict("fair", "mostly the class's own")
    return Verdict("poor", "often another class's")
