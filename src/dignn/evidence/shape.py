"""The structure around a node, or in a graph, that the model's answer rests on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dignn.evidence.cycles import chordless_cycles
from dignn.evidence.grammar import a, count, listed, noun, nouns, number_word
from dignn.evidence.removal import DROP_DIGITS, Effect, Effects
from dignn.evidence.variants import Kind, Part
from dignn.graphs.batch import GraphBatch
from dignn.graphs.description import type_name
from dignn.graphs.igraph_graphs import igraph_of

# Parts are told where removing them does at least this share of the most that removing any part does.
SHARE = 0.5


@dataclass(frozen=True)
class Cycles:
    """Cycles without chords that are equally long and have the same node types.

    Args:
        length: nodes of each.
        types: node types, sorted, without the classified node's own entry where there is one.
        number: how many there are.
        broken: an edge of each, which breaks them all: of those that do not touch the classified node, the one whose
            removal hurts most.
        drop: log-odds that breaking them costs the class; 0 where that was not measured.
        probability: of the class when they are broken.
    """

    length: int
    types: tuple[str, ...]
    number: int
    broken: Part
    drop: float
    probability: float | None


def cycles_of(graph: GraphBatch, effects: Effects) -> list[Cycles]:
    """Chordless cycles through the classified node (or anywhere in the graph), those that matter most first."""
    cycles = chordless_cycles(graph.undirected[0], effects.node)
    if not cycles:
        return []
    edges: dict[frozenset[int], list[Effect]] = {}  # two where a pair is joined both ways by directed relations
    for effect in effects.of(Kind.EDGE):
        edges.setdefault(frozenset(effect.part.nodes), []).append(effect)
    known = {effect.part: effect for effect in effects.effects}
    place = _places(graph, effects)
    groups: dict[tuple[int, tuple[str, ...]], list[tuple[tuple[int, ...], ...]]] = {}
    for cycle in cycles:
        pairs = [frozenset(pair) for pair in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
        weak = [edges[pair] for pair in pairs if pair in edges and effects.node not in pair]
        if weak:
            cut = min(weak, key=lambda several: _rank(several, place))
            types = tuple(sorted(type_name(graph, v) for v in cycle if v != effects.node))
            groups.setdefault((len(cycle), types), []).append(tuple(sorted(e.part.nodes for e in cut)))
    found = []
    for (length, types), cuts in groups.items():
        pairs_cut = sorted({pair for several in cuts for pair in several})
        broken = Part(Kind.EDGE, tuple(v for pair in pairs_cut for v in pair))
        measured = known.get(broken, Effect(broken, None, None))
        found.append(Cycles(length, types, len(cuts), broken, measured.drop or 0.0, measured.probability))
    return sorted(found, key=lambda each: (-round(each.drop, DROP_DIGITS), each.length, each.types))


def _rank(edges: list[Effect], place: list[int]) -> tuple[float, list[int]]:
    """Edges that hurt most come first, equal ones by where they are in the graph."""
    return -round(sum(edge.drop or 0.0 for edge in edges), DROP_DIGITS), sorted(place[v] for v in edges[0].part.nodes)


def _places(graph: GraphBatch, effects: Effects) -> list[int]:
    """A number for every position that does not depend on the order of nodes, except among those that look alike."""
    size = graph.node_type.size(1)
    edges_of: list[list[tuple[float, int, bool]]] = [[] for _ in range(size)]
    for effect in effects.of(Kind.EDGE):
        u, v = effect.part.nodes
        seen = round(effect.drop or 0.0, DROP_DIGITS), int(graph.edge[0, u, v])
        edges_of[u].append((*seen, True))
        edges_of[v].append((*seen, False))
    keys = [(int(graph.node_type[0, v]), v == effects.node, sorted(edges_of[v])) for v in range(size)]
    order = sorted(keys)
    pairs = graph.undirected[0].triu().nonzero().tolist()
    return list(igraph_of(size, pairs).canonical_permutation(color=[order.index(key) for key in keys]))


def cycle_text(cycles: Cycles, typed: bool) -> str:
    """``a triangle with two papers``, ``two squares``, ``a cycle of six nodes``, ``a ring of six C nodes``."""
    number, length = cycles.number, cycles.length
    if typed and len(cycles.types) == length:
        return f"{_counted('ring', number)} of {type_counts(cycles.types)}"
    text = _counted(shape_name(length), number)
    if typed:
        return f"{text} with {type_counts(cycles.types)}" + (" each" if number > 1 else "")
    return text if length < 5 else f"{text} of {number_word(length)} nodes"


def shape_name(length: int) -> str:
    return {3: "triangle", 4: "square"}.get(length, "cycle")


def type_counts(types: tuple[str, ...]) -> str:
    """``two papers and one author``."""
    counts = sorted(Counter(types).items(), key=lambda item: (-item[1], item[0]))
    return listed([count(number, name) for name, number in counts])


def strongest_star(graph: GraphBatch, effects: Effects) -> tuple[str, float, frozenset[str]] | None:
    """The node whose removal hurts most with the neighbours that matter as well: text, log-odds and node types.

    ``an N node joined to two O nodes (double, single)``. Where no neighbour matters as well, all are named.
    """
    drops = {effect.part.nodes[0]: effect.drop or 0.0 for effect in effects.of(Kind.NODE)}
    most = max(drops.values(), default=0.0)
    if most <= 0:  # the model misses no node
        return None
    joined = graph.undirected[0]

    def strong(v: int) -> list[int]:
        return [w for w in joined[v].nonzero()[:, 0].tolist() if drops.get(w, 0.0) >= SHARE * most]

    # of the nodes that matter as much as any, the one that most others that matter are joined to
    near = [v for v in drops if drops[v] >= 0.9 * most]
    top = min(near, key=lambda v: (-len(strong(v)), -round(drops[v], DROP_DIGITS), type_name(graph, v)))
    arms = strong(top) or joined[top].nonzero()[:, 0].tolist()
    groups: dict[str, list[str]] = {}
    for v in arms:
        groups.setdefault(type_name(graph, v), []).append(_relation(graph, top, v))
    several = []
    for name, bonds in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        how = f" ({', '.join(sorted(set(bonds)))})" if len({r.name for r in graph.schema.relations}) > 1 else ""
        several.append((a(noun(name)) if len(bonds) == 1 else f"{number_word(len(bonds))} {nouns(name)}") + how)
    text = a(noun(type_name(graph, top))) + (f" joined to {listed(several)}" if several else "")
    return text, drops[top], frozenset([type_name(graph, top), *groups])


def degree_text(graph: GraphBatch, node: int) -> str:
    """``three neighbours``."""
    degree = int(graph.undirected[0, node].sum())
    return f"{number_word(degree)} neighbour{'' if degree == 1 else 's'}"


def _counted(shape: str, number: int) -> str:
    return a(shape) if number == 1 else f"{number_word(number)} {shape}s"


def _relation(graph: GraphBatch, u: int, v: int) -> str:
    number = int(graph.edge[0, u, v]) or int(graph.edge[0, v, u])
    return graph.schema.relations[number - 1].name.replace("_", " ")
