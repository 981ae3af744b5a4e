"""Drawings: every node and edge, inside the frame, marked by what matters, safe."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import torch

from dignn import Explanation
from dignn.evidence.gathering import Evidence
from dignn.evidence.nearest_example import NearestExample
from dignn.evidence.removal import Effect, Effects
from dignn.evidence.variants import Kind, Part
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from dignn.report.emphasis import emphasis
from dignn.report.graph_drawing import COLOURS, INK, dashes
from dignn.report.graph_svg import CARD, THUMBNAIL, page_svg, small_svg, svg
from dignn.report.safe_text import shortened

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>\" onload='x"


def schema(member: str = "ICDM", types: tuple[str, str] = ("paper", "venue")) -> Schema:
    paper, venue = types
    return Schema(
        node_types=types,
        relations=(Relation(paper, "cites", paper, directed=True), Relation(paper, "in", venue)),
        features=(FeatureSpec(), FeatureSpec(FeatureKind.IDENTITY, 2, names=(member, "other"))),
        classes=("one", "two"),
        target=paper,
    )


def explained(known: Schema) -> Explanation:
    """A paper that cites a paper, both at one venue."""
    edge = torch.zeros(1, 3, 3, dtype=torch.long)
    edge[0, 0, 1] = 1
    edge[0, [0, 2, 1, 2], [2, 0, 2, 1]] = 2
    graph = GraphBatch(
        known,
        torch.tensor([[0, 0, 1]]),
        edge,
        torch.tensor([[0, -1, -1]]),
        torch.tensor([-1]),
        torch.tensor([[-1, -1, 0]]),
        {known.node_types[1]: torch.eye(2)},
    )
    return Explanation(0, known.classes[0], 0, (0.9, 0.1), 2.2, graph, 0, 0)


def with_effects(explanation: Explanation, *effects: Effect) -> Explanation:
    nearest = NearestExample(0, 0, 0, 0, 0, 1.0, 0.5)
    return replace(explanation, evidence=Evidence("Text.", nearest, (), (), Effects(0, 0, 0.9, 2.2, effects)))


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)


def nodes(drawing: ET.Element) -> list[ET.Element]:
    return [group for group in drawing.iter(f"{SVG}g") if group.get("class") == "node"]


def test_every_node_and_edge_is_drawn_inside_the_frame() -> None:
    drawing = parsed(svg(explained(schema())))
    assert len(nodes(drawing)) == 3
    assert [line.get("class") for line in drawing.iter(f"{SVG}line")].count("line") == 3
    for line in drawing.iter(f"{SVG}line"):
        assert all(0 < float(str(line.get(name))) < CARD.width for name in ("x1", "x2"))
        assert all(0 < float(str(line.get(name))) < CARD.height for name in ("y1", "y2"))


def test_the_classified_node_is_ringed_and_directed_edges_have_a_tip() -> None:
    drawing = parsed(svg(explained(schema())))
    ringed = [any(part.get("class") == "ring" for part in node) for node in nodes(drawing)]
    assert ringed == [True, False, False]
    assert [part.get("class") for part in drawing.iter(f"{SVG}path")] == ["head"]


def test_what_the_model_would_miss_is_drawn_stronger() -> None:
    plain = explained(schema())
    missed = with_effects(
        plain,
        Effect(Part(Kind.NODE, (1,)), 3.0, 0.2),
        Effect(Part(Kind.NODE, (2,)), -1.0, 0.95),
        Effect(Part(Kind.EDGE, (0, 1)), 1.5, 0.5),
        Effect(Part(Kind.EDGE, (0, 2)), None, None),
    )
    radius = [float(str(node.get("data-r"))) for node in nodes(parsed(svg(missed)))]
    assert radius[1] > radius[0] == radius[2]
    lines = [line for line in parsed(svg(missed)).iter(f"{SVG}line") if line.get("class") == "line"]
    widths = [float(str(line.get("stroke-width"))) for line in lines]
    assert widths[0] > widths[1] == widths[2]
    told = emphasis(missed.evidence)
    assert told.node == {1: 1.0, 2: 0.0}
    assert told.without_edge == {(0, 1): 0.5, (1, 0): 0.5}


def test_little_effects_are_not_blown_up() -> None:
    little = with_effects(explained(schema()), Effect(Part(Kind.NODE, (1,)), 0.01, 0.9))
    assert emphasis(little.evidence).node[1] == pytest.approx(0.01)


@pytest.mark.parametrize("member", ["ICDM", "W" * 200, HOSTILE])
def test_names_of_members_stand_beside_their_nodes_inside_the_frame(member: str) -> None:
    drawing = parsed(svg(explained(schema(member))))
    (label,) = (text for text in drawing.iter(f"{SVG}text") if text.get("class") == "label")
    assert str(label.text).rstrip("…") == " ".join(member.split())[: len(str(label.text).rstrip("…"))]
    assert len(str(label.text)) <= 20
    place = float(str(nodes(drawing)[2].get("transform")).removeprefix("translate(").split()[0])
    middle, half = place + float(str(label.get("x"))), len(str(label.text)) * 6 / 2
    assert middle - half >= 0
    assert middle + half <= CARD.width


def test_hostile_names_stay_text() -> None:
    known = schema(HOSTILE, (HOSTILE, "venue"))
    for text in (svg(explained(known)), small_svg(explained(known).graph)):
        drawing = parsed(text)  # one that is not well-formed does not parse
        assert not list(drawing.iter(f"{SVG}script"))
        assert not any("onload" in part.attrib for part in drawing.iter())
        assert HOSTILE in str(drawing.get("aria-label"))


def test_short_names_of_types_stand_in_the_nodes() -> None:
    drawing = parsed(svg(explained(schema(types=("C", "Cl")))))
    letters = [text.text for text in drawing.iter(f"{SVG}text") if text.get("class") == "letter"]
    assert letters == ["C", "C", "Cl"]


def test_the_page_finds_its_way_in_a_drawing() -> None:
    drawing = parsed(page_svg(explained(schema()).graph, "key", "A graph", 0, emphasis(explained(schema()).evidence)))
    assert drawing.get("data-graph") == "key"
    assert [node.get("data-node") for node in nodes(drawing)] == ["0", "1", "2"]
    edges = [group for group in drawing.iter(f"{SVG}g") if group.get("class") == "edge"]
    assert [(group.get("data-u"), group.get("data-v")) for group in edges] == [("0", "1"), ("0", "2"), ("1", "2")]
    assert "the classified node" in str(nodes(drawing)[0].get("aria-label"))


def test_thumbnails_are_small_and_name_what_they_show() -> None:
    text = small_svg(explained(schema()).graph)
    assert parsed(text).get("viewBox") == f"0 0 {THUMBNAIL.width} {THUMBNAIL.height}"
    assert parsed(text).get("aria-label") == "2 papers, 1 venue"
    assert len(text) < 2000


def test_lines_differ_only_where_types_do_not_tell_relations_apart() -> None:
    assert dashes(schema()) == {}
    atoms = ("C", "N")
    bonds = replace(
        schema(),
        node_types=atoms,
        features=(FeatureSpec(), FeatureSpec()),
        relations=tuple(Relation("C", name, end) for name in ("single", "double") for end in atoms),
        target=None,
        task=None,
    )
    assert len(set(dashes(bonds).values())) == 2


def test_outlines_stand_out_from_paper_and_from_every_colour() -> None:
    def luminance(colour: str) -> float:
        parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert 1.05 / (luminance(INK) + 0.05) >= 3
    assert all((luminance(colour) + 0.05) / (luminance(INK) + 0.05) >= 2.5 for colour in COLOURS)


def test_names_are_shortened_on_one_line() -> None:
    assert shortened("two\nlines", 20) == "two lines"
    assert shortened("x" * 30, 20) == "x" * 19 + "…"
