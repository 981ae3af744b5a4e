"""GEXF, with colours and places of nodes, so that Gephi shows a graph as the report does.

networkx writes it; what the graph is about is added, and the date left out, so that everyone gets the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import networkx as nx
from networkx.readwrite.gexf import GEXFWriter

from dignn.graphs.batch import GraphBatch
from dignn.report.graph_drawing import node_styles
from dignn.report.layout import layout
from dignn.report.safe_text import clean

# Extent of the drawing, and the sizes of nodes, in Gephi's units.
EXTENT, NODE_SIZE, TARGET_SIZE = 400.0, 20.0, 32.0


def write_gexf(graph: nx.Graph | nx.DiGraph, batch: GraphBatch, path: Path) -> None:
    """Writes a portable graph, and how the graph that it was made of is drawn, as GEXF 1.2."""
    colour = {clean(name): look.colour for name, look in node_styles(batch.schema).items()}
    place, drawn = layout(batch), graph.copy()
    drawn.graph["name"] = graph.graph["class"]
    for node, values in drawn.nodes(data=True):
        red, green, blue = (int(colour[values["type"]][k : k + 2], 16) for k in (1, 3, 5))
        x, y = place[node]
        values["viz"] = {
            "color": {"r": red, "g": green, "b": blue},
            "size": TARGET_SIZE if values["target"] else NODE_SIZE,
            # On paper y runs down, in Gephi up.
            "position": {"x": round(EXTENT * x, 1), "y": round(-EXTENT * y, 1), "z": 0.0},
        }
    for _, _, values in drawn.edges(data=True):
        values["label"] = values["relation"]
    root = GEXFWriter(drawn).xml
    meta = root.find("meta")
    meta.attrib.clear()
    meta.find("creator").text = "dignn"
    ET.SubElement(meta, "description").text = "; ".join(f"{name}: {value}" for name, value in graph.graph.items())
    ET.indent(root)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
