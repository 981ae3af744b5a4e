"""How policies learn: every decision is rewarded for being valid, for what the model says, and for what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from dignn.core.progress import Tick, silent
from dignn.core.seeds import Seed
from dignn.explainers.methods.xgnn.building import Building, Rules
from dignn.explainers.methods.xgnn.policy import Policies
from dignn.explainers.methods.xgnn.policy_walks import finish
from dignn.explainers.methods.xgnn.settings import XGNNSettings
from dignn.graphs.batch import GraphBatch


class Judge(Protocol):
    """The model, as far as it is needed here."""

    def __call__(self, graphs: GraphBatch, wanted: Tensor, seed: Seed) -> Tensor:
        """(G,) the probability of a class ``wanted`` (G,) of each graph, or of its first node; features are drawn."""


@dataclass(frozen=True)
class PolicyTraining:
    """Policy gradients (Yuan et al. 2020, section 3.4) for all classes side by side, which learn nothing of each other.

    A decision that is not valid is undone and gets ``invalid_reward``. Any other gets ``valid_reward``, and the class's
    probability of the graph that it leads to, above chance, and ``rollout_weight`` times the mean of the same over
    graphs that the policy makes from there. Where nothing valid is left, a graph is finished.

    Args:
        rules: what is valid.
        judge: the model.
        settings: of XGNN.
        most_nodes: nodes of a graph at most.
    """

    rules: Rules
    judge: Judge
    settings: XGNNSettings
    most_nodes: int

    def train(self, policies: Policies, *, seed: Seed, tick: Tick = silent) -> dict[str, Any]:
        """Trains them in place; returns the mean reward of each iteration by class."""
        settings, generator = self.settings, seed.child("decisions").torch()
        parameters = list(policies.parameters())
        velocity = [torch.zeros_like(parameter) for parameter in parameters]
        rewards = []
        for iteration in range(settings.iterations):
            building = Building.begin(self.rules, policies.classes, self.most_nodes, generator)
            total, decisions = torch.zeros(policies.classes), torch.zeros(policies.classes)
            for step in range(settings.steps):
                may = building.valid(self.most_nodes)
                unfinished = may.flatten(1).any(1)
                if not bool(unfinished.any()):
                    break
                decision = policies.decide(building, building.consistent(), generator)
                choice = decision.choice
                valid = may[torch.arange(policies.classes), choice.start, choice.tail]
                building, left = building.joined(choice, valid), settings.steps - step - 1
                reward = self.rewards(policies, building, valid, left, seed.child(iteration, step), generator)
                loss = -(reward * decision.log_probability)[unfinished].sum()
                slopes = torch.autograd.grad(loss, parameters)
                self._descend(parameters, slopes, velocity, unfinished)
                total += reward.where(unfinished, 0.0)
                decisions += unfinished
            rewards.append((total / decisions.clamp_min(1)).tolist())
            tick(iteration + 1, settings.iterations)
        return {"reward": rewards}

    @torch.no_grad()
    def _descend(
        self, parameters: Sequence[Tensor], slopes: Sequence[Tensor], velocity: Sequence[Tensor], some: Tensor
    ) -> None:
        """A step of gradient descent with momentum, for ``some`` (C,) of the classes; all others stand still."""
        for parameter, slope, own in zip(parameters, slopes, velocity, strict=True):  # (C, ...) each
            own[some] = self.settings.momentum * own[some] + slope[some]
            parameter[some] -= self.settings.learning_rate * own[some]

    def rewards(
        self, policies: Policies, building: Building, valid: Tensor, left: int, seed: Seed, generator: torch.Generator
    ) -> Tensor:
        """(C,) the reward of one decision of each class.

        Args:
            policies: of C classes.
            building: (C) graphs after the decision, or as before where it is not valid.
            valid: (C,) whether it is.
            left: decisions that may follow.
            seed: of features.
            generator: of decisions that follow.
        """
        settings = self.settings
        reward = torch.full((policies.classes,), float(settings.invalid_reward))
        wanted = valid.nonzero()[:, 0]
        if not len(wanted):
            return reward
        ways = finish(policies, building.repeat(settings.rollouts), left, generator)
        chosen = valid.repeat_interleave(settings.rollouts)
        judged = Building(
            self.rules,
            torch.cat([building.nodes[valid], ways.nodes[chosen]]),
            torch.cat([building.edges[valid], ways.edges[chosen]]),
        )
        classes = torch.cat([wanted, wanted.repeat_interleave(settings.rollouts)])
        gain = self.judge(judged.graphs(), classes, seed) - 1 / policies.classes
        now, later = gain[: len(wanted)], gain[len(wanted) :].reshape(len(wanted), settings.rollouts)
        ahead = later.mean(1) if settings.rollouts else torch.zeros(len(wanted))
        reward[valid] = settings.valid_reward + now + settings.rollout_weight * ahead
        return reward
