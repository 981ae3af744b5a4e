"""What features say for a class, as parts of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dignn.evidence.edge_variants import carried_words
from dignn.evidence.grammar import a, listed, noun, nouns, quoted
from dignn.evidence.removal import ColumnEffect, Effects
from dignn.evidence.variants import Kind, steps_from
from dignn.graphs.batch import GraphBatch
from dignn.graphs.description import type_name
from dignn.graphs.feature_spec import ColumnKind, FeatureKind

# Log-odds below which a part is not worth a word.
MATTERS = 0.1
# A column is told if it weighs this share of the strongest one of its clause.
COLUMN_SHARE = 0.25
NAMED_COLUMNS = 3
# Columns that are worth less than this share of all features of their node do not stand for them.
WEAK = 0.05


@dataclass(frozen=True)
class Clause:
    """A part of a sentence: of what it speaks, what it says, and the log-odds that this is worth.

    ``nodes`` are the positions that the subject stands for, so that two papers are not taken for one.
    """

    subject: str
    text: str
    drop: float
    nodes: tuple[int, ...] = ()


def feature_clauses(
    graph: GraphBatch, effects: Effects, own: Sequence[ColumnEffect], around: Sequence[ColumnEffect]
) -> list[Clause]:
    """Clauses about the target node's own columns, those of other nodes by type, and features as a whole."""
    clauses = _own_columns(graph, effects, own)
    named_own = sum(clause.drop for clause in clauses)
    for name in dict.fromkeys(column.node_type for column in around):
        told = _worth_telling([column for column in around if column.node_type == name])
        if told:
            clauses += _columns_around(graph, effects, told)
    named = {column.node_type for column in around if column.drop >= MATTERS}
    for effect in effects.of(Kind.ROW):
        (v,) = effect.part.nodes
        name = type_name(graph, v)
        if v == effects.node:
            if named_own < WEAK * (effect.drop or 0.0):
                clauses.append(Clause("its own features", "together speak for it", effect.drop or 0.0))
        elif name not in named:
            named.add(name)  # the strongest node of each type
            text = f"the features of {_some(graph, effects, [v], name)}"
            clauses.append(Clause(text, "together speak for it", effect.drop or 0.0))
    return clauses + _carried_by_edges(graph, effects)


def _carried_by_edges(graph: GraphBatch, effects: Effects) -> list[Clause]:
    """A clause about the edge whose features the model would miss most."""
    for effect in effects.of(Kind.EDGE_ROW)[:1]:
        ((u, v),) = effect.part.edges
        relation = graph.schema.relations[int(graph.edge[0, u, v]) - 1]
        what = carried_words(graph.schema.edge_features_by_label[relation.label].spec)
        ends = [noun(type_name(graph, node)) for node in (u, v)]
        if effects.node in (u, v):
            other = v if u == effects.node else u
            where = f"its edge to {_some(graph, effects, [other], type_name(graph, other))}"
        else:
            where = (
                f"an edge between two {nouns(relation.source)}"
                if ends[0] == ends[1]
                else (f"an edge between {a(ends[0])} and {a(ends[1])}")
            )
        verb = "speak for it" if what == "features" else "speaks for it"
        return [Clause(f"the {what} of {where}", verb, effect.drop or 0.0)]
    return []


def column_names(graph: GraphBatch, columns: Sequence[tuple[str, int]]) -> list[str]:
    """Names in quotation marks, for pairs of type name and column; ``column 17`` where it has none."""
    specs = [(graph.schema.spec(name), column) for name, column in columns]
    return [(str if spec.names is None else quoted)(spec.column_name(column)) for spec, column in specs]


def _own_columns(graph: GraphBatch, effects: Effects, own: Sequence[ColumnEffect]) -> list[Clause]:
    strong = _worth_telling(own)
    told, drop = [(column.node_type, column.column) for column in strong], sum(column.drop for column in strong)
    joint = [effect for effect in effects.effects if effect.part.kind is Kind.COLUMN and effect.part.joint]
    if not told and joint:
        part, drop = joint[-1].part, joint[-1].drop or 0.0
        told = [(type_name(graph, part.nodes[0]), column) for column in part.columns]
    if not told:
        return []
    if graph.schema.spec(told[0][0]).kind is FeatureKind.IDENTITY:
        return [Clause("it", f"is {listed(column_names(graph, told))}", drop)]
    worth = {(column.node_type, column.column): column.drop for column in strong}
    clauses = []
    for way, some in _ways(graph, told, [] if effects.node is None else [effects.node]).items():
        names, one = listed(column_names(graph, some)), len(some) == 1
        text = f"include {names}" if way == "there" else _verb(way, one)
        subject = "its own features" if way == "there" else f"its own value{'' if one else 's'} of {names}"
        clauses.append(Clause(subject, text, sum(worth[column] for column in some) if worth else drop))
    return clauses


def _columns_around(graph: GraphBatch, effects: Effects, told: Sequence[ColumnEffect]) -> list[Clause]:
    name = told[0].node_type
    if graph.schema.spec(name).kind is FeatureKind.IDENTITY:
        nodes, names, drop = _summed(graph, told)
        what = f"the {noun(name) if len(told) == 1 else nouns(name)} {names}"
        return [_joined_to(graph, effects, nodes, what, drop)]
    every = sorted({v for column in told for v in column.nodes})
    clauses = []
    for way, some in _ways(graph, [(name, column.column) for column in told], every).items():
        chosen = [column for column in told if (name, column.column) in some]
        nodes, names, drop = _summed(graph, chosen)
        who, one = _some(graph, effects, nodes, name), len(chosen) == 1
        if way == "there":
            clauses.append(Clause(who, f"{'carries' if len(nodes) == 1 else 'carry'} {names}", drop, nodes))
        else:
            clauses.append(Clause(f"the value{'' if one else 's'} of {names} of {who}", _verb(way, one), drop))
    return clauses


def _summed(graph: GraphBatch, told: Sequence[ColumnEffect]) -> tuple[tuple[int, ...], str, float]:
    """Nodes, names and log-odds of several columns of one type."""
    nodes = tuple(sorted({v for column in told for v in column.nodes}))
    names = listed(column_names(graph, [(column.node_type, column.column) for column in told]))
    return nodes, names, sum(column.drop for column in told)


def _ways(graph: GraphBatch, told: Sequence[tuple[str, int]], nodes: Sequence[int]) -> dict[str, list[tuple[str, int]]]:
    """Columns by how they are spoken of: what is ``there``, a ``value``, or one that is ``missing`` at all nodes."""
    found: dict[str, list[tuple[str, int]]] = {}
    for name, column in told:
        rows = graph.tables[name][graph.row[0, [v for v in nodes if type_name(graph, v) == name]]]
        missing = len(rows) > 0 and bool(rows[:, column].isnan().all())
        way = "missing" if missing else "there" if _presence(graph, name, column) else "value"
        found.setdefault(way, []).append((name, column))
    return found


def _verb(way: str, one: bool) -> str:
    if way == "missing":
        return "is missing" if one else "are missing"
    return "speaks for it" if one else "speak for it"


def _joined_to(graph: GraphBatch, effects: Effects, nodes: Sequence[int], what: str, drop: float) -> Clause:
    """Members of an identity type: what the target, or a node next to it, is joined to."""
    if effects.node is None:
        return Clause("it", f"has {what}", drop)
    steps = steps_from(graph, effects.node)
    if all(steps[v] == 1 for v in nodes):
        return Clause("it", f"is joined to {what}", drop)
    joined = graph.undirected[0]
    between = sorted({u for v in nodes for u in joined[v].nonzero()[:, 0].tolist() if steps[u] == 1})
    types = {type_name(graph, u) for u in between}
    if all(steps[v] == 2 for v in nodes) and len(types) == 1:
        who = _some(graph, effects, between, types.pop())
        return Clause(who, f"{'is' if len(between) == 1 else 'are'} joined to {what}", drop, tuple(between))
    return Clause("it", f"is near {what}", drop)


def _worth_telling(columns: Sequence[ColumnEffect]) -> list[ColumnEffect]:
    strong = [column for column in columns if column.drop >= max(MATTERS, COLUMN_SHARE * columns[0].drop)]
    return strong[:NAMED_COLUMNS]


def _presence(graph: GraphBatch, name: str, column: int) -> bool:
    """Whether a non-zero column means that something is there: words, also those that are weighed; a category."""
    spec = graph.schema.spec(name)
    if spec.kind is FeatureKind.CONTINUOUS:
        rows = graph.features(name)
        return bool(rows.count_nonzero() < 0.5 * rows.numel())
    return spec.kinds[column] in (ColumnKind.BINARY, ColumnKind.COUNT, ColumnKind.ONE_HOT)


def _some(graph: GraphBatch, effects: Effects, nodes: Sequence[int], name: str) -> str:
    """``a paper next to it``, ``terms near it``; without a target node only ``a paper``."""
    who = a(noun(name)) if len(nodes) == 1 else nouns(name)
    if effects.node is None:
        return who
    steps = steps_from(graph, effects.node)
    return f"{who} {'next to' if max(steps[v] for v in nodes) == 1 else 'near'} it"
