"""Charts say what their numbers are, in pictures and in words, whatever the names and numbers are."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from markupsafe import Markup

from dignn.core.numerals import number, percent, tight_percent
from dignn.report.charts.bars import bars
from dignn.report.charts.curves import Curve, curves
from dignn.report.charts.densities import ENOUGH, Density, densities, density_of
from dignn.report.charts.dots import Control, DotRow, dots
from dignn.report.charts.frontier import frontier
from dignn.report.charts.parts import shorten, ticks, width
from dignn.report.charts.shares import ShareRow, shares
from dignn.report.charts.term_bar import TermBar, scale_of, term_bar

HOSTILE = "\"><script>alert('1')</script>&{{ 7 * 7 }}"
BELL = np.exp(-(np.linspace(-2.9, 2.9, 24) ** 2) / 2)
NORMAL = Density(np.linspace(-3, 3, 25).tolist(), (BELL / BELL.sum()).tolist(), 0.0)
NAN, INF = math.nan, math.inf


def parsed(chart: Markup) -> ElementTree.Element:
    assert isinstance(chart, Markup)
    return ElementTree.fromstring(str(chart))


def kinds(root: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    """Elements with a class."""
    return [item for item in root.iter() if kind in item.get("class", "").split()]


SHARES = [ShareRow(HOSTILE, 0.2, 0.1, True, True), ShareRow("b" * 300, NAN, 3.0, False, False)]
DOTS = DotRow(0.3, None, [Control(HOSTILE, None, "plus"), Control("c", 2.0, "cross")])
CURVES = [Curve(HOSTILE, [(1, 2.0), (2, NAN), (3, INF), (4, 1.0)], True), Curve("b", [(4, 1.0)])]
BARS = [(HOSTILE, 3.0, HOSTILE), ("none", NAN, "unknown"), ("zero", 0.0, "0")]
ALL = {
    "shares": shares(SHARES, title=HOSTILE),
    "densities": densities(NORMAL, [0.1, NAN, 8.0], title=HOSTILE, xlabel=HOSTILE),
    "a density of many": densities(NORMAL, [1.0] * 40, title=HOSTILE),
    "a density of nothing": densities(Density([2.0, 2.0], [0.0], 0.0), [], title=HOSTILE),
    "dots": dots(DOTS, title=HOSTILE),
    "dots of one value": dots(DotRow(0.0, 0.0), title=HOSTILE),
    "curves": curves(CURVES, title=HOSTILE),
    "no curves": curves([Curve("a", [])], title=HOSTILE),
    "bars": bars(BARS, title=HOSTILE),
    "no bars": bars([], title=HOSTILE),
    "a term": term_bar(TermBar(2.0, NAN, (1.0, INF), matched=True), (-1.0, 3.0), title=HOSTILE),
    "a term of nothing": term_bar(TermBar(0.0), scale_of([]), title=HOSTILE),
    "a frontier": frontier({3: 0.5, 6: NAN, 0: 0.2}, {3: (0.4, 0.6)}, None, title=HOSTILE),
    "no frontier": frontier({}, {}, 0.5, title=HOSTILE),
}


@pytest.mark.parametrize("chart", ALL.values(), ids=ALL.keys())
def test_every_chart_is_a_picture_with_words_and_without_code(chart: Markup) -> None:
    root = parsed(chart)
    assert root.get("role") == "img"
    assert str(root.get("aria-label")).startswith(HOSTILE)
    assert {item.tag for item in root.iter()} <= {"svg", "text", "title", "rect", "circle", "line", "path"}
    assert not any(name == "id" or name.startswith("on") for item in root.iter() for name in item.attrib)
    drawn = re.sub(r'aria-label="[^"]*"|>[^<]*<', "", str(chart))
    assert "nan" not in drawn
    assert "inf" not in drawn


def test_shares_are_bars_ticks_and_marks() -> None:
    rows = [ShareRow("a", 0.4, 0.1, True, True), ShareRow("b", 0.2, 0.4, False, False)]
    root = parsed(shares(rows, title="Words"))
    wide, narrow = (float(bar.get("width", 0)) for bar in kinds(root, "chart-real")[:2])
    assert wide == pytest.approx(2 * narrow)
    low, high = (float(tick.get("x", 0)) for tick in kinds(root, "chart-tick")[:2])
    assert high - low == pytest.approx(wide * 0.75, abs=0.2)
    labels = {item.text: item.get("class", "") for item in root.iter("text")}
    assert "chart-strong" in labels["a"]
    assert "chart-strong" not in labels["b"]
    marks = [item.get("class") for item in root.iter("circle")][:2]
    assert marks == ["chart-made", "chart-made-not"]
    said = str(root.get("aria-label"))
    assert "a: 40\xa0% of the real class, 10\xa0% of all, in the explanation, the model would miss it" in said
    assert "b: 20\xa0% of the real class, 40\xa0% of all, not in the explanation" in said


def test_shares_of_all_classes_are_not_said_to_be_of_the_class() -> None:
    root = parsed(shares([ShareRow("a", 0.4, 0.4, True, False)], title="Words", of_class=False))
    assert not kinds(root, "chart-tick")
    assert "real class" not in [item.text for item in root.iter("text")]
    assert "a: 40\xa0% of all real ones, in the explanation" in str(root.get("aria-label"))


@pytest.mark.parametrize("share", [0.99999, 1.0])
def test_a_long_percentage_does_not_lie_on_its_bar(share: float) -> None:
    root = parsed(shares([ShareRow("a", share, 0.1, True, False)], title="Words"))
    (words,) = (str(item.text) for item in kinds(root, "chart-number"))
    bar = kinds(root, "chart-real")[0]
    assert float(bar.get("x", 0)) + float(bar.get("width", 0)) <= 358 - 6 * len(words)


def test_a_density_has_area_one_and_the_histograms_mean() -> None:
    grid = np.linspace(-8, 8, 4001)
    height = NORMAL.at(grid, 0.01)
    step = grid[1] - grid[0]
    assert height.sum() * step == pytest.approx(1, abs=1e-3)
    assert (height * grid).sum() * step == pytest.approx(0, abs=1e-3)
    uneven = Density(
        [0.0, 1.0, 2.0, 3.0, 12.0], [0.15, 0.15, 0.1, 0.6], 5.0
    )  # most values, in a bin nine times as wide
    near, far = uneven.at(np.array([1.0, 7.5]), 0.001)
    assert near == pytest.approx(0.15, rel=0.1)
    assert far == pytest.approx(0.6 / 9, rel=0.01)


def test_few_values_are_shown_one_by_one_and_many_as_a_density() -> None:
    few = parsed(densities(NORMAL, [0.5] * (ENOUGH - 1), title="t"))
    many = parsed(densities(NORMAL, [0.5, 1.0] * ENOUGH, title="t"))
    assert len(kinds(few, "chart-rug")) == ENOUGH - 1 + 1  # and one in the legend
    assert not kinds(many, "chart-rug")
    assert sum(item.tag == "path" for item in kinds(many, "chart-made")) == 1
    assert not any(item.tag == "path" for item in kinds(few, "chart-made"))
    assert f"{2 * ENOUGH} values, mean 0.75, from 0.5 to 1" in str(many.get("aria-label"))


def drawn_means(root: ElementTree.Element) -> int:
    return len([item for item in kinds(root, "chart-real") if "chart-mean" in item.get("class", "")])


def test_the_mean_is_that_of_all_values_and_is_told_where_it_cannot_be_drawn() -> None:
    tail = replace(NORMAL, share=[0.6 * share for share in NORMAL.share], mean=1.5)
    root = parsed(densities(tail, [0.5], title="t"))
    assert "Real class: mean 1.5, 60\xa0% from" in str(root.get("aria-label"))
    assert drawn_means(root) == 1
    assert any(item.text == "real class: 60\xa0% of values in view" for item in root.iter("text"))
    far = parsed(densities(replace(NORMAL, mean=4000.0), [0.5], title="t"))
    assert drawn_means(far) == 0
    assert any(item.text == "real class: mean 4,000, not in view" for item in far.iter("text"))
    assert parsed(densities(NORMAL, [0.5], title="t")).get("height") != far.get("height")  # nothing to tell


def test_where_no_real_value_is_in_view_none_is_drawn() -> None:
    root = parsed(densities(Density([0.0, 1.0, 2.0], [0.0, 0.0], 441_364.0, "all classes"), [0.5, 1.0], title="t"))
    assert not [item for item in kinds(root, "chart-real") if item.tag == "path"]
    texts = [item.text for item in root.iter("text")]
    assert "all classes: no value in view; mean 441,364, not in view" in texts
    assert "real class" not in texts
    assert "All classes: mean 441,364, none from 0 to 2." in str(root.get("aria-label"))


def test_the_kernel_is_narrow_but_for_values_that_are_nearly_all_equal() -> None:
    grid = np.linspace(-10, 10, 161)
    step = grid[1] - grid[0]
    even = density_of(np.linspace(-4, 4, 1000), grid, 0.01)
    assert even.sum() * step == pytest.approx(1, abs=0.01)
    assert even[80] == pytest.approx(1 / 8, rel=0.05)
    spike = density_of(np.array([0.0] * 90 + [5.0] * 10), grid, 0.01)  # no quartile differs, and yet it is smooth
    assert spike[80] < 1
    assert spike.sum() * step == pytest.approx(1, abs=0.01)


def test_values_far_from_real_ones_stay_in_the_picture() -> None:
    root = parsed(densities(NORMAL, [-40.0, 55.0], title="t"))
    across = [float(item.get("x1", -1)) for item in kinds(root, "chart-rug")]
    assert all(0 <= x <= 360 for x in across)


def position(root: ElementTree.Element, kind: str) -> float:
    item = kinds(root, kind)[0]
    if item.tag == "circle":
        return float(item.get("cx", 0))
    return float(str(item.get("d"))[1:].split()[0])


def test_marks_of_metrics_stand_in_the_order_of_their_values() -> None:
    row = DotRow(0.2, 0.1, [Control("random trees", 0.9, "triangle")], "lower")
    root = parsed(dots(row, title="Degrees"))
    assert position(root, "chart-floor") < position(root, "chart-made") < position(root, "chart-control")
    texts = [str(item.text) for item in root.iter("text")]
    assert texts.count("0.9") == 1  # the end of the scale
    assert any("better" in text and text.startswith("←") for text in texts)
    said = str(root.get("aria-label"))
    assert said == "Degrees (lower is better): explanations 0.2, real graphs 0.1, random trees 0.9."


def test_a_value_beyond_the_scale_widens_it() -> None:
    root = parsed(dots(DotRow(-3.0, 7.0, low=0.0, high=1.0), title="t"))
    texts = [item.text for item in root.iter("text")]
    assert "\N{MINUS SIGN}3" in texts
    assert "7" in texts
    assert 0 <= position(root, "chart-made") < position(root, "chart-floor") <= 360


def heights(item: ElementTree.Element) -> list[float]:
    return [float(pair.split()[1]) for pair in str(item.get("d"))[1:].split(" L")]


def test_a_noisy_loss_is_smoothed_and_its_noise_kept_faintly() -> None:
    noise = np.random.default_rng(0).normal(size=200)
    root = parsed(curves([Curve("training", [(step, 5 + noise[step]) for step in range(200)], True)], title="t"))
    faint, smooth = (item for item in kinds(root, "chart-line") if item.tag == "path")
    assert "chart-faint" in str(faint.get("class"))
    assert np.std(heights(smooth)) < np.std(heights(faint)) / 2
    flat = parsed(curves([Curve("training", [(step, 5.0) for step in range(50)], True)], title="t"))
    assert len({height for item in kinds(flat, "chart-line") if item.tag == "path" for height in heights(item)}) == 1


def test_a_falling_loss_falls_and_its_first_steps_do_not_flatten_the_rest() -> None:
    points = [(step, 100.0 if step < 2 else 2 - step / 100) for step in range(100)]
    root = parsed(curves([Curve("training", points)], title="t"))
    drawn = heights(next(item for item in kinds(root, "chart-line") if item.tag == "path"))
    assert drawn == sorted(drawn)  # downwards on the screen
    assert drawn[-1] - drawn[0] > 80
    assert "training loss from 100 to 1.01" in str(root.get("aria-label"))


def test_bars_are_as_long_as_their_values() -> None:
    root = parsed(bars([("Generated", 200, "200"), ("Valid", 50, "50")], title="Funnel"))
    long, short = (float(item.get("width", 0)) for item in kinds(root, "chart-bar"))
    assert long == pytest.approx(4 * short)
    assert root.get("aria-label") == "Funnel. Generated: 200; Valid: 50"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (1.0, "1"), (0.12345, "0.123"), (12345.6, "12,346"), (-0.5, "\N{MINUS SIGN}0.5"), (0.00012, "0.00012")],
)
def test_numbers(value: float, shown: str) -> None:
    assert number(value) == shown


def test_names_are_shortened_in_the_middle_to_their_width() -> None:
    assert shorten("income", 122) == "income"
    assert shorten("ill" * 6, 122) == "ill" * 6  # as many letters of usual width would not fit
    one, other = (shorten(f"average monthly income {year}", 122) for year in (2019, 2020))
    assert one != other
    assert one.startswith("average")
    for name in ("W" * 40, "i" * 90, "語" * 30, "a\u0301" * 60, " " * 80, "x"):
        assert width(shorten(name, 122)) <= 122
    assert shorten("W" * 40, 1) == "W…"


@pytest.mark.parametrize(
    ("share", "shown"), [(0, "0"), (1, "100"), (0.5, "50"), (0.999999, "over 99.99"), (0.994, "99.4"), (0.0004, "0.04")]
)
def test_percentages_are_never_rounded_to_all_or_nothing(share: float, shown: str) -> None:
    assert tight_percent(share).replace("\N{NO-BREAK SPACE}", " ") == f"{shown} %" == percent(share)
    assert " " not in tight_percent(share)


@pytest.mark.parametrize("span", [(0.0, 1.0), (-3.7, 12.0), (0.0, 1e-7), (5.0, 5.0), (0.0, 1300.0)])
def test_ticks_lie_inside(span: tuple[float, float]) -> None:
    found = ticks(*span)
    assert 1 <= len(found) <= 6
    assert all(span[0] - 1e-12 <= value <= span[1] + 1e-12 for value in found)


def test_terms_are_bars_from_zero_with_their_effects_on_one_scale() -> None:
    several = [TermBar(2.0, 1.0, (0.5, 1.5)), TermBar(-1.0, -0.5, matched=True), TermBar(1.0, decoy=True)]
    assert scale_of(several) == (-1.0, 2.0)
    roots = [parsed(term_bar(each, scale_of(several), title="A term")) for each in several]
    right, left, pale = (next(root.iter("rect")) for root in roots)
    assert [each.get("class") for each in (right, left, pale)] == ["chart-bar", "chart-against", "chart-decoy"]
    (zero,) = {float(root.findall("line")[-1].get("x1", 0)) for root in roots}  # the same for all
    assert float(right.get("x", 0)) == float(pale.get("x", 0)) == zero
    assert float(left.get("x", 0)) + float(left.get("width", 0)) == pytest.approx(zero, abs=0.2)
    assert float(right.get("width", 0)) == pytest.approx(2 * float(pale.get("width", 0)), abs=0.2)
    dots = [[(item.get("class"), float(item.get("cx", 0))) for item in root.iter("circle")] for root in roots]
    unit = float(pale.get("width", 0))
    assert dots[0] == [("chart-effect", pytest.approx(zero + unit, abs=0.2))]
    assert dots[1] == [("chart-effect-matched", pytest.approx(zero - unit / 2, abs=0.2))]
    assert dots[2] == []
    ends = [float(item.get("x1", 0)) for item in kinds(roots[0], "chart-whisker")[1:]]
    assert ends == pytest.approx([zero + unit / 2, zero + 1.5 * unit], abs=0.2)
    assert not kinds(roots[1], "chart-whisker")


def test_a_frontier_rises_with_its_shares() -> None:
    root = parsed(frontier({25: 0.8, 3: 0.6}, {25: (0.75, 0.85)}, 0.5, title="Shares"))
    (few_x, few_y), (many_x, many_y) = ((float(d.get("cx", 0)), float(d.get("cy", 0))) for d in root.iter("circle"))
    assert few_x < many_x
    assert few_y > many_y
    (whisker,) = kinds(root, "chart-whisker")
    assert float(whisker.get("y1", 0)) > many_y > float(whisker.get("y2", 0))
    (guessed,) = kinds(root, "chart-dashed")
    assert float(guessed.get("y1", 0)) > few_y
    assert root.get("aria-label") == "Shares. 3 terms 60\u00a0%; 25 terms 80\u00a0%; by guessing 50\u00a0%"
