"""What a model goes by on the page: scorecards, rules, their test, and what would change the model's mind."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch

import hand_made
import studied_by_hand
from dignn.explanations.explanation import Explanations
from dignn.report import contrast_section, fidelity_section
from dignn.report.classes import Detail
from dignn.report.page import MOST_BYTES, write_page
from strategies import batch_of


class Tags(HTMLParser):
    """Elements, attributes, and the texts between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, name: str) -> list[str]:
        return [str(value) for key, value in self.attributes if key == name]


def page(explanations: Explanations, folder: Path) -> str:
    return write_page(explanations, folder / "report.html").read_text()


def words(text: str) -> str:
    """What is read, without markup, style and script."""
    bare = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", text, flags=re.DOTALL)
    return " ".join(" ".join(Tags(bare).texts).replace("\u00a0", " ").split())


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    return page(studied_by_hand.authors(), tmp_path_factory.mktemp("page"))


def panel(text: str, number: int) -> str:
    """The markup of what the model goes by in the panel of a class."""
    found = re.search(
        rf'<section class="card goes-by" aria-labelledby="class-{number}-goes-by">.*?</section>', text, re.S
    )
    assert found is not None
    return found[0]


def test_the_panel_of_a_class_begins_with_its_sentence(shown: str) -> None:
    told = words(panel(shown, 2))
    assert told.startswith("What the model goes by fair The model goes by: a venue two steps away is “KDD” (+3.1), ")
    assert str(studied_by_hand.authors().sentence("two")).removesuffix(" 50 % by guessing.") in told
    best = shown.index('id="class-2-rank-1"')
    assert shown.index("class-2-goes-by") < shown.index("tab-class-2-rank-1") < best  # then the graphs that show it
    assert "Without its paper it falls." in words(shown[best:])  # and what stood there stays


def test_terms_have_points_and_effects_and_decoys_stand_apart(shown: str) -> None:
    told = words(panel(shown, 2))
    scorecard, rest = told.split("Goes with the class, but does not make it")
    decoys, rules = rest.split("The same as rules")
    assert "a venue two steps away is “KDD” +3.1 effect +2.3 (+2.1 to +2.6)" in scorecard
    assert "it has “query” \N{MINUS SIGN}2.4 it has" not in scorecard
    assert "at least three papers are next to it \N{MINUS SIGN}1.6 effect \N{MINUS SIGN}1.2" in scorecard
    assert scorecard.count(", matched") == 1
    assert "“graph”" not in scorecard
    assert "it has “graph” +2.9 effect +0.01 (\N{MINUS SIGN}0.1 to +0.1)" in decoys
    assert "If a venue two steps away is “KDD”, then “two”: right in 92 % (89 to 95 %)" in rules
    assert "The score begins at \N{MINUS SIGN}1.5" in scorecard
    assert "AUC of" not in scorecard  # of this class it could not be told
    assert "AUC of 0.93" in words(panel(shown, 1))


def test_every_chart_says_in_words_what_it_draws(shown: str) -> None:
    labels = [label for label in Tags(panel(shown, 2)).of("aria-label") if "points" in label]
    assert len(labels) == 7
    assert labels[0] == "a venue two steps away is “KDD”: +3.1 points; effect +2.3 (+2.1 to +2.6)"


def test_what_was_not_measured_is_not_explained(tmp_path: Path) -> None:
    made = studied_by_hand.authors()
    several = [{**each, "effect": None, "matched": False} for each in made.about["goes_by"]["two"]]
    text = page(replace(made, about={"goes_by": {"two": several}}), tmp_path)
    told = words(panel(text, 2))
    assert "how far this gives its answers was not tested." in told
    for absent in ("effect", "A ring in place", "The score begins", "The same as rules"):
        assert absent not in told
    assert "Does it really go by this?" not in text


def test_the_test_is_told_with_its_figures(shown: str) -> None:
    told = words(shown)
    section = told[told.index("Does it really go by this?") : told.index("How realistic are")]
    for part in (
        "fair What this page says that it goes by reproduces 84 % of its answers on real authors (mean over classes), ",
        "on 60 real authors that were held out, at 412 places in subgraphs; in brackets",
        "84 % (81 to 87 %); found on real graphs 86 %; found on noise 54 %; guessing 50 %.",
        "78 % (75 to 81 %); found on real graphs 84 %; found on noise 50 %; guessing 50 %.",
        "good 0.91 (0.88 to 0.94); found on real graphs 0.94; found on noise 0.55; guessing 0.50.",
        "With up to 25 terms for each class it would be 86 %.",
        "one 0.930",
    ):
        assert part in section
    (curve,) = (
        label for label in Tags(shown).of("aria-label") if label.startswith("Share of answers, mean over classes")
    )
    assert (
        "3 terms 64\u00a0%; 6 terms 79\u00a0%; 12 terms 84\u00a0%; 25 terms 86\u00a0%; by guessing 50\u00a0%" in curve
    )


def test_a_test_without_rules_floor_noise_and_curve_tells_the_rest() -> None:
    made = studied_by_hand.molecules()
    about = {"studied": {"scorecard": {"value": 0.5}, "floor": None, "noise": None, "majority": 0.5}}
    found = fidelity_section.content(replace(made, about=about))
    assert found is not None
    assert [row["name"] for row in found["rows"]] == ["Scorecards"]
    assert found["level"] == "poor"
    assert (found["frontier"], found["aucs"], found["tested_on"]) == (None, [], None)
    assert [name for _, name in found["legend"]] == [
        "found on generated graphs, as this page shows it",
        "guessing: always one class",
    ]
    assert fidelity_section.content(replace(made, about={})) is None


def test_what_it_was_tested_on_is_counted_once() -> None:
    made = studied_by_hand.molecules()

    def tested_on(**told: int) -> str | None:
        about = {"studied": {"scorecard": {"value": 0.5}, **told}}
        found = fidelity_section.content(replace(made, about=about))
        assert found is not None
        return found["tested_on"]

    assert tested_on(places=37, things=37) == "37 real graphs that were held out"
    assert tested_on(things=1916) is None  # older runs call places things


def test_that_only_some_classes_were_looked_at_is_said() -> None:
    made = studied_by_hand.authors()
    (first, *_) = made.goes_by.items()
    some = replace(made, about={**made.about, "goes_by": dict([first])})
    several = [fidelity_section.content(each) for each in (made, some)]
    said = ["looked at" in each["text"] for each in several if each is not None]
    assert said == [False, True]
    assert several[1] is not None
    assert several[1]["text"].endswith(
        "Of 2 classes the 1 were looked at that the model gives most often to generated graphs."
    )


def test_a_doubtful_page_says_so_at_the_top(tmp_path: Path) -> None:
    told = words(page(studied_by_hand.authors(value=0.55), tmp_path))
    doubt = "reproduces only 55 % of its answers on real authors (mean over classes), beside 50 % by guessing: do not"
    assert f"What they say {doubt}" in told
    assert "The model goes by" not in told
    assert told.count("The model may go by: a venue") == 2  # in short, and in the panel


# -- what would change its mind -----------------------------------------------------------------------


def test_pairs_stand_side_by_side_with_what_changes(shown: str) -> None:
    told = words(shown)
    section = told[told.index("two → one") : told.index("How far to trust it", told.index("two → one"))]
    assert (
        "The model takes an author for “two” (75 %); with these 4 changes for “one” (90 %). None of them can be left "
        "out. The second graph lies inside the range of real members of “one”."
    ) in section
    for edit in studied_by_hand.authors().about["counterfactuals"][0]["edits"]:
        assert edit["words"] in section
    assert "The model says two 75 %, one 25 %." in section
    assert "The model says two 10 %, one 90 %." in section
    assert "one or two" in section
    assert "dashed ring, broad line: changed" in section


def drawn(text: str, key: str) -> str:
    found = re.search(rf'<svg [^>]*data-graph="{key}".*?</svg>', text, re.S)
    assert found is not None
    return found[0]


def spots(drawing: str) -> dict[str, tuple[str, str]]:
    """By what a node is called its place, and whether it is marked."""
    nodes = re.findall(r'<g class="node".*?translate\(([^)]*)\).*?aria-label="([^"]*)".*?</g>', drawing, re.S)
    whole = re.findall(r'<g class="node".*?</g>', drawing, re.S)
    marked = ["changed" if 'class="change"' in each else "" for each in whole]
    return {name: (place, mark) for (place, name), mark in zip(nodes, marked, strict=True)}


def test_nodes_stay_where_they_are_and_changed_ones_are_marked(shown: str) -> None:
    before, after = (drawn(shown, f"contrast-1-{side}") for side in ("before", "after"))
    was, now = spots(before), spots(after)
    for name in ("paper 1", "paper 2", "author 3, the classified node"):
        assert was[name] == now[name]
    assert was["author 3, the classified node"][1] == "changed"
    assert was["paper 1"][1] == ""
    assert was["venue 4, VLDB"][1] == now["venue 4, KDD"][1] == "changed"  # one went, another came
    assert was["venue 4, VLDB"][0] != now["venue 4, KDD"][0]
    assert before.count('<line class="change"') == 2  # the citation that goes, and the line of the venue that goes
    assert after.count('<line class="change"') == 1


def test_graphs_whose_positions_mean_other_nodes_are_drawn_each_by_itself() -> None:
    made = studied_by_hand.authors()
    assert made.contrasts is not None
    author = batch_of(made.contrasts.schema, [0, 1], {(0, 1): 1})
    other = replace(author, tables={name: rows[:1] for name, rows in made.contrasts.tables.items()})
    other.row[0] = torch.tensor([0, 0])
    graphs = type(author).cat([made.contrasts[[0]], other, made.contrasts[[0]]])
    found = contrast_section.content(replace(made, contrasts=graphs))
    assert found is not None
    assert len(found["pairs"][0]["views"]) == 2


@pytest.mark.parametrize(
    "pair",
    [
        {"graphs": [0, 7]},
        {"graphs": [0]},
        {"source": None},
        {"edits": [{"words": "all", "node": 99, "other": -3}]},
        {"edits": None, "probability_before": None, "inside": None, "node": None},
        {"node": 12},
    ],
)
def test_a_damaged_pair_does_no_harm(pair: dict[str, Any], tmp_path: Path) -> None:
    made = studied_by_hand.authors()
    told = {**made.about["counterfactuals"][0], **pair}
    text = page(replace(made, about={**made.about, "counterfactuals": [told, 3, None]}), tmp_path)
    kept = "graphs" not in pair and "source" not in pair
    assert ('id="contrast-1"' in text) == kept
    assert 'data-graph="undecided-1"' in text


def test_of_many_pairs_the_first_are_shown(tmp_path: Path) -> None:
    made = studied_by_hand.authors()
    about = {name: made.about[name] * 40 for name in ("counterfactuals", "undecided")}
    text = page(replace(made, about={**made.about, **about}), tmp_path)
    assert text.count('<div class="contrast-panel"') == contrast_section.SHOWN_PAIRS
    assert text.count('data-graph="undecided-') == contrast_section.SHOWN_UNDECIDED
    told = words(text)
    assert "28 more pairs are in explanations.json" in told
    assert "36 more are in explanations.json" in told
    check_page(text)


# -- the page as a whole ------------------------------------------------------------------------------


def check_page(text: str) -> None:
    """Every link leads somewhere, identifiers are unique, and nothing comes from outside."""
    tags = Tags(text)
    ids = tags.of("id")
    assert len(ids) == len(set(ids))
    wanted = {value.removeprefix("#") for value in tags.of("href")}
    assert wanted | {*tags.of("aria-controls"), *tags.of("aria-labelledby")} <= set(ids)
    assert not {"link", "img", "iframe", "image", "use"} & set(tags.elements)
    assert tags.elements["script"] == 2


@pytest.mark.parametrize("made", [studied_by_hand.authors, studied_by_hand.molecules])
def test_links_lead_somewhere(made: Any, tmp_path: Path) -> None:
    check_page(page(made(), tmp_path))


def test_names_never_become_markup(tmp_path: Path) -> None:
    plain, hostile = (Tags(page(studied_by_hand.authors(hostile), tmp_path)) for hostile in (False, True))
    assert set(hostile.elements) == set(plain.elements)
    assert hostile.elements["script"] == plain.elements["script"] == 2
    assert {key for key, _ in hostile.attributes} == {key for key, _ in plain.attributes}


def test_without_these_parts_the_page_is_as_before(tmp_path: Path) -> None:
    text = page(hand_made.explanations(), tmp_path)
    body = text[text.index("<body>") : text.rindex("<script>")]
    for absent in ("goes-by", "fidelity", "contrast", "undecided", "class-head below", "change"):
        assert absent not in body
    unknown = {"goes_by": 3, "studied": [], "counterfactuals": {}, "undecided": "none"}
    damaged = page(replace(hand_made.explanations(), about=unknown), tmp_path)
    assert damaged[damaged.index("<body>") : damaged.rindex("<script>")] == body


def many(classes: int) -> Explanations:
    """As many classes of the same graph, each with a full scorecard."""
    made = studied_by_hand.molecules()
    graph = made["harmless"][0].graph
    names = tuple(f"class {number}" for number in range(classes))
    schema = replace(graph.schema, classes=names)
    graph = replace(graph, schema=schema)
    share = (1 / classes,) * classes
    several = {
        name: [replace(made["harmless"][0], class_index=place, class_name=name, probability=share, graph=graph)]
        for place, name in enumerate(names)
    }
    terms = (made.about["goes_by"]["harmless"] * 4)[:12]
    rules = {name: [{"rule": "it is", "precision": studied_by_hand.share(0.9), "recall": None}] * 3 for name in names}
    study = studied_by_hand.study(names, 0.7, 1 / classes, rule_list=rules, auc_by_class=dict.fromkeys(names, 0.9))
    return Explanations(several, {"goes_by": dict.fromkeys(names, terms), "studied": study})


@pytest.mark.parametrize("most", [MOST_BYTES, 900_000])
def test_hundreds_of_classes_make_a_page_that_opens(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.report.page.MOST_BYTES", most)
    text = page(many(40), tmp_path)
    assert len(text.encode()) < most
    whole = 'aria-label="Terms of the scorecard"' in text
    assert whole == (most == MOST_BYTES)
    assert panel(text, 1).count("The model goes by: ") == 1  # the sentence is there with few bytes, too
    check_page(text)


def test_scorecards_count_for_the_size_of_a_page() -> None:
    made = many(20)
    plain = replace(made, about={})
    assert Detail().expected_bytes(made) > Detail().expected_bytes(plain) + 20 * 12 * 900
    small = Detail(ranks=1, whole=False)
    assert small.expected_bytes(made) < small.expected_bytes(plain) + 20 * 2_000
