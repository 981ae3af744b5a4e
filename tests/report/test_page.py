"""The report page: self-contained, complete, safe, and honest about what is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch
from markupsafe import escape

from dignn import Explanation, Explanations
from dignn.evidence.gathering import Evidence
from dignn.evidence.nearest_example import NearestExample
from dignn.evidence.removal import ColumnEffect, Effects
from dignn.explanations.explanation import Standing
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from dignn.report import page as report_page
from dignn.report.classes import Detail, near_in_words, ordinal, same_in_words, standing_in_words
from dignn.report.notebook import explanation_html
from dignn.report.overview import sentences
from dignn.report.page import MOST_BYTES, write_page
from small_runs import HOSTILE, made_once, planted_run

LONG = "x" * 200


@pytest.fixture(scope="module")
def explanations(tmp_path_factory: pytest.TempPathFactory) -> Explanations:
    return Explanations.load(made_once(tmp_path_factory, "planted", planted_run))


@pytest.fixture(scope="module")
def complete(explanations: Explanations, tmp_path_factory: pytest.TempPathFactory) -> str:
    return page(explanations, tmp_path_factory.mktemp("page"))


def page(explanations: Explanations, folder: Path) -> str:
    return write_page(explanations, folder / "report.html").read_text()


def by_hand(
    names: tuple[str, ...] = ("first", "second"),
    kind: str = "thing",
    columns: tuple[str, ...] | None = ("one", "two"),
    nodes: int = 3,
    edges: bool = True,
) -> Explanations:
    """One explanation for each class, a path, as somebody makes it who has only graphs and probabilities."""
    schema = Schema(
        node_types=(kind,),
        relations=(Relation(kind, "to", kind),),
        features=(FeatureSpec(FeatureKind.BINARY, 2, names=columns),),
        classes=names,
        target=kind,
    )
    edge = torch.zeros(1, nodes, nodes, dtype=torch.long)
    for u in range(nodes - 1) if edges else ():
        edge[0, u, u + 1] = edge[0, u + 1, u] = 1
    graph = GraphBatch(
        schema,
        torch.zeros(1, nodes, dtype=torch.long),
        edge,
        torch.zeros(1, nodes, dtype=torch.long),
        torch.full((1,), -1),
        torch.arange(nodes)[None],
        {kind: torch.ones(nodes, 2)},
    )
    share = 1 / len(names)
    return Explanations(
        {
            name: [Explanation(index, name, 0, (share,) * len(names), 0.0, graph, 0, index)]
            for index, name in enumerate(names)
        }
    )


class Tags(HTMLParser):
    """The names of all elements and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs


def test_the_page_needs_nothing_from_outside(complete: str) -> None:
    tags = Tags(complete)
    assert not {"link", "img", "iframe", "object", "embed", "base", "use", "image"} & set(tags.elements)
    links = [value for name, value in tags.attributes if name in ("src", "href", "srcset", "data", "action")]
    assert links
    assert all(str(value).startswith("#") for value in links)
    assert tags.elements.count("script") == 2
    (policy,) = (value for name, value in tags.attributes if name == "content" and "default-src" in str(value))
    assert "default-src 'none'" in str(policy)


def test_every_link_and_every_reference_leads_somewhere_and_ids_are_unique(complete: str) -> None:
    check_links(complete)


def check_links(text: str) -> None:
    tags = Tags(text)
    ids = [value for name, value in tags.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    wanted = {str(value).removeprefix("#") for name, value in tags.attributes if name == "href"}
    wanted |= {str(value) for name, value in tags.attributes if name in ("aria-controls", "aria-labelledby")}
    assert wanted <= set(ids)


def test_every_class_and_every_rank_is_there(explanations: Explanations, complete: str) -> None:
    ranks = sum(len(several) for several in explanations.values())
    assert complete.count('<section class="class-panel"') == len(explanations)
    assert complete.count('<div class="rank-panel') == ranks > len(explanations)
    assert complete.count('data-graph="class-') == 2 * ranks  # each with its nearest real example
    for several in explanations.values():
        for item in several:
            assert item.evidence is not None
            assert escape(item.evidence.text).replace(" %", "\u00a0%") in complete
    assert len(complete.encode()) < 1_500_000


def test_the_top_tells_of_the_model_and_the_data(explanations: Explanations, complete: str) -> None:
    assert re.search(r"The model \(TinyHetero, [\d,]+ parameters\)", complete)
    assert f"sorts authors of planted into {len(explanations)} classes." in complete
    assert re.search(r"It gives \d+(\.\d)?\s% of [\d,]+ authors their label", complete)


def test_features_are_shown_by_name_in_tables_and_charts(explanations: Explanations, complete: str) -> None:
    best = next(iter(explanations.values()))[0]
    assert best.node is not None
    row = re.search(rf'<tr id="class-1-rank-1-made-n{best.node}">.*?</tr>', complete, re.DOTALL)
    assert row is not None
    assert "the classified node" in row[0]
    for column, _ in best.top_features(best.node, 4):
        assert column in row[0]
    assert "What the classified author carries" in complete
    assert "Values that terms carry" in complete


@pytest.mark.parametrize("name", [*HOSTILE, LONG])
def test_names_are_shown_and_never_become_markup(name: str, tmp_path: Path) -> None:
    plain = Tags(page(by_hand(), tmp_path))
    made = by_hand((f"{name} a", f"{name} b"), kind=name, columns=(f"{name} one", f"{name} two"))
    text = page(replace(made, about={"dataset": name, "facts": {"model": {"name": name}}}), tmp_path)
    tags = Tags(text)
    assert tags.elements == plain.elements
    assert {key for key, _ in tags.attributes} == {key for key, _ in plain.attributes}
    shown = name[:15].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;")
    assert shown.replace("'", "&#39;") in text


def test_characters_that_no_file_can_hold_are_replaced(tmp_path: Path) -> None:
    text = page(by_hand(("a\ud800b", "c\x00d")), tmp_path)
    assert "a\ufffdb" in text
    assert "c\ufffdd" in text


def test_what_is_missing_is_named_with_its_remedy(explanations: Explanations, complete: str, tmp_path: Path) -> None:
    assert "Not shown here" not in complete
    without = {
        name: [replace(item, evidence=None, example=None, standing=None) for item in several]
        for name, several in explanations.items()
    }
    text = page(Explanations(without), tmp_path)
    for part in ("what the model would miss", "the nearest real example", "features of real members"):
        assert part in text
    assert "dignn evaluate RUN" in text


def test_a_class_without_explanation_is_shown_for_what_it_is(tmp_path: Path) -> None:
    text = page(Explanations({"lonely": []}), tmp_path)
    assert "lonely" in text
    assert "no explanation" in text
    beside = page(Explanations({**by_hand(), "lonely": []}), tmp_path)
    assert beside.count('<section class="class-panel"') == 3
    assert beside.count("no explanation") == 1


@pytest.mark.parametrize(("nodes", "edges"), [(1, False), (4, False), (2, True)])
def test_small_graphs_are_drawn(nodes: int, edges: bool, tmp_path: Path) -> None:
    text = page(by_hand(nodes=nodes, edges=edges, columns=None), tmp_path)
    assert text.count('class="node"') == 2 * nodes
    assert ("It has no edges." in text) == (not edges)
    assert "column 0" in text  # features without names
    assert "nan" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize(("most", "panels"), [(MOST_BYTES, 250), (1_200_000, 50)])
def test_hundreds_of_classes_make_a_page_that_opens(
    most: int, panels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.report.page.MOST_BYTES", most)
    names = tuple(f"class {k}" for k in range(250))
    made = by_hand(names, nodes=2)
    several = {name: [replace(item, rank=r) for item in items for r in range(4)] for name, items in made.items()}
    text = page(Explanations(several), tmp_path)
    assert len(text.encode()) < most  # all of each class makes about 5 MB, the best of each 1.3
    assert all(f">{name}<" in text for name in names)
    assert text.count('<section class="class-panel"') == panels
    check_links(text)
    assert "so many classes" in text
    assert "3 more explanations of this class are not shown here" in text
    assert ("no more than the first 50 classes" in text) == (panels == 50)


def test_what_does_not_depend_on_the_detail_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("trust", "how_made"):
        whole = getattr(report_page, name).content
        monkeypatch.setattr(
            f"dignn.report.{name}.content", lambda item, name=name, whole=whole: asked.append(name) or whole(item)
        )
    monkeypatch.setattr("dignn.report.page.LEVELS", (Detail(), Detail(ranks=3), Detail(ranks=1)))
    monkeypatch.setattr("dignn.report.page.MOST_BYTES", 1)
    monkeypatch.setattr("dignn.report.classes.Detail.expected_bytes", lambda *_: 0)  # so that every level is tried
    page(by_hand(), tmp_path)
    assert asked == ["trust", "how_made"]


def told_of(explanations: Explanations, folder: Path, **config: object) -> str:
    """What the guide to the page says about explanations of such settings."""
    known: dict[str, object] = {"explainer": "dignnexplainer", **explanations.about}
    settings = {"structure": "node-growth", "features": "ditabddpm", "selection": "representative", **config}
    found = {**known, "validity": {"generated": 2000, "connected": 1900, "valid": 1500}, "config": settings}
    text = page(replace(explanations, about=found), folder)
    guide = re.search(r"<li><b>An explanation is .*?</li>", text, re.DOTALL)
    assert guide is not None
    return re.sub(r"<[^>]*>", "", guide[0])


def test_the_guide_claims_what_the_run_did(tmp_path: Path) -> None:
    hand = by_hand()
    made = told_of(hand, tmp_path)
    assert "An explanation is a small graph that was generated. 2,000" in made
    assert "copied" not in made  # a generated graph may be the same as a real one
    assert "2,000 graphs were made and 1,500 found sound; shown are, of each class, those of which the model is" in made
    assert "range of real members" not in made  # where they stand is not known
    assert "of which the model is surest" in told_of(hand, tmp_path, selection="highest")
    controls = [
        told_of(hand, tmp_path, structure="bootstrap", features="bootstrap"),
        told_of(hand, tmp_path, structure="bootstrap"),
        told_of(hand, tmp_path, structure="of my own"),
        told_of(hand, tmp_path, features="bootstrap"),
        told_of(replace(hand, about={"explainer": "reshuffled"}), tmp_path),
        told_of(replace(hand, about={"explainer": None}), tmp_path),
    ]
    assert len(set(controls)) == len(controls)
    assert not any("that was generated." in told for told in controls)
    assert "reshuffled" in controls[4]


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ((True, True), "All that are shown lie in the range"),
        ((True, False), "1 of 2 shown lies outside the range"),
        ((False, False), "2 of 2 shown lie outside the range"),
        ((True, None), ""),
    ],
)
def test_the_guide_says_whether_explanations_lie_among_real_members(
    inside: tuple[bool | None, ...], told: str, tmp_path: Path
) -> None:
    several = {
        name: [replace(items[0], standing=None if within is None else Standing(within, 0.5, 0.5))]
        for within, (name, items) in zip(inside, by_hand().items(), strict=True)
    }
    found = told_of(Explanations(several), tmp_path)
    assert told in found
    assert found.count("the range") == bool(told)


def test_agreement_is_told_of_those_for_whom_it_was_measured(tmp_path: Path) -> None:
    about = {"facts": {"data": {"classes": {"first": 200, "second": 3}}}, "agreement": {"classes": {"first": 0.959}}}
    text = page(replace(by_hand(), about=about), tmp_path)
    assert "200 real things have this label; of those in the small real graphs of this run the model gives it" in text
    assert "3 real things have this label." in text


@pytest.mark.parametrize(("share", "doubted"), [(0.9, False), (0.5, False), (0.45, False), (0.02, True)])
def test_agreement_below_guessing_is_spoken_of(share: float, doubted: bool) -> None:
    told = " ".join(sentences(replace(by_hand(), about={"agreement": {"share": share, "count": 120}})))
    small = "as they stand in small real graphs, which leave neighbours out"
    assert f"of 120 things their label, {small}{':' if doubted else '.'}" in told
    assert ("less than guessing would (50 %)" in told) == doubted
    assert ("the labels may be in another order than the model's columns" in told) == doubted


@pytest.mark.parametrize(
    ("dropped", "words"),
    [
        (None, None),
        ({}, None),
        ({"self-loops": 0, "parallel edges": "many"}, None),
        ({"self-loops": 1}, "1 self-loop."),
        ({"self-loops": 1200, "further relations": 1}, "1,200 self-loops and 1 further relation."),
    ],
)
def test_dropped_edges_are_told_where_the_data_is(dropped: object, words: str | None) -> None:
    told = " ".join(sentences(replace(by_hand(), about={"dropped": dropped})))
    assert ("Left out of it" in told) == (words is not None)
    assert words is None or f"because generated graphs cannot have such edges: {words}" in told


def test_one_node_and_one_edge_of_the_data_are_one() -> None:
    facts = {"data": {"nodes": {"root": 1, "twig": 2}, "edges": 1}}
    told = " ".join(sentences(replace(by_hand(), about={"facts": facts})))
    assert "a graph of 1 root and 2 twigs, joined by 1 edge." in told


def test_one_explanation_that_is_left_out_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.report.page.LEVELS", (Detail(ranks=1),))
    several = {name: [item, replace(item, rank=1)] for name, (item,) in by_hand().items()}
    text = page(Explanations(several), tmp_path)
    assert "1 more explanation of this class is not shown here" in text
    assert "It is in the explanations themselves" in text


def test_numbers_are_written_as_people_write_them_and_values_are_not_counted(tmp_path: Path) -> None:
    (item,) = by_hand(("first",))["first"]
    schema = replace(item.graph.schema, features=(FeatureSpec(FeatureKind.CONTINUOUS, 2, names=("income", "age")),))
    graph = replace(item.graph, schema=schema, tables={"thing": torch.tensor([[24_300.0, -41.5]] * 3)})
    around = ColumnEffect("thing", 0, "income", 1.0, (1, 2), 0)
    nearest = NearestExample(0, 0, 0, 0, 0, 1.0, None)
    told = Evidence("Some text.", nearest, (), (around,), Effects(0, 0, 0.9, 1.0, ()))
    made = Explanations({"first": [replace(item, graph=graph, evidence=told)]})
    text = page(made, tmp_path)
    assert "income: 24,300" in re.sub(r"<[^>]*>", "", text)
    assert "age: \u221241.5" in re.sub(r"<[^>]*>", "", text)
    assert "What other nodes carry" not in text
    for shown in (text, explanation_html(made["first"][0])):
        assert "24,300" in shown
        assert "e+04" not in shown


def test_of_categories_and_ids_it_is_told_whose_they_are_and_of_words_how_many(tmp_path: Path) -> None:
    (item,) = by_hand(("first",))["first"]
    columns = (Column(ColumnKind.IDENTITY), Column(ColumnKind.CATEGORICAL, levels=3), Column(ColumnKind.BINARY))
    spec = FeatureSpec(FeatureKind.MIXED, 3, names=("vat", "town", "open"), columns=columns)
    schema = replace(item.graph.schema, features=(spec,))
    graph = replace(item.graph, schema=schema, tables={"thing": torch.tensor([[7.0, 2.0, 1.0]] * 3)})
    nodes = {"vat": (1, 2), "town": (1,), "open": (1, 2)}
    around = tuple(ColumnEffect("thing", place, name, 1.0, nodes[name], 0) for place, name in enumerate(nodes))
    nearest = NearestExample(0, 0, 0, 0, 0, 1.0, None)
    told = Evidence("Some text.", nearest, (), around, Effects(0, 0, 0.9, 1.0, ()))
    text = re.sub(r"<[^>]*>", "", page(Explanations({"first": [replace(item, graph=graph, evidence=told)]}), tmp_path))
    assert "vat (2 things)" in text
    assert "town (1 thing)" in text
    assert "open \u00d7 2" in text


@pytest.mark.parametrize(
    ("standing", "told"),
    [
        (Standing(True, 0.75, 0.2), "The model is surer of it than of 75 % of them. To the model it is nearer to real "
         "members than 80 % of them are to each other."),
        (Standing(False, 0.0, 1.0), "The model is less sure of it than of any of them. To the model it is farther "
         "from real members than any of them are from each other."),
        (Standing(False, 1.0, 0.0), "surer of it than of any of them. To the model it is nearer to real members than "
         "any of them are to each other."),
    ],
)  # fmt: skip
def test_where_an_explanation_stands_is_told_in_short_sentences(standing: Standing, told: str) -> None:
    found = standing_in_words(standing, "first")
    assert found.startswith(f"{'Inside' if standing.inside else 'Outside'} the range of real members of “first”. ")
    assert found.endswith(told)


def turned(graph: GraphBatch) -> GraphBatch:
    """The same graph with its nodes in the other order, other labels and other features."""
    back = torch.arange(int(graph.sizes[0])).flip(0)
    return replace(
        graph,
        edge=graph.edge[:, back][:, :, back],
        label=torch.full_like(graph.label, -1),
        graph_label=graph.graph_label + 1,
        tables={name: torch.zeros_like(rows) for name, rows in graph.tables.items()},
    )


def test_a_real_example_that_is_the_same_graph_is_said_to_be(tmp_path: Path) -> None:
    for edges, told in ((True, True), (False, False)):
        several = {
            name: [replace(item, example=turned(by_hand(edges=edges)[name][0].graph))]
            for name, (item,) in by_hand().items()
        }
        assert (page(Explanations(several), tmp_path).count("it has the same nodes and edges.") == 2) == told


def test_graphs_of_other_members_are_not_the_same() -> None:
    graph = by_hand()["first"][0].graph
    schema = replace(graph.schema, features=(FeatureSpec(FeatureKind.IDENTITY, 3),))
    members = replace(graph, schema=schema, tables={"thing": torch.eye(3)})
    assert same_in_words(members, replace(members, tables={"thing": torch.eye(3).flip(0)})).startswith(
        "It has the same"
    )
    assert same_in_words(members, replace(members, tables={"thing": torch.eye(3)[[1, 0, 2]]})) == ""


@pytest.mark.parametrize(
    ("distance", "farther", "words"),
    [
        (1.0, None, "no real members"),
        (0.0, 1.0, "the same as"),
        (1.0, 1.0, "nearer than any two"),
        (1.0, 0.8, "nearer than usual: for 80 %"),
        (1.0, 0.5, "about as near as usual"),
        (1.0, 0.1, "rather far"),
        (1.0, 0.0, "farther away than"),
    ],
)
def test_nearness_in_words(distance: float, farther: float | None, words: str) -> None:
    assert words in near_in_words(NearestExample(0, 0, 0, 0, 0, distance, farther))


def test_facts_of_wrong_kinds_are_left_out(tmp_path: Path) -> None:
    odd = {"facts": {"model": 3, "data": {"nodes": {"a": "many"}, "edges": None}}, "agreement": {"share": "?"}}
    assert "The model sorts things into 2 classes." in page(replace(by_hand(), about=odd), tmp_path)


def test_ordinals() -> None:
    assert [ordinal(k) for k in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
    ]  # fmt: skip
