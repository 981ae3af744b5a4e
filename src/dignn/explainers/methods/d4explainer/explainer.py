"""D4Explainer: graphs found by denoising, of which each step keeps what the model takes for the class most surely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.explainers.class_search import ClassSearch
from dignn.explainers.methods.d4explainer.best_of_denoised import best_of_denoised
from dignn.explainers.methods.d4explainer.flip_denoiser import FlipDenoiser
from dignn.explainers.methods.d4explainer.settings import PRESETS, D4Settings
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import connected

# File of a run folder: the denoiser.
DENOISER = "denoiser.safetensors"
# Graphs of each class that the common budget is to pay for.
AT_LEAST = 10


@EXPLAINERS.register("d4explainer")
class D4Explainer(ClassSearch):
    """D4Explainer at model level (Chen et al., NeurIPS 2023): denoising towards what the model takes for a class.

    One denoiser learns from real graphs to undo flipped edges. For a class, noise is denoised in steps; each draws
    several clean graphs, keeps the one whose log-odds of the class are highest (where nodes are classified, those of
    the surest one) and adds less noise than before.

    Beside the published method: Types of nodes are those of a real graph that has a member of the class, and relations
    keep to the metagraph. Features are drawn once, for these nodes as they are joined in that graph, by the generators
    that every explainer has; only edges are searched. Clean graphs are connected where types allow it. Fewer steps, a
    smaller denoiser and fewer graphs in the preset ``fast``; the published numbers are those of the preset ``paper``.

    >>> explainer = D4Explainer(model, data, target="author", seed=0)        # doctest: +SKIP
    >>> explanations = explainer.fit().explain(top_k=3)                      # doctest: +SKIP
    """

    presets = PRESETS
    config: D4Settings

    @classmethod
    def within(cls, settings: RunSettings, budget: int, classes: int) -> RunSettings:
        """Fewer steps, so that each class has a few graphs, and as many graphs as that leaves."""
        assert isinstance(settings, D4Settings)
        steps = max(1, min(settings.denoising_steps, budget // (AT_LEAST * classes * settings.tries)))
        less = replace(settings, denoising_steps=steps)
        return super().within(less, max(1, budget // (steps * settings.tries + 1)), classes)

    @cached_property
    def denoiser(self) -> FlipDenoiser:
        """Which edges real graphs have, not learned yet."""
        return FlipDenoiser(self.config, device=self.device)

    def learn(self, train: GraphBatch) -> None:
        """The denoiser, and features."""

        def fit() -> FlipDenoiser:
            with self.run.stage("GGT") as tick:
                return self.denoiser.fit(train, seed=self.seed.child("GGT"), tick=tick)

        self.run.artifact(DENOISER, fit, FlipDenoiser.save, lambda path: self.denoiser.load(path, self.schema))
        self.learn_features()

    def search(self, class_index: int, sizes: Sequence[int], seed: Seed) -> GraphBatch:
        """A graph for each size, with features."""

        def furnish(graphs: GraphBatch, seed: Seed) -> GraphBatch:
            return self.bank.fill_edges(graphs, seed=seed)

        def judge(graphs: GraphBatch) -> Tensor:
            scores = self.adapter.score(graphs)
            worst = torch.full((len(graphs),), -torch.inf, dtype=torch.float64)
            return worst.scatter_reduce(0, scores.graph, scores.log_odds[:, class_index], "amax")

        carrying = furnish if self.schema.generated_edges else None
        wanted, found, places = torch.tensor(sizes, dtype=torch.long), [], []
        for size in sorted(set(sizes)):
            own = seed.child(size)
            places.append((wanted == size).nonzero()[:, 0])
            nodes = self.schema.task.meant_for(self._drawn(size, len(places[-1]), class_index, own), class_index)
            nodes = self.bank.fill(nodes, seed=own.child("features"))
            with self.denoiser.at_work(size):
                found.append(best_of_denoised(self.denoiser, nodes, judge, own, carrying))
        return GraphBatch.cat(found)[torch.cat(places).argsort()]

    def _drawn(self, size: int, count: int, class_index: int, seed: Seed) -> GraphBatch:
        """Connected real graphs of a size that have a member of the class, where there are such; without features."""
        train, scored = self.real.train, self.train_scores
        fits = (train.sizes == size) & connected(train)
        member = torch.zeros_like(fits)
        member[scored.graph[scored.labels(train) == class_index]] = True
        fits = fits & member if bool((fits & member).any()) else fits
        known = fits.nonzero()[:, 0]
        chosen = torch.randint(len(known), (count,), generator=seed.child("nodes").torch())
        drawn = train[known[chosen]].without_features()
        # Padding may lie between nodes; a stable sort moves it behind them, where it is cut off.
        return drawn.permute(drawn.mask.byte().argsort(dim=1, descending=True, stable=True))[:]

    def findings(self) -> dict[str, Any]:
        return {"structure": self.denoiser.report, "features": self.bank.report}
