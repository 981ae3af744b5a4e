"""Two sentences in plain English: what the model's answer rests on, and what happens without it.

Every statement is about the graph that is shown, "as here", and comes from the effects of removal. What was not
measured is not said.
"""

from __future__ import annotations

from collections.abc import Sequence

from dignn.core.numerals import percent
from dignn.evidence.clauses import MATTERS, Clause, column_names, feature_clauses
from dignn.evidence.cycles import on_cycle
from dignn.evidence.edge_variants import average_words
from dignn.evidence.grammar import a, at_least, count, listed, noun, number_word, of_several, quoted
from dignn.evidence.removal import DROP_DIGITS, ColumnEffect, Effect, Effects
from dignn.evidence.shape import SHARE, Cycles, cycle_text, cycles_of, degree_text, shape_name, strongest_star
from dignn.evidence.task_words import words_of
from dignn.evidence.variants import Kind, at_limit, steps_from
from dignn.graphs.batch import GraphBatch
from dignn.graphs.description import type_name

# Probability that removing a part must cost for it to be said to decide.
DECIDES = 0.1
# A clause is told if it weighs this share of the strongest one.
CLAUSE_SHARE = 0.1
MOST_CLAUSES = 3
# Of parts that do nearly as much as the strongest, one that a reader can find in the picture is told.
NEARLY = 0.6


def sentences(graph: GraphBatch, effects: Effects, own: Sequence[ColumnEffect], around: Sequence[ColumnEffect]) -> str:
    """What the model's answer rests on, in two sentences.

    Args:
        graph: the explanation, a batch of one.
        effects: what removing its parts does; with joint ones (:mod:`dignn.evidence.removal_together`) it says more.
        own, around: the strongest columns, as :func:`~dignn.evidence.removal.strongest_columns` gives them.
    """
    schema = graph.schema
    start = words_of(schema.task).answer(quoted(schema.classes[effects.class_index]), effects.probability)
    cycles = cycles_of(graph, effects)
    clauses = [*feature_clauses(graph, effects, own, around), *_structure(graph, effects, cycles)]
    told = _told(clauses)
    first = f"{start} when, as here, {told}." if told else f"{start} here."
    return " ".join([first, *_without(graph, effects, cycles)])


def _told(clauses: Sequence[Clause]) -> str:
    """The clauses that weigh most in one text; those with one subject share it."""
    strong = sorted((c for c in clauses if c.drop >= MATTERS), key=lambda c: (-round(c.drop, DROP_DIGITS), c.text))
    strong = [clause for clause in strong if clause.drop >= CLAUSE_SHARE * strong[0].drop][:MOST_CLAUSES]
    subjects: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for clause in strong:
        subjects.setdefault((clause.subject, clause.nodes), []).append(clause.text)
    predicates: dict[tuple[str, ...], list[str]] = {}  # "its own value" and "the value of a paper" may say the same
    for (subject, _), said in subjects.items():
        predicates.setdefault(tuple(said), []).append(subject)
    texts = [
        f"{listed(several)} {' and '.join(said if len(several) == 1 else map(of_several, said))}"
        for said, several in predicates.items()
    ]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])}, and {texts[-1]}" if texts else ""


def _structure(graph: GraphBatch, effects: Effects, cycles: Sequence[Cycles]) -> list[Clause]:
    typed = len(graph.schema.node_types) > 1
    most = max((effect.drop or 0.0 for effect in effects.of(Kind.NODE, Kind.EDGE)), default=0.0)
    chosen = [group for group in cycles if group.drop >= max(MATTERS, SHARE * most)][:2]
    texts = [cycle_text(group, typed) for group in sorted(chosen, key=lambda group: group.length)]
    drop = max((group.drop for group in chosen), default=0.0)
    node = effects.node
    if node is None:
        star = strongest_star(graph, effects) if typed else None
        clauses = [Clause("it", f"has {listed(texts)}", drop)] if texts else []
        # a part of a ring of carbon that is all carbon says nothing that the ring does not
        if star is not None and not any(star[2] <= set(group.types) for group in chosen):
            clauses.append(Clause("it", f"has {star[0]}", star[1]))
        return clauses
    if texts:
        degree = "" if typed else f" and has {degree_text(graph, node)}"
        return [Clause("it", f"lies on {listed(texts)}{degree}", drop)]
    if not typed and not graph.tables:
        free = "" if on_cycle(graph.undirected[0], node) else "lies on no cycle and "
        return [Clause("it", f"{free}has {degree_text(graph, node)}", most)]
    return []


# -- what happens without -----------------------------------------------------------------------------


def _without(graph: GraphBatch, effects: Effects, cycles: Sequence[Cycles]) -> list[str]:
    single = effects.of(Kind.NODE, Kind.EDGE, Kind.COLUMN, Kind.ROW, Kind.EDGE_ROW)
    if not single:
        return []
    order = [
        Kind.NODE,
        Kind.COLUMN,
        Kind.ROW,
        Kind.EDGE,
        Kind.EDGE_ROW,
    ]  # of equal effects the one that is said most easily
    rank = {effect.part: (-round(effect.drop or 0.0, DROP_DIGITS), order.index(effect.part.kind)) for effect in single}
    tied = [effect for effect in single if rank[effect.part] == min(rank.values())]
    strongest = min(tied, key=lambda effect: _missing(graph, effects, effect))
    lowest = strongest.probability if strongest.probability is not None else effects.probability
    joint = _together(graph, effects, cycles)
    decisive = [(drop, text, p) for drop, text, p in joint if effects.probability - p >= DECIDES]
    if effects.probability - lowest >= DECIDES:
        for drop, text, p in decisive:
            if drop >= NEARLY * (strongest.drop or 0.0):
                return [f"{text[0].upper()}{text[1:]} the probability falls to {percent(p)}."]
        return [f"{_missing(graph, effects, strongest)} the probability falls to {percent(lowest)}."]
    open_parts = any(e.drop is None and not e.part.joint and e.part.kind is not Kind.OTHERS for e in effects.effects)
    limited = open_parts or at_limit([effect.part for effect in effects.of(Kind.COLUMN)])
    who = "Of the parts that could be tried no single one decides" if limited else "No single part decides"
    start = f"{who}: without any one of them the probability stays {at_least(lowest)}"
    return [f"{start}, but {decisive[0][1]} it falls to {percent(decisive[0][2])}." if decisive else f"{start}."]


def _together(graph: GraphBatch, effects: Effects, cycles: Sequence[Cycles]) -> list[tuple[float, str, float]]:
    """Log-odds, text and probability of what is removed together, in the order in which it is said."""
    found = []
    for effect in effects.effects:
        if effect.part.kind is Kind.COLUMN and effect.part.joint and effect.drop is not None:
            number = number_word(len(effect.part.columns))
            found.append((effect.drop, f"without these {number} features together", effect.probability or 0.0))
    for group in cycles[:1]:
        if group.probability is not None:
            name = "ring" if effects.node is None and len(graph.schema.node_types) > 1 else shape_name(group.length)
            text = f"with the {name} broken" if group.number == 1 else f"with the {name}s broken"
            found.append((group.drop, text, group.probability))
    for effect in effects.effects:
        if effect.part.kind is Kind.EDGE_ROW and effect.part.joint and effect.drop is not None:
            what = average_words(graph, *effect.part.edges[0]) if len(graph.edge_tables) == 1 else "average features"
            found.append((effect.drop, f"with {what} on every edge", effect.probability or 0.0))
    for effect in effects.of(Kind.OTHERS):
        # it removes most, so it is told only where nothing smaller decides: weighed as nothing, and last
        found.append((0.0, "without all other nodes", effect.probability or 0.0))
    return found


def _missing(graph: GraphBatch, effects: Effects, effect: Effect) -> str:
    part = effect.part
    v = part.nodes[0]
    if part.kind in (Kind.EDGE, Kind.EDGE_ROW):
        ends = [_this(graph, effects, node) for node in sorted(part.nodes, key=lambda node: node != effects.node)]
        what = "Without" if part.kind is Kind.EDGE else f"With {average_words(graph, *part.edges[0])} on"
        return f"{what} the edge between {ends[0]} and {ends[1]}"
    if part.kind is Kind.NODE:
        return f"Without {_this(graph, effects, v)}"
    if part.kind is Kind.COLUMN:
        shown = column_names(graph, [(type_name(graph, v), part.columns[0])])[0]
        return f"Without {shown}" + ("" if v == effects.node else f" of {_this(graph, effects, v)}")
    own = v == effects.node
    return f"With average features instead of {'its own' if own else f'those of {_this(graph, effects, v)}'}"


def _this(graph: GraphBatch, effects: Effects, v: int) -> str:
    """``the paper next to it``, ``one of the three papers next to it``, ``a paper two steps away``."""
    name = type_name(graph, v)
    if effects.node is None:
        return f"one {noun(name)} with {degree_text(graph, v)}"
    if v == effects.node:
        return f"the {noun(name)} itself"
    steps = steps_from(graph, effects.node)
    if steps[v] > 1:
        return f"{a(noun(name))} {number_word(steps[v])} steps away"
    same = [u for u, step in enumerate(steps) if step == 1 and type_name(graph, u) == name]
    return f"the {noun(name)} next to it" if len(same) == 1 else f"one of the {count(len(same), name)} next to it"
