"""Edits in words, by the names of a schema: ``“retrieval” of the author is set``."""

from __future__ import annotations

from dignn.evidence.grammar import a, noun, number_word, quoted
from dignn.evidence.variants import steps_from
from dignn.goes_by.contrasts.graph_edits import Edit, EditKind
from dignn.graphs.batch import GraphBatch
from dignn.graphs.column_words import in_words
from dignn.graphs.description import type_name
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec


def edit_words(edit: Edit, before: GraphBatch, after: GraphBatch, node: int | None) -> str:
    """A sentence without its full stop.

    Args:
        edit: what it is about.
        before, after: the two graphs, batches of one.
        node: position of the classified node; None where graphs are classified.
    """
    steps = steps_from(before, node)
    # nodes are told by where they were; what was not there by where it is now
    new = [v for v in (edit.node, edit.other) if v is not None and not bool(before.mask[0, v])]
    graph = after if new else before
    for v in new:
        steps[v] = steps_from(after, node)[v]
    if edit.kind is EditKind.NODE_REMOVED:
        return f"{_thing(graph, edit.node, node, steps, _member(graph, edit.node))} is taken away"
    if edit.kind is EditKind.NODE_ADDED:
        what = f"{a(noun(type_name(graph, edit.node)))}{_member(graph, edit.node)}"
        return f"{what} is added{_joined(edit, graph, node, steps)}"
    if edit.kind in (EditKind.EDGE_REMOVED, EditKind.EDGE_ADDED):
        return _edge(edit, graph, before, node, steps)
    if edit.kind is EditKind.ROW:
        spec = graph.schema.spec(type_name(graph, edit.node))
        return f"{_thing(graph, edit.node, node, steps)} {_instead(spec, edit)}"
    return _column(edit, graph, node, steps)


def _column(edit: Edit, graph: GraphBatch, node: int | None, steps: list[int]) -> str:
    assert edit.column is not None
    if edit.other is None:
        spec = graph.schema.spec(type_name(graph, edit.node))
        of = _thing(graph, edit.node, node, steps)
    else:
        spec = graph.schema.edge_features_by_label[str(edit.relation)].spec
        of = "the edge between {} and {}".format(*_two(edit, graph, node, steps))
    column = spec.column(edit.column)
    if column.kind is ColumnKind.ONE_HOT:
        return f"{of} {_instead(spec, edit)}"
    name = f"{_name(spec, edit.column)} of {of}"
    if column.kind is ColumnKind.BINARY and edit.before in (0.0, 1.0) and edit.after in (0.0, 1.0):
        return f"{name} is {'set' if edit.after else 'cleared'}"
    assert edit.before is not None
    assert edit.after is not None
    return f"{name} goes from {in_words(edit.before, column)} to {in_words(edit.after, column)}"


def _edge(edit: Edit, graph: GraphBatch, before: GraphBatch, node: int | None, steps: list[int]) -> str:
    one, other = _two(edit, graph, node, steps)
    if edit.kind is EditKind.EDGE_REMOVED:
        return f"{one} loses its edge{_by(edit, graph)} to {other}"
    codes = int(before.edge[0, edit.node, edit.other]), int(before.edge[0, edit.other, edit.node])
    if not any(codes):
        return f"{one} gets an edge{_by(edit, graph)} to {other}"
    was = graph.schema.relations[max(codes) - 1]
    if was.label == edit.relation:
        return f"the edge{_by(edit, graph)} between {one} and {other} is turned round"
    return f"the edge between {one} and {other} becomes another{_by(edit, graph)}"


def _joined(edit: Edit, graph: GraphBatch, node: int | None, steps: list[int]) -> str:
    if edit.other is None:
        return ""
    return f" and joined to {_thing(graph, edit.other, node, steps)}{_by(edit, graph)}"


def _by(edit: Edit, graph: GraphBatch) -> str:
    """Which relation, where there are several."""
    names = {relation.label: relation.name for relation in graph.schema.relations}
    if len(set(names.values())) < 2:
        return ""
    return f" ({names[str(edit.relation)].replace('_', ' ')})"


def _two(edit: Edit, graph: GraphBatch, node: int | None, steps: list[int]) -> tuple[str, str]:
    """The ends of an edge, the nearer one first."""
    assert edit.other is not None
    nearer = sorted((edit.node, edit.other), key=lambda v: (steps[v], v != edit.node))
    one, other = (_thing(graph, v, node, steps) for v in nearer)
    return one, f"another {other.split(' ', 1)[1]}" if one == other else other


def _thing(graph: GraphBatch, v: int, node: int | None, steps: list[int], member: str = "") -> str:
    """``the author``, ``a paper next to it``, ``a conference two steps away``; ``a C node`` of a whole graph."""
    name = noun(type_name(graph, v)) + member
    if v == node:
        return f"the {name}"
    if node is None or steps[v] >= graph.node_type.size(1):
        return a(name)
    return f"{a(name)} {'next to it' if steps[v] == 1 else f'{number_word(steps[v])} steps away'}"


def _member(graph: GraphBatch, v: int) -> str:
    """Which member of an identity type it is, where that is known."""
    kind = type_name(graph, v)
    spec = graph.schema.spec(kind)
    if spec.kind is not FeatureKind.IDENTITY or kind not in graph.tables:
        return ""
    return f" {_name(spec, int(graph.tables[kind][graph.row[0, v]].argmax()))}"


def _instead(spec: FeatureSpec, edit: Edit) -> str:
    now, was = ("none" if each is None else _name(spec, int(each)) for each in (edit.after, edit.before))
    return f"is {now} instead of {was}"


def _name(spec: FeatureSpec, column: int) -> str:
    name = spec.column_name(column)
    return name if spec.names is None else quoted(name)
