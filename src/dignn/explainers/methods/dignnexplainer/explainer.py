"""The paper's explainer: candidates from generators that learned structure and features from the model's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from dignn.core.background import Background
from dignn.core.seeds import Seed
from dignn.core.threads import cores
from dignn.explainers.base import Explainer
from dignn.explainers.methods.dignnexplainer.class_guide import ClassGuide
from dignn.explainers.methods.dignnexplainer.refinement import limits, promising, refine
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings
from dignn.features.registry import FEATURE_GENERATORS
from dignn.graphs.batch import GraphBatch
from dignn.structure.base import StructureGenerator
from dignn.structure.registry import STRUCTURE_GENERATORS

# File of a run folder beside those that others rely on: what was learned.
STRUCTURE = "structure.safetensors"
# Steps of learning features from which on it is worth the seconds that processes take to start.
WORTH_PROCESSES = 300


@EXPLAINERS.register("dignnexplainer")
class DiGNNExplainer(Explainer):
    """The paper's explainer: structure and features from generators that learned them from the model's data.

    >>> explainer = DiGNNExplainer(model, data, target="author", seed=0)     # doctest: +SKIP
    >>> explanations = explainer.fit().explain(top_k=3)                      # doctest: +SKIP
    >>> explanations.report("report.html")                                   # doctest: +SKIP
    """

    presets = PRESETS
    config: Config

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        FEATURE_GENERATORS[self.config.features]  # raises for one that does not exist
        self._structure = STRUCTURE_GENERATORS[self.config.structure].build(self.config)
        self._structure.device = self.device
        self._refinement: dict[str, Any] = {}

    @classmethod
    def within(cls, settings: RunSettings, budget: int, classes: int) -> RunSettings:
        """Without refinement and guidance, which ask the model."""
        assert isinstance(settings, Config)
        return super().within(replace(settings, refined=0.0, guidance=0.0), budget, classes)

    def learn(self, train: GraphBatch) -> None:
        """Structure here; where there are several cores, features in processes beside it."""
        if cores() == 1 or self.bank.learning_steps < WORTH_PROCESSES:
            self._learn_structure(train)
            self.learn_features()
            return
        with Background(lambda: self.learn_features(apart=True)) as features:
            self._learn_structure(train)
            features.result()

    def _learn_structure(self, train: GraphBatch) -> None:
        def fit_structure() -> StructureGenerator:
            with self.run.stage("GGT") as tick:
                return self._structure.fit(train, seed=self.seed.child("GGT"), tick=tick)

        self.run.artifact(
            STRUCTURE, fit_structure, StructureGenerator.save, lambda path: self._structure.load(path, self.schema)
        )

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        """Structures; their features come from the generators of the base class."""
        with self.run.stage("GGAT") as tick:
            seed = self.seed.child("GGAT")
            return self._structure.sample(sizes, seed=seed, tick=tick, guide=self._guide(sizes, seed))

    def findings(self) -> dict[str, Any]:
        return {"structure": self._structure.report, "features": self.bank.report, "refinement": self._refinement}

    def refine(self, candidates: GraphBatch) -> GraphBatch:
        """The most promising ones get features that say more."""
        number = round(self.config.refined * len(candidates))
        if not number or not (candidates.tables or candidates.edge_tables):
            return candidates
        enough, ceiling = limits(self.members)
        index, wanted = promising(candidates, self.adapter.score(candidates), enough, number)
        if not len(index):
            return candidates
        refined, self._refinement = refine(
            candidates[index],
            wanted,
            self.adapter,
            lambda some, nodes, seed: self.bank.redraw(some, nodes, seed=seed),
            enough=enough,
            ceiling=ceiling,
            rounds=self.config.refinement_rounds,
            seed=self.seed.child("refinement"),
        )
        rest = torch.ones(len(candidates), dtype=torch.bool)
        rest[index] = False
        place = torch.cat([rest.nonzero()[:, 0], index])
        return GraphBatch.cat([candidates[rest], refined])[place.argsort()]

    def _guide(self, sizes: Sequence[int], seed: Seed) -> ClassGuide | None:
        if not self.config.guidance:
            return None

        def fill(graphs: GraphBatch, seed: Seed) -> GraphBatch:
            return self.bank.fill(graphs, seed=seed)

        return ClassGuide(sizes, self.adapter, fill, self.config.guidance, seed.child("guide"))
