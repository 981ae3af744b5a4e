"""Sentences: grammar, and that they say what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.evidence.grammar import a, at_least, count, listed, noun, nouns, of_several, percent, quoted
from dignn.evidence.removal import removal_effects, strongest_columns
from dignn.evidence.removal_together import with_joint
from dignn.evidence.sentences import sentences
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout, Relation, Schema
from dignn.model.adapter import GNNAdapter
from evidence.planned import AVERAGES, SCHEMA, adapter, bibliography
from strategies import batch_of, plain_schema
from tiny_models import TinyGCN


def text_of(model: GNNAdapter, graph: GraphBatch, node: int | None, class_index: int) -> str:
    effects = with_joint(model, graph, removal_effects(model, graph, node, class_index, AVERAGES), AVERAGES)
    return sentences(graph, effects, *strongest_columns(effects, graph))


# -- grammar ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "one", "several"),
    [
        ("author", "an author", "authors"),
        ("papers", "a paper", "papers"),
        ("movies", "a movie", "movies"),
        ("companies", "a company", "companies"),
        ("user_group", "a user group", "user groups"),
        ("venue", "a venue", "venues"),
        ("item_categories", "an item category", "item categories"),
        ("boxes", "a box", "boxes"),
        ("class", "a class", "classes"),
        ("series", "a series", "series"),
        ("analysis", "an analysis", "analyses"),
        ("person", "a person", "people"),
        ("people", "a person", "people"),
        ("N", "an N node", "N nodes"),
        ("Cl", "a Cl node", "Cl nodes"),
        ("Os", "an Os node", "Os nodes"),
        ("0", "a node of type 0", "nodes of type 0"),
        ("node", "a node", "nodes"),
        ("hour", "an hour", "hours"),
        ("university", "a university", "universities"),
        ("umbrella", "an umbrella", "umbrellas"),
        ("DNA", "a DNA", "DNAs"),
        ("RNA", "an RNA", "RNAs"),
    ],
)
def test_nouns(name: str, one: str, several: str) -> None:
    assert a(noun(name)) == one
    assert nouns(name) == several
    assert count(1, name) == f"one {noun(name)}"
    assert count(3, name) == f"three {several}"
    assert count(13, name) == f"13 {several}"


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (1.0, "100 %"),
        (0.99999, "over 99.99 %"),
        (0.9998, "99.98 %"),
        (0.99986, "99.99 %"),
        (0.9986, "99.9 %"),
        (0.97396, "97.4 %"),
        (0.9994, "99.94 %"),
        (0.89999, "90 %"),
        (0.9996, "99.96 %"),
        (0.61, "61 %"),
        (0.605, "60 %"),
        (0.5, "50 %"),
        (0.047, "4.7 %"),
        (0.0007, "0.07 %"),
        (0.00001, "under 0.01 %"),
        (0.0, "0 %"),
    ],
)
def test_percentages(probability: float, text: str) -> None:
    assert percent(probability) == text


def test_what_is_not_certain_never_reads_as_certain() -> None:
    for number in range(1, 100_000):
        assert percent(number / 100_000) not in ("0 %", "0.0 %", "0.00 %", "100 %", "100.0 %", "100.00 %")


def test_what_is_said_to_be_left_is_there() -> None:
    for number in range(1, 1000):
        shown = at_least(number / 1000)
        assert float(shown.removeprefix("at ").removesuffix(" % or more")) <= number / 10
    assert at_least(0.999999) == "over 99.99 %"


def test_lists_and_quotes() -> None:
    assert [listed(list("abc"[:n])) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert quoted("<b>AAAI</b>") == "“<b>AAAI</b>”"
    assert quoted("x" * 100) == f"“{'x' * 39}…”"
    assert quoted("two\n lines") == "“two lines”"


# -- node classification with features ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("speaks for it", "speak for it"),
        ("is missing", "are missing"),
        ("carries “data”", "carry “data”"),
        ("together speak for it", "together speak for it"),
    ],
)
def test_what_several_do(one: str, several: str) -> None:
    assert of_several(one) == several


def test_words_papers_and_venues() -> None:
    text = text_of(adapter(), bibliography(), 0, 1)
    assert text == (
        "The model takes an author for “Data Mining” (99.97 %) when, as here, "
        "a paper next to it is joined to the venue “KDD”, "
        "its own features include “mining” and “query”, and the features of a term near it together speak for it. "
        "Without one of the two papers next to it the probability falls to 87 %."
    )


def test_clauses_about_one_paper_are_one() -> None:
    graph = bibliography()
    graph = replace(graph, tables={**graph.tables, "term": torch.tensor([[0.25, 0.25]])})
    assert "a paper next to it is joined to the venue “KDD” and carries column 0, and its own" in text_of(
        adapter(), graph, 0, 1
    )


def test_the_order_of_nodes_does_not_matter() -> None:
    order = torch.tensor([[3, 5, 2, 0, 4, 1]])
    assert text_of(adapter(), bibliography().permute(order), 3, 1) == text_of(adapter(), bibliography(), 0, 1)


def test_a_class_that_the_model_does_not_choose() -> None:
    text = text_of(adapter(), bibliography(), 0, 0)
    assert text.startswith("The model gives an author 0.03 % for “other”")
    assert "falls to" not in text


def test_nothing_matters() -> None:
    def constant(data: object) -> Tensor:
        authors = data["author"].num_nodes  # type: ignore[index]
        return torch.tensor([[0.0, 3.0]]).repeat(authors, 1)

    assert text_of(GNNAdapter(constant, SCHEMA), bibliography(), 0, 1) == (
        "The model takes an author for “Data Mining” (95.3 %) here. "
        "No single part decides: without any one of them the probability stays at 95.2 % or more."
    )


def test_a_single_node_without_features() -> None:
    schema = replace(plain_schema(), classes=("x", "y"), target="node", task=None)
    model = GNNAdapter(lambda x, edge_index: torch.tensor([[0.0, 3.0]]).repeat(len(x), 1), one_column(schema))
    graph = batch_of(one_column(schema), [0], {})
    assert text_of(model, graph, 0, 1) == "The model takes a node for “y” (95.3 %) here."


@pytest.mark.parametrize(
    ("words", "start"), [(59, "No single part"), (61, "Of the parts that could be tried no single one")]
)
def test_no_single_part_is_said_only_of_what_was_tried(words: int, start: str) -> None:
    """Each word counts a little, so that no single one decides; of many words not all are removed."""
    schema = Schema(("node",), (), (FeatureSpec(FeatureKind.BINARY, 80),), ("x", "y"), "node", Layout.HOMOGENEOUS)
    row = (torch.arange(80) < words).float()[None]
    graph = replace(batch_of(schema, [0], {}), tables={"node": row}, row=torch.zeros(1, 1).long())

    def add(x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.stack([torch.zeros(len(x)), 0.05 * x.sum(1)], dim=1)

    model = GNNAdapter(add, schema)
    averages = {"node": row[0]}  # the row as a whole is an average one
    effects = removal_effects(model, graph, 0, 1, averages)
    text = sentences(graph, effects, *strongest_columns(effects, graph))
    assert f" {start} decides: without any one of them the probability stays at 9" in text


def test_no_single_part_is_said_only_of_what_was_answered() -> None:
    def fussy(x: Tensor, edge_index: Tensor) -> Tensor:
        if len(x) % 3:
            raise RuntimeError("no answer without a node")
        return torch.tensor([[0.0, 3.0]]).repeat(len(x), 1)

    graph = batch_of(NODES, [0] * 3, {(0, 1): 1, (1, 2): 1})
    assert "Of the parts that could be tried no single one decides" in text_of(GNNAdapter(fussy, NODES), graph, 0, 1)


def test_two_values_that_say_the_same_speak() -> None:
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 1, names=("age",))
    know = (Relation("people", "know", "people", "know"),)
    schema = Schema(("people",), know, (spec,), ("x", "y"), "people", Layout.HOMOGENEOUS)
    graph = batch_of(schema, [0, 0], {(0, 1): 1})
    graph = replace(graph, tables={"people": torch.tensor([[2.0], [2.5]])}, row=torch.tensor([[0, 1]]))

    def add(x: Tensor, edge_index: Tensor) -> Tensor:
        total = x[:, 0].index_add(0, edge_index[1], x[edge_index[0], 0])
        return torch.stack([torch.zeros(len(x)), total], dim=1)

    told = text_of(GNNAdapter(add, schema), graph, 0, 1)
    assert "its own value of “age”" in told
    assert "the value of “age” of a person next to it" in told
    assert " speak for it" in told
    assert " speaks for it" not in told


def test_values_rather_than_words() -> None:
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 2, names=("age", "income"))
    schema = Schema(("people",), (), (spec,), ("x", "y"), "people", Layout.HOMOGENEOUS)
    graph = replace(
        batch_of(schema, [0], {}), tables={"people": torch.tensor([[2.0, 1.0]])}, row=torch.zeros(1, 1).long()
    )

    def add(x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.stack([torch.zeros(len(x)), x.sum(1)], dim=1)

    assert text_of(GNNAdapter(add, schema), graph, 0, 1).startswith(
        "The model takes a person for “y” (95.3 %) when, as here, its own values of “age” and “income” speak for it."
    )


# -- structure ----------------------------------------------------------------------------------------


def one_column(schema: Schema) -> Schema:
    spec = FeatureSpec(FeatureKind.NONE, 1, constant=(1.0,))
    return replace(schema, features=(spec,) * len(schema.node_types), layout=Layout.HOMOGENEOUS)


NODES = one_column(replace(plain_schema(), classes=("base", "triangle"), target="node", task=None))


def triangles(x: Tensor, edge_index: Tensor) -> Tensor:
    """Every triangle of a node counts 4, less 2."""
    adjacency = torch.zeros(len(x), len(x))
    adjacency[edge_index[0], edge_index[1]] = 1
    score = 2 * torch.linalg.matrix_power(adjacency, 3).diagonal() - 2
    return torch.stack([torch.zeros_like(score), score], dim=1)


@pytest.mark.parametrize(
    ("edges", "what", "after"),
    [
        (
            [(0, 1), (0, 2), (1, 2), (2, 3)],
            "a triangle and has two neighbours",
            "With the triangle broken the probability falls to 12 %.",
        ),
        (
            [(0, 1), (0, 2), (1, 2), (0, 3), (2, 3)],
            "two triangles and has three neighbours",
            "With the triangles broken the probability falls to 12 %.",
        ),
    ],
)
def test_triangles(edges: list[tuple[int, int]], what: str, after: str) -> None:
    graph = batch_of(NODES, [0] * 4, dict.fromkeys(edges, 1))
    text = text_of(GNNAdapter(triangles, NODES), graph, 0, 1)
    assert f"when, as here, it lies on {what}." in text
    assert text.endswith(after)


def test_no_cycle() -> None:
    graph = batch_of(NODES, [0] * 4, {(0, 1): 1, (0, 2): 1, (0, 3): 1})

    def degree(x: Tensor, edge_index: Tensor) -> Tensor:
        score = torch.bincount(edge_index[0], minlength=len(x)).float()
        return torch.stack([score, torch.zeros_like(score)], dim=1)

    assert text_of(GNNAdapter(degree, NODES), graph, 0, 0) == (
        "The model takes a node for “base” (95.3 %) when, as here, it lies on no cycle and has three neighbours. "
        "No single part decides: without any one of them the probability stays at 88 % or more, "
        "but without all other nodes it falls to 50 %."
    )


@pytest.mark.parametrize("length", [3, 8, 9, 10, 20])
def test_a_node_of_a_ring_is_never_said_to_lie_on_no_cycle(length: int) -> None:
    """Whatever hangs on the ring: here a thicket with hundreds of other cycles, which do not crowd out its own."""
    ring = {(i, (i + 1) % length): 1 for i in range(length)}
    many = [(length + i, length + 6 + j) for i in range(6) for j in range(6)]
    graph = batch_of(NODES, [0] * (length + 12), ring | dict.fromkeys(many, 1) | {(1, length): 1})

    def degree(x: Tensor, edge_index: Tensor) -> Tensor:
        score = torch.bincount(edge_index[0], minlength=len(x)).float()
        return torch.stack([score, torch.zeros_like(score)], dim=1)

    model = GNNAdapter(degree, NODES)
    text = text_of(model, graph, 0, 0)
    assert "has two neighbours" in text
    assert "no cycle" not in text
    order = torch.randperm(length + 12, generator=Seed(length).torch())
    place = int((order == 0).nonzero())
    assert text_of(model, graph.permute(order[None]), place, 0) == text


ATOMS = Schema(
    ("C", "N", "O"),
    (
        Relation("C", "single", "C", "single"),
        Relation("C", "single", "N", "single"),
        Relation("N", "double", "O", "double"),
        Relation("N", "single", "O", "single"),
    ),
    (FeatureSpec(),) * 3,
    ("harmless", "mutagenic"),
    None,
    Layout.HOMOGENEOUS,
    True,
    ("single", "double"),
)


def nitro(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    """Every bond of an N and an O counts 3, less 3."""
    bond = (x[edge_index[0], 1] > 0) & (x[edge_index[1], 2] > 0)
    score = torch.full((int(batch.max()) + 1,), -3.0).index_add(0, batch[edge_index[0]], 3.0 * bond)
    return torch.stack([torch.zeros_like(score), score], dim=1)


def test_a_group_of_atoms() -> None:
    graph = batch_of(ATOMS, [0, 0, 1, 2, 2], {(0, 1): 1, (1, 2): 2, (2, 3): 3, (2, 4): 4})
    assert text_of(GNNAdapter(nitro, ATOMS), graph, None, 1) == (
        "The model takes a graph for “mutagenic” (95.3 %) when, as here, "
        "it has an N node joined to two O nodes (double, single). "
        "Without one N node with three neighbours the probability falls to 4.7 %."
    )


def test_a_graph_that_would_be_surer_without_any_of_its_nodes() -> None:
    def fewer(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        score = 8.0 - torch.bincount(batch).float()
        return torch.stack([torch.zeros_like(score), score], dim=1)

    graph = batch_of(ATOMS, [0, 1, 2], {(0, 1): 2, (1, 2): 3})
    assert text_of(GNNAdapter(fewer, ATOMS), graph, None, 1).startswith("The model takes a graph for “mutagenic”")


def test_a_ring_of_atoms() -> None:
    def rings(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Edges less nodes: 0 with one ring, -1 without."""
        balance = torch.bincount(batch[edge_index[0]], minlength=int(batch.max()) + 1) / 2 - torch.bincount(batch)
        return torch.stack([torch.zeros(len(balance)), 4 * balance + 3], dim=1)

    graph = batch_of(ATOMS, [0] * 6, {(i, (i + 1) % 6): 1 for i in range(6)})
    text = text_of(GNNAdapter(rings, ATOMS), graph, None, 1)
    assert "when, as here, it has a ring of six C nodes." in text
    assert text.endswith("With the ring broken the probability falls to 27 %.")


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_nodes_does_not_matter_where_cycles_share_edges(seed: int) -> None:
    """Three squares in a row, which can be broken in several ways."""
    schema = replace(NODES, target=None, task=None)
    ladder = {(i, i + 1): 1 for i in (0, 1, 2, 4, 5, 6)} | {(i, i + 4): 1 for i in range(4)}
    graph = batch_of(schema, [0] * 8, ladder)
    model = GNNAdapter(TinyGCN(1, 2, pool=True, seed=seed), schema)
    class_index = int(model.score(graph).logits.argmax())
    texts = {
        text_of(model, graph.permute(torch.randperm(8, generator=Seed(number).torch())[None]), None, class_index)
        for number in range(8)
    }
    assert len(texts) == 1
