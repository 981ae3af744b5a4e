"""Settings of a run beside presets: from which one it started, and which settings are others than there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from dignn.core.errors import DignnError
from dignn.core.suggestions import not_known

Settings = TypeVar("Settings")
# Where no other preset is named.
DEFAULT_PRESET = "fast"


def preset_named(name: str, presets: Mapping[str, Settings], of: str = "") -> Settings:
    """The settings that a preset stands for.

    Args:
        name: of the preset.
        presets: those that there are.
        of: what they are of, for the message.

    Raises:
        DignnError: there is none of this name.
    """
    if name not in presets:
        raise DignnError(not_known(f"preset of {of}" if of else "preset", name, presets))
    return presets[name]


def from_preset(settings: Any, presets: Mapping[str, Any], named: Any = None) -> dict[str, Any] | None:
    """What a run notes, so that it can be told how to make it again where its explainer is not known.

    Args:
        settings: of the run, as JSON.
        presets: of its explainer, names to instances of its dataclass of settings.
        named: the preset that the run names; None to take the one from which fewest settings differ.

    Returns:
        ``name`` of the preset and ``changed``, the names of settings with other values (``training.steps``); None where
        presets have other settings.
    """
    own = dict(leaves(settings)) if isinstance(settings, Mapping) else {}
    found = {}
    for name in sorted(presets, key=lambda name: name != DEFAULT_PRESET):
        usual = dict(leaves(asdict(presets[name])))
        if usual.keys() == own.keys() and named in (None, name):
            found[name] = [path for path, value in own.items() if value != usual[path]]
    nearest = min(found, key=lambda name: len(found[name]), default=None)
    return None if nearest is None else {"name": nearest, "changed": found[nearest]}


def leaves(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every single setting with its name, dots between those of groups; several values as JSON has them."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", list(value) if isinstance(value, tuple) else value
