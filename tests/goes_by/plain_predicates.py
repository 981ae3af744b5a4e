"""What predicates mean, in plain loops over one place: the independent form that evaluation is compared with."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np

from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Mean, Rings
from dignn.goes_by.traits import Holds, Shaped
from dignn.goes_by.where import Around, Edges, Step
from dignn.graphs.batch import GraphBatch
from strategies import row_of


def plainly(batch: GraphBatch, graph: int, node: int, predicate: Predicate) -> bool:
    """Whether a predicate is true of a node, or of a graph (node -1)."""
    amount = amount_of(batch, graph, node, predicate)
    return bool(np.float32(amount) > np.float32(predicate.above)) == predicate.holds


def amount_of(batch: GraphBatch, graph: int, node: int, predicate: Predicate) -> float:
    quantity = predicate.quantity
    if isinstance(quantity, Rings):
        return float(len(_cycles(batch, graph, node, quantity)))
    rows = _edge_rows(batch, graph, node, quantity.where) if isinstance(quantity.where, Edges) else None
    nodes = [] if rows is not None else _nodes(batch, graph, node, quantity.where)
    if isinstance(quantity, Mean):
        values = [(row_of(batch, graph, v) if rows is None else v)[quantity.column] for v in (nodes or rows or [])]
        known = [value for value in values if not math.isnan(value)]
        return sum(known) / len(known) if known else math.nan
    if not quantity.traits:
        return float(len(nodes) if rows is None else len(rows))
    if rows is not None:
        return float(sum(_held(row, trait) for row in rows for trait in quantity.traits))
    return float(sum(_true(batch, graph, v, trait) for v in nodes for trait in quantity.traits))


def _joined(batch: GraphBatch, graph: int) -> nx.Graph:
    edge, found = batch.edge[graph], nx.Graph()
    found.add_nodes_from(range(int(batch.sizes[graph])))
    found.add_edges_from((int(u), int(v)) for u, v in edge.nonzero().tolist())
    return found


def by_step(batch: GraphBatch, graph: int, u: int, step: Step) -> set[int]:
    place = [relation.label for relation in batch.schema.relations].index(step.relation)
    relation, found = batch.schema.relations[place], set()
    types = batch.schema.node_types
    for v in range(int(batch.sizes[graph])):
        source, target = (v, u) if step.back else (u, v)
        fits = types[int(batch.node_type[graph, source])] == relation.source
        fits &= types[int(batch.node_type[graph, target])] == relation.target
        if fits and int(batch.edge[graph, source, target]) == place + 1:
            found.add(v)
    return found


def _nodes(batch: GraphBatch, graph: int, node: int, where: Around) -> list[int]:
    joined = _joined(batch, graph)
    if where.distance is None:
        reached = set(joined)
    elif where.path:
        reached = {node}
        for step in where.path:
            reached = {v for u in reached for v in by_step(batch, graph, u, step)}
        reached -= {node}
    else:
        steps = nx.single_source_shortest_path_length(joined, node)
        reached = {v for v, distance in steps.items() if distance == where.distance}
    code = batch.schema.type_index(where.node_type)
    return sorted(v for v in reached if int(batch.node_type[graph, v]) == code)


def _true(batch: GraphBatch, graph: int, v: int, trait: Holds | Shaped) -> bool:
    if isinstance(trait, Holds):
        return _held(row_of(batch, graph, v), trait)
    joined = _joined(batch, graph)
    if trait.shape == "cycle":
        lengths = {len(cycle) for cycle in nx.chordless_cycles(joined, length_bound=8) if v in cycle}
        return bool(lengths) if not trait.number else trait.number in lengths
    degree = joined.degree(v) if trait.step is None else len(by_step(batch, graph, v, trait.step))
    return degree == 1 if trait.shape == "leaf" else degree >= trait.number


def _held(row: list[float], trait: Holds) -> bool:
    value = row[trait.column]
    if trait.test == "missing":
        return math.isnan(value)
    return value == trait.value if trait.test == "is" else value > trait.value


def _edge_rows(batch: GraphBatch, graph: int, node: int, where: Edges) -> list[list[float]]:
    features = batch.schema.edge_features_by_label[where.relation]
    relation = batch.schema.relations[features.relation - 1]
    found = []
    for u, v in (batch.edge[graph] == features.relation).nonzero().tolist():
        if relation.symmetric and features.shared and u > v:
            continue
        source = batch.schema.node_types[int(batch.node_type[graph, u])]
        if relation.source != relation.target and source != relation.source:
            continue
        if where.anywhere or node in (u, v):
            assert batch.edge_row is not None
            found.append(batch.edge_tables[where.relation][int(batch.edge_row[graph, u, v])].tolist())
    return found


def _cycles(batch: GraphBatch, graph: int, node: int, quantity: Rings) -> list[list[int]]:
    types = batch.schema.node_types
    every = nx.chordless_cycles(_joined(batch, graph), length_bound=8)
    return [
        cycle
        for cycle in every
        if (node < 0 or node in cycle)
        and sorted(types[int(batch.node_type[graph, v])] for v in cycle) == sorted(quantity.types)
    ]
