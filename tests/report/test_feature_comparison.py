"""Explanations beside real nodes: shares, means and categories are what they are called."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch

import hand_made
from dignn.explanations.explanation import Explanation
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.report.feature_comparison import SINGLE, TOLD_COLUMNS, Comparison, comparisons
from dignn.report.reference import DENSITY_BINS, Profile

HOSTILE = "<script>alert(1)</script>"


def with_author(spec: FeatureSpec, row: list[float]) -> Explanation:
    """The hand-made explanation with other features of its author."""
    made = hand_made.explanation()
    schema = replace(made.graph.schema, features=(spec, *made.graph.schema.features[1:]))
    graph = replace(made.graph, schema=schema, tables={**made.graph.tables, "author": torch.tensor([row])})
    return replace(made, graph=graph)


def words(comparison: Comparison) -> str:
    return " ".join([comparison.title, comparison.caption, *map(str, comparison.charts)])


def test_of_counts_the_share_of_nodes_that_have_them_is_shown_and_not_their_mean() -> None:
    made = with_author(
        FeatureSpec(FeatureKind.COUNT, 3, levels=(9,) * 3, names=("query", "index", "x")), [2.0, 0.0, 0.0]
    )
    mean = torch.full((3, 3), 0.35)
    present = torch.tensor([[0.1, 0.1, 0.1], [0.15, 0.12, 0.1], [0.05, 0.05, 0.1]])
    (found,) = comparisons(made, {"author": Profile(torch.ones(3), mean, present)})
    assert "Share of real authors of “two” that have each feature" in found.caption
    told = words(found)
    assert "query: 15\xa0% of the real class, 5.0\xa0% of all, in the explanation" in told
    assert "index: 12\xa0% of the real class, 5.0\xa0% of all, not in the explanation" in told
    assert "35\xa0%" not in told


def test_categories_are_told_and_said_to_be_left_out() -> None:
    names = (HOSTILE, *(f"c{number}" for number in range(TOLD_COLUMNS + 3)))
    width = len(names)
    made = with_author(FeatureSpec(FeatureKind.CATEGORICAL, width, levels=(9,) * width, names=names), [3.0] * width)
    rows = torch.full((3, width), 0.5)
    (found,) = comparisons(made, {"author": Profile(torch.ones(3), rows, rows)})
    assert "categories, which are not compared" in found.caption
    told = words(found)
    assert "<svg" not in told
    assert "<script" not in told
    chips = re.findall(r'class="chip">([^<]*)<', told)
    assert chips[:3] == ["c1: 3", "&lt;script&gt;alert(1)&lt;/script&gt;: 3", "c0: 3"]  # the model would miss c1
    assert len(chips) == TOLD_COLUMNS
    assert f"and {width - TOLD_COLUMNS} more" in told


def test_where_whole_graphs_are_classified_categories_are_said_to_be_left_out() -> None:
    made = with_author(FeatureSpec(FeatureKind.CATEGORICAL, 3, levels=(2,) * 3), [1.0, 0.0, 1.0])
    made = replace(
        made, node=None, graph=replace(made.graph, schema=replace(made.graph.schema, target=None, task=None))
    )
    rows = torch.full((3, 3), 0.5)
    (found,) = comparisons(made, {"author": Profile(torch.ones(3), rows, rows)})
    assert "categories, which are not compared" in found.caption
    assert not found.charts


@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_means_are_the_true_ones_and_legends_name_whose_they_are(weight: float) -> None:
    bounds, share = (
        torch.linspace(-3, 3, DENSITY_BINS + 1).repeat(3, 1),
        torch.full((3, 3, DENSITY_BINS), 0.6 / DENSITY_BINS),
    )
    mean = torch.tensor([[0.0, 0.0], [10.0, 30.0], [100.0, 300.0]])
    profile = Profile(torch.tensor([1, weight, 1]), mean, torch.ones(3, 2), bounds, share)
    (found,) = comparisons(hand_made.explanation(), {"paper": profile})
    told = words(found)
    if weight:
        assert "Real class: mean 20, 60\xa0% from" in told
    else:
        assert "All classes: mean 200, 60\xa0% from" in told
        assert "eal class" not in told
        assert "of all classes (none of this class has a label)" in found.caption


def continuous(spread: tuple[float, ...], row: list[float], missed: bool = True) -> Comparison:
    """The comparison of an author with continuous columns of some standard deviations."""
    width = len(spread)
    made = with_author(FeatureSpec(FeatureKind.CONTINUOUS, width, names=tuple(f"c{k}" for k in range(width))), row)
    made = made if missed else replace(made, evidence=None)
    bounds = torch.linspace(-3, 3, DENSITY_BINS + 1) * torch.tensor([max(spread), *spread])[:, None]
    share = torch.full((3, width + 1, DENSITY_BINS), 1 / DENSITY_BINS)
    mean = torch.tensor([[0.0] * width, [41_000.0] * width, [0.0] * width])
    (found,) = comparisons(made, {"author": Profile(torch.ones(3), mean, torch.ones(3, width), bounds, share)})
    return found


def test_values_of_unlike_columns_are_not_shown_together() -> None:
    row = [0.5, 32_900.0, 24_300.0]
    unlike, alike = continuous((1.0, 1.0, 15_000.0), row), continuous((1.0, 0.0, 9.0), row)
    assert "All feature values" not in words(unlike)
    assert len(unlike.charts) == 3
    assert unlike.wide
    assert "feature by feature, those first that the model would miss most." in unlike.caption
    assert "All feature values" in words(alike)  # a constant column has no scale
    assert "first all 3 features together" in alike.caption
    many = continuous((1.0,) * 8 + (100.0,), [1.0] * 9, missed=False)
    assert len(many.charts) == SINGLE
    assert many.caption.endswith(f": {SINGLE} of 9 features.")


def test_the_classified_nodes_value_is_marked_and_told() -> None:
    found = continuous((1.0, 15_000.0, 15_000.0), [0.5, 32_900.0, 24_300.0])
    assert "c1: 32,900; mean of the class 41,000" in words(found)
    assert all('class="chart-own"' in chart for chart in found.charts)
    papers = Profile(torch.ones(3), torch.ones(3, 2), torch.ones(3, 2), torch.linspace(-3, 3, 9).repeat(3, 1),
                     torch.full((3, 3, 8), 1 / 8))  # fmt: skip
    (other,) = comparisons(hand_made.explanation(), {"paper": papers})
    assert "chart-own" not in words(other)  # papers are not classified


@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_shares_of_all_classes_are_not_said_to_be_of_the_class(weight: float) -> None:
    rows = torch.tensor([[0.1] * 3, [0.2] * 3, [0.4] * 3])
    (found,) = comparisons(hand_made.explanation(), {"author": Profile(torch.tensor([1, weight, 1]), rows, rows)})
    assert ("real class" in words(found)) is (weight > 0)
    assert ("(tick)" in found.caption) is (weight > 0)
    assert "40\xa0%" in words(found)
