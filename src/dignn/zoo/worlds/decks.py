"""Which properties a world has: twelve worlds in a row share out decks of twelve cards, each world one of every deck.

So all properties occur among any such twelve worlds, in combinations that the number of the twelve decides. A card goes
to a world only where it goes with the cards that the world holds already (a graph to be classified has no target type
that is rare).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed

# Worlds that are dealt together.
TOGETHER = 12
# How often cards are shuffled anew where the last decks cannot be dealt.
SHUFFLES = 200

ONE_TYPE_SHAPES = ("tree", "communities", "hubs", "citations", "islands")
SEVERAL_TYPES_SHAPES = ("bipartite", "parallel relations", "twenty types", "rare target", "citing type")
GRAPH_SHAPES = ("small graphs", "large graphs")
WORD_TABLES = ("TF-IDF", "words of sum 1", "sums of words")

Hand = dict[str, Any]
Fits = Callable[[Any, Mapping[str, Any]], bool]

# Fewest and most columns of each kind of table.
COLUMNS_OF = {
    "binary": (6, 1500),
    "count": (6, 400),
    "one-hot": (10, 128),
    "codes": (1, 16),
    "continuous": (1, 64),
    "TF-IDF": (400, 5000),
    "words of sum 1": (128, 5000),
    "sums of words": (64, 1500),
    "heavy-tailed": (1, 24),
    "unit embeddings": (16, 400),
    "mixed": (16, 64),
    "missing": (3, 64),
}


def _any(card: Any, hand: Mapping[str, Any]) -> bool:
    return True


def _table(card: str, hand: Mapping[str, Any]) -> bool:
    """A rare target has too few rows for many columns; graphs and twenty types have wide tables many times over."""
    if hand["shape"] == "rare target":
        return card in ("binary", "count", "one-hot", "codes", "continuous", "heavy-tailed")
    return hand["shape"] not in (*GRAPH_SHAPES, "twenty types") or card != "TF-IDF"


def _columns(card: int, hand: Mapping[str, Any]) -> bool:
    fewest, most = COLUMNS_OF[hand["table"]]
    few = hand["shape"] in ("rare target", *GRAPH_SHAPES)
    return fewest <= card <= (min(most, 128) if few else most)


def _classes(card: int, hand: Mapping[str, Any]) -> bool:
    """As many as the columns can tell apart, and the targets can be examples of."""
    most = 3 if hand["shape"] == "rare target" else 6 if hand["shape"] in GRAPH_SHAPES else 60
    if hand["shape"] in ("twenty types", "islands"):
        most = 12
    told = 3 if hand["columns"] < 3 else hand["columns"]
    return card <= min(most, told if hand["table"] in WORD_TABLES or hand["columns"] >= 64 else min(told, 12))


def _imbalance(card: int, hand: Mapping[str, Any]) -> bool:
    if hand["shape"] == "rare target" or hand["classes"] > 12:
        return card <= 2
    if hand["shape"] in GRAPH_SHAPES:
        return card <= 10
    return card < 20 or (3 <= hand["classes"] <= 12 and (card < 200 or hand["classes"] >= 4))


def _labelled(card: float, hand: Mapping[str, Any]) -> bool:
    few = hand["shape"] in (*GRAPH_SHAPES, "rare target", "twenty types")
    return card == 1 or (not few and hand["classes"] <= 8 and hand["imbalance"] <= 5)


def _clue(card: str, hand: Mapping[str, Any]) -> bool:
    if card == "unlike neighbours":
        return hand["shape"] in ("tree", "hubs", "citations") and hand["classes"] <= 12
    if card == "two steps away":
        return hand["shape"] in SEVERAL_TYPES_SHAPES[1:] and hand["classes"] <= 12 and hand["table"] != "sums of words"
    if card == "neighbours":
        return hand["shape"] not in GRAPH_SHAPES and hand["table"] not in ("sums of words", "missing")
    return True


def _edges(card: str, hand: Mapping[str, Any]) -> bool:
    if card == "weight":
        return hand["shape"] in ("tree", "communities", "hubs", "islands")
    if card == "one-hot":
        return hand["shape"] in GRAPH_SHAPES
    if card == "several":
        return hand["shape"] in ("bipartite", "citing type")
    if card == "continuous":
        return hand["shape"] in (*ONE_TYPE_SHAPES, *GRAPH_SHAPES)
    return True


def _isolated(card: float, hand: Mapping[str, Any]) -> bool:
    return card == 0 or hand["shape"] not in (*GRAPH_SHAPES, "rare target", "tree")


# In the order in which they are dealt: each deck's twelve cards, and which of them go with which hand.
DECKS: dict[str, tuple[tuple[Any, ...], Fits]] = {
    "shape": ((*ONE_TYPE_SHAPES, *SEVERAL_TYPES_SHAPES, *GRAPH_SHAPES), _any),
    "table": (tuple(COLUMNS_OF), _table),
    "columns": ((1, 3, 6, 10, 16, 20, 32, 64, 128, 400, 1500, 5000), _columns),
    "classes": ((2, 2, 2, 3, 3, 3, 4, 5, 6, 8, 20, 60), _classes),
    "imbalance": ((1, 1, 1, 1, 2, 2, 2, 3, 5, 10, 50, 200), _imbalance),
    "labelled": ((1.0,) * 9 + (0.3, 0.1, 0.05), _labelled),
    "clue": (("own rows",) * 6 + ("neighbours",) * 2 + ("unlike neighbours",) * 2 + ("two steps away",) * 2, _clue),
    "edges": (("none",) * 7 + ("weight", "one-hot", "several", "continuous", "continuous"), _edges),
    "isolated": ((0.0,) * 10 + (0.03, 0.08), _isolated),
}


def hand_of(number: int) -> Hand:
    """The cards of a world, by deck.

    Args:
        number: of the world, from 1.

    Raises:
        DignnError: the number is below 1.
    """
    if number < 1:
        raise DignnError(f"There is no world {number}; worlds are numbered from 1")
    together, place = divmod(number - 1, TOGETHER)
    return dict(_dealt(together)[place])


@lru_cache(maxsize=8)
def _dealt(together: int) -> tuple[Hand, ...]:
    """The hands of twelve worlds in a row."""
    for shuffle in range(SHUFFLES):
        hands: list[Hand] = [{} for _ in range(TOGETHER)]
        root = Seed(together).child("worlds", shuffle)
        if all(_deal(hands, name, root.child(name)) for name in DECKS):
            return tuple(hands)
    raise DignnError(f"The cards of worlds {TOGETHER * together + 1} and on cannot be dealt; loosen what goes together")


def _deal(hands: list[Hand], name: str, seed: Seed) -> bool:
    """Gives every hand a card of a deck at random; False where there is no way that all cards fit."""
    cards, fits = DECKS[name]
    wrong = np.array([[not fits(card, hand) for card in cards] for hand in hands])
    _, chosen = linear_sum_assignment(seed.numpy().random(wrong.shape) + TOGETHER * wrong)
    if wrong[np.arange(TOGETHER), chosen].any():
        return False
    for hand, card in zip(hands, chosen.tolist(), strict=True):
        hand[name] = cards[card]
    return True
