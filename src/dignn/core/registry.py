"""Finding things by name: data sets, generators, explainers, presets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

from dignn.core.errors import DignnError, UnknownNameError
from dignn.core.suggestions import not_known

Item = TypeVar("Item")


def import_modules(package: ModuleType) -> None:
    """Imports every module of a folder, which add to a registry what they define."""
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        import_module(module.name)


class Registry(Mapping[str, Item]):
    """Names to items; an unknown name raises a sentence with the nearest known one.

    Args:
        kind: what the items are, for messages: "data set", "structure generator", ...
        modules: by name, the module that adds the item when it is imported, which happens when the item is asked for;
            so names can be read without loading what they stand for.
    """

    def __init__(self, kind: str, modules: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self._modules = dict(modules or {})
        self._items: dict[str, Item] = {}

    def add(self, name: str, item: Item) -> Item:
        """Makes an item known under a name that no other has, and returns it; a class knows its name as ``name``."""
        if name in self._items:
            raise DignnError(f"There is already a {self.kind} called '{name}'; choose another name")
        if isinstance(item, type):
            item.name = name  # type: ignore[attr-defined]
        self._items[name] = item
        return item

    def register(self, name: str) -> Callable[[Item], Item]:
        """A decorator that adds what it decorates."""
        return lambda item: self.add(name, item)

    def check(self, name: str) -> None:
        """Raises for a name that is not known; loads nothing."""
        if not isinstance(name, str):
            raise UnknownNameError(f"{name!r} is no name of a {self.kind}; choose from {', '.join(self)}")
        if name not in self:
            raise UnknownNameError(not_known(self.kind, name, self))

    def __getitem__(self, name: str) -> Item:
        self.check(name)
        if name not in self._items:
            import_module(self._modules[name])
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        return name in self._items or name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._modules, *self._items]))

    def __len__(self) -> int:
        return len(self._modules.keys() | self._items.keys())
