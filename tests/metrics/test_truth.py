"""Planted truth: hand-made explanations whose precision and recall are known."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.motif import GroundTruth, Motif
from dignn.graphs.schema import Relation
from dignn.metrics.measures.truth import NAMES, planted_truth
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.registry import load
from dignn.zoo.datasets.shapes import citation_triangle, coauthor_square, cycle, house
from strategies import batch_of, plain_schema

WORDS = ("query", "index", "neural", "kernel", "survey")
WRITES, CITES = 1, 2
SCHEMA = plain_schema(
    (Relation("author", "writes", "paper", "rev_writes"), Relation("paper", "cites", "paper", directed=True)),
    node_types=("author", "paper"),
    classes=("database self-citer", "database duo", "learning self-citer", "learning duo"),
    target="author",
    features=(FeatureSpec(FeatureKind.BINARY, len(WORDS), names=WORDS), FeatureSpec()),
)
TRIANGLE, SQUARE = citation_triangle(), coauthor_square()
TRUTH = GroundTruth(
    motifs=((TRIANGLE,), (SQUARE,), (TRIANGLE,), (SQUARE,)),
    keywords=(WORDS[:2], WORDS[:2], WORDS[2:4], WORDS[2:4]),
)
NOTHING = dict.fromkeys(NAMES)


def authored(types: list[int], edges: dict[tuple[int, int], int], words: dict[int, set[str]]) -> GraphBatch:
    """A graph of authors (0) and papers (1), with the words of authors by position."""
    graph = batch_of(SCHEMA, types, edges)
    table = torch.tensor([[float(word in words.get(place, ())) for word in WORDS] for place in range(len(types))])
    return replace(graph, tables={"author": table}, row=torch.arange(len(types))[None])


# author 0 wrote papers 1 and 2, author 3 wrote both too or neither
PAPERS = {(0, 1): WRITES, (0, 2): WRITES}
SELF_CITER = authored([0, 1, 1], {**PAPERS, (1, 2): CITES}, {0: {"query", "survey"}})
DUO = authored([0, 1, 1, 0], {**PAPERS, (3, 1): WRITES, (3, 2): WRITES}, {0: {"neural"}, 3: {"query", "index"}})
BOTH = authored([0, 1, 1, 0], {**PAPERS, (3, 1): WRITES, (3, 2): WRITES, (2, 1): CITES}, {0: {"query", "neural"}})
NEITHER = authored([0, 1, 1], PAPERS, {0: {"survey"}})


def of_class(number: int, *explanations: tuple[GraphBatch, int | None]) -> dict[str, float | None]:
    """The values of one class, the others having no explanation."""
    found = planted_truth([list(explanations) if c == number else [] for c in range(4)], TRUTH)
    assert all(values == NOTHING for c, values in enumerate(found["by_class"]) if c != number)
    assert found["mean"] == found["by_class"][number]
    return dict(found["by_class"][number])


def motif_values(number: int, *explanations: tuple[GraphBatch, int | None]) -> tuple[float | None, ...]:
    values = of_class(number, *explanations)
    return values["motif_recall"], values["motif_precision"]


def keyword_values(number: int, *explanations: tuple[GraphBatch, int | None]) -> tuple[float | None, ...]:
    values = of_class(number, *explanations)
    return values["keyword_recall"], values["keyword_precision"]


# -- motifs -------------------------------------------------------------------------------------------


def test_the_motif_of_the_class_or_of_another() -> None:
    assert motif_values(0, (SELF_CITER, 0)) == (1, 1)
    assert motif_values(1, (SELF_CITER, 0)) == (0, 0)
    assert motif_values(1, (DUO, 0)) == motif_values(3, (DUO, 3)) == (1, 1)
    assert motif_values(0, (BOTH, 0)) == motif_values(1, (BOTH, 0)) == (1, 0.5)  # further edges do no harm
    assert motif_values(0, (NEITHER, 0)) == (0, None)


def test_motifs_are_the_mean_over_the_explanations() -> None:
    assert motif_values(0, (SELF_CITER, 0), (BOTH, 0), (NEITHER, 0), (DUO, 0)) == (
        pytest.approx(2 / 4),
        pytest.approx((1 + 0.5 + 0) / 3),
    )


def test_the_motif_must_be_at_the_classified_node() -> None:
    """Author 0 cites itself; author 3 wrote only one of the papers, in one graph the cited one, in one another."""
    for paper in (1, 2):
        edges = {**PAPERS, (1, 2): CITES, (3, paper): WRITES}
        graph = authored([0, 1, 1, 0], edges, {})
        assert motif_values(0, (graph, 0)) == (1, 1)
        assert motif_values(0, (graph, 3)) == (0, None)


def test_directions_of_other_relations_count() -> None:
    """The truth of a set in which a paper must be cited by the author's own, and not the other way round."""
    cited = replace(TRIANGLE, edges=((0, 1), (2, 1)), edge_types=TRIANGLE.edge_types[1:])
    truth = GroundTruth(motifs=((cited,),))
    there = authored([0, 1, 1], {(0, 1): WRITES, (2, 1): CITES}, {})
    back = authored([0, 1, 1], {(0, 1): WRITES, (1, 2): CITES}, {})
    assert planted_truth([[(there, 0)]], truth)["mean"]["motif_recall"] == 1
    assert planted_truth([[(back, 0)]], truth)["mean"]["motif_recall"] == 0


def test_only_position_0_of_a_typed_motif_is_the_classified_node() -> None:
    """A paper of the first author cites one of the second; the class is that of the first."""
    citing = Motif("citing", ("author", "author", "paper", "paper"), ((0, 2), (1, 3), (2, 3)), TRIANGLE.edge_types)
    graph = authored([0, 0, 1, 1], {(0, 2): WRITES, (1, 3): WRITES, (2, 3): CITES}, {})
    found = [planted_truth([[(graph, node)]], GroundTruth(motifs=((citing,),))) for node in (0, 1)]
    assert [values["mean"]["motif_recall"] for values in found] == [1, 0]


def test_padding_does_not_move_the_classified_node() -> None:
    padded = GraphBatch.cat([SELF_CITER, authored([1] * 6, {}, {})])[torch.tensor([0, 1])]
    order = torch.tensor([[5, 1, 4, 0, 2, 3], [0, 1, 2, 3, 4, 5]])
    moved = padded.permute(order)
    graph = GraphBatch(
        SCHEMA, moved.node_type[:1], moved.edge[:1], moved.label[:1], moved.graph_label[:1], moved.row[:1], moved.tables
    )
    assert motif_values(0, (graph, 3)) == (1, 1)
    assert keyword_values(0, (graph, 3)) == (0.5, 1)


# -- motifs of one type -------------------------------------------------------------------------------

PLAIN = plain_schema(classes=("base", "middle", "top"), target="node")
HOUSES = GroundTruth(motifs=((), (house(),), (house(),)))
HOUSE = batch_of(PLAIN, [0] * 6, {**dict.fromkeys(house().edges, 1), (0, 5): 1})
CHORD = batch_of(PLAIN, [0] * 5, {**dict.fromkeys(house().edges, 1), (0, 2): 1})


def test_every_place_in_an_untyped_motif_will_do() -> None:
    for node in range(5):
        found = planted_truth([[], [(HOUSE, node)], []], HOUSES)["by_class"][1]
        assert (found["motif_recall"], found["motif_precision"]) == (1, 1)
    outside = planted_truth([[], [(HOUSE, 5)], []], HOUSES)["by_class"][1]
    assert (outside["motif_recall"], outside["motif_precision"]) == (0, None)


def test_untyped_motifs_are_induced() -> None:
    assert planted_truth([[], [(CHORD, 0)], []], HOUSES)["mean"]["motif_recall"] == 0


def test_a_class_without_motifs_is_right_where_none_is_found() -> None:
    found = planted_truth([[(HOUSE, 5), (HOUSE, 1), (CHORD, 0), (HOUSE, 5)], [], []], HOUSES)["by_class"][0]
    assert found == {**NOTHING, "motif_precision": 0.75}


def test_graph_classification_has_no_place() -> None:
    schema = plain_schema(classes=("house", "cycle"))
    truth = GroundTruth(motifs=((house(),), (cycle(5),)))
    graphs = [
        batch_of(schema, [0] * 7, {**dict.fromkeys(motif.edges, 1), (4, 5): 1, (5, 6): 1})
        for motif in (house(), cycle(5))
    ]
    found = planted_truth([[(graphs[0], None)], [(graphs[1], None), (graphs[0], None)]], truth)
    assert found["by_class"][0] == {**NOTHING, "motif_recall": 1, "motif_precision": 1}  # a house is no five-cycle
    assert found["by_class"][1] == {**NOTHING, "motif_recall": 0.5, "motif_precision": 0.5}
    assert found["mean"] == {**NOTHING, "motif_recall": 0.75, "motif_precision": 0.75}


# -- keywords -----------------------------------------------------------------------------------------


def test_keywords_are_those_of_the_classified_node() -> None:
    assert keyword_values(0, (SELF_CITER, 0)) == (0.5, 1)
    assert keyword_values(0, (DUO, 0)) == (0, 0)
    assert keyword_values(0, (DUO, 3)) == (1, 1)
    assert keyword_values(2, (BOTH, 0)) == (0.5, 0.5)
    assert keyword_values(2, (NEITHER, 0)) == (0, None)  # a common word is no mistake


def test_keywords_are_counted_over_all_explanations() -> None:
    assert keyword_values(0, (SELF_CITER, 0), (DUO, 3), (BOTH, 0), (NEITHER, 0)) == (1, pytest.approx(4 / 5))


def test_keywords_that_are_no_columns_any_more() -> None:
    truth = replace(TRUTH, keywords=(("query", "transaction"),) * 4)
    assert planted_truth([[(SELF_CITER, 0)], [], [], []], truth)["mean"]["keyword_recall"] == 1
    unknown = replace(TRUTH, keywords=(("transaction",),) * 4)
    assert planted_truth([[(SELF_CITER, 0)], [], [], []], unknown)["mean"]["keyword_recall"] is None


def test_graphs_without_features_have_no_keywords() -> None:
    assert keyword_values(0, (SELF_CITER.without_features(), 0)) == (None, None)


# -- all together -------------------------------------------------------------------------------------


def test_nothing_to_explain_and_too_few_classes() -> None:
    assert planted_truth([[]] * 4, TRUTH) == {"mean": NOTHING, "by_class": [NOTHING] * 4}
    with pytest.raises(DignnError, match="explanations of 1 classes, and the truth is about 4"):
        planted_truth([[]], TRUTH)


def test_real_members_show_what_was_planted() -> None:
    dataset = load("planted")
    assert dataset.truth is not None
    graphs = forest_fire(Adjacency.build(dataset.data, dataset.schema), (15,), 60, seed=Seed(0))
    starts = graphs.label[:, 0].tolist()  # a fire starts at node 0
    own = [[(graphs[i], 0) for i, label in enumerate(starts) if label == c] for c in range(4)]
    wrong = [*own[3:], *own[:3]]  # the class before: another motif
    right, swapped = planted_truth(own, dataset.truth), planted_truth(wrong, dataset.truth)
    for values in right["by_class"]:
        assert values["motif_recall"] > 0.5  # forest fires cut some motifs
        assert values["motif_precision"] == values["keyword_recall"] == 1
        assert values["keyword_precision"] > 0.9
    assert swapped["mean"]["motif_recall"] == swapped["mean"]["motif_precision"] == 0
    assert swapped["by_class"][0]["keyword_precision"] < 0.1  # learning duos as database self-citers
