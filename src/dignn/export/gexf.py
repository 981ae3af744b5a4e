"""GEXF, with colours and places of nodes, so that Gephi shows a graph as the report does.

networkx writes GEXF too, but neither what the graph is about nor the same bytes tomorrow.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import networkx as nx

from dignn.explanation import Explanation
from dignn.export.portable import portable_graph
from dignn.report.characters import clean
from dignn.report.layout import layout
from dignn.report.looks import looks

SPACE = "http://www.gexf.net/1.2draft"
# Extent of the drawing, and the sizes of nodes, in Gephi's units.
EXTENT, SIZE, TARGET_SIZE = 400.0, 20.0, 32.0
_TYPES = {bool: "boolean", float: "double", int: "long", str: "string"}


def write_gexf(explanation: Explanation, path: Path) -> None:
    """Writes the portable graph as GEXF 1.2."""
    graph = portable_graph(explanation)
    root = ET.Element("gexf", {"xmlns": SPACE, "xmlns:viz": f"{SPACE}/viz", "version": "1.2"})
    meta = ET.SubElement(root, "meta")
    ET.SubElement(meta, "creator").text = "dignn"
    about = "; ".join(f"{name}: {value}" for name, value in graph.graph.items())
    ET.SubElement(meta, "description").text = about
    kind = "directed" if graph.is_directed() else "undirected"
    inside = ET.SubElement(root, "graph", {"defaultedgetype": kind, "mode": "static", "name": graph.graph["class"]})
    node_ids = _declare(inside, "node", [values for _, values in graph.nodes(data=True)], without=("label",))
    edge_ids = _declare(inside, "edge", [values for _, _, values in graph.edges(data=True)])
    _write_nodes(ET.SubElement(inside, "nodes"), graph, explanation, node_ids)
    edges = ET.SubElement(inside, "edges")
    for number, (u, v, values) in enumerate(graph.edges(data=True)):
        ends = {"id": str(number), "source": str(u), "target": str(v)}
        element = ET.SubElement(edges, "edge", {**ends, "label": values["relation"]})
        _write_values(element, values, edge_ids)
    ET.indent(root)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _declare(
    graph: ET.Element, of: str, several: list[dict[str, object]], without: tuple[str, ...] = ()
) -> dict[str, str]:
    """Declares the attributes of nodes or edges; the number of each."""
    ids: dict[str, str] = {}
    inside = ET.SubElement(graph, "attributes", {"class": of, "mode": "static"})
    for values in several:
        for name, value in values.items():
            if name not in ids and name not in without:
                ids[name] = str(len(ids))
                ET.SubElement(inside, "attribute", {"id": ids[name], "title": name, "type": _TYPES[type(value)]})
    return ids


def _write_nodes(
    inside: ET.Element, graph: nx.Graph | nx.DiGraph, explanation: Explanation, ids: dict[str, str]
) -> None:
    colour = {clean(name): look.colour for name, look in looks(explanation.graph.schema).items()}
    place = layout(explanation.graph)
    for node, values in graph.nodes(data=True):
        element = ET.SubElement(inside, "node", {"id": str(node), "label": values["label"]})
        _write_values(element, values, ids)
        red, green, blue = (str(int(colour[values["type"]][k : k + 2], 16)) for k in (1, 3, 5))
        x, y = place[node]
        ET.SubElement(element, "viz:color", {"r": red, "g": green, "b": blue})
        # On paper y runs down, in Gephi up.
        where = {"x": f"{EXTENT * x:.1f}", "y": f"{-EXTENT * y:.1f}", "z": "0.0"}
        ET.SubElement(element, "viz:position", where)
        ET.SubElement(element, "viz:size", {"value": str(TARGET_SIZE if values["target"] else SIZE)})


def _write_values(element: ET.Element, values: dict[str, object], ids: dict[str, str]) -> None:
    inside = ET.SubElement(element, "attvalues")
    for name, value in values.items():
        if name in ids:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            ET.SubElement(inside, "attvalue", {"for": ids[name], "value": text})
