"""What would change the model's mind: pairs of graphs that differ in little, and graphs that it cannot decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from markupsafe import Markup

from dignn.core.numerals import percent
from dignn.evidence.grammar import a, quoted
from dignn.evidence.task_words import words_of
from dignn.graphs import description as readable
from dignn.graphs.batch import GraphBatch
from dignn.report.emphasis import Emphasis
from dignn.report.graph_panel import graph_view, legend
from dignn.report.graph_svg import NodePlaces
from dignn.report.graph_words import made_of
from dignn.report.layout import layout
from dignn.report.told_contrasts import ToldPair, ToldUndecided, told_pairs, told_undecided

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanations

# Of many classes there are more pairs than anybody looks at. Edits of a pair that are named.
SHOWN_PAIRS, SHOWN_UNDECIDED, MOST_EDITS = 12, 4, 12
# Classes whose probability stands below a graph.
_CLASSES = 3


def content(explanations: Explanations) -> dict[str, Any] | None:
    """What ``contrasts.html`` shows; None where there is nothing."""
    graphs = explanations.contrasts
    if graphs is None or not len(graphs):
        return None
    pairs = [pair for pair in told_pairs(explanations.about) if max(pair.graphs) < len(graphs)]
    undecided = [each for each in told_undecided(explanations.about) if each.graph < len(graphs)]
    shown = [_pair(pair, graphs, number) for number, pair in enumerate(pairs[:SHOWN_PAIRS], 1)]
    torn = [_undecided(each, graphs, number) for number, each in enumerate(undecided[:SHOWN_UNDECIDED], 1)]
    if not shown and not torn:
        return None
    return {
        "pairs": shown,
        "more_pairs": len(pairs) - len(shown),
        "undecided": torn,
        "more_undecided": len(undecided) - len(torn),
        "undecided_legend": _legend_of(undecided[: len(torn)], graphs),
        "thing": words_of(graphs.schema.task).thing,
    }


def _pair(pair: ToldPair, graphs: GraphBatch, number: int) -> dict[str, Any]:
    both = graphs[list(pair.graphs)]
    key, place = f"contrast-{number}", _places(both)
    sides = [("before", pair.source, pair.before, both[[0]]), ("after", pair.target, pair.after, both[[1]])]
    views, drawn = [], []
    for name, answer, chances, graph in sides:
        packed, moved = _packed(graph)
        here = None if place is None else {moved[node]: place[node] for node in moved}
        view = _view(packed, f"{key}-{name}", answer, _target(pair.node, moved), _changes(pair, packed, moved), here)
        views.append({**view, "name": name, "chances": _chances(chances, (pair.source, pair.target))})
        drawn.append(packed)
    changed = any(edit.node is not None for edit in pair.edits)
    thing = words_of(graphs.schema.task).thing
    return {
        "key": key,
        "source": pair.source,
        "target": pair.target,
        "text": _told(pair, thing),
        "edits": [edit.words for edit in pair.edits[:MOST_EDITS]],
        "more_edits": max(0, len(pair.edits) - MOST_EDITS),
        "views": views,
        "legend": legend(*drawn, target=pair.node is not None, changed=changed),
    }


def _changes(pair: ToldPair, graph: GraphBatch, moved: Mapping[int, int]) -> Emphasis:
    """What of a graph the edits change, a node that comes or goes with all its edges."""
    nodes = {moved[node] for edit in pair.edits for node in edit.nodes if node in moved}
    edges = {(moved[u], moved[v]) for edit in pair.edits for u, v in edit.edges if u in moved and v in moved}
    whole = {moved[node] for edit in pair.edits if edit.whole_node for node in edit.nodes if node in moved}
    edges |= {(u, v) for u, v, _ in readable.edges(graph) if u in whole or v in whole}
    return Emphasis(changed_nodes=frozenset(nodes), changed_edges=frozenset(edges))


def _told(pair: ToldPair, thing: str) -> str:
    """What happens to the probabilities, and whether the graph is still like a real one."""
    one, other = (
        f" ({percent(chances[name])})" if name in chances else ""
        for chances, name in ((pair.before, pair.source), (pair.after, pair.target))
    )
    changes = "this change" if len(pair.edits) == 1 else f"these {len(pair.edits)} changes"
    told = (
        f"The model takes {a(thing)} for {quoted(pair.source)}{one}; with {changes} for {quoted(pair.target)}{other}."
    )
    if len(pair.edits) > 1:
        told += " None of them can be left out."
    if pair.inside is not None:
        where = "inside" if pair.inside else "outside"
        told += f" The second graph lies {where} the range of real members of {quoted(pair.target)}."
    return told


def _undecided(each: ToldUndecided, graphs: GraphBatch, number: int) -> dict[str, Any]:
    packed, moved = _packed(graphs[[each.graph]])
    target = _target(each.node, moved)
    return {
        **_view(packed, f"undecided-{number}", "undecided", target, Emphasis(), None),
        "classes": each.classes,
        "chances": _chances(each.probability, each.classes),
    }


def _legend_of(several: Sequence[ToldUndecided], graphs: GraphBatch) -> list[tuple[Markup, str]]:
    drawn = [_packed(graphs[[each.graph]])[0] for each in several]
    return legend(*drawn, target=any(each.node is not None for each in several)) if drawn else []


def _view(
    graph: GraphBatch, key: str, answer: str, target: int | None, weight: Emphasis, place: NodePlaces | None
) -> dict[str, Any]:
    name = f"{answer}: {made_of(graph)}. Arrow keys move between nodes."
    return {"graph": graph_view(graph, key, name, target, weight, place=place), "made_of": made_of(graph)}


def _chances(chances: Mapping[str, float], first: tuple[str, str]) -> list[tuple[str, str]]:
    """Probabilities of the two classes, then of the likeliest other one."""
    ranked = sorted(
        chances, key=lambda name: (name not in first, first.index(name) if name in first else -chances[name])
    )
    return [(name, percent(chances[name])) for name in ranked[:_CLASSES]]


# -- positions ----------------------------------------------------------------------------------------


def _packed(graph: GraphBatch) -> tuple[GraphBatch, dict[int, int]]:
    """A batch of one graph without padding between its nodes, and where each of its nodes is now."""
    there = graph.mask[0]
    order = torch.cat([there.nonzero()[:, 0], (~there).nonzero()[:, 0]])
    moved = {old: new for new, old in enumerate(order[: int(there.sum())].tolist())}
    return graph.permute(order[None])[[0]], moved


def _places(both: GraphBatch) -> dict[int, tuple[float, float]] | None:
    """Where nodes are drawn in both of two graphs, by position; None where a position means different nodes in them."""
    was, now = both.node_type
    if bool(((was != now) & (was >= 0) & (now >= 0)).any()):
        return None
    node_type = torch.where(was >= 0, was, now)
    edge = torch.where(both.edge[0] > 0, both.edge[0], both.edge[1])
    first = both.without_features()
    joined = replace(
        first,
        node_type=node_type[None],
        edge=edge[None],
        label=first.label[:1],
        graph_label=first.graph_label[:1],
        row=first.row[:1],
    )
    packed, moved = _packed(joined)
    drawn = layout(packed)
    return {old: drawn[new] for old, new in moved.items()}


def _target(node: int | None, moved: Mapping[int, int]) -> int | None:
    return None if node is None else moved.get(node)
