"""TabDDPM: generator of continuous features, and the paper's baseline for discrete ones.

Continuous columns are diffused towards Gaussian noise (Kotelnikov et al. 2023; the paper, section "Node feature
generation"). Rows that many nodes share are drawn as they are. Discrete columns are diffused by TabDDPM's own
multinomial process, or treated as continuous and rounded, as in the paper's comparison.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from dignn.core.files import put_under, under
from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.features.base import GENERATED_KINDS, LEAST_ROWS, FeatureGenerator
from dignn.features.given import Given
from dignn.features.registry import FEATURE_GENERATORS
from dignn.features.settings import DiTabDDPMConfig, FeatureSettings, TabDDPMConfig
from dignn.features.tabddpm.gaussian_columns import GaussianTable
from dignn.features.tabddpm.mixed_columns import MixedTable
from dignn.features.tabddpm.multinomial_columns import MultinomialTable
from dignn.features.tabddpm.repeated_rows import RepeatedRows
from dignn.features.tabddpm.sparse_block import SparseBlock
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind

# Rows that are sampled together, at most, and numbers that this may take. The pieces have their own seeds, so the
# result does not depend on how many of them run side by side.
CHUNK_ROWS, CHUNK_CELLS = 1024, 2**21


TableModel = GaussianTable | MultinomialTable | MixedTable


@FEATURE_GENERATORS.register("tabddpm")
class TabDDPM(FeatureGenerator):
    """Diffusion of all columns together, given the class around a node.

    Args:
        config: settings; those of the preset ``fast`` by default.
    """

    kinds: ClassVar[frozenset[FeatureKind]] = GENERATED_KINDS - {FeatureKind.IDENTITY}
    config: TabDDPMConfig
    _repeated: RepeatedRows
    _model: TableModel | None
    _block: SparseBlock | None = None
    sparse = DiTabDDPMConfig()

    @classmethod
    def build(cls, settings: FeatureSettings) -> Self:
        generator = super().build(settings)
        generator.sparse = settings.ditabddpm
        return generator

    @property
    def learning_steps(self) -> int:
        return self.config.training.least_steps

    # -- learning and sampling ------------------------------------------------------------------------

    def _fit(self, table: Table, seed: Seed, tick: Tick) -> None:
        whole, self._block = table, None
        if self.spec.kind is FeatureKind.MIXED:
            self._block = SparseBlock.find(table, self.sparse, self.device)
            if self._block is not None:
                self._block.generator.effort = self.effort
            table = table if self._block is None else self._block.others(table)
        continuous = self.spec.kind is FeatureKind.CONTINUOUS
        if self.config.repeated_rows and continuous:
            self._repeated, rest = RepeatedRows.find(table, LEAST_ROWS, seed.child("repeated"))
        else:
            self._repeated, rest = RepeatedRows.none(table), torch.arange(len(table))
        first = table.rows[rest[:1]]
        if len(rest) and bool(((table.rows[rest] == first) | (table.rows[rest].isnan() & first.isnan())).all()):
            # One row for all: nothing is left to diffuse, whatever the settings.
            self._repeated, rest = RepeatedRows.find(table, len(table) + 1, seed.child("repeated"))
        self.report["repeated_rows"] = len(self._repeated.rows)
        self.report["repeated_share"] = float(self._repeated.share[-1].sum())
        self._model = self._new_model() if len(rest) else None
        if self._model is not None:
            self.report["training"] = self._model.fit(table[rest], seed, tick)
        if self._block is not None:
            context = self._context_of(table.rows, None if table.context is None else table.context.each)
            self.report["sparse"] = self._block.fit(whole, context, seed.child("sparse"), tick)

    def _context_of(self, rows: Tensor, context: Tensor | None) -> Tensor | None:
        """What the sparse columns of a row depend on: the others (n, d'), and what else is known of it (n, ..., k)."""
        if not isinstance(self._model, MixedTable):
            return context
        others = self._model.context(rows)
        if context is None:
            return others
        others = others if context.dim() == 2 else others[:, None].expand(-1, context.size(1), -1)
        return torch.cat([context, others], dim=-1)

    def _sample(self, label: Tensor, given: Given, seed: Seed, tick: Tick) -> Tensor:
        block = self._block
        if block is None:
            return self._sample_joint(label, given, self.spec.width, seed, tick)
        out = torch.empty(len(label), self.spec.width)
        rows = self._sample_joint(label, given.only(block.rest), len(block.rest), seed, tick)
        out[:, block.rest] = rows if given.fixed is None else given.fixed.only(block.rest).put(rows)
        context = self._context_of(out[:, block.rest], given.context)
        out[:, block.columns] = block.sample(label, context, given.fixed, seed.child("sparse"))
        return out

    def _sample_joint(self, label: Tensor, given: Given, width: int, seed: Seed, tick: Tick) -> Tensor:
        """The columns that are learned together.  (m, width)"""
        out = torch.empty(len(label), width)
        drawn = self._repeated.draw(label, seed.child("repeated").torch(), given)
        others = drawn == len(self._repeated.rows)
        out[~others] = self._repeated.rows[drawn[~others]]
        model = self._model
        if model is not None:  # where all rows are repeated, no other is drawn
            size = max(1, min(CHUNK_ROWS, CHUNK_CELLS // model.chunk_cells))
            with model.at_work():
                out[others] = self._in_pieces(
                    label[others],
                    given[others],
                    size,
                    lambda some, its, start: model.sample(some, seed.child("piece", start // size).torch(), its),
                    tick,
                    width,
                )
        return out

    def _new_model(self) -> TableModel:
        config = replace(self.config, training=self.config.training.part(self.effort))
        if self.spec.kind is FeatureKind.MIXED:
            return MixedTable(config, self.device)
        if self.spec.kind.discrete and config.discrete == "multinomial":
            return MultinomialTable(config, self.device)
        return GaussianTable(config, self.spec.kind.discrete, self.device)

    # -- files ----------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = put_under("repeated.", vars(self._repeated))
        if self._model is not None:
            tensors |= put_under("model.", self._model.state())
        settings: dict[str, Any] = {"diffused": self._model is not None}
        if self._block is not None:
            sparse, settings["sparse"] = self._block.state()
            tensors |= put_under("sparse.", sparse)
        return tensors, settings

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
        self._repeated = RepeatedRows.restored(under("repeated.", tensors))
        self._model = self._new_model() if settings["diffused"] else None
        if self._model is not None:
            self._model.restore(under("model.", tensors), len(self._repeated.share))
        self._block = None
        if "sparse" in settings:
            sparse = under("sparse.", tensors)
            self._block = SparseBlock.restored(sparse, settings["sparse"], self.spec, self.sparse, self.device)
