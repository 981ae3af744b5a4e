"""DiTabDDPM: generator of discrete features by discrete diffusion (the paper, section "Node feature generation")."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from dignn.config import Config, DiTabDDPMConfig
from dignn.errors import DignnError
from dignn.features.absorbing_rows import AbsorbingRows
from dignn.features.base import FEATURE_GENERATORS, FeatureGenerator
from dignn.features.learning import train_on_rows
from dignn.features.marginal_columns import MarginalColumns
from dignn.features.table import Table
from dignn.runtime.progress import Tick, Together
from dignn.runtime.seeds import Seed
from dignn.runtime.threads import map_threads
from dignn.schema import FeatureKind

# Tables with at most this share of non-zero entries are sparse.
SPARSE = 0.5
# Counts are sets of columns, rather than numbers, where at most this share of the non-zero ones is not 1.
FEW_REPEATS = 0.25
# The number of columns from which a value for every column would be too much.
WIDE = 1000

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

    kinds: ClassVar[frozenset[FeatureKind]] = frozenset(
        {FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.CATEGORICAL, FeatureKind.CONTINUOUS}
    )
    _noise: str
    _process: AbsorbingRows | MarginalColumns

    def __init__(self, config: DiTabDDPMConfig | None = None) -> None:
        super().__init__()
        self.config = config if config is not None else DiTabDDPMConfig()

    @classmethod
    def build(cls, config: Config) -> Self:
        return cls(config.ditabddpm)

    def _fit(self, table: Table, seed: Seed, tick: Tick) -> None:
        self._noise = self._choose(table)
        with torch.random.fork_rng(devices=[]):  # layers draw their weights from torch's global generator
            torch.manual_seed(seed.child("network").value)
            self._process = PROCESSES[self._noise].of(table, self.config)
        self._process.learn_frequencies(table)
        self.report["noise"] = self._noise
        rows = self._process.learnable(table)
        if len(rows):
            absorbing = self._noise == "absorbing"
            report = train_on_rows(
                self._process.network,
                rows,
                self._process.loss,
                self.config.batch,
                self.config.training if absorbing else self.config.marginal_training,
                seed=seed,
                tick=tick,
            )
            self.report["training"] = report.to_json()
        self._process.network.eval()
        self._process.calibrate(table, seed.child("calibration").torch())

    def _choose(self, table: Table) -> str:
        kind = table.spec.kind
        share = float((table.rows != 0).double().mean())
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
        repeats = float((table.rows > 1).double().mean()) / max(share, 1e-9)
        sets = share <= SPARSE and repeats <= FEW_REPEATS
        return "absorbing" if sets or table.spec.width >= WIDE else "marginal"

    def _sample(self, line: Tensor, seed: Seed, tick: Tick) -> Tensor:
        out = torch.empty(len(line), self.spec.width)
        size = self._process.chunk
        progress = Together(tick, len(line))

        def one(start: int) -> None:
            part = line[start : start + size]
            out[start : start + size] = self._process.sample(part, seed.child(start).torch())
            progress.add(len(part))

        map_threads(one, range(0, len(line), size))
        return out

    # -- files ----------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, settings = self._process.state()
        network = {f"network.{name}": value for name, value in self._process.network.state_dict().items()}
        return tensors | network, {"noise": self._noise, **settings}

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
        self._noise = settings["noise"]
        with torch.random.fork_rng(devices=[]):
            self._process = PROCESSES[self._noise].restored(tensors, settings, self.spec.kind, self.config)
        self._process.network.eval()
