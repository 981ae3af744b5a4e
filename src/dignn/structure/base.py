"""What every structure generator is."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from torch import Tensor

from dignn.core.devices import Device
from dignn.core.errors import DignnError, RunFolderError
from dignn.core.files import blamed_on, load_learned, save_tensors
from dignn.core.progress import Tick, silent
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema
from dignn.structure.settings import StructureSettings

_FORMAT = "dignn.StructureGenerator.1"


class Guide(Protocol):
    """Draws sampling towards graphs that somebody likes, without gradients: particles are resampled in groups.

    Attributes:
        group: (B,) the group of each requested graph; graphs of a group have one size.
    """

    group: Tensor

    def log_weight(self, graphs: GraphBatch, index: Tensor) -> Tensor:
        """(b,) how much graph ``index[i]`` is liked when it looks like ``graphs[i]`` (unfinished or predicted)."""
        ...


class StructureGenerator(ABC):
    """Learns to generate typed graphs without features.

    Target nodes carry their class: the vocabulary is node types with the target type split by class, so that
    the structure decides the class and the features follow it. To add a method, write ``_fit`` and ``_sample``,
    and ``_state`` and ``_restore`` so that what was learned can be kept in a file; register the class by a name.

    Args:
        config: its settings; those of the preset ``fast`` by default.

    Attributes:
        report: what training and sampling found (loss curves, yield, ...), as JSON takes it.
        device: where it learns and samples, see :func:`dignn.core.devices.at_work`; what it keeps and gives is on the
            CPU.
    """

    name: ClassVar[str]

    def __init__(self, config: Any = None) -> None:
        self.config = config if config is not None else self._own(StructureSettings())
        self.report: dict[str, Any] = {}
        self.device: Device = "auto"
        self._sizes: frozenset[int] = frozenset()
        self._file: Path | None = None  # that it was loaded from

    @classmethod
    def build(cls, settings: StructureSettings) -> Self:
        """A generator with those of the settings that are its own."""
        own = cls._own(settings)
        return cls() if own is None else cls(own)

    @classmethod
    def _own(cls, settings: StructureSettings) -> Any:
        """The settings that have its name; None for a method without any."""
        return getattr(settings, cls.name.replace("-", "_"), None)

    def fit(self, graphs: GraphBatch, *, seed: Seed, tick: Tick = silent) -> Self:
        """Learns from real graphs and returns itself.

        Args:
            graphs: at least one; features are ignored.
            seed: of everything that is drawn.
            tick: progress.
        """
        if not len(graphs):
            raise DignnError("There are no training graphs; sample some first")
        self.report, self._sizes, self._file = {}, frozenset(), None
        with single_thread():  # so that the same seed gives the same bits
            learned = self._fit(graphs.without_features(), seed, tick)
        self._sizes = frozenset(learned.sizes.tolist())
        return self

    def sample(
        self, sizes: Sequence[int], *, seed: Seed, tick: Tick = silent, guide: Guide | None = None
    ) -> GraphBatch:
        """One graph for each requested number of nodes, in that order, with labels and without features.

        Args:
            sizes: numbers of nodes; each must occur among the training graphs.
            seed: same seed, same graphs.
            tick: progress.
            guide: draws the graphs towards what it likes; without one they follow the training graphs.
        """
        if not self._sizes:
            raise DignnError("This generator has not learned anything yet; call fit first")
        for size in sizes:
            if size not in self._sizes:
                raise DignnError(f"No training graph has {size} nodes; their sizes are {sorted(self._sizes)}")
        with single_thread(), blamed_on(self._file):
            return self._sample(list(sizes), seed, tick, guide)

    def save(self, path: Path | str) -> None:
        """Writes what was learned to a safetensors file."""
        tensors, settings = self._state()
        metadata = {"sizes": sorted(self._sizes), "report": self.report, **settings}
        save_tensors(path, tensors, {"format": _FORMAT, "generator": self.name, "metadata": json.dumps(metadata)})

    def load(self, path: Path | str, schema: Schema) -> Self:
        """Takes up what a generator of the same settings wrote with :meth:`save`, and returns itself."""

        def restore(tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
            found = settings["generator"]
            if found != self.name:
                raise RunFolderError(f"{path} was written by '{found}', not '{self.name}'; delete it")
            self._restore(tensors, settings, schema)
            self.report, self._sizes = settings["report"], frozenset(settings["sizes"])

        load_learned(path, _FORMAT, restore)
        self._file = Path(path)
        return self

    # -- what a method provides -----------------------------------------------------------------------

    @abstractmethod
    def _fit(self, graphs: GraphBatch, seed: Seed, tick: Tick) -> GraphBatch:
        """Learns from at least one graph; returns the graphs it learned from: all, or those it can make."""

    @abstractmethod
    def _sample(self, sizes: list[int], seed: Seed, tick: Tick, guide: Guide | None) -> GraphBatch:
        """Graphs of sizes that occur among the training graphs."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors, and settings as JSON takes them, that :meth:`_restore` needs."""

    @abstractmethod
    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any], schema: Schema) -> None: ...
