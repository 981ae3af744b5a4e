"""Settings beside presets: the one that a run started from, and what it changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import pytest

from dignn.core.errors import DignnError
from dignn.core.presets import from_preset, preset_named


@dataclass(frozen=True)
class Inner:
    steps: int = 3
    sizes: tuple[int, ...] = (1, 2)


@dataclass(frozen=True)
class Outer:
    width: int = 4
    inner: Inner = field(default_factory=Inner)


PRESETS = {"wide": Outer(width=64), "fast": Outer(), "long": Outer(inner=Inner(steps=9))}


def test_the_nearest_preset_and_what_differs_by_name() -> None:
    assert from_preset(asdict(PRESETS["wide"]), PRESETS) == {"name": "wide", "changed": []}
    changed = replace(PRESETS["long"], inner=Inner(steps=9, sizes=(5,)))
    assert from_preset(asdict(changed), PRESETS) == {"name": "long", "changed": ["inner.sizes"]}
    assert from_preset(asdict(changed), PRESETS, "fast") == {"name": "fast", "changed": ["inner.steps", "inner.sizes"]}
    equally_far = Outer(width=5)
    assert from_preset(asdict(equally_far), PRESETS) == {"name": "fast", "changed": ["width"]}


@pytest.mark.parametrize(
    ("settings", "named"), [(None, None), ({"width": 4}, None), (asdict(Outer()), "none such"), (asdict(Outer()), [])]
)
def test_settings_of_others_are_of_no_preset(settings: object, named: object) -> None:
    assert from_preset(settings, PRESETS, named) is None


def test_a_preset_by_name() -> None:
    assert preset_named("long", PRESETS) is PRESETS["long"]
    with pytest.raises(DignnError, match=r"no preset called 'lon' \(did you mean 'long'\?\); choose from wide, fast"):
        preset_named("lon", PRESETS)
