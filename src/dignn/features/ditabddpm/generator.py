"""DiTabDDPM: generator of discrete features by discrete diffusion (the paper, section "Node feature generation")."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from dignn.core.devices import at_work, model_device
from dignn.core.errors import DignnError
from dignn.core.files import put_under, under
from dignn.core.progress import Tick, silent
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.base import GENERATED_KINDS, FeatureGenerator
from dignn.features.ditabddpm.absorbing_rows import AbsorbingRows
from dignn.features.ditabddpm.class_strength import LEAST_TOLD
from dignn.features.ditabddpm.marginal_columns import MarginalColumns
from dignn.features.given import Given
from dignn.features.learning import held_apart, train_on_rows
from dignn.features.registry import FEATURE_GENERATORS
from dignn.features.settings import DiTabDDPMConfig
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind

# Tables with at most this share of non-zero entries are sparse.
SPARSE = 0.5
# Counts are sets of columns, rather than numbers, where at most this share of the non-zero ones is not 1.
FEW_REPEATS = 0.25
# The number of columns from which a value for every column would be too much.
WIDE = 1000

# The learning rate of what values are learned by.
VALUE_RATE = 3e-3

PROCESSES: dict[str, type[AbsorbingRows] | type[MarginalColumns]] = {
    "absorbing": AbsorbingRows,
    "marginal": MarginalColumns,
}


@FEATURE_GENERATORS.register("ditabddpm")
class DiTabDDPM(FeatureGenerator):
    """Discrete diffusion of the columns of a table, all of them together.

    Two noise processes: ``absorbing`` for sparse tables (words of a text) and ``marginal``, the paper's, for any other;
    categorical columns are always marginal. Continuous columns are learned where the table is sparse: which entries are
    not zero by absorbing diffusion, their values from those of the column in the data.
    """

    kinds: ClassVar[frozenset[FeatureKind]] = GENERATED_KINDS - {FeatureKind.IDENTITY, FeatureKind.MIXED}
    config: DiTabDDPMConfig
    _noise: str
    _process: AbsorbingRows | MarginalColumns

    @property
    def learning_steps(self) -> int:
        return self._training(self.config.noise).least_steps

    def _training(self, noise: str) -> TrainingConfig:
        whole = self.config.marginal_training if noise == "marginal" else self.config.training
        return whole.part(self.effort)

    def _fit(self, table: Table, seed: Seed, tick: Tick) -> None:
        self._noise = self._choose(table)
        with seed.child("network").torch_globally():
            self._process = process = PROCESSES[self._noise].of(table, self.config)
        process.learn_frequencies(table)
        self.report["noise"] = self._noise
        rows = process.learnable(table)
        with self._at_work():
            if len(rows):
                batch, training = self.config.batch, self._training(self._noise)
                report = train_on_rows(process.network, rows, process.loss, batch, training, seed=seed, tick=tick)
                self.report["training"] = report.to_json()
            if isinstance(process, AbsorbingRows):
                self._learn_values(process, table, seed.child("values"))
            process.network.eval()
        if isinstance(process, AbsorbingRows):
            self._follow_classes(process, table, rows, seed)
            process.bind_columns(table, seed.child("binding").torch())
            self.report["binding"] = process.binding
        with self._at_work():
            process.calibrate(table, seed.child("calibration").torch())

    def _follow_classes(self, process: AbsorbingRows, table: Table, rows: Table, seed: Seed) -> None:
        """Lets rows follow their classes as real ones do, which the rows held out of training tell."""
        if not self.config.emphasis or table.classes < 2 or not len(rows):
            return
        learned, held = held_apart(rows, seed)
        if held is not None and len(held) >= LEAST_TOLD:
            process.follow_classes(learned, held, seed.child("classes").torch())
            self.report["emphasis"] = process.emphasis

    def _learn_values(self, process: AbsorbingRows, table: Table, seed: Seed) -> None:
        """Learns the values of entries that are not all alike."""
        found = process.learn_values(table, seed)
        if found is not None:
            values, coded = found
            values.to(model_device(process.network))
            batch, training = self.config.batch, replace(self._training(self._noise), learning_rate=VALUE_RATE)
            report = train_on_rows(values, coded, values.loss, batch, training, seed=seed, tick=silent)
            self.report["values"] = report.to_json()

    def _at_work(self) -> AbstractContextManager[torch.device]:
        return at_work(self._process, self._process.network, self.config.batch, self.device)

    def _choose(self, table: Table) -> str:
        kind = table.spec.kind
        there = int(table.rows.count_nonzero())
        share = there / max(1, table.rows.numel())
        if kind is FeatureKind.CONTINUOUS:
            if share > SPARSE:
                raise DignnError(
                    f"{share:.0%} of these continuous features are not zero; 'ditabddpm' learns discrete and sparse "
                    "ones, choose 'tabddpm'"
                )
            return "absorbing"
        if kind is FeatureKind.CATEGORICAL or self.config.noise == "marginal":
            return "marginal"
        if self.config.noise == "absorbing":
            return "absorbing"
        repeats = int((table.rows > 1).sum()) / max(1, there)
        sets = share <= SPARSE and repeats <= FEW_REPEATS
        return "absorbing" if sets or table.spec.width >= WIDE else "marginal"

    def _sample(self, label: Tensor, given: Given, seed: Seed, tick: Tick) -> Tensor:
        process = self._process

        def sample(some: Tensor, its: Given, start: int) -> Tensor:
            return process.sample(some, seed.child(start).torch(), its)

        with self._at_work():
            return self._in_pieces(label, given, process.chunk, sample, tick)

    # -- files ----------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, settings = self._process.state()
        return tensors | put_under("network.", self._process.network.state_dict()), {"noise": self._noise, **settings}

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
        self._noise = settings["noise"]
        with Seed(0).torch_globally():
            self._process = PROCESSES[self._noise].restored(tensors, settings, self.spec.kind, self.config)
        self._process.network.load_state_dict(under("network.", tensors))
        self._process.network.eval()
