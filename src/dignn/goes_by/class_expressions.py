"""Class expressions of the description logic EL: a rival of scorecards and rules.

EL has concept names, ⊤, conjunction (C ⊓ D) and existential restriction (∃r.C) [1]. Here names are node types, and
roles are relations, each of them both ways, as PyTorch Geometric stores them; a node satisfies ∃r.C if one of its
neighbours by r satisfies C. So an expression is a tree, and a node satisfies it if there is a homomorphism that takes
the root to the node. Such expressions explain heterogeneous GNNs in [2]. What EL lacks is what tells it from
predicates: it has no negation, no numbers, no cycles, and nothing is added up.

As an extension, what a column holds may be a name, too ("theory" of papers), which [2] does not have. Both are
compared.

[1] F. Baader, S. Brandt, C. Lutz: Pushing the EL envelope. IJCAI 2005.
[2] D. Köhler, S. Heindorf: Utilizing description logics for global explanations of heterogeneous graph neural networks.
    arXiv:2405.12654, 2024.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from scipy.sparse import csr_array

from dignn.core.numerals import number
from dignn.evidence.grammar import quoted
from dignn.goes_by.deciding import decided
from dignn.goes_by.places import Places
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around, Step, steps_of
from dignn.graphs.column_words import in_words
from dignn.graphs.feature_spec import ColumnKind, FeatureKind
from dignn.graphs.schema import Schema

_Part = TypeVar("_Part")


@dataclass(frozen=True)
class Name:
    """A concept name: the nodes of a type, or those of which something is true that a column holds."""

    node_type: str
    trait: Holds | None = None


@dataclass(frozen=True)
class Concept:
    """A conjunction of names and existential restrictions; ⊤ without any.

    Args:
        names: concept names.
        exists: roles, and what a neighbour satisfies by each.
    """

    names: tuple[Name, ...] = ()
    exists: tuple[tuple[Step, Concept], ...] = ()

    @property
    def length(self) -> int:
        """How many names and roles there are."""
        return len(self.names) + sum(1 + inner.length for _, inner in self.exists)

    def type_in(self, schema: Schema) -> str | None:
        """The type of the nodes that satisfy it, as far as its names or roles tell."""
        if self.names:
            return self.names[0].node_type
        return steps_of(schema)[self.exists[0][0]][0] if self.exists else None

    def also(self, other: Concept, at: tuple[int, ...] = ()) -> Concept:
        """With another concept conjoined: here, or at the end of the restrictions that ``at`` numbers."""
        if at:
            step, inner = self.exists[at[0]]
            exists = [*self.exists[: at[0]], (step, inner.also(other, at[1:])), *self.exists[at[0] + 1 :]]
            return replace(self, exists=_ordered(exists))
        return Concept(_ordered([*self.names, *other.names]), _ordered([*self.exists, *other.exists]))


def _ordered(several: Iterable[_Part]) -> tuple[_Part, ...]:
    """Each once, in an order of their own, so that equal conjunctions are equal."""
    return tuple(sorted(dict.fromkeys(several), key=repr))


TOP = Concept()


def satisfying(places: Places, concept: Concept) -> np.ndarray:
    """(M,) bool, which nodes of all graphs satisfy a concept."""
    found = np.ones(len(places.node_type), dtype=bool)
    for name in concept.names:
        found &= named(places, [name]).toarray().ravel() > 0
    for step, inner in concept.exists:
        found &= places.arcs(step) @ satisfying(places, inner).astype(np.float32) > 0
    return found


def named(places: Places, names: list[Name]) -> csr_array:
    """(M, n) 1 where a node has a name; all names are of one type."""
    where = Around(names[0].node_type, None)
    right = places.node_type == places.schema.type_index(where.node_type)
    own = np.flatnonzero(right)
    found = csr_array((len(right), len(names)), dtype=np.float32)
    plain = [place for place, name in enumerate(names) if name.trait is None]
    traits = {place: name.trait for place, name in enumerate(names) if name.trait is not None}
    if plain:
        cells = np.repeat(own, len(plain)), np.tile(plain, len(own))
        found = found + csr_array((np.ones(len(cells[0]), np.float32), cells), shape=found.shape)
    if traits:
        which = (np.ones(len(traits), np.float32), (np.arange(len(traits)), list(traits)))
        to = csr_array(which, shape=(len(traits), len(names)))
        found = found + places.traits(where, list(traits.values())) @ to
    return csr_array(found)


def own_nodes(places: Places) -> csr_array:
    """(m, M) 1 at the node that a place is, or at all nodes of the graph, of which any may satisfy an expression."""
    return places.around(Around("", None if places.schema.task.of_graphs else 0))


def holds(places: Places, concept: Concept) -> np.ndarray:
    """(m,) bool, of which places an expression is true: of a graph if some node of it satisfies it."""
    return own_nodes(places) @ satisfying(places, concept).astype(np.float32) > 0


@dataclass(frozen=True)
class Expression:
    """Where the concept is satisfied, the class is given.

    Args:
        concept: what it says.
        precision: how likely the class is there, all classes being equally frequent, where it was found.
    """

    concept: Concept
    precision: float


@dataclass(frozen=True)
class Expressions:
    """Expressions of each class. Of those that hold the most precise one decides.

    Args:
        by_class: for each class some, in the order in which they were found.
        otherwise: the class where none holds.
    """

    by_class: tuple[tuple[Expression, ...], ...]
    otherwise: int

    def predicted(self, places: Places) -> np.ndarray:
        """(m,) the class that the expressions give."""
        none = np.zeros((len(places), 0), dtype=bool)
        held = [np.stack([holds(places, one.concept) for one in own], axis=1) if own else none for own in self.by_class]
        return decided(held, [[one.precision for one in own] for own in self.by_class], self.otherwise)


# -- words --------------------------------------------------------------------------------------------


def expression_words(concept: Concept, schema: Schema) -> str:
    """``author ⊓ ∃writes.(paper ⊓ ∃appears in.KDD)``; a name of a column stands for its type where it is alone."""
    return " ⊓ ".join(_parts(concept, schema, None if schema.task.of_graphs else schema.target))


def _parts(concept: Concept, schema: Schema, node_type: str | None) -> list[str]:
    node_type = node_type or concept.type_in(schema) or "\N{DOWN TACK}"
    names = [_name_words(name, schema) for name in concept.names if name.trait is not None]
    parts = names if names and not concept.exists else [node_type, *names]
    for step, inner in concept.exists:
        relation = next(each for each in schema.relations if each.label == step.relation)
        back = "⁻" if step.back else ""
        filler = _parts(inner, schema, steps_of(schema)[step][1])
        text = filler[0] if len(filler) == 1 else f"({' ⊓ '.join(filler)})"
        parts = [*parts, f"∃{relation.name.replace('_', ' ')}{back}.{text}"]
    return parts


def _name_words(name: Name, schema: Schema) -> str:
    spec, trait = schema.spec(name.node_type), name.trait
    if trait is None:
        return name.node_type
    column, kind, text = spec.column(trait.column), spec.kinds[trait.column], spec.column_name(trait.column)
    if spec.kind is FeatureKind.IDENTITY:
        return text
    text = text if spec.names is None else quoted(text)
    if trait.test == "missing":
        return f"{text} missing"
    if trait.test == "is":
        return text if kind in (ColumnKind.BINARY, ColumnKind.ONE_HOT) else f"{text} = {in_words(trait.value, column)}"
    if kind is ColumnKind.COUNT:
        least = round(trait.value + 0.5)
        return text if least == 1 else f"{text} ≥ {number(least)}"
    return f"{text} > {in_words(trait.value, column) if kind is ColumnKind.DATE else number(trait.value)}"
