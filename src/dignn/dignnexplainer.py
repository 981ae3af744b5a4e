"""The paper's explainer: candidates from generators that learned structure and features from the model's data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from dignn.batch import GraphBatch
from dignn.config import Config, TrainingConfig
from dignn.explainer import Explainer
from dignn.features import FEATURE_GENERATORS, FeatureBank
from dignn.guidance import ClassGuide
from dignn.refinement import limits, promising, refine
from dignn.runtime.beside import Beside
from dignn.runtime.seeds import Seed
from dignn.runtime.threads import cores
from dignn.schema import FeatureKind, Schema
from dignn.structure import STRUCTURE_GENERATORS, StructureGenerator

# Files of a run folder beside those that others rely on: what was learned.
STRUCTURE, FEATURES = "structure.safetensors", "features.safetensors"
# Steps of learning features from which on it is worth the seconds that processes take to start.
WORTH_PROCESSES = 300


class DiGNNExplainer(Explainer):
    """The paper's explainer: structure and features from generators that learned them from the model's data.

    >>> explainer = DiGNNExplainer(model, data, target="author", seed=0)     # doctest: +SKIP
    >>> explanations = explainer.fit().explain(top_k=3)                      # doctest: +SKIP
    >>> explanations.report("report.html")                                   # doctest: +SKIP
    """

    name = "dignnexplainer"

    @staticmethod
    def check_settings(config: Config) -> None:
        """Raises for a generator that does not exist."""
        STRUCTURE_GENERATORS[config.structure]
        FEATURE_GENERATORS[config.features]

    def prepare(self) -> None:
        self._structure = STRUCTURE_GENERATORS[self.config.structure].build(self.config)
        self._bank = FeatureBank(self.schema, config=self.config)
        self._refinement: dict[str, Any] = {}

    def learn(self, train: GraphBatch) -> None:
        """Structure here; where there are several cores, features in processes beside it."""
        if cores() == 1 or feature_steps(self.schema, self.config) < WORTH_PROCESSES:
            self._learn_structure(train)
            self._learn_features(train)
            return
        with Beside(lambda: self._learn_features(train, apart=True)) as features:
            self._learn_structure(train)
            features.result()

    def _learn_structure(self, train: GraphBatch) -> None:
        def fit_structure() -> StructureGenerator:
            with self.run.stage("GGT") as tick:
                return self._structure.fit(train, seed=self.seed.child("GGT"), tick=tick)

        self._structure = self.run.artifact(
            STRUCTURE, fit_structure, StructureGenerator.save, lambda path: self._structure.load(path, self.schema)
        )

    def _learn_features(self, train: GraphBatch, *, apart: bool = False) -> None:
        def fit_features() -> FeatureBank:
            with self.run.stage("NFGT") as tick:
                seed = self.seed.child("NFGT")
                return self._bank.fit(self.real.data, self.real.learned, train, seed=seed, tick=tick, apart=apart)

        self._bank = self.run.artifact(FEATURES, fit_features, FeatureBank.save, self._bank.load)

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        with self.run.stage("GGAT") as tick:
            seed = self.seed.child("GGAT")
            structure = self._structure.sample(sizes, seed=seed, tick=tick, guide=self._guide(sizes, seed))
        with self.run.stage("NFGAT") as tick:
            return self._refined(self._bank.fill(structure, seed=self.seed.child("NFGAT"), tick=tick))

    def findings(self) -> dict[str, Any]:
        return {"structure": self._structure.report, "features": self._bank.report, "refinement": self._refinement}

    def _refined(self, graphs: GraphBatch) -> GraphBatch:
        """The same number of graphs, in the same order; the most promising ones with features that say more."""
        number = round(self.config.refined * len(graphs))
        if not number or not any(self.schema.spec(name).generated for name in self.schema.node_types):
            return graphs
        enough, ceiling = limits(self.members)
        index, wanted = promising(graphs, self.adapter.score(graphs), enough, number)
        if not len(index):
            return graphs
        refined, self._refinement = refine(
            graphs[index],
            wanted,
            self.adapter,
            lambda some, nodes, seed: self._bank.redraw(some, nodes, seed=seed),
            enough=enough,
            ceiling=ceiling,
            rounds=self.config.refinement_rounds,
            seed=self.seed.child("refinement"),
        )
        rest = torch.ones(len(graphs), dtype=torch.bool)
        rest[index] = False
        place = torch.cat([rest.nonzero()[:, 0], index])
        return GraphBatch.cat([graphs[rest], refined])[place.argsort()]

    def _guide(self, sizes: Sequence[int], seed: Seed) -> ClassGuide | None:
        if not self.config.guidance:
            return None
        return ClassGuide(
            sizes,
            self.adapter,
            lambda graphs, seed: self._bank.fill(graphs, seed=seed),
            self.config.guidance,
            seed.child("guide"),
        )


def feature_steps(schema: Schema, config: Config) -> int:
    """Steps of the feature generator that learns longest, among those that node types may get; 0 where none learns.

    With training by epochs a lower bound: one step in each.
    """
    kinds = {schema.spec(name).kind for name in schema.node_types if schema.spec(name).generated}
    kinds -= {FeatureKind.IDENTITY}  # its members are drawn, and nothing is learned
    if not kinds or not FEATURE_GENERATORS[config.features].learns:
        return 0
    marginal = config.ditabddpm.noise == "marginal"
    training: dict[str, TrainingConfig] = {
        "ditabddpm": config.ditabddpm.marginal_training if marginal else config.ditabddpm.training,
        "tabddpm": config.tabddpm.training,
    }
    used = {config.features} if kinds - {FeatureKind.CONTINUOUS} or config.features != "ditabddpm" else set()
    if FeatureKind.CONTINUOUS in kinds and config.features == "ditabddpm":
        used |= {"tabddpm"} if config.continuous == "tabddpm" else {"tabddpm", "ditabddpm"}
    several = [training[name] for name in used if name in training]
    return max((one.steps if one.epochs is None else one.epochs for one in several), default=0)
