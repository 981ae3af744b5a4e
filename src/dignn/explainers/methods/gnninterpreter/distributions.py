"""Distributions of graphs, whose parameters are logits of edges, of types and of features, and draws from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dignn.core.files import put_under
from dignn.core.seeds import Seed
from dignn.explainers.methods.gnninterpreter.feature_relaxation import FeatureRelaxation
from dignn.explainers.methods.gnninterpreter.relaxation import bernoulli, categorical, gumbel, logistic
from dignn.explainers.methods.gnninterpreter.slots import LEAST_PROBABILITY, PairFrequencies, Slots
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.edge_tables import own_cells, with_rows

# Relaxed edges of less weight are left out: they hardly have a gradient, and cost as much as others.
LEAST_WEIGHT = 0.01
# Deviation of the logits of edges around those of real frequencies at the start, so that slots are not all alike.
_SPREAD = 0.5
# What is added to the logit of a type that a slot cannot have.
IMPOSSIBLE = -30.0


@dataclass(frozen=True, eq=False)
class Drawn:
    """B graphs, relaxed or not.

    Args:
        graphs: with features, which have gradients where they are relaxed.
        edge_weight: (B, N, N).
        type_weight: (B, N, T), where types are learned.
        perturbed: (B, M) logits of the pairs with their noise; -inf where nodes cannot be joined.
        token: (B, M) what each pair is joined by, if it is; 0 where it cannot be.
    """

    graphs: GraphBatch
    edge_weight: Tensor
    type_weight: Tensor | None
    perturbed: Tensor
    token: Tensor


@dataclass(frozen=True, eq=False)
class _Learned:
    """Features of one type: how rows are made, a real row (n, d) and logits (n, d) for each slot of the type."""

    relaxation: FeatureRelaxation
    real: Tensor
    logits: Tensor


class Distributions:
    """P distributions of graphs, begun at the frequencies of real graphs.

    Args:
        slots: what is fixed.
        frequencies: of real graphs.
        rows: by node type, and by the label of a relation, real rows of features (n, d).
        seed: of where logits begin.
        learned_types: whether types are learned too, which a model must see as features (``schema.type_in_x``).

    Attributes:
        edge: (P, M) logits of edges.
        kind: (P, N, T) logits of types; None where they are fixed.
        possible: (P, M) pairs that may be joined.
    """

    def __init__(
        self,
        slots: Slots,
        frequencies: PairFrequencies,
        rows: Mapping[str, Tensor],
        seed: Seed,
        *,
        learned_types: bool = False,
    ) -> None:
        self.slots, self.frequencies, self.schema = slots, frequencies, frequencies.vocabulary.schema
        self._rows = rows
        first, second = slots.node_type[:, slots.ends[0]], slots.node_type[:, slots.ends[1]]
        there = (first >= 0) & (second >= 0)
        self._token = frequencies.tokens(first, second, slots.place)
        self.possible = there if learned_types else self._token > 0
        begin = frequencies.joined[first.clamp_min(0), second.clamp_min(0)]
        begin = begin.clamp(LEAST_PROBABILITY, 1 - LEAST_PROBABILITY).logit()
        noise = torch.randn(begin.shape, generator=seed.child("edges").torch())
        self.edge = (begin + _SPREAD * noise).requires_grad_()
        self.kind: Tensor | None = None
        self._kind_bias = torch.zeros(len(frequencies.types))
        if learned_types:
            self._begin_types()
        self._features = self._begin_features(seed.child("rows"))

    def _begin_types(self) -> None:
        share = self.frequencies.types
        self.kind = share.clamp_min(1e-3).log().expand(*self.slots.node_type.shape, -1).clone().requires_grad_()
        bias = torch.zeros_like(self.kind)
        bias[..., share == 0] = IMPOSSIBLE
        if not self.schema.task.of_graphs:
            bias[:, 0, ~torch.from_numpy(self.schema.task.types(self.schema.node_types))] = IMPOSSIBLE
        self._kind_bias = bias.detach()

    def _begin_features(self, seed: Seed) -> dict[str, _Learned]:
        found = {}
        self._position = torch.full_like(self.slots.node_type, PADDING)  # of a slot among those of its type
        for code, name in enumerate(self.schema.node_types):
            here = self.slots.node_type == code
            if self.kind is not None or name not in self._rows or not bool(here.any()):
                continue
            count, real = int(here.sum()), self._rows[name]
            self._position[here] = torch.arange(count)
            relaxation = FeatureRelaxation.of(real, self.schema.spec(code))
            chosen = real[torch.randint(len(real), (count,), generator=seed.child(name).torch())]
            found[name] = _Learned(relaxation, chosen, relaxation.start(chosen).requires_grad_())
        return found

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def parameters(self) -> dict[str, Tensor]:
        """Everything that is learned, by name."""
        kinds = {} if self.kind is None else {"kind": self.kind}
        features = {name: learned.logits for name, learned in self._features.items()}
        return {"edge": self.edge, **kinds, **put_under("features.", features)}

    @torch.no_grad()
    def restore(self, parameters: Mapping[str, Tensor]) -> None:
        """Takes parameters that distributions begun alike have learned.

        Raises:
            ValueError: they have other shapes.
        """
        for name, parameter in self.parameters.items():
            if parameters[name].shape != parameter.shape:
                raise ValueError(f"{name} has shape {tuple(parameters[name].shape)}, not {tuple(parameter.shape)}")
            parameter.copy_(parameters[name])

    @property
    def expected_edges(self) -> Tensor:
        """(P,) before graphs are made connected."""
        return (self.edge.detach().sigmoid() * self.possible).sum(1)

    # -- drawing --------------------------------------------------------------------------------------

    def draw(self, which: Tensor, temperature: float | None, generator: torch.Generator | None) -> Drawn:
        """A graph of each of these distributions (B,).

        Args:
            which: numbers of distributions.
            temperature: of relaxed draws; None for draws.
            generator: of the noise; None for the most probable graphs.
        """
        type_weight, node_type = None, self.slots.node_type[which]
        token = self._token[which]
        if self.kind is not None:
            noisy = (self.kind + self._kind_bias)[which]
            noisy = noisy if generator is None else noisy + gumbel(tuple(noisy.shape), generator)
            type_weight = categorical(noisy, temperature)
            node_type = noisy.argmax(-1).where(node_type >= 0, PADDING)
            first, second = node_type[:, self.slots.ends[0]], node_type[:, self.slots.ends[1]]
            token = self.frequencies.tokens(first, second, self.slots.place[which])
        perturbed = self.edge[which]
        perturbed = perturbed if generator is None else perturbed + logistic(tuple(perturbed.shape), generator)
        weight = bernoulli(perturbed, temperature).where(token > 0, 0.0)
        graphs = self.with_edges(node_type, token.where(weight >= LEAST_WEIGHT, 0), which)
        graphs = self._with_features(graphs, which, temperature, generator)
        return Drawn(graphs, self._cells(weight), type_weight, perturbed.where(token > 0, -torch.inf), token)

    def with_edges(self, node_type: Tensor, token: Tensor, which: Tensor) -> GraphBatch:
        """Graphs without features of nodes: types (B, N), and what each pair is joined by (B, M)."""
        start, end = self.slots.ends
        out, back = torch.tensor(self.frequencies.vocabulary.edges)[token].unbind(-1)
        edge = torch.zeros(*node_type.shape, node_type.size(1), dtype=torch.long)
        edge[:, start, end], edge[:, end, start] = out, back
        nothing = torch.full_like(node_type, PADDING)
        graphs = GraphBatch(
            self.schema, node_type, edge, nothing, torch.full((len(node_type),), PADDING), nothing.clone()
        )
        for label in self.schema.generated_edges:
            graphs = self._with_edge_rows(graphs, label, which)
        return graphs

    def _with_edge_rows(self, graphs: GraphBatch, label: str, which: Tensor) -> GraphBatch:
        """What edges carry is not learned: each pair has the same real row always."""
        if label not in self._rows:
            return graphs
        table = self._rows[label]
        graph, source, target = own_cells(graphs, graphs.node_type, label)
        place = self._cells(self.slots.row_place[which])[graph, source, target]
        return with_rows(graphs, label, (graph, source, target), (place * len(table)).long(), table)

    def _cells(self, values: Tensor) -> Tensor:
        """(B, M) of pairs -> (B, N, N), symmetric."""
        start, end = self.slots.ends
        size = self.slots.node_type.size(1)
        flat = values.new_zeros(len(values), size * size).index_copy(1, start * size + end, values)
        cells = flat.view(-1, size, size)
        return cells + cells.transpose(1, 2)

    def _with_features(
        self, graphs: GraphBatch, which: Tensor, temperature: float | None, generator: torch.Generator | None
    ) -> GraphBatch:
        row, tables, position = graphs.row.clone(), {}, self._position[which]
        for name, learned in self._features.items():
            here = graphs.node_type == self.schema.type_index(name)
            slot = position[here]
            tables[name] = learned.relaxation.rows(learned.logits[slot], learned.real[slot], temperature, generator)
            row[here] = torch.arange(len(slot))
        return replace(graphs, row=row, tables=tables)
