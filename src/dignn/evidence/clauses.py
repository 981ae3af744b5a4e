"""What features say for a class, as parts of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dignn.evidence.grammar import a, listed, noun, nouns, quoted
from dignn.evidence.removal import ColumnEffect, Effects
from dignn.evidence.variants import Kind, steps_from
from dignn.graphs.batch import GraphBatch
from dignn.graphs.description import type_name
from dignn.graphs.feature_spec import FeatureKind

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
            clauses.append(_columns_around(graph, effects, told))
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
    return clauses


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
    names = listed(column_names(graph, told))
    if graph.schema.spec(told[0][0]).kind is FeatureKind.IDENTITY:
        return [Clause("it", f"is {names}", drop)]
    if _presence(graph, told[0][0]):
        return [Clause("its own features", f"include {names}", drop)]
    one = len(told) == 1
    return [Clause(f"its own value{'' if one else 's'} of {names}", "speaks for it" if one else "speak for it", drop)]


def _columns_around(graph: GraphBatch, effects: Effects, told: Sequence[ColumnEffect]) -> Clause:
    name = told[0].node_type
    nodes = tuple(sorted({v for column in told for v in column.nodes}))
    names = listed(column_names(graph, [(name, column.column) for column in told]))
    drop = sum(column.drop for column in told)
    if graph.schema.spec(name).kind is FeatureKind.IDENTITY:
        return _joined_to(graph, effects, nodes, f"the {noun(name) if len(told) == 1 else nouns(name)} {names}", drop)
    who = _some(graph, effects, nodes, name)
    if _presence(graph, name):
        return Clause(who, f"{'carries' if len(nodes) == 1 else 'carry'} {names}", drop, nodes)
    one = len(told) == 1
    subject = f"the value{'' if one else 's'} of {names} of {who}"
    return Clause(subject, "speaks for it" if one else "speak for it", drop)


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


def _presence(graph: GraphBatch, name: str) -> bool:
    """Whether a non-zero column means that something is there: words, also those that are weighed."""
    kind = graph.schema.spec(name).kind
    if kind is FeatureKind.CONTINUOUS:
        rows = graph.features(name)
        return bool(rows.count_nonzero() < 0.5 * rows.numel())
    return kind in (FeatureKind.BINARY, FeatureKind.COUNT)


def _some(graph: GraphBatch, effects: Effects, nodes: Sequence[int], name: str) -> str:
    """``a paper next to it``, ``terms near it``; without a target node only ``a paper``."""
    who = a(noun(name)) if len(nodes) == 1 else nouns(name)
    if effects.node is None:
        return who
    steps = steps_from(graph, effects.node)
    return f"{who} {'next to' if max(steps[v] for v in nodes) == 1 else 'near'} it"
