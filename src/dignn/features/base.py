"""What every feature generator is, and their registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from dignn.config import Config
from dignn.errors import DignnError
from dignn.features.table import Table, draw_line
from dignn.registry import Registry
from dignn.runtime.progress import Tick, silent
from dignn.runtime.seeds import Seed
from dignn.runtime.threads import single_thread
from dignn.schema import FeatureKind, FeatureSpec

# A class needs so many rows to learn from; with fewer, its own rows are repeated.
LEAST_ROWS = 20
GENERATED_KINDS = frozenset(FeatureKind) - {FeatureKind.NONE}


class FeatureGenerator(ABC):
    """Learns to generate feature rows of one node type, given the class around a node.

    The condition of a node is a distribution over classes: one-hot for a target node, the mean class of the target
    nodes around for any other, all zero where no target node is near. A row is generated for one class, drawn from
    the condition, or for none with what the condition lacks to 1. A class with fewer than 20 rows is not learned: its
    own rows are drawn instead, and ``report`` says so; a class without any rows is generated like a node without a
    class.

    To add a method, write ``_fit`` and ``_sample``, and ``_state`` and ``_restore`` so that what was learned can be
    kept in a file; register the class by a name.

    Attributes:
        kinds: kinds of features that it can learn.
        learns: whether it needs rows enough to learn from.
        report: what learning and sampling found, as JSON takes it.
    """

    name: ClassVar[str]
    kinds: ClassVar[frozenset[FeatureKind]] = GENERATED_KINDS
    learns: ClassVar[bool] = True

    def __init__(self) -> None:
        self.report: dict[str, Any] = {}
        self._classes = -1  # before fit
        self._learned = False  # whether any line is learned
        self._few: Table | None = None  # rows of classes with too few of them
        self._few_lines: tuple[int, ...] = ()
        self._absent: tuple[int, ...] = ()  # classes without rows

    @classmethod
    def build(cls, config: Config) -> Self:
        """A generator with the settings that ``config`` has for it."""
        return cls()

    @property
    def classes(self) -> int:
        """Classes that it tells apart; 0 where it learned without any."""
        return self._classes

    def fit(
        self,
        rows: Tensor,
        condition: Tensor,
        spec: FeatureSpec,
        *,
        weight: Tensor | None = None,
        seed: Seed,
        tick: Tick = silent,
    ) -> Self:
        """Learns and returns itself.

        Args:
            rows: (n, d) feature rows.
            condition: (n, C) the class around the node of each, as a distribution.
            spec: what the columns hold.
            weight: (n,) how often each row counts; by default once.
            seed: of everything that is drawn.
            tick: progress.

        Raises:
            DignnError: it cannot learn features of this kind.
        """
        if spec.kind not in self.kinds:
            known = ", ".join(sorted(kind.value for kind in self.kinds))
            raise DignnError(
                f"'{self.name}' learns {known} features, not {spec.kind.value} ones; choose another method"
            )
        table = Table.of(rows, condition, spec, weight)
        self.spec, self._classes, self.report = spec, table.classes, {}
        self._set_few(table)
        absent = (table.condition.sum(0) == 0).nonzero()[:, 0].tolist()
        self._absent = tuple(line for line in absent if line not in self._few_lines)
        if self._few_lines:
            table = self._without_few(table)
        self._learned = table.classes not in self._few_lines
        if self._learned:
            with single_thread():
                self._fit(table, seed, tick)
        return self

    def sample(self, condition: Tensor, *, seed: Seed, tick: Tick = silent) -> Tensor:
        """One row for each condition.

        Args:
            condition: (m, C) the class around each node, as a distribution.
            seed: of everything that is drawn.
            tick: progress.

        Returns:
            (m, d) rows.
        """
        if self._classes < 0:
            raise DignnError("This generator has not learned anything yet; call fit first")
        if condition.dim() != 2 or condition.size(1) != self._classes:
            raise DignnError(
                f"Conditions of shape {tuple(condition.shape)} do not fit the {self._classes} known classes"
            )
        generator = seed.torch()
        line = draw_line(condition, generator)
        line[torch.isin(line, torch.tensor(self._absent, dtype=torch.long))] = self._classes
        few = torch.isin(line, torch.tensor(self._few_lines, dtype=torch.long))
        out = torch.empty(len(line), self.spec.width)
        if bool(few.any()):
            assert self._few is not None  # there are lines of it
            out[few] = self._few.rows[self._few.draw(line[few], generator)[:, 0]]
        if bool((~few).any()):
            with single_thread(), torch.no_grad():
                learned = self._sample(line[~few], seed.child("learned"), tick)
            if bool(few.any()):
                out[~few] = learned
            else:
                out = learned
        tick(1, 1)
        return out

    # -- classes with few rows ------------------------------------------------------------------------

    def _set_few(self, table: Table) -> None:
        """Finds the lines that are not learned."""
        self._few, self._few_lines = None, ()
        if not self.learns:
            return
        number = torch.cat([table.condition.sum(0), torch.tensor([float(len(table))])])
        self._few_lines = tuple(((number > 0) & (number < LEAST_ROWS)).nonzero()[:, 0].tolist())
        if len(table) < LEAST_ROWS:  # classes without rows follow line C, which is not learned either
            self._few_lines = tuple(range(table.classes + 1))
        if self._few_lines:
            self.report["few_rows"] = {str(line): float(number[line]) for line in self._few_lines}
            classes = [line for line in self._few_lines if line < table.classes]
            whole = len(table) < LEAST_ROWS
            self._few = table if whole else table[(table.condition[:, classes] > 0).any(1).nonzero()[:, 0]]

    def _without_few(self, table: Table) -> Table:
        """The same rows; what they are of classes with few rows, they are of no class."""
        condition = table.condition.clone()
        condition[:, [line for line in self._few_lines if line < table.classes]] = 0.0
        return Table(table.rows, condition, table.weight, table.spec)

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors, and settings as JSON takes them: all that :meth:`restore` needs."""
        settings: dict[str, Any] = {"classes": self._classes, "report": self.report}
        settings |= {"few": list(self._few_lines), "absent": list(self._absent)}
        tensors: dict[str, Tensor] = {}
        if self._few is not None:
            tensors |= {f"few.{name}": value for name, value in self._few.state().items()}
        if self._learned:
            learned, settings["learned"] = self._state()
            tensors |= {f"learned.{name}": value for name, value in learned.items()}
        return tensors, settings

    def restore(self, tensors: dict[str, Tensor], settings: dict[str, Any], spec: FeatureSpec) -> Self:
        """Takes up what a generator of the same settings gave with :meth:`state`, and returns itself."""
        self.spec, self._classes, self.report = spec, int(settings["classes"]), settings["report"]
        self._few_lines, self._absent = tuple(settings["few"]), tuple(settings["absent"])
        few = under(tensors, "few.")
        self._few = Table.restored(few, spec) if few else None
        self._learned = "learned" in settings
        if self._learned:
            self._restore(under(tensors, "learned."), settings["learned"])
        return self

    # -- what a method provides -----------------------------------------------------------------------

    @abstractmethod
    def _fit(self, table: Table, seed: Seed, tick: Tick) -> None:
        """Learns from at least one row."""

    @abstractmethod
    def _sample(self, line: Tensor, seed: Seed, tick: Tick) -> Tensor:
        """A row for each line (m,), a class or C for none; at least one.  (m, d)"""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors, and settings as JSON takes them, that :meth:`_restore` needs."""

    @abstractmethod
    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
        """``self.spec`` is set already."""


def under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with ``prefix``, without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


class FeatureRegistry(Registry[type[FeatureGenerator]]):
    """Feature generators by name; a registered class knows its own."""

    def add(self, name: str, item: type[FeatureGenerator]) -> type[FeatureGenerator]:
        item.name = name
        return super().add(name, item)


FEATURE_GENERATORS = FeatureRegistry("feature generator")
