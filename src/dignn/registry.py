"""Finding things by name: data sets, generators, explainers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from dignn.errors import DignnError
from dignn.suggestions import did_you_mean

Item = TypeVar("Item")


class Registry(Mapping[str, Item]):
    """Names to items; an unknown name raises a sentence with the nearest known one.

    Args:
        kind: what the items are, for messages: "data set", "structure generator", ...
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, Item] = {}

    def add(self, name: str, item: Item) -> Item:
        """Makes an item known under a name that no other has, and returns it."""
        if name in self._items:
            raise DignnError(f"There is already a {self.kind} called '{name}'; choose another name")
        self._items[name] = item
        return item

    def register(self, name: str) -> Callable[[Item], Item]:
        """A decorator that adds what it decorates."""
        return lambda item: self.add(name, item)

    def __getitem__(self, name: str) -> Item:
        if name in self._items:
            return self._items[name]
        guess = did_you_mean(name, self._items)
        raise DignnError(f"There is no {self.kind} called '{name}'{guess}; choose from {', '.join(self._items)}")

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)
