"""Settings of GNNInterpreter, and presets. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.core.checks import at_least, positive
from dignn.core.registry import Registry
from dignn.explainers.settings import RunSettings
from dignn.selection.settings import Selection


@dataclass(frozen=True)
class InterpreterSettings(RunSettings):
    """Settings of a run, and of learning distributions of graphs.

    The paper tunes the weights of the objective's terms for each data set by hand; those here are one set for all.

    Args:
        distributions: learned for each class, for different sizes; a size that has none gets that of the nearest.
        iterations: steps of gradient descent, at most.
        draws: graphs that the objective is averaged over in each step, for each distribution.
        learning_rate: of plain gradient descent.
        temperature: of relaxed draws; the lower, the nearer they are to graphs, and the noisier is the gradient.
        embedding_weight: of the cosine distance to the mean embedding of the class's real members.
        l1_weight: of the mean absolute value of the logits of edges and types.
        l2_weight: of their mean square.
        connectivity_weight: of the divergence between edges that share an endpoint.
        budget_weight: least, and first, weight of expected edges beyond the budget.
        budget: edges; None for as many as real graphs of the size have on average.
    """

    selection: Selection = "highest"
    distributions: int = 6
    iterations: int = 2000
    draws: int = 32
    learning_rate: float = 1.0
    temperature: float = 0.15
    embedding_weight: float = 10.0
    l1_weight: float = 0.1
    l2_weight: float = 0.1
    connectivity_weight: float = 0.1
    budget_weight: float = 1.0
    budget: int | None = None

    def __post_init__(self) -> None:
        RunSettings.__post_init__(self)
        at_least(self, 1, "distributions", "iterations", "draws")
        positive(self, "learning_rate", "temperature")
        positive(
            self,
            *("embedding_weight", "l1_weight", "l2_weight", "connectivity_weight", "budget_weight"),
            zero=True,
        )
        if self.budget is not None:
            at_least(self, 1, "budget")

    def asks(self, classes: int) -> int:
        """Graphs that are scored while distributions of so many classes learn, at most."""
        return classes * self.distributions * (self.iterations * (self.draws + 1) + 1)


PRESETS: Registry[InterpreterSettings] = Registry("preset")
"""Presets by name: ``fast`` (the default), ``paper`` and ``smoke``."""
PRESETS.add("fast", InterpreterSettings())
# The published numbers of iterations and draws, which are the default.
PRESETS.add("paper", InterpreterSettings())
PRESETS.add("smoke", InterpreterSettings(subgraphs_per_size=20, candidates=96, distributions=2, iterations=15, draws=2))
