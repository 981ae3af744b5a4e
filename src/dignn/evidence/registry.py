"""What can mark an explanation beside its own evidence, by name. Loads nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from dignn.core.checks import names
from dignn.core.errors import DignnError
from dignn.core.registry import Registry

# Functions as dignn.evidence.markers has them: of a module and whether edges are masked, to an explainer of
# torch_geometric.explain.
MARKED_BY: Registry[Any] = Registry("marker", dict.fromkeys(("gnnexplainer", "captum"), "dignn.evidence.markers"))
# Packages that a marker needs and dignn does not bring along; the extra that brings one has its name.
_NEEDED = {"captum": "captum"}


def check_markers(chosen: Iterable[str]) -> tuple[str, ...]:
    """The names, each once.

    Raises:
        DignnError: they are no names, there is no such marker, or it needs a package that is not installed.
    """
    several = tuple(dict.fromkeys(names("marks", chosen)))
    for name in several:
        MARKED_BY.check(name)
        if not available(name):
            raise DignnError(
                f"The marker '{name}' needs the package {_NEEDED[name]}, which is not installed; "
                f"pip install dignnexplainer[{_NEEDED[name]}], or leave it out"
            )
    return several


def available(name: str) -> bool:
    """Whether everything that a marker needs is installed."""
    return name not in _NEEDED or find_spec(_NEEDED[name]) is not None
