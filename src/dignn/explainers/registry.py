"""Explainers by name: a module of ``methods`` each, which is imported when its explainer is asked for.

Names, and settings that have a file of their own, can be read without loading anything heavy.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from dignn.core.registry import Registry
from dignn.explainers import methods
from dignn.explainers.settings import RunSettings

if TYPE_CHECKING:
    from dignn.explainers.base import Explainer


_FOUND = {
    found.name.rpartition(".")[2].replace("_", "-"): found
    for found in iter_modules(methods.__path__, f"{methods.__name__}.")
}
# A method that is a folder has its class in ``explainer`` and its presets in ``settings``, to be read quickly.
EXPLAINERS: Registry[type[Explainer]] = Registry(
    "explainer", {name: f"{found.name}.explainer" if found.ispkg else found.name for name, found in _FOUND.items()}
)


def presets_of(name: str) -> Mapping[str, RunSettings]:
    """The presets of an explainer; ``fast`` has the defaults of all its settings.

    Raises:
        DignnError: there is no explainer of this name.
    """
    if name in _FOUND and _FOUND[name].ispkg:
        return import_module(f"{_FOUND[name].name}.settings").PRESETS
    return EXPLAINERS[name].presets
