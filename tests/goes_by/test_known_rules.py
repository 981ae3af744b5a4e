"""Models whose rule is known, on real graphs with decoys: rules found on some graphs name it, and hold on others."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.goes_by.fidelity import fidelity
from dignn.goes_by.finding import find
from dignn.goes_by.phrases import words_of
from dignn.model.adapter import GNNAdapter
from dignn.sampling.division import divide
from dignn.zoo.known.registry import KNOWN_MODELS


@dataclass(frozen=True)
class Few:
    sizes: tuple[int, ...]
    subgraphs_per_size: int = 150


WORDS = {
    "direction": {"a paper next to it (by writes) has a neighbour by cites towards it"},
    "present-and-absent": {
        "a paper next to it carries “theory” and no paper next to it (by reviews) carries “theory”",
        "a paper next to it (by writes) carries “theory” and no paper next to it (by reviews) carries “theory”",
    },
    "exclusive": {"it lacks “neural” and it has “query”", "it has “neural” and it lacks “query”"},
}


@pytest.mark.parametrize("name", WORDS)
def test_the_rule_is_named(name: str) -> None:
    known = KNOWN_MODELS[name]
    data = known.dataset(0)
    with single_thread():
        real = divide(data.data, data.schema, Few(data.sizes), Seed(0))
        real.sample()
        adapter = GNNAdapter(known.model(data.schema), data.schema)
        found = find(real.train, adapter.score(real.train), Seed(0))
        told = fidelity(found, real.held_out, adapter.score(real.held_out), Seed(0))
    assert told.rules.value > 0.98
    said = {words_of(rule.predicates, data.schema) for rule in found.rules.by_class[1]}
    assert said <= {" and ".join(parts) for words in WORDS[name] for parts in _orders(words.split(" and "))}
    assert said


def _orders(parts: list[str]) -> list[list[str]]:
    return [parts, parts[::-1]]
