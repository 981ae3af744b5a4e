"""One answer of the model in the form that the explainers of ``torch_geometric.explain`` take, masks included.

These explainers multiply the features of nodes by masks, and messages along edges by others, which they leave in the
layers of the module that they are given. Here that module is a small one of our own: it reads the masks, and the
adapter asks the model with them as shares of features and weights of edges. So every model that the adapter can ask
can be given to them, heterogeneous or called by a function, and nothing is left in it: no mask, no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from dignn.core.errors import DignnError
from dignn.graphs.batch import GraphBatch
from dignn.graphs.description import edges
from dignn.model.adapter import GNNAdapter
from dignn.model.feature_shares import shareable
from dignn.model.hooks import has_message_passing

# What a model may raise where it does not bear masks.
_FAILURES = (DignnError, RuntimeError, TypeError, ValueError, AttributeError, KeyError, AssertionError)


class MaskedModel(nn.Module):
    """The log-odds of a class in one graph: ``forward(x, edge_index)``, with x (N, 1) and edge_index (2, E), -> (1, 1).

    ``x`` holds the share of each node's features, 1 of all. An edge weighs 1, or what an explainer masks it with.

    Args:
        adapter: asks the model.
        graph: a batch of one graph.
        node: position of the classified node; None for graph classification.
        class_index: the class.

    Attributes:
        nodes: (N,) True where features can be masked.
        edge_index: (2, E) the ends of what can be masked of edges: an undirected edge inside a type once each way.
        reason: why nothing can be masked; None where something can.
    """

    def __init__(self, adapter: GNNAdapter, graph: GraphBatch, node: int | None, class_index: int) -> None:
        super().__init__()
        self._adapter, self._graph = adapter, graph
        self._node, self._class_index = -1 if node is None else node, class_index
        self._masks = _EdgeMasks()
        featured, joined = shareable(graph, adapter.call)[0], _cells(graph)
        none, unjoined = torch.zeros_like(featured), joined[:, :0]
        tries = [(featured, joined), (featured, unjoined), (none, joined)]
        joinable = has_message_passing(adapter.model)
        self.nodes, self.edge_index, self.reason = none, unjoined, self._why_not(none, unjoined)
        for nodes, pairs in tries:
            if (nodes.any() or pairs.numel()) and (joinable or not pairs.numel()):
                self.nodes, self.edge_index, self.reason = nodes, pairs, self._why_not(nodes, pairs)
                if self.reason is None:
                    return
        self.nodes, self.edge_index = none, unjoined

    @property
    def shares(self) -> Tensor:
        """(N, 1) all features: what ``x`` is without a mask."""
        return torch.ones(len(self.nodes), 1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """The log-odds, differentiable in x and in masks of edges.  (1, 1)"""
        return _WithSlopes.apply(self._log_odds, x[:, 0], self._masks(x, edge_index)[:, 0])[None]

    def of_edges(self, values: Tensor, *, added: bool) -> list[float]:
        """Values (E,) of ``edge_index`` for the edges as people read them, as :func:`dignn.graphs.description.edges`.

        Of an undirected edge inside one type both ways have a value: shares of what the model says are ``added``, of
        masks it is the mean.
        """
        known: dict[tuple[int, ...], float] = dict(
            zip(map(tuple, self.edge_index.T.tolist()), values.tolist(), strict=True)
        )
        found = []
        for u, v, relation in edges(self._graph):
            ways = [(u, v)] if relation.directed else [(u, v), (v, u)]
            several = [known[way] for way in ways if way in known]
            found.append(sum(several) / (1 if added else len(several)))
        return found

    def _log_odds(self, share: Tensor, weight: Tensor) -> Tensor:
        """For shares of the features of nodes (N,) and weights of edges (E,).  (1,)"""
        graph, edge_weight = self._graph, None
        if self.edge_index.numel():
            u, v = self.edge_index
            edge_weight = torch.ones(graph.edge.shape).index_put((torch.zeros_like(u), u, v), weight)
        scores = self._adapter.score_weighted(graph, edge_weight, node_share=share[None])
        return scores.log_odds[scores.node == self._node, self._class_index].float()

    def _why_not(self, nodes: Tensor, pairs: Tensor) -> str | None:
        """Why these nodes and edges cannot be masked together; None where they can."""
        if not nodes.any() and not pairs.numel():
            return "it takes no features that are fractions, and passes no messages by layers of PyTorch Geometric"
        self.edge_index = pairs
        share, weight = (torch.ones(count, requires_grad=True) for count in (len(nodes), pairs.size(1)))
        try:
            answer = self._log_odds(share, weight)
        except _FAILURES as error:
            said = str(error).strip().splitlines()
            return said[0] if said else type(error).__name__
        return None if answer.requires_grad else "its answer has no gradient"


def check_maskable(adapter: GNNAdapter, graphs: GraphBatch) -> None:
    """Raises where nothing of any of these graphs can be masked."""
    reasons: list[str | None] = []
    for graph, node in zip(*(each.tolist() for each in adapter.task.answers(graphs)), strict=True):
        reasons.append(MaskedModel(adapter, graphs[graph], None if node < 0 else node, 0).reason)
        if reasons[-1] is None:
            return
    raise DignnError(
        f"Marks need a model whose answers have a gradient with respect to features or messages, and this one has none "
        f"({reasons[0] if reasons else 'no graph is answered about'}); give a module of PyTorch Geometric layers, or "
        "leave out marks"
    )


class _EdgeMasks(MessagePassing):
    """What an explainer multiplies the message of each edge by; 1 where it masks none.  (E, 1)"""

    def __init__(self) -> None:
        super().__init__(aggr=None)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x)

    def message(self, x_j: Tensor) -> Tensor:
        return torch.ones_like(x_j)

    def aggregate(self, inputs: Tensor) -> Tensor:
        return inputs


class _WithSlopes(torch.autograd.Function):
    """A scalar function of tensors whose slopes are taken at once, so that nothing else gets a gradient."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Tensor], *given: Tensor) -> Tensor:
        with torch.enable_grad():
            leaves = [each.detach().requires_grad_() for each in given]
            answer = function(*leaves)
            slopes = torch.autograd.grad(answer.sum(), leaves, allow_unused=True)
        known = [torch.zeros_like(leaf) if slope is None else slope for leaf, slope in zip(leaves, slopes, strict=True)]
        ctx.save_for_backward(*(slope.nan_to_num(0.0, 0.0, 0.0) for slope in known))
        return answer.detach()

    @staticmethod
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        return (None, *(above[0] * slope for slope in ctx.saved_tensors))


def _cells(graph: GraphBatch) -> Tensor:
    """Cells of a graph whose weights the adapter reads: of an edge between two types the one that its name goes.

    (2, E)
    """
    kept = graph.edge[0] > 0
    for code in range(1, len(graph.schema.relations) + 1):
        source, target = graph.schema.ends(code)
        if source != target:
            kept &= (graph.edge[0] != code) | (graph.node_type[0] == source)[:, None]
    return kept.nonzero().T.contiguous()
