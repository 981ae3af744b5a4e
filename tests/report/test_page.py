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
from dignn.batch import GraphBatch
from dignn.evidence import NearestExample
from dignn.report.classes import near_in_words, ordinal
from dignn.report.page import MOST_BYTES, write_page
from dignn.schema import FeatureKind, FeatureSpec, Relation, Schema
from small_runs import HOSTILE, planted_run

LONG = "x" * 200


@pytest.fixture(scope="module")
def explanations(tmp_path_factory: pytest.TempPathFactory) -> Explanations:
    return planted_run(tmp_path_factory.mktemp("run"))


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
    tags = Tags(complete)
    ids = [value for name, value in tags.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    wanted = {str(value).removeprefix("#") for name, value in tags.attributes if name == "href"}
    wanted |= {str(value) for name, value in tags.attributes if name in ("aria-controls", "aria-labelledby")}
    assert wanted <= set(ids)


def test_every_class_and_every_rank_is_there(explanations: Explanations, complete: str) -> None:
    ranks = sum(len(several) for several in explanations.values())
    assert complete.count('<section class="class-panel"') == len(explanations)
    assert complete.count('<div class="rank-panel') == ranks > len(explanations)
    assert complete.count('data-graph="') == 2 * ranks  # each with its nearest real example
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


def test_hundreds_of_classes_make_a_page_that_opens(tmp_path: Path) -> None:
    names = tuple(f"class {k}" for k in range(120))
    made = by_hand(names, nodes=2)
    several = {name: [replace(item, rank=r) for item in items for r in range(4)] for name, items in made.items()}
    text = page(Explanations(several), tmp_path)
    assert len(text.encode()) < MOST_BYTES + 1_000_000
    assert all(f">{name}<" in text for name in names)
    assert "so many classes" in text
    assert "3 more of this class" in text


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
