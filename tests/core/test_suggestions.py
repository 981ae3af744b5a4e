"""The right word for a wrong one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.suggestions import closest, did_you_mean

CLASSES = ["Database", "Data Mining", "Artificial Intelligence"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("Databse", "Database"),
        ("data mining", "Data Mining"),
        ("ARTIFICIAL INTELIGENCE", "Artificial Intelligence"),
        ("zebra", None),
        ("", None),
    ],
)
def test_the_choice_that_was_meant(word: str, meant: str | None) -> None:
    assert closest(word, CLASSES) == meant
    assert did_you_mean(word, CLASSES) == ("" if meant is None else f" (did you mean '{meant}'?)")


@given(st.lists(st.text(min_size=1)), st.text())
def test_a_suggestion_is_always_a_choice_and_a_choice_suggests_itself(choices: list[str], word: str) -> None:
    assert closest(word, choices) in (None, *choices)
    for choice in choices:
        found = closest(choice, choices)
        assert found is not None
        assert found.lower() == choice.lower()
