"""Learning distributions of graphs by gradient descent through the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from dignn.core.errors import DignnError, ModelMismatchError, NotNumbersError
from dignn.core.seeds import Seed
from dignn.explainers.methods.gnninterpreter.distributions import Distributions, Drawn
from dignn.explainers.methods.gnninterpreter.objective import (
    beyond_budget,
    class_terms,
    connectivity,
    next_budget_weight,
    norms,
    sure,
)
from dignn.explainers.methods.gnninterpreter.settings import InterpreterSettings
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores

# Steps between two looks at the discretised graphs, by which the weight of the budget goes: a look costs half a step.
_LOOK_EVERY = 5


class Learning:
    """Learns distributions of graphs that the model takes for one class.

    A distribution is done at the first look at which its most probable graph is sure of the class and its expected
    edges are within its budget. It changes no more then, and the model is not asked about it.

    Args:
        distributions: they are changed.
        adapter: asks the model.
        class_index: the class.
        centre: (D,) mean embedding of its real members; empty where it has none.
        settings: of the objective and of descent.

    Attributes:
        going: (Q,) numbers of the distributions that are not done.
        budget_weight: (P,) of each distribution.
        probability: (P,) of the class of the most probable graph of each, at the last look.
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
        self.going = torch.arange(len(distributions))
        self.budget_weight = torch.full((len(distributions),), float(settings.budget_weight))
        self.probability = torch.zeros(len(distributions))

    def run(self, seed: Seed) -> dict[str, Any]:
        """Steps until all are done, or as many as the settings say.

        Returns:
            What was reached, for the report: by distribution the probability of its most probable graph, expected edges
            and their budget; and how many are done.

        Raises:
            NotNumbersError: descent led to parameters that are no numbers.
        """
        generator = seed.torch()
        for number in range(1, self.settings.iterations + 1):
            if not len(self.going):
                break
            self._step(generator)
            if number % _LOOK_EVERY == 0 or number == self.settings.iterations:
                self._look()
        own = self.distributions
        return {
            "probability": [round(value, 4) for value in self.probability.tolist()],
            "expected_edges": [round(value, 2) for value in own.expected_edges.tolist()],
            "budget": [round(value, 2) for value in own.slots.budget.tolist()],
            "sure_within_budget": len(own) - len(self.going),
        }

    def _step(self, generator: torch.Generator) -> None:
        parameters = list(self.distributions.parameters.values())
        slopes = torch.autograd.grad(self.objective(generator).sum(), parameters, allow_unused=True)
        with torch.no_grad():
            for parameter, slope in zip(parameters, slopes, strict=True):
                if slope is not None:
                    parameter -= self.settings.learning_rate * slope
                if not bool(parameter.isfinite().all()):
                    raise NotNumbersError(
                        f"gnninterpreter's distributions of '{self.adapter.schema.classes[self.class_index]}' "
                        "have become values that are no numbers, because the model's gradients are too large, or no "
                        "numbers themselves; "
                        f"lower learning_rate, which is {self.settings.learning_rate}, or choose another explainer"
                    )

    @torch.no_grad()
    def _look(self) -> None:
        """Sees which distributions are done, and how strict the budgets of the others become."""
        own, going = self.distributions, self.going
        self.probability[going] = self.discretised(going)
        done = sure(self.probability) & (own.expected_edges <= own.slots.budget)
        self.budget_weight[going] = next_budget_weight(
            self.budget_weight[going], self.probability[going], self.settings.budget_weight, _LOOK_EVERY
        )
        self.going = (~done).nonzero()[:, 0]

    def objective(self, generator: torch.Generator) -> Tensor:
        """(Q,) the objective of each distribution that is not done, of relaxed draws, with a gradient."""
        own, settings, going = self.distributions, self.settings, self.going
        scores = self._answers(own.draw(going.repeat_interleave(settings.draws), settings.temperature, generator))
        against = class_terms(
            scores.logits[:, self.class_index], scores.embedding, self.centre, settings.embedding_weight
        )
        edge, possible = own.edge[going], own.possible[going]
        total = against.view(len(going), settings.draws).mean(1)
        total = total + norms(edge, possible, settings.l1_weight, settings.l2_weight)
        if own.kind is not None:
            kind = own.kind[going]
            there = (own.slots.node_type[going] >= 0)[:, :, None].expand_as(kind).flatten(1)
            total = total + norms(kind.flatten(1), there, settings.l1_weight, settings.l2_weight)
        total = total + settings.connectivity_weight * connectivity(edge, possible, own.slots.ends)
        return total + self.budget_weight[going] * beyond_budget(edge, possible, own.slots.budget[going])

    @torch.no_grad()
    def discretised(self, which: Tensor) -> Tensor:
        """(B,) the class's probability of the most probable graphs of these (B,), before they are made connected."""
        drawn = self.distributions.draw(which, None, None)
        scores = first_answers(self.adapter.score(drawn.graphs))
        return scores.probability[:, self.class_index].float()

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
