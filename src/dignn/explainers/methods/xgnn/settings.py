"""Settings of XGNN, and their presets. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.core.checks import at_least, number, positive, share
from dignn.core.errors import DignnError
from dignn.core.registry import Registry
from dignn.explainers.settings import RunSettings
from dignn.features.settings import FeatureSettings
from dignn.selection.settings import Selection


@dataclass(frozen=True)
class XGNNSettings(FeatureSettings, RunSettings):
    """Settings of XGNN: those of a run and of features, and how policies learn. The defaults are the published ones.

    Args:
        iterations: graphs that each policy builds while it learns.
        steps: decisions about such a graph, each of which is rewarded, and so its edges at most.
        rollouts: ways in which the policy finishes a graph, to see what a decision leads to; 0 for not looking ahead.
        rollout_weight: what the mean reward of these ways counts.
        valid_reward: reward of a decision that the data allows: an edge that is not there yet, within the degrees and
            sizes of real graphs.
        invalid_reward: reward of any other, which is undone.
        learning_rate: of stochastic gradient descent.
        momentum: of the same.
    """

    selection: Selection = "highest"
    iterations: int = 50
    steps: int = 30
    rollouts: int = 10
    rollout_weight: float = 2.0
    valid_reward: float = 0.1
    invalid_reward: float = -1.0
    learning_rate: float = 0.01
    momentum: float = 0.9

    def __post_init__(self) -> None:
        for part in (RunSettings, FeatureSettings):
            part.__post_init__(self)
        at_least(self, 1, "iterations", "steps")
        at_least(self, 0, "rollouts")
        positive(self, "learning_rate")
        positive(self, "rollout_weight", "valid_reward", zero=True)
        share(self, "momentum")
        if number("invalid_reward", self.invalid_reward, "a number below 0") >= 0:
            raise DignnError(f"invalid_reward is {self.invalid_reward}; it must be below 0, or nothing is forbidden")

    def asks(self, classes: int) -> int:
        """Graphs that are scored while the policies of so many classes learn, at most."""
        return classes * self.iterations * self.steps * (1 + self.rollouts)


PRESETS: Registry[XGNNSettings] = Registry("preset")
"""Presets by name: ``fast`` (the default) and ``smoke``."""
PRESETS.add("fast", XGNNSettings())
PRESETS.add(
    "smoke",
    XGNNSettings(features="bootstrap", subgraphs_per_size=20, candidates=96, iterations=2, steps=8, rollouts=2),
)
