"""XGNN: graphs that a policy builds edge by edge, one policy for each class, rewarded by what the model says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from dignn.core.files import load_learned, save_tensors
from dignn.core.seeds import Seed
from dignn.explainers.class_search import ClassSearch
from dignn.explainers.methods.xgnn.building import Rules
from dignn.explainers.methods.xgnn.policy import Policies
from dignn.explainers.methods.xgnn.policy_training import PolicyTraining
from dignn.explainers.methods.xgnn.policy_walks import build, edges_like_real
from dignn.explainers.methods.xgnn.settings import PRESETS, XGNNSettings
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings
from dignn.features.bank import FeatureBank
from dignn.graphs.batch import GraphBatch

# File of a run folder: what was learned.
POLICIES = "policies.safetensors"
_FORMAT = "dignn.XGNN.1"


@EXPLAINERS.register("xgnn")
class XGNN(ClassSearch):
    """Policy-gradient construction of graphs (Yuan, Tang, Hu, Ji: XGNN, KDD 2020), on the typed graphs themselves.

    A policy starts from one node and again and again joins a node to another one or to a new one. Types, relations and
    their directions are those that real graphs have, and degrees at most theirs. Where nodes are classified, the first
    node is one, and the model is asked about it.

    Departures from the published method: all classes learn side by side, each for itself. While policies
    learn, graphs get real rows of features of the class around each node; explanations get those of the feature
    generators. Ways in which a graph may be finished keep to valid decisions. The first node's type is drawn as real
    graphs have it. Explanations are built to a given number of nodes, and of edges as real graphs of that size have
    them, where the published method stops after a number of edges chosen by hand. A graph to which nothing valid can be
    added teaches nothing. What is valid stays, also where its reward is below 0. Descent has no weight decay.
    """

    presets = PRESETS
    config: XGNNSettings

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._policies: Policies | None = None
        self._report: dict[str, Any] = {}

    @classmethod
    def within(cls, settings: RunSettings, budget: int, classes: int) -> RunSettings:
        """Half of the budget for learning, without looking ahead where that does not pay for it."""
        assert isinstance(settings, XGNNSettings)
        if settings.asks(classes) > budget // 2:
            steps = max(1, min(settings.steps, budget // (2 * classes)))
            iterations = max(1, min(settings.iterations, budget // (2 * classes * steps)))
            settings = replace(settings, iterations=iterations, steps=steps, rollouts=0)
        return super().within(settings, budget - settings.asks(classes), classes)

    def learn(self, train: GraphBatch) -> None:
        """The policies of all classes."""
        policies = Policies(Rules.of(train), self.schema.num_classes, self.seed.child("policies"))

        def fit() -> Policies:
            with self.run.stage("GGT") as tick:
                seed = self.seed.child("GGT")
                rows = FeatureBank(self.schema, replace(self.config, features="bootstrap"))
                rows.fit(self.real.data, self.real.learned, train, seed=seed.child("rows"))
                # Beyond that no policy gets while it learns.
                most_nodes = min(max(self.real.like(self.config.candidates)), self.config.steps + 1)

                def judge(graphs: GraphBatch, wanted: Tensor, seed: Seed) -> Tensor:
                    return self._probability(rows, graphs, wanted, seed)

                training = PolicyTraining(policies.rules, judge, self.config, most_nodes)
                self._report = training.train(policies, seed=seed, tick=tick)
                return policies

        def restore(tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
            policies.load_state_dict(tensors)
            self._report = about["report"]

        def load(path: Path) -> Policies:
            load_learned(path, _FORMAT, restore)
            return policies

        self._policies = self.run.artifact(POLICIES, fit, self._save, load)

    def _save(self, policies: Policies, path: Path) -> None:
        about = {"format": _FORMAT, "metadata": json.dumps({"report": self._report})}
        save_tensors(path, policies.state_dict(), about)

    def _probability(self, rows: FeatureBank, graphs: GraphBatch, wanted: Tensor, seed: Seed) -> Tensor:
        """(G,) of the class wanted (G,) of each graph, or of its first node, with real rows of that class."""
        task = self.schema.task
        graph, node = task.answers(graphs)
        meant = task.with_labels(graphs, graph, node, wanted[graph])
        scores = self.adapter.score(rows.fill(meant, seed=seed))
        asked = scores.probability[scores.node <= 0]  # of whole graphs the place is -1
        return asked.gather(1, wanted[:, None])[:, 0].float()

    def search(self, class_index: int, sizes: Sequence[int], seed: Seed) -> GraphBatch:
        """Graphs that the policy of the class builds."""
        assert self._policies is not None  # they learn before
        edges = edges_like_real(sizes, self.real.train, seed.child("edges").torch())
        return build(self._policies.only(class_index), sizes, edges, seed.torch()).graphs()

    def findings(self) -> dict[str, Any]:
        return {"features": self.bank.report, "policies": self._report}
