"""Learning distributions of graphs by gradient descent through the model."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from dignn.core.errors import DignnError, ModelMismatchError
from dignn.core.seeds import Seed
from dignn.explainers.methods.gnninterpreter.distributions import Distributions, Drawn
from dignn.explainers.methods.gnninterpreter.objective import (
    beyond_budget,
    class_terms,
    connectivity,
    next_budget_weight,
    norms,
)
from dignn.explainers.methods.gnninterpreter.settings import InterpreterSettings
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores

# Steps between two looks at the discretised graphs, by which the weight of the budget goes: a look costs half a step.
_LOOK_EVERY = 5


class Learning:
    """Learns distributions of graphs that the model takes for one class.

    Args:
        distributions: they are changed.
        adapter: asks the model.
        class_index: the class.
        centre: (D,) mean embedding of its real members; empty where it has none.
        settings: of the objective and of descent.
    """

    def __init__(
        self,
        distributions: Distributions,
        adapter: GNNAdapter,
        class_index: int,
        centre: Tensor,
        settings: InterpreterSettings,
    ) -> None:
        self.distributions, self.adapter, self.settings = distributions, adapter, settings
        self.class_index, self.centre = class_index, centre
        self.budget_weight = torch.full((len(distributions),), float(settings.budget_weight))

    def run(self, seed: Seed) -> Tensor:
        """As many steps as the settings say.

        Returns:
            (P,) the probability of the class of the most probable graph of each distribution at the end.
        """
        generator = seed.torch()
        parameters = self.distributions.parameters
        for number in range(self.settings.iterations):
            slopes = torch.autograd.grad(self.objective(generator).sum(), parameters, allow_unused=True)
            with torch.no_grad():
                for parameter, slope in zip(parameters, slopes, strict=True):
                    if slope is not None:
                        parameter -= self.settings.learning_rate * slope
            if (number + 1) % _LOOK_EVERY == 0:
                self.budget_weight = next_budget_weight(
                    self.budget_weight, self.discretised(), self.settings.budget_weight, _LOOK_EVERY
                )
        return self.discretised()

    def objective(self, generator: torch.Generator) -> Tensor:
        """(P,) the objective of each distribution, of relaxed draws, with a gradient."""
        own, settings = self.distributions, self.settings
        which = torch.arange(len(own)).repeat_interleave(settings.draws)
        scores = self._answers(own.draw(which, settings.temperature, generator))
        against = class_terms(
            scores.logits[:, self.class_index], scores.embedding, self.centre, settings.embedding_weight
        )
        total = against.view(len(own), settings.draws).mean(1)
        total = total + norms(own.edge, own.possible, settings.l1_weight, settings.l2_weight)
        if own.kind is not None:
            there = (own.slots.node_type >= 0)[:, :, None].expand_as(own.kind).flatten(1)
            total = total + norms(own.kind.flatten(1), there, settings.l1_weight, settings.l2_weight)
        total = total + settings.connectivity_weight * connectivity(own.edge, own.possible, own.slots.ends)
        return total + self.budget_weight * beyond_budget(own.edge, own.possible, own.slots.budget)

    @torch.no_grad()
    def discretised(self) -> Tensor:
        """(P,) the probability of the class of the most probable graphs, before they are made connected."""
        drawn = self.distributions.draw(torch.arange(len(self.distributions)), None, None)
        scores = first_answers(self.adapter.score(drawn.graphs))
        return scores.probability[:, self.class_index]

    def _answers(self, drawn: Drawn) -> Scores:
        """One of each graph, differentiable."""
        return first_answers(
            self.adapter.score_weighted(
                drawn.graphs, drawn.edge_weight, type_weight=drawn.type_weight, partial_edges=True
            )
        )


def first_answers(scores: Scores) -> Scores:
    """Of each graph the answer about slot 0, or about the graph itself."""
    return scores[(scores.node <= 0).nonzero()[:, 0]]


def check_gradients(adapter: GNNAdapter, graphs: GraphBatch) -> None:
    """Refuses a model that says nothing about how its scores change with edges, though they do.

    Raises:
        ModelMismatchError: its scores have no gradient with respect to weights of the edges of these graphs, and are
            others without edges.
    """
    weight = torch.ones(graphs.edge.shape, requires_grad=True)
    tables = {name: table.detach().clone().requires_grad_() for name, table in graphs.tables.items()}
    try:
        logits = adapter.score_weighted(replace(graphs, tables=tables), weight, partial_edges=True).logits
        slopes = torch.autograd.grad(logits.sum(), weight, allow_unused=True) if logits.requires_grad else (None,)
        blind = slopes[0] is None and (not logits.requires_grad or _goes_by_edges(adapter, graphs))
        reason = "its scores do not depend on weights of edges" if blind else None
    except (DignnError, RuntimeError, TypeError, AttributeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if reason is not None:
        raise ModelMismatchError(
            f"gnninterpreter needs the gradient of the model's scores with respect to edges, which this model does not "
            f"give ({reason}); give a module of PyTorch Geometric layers, or choose an explainer without gradients, "
            "for example dignnexplainer"
        )


def _goes_by_edges(adapter: GNNAdapter, graphs: GraphBatch) -> bool:
    """Whether scores of these graphs are others without edges. Those that carry something are not taken away."""
    if graphs.edge_tables:
        return True
    bare = replace(graphs, edge=torch.zeros_like(graphs.edge))
    with_edges, without = (adapter.score(each, counted=False).logits for each in (graphs, bare))
    return not torch.allclose(with_edges, without, atol=1e-5)
