"""What a legend must name: the types, lines and marks that occur in some drawings, once for all who draw."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from dignn.graphs import description as readable
from dignn.graphs.batch import GraphBatch
from dignn.report.graph_drawing import CHANGE, INK, LINE, NodeStyle, dashes, node_styles
from dignn.report.graph_svg import shape_svg

CLASSIFIED = "the classified node"
DIRECTION = "direction of a relation"
CHANGED = "dashed ring, broad line: changed"


def drawn_types(graphs: Sequence[GraphBatch]) -> dict[str, NodeStyle]:
    """Node types that occur in graphs of one schema, in its order."""
    here = {readable.type_name(graph, node) for graph in graphs for node in range(int(graph.sizes[0]))}
    return {name: look for name, look in node_styles(graphs[0].schema).items() if name in here}


def drawn_lines(graphs: Sequence[GraphBatch]) -> tuple[dict[str, str], bool]:
    """Patterns of the relations that occur, where lines differ; and whether any has a direction."""
    here = [relation for graph in graphs for _, _, relation in readable.edges(graph)]
    names = {relation.name for relation in here}
    patterns = {name: dash for name, dash in dashes(graphs[0].schema).items() if name in names}
    return patterns, any(relation.directed for relation in here)


def entries(graphs: Sequence[GraphBatch], target: bool, changed: bool = False) -> list[tuple[Markup, str]]:
    """Marks, each to be put into a box of 24 by 24, and their names.

    Args:
        graphs: what is drawn, of one schema.
        target: whether a node is ringed.
        changed: whether something is drawn as a change.
    """
    patterns, directed = drawn_lines(graphs)
    found = [(shape_svg(look, 12, 12), name) for name, look in drawn_types(graphs).items()]
    found += [(_stroke(dash), name) for name, dash in patterns.items()]
    if directed:
        found.append((_stroke("") + Markup('<path d="M23 12L14 8L14 16z" fill="{}"/>').format(INK), DIRECTION))
    if target:
        ring = Markup('<circle cx="12" cy="12" r="9" fill="none" stroke="{}" stroke-width="2.2"/>').format(INK)
        found.append((ring, CLASSIFIED))
    if changed:
        band = '<path d="M1 20H23" stroke="{0}" stroke-opacity=".3" stroke-width="7"/>'
        dashed = '<circle cx="12" cy="8" r="7" fill="none" stroke="{0}" stroke-width="2.2" stroke-dasharray="4 3"/>'
        found.append((Markup(band + dashed).format(CHANGE), CHANGED))
    return found


def _stroke(dash: str) -> Markup:
    pattern = Markup(' stroke-dasharray="{}"').format(dash) if dash else Markup("")
    return Markup('<line x1="1" y1="12" x2="23" y2="12" stroke="{}" stroke-width="2"{}/>').format(LINE, pattern)
