"""Cards: every twelve worlds in a row have every card of every deck once, and cards go together."""

from __future__ import annotations

from collections import Counter

import pytest

from dignn.core.errors import DignnError
from dignn.zoo.worlds.decks import COLUMNS_OF, DECKS, GRAPH_SHAPES, TOGETHER, hand_of


@pytest.mark.parametrize("first", [1, 13, 97, 1201])
def test_twelve_worlds_in_a_row_share_out_every_deck(first: int) -> None:
    hands = [hand_of(number) for number in range(first, first + TOGETHER)]
    for name, (cards, _) in DECKS.items():
        assert Counter(hand[name] for hand in hands) == Counter(cards)


def test_a_card_goes_with_those_before_it() -> None:
    for number in range(1, 120):
        hand = hand_of(number)
        held: dict[str, object] = {}
        for name, (_, fits) in DECKS.items():
            assert fits(hand[name], held)
            held[name] = hand[name]
        fewest, most = COLUMNS_OF[hand["table"]]
        assert fewest <= hand["columns"] <= most
        assert hand["edges"] != "one-hot" or hand["shape"] in GRAPH_SHAPES


def test_a_hand_is_the_same_every_time_and_nobody_can_change_it() -> None:
    hand = hand_of(5)
    before = dict(hand)
    hand["shape"] = "another"
    assert hand_of(5) == before


def test_other_twelves_are_dealt_otherwise() -> None:
    assert [hand_of(number) for number in range(1, 13)] != [hand_of(number) for number in range(13, 25)]


def test_worlds_are_numbered_from_1() -> None:
    with pytest.raises(DignnError, match="numbered from 1"):
        hand_of(0)
