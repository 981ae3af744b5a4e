"""Finds class expressions of EL that give a model's answers, by a beam search with a downward refinement operator.

A concept is refined by conjoining, at any place of its tree, a name, or a restriction ∃r1...∃rk.C with ⊤ or a name in
the end: every step of the operators of [1] in EL (⊤ to a name, a restriction more, a conjunct more, an inner concept
made special), several at once, so that restrictions count that tell nothing before their end is named.

For one concept all refinements are looked at together. Let K be the (m, M) matrix of which nodes may play a part of the
concept at each place, the rest of it being satisfied. If X is the (M, n) matrix of which nodes satisfy each conjunct,
K X is not 0 where the refined concepts hold.

[1] J. Lehmann, P. Hitzler: Concept learning in description logics using refinement operators. Machine Learning 78,
    2010.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from dignn.goes_by.class_expressions import (
    TOP,
    Concept,
    Expression,
    Expressions,
    Name,
    holds,
    named,
    own_nodes,
    satisfying,
)
from dignn.goes_by.deciding import Decider, needed
from dignn.goes_by.places import Places
from dignn.goes_by.predicate_families import column_traits
from dignn.goes_by.sparse_fit import even_weights
from dignn.goes_by.sparse_flags import beside, flags, without_zeros
from dignn.goes_by.where import Around, Step, steps_of

# Roles from the root to a leaf of an expression, and its names and roles, at most.
_MOST_ROLES, _MOST_SYMBOLS = 3, 8
# What a further symbol, and a further expression, must bring: a share of the class, less that of others taken along.
_LEAST_GAIN, _LEAST_WORTH = 0.005, 0.02
# Rounds without anything better after which the search ends.
_PATIENCE = 2
# Concepts that are refined together; names of a type that are kept for each class, and for all together.
_BEAM, _NAMES, _ALL_NAMES = 10, 100, 2000
# What may be conjoined at nodes of a type, at most; where a schema has more, fewer roles in a row are looked at.
_CONJUNCTS = 50_000


def find_expressions(
    places: Places, answers: np.ndarray, number: int, numbers: Sequence[int] = (1, 3), *, features: bool = True
) -> list[Expressions]:
    """Expressions of each class, the first for as much of it as can be told from others, the next for what is left.

    They are looked for twice: the other classes weigh as much as the class together, which finds what covers it, or
    each as much as the class, which finds what is precise. What agrees better in the end is taken.

    Args:
        places: m places.
        answers: (m,) the classes that a model gives.
        number: how many classes there are.
        numbers: of expressions of a class at most; each makes an answer of its own.
        features: whether what columns hold makes names, too, or node types alone.
    """
    weight = even_weights(answers, number)
    search = _Search(places, _telling_names(places, answers, number) if features else {})
    others = max(1, len(np.unique(answers)) - 1)
    ways: list[list[list[Decider[Concept]]]] = []
    for share in sorted({1.0, 1.0 / others}):
        ways.append([])
        for place in range(number):
            own = answers == place
            concepts = search.of_class(np.where(own, weight, -share * weight), max(numbers))
            ways[-1].append([Decider.of(concept, holds(places, concept), own, weight) for concept in concepts])
    found = []
    for most in numbers:
        tried = [needed([own[:most] for own in way], answers, weight) for way in ways]
        kept, otherwise, _ = max(tried, key=lambda each: each[2])
        by_class = tuple(tuple(Expression(one.what, one.precision) for one in own) for own in kept)
        found.append(Expressions(by_class, otherwise))
    return found


def _telling_names(places: Places, answers: np.ndarray, number: int) -> dict[str, list[Name]]:
    """By node type, names of columns that go with some class, wherever they are within reach of a place."""
    share = even_weights(answers, number)[:, None] * np.eye(number)[answers]  # (m, C)
    there = max(1, int((share.sum(0) > 0).sum()) - 1)
    most = max(5, min(_NAMES, _ALL_NAMES // max(1, number)))
    far: list[int | None] = [None] if places.schema.task.of_graphs else list(range(_MOST_ROLES + 1))
    found = {}
    for node_type, spec in zip(places.schema.node_types, places.schema.features, strict=True):
        everywhere = Around(node_type, None)
        if not spec.generated or not len(places.items(everywhere)):
            continue
        names = [Name(node_type, trait) for trait in column_traits(places, everywhere, spec, own=True)]
        if not names:
            continue
        at = named(places, names)
        best = np.zeros((number, len(names)))
        for distance in far:
            true = flags(places.around(Around("", distance)) @ at)
            in_class = (true.T @ share).T  # (C, n) share of each class
            best = np.maximum(best, in_class - (in_class.sum(0) - in_class) / there)
        order = np.argsort(-best, axis=1, kind="stable")[:, :most]
        kept = sorted({int(place) for line, own in zip(order, best, strict=True) for place in line if own[place] > 0})
        found[node_type] = [names[place] for place in kept]
    return found


@dataclass(frozen=True, eq=False)
class _Conjuncts:
    """What may be conjoined at nodes of a type.

    Args:
        concepts: n of them.
        length: (n,) of each.
        true: (M, n) 1 where a node satisfies one.
    """

    concepts: list[Concept]
    length: np.ndarray
    true: csr_array


class _Search:
    """Looks for concepts of which places of a class are true and others are not.

    Args:
        places: m places.
        names: by node type, names of columns.
    """

    def __init__(self, places: Places, names: dict[str, list[Name]]) -> None:
        self._places, self._names, schema = places, names, places.schema
        self._steps = steps_of(schema)
        mine = zip(schema.node_types, schema.task.types(schema.node_types), strict=True)
        starts = [] if schema.task.of_graphs else [name for name, of in mine if of]
        self._root = starts[0] if len(starts) == 1 else None  # None where nodes of several types may be meant
        self._types = starts or list(schema.node_types)
        self._own = own_nodes(places)
        few = [roles for roles in range(1, _MOST_ROLES + 1) if self._number(roles) <= _CONJUNCTS]
        self._most_roles = max(few, default=0)
        self._conjuncts: dict[tuple[str | None, int], _Conjuncts] = {}

    def _number(self, roles: int) -> int:
        """Of how much that may be conjoined there is most, with so many roles in a row."""
        own = {name: len(self._names.get(name, [])) for name in self._places.schema.node_types}
        found = own
        for _ in range(roles):
            found = {of: own[of] + sum(1 + found[to] for at, to in self._steps.values() if at == of) for of in own}
        return max(found.values())

    # -- covering a class ---------------------------------------------------------------------------------

    def of_class(self, value: np.ndarray, most: int) -> list[Concept]:
        """Concepts that hold in a class one after the other, each where those before do not, at most so many.

        ``value``: (m,) what it is worth to hold at a place: more than 0 in the class, less elsewhere.
        """
        found: list[Concept] = []
        while len(found) < most:
            concept, worth = self._best(value)
            if concept == TOP or worth < _LEAST_WORTH:
                break
            found.append(concept)
            value = value * ~holds(self._places, concept)
        return found

    def _best(self, value: np.ndarray) -> tuple[Concept, float]:
        """The concept whose places are worth most, less a little for each symbol.  value: (m,) what a place is worth"""
        rows = np.flatnonzero(value)
        own, value = self._own[rows], value[rows].astype(np.float32)
        best, beam, without = (TOP, float(value.sum())), [TOP], 0
        while beam and without < _PATIENCE:
            grown: dict[bytes, tuple[Concept, float]] = {}  # of those that hold at the same places the first
            several = [one for concept in beam for one in self._refined(concept, own, value)]
            for concept, worth, where in sorted(several, key=lambda one: -_standing(*one[:2])):
                grown.setdefault(where, (concept, worth))
                if len(grown) == _BEAM:
                    break
            beam = [concept for concept, _ in grown.values()]
            better = max([best, *grown.values()], key=lambda one: _standing(*one))
            best, without = better, without + 1 if better == best else 0
        return best

    def _refined(self, concept: Concept, own: csr_array, value: np.ndarray) -> Iterator[tuple[Concept, float, bytes]]:
        """The best refinements, what they are worth, and a name of the places where they hold."""
        room = _MOST_SYMBOLS - concept.length
        for at, reached, node_type in self._parts(concept, own, self._root or concept.type_in(self._places.schema), ()):
            conjuncts = self._conjoined(node_type, self._most_roles - len(at))
            true = flags(reached @ conjuncts.true)
            worth = value @ true
            standing = np.where(conjuncts.length <= room, worth - _LEAST_GAIN * conjuncts.length, -np.inf)
            standing[np.bincount(true.indices, minlength=len(standing)) == 0] = -np.inf  # hold nowhere
            chosen = np.argsort(-standing, kind="stable")[: 2 * _BEAM]
            chosen = chosen[np.isfinite(standing[chosen])]
            where = np.packbits(true[:, chosen].toarray() > 0, axis=0)
            for place, bits in zip(chosen.tolist(), where.T, strict=True):
                refined = concept.also(conjuncts.concepts[place], at)
                if refined != concept:
                    yield refined, float(worth[place]), bits.tobytes()

    def _parts(
        self, concept: Concept, reached: csr_array, node_type: str | None, at: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], csr_array, str | None]]:
        """Every place in the tree of a concept, (m, M) 1 at nodes that may play it, and their type.

        ``reached``: (m, M) 1 at nodes that may play the root of the concept, as far as what is above it goes.
        """
        here = reached.copy()
        here.data *= satisfying(self._places, concept)[here.indices]
        here = without_zeros(here)
        yield at, here, node_type
        for place, (step, inner) in enumerate(concept.exists):
            beyond = flags(here @ self._places.arcs(step))
            yield from self._parts(inner, beyond, self._steps[step][1], (*at, place))

    def _conjoined(self, node_type: str | None, roles: int) -> _Conjuncts:
        """What may be conjoined at nodes of a type, with so many roles in a row at most."""
        key = node_type, roles
        if key not in self._conjuncts:
            if node_type is None:
                parts = [self._alone([Name(each)]) for each in self._types]
                parts += [self._conjoined(each, roles) for each in self._types]
            else:
                known = self._names.get(node_type, [])
                parts = [self._alone(known)] if known else []
                steps = [step for step, (of, _) in self._steps.items() if of == node_type and roles]
                parts += [self._beyond(step, roles) for step in steps]
            self._conjuncts[key] = _joined(parts, len(self._places.node_type))
        return self._conjuncts[key]

    def _alone(self, names: list[Name]) -> _Conjuncts:
        return _Conjuncts([Concept((name,)) for name in names], np.ones(len(names)), named(self._places, names))

    def _beyond(self, step: Step, roles: int) -> _Conjuncts:
        """Restrictions by a role."""
        arcs, inner = self._places.arcs(step), self._conjoined(self._steps[step][1], roles - 1)
        any_at_all = flags(arcs @ csr_array(np.ones((arcs.shape[1], 1), np.float32)))
        concepts = [Concept(exists=((step, concept),)) for concept in (TOP, *inner.concepts)]
        return _Conjuncts(concepts, np.append(0, inner.length) + 1, beside([any_at_all, flags(arcs @ inner.true)]))


def _joined(parts: list[_Conjuncts], nodes: int) -> _Conjuncts:
    if not parts:
        return _Conjuncts([], np.empty(0), csr_array((nodes, 0), dtype=np.float32))
    concepts = [concept for part in parts for concept in part.concepts]
    return _Conjuncts(concepts, np.concatenate([part.length for part in parts]), beside([part.true for part in parts]))


def _standing(concept: Concept, worth: float) -> float:
    return round(worth - _LEAST_GAIN * concept.length, 9)
