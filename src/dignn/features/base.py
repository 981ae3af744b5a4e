"""What every feature generator is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from dignn.core.devices import Device
from dignn.core.errors import DignnError
from dignn.core.files import put_under, under
from dignn.core.progress import Tick, Together, silent
from dignn.core.seeds import Seed
from dignn.core.threads import map_threads, single_thread
from dignn.features.given import NOTHING_GIVEN, ContextScale, Fixed, Given
from dignn.features.many_levels import ManyLevels
from dignn.features.nearest_rows import draw_near
from dignn.features.settings import FeatureSettings
from dignn.features.table import Contexts, Table, check_context, draw_label
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

# A class needs so many rows to learn from; with fewer, its own rows are repeated.
LEAST_ROWS = 20
# Rows on which the scale of contexts is measured, at most, and numbers in what is known of them: bounds memory.
MEASURED_ROWS, MEASURED_NUMBERS = 20_000, 2**25
GENERATED_KINDS = frozenset(FeatureKind) - {FeatureKind.NONE}


class FeatureGenerator(ABC):
    """Learns to generate feature rows of one node type, given the class around a node.

    The condition of a node is a distribution over classes: one-hot for a target node, the mean class of the target
    nodes around for any other, all zero where no target node is near. A row is generated for one class, drawn from
    the condition, or for none with what the condition lacks to 1. A class with fewer than 20 rows is not learned: its
    own rows are drawn instead, and ``report`` says so; a class without any rows is generated like a node without a
    class. A discrete column with more than 1,000 values (ids) is not learned either: see
    :mod:`dignn.features.many_levels`.

    To add a method, write ``_fit`` and ``_sample``, and ``_state`` and ``_restore`` so that what was learned can be
    kept in a file; register the class by a name.

    Args:
        config: its settings; those of the preset ``fast`` by default.

    Attributes:
        kinds: kinds of features that it can learn.
        learns: whether it needs rows enough to learn from.
        device: where it learns and samples, see :func:`dignn.core.devices.at_work`; what it keeps and gives is on the
            CPU.
        effort: the share of its whole training that it takes, where many generators have one budget.
        report: what learning and sampling found, as JSON takes it.
    """

    name: ClassVar[str]
    kinds: ClassVar[frozenset[FeatureKind]] = GENERATED_KINDS
    learns: ClassVar[bool] = True

    def __init__(self, config: Any = None) -> None:
        self.config = config if config is not None else self._own(FeatureSettings())
        self.report: dict[str, Any] = {}
        self.device: Device = "auto"
        self.effort = 1.0
        self._classes = -1  # before fit
        self._learned = False  # whether any label is learned
        self._few: Table | None = None  # rows of classes with too few of them
        self._few_labels: tuple[int, ...] = ()
        self._absent: tuple[int, ...] = ()  # classes without rows
        self._many: ManyLevels | None = None  # columns that are not learned
        self._context: ContextScale | None = None  # where it learned with a context

    @classmethod
    def build(cls, settings: FeatureSettings) -> Self:
        """A generator with those of the settings that are its own."""
        own = cls._own(settings)
        return cls() if own is None else cls(own)

    @classmethod
    def _own(cls, settings: FeatureSettings) -> Any:
        """The settings that have its name; None for a method without any."""
        return getattr(settings, cls.name.replace("-", "_"), None)

    @property
    def learning_steps(self) -> int:
        """Gradient steps that learning takes, at least; 0 where there are none."""
        return 0

    @property
    def classes(self) -> int:
        """Classes that it tells apart; 0 where it learned without any."""
        return self._classes

    @property
    def known(self) -> int:
        """Columns of the context that it learned with; 0 without any."""
        return 0 if self._context is None else len(self._context.mean)

    def fit(
        self,
        rows: Tensor,
        condition: Tensor,
        spec: FeatureSpec,
        *,
        weight: Tensor | None = None,
        context: Tensor | Contexts | None = None,
        seed: Seed,
        tick: Tick = silent,
    ) -> Self:
        """Learns and returns itself.

        Args:
            rows: (n, d) feature rows.
            condition: (n, C) the class around the node of each, as a distribution.
            spec: what the columns hold.
            weight: (n,) how often each row counts; by default once.
            context: (n, k) what else is known of each row, which rows are then generated by, or (n, K, k) on K
                occasions on which it was seen, which rows may share; by default nothing.
            seed: of everything that is drawn.
            tick: progress.

        Raises:
            DignnError: it cannot learn features of this kind.
        """
        return self.fit_table(Table.of(rows, condition, spec, weight, context=context), seed=seed, tick=tick)

    def fit_table(self, table: Table, *, seed: Seed, tick: Tick = silent) -> Self:
        """The same from a table, which has been looked at."""
        if table.spec.kind not in self.kinds:
            known = ", ".join(sorted(kind.value for kind in self.kinds))
            raise DignnError(
                f"'{self.name}' learns {known} features, not {table.spec.kind.value} ones; choose another method"
            )
        self.spec, self._classes, self.report = table.spec, table.classes, {}
        self._context = None
        if table.context is not None:
            self._context = _scale_of(table, seed.child("context")) if table.known else None
            encoded = (
                None
                if self._context is None
                else replace(table.context, known=self._context.encode(table.context.known))
            )
            table = replace(table, context=encoded)
        self._set_few(table)
        absent = (table.condition.sum(0) == 0).nonzero()[:, 0].tolist()
        self._absent = tuple(label for label in absent if label not in self._few_labels)
        condition = table.condition.clone()
        condition[:, [label for label in self._few_labels if label < table.classes]] = 0.0
        table = replace(table, condition=condition)  # what rows are of classes with few, they are of no class
        self._many = ManyLevels.find(table) if self.learns else None
        if self._many is not None:
            table = self._many.rest(table)
            self.spec = table.spec
            self.report["from_real_rows"] = len(self._many.columns)
        self._learned = table.classes not in self._few_labels and self.spec.width > 0
        if self._learned:
            with single_thread():
                self._fit(table, seed, tick)
        return self

    def sample(
        self,
        condition: Tensor,
        *,
        context: Tensor | None = None,
        fixed: Fixed | None = None,
        seed: Seed,
        tick: Tick = silent,
    ) -> Tensor:
        """One row for each condition.

        Args:
            condition: (m, C) the class around each node, as a distribution.
            context: (m, k) what else is known of each row, where it learned with such a context.
            fixed: columns that come out exactly as given, while the others are drawn given them.
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
        given = self._given(len(condition), context, fixed)
        generator = seed.torch()
        label = draw_label(condition, generator)
        label[torch.isin(label, torch.tensor(self._absent, dtype=torch.long))] = self._classes
        few = torch.isin(label, torch.tensor(self._few_labels, dtype=torch.long))
        out = torch.empty(len(label), self._width)
        if bool(few.any()):
            assert self._few is not None  # there are labels of it
            out[few] = self._few.rows[draw_near(self._few, label[few], given[few], generator)[:, 0]]
        if bool((~few).any()):
            with single_thread(), torch.no_grad():
                out[~few] = self._made(label[~few], given[~few], seed.child("learned"), tick)
        tick(1, 1)
        return out if fixed is None else fixed.put(out)

    def _given(self, number: int, context: Tensor | None, fixed: Fixed | None) -> Given:
        """What is known of ``number`` rows, looked at."""
        known = self.known
        if context is not None and context.dim() != 2:
            raise DignnError(
                f"A context of shape {tuple(context.shape)} is not a row of numbers for each row; give (rows, columns)"
            )
        if known != (0 if context is None else context.size(-1)):
            asked = "none" if context is None else f"one of {context.size(-1)}"
            raise DignnError(
                f"It learned with a context of {known} columns and is given {asked}; give the same columns"
            )
        if fixed is not None and fixed.values.shape != (number, self._width):
            raise DignnError(
                f"Fixed columns of shape {tuple(fixed.values.shape)} do not fit {number} rows of {self._width} columns"
            )
        if self._context is None or context is None:
            return NOTHING_GIVEN if fixed is None else Given(fixed=fixed)
        check_context(context, number)
        return Given(self._context.encode(context), fixed)

    @property
    def _width(self) -> int:
        """Columns of a row, those included that are not learned."""
        return self.spec.width + (0 if self._many is None else len(self._many.columns))

    def _made(self, label: Tensor, given: Given, seed: Seed, tick: Tick) -> Tensor:
        """A row for each label (m,): learned columns, and those of real rows.  (m, d)"""
        if self._many is None:
            return self._sample(label, given, seed, tick)
        out = torch.empty(len(label), self._width)
        out[:, self._many.columns] = self._many.draw(label, given, seed.child("real rows").torch())
        if self._learned:
            out[:, self._many.others] = self._sample(label, given.only(self._many.others), seed, tick)
        return out

    def _in_pieces(
        self,
        label: Tensor,
        given: Given,
        size: int,
        sample: Callable[[Tensor, Given, int], Tensor],
        tick: Tick,
        width: int | None = None,
    ) -> Tensor:
        """Rows for labels (m,), up to ``size`` at a time, by ``sample`` of some and the place of the first.

        Pieces run side by side, each with random numbers of its own, so the result does not depend on how many do.
        """
        out = torch.empty(len(label), self.spec.width if width is None else width)
        progress = Together(tick, len(label))

        def one(start: int) -> None:
            part = label[start : start + size]
            out[start : start + size] = sample(part, given[start : start + size], start).cpu()
            progress.add(len(part))

        map_threads(one, range(0, len(label), size))
        return out

    # -- classes with few rows ------------------------------------------------------------------------

    def _set_few(self, table: Table) -> None:
        """Finds the labels that are not learned."""
        self._few, self._few_labels = None, ()
        if not self.learns:
            return
        number = torch.cat([table.condition.sum(0), torch.tensor([float(len(table))])])
        self._few_labels = tuple(((number > 0) & (number < LEAST_ROWS)).nonzero()[:, 0].tolist())
        if len(table) < LEAST_ROWS:  # classes without rows follow label C, which is not learned either
            self._few_labels = tuple(range(table.classes + 1))
        if self._few_labels:
            self.report["few_rows"] = {str(label): float(number[label]) for label in self._few_labels}
            classes = [label for label in self._few_labels if label < table.classes]
            whole = len(table) < LEAST_ROWS
            self._few = table if whole else table[(table.condition[:, classes] > 0).any(1).nonzero()[:, 0]]

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors, and settings as JSON takes them: all that :meth:`restore` needs."""
        settings: dict[str, Any] = {"classes": self._classes, "report": self.report}
        settings |= {"few": list(self._few_labels), "absent": list(self._absent)}
        tensors: dict[str, Tensor] = {}
        if self._few is not None:
            tensors |= put_under("few.", self._few.state())
        if self._many is not None:
            tensors |= put_under("many.", self._many.state())
        if self._context is not None:
            tensors |= put_under("context.", vars(self._context))
        if self._learned:
            learned, settings["learned"] = self._state()
            tensors |= put_under("learned.", learned)
        return tensors, settings

    def restore(self, tensors: dict[str, Tensor], settings: dict[str, Any], spec: FeatureSpec) -> Self:
        """Takes up what a generator of the same settings gave with :meth:`state`, and returns itself."""
        self.spec, self._classes, self.report = spec, int(settings["classes"]), settings["report"]
        self._few_labels, self._absent = tuple(settings["few"]), tuple(settings["absent"])
        few = under("few.", tensors)
        self._few = Table.restored(few, spec) if few else None
        many = under("many.", tensors)
        self._many = ManyLevels.restored(many, spec) if many else None
        context = under("context.", tensors)
        self._context = ContextScale(**context) if context else None
        self.spec = spec if self._many is None else spec.only(self._many.others.tolist())
        self._learned = "learned" in settings
        if self._learned:
            self._restore(under("learned.", tensors), settings["learned"])
        return self

    # -- what a method provides -----------------------------------------------------------------------

    @abstractmethod
    def _fit(self, table: Table, seed: Seed, tick: Tick) -> None:
        """Learns from at least one row."""

    @abstractmethod
    def _sample(self, label: Tensor, given: Given, seed: Seed, tick: Tick) -> Tensor:
        """A row for each label (m,), a class or C for none; at least one.  (m, d)

        ``given``: what else is known of the rows. Fixed columns are put in afterwards in any case; a method that draws
        the others given them looks at them here.
        """

    @abstractmethod
    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors, and settings as JSON takes them, that :meth:`_restore` needs."""

    @abstractmethod
    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
        """``self.spec`` is set already."""


def _scale_of(table: Table, seed: Seed) -> ContextScale:
    """How the contexts of a table enter networks, measured on some of its rows."""
    assert table.context is not None  # asked only then
    occasions = table.context.place.size(1)
    most = min(MEASURED_ROWS, max(1, MEASURED_NUMBERS // (occasions * table.known)))
    some = torch.linspace(0, len(table) - 1, min(len(table), most)).long()
    weight = table.weight[some].repeat_interleave(occasions)
    return ContextScale.of(table.context[some].each.flatten(0, 1), weight, seed.torch())
