"""The rules of selection by name. Loads nothing heavy."""

from __future__ import annotations

from typing import Literal, get_args

Selection = Literal["representative", "typical", "highest"]
SELECTIONS: tuple[Selection, ...] = get_args(Selection)
