"""The rules of selection by name. Loads nothing heavy."""

from __future__ import annotations

from typing import Literal

Selection = Literal["representative", "typical", "highest", "covering", "proposed"]
# Rules that any candidates can be chosen by, and that every run reports side by side.
SELECTIONS: tuple[Selection, ...] = ("representative", "typical", "highest")
