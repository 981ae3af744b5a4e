"""Faithfulness: the published values, hand-made cases, and what each number must not depend on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.errors import DignnError
from dignn.graphs.plain_graph import PlainGraph
from dignn.graphs.tasks.classification import classification
from dignn.metrics.measures.contrast import _contrast, contrast
from dignn.metrics.measures.faithfulness import class_faithfulness, ground_truth_faithfulness, motif_statistics
from dignn.metrics.measures.predictive import predictive_faithfulness
from dignn.model.scores import Scores
from dignn.selection.motifs.sets import MotifSets
from strategies import PROPERTY

TASK = classification("node")
PARITY = os.environ.get("DIGNN_PARITY")


def path(*types: int) -> PlainGraph:
    return PlainGraph.from_edges(len(types), [(i, i + 1) for i in range(len(types) - 1)], types)


def ring(size: int) -> PlainGraph:
    return PlainGraph.from_edges(size, [(i, (i + 1) % size) for i in range(size)])


A, B, AB, BC, CD = path(0, 0), path(1, 1), path(0, 1), path(1, 2), path(2, 3)


def test_pf_is_the_mean_of_the_best_probabilities() -> None:
    logits = torch.log(torch.tensor([[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]))
    places = torch.arange(3)
    assert predictive_faithfulness(Scores(places, places, logits, logits, TASK)) == pytest.approx((0.7 + 0.8) / 2)
    nothing = torch.zeros(0, 2)
    assert predictive_faithfulness(Scores(places[:0], places[:0], nothing, nothing, TASK)) is None


# -- GF -----------------------------------------------------------------------------------------------


def test_gf_is_the_mean_over_classes_and_graphs() -> None:
    motifs = MotifSets(((A, B), (AB, BC, CD), ()))
    explanations = [[path(0, 0, 1), path(0, 0, 1, 1)], [path(0, 1, 2)], [A]]
    assert class_faithfulness(explanations, motifs, typed=True) == [pytest.approx(0.75), pytest.approx(2 / 3), None]
    assert ground_truth_faithfulness(explanations, motifs, typed=True) == pytest.approx((0.75 + 2 / 3) / 2)
    assert ground_truth_faithfulness(explanations, motifs, typed=False) == 1


def test_a_class_without_graphs_is_left_out() -> None:
    motifs = MotifSets(((A,), (B,)))
    assert ground_truth_faithfulness([[], [A]], motifs, typed=True) == 0
    assert ground_truth_faithfulness([[], []], motifs, typed=True) is None


def test_further_edges_count_unless_monomorphisms_are_asked_for() -> None:
    motifs = MotifSets(((path(0, 0, 0),),))
    assert ground_truth_faithfulness([[ring(3)]], motifs, typed=False) == 0
    assert ground_truth_faithfulness([[ring(3)]], motifs, typed=False, induced=False) == 1


def test_classes_must_agree() -> None:
    with pytest.raises(DignnError, match="explanations of 1 classes and motifs of 2"):
        ground_truth_faithfulness([[A]], MotifSets(((A,), (B,))), typed=True)


@pytest.mark.skipif(not PARITY, reason="needs the published graphs; set DIGNN_PARITY to their folder")
def test_published_graphs_give_the_published_values() -> None:
    folder = Path(str(PARITY))
    graphs, expected = (json.loads((folder / name).read_text()) for name in ("graphs.json", "expected.json"))

    def plain(several: list[dict[str, Any]]) -> list[PlainGraph]:
        return [PlainGraph.from_edges(raw["n"], raw["edges"], raw.get("types")) for raw in several]

    checked = 0
    for dataset, explainers in expected["gf"].items():
        known = {name: plain(several) for name, several in graphs["motifs"][dataset].items()}
        for explainer, modes in explainers.items():
            sets = graphs["explanations"][dataset][explainer]
            explanations = [plain(several) for several in sets.values()]
            motifs = (
                MotifSets.shared(known["common"], len(sets))
                if "common" in known
                else MotifSets(tuple(tuple(known[name]) for name in sets))
            )
            for mode, value in modes.items():
                options = {"typed": mode.endswith("_typed"), "induced": mode.startswith("induced")}
                found = ground_truth_faithfulness(explanations, motifs, **options)
                assert found == pytest.approx(value["mean"], abs=1e-12)
                checked += 1
    assert checked >= 16


# -- contrast -----------------------------------------------------------------------------------------


def test_contrast_compares_with_each_other_class() -> None:
    motifs = MotifSets(((A, AB), (B,), (CD, BC)))
    graph = path(0, 0, 1, 1)  # has A, AB and B
    found = contrast([[graph], [graph], [graph]], motifs)
    assert found[0] == pytest.approx(((1 - 1) + (1 - 0)) / 2)
    assert found[1] == pytest.approx(((1 - 1) + (1 - 0)) / 2)
    assert found[2] == pytest.approx(0 - 1)


def test_motifs_of_both_classes_are_left_out_on_both_sides() -> None:
    turned = path(1, 0)  # AB, written the other way round
    motifs = MotifSets(((AB, A), (turned, B)))
    assert contrast([[AB], [AB]], motifs) == [0, 0]
    assert contrast([[path(0, 0, 1)], [path(0, 0, 1)]], motifs) == [1, -1]


def test_contrast_uses_every_graph_and_the_types() -> None:
    motifs = MotifSets(((A,), (B,)))
    assert contrast([[A, B, A, A], [A]], motifs) == [pytest.approx(0.75 - 0.25), pytest.approx(-1)]


def test_where_contrast_does_not_apply() -> None:
    assert contrast([[A], [A]], MotifSets.shared([A], 2)) == [None, None]
    assert contrast([[A], [A]], MotifSets(((A,), (A,)))) == [None, None]
    assert contrast([[A], [], [B]], MotifSets(((A,), (B,), ()))) == [1, None, None]


@PROPERTY
@given(st.integers(0, 2**20), st.integers(1, 6), st.integers(0, 30))
def test_contrast_of_a_class_is_the_mean_over_others(seed: int, classes: int, motifs: int) -> None:
    rng = np.random.default_rng(seed)
    owner = np.sort(rng.integers(0, classes, motifs))
    had = (rng.random((motifs, classes)) < 0.3) | (owner[:, None] == np.arange(classes))
    hits = rng.random((4, motifs)) < 0.5
    for number in range(classes):
        values = []
        for other in set(range(classes)) - {number}:
            mine, theirs = (owner == number) & ~had[:, other], (owner == other) & ~had[:, number]
            if mine.any() and theirs.any():
                values.append(hits[:, mine].mean() - hits[:, theirs].mean())
        expected = pytest.approx(np.mean(values)) if values else None
        assert _contrast(hits, number, owner, had) == expected


def test_graphs_that_know_no_class_have_no_contrast() -> None:
    """Graphs that contain each motif with the same probability score 0 on the mean, however many motifs are shared."""
    rng = np.random.default_rng(0)
    shared = [path(0, kind) for kind in range(1, 4)]
    own = [tuple(path(9, 10 * c + kind) for kind in range(4)) for c in range(2)]
    motifs = MotifSets(tuple((*shared, *some) for some in own))

    def random_graph() -> PlainGraph:
        edges = [motif for motif in (*own[0], *own[1]) if rng.random() < 0.3] + shared
        types = [int(kind) for motif in edges for kind in motif.types]
        return PlainGraph.from_edges(len(types), [(2 * i, 2 * i + 1) for i in range(len(edges))], types)

    found = contrast([[random_graph() for _ in range(400)] for _ in range(2)], motifs)
    assert all(value is not None and abs(value) < 0.08 for value in found)


# -- statistics ---------------------------------------------------------------------------------------


def test_statistics_of_class_specific_motifs() -> None:
    motifs = MotifSets(((ring(3), path(0, 0), path(0, 0, 0)), (ring(4),), ()))
    found = motif_statistics([[path(1, 1, 1), ring(3)], [ring(4)], [A]], motifs)
    assert found == {
        "common": False,
        "by_class": [{"occur": 2, "do_not_occur": 1}, {"occur": 1, "do_not_occur": 0}, None],
    }
    assert motif_statistics([[path(1, 1, 1)], [], [A]], motifs, typed=True)["by_class"] == [
        {"occur": 0, "do_not_occur": 3},
        None,
        None,
    ]


def test_statistics_of_common_motifs() -> None:
    motifs = MotifSets.shared([path(0, 0), ring(3), ring(4), ring(5)], 4)
    found = motif_statistics([[ring(3)], [ring(3)], [ring(4)], [path(0, 0)]], motifs)
    assert found == {"common": True, "motifs": 4, "every_class": 1, "half_of_classes": 2, "no_class": 1}
    nothing = motif_statistics([[], [], [], []], motifs)
    assert nothing == {"common": True, "motifs": 4, "every_class": None, "half_of_classes": None, "no_class": None}
