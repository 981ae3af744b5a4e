"""What stands beside scorecards and rules: decision trees on the same predicates, and class expressions of EL.

All are found on the same places of the same graphs, and tested on the same others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from sklearn.tree import DecisionTreeClassifier

from dignn.core.seeds import Seed
from dignn.goes_by.agreement import ahead, balanced_agreement, things_of
from dignn.goes_by.class_expressions import Expressions, expression_words
from dignn.goes_by.expression_search import find_expressions
from dignn.goes_by.finding import STUDIED_PLACES, GoesBy
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import truth
from dignn.goes_by.scorecards import MOST_TERMS
from dignn.goes_by.screening import screened
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.schema import Schema
from dignn.model.scores import Scores

# Leaves of trees beside those of one with as many as scorecards may have terms, and expressions of a class.
FEW_LEAVES, MANY_LEAVES = 8, 64
EXPRESSIONS = (1, 3)


@dataclass(frozen=True, eq=False)
class Rival:
    """What somebody else makes of a model.

    Args:
        given: (m,) classes that it gives on test places.
        size: how many leaves it has, or expressions of all classes.
        cpu_seconds: it took to find it; what is found together took it together.
        words: by class, its expressions; None for a tree.
    """

    given: np.ndarray
    size: int
    cpu_seconds: float
    words: dict[str, list[str]] | None = None


def beside(
    found: GoesBy, study: tuple[GraphBatch, Scores], test: tuple[GraphBatch, Scores], seed: Seed
) -> dict[str, dict[str, Any]]:
    """By rival, its agreement and by how much scorecards and rules are ahead of it, on the same places.

    Args:
        found: scorecards and rules.
        study: graphs that they were found on, and what the model says of them.
        test: others.
        seed: of the draws for intervals.
    """
    scores = study[1][torch.tensor(spread(len(study[1]), STUDIED_PLACES), dtype=torch.long)]
    answers, number = scores.predicted.numpy(), scores.logits.size(1)
    places, others = Places.of(study[0], scores), Places.of(*test)
    said, thing = test[1].predicted.numpy(), things_of(*test)
    card, rules = found.scorecards.scores(others).argmax(1), found.rules.predicted(others)
    rivals = [*_trees(places, answers, number, others), *_expressions(places, answers, number, others)]
    draws = seed.child("fidelity")
    return {
        name: {
            "size": rival.size,
            "cpu_seconds": round(rival.cpu_seconds, 2),
            "agreement": asdict(balanced_agreement(said, rival.given, thing, number, draws)),
            "scorecard_ahead": asdict(ahead(said, card, rival.given, thing, number, draws)),
            "rules_ahead": asdict(ahead(said, rules, rival.given, thing, number, draws)),
            **({} if rival.words is None else {"words": rival.words}),
        }
        for name, rival in rivals
    }


def _trees(places: Places, answers: np.ndarray, number: int, others: Places) -> Iterator[tuple[str, Rival]]:
    begin = time.process_time()
    known = screened(places, answers, number)
    screening = time.process_time() - begin
    true = truth(others, known.predicates)
    for name, leaves in (
        ("tree", MOST_TERMS * number),
        (f"tree_{FEW_LEAVES}", FEW_LEAVES),
        (f"tree_{MANY_LEAVES}", MANY_LEAVES),
    ):
        begin = time.process_time()
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, class_weight="balanced", random_state=0)
        tree.fit(known.true, answers)
        taken = screening + time.process_time() - begin
        yield name, Rival(tree.predict(true), int(tree.get_n_leaves()), taken)


def _expressions(places: Places, answers: np.ndarray, number: int, others: Places) -> Iterator[tuple[str, Rival]]:
    for vocabulary in ("types", "features"):
        begin = time.process_time()
        found = find_expressions(places, answers, number, EXPRESSIONS, features=vocabulary == "features")
        taken = time.process_time() - begin
        for most, several in zip(EXPRESSIONS, found, strict=True):
            size = sum(len(own) for own in several.by_class)
            words = _words(several, places.schema)
            yield f"{vocabulary}_{most}", Rival(several.predicted(others), size, taken, words)


def _words(found: Expressions, schema: Schema) -> dict[str, list[str]]:
    return {
        name: [expression_words(one.concept, schema) for one in own]
        for name, own in zip(schema.classes, found.by_class, strict=True)
    }
