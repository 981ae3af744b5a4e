"""What a known model is said to go by, judged by its rule: do terms look at its clues, and are all of them named?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dignn.core.checks import instance
from dignn.goes_by.phrases import phrase
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.term_keys import TermKey, key_of, predicate_from, step_name
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around, Step, steps_of, ways_of
from dignn.graphs.schema import Schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.known.clues import Clue
from dignn.zoo.known.known_model import HOLDS, KnownModel
from dignn.zoo.known.rules import Above
from dignn.zoo.known.walks import walk_data

# How far a threshold may lie from that of the rule, in standard deviations of what the rule compares.
_WITHIN = 0.25
# The share of a group's columns that the rule must use, more than this.
_MOST = 0.5
# By how much numbers may differ that are the same.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class TermScore:
    """How well terms tell what a known model goes by.

    Args:
        term_precision: share of the terms that look at what the rule compares; 0 where nothing is said.
        term_recall: share of the clues of the rule's comparisons that some term names.
        decoys_named: share of the model's decoys that some term looks at.
        terms: how many were judged.
        by_rules: whether they are those of rules, which say what adding cannot.
        wrong: those that look at nothing the rule compares, in words.
        unnamed: clues that no term names.
    """

    term_precision: float
    term_recall: float
    decoys_named: float
    terms: int
    by_rules: bool
    wrong: tuple[str, ...]
    unnamed: tuple[str, ...]


@dataclass(frozen=True)
class _Wanted:
    """A comparison of the rule.

    Args:
        above: the comparison.
        sign: whether more speaks for the rule, against it (-1) or either way (0).
        near: how far a threshold may lie from its bound.
    """

    above: Above
    sign: int
    near: float


@dataclass(frozen=True)
class _Said:
    """A term: a predicate, whether much of it speaks for the class "rule holds" (1) or against it (-1)."""

    predicate: Predicate
    sign: int


def score_terms(
    model: KnownModel,
    dataset: Dataset,
    goes_by: Mapping[str, Sequence[Mapping[str, Any]]],
    studied: Mapping[str, Any] | None = None,
) -> TermScore:
    """Judges what is said that a known model goes by.

    A term names a clue where node type, relations, distance, column and sign agree and its threshold lies within a
    quarter of a standard deviation of the rule's. Where rules agree with the model better than scorecards, beyond both
    intervals, or no term is left that is no decoy, the predicates of rules are judged instead.

    Args:
        model: the known model.
        dataset: its data, as :meth:`KnownModel.dataset` gives it.
        goes_by: for each class its terms, as ``explanations.json`` holds them; those marked as decoys do not count.
        studied: fidelity and rules, as they stand there.

    Raises:
        DignnError: a term is no predicate.
    """
    instance("model", model, KnownModel, "a KnownModel")
    instance("dataset", dataset, Dataset, "the data of that model")
    schema = dataset.schema
    said = _of_scorecards(goes_by)
    by_rules = studied is not None and (not said or _rules_say_more(studied))
    if by_rules and studied is not None:
        said = _of_rules(studied.get("rule_list", {}))
    wanted = _wanted(model, dataset)
    named = [[_names(one, each, schema) for each in wanted] for one in said]
    found = {(place, clue) for line in named for place, clues in enumerate(line) for clue in clues}
    all_of = [(place, clue) for place, each in enumerate(wanted) for clue in each.above.what]
    right = [any(line) for line in named]
    looked = [any(_looks_near(one.predicate, decoy, schema) for one in said) for decoy in model.decoys]
    return TermScore(
        term_precision=sum(right) / len(right) if right else 0.0,
        term_recall=sum(each in found for each in all_of) / len(all_of),
        decoys_named=sum(looked) / len(looked),
        terms=len(said),
        by_rules=by_rules,
        wrong=tuple(phrase(one.predicate, schema) for one, good in zip(said, right, strict=True) if not good),
        unnamed=tuple(dict.fromkeys(_words(clue) for place, clue in all_of if (place, clue) not in found)),
    )


# -- what is said -------------------------------------------------------------------------------------


def _of_scorecards(goes_by: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[_Said]:
    return [
        _said(term["predicate"], name, 1 if term["points"] > 0 else -1)
        for name, terms in goes_by.items()
        for term in terms
        if not term["decoy"]
    ]


def _of_rules(rule_list: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[_Said]:
    """All predicates of all rules; each of them speaks for the class of its rule."""
    return [
        _said(content, name, 1) for name, rules in rule_list.items() for rule in rules for content in rule["predicates"]
    ]


def _said(content: Any, class_name: str, sign: int) -> _Said:
    predicate = predicate_from(content)
    return _Said(predicate, sign * (1 if predicate.holds else -1) * (1 if class_name == HOLDS else -1))


def _rules_say_more(studied: Mapping[str, Any]) -> bool:
    """Whether rules agree with the model better than scorecards, beyond both intervals."""
    return bool(studied["rules"]["interval"][0] > studied["scorecard"]["interval"][1])


# -- what is wanted -----------------------------------------------------------------------------------


def _wanted(model: KnownModel, dataset: Dataset) -> list[_Wanted]:
    """All comparisons of a rule; deviations are those of what is compared, over everything that is classified."""
    walkable = walk_data(dataset.data, dataset.schema)
    things = range(len(dataset.data[str(dataset.schema.target)].y))  # type: ignore[call-overload]  # one graph
    found = []
    for above, sign in model.rule.compared:
        amounts = [sum(walkable.amount(thing, clue) for clue in above.what) for thing in things]
        found.append(_Wanted(above, sign, _WITHIN * float(np.std(amounts)) + _ROUNDING))
    return found


def _words(clue: Clue) -> str:
    way = [step[1].replace("_", " ") for step in clue.path]
    end = [] if clue.column is None else [clue.column]
    return ", ".join([*way, *end, *(["and back"] if clue.closed else [])])


# -- does a term name it ------------------------------------------------------------------------------


def _names(said: _Said, wanted: _Wanted, schema: Schema) -> tuple[Clue, ...]:
    """The clues of a comparison that a term names.

    Of several columns the rule must use most. A comparison of several clues is named by some of them as well, if the
    threshold is their share of the rule's.
    """
    if wanted.sign not in (0, said.sign):
        return ()
    key, threshold = _key(said.predicate, schema), _threshold(said.predicate)
    clues = tuple(clue for clue in wanted.above.what if _is_about(key, clue, schema))
    if not clues or threshold is None:
        return ()
    if key.about == "column" and len(clues) <= _MOST * len(key.columns):
        return ()
    scaled = threshold * len(wanted.above.what) / len(clues)
    return clues if abs(scaled - wanted.above.bound) <= wanted.near else ()


def _threshold(predicate: Predicate) -> float | None:
    """With what a term compares what a clue counts; None where it compares something else.

    Of the classified node's own column that is its value, of anything else how many there are.
    """
    quantity = predicate.quantity
    if not isinstance(quantity, Count):
        return predicate.above  # of cycles; means are about no clue
    held = [trait for trait in quantity.traits if isinstance(trait, Holds)]
    own = isinstance(quantity.where, Around) and quantity.where.own
    if own and len(held) == 1 and held[0].test == "above":
        return held[0].value
    flags = all(trait == Holds(trait.column) or trait == Holds(trait.column, "above", 0.5) for trait in held)
    return predicate.above if flags else None


def _is_about(key: TermKey, clue: Clue, schema: Schema) -> bool:
    """Whether a term looks at what a clue counts, and nothing else that the schema has."""
    if clue.closed:
        types = _ring_types(clue, schema)
        stated = key.columns or _only_ring(str(schema.target), len(clue.path), schema)
        return key.about == "cycle" and (key.distance, key.value) == (0, len(clue.path)) and stated == types
    if key.about != ("nodes" if clue.column is None else "column"):
        return False
    if clue.column is not None and clue.column not in key.columns:
        return False
    return key.node_type == _end(clue, schema) and key.path == _path(clue, schema)


def _looks_near(predicate: Predicate, decoy: Clue, schema: Schema) -> bool:
    """Whether a term looks at a decoy in any way: at its column, or at nodes that can be reached along its path."""
    key = _key(predicate, schema)
    if key.node_type != _end(decoy, schema) or key.distance != len(decoy.path):
        return False
    if decoy.column is not None and decoy.column not in key.columns:
        return False
    return key.path in (_path(decoy, schema), ())


def _key(predicate: Predicate, schema: Schema) -> TermKey:
    """The key of a predicate, with the path where there is only one, and without neighbours' neighbours.

    "A paper next to it has a neighbour by cites" is about nodes two steps away.
    """
    key = key_of(predicate, schema)
    if key.distance and not key.path and key.node_type is not None:
        ways = ways_of(schema, str(schema.target), key.distance).get(key.node_type, [])
        key = replace(key, path=tuple(map(step_name, ways[0]))) if len(ways) == 1 else key
    if key.about == "neighbours" and key.by is not None and (key.value, key.count) == (1, 1) and key.path:
        end = next(to for step, (_, to) in steps_of(schema).items() if step_name(step) == key.by)
        path = (*key.path, key.by)
        key = replace(key, about="nodes", node_type=end, path=path, distance=len(path), value=None, by=None)
    return key


def _end(clue: Clue, schema: Schema) -> str:
    return clue.path[-1][2] if clue.path else str(schema.target)


def _path(clue: Clue, schema: Schema) -> tuple[str, ...]:
    return tuple(step_name(step) for step in _steps(clue, schema))


def _steps(clue: Clue, schema: Schema) -> Iterator[Step]:
    for edge_type in clue.path:
        relation = next(each for each in schema.relations if edge_type in (each.edge_type, each.reverse_edge_type))
        yield Step(relation.label, back=edge_type != relation.edge_type)


def _ring_types(clue: Clue, schema: Schema) -> tuple[str, ...]:
    """The types on a closed walk, in the order of the schema."""
    return tuple(sorted((step[2] for step in clue.path), key=schema.type_index))


def _only_ring(start: str, length: int, schema: Schema) -> tuple[str, ...] | None:
    """The types on all closed walks of a length, where all have the same."""
    steps = steps_of(schema)
    kinds = {
        tuple(sorted((steps[step][1] for step in path), key=schema.type_index))
        for path in ways_of(schema, start, length).get(start, [])
    }
    return kinds.pop() if len(kinds) == 1 else None
