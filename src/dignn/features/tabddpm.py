"""TabDDPM: generator of continuous features, and the paper's baseline for discrete ones.

Continuous columns are diffused towards Gaussian noise (Kotelnikov et al. 2023; the paper, section "Node feature
generation"). Rows that many nodes share are drawn as they are. Discrete columns are diffused by TabDDPM's own
multinomial process, or treated as continuous and rounded, as in the paper's comparison.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from dignn.config import Config, TabDDPMConfig
from dignn.features.base import FEATURE_GENERATORS, LEAST_ROWS, FeatureGenerator, under
from dignn.features.repeated_rows import RepeatedRows
from dignn.features.tabddpm_gaussian import GaussianTable
from dignn.features.tabddpm_multinomial import MultinomialTable
from dignn.features.table import Table
from dignn.runtime.progress import Tick, Together
from dignn.runtime.seeds import Seed
from dignn.runtime.threads import map_threads
from dignn.schema import FeatureKind

# Rows that are sampled together, at most, and numbers that this may take. The pieces have their own seeds, so the
# result does not depend on how many of them run side by side.
CHUNK_ROWS, CHUNK_CELLS = 1024, 2**21


@FEATURE_GENERATORS.register("tabddpm")
class TabDDPM(FeatureGenerator):
    """Diffusion of all columns together, given the class around a node.

    Args:
        config: settings; those of the preset ``fast`` by default.
    """

    kinds: ClassVar[frozenset[FeatureKind]] = frozenset(
        {FeatureKind.CONTINUOUS, FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.CATEGORICAL}
    )
    _repeated: RepeatedRows
    _model: GaussianTable | MultinomialTable | None

    def __init__(self, config: TabDDPMConfig | None = None) -> None:
        super().__init__()
        self.config = config if config is not None else TabDDPMConfig()

    @classmethod
    def build(cls, config: Config) -> Self:
        return cls(config.tabddpm)

    # -- learning and sampling ------------------------------------------------------------------------

    def _fit(self, table: Table, seed: Seed, tick: Tick) -> None:
        self._model = None
        if self.config.repeated_rows and not self.spec.kind.discrete:
            self._repeated, rest = RepeatedRows.find(table, LEAST_ROWS)
        else:
            self._repeated, rest = RepeatedRows.none(table), torch.arange(len(table))
        if len(rest) and not bool((table.rows[rest] != table.rows[rest[0]]).any()):
            # One row for all: nothing is left to diffuse, whatever the settings.
            self._repeated, rest = RepeatedRows.find(table, len(table) + 1)
        self.report["repeated_rows"] = len(self._repeated.rows)
        self.report["repeated_share"] = float(self._repeated.share[-1].sum())
        if len(rest):
            self._model = self._new_model()
            self.report["training"] = self._model.fit(table[rest], seed, tick)

    def _sample(self, line: Tensor, seed: Seed, tick: Tick) -> Tensor:
        out = torch.empty(len(line), self.spec.width)
        drawn = self._repeated.draw(line, seed.child("repeated").torch())
        others = drawn == len(self._repeated.rows)
        out[~others] = self._repeated.rows[drawn[~others]]
        if bool(others.any()):
            out[others] = self._diffuse(line[others], seed, tick)
        return out

    def _diffuse(self, line: Tensor, seed: Seed, tick: Tick) -> Tensor:
        """Generated rows, a piece at a time.  (m, d)"""
        model = self._model
        assert model is not None  # where all rows are repeated, no other is drawn
        pieces = line.split(max(1, min(CHUNK_ROWS, CHUNK_CELLS // model.chunk_cells)))
        progress = Together(tick, len(line))

        def one(number: int) -> Tensor:
            made = model.sample(pieces[number], seed.child("piece", number).torch())
            progress.add(len(made))
            return made

        return torch.cat(map_threads(one, range(len(pieces))))

    def _new_model(self) -> GaussianTable | MultinomialTable:
        if self.spec.kind.discrete and self.config.discrete == "multinomial":
            return MultinomialTable(self.config)
        return GaussianTable(self.config, rounded=self.spec.kind.discrete)

    # -- files ----------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = {"repeated.rows": self._repeated.rows, "repeated.share": self._repeated.share}
        if self._model is not None:
            tensors |= {f"model.{name}": value for name, value in self._model.state().items()}
        return tensors, {"diffused": self._model is not None}

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
        self._repeated = RepeatedRows(tensors["repeated.rows"], tensors["repeated.share"])
        self._model = None
        if settings["diffused"]:
            self._model = self._new_model()
            self._model.restore(under(tensors, "model."), len(self._repeated.share))
