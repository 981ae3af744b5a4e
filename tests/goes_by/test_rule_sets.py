"""Rules: what is worth the same is not told apart by rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.rule_sets import find_rules
from dignn.goes_by.screening import Screened, screened
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around
from goes_by.answered import WORDS, additive, answered

FIRST, OPPOSITE = (Predicate(Count(Around("author"), (Holds(column),))) for column in range(2))


@pytest.mark.parametrize("seed", range(20))
def test_of_what_divides_places_in_the_same_way_the_first_is_told(seed: int) -> None:
    """Sums of 32-bit numbers over the places and over all others differ a little, whatever is true of them."""
    places = Places.of(*answered(additive, count=3000))
    rng = np.random.default_rng(seed)
    true = rng.random(3000) < 0.4
    answers = np.where(rng.random(3000) < 0.8, ~true, rng.integers(0, 3, 3000)).astype(int)
    known = Screened([FIRST, OPPOSITE], np.stack([true, ~true], axis=1), np.ones((3, 2)), places)
    used = {
        replace(each, holds=True)
        for own in find_rules(known, answers, 3).by_class
        for rule in own
        for each in rule.predicates
    }
    assert used == {FIRST}


def test_a_predicate_is_not_kept_beside_its_negation() -> None:
    batch, scores = answered(additive)
    query, remote = WORDS.index("query"), WORDS.index("remote")
    batch.tables["author"][:, remote] = 1 - batch.tables["author"][:, query]
    known = screened(Places.of(batch, scores), scores.predicted.numpy(), 2)
    own = [Predicate(Count(Around("author"), (Holds(column),))) for column in (query, remote)]
    assert own[0] in known.predicates
    assert own[1] not in known.predicates
    told = {tuple(np.packbits(column ^ column[0])) for column in known.true.T}
    assert len(told) == len(known.predicates)
