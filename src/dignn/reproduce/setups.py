"""What a run is of, apart from its seed and preset: data set, explainer, model, feature columns, settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dignn.zoo.datasets.column_counts import By
from dignn.zoo.models.settings import Form


@dataclass(frozen=True)
class Setup:
    """What a run is of. Two that are equal are one run, which serves all tables that want it.

    Args:
        dataset: by name.
        explainer: by name.
        form: of the model.
        columns: feature columns that are kept, ``TYPE=NUMBER``, in any order; all without any.
        by: how they are chosen.
        changes: settings that differ from those of the preset, by name, dots between those of groups.
    """

    dataset: str
    explainer: str = "dignnexplainer"
    form: Form = "strong"
    columns: tuple[str, ...] = ()
    by: By = "variance"
    changes: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(sorted(self.columns)))

    @property
    def name(self) -> str:
        """For people, and for folders."""
        by = [f"by-{self.by}"] if self.columns and self.by != "variance" else []
        changed = [f"{name}={_text(value)}" for name, value in self.changes]
        return "-".join([self.dataset, self.explainer, self.form, *self.columns, *by, *changed])

    def as_json(self) -> dict[str, Any]:
        """For a line of a finished run; what is usual is left out."""
        found: dict[str, Any] = {"dataset": self.dataset, "explainer": self.explainer, "form": self.form}
        if self.columns:
            found |= {"columns": list(self.columns), "by": self.by}
        return found | ({"changes": dict(self.changes)} if self.changes else {})

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Setup:
        """What :meth:`as_json` tells of."""
        changes = tuple((name, _hashable(value)) for name, value in found.get("changes", {}).items())
        columns = tuple(found.get("columns", ()))
        return cls(found["dataset"], found["explainer"], found["form"], columns, found.get("by", "variance"), changes)


def _text(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, Iterable) and not isinstance(value, str) else value
