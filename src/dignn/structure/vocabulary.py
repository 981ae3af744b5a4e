"""Words of the structure: what a node and a pair of nodes can be, as far as training graphs show it."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.schema import Schema

log = logging.getLogger(__name__)

# More edges than any node has.
UNBOUNDED = 1_000_000
# Types, classes and relations without graphs that the log names.
_NAMED = 5


@dataclass(frozen=True)
class Vocabulary:
    """Node tokens and edge tokens.

    Args:
        schema: the data's schema.
        nodes: node token k is (node type, class); the class is -1 for types that are not classified, and for
            target nodes whose class is unknown.
        edges: edge token e of an ordered pair (i, j) is (relation from i to j, relation from j to i), 0 for none;
            token 0 is (0, 0). An undirected relation r is (r, r); a directed one has the two tokens (r, 0) and
            (0, r), and (r, s) where edges go both ways.

    A type, class or relation that no training graph has is no token, so it is never generated; the log says which.
    """

    schema: Schema
    nodes: tuple[tuple[int, int], ...]
    edges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, graphs: GraphBatch) -> Vocabulary:
        """The tokens that occur in ``graphs``."""
        there = graphs.mask
        nodes = torch.stack([graphs.node_type[there], graphs.label[there]], dim=1).unique(dim=0)
        relations = len(graphs.schema.relations) + 1
        codes = (graphs.edge * relations + graphs.edge.transpose(1, 2)).flatten()
        codes = torch.cat([torch.zeros(1, dtype=torch.long), codes]).unique()
        found = cls(graphs.schema, _tuples(nodes), _tuples(torch.stack([codes // relations, codes % relations], 1)))
        if missing := found.missing():
            more = [f"{len(missing) - _NAMED} more such things"] if len(missing) > _NAMED else []
            log.warning("No training graph has %s, so no generated graph will", " or ".join(missing[:_NAMED] + more))
        return found

    def missing(self) -> list[str]:
        """Node types, classes of the target and relations of the schema that no token stands for."""
        schema = self.schema
        types, relations = {kind for kind, _ in self.nodes}, {r for pair in self.edges for r in pair}
        absent = [f"a node of type '{name}'" for code, name in enumerate(schema.node_types) if code not in types]
        if schema.target_index in types:
            known = {label for kind, label in self.nodes if kind == schema.target_index}
            absent += [f"a node of class '{name}'" for code, name in enumerate(schema.classes) if code not in known]
        return absent + [
            f"an edge {r.label}" for code, r in enumerate(schema.relations, start=1) if code not in relations
        ]

    @property
    def node_count(self) -> int:
        return len(self.nodes)

    @property
    def edge_count(self) -> int:
        return len(self.edges)

    @cached_property
    def mirror(self) -> Tensor:
        """(E,) the token of (j, i) where that of (i, j) is e."""
        return torch.tensor([self.edges.index((back, out)) for out, back in self.edges])

    @cached_property
    def types(self) -> Tensor:
        """(K,) node type of each node token."""
        return torch.tensor([kind for kind, _ in self.nodes], dtype=torch.long)

    @cached_property
    def most_edges(self) -> Tensor:
        """(K,) how many edges a node of each token has at most: :data:`UNBOUNDED`, types and classes do not tell."""
        return torch.full((self.node_count,), UNBOUNDED)

    def misfits(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """(B,) how many nodes (B, N) are not what their token says: none, types and classes say nothing of edges."""
        return torch.zeros(len(nodes), dtype=torch.long)

    @cached_property
    def allowed(self) -> Tensor:
        """(K, K, E) may nodes of these tokens be joined like this? The metagraph; token 0 (no edge) always may."""
        metagraph = torch.from_numpy(self.schema.allowed)
        source, target = self.types[:, None, None], self.types[None, :, None]
        out, back = (torch.tensor([pair[side] for pair in self.edges]) for side in (0, 1))
        return metagraph[source, target, out] & metagraph[target, source, back]

    def encode(self, graphs: GraphBatch) -> tuple[Tensor, Tensor]:
        """Tokens of nodes (B, N), -1 on padding, and of ordered pairs (B, N, N), 0 on padding."""
        labels = self.schema.num_classes + 1  # and one for unknown
        lookup = torch.full((len(self.schema.node_types) * labels,), PADDING)
        for token, (kind, label) in enumerate(self.nodes):
            lookup[kind * labels + label + 1] = token
        nodes = lookup[graphs.node_type.clamp_min(0) * labels + graphs.label + 1]
        relations = len(self.schema.relations) + 1
        pairs = torch.zeros(relations * relations, dtype=torch.long)
        for token, (out, back) in enumerate(self.edges):
            pairs[out * relations + back] = token
        return nodes.where(graphs.mask, PADDING), pairs[graphs.edge * relations + graphs.edge.transpose(1, 2)]

    def decode(self, nodes: Tensor, edges: Tensor, graph_label: Tensor) -> GraphBatch:
        """The graphs of these tokens, without features. Only ``edges`` (B, N, N) above the diagonal is read.

        Tokens may be on any device; the graphs are on the CPU.
        """
        nodes, edges, graph_label = nodes.cpu(), edges.cpu(), graph_label.cpu()
        padded = nodes < 0
        kind, label = torch.tensor([*self.nodes, (PADDING, PADDING)])[nodes.where(~padded, self.node_count)].unbind(-1)
        out, back = torch.tensor(self.edges)[edges.triu(1)].unbind(-1)
        edge, row = out + back.transpose(1, 2), torch.full_like(nodes, PADDING)
        return GraphBatch(self.schema, kind, edge, label, graph_label, row)

    def no_graphs(self) -> GraphBatch:
        """A batch without graphs."""
        nothing = torch.zeros(0, 0, dtype=torch.long)
        return self.decode(nothing, nothing[:, :, None], torch.zeros(0, dtype=torch.long))

    def to_json(self) -> str:
        return json.dumps({"schema": json.loads(self.schema.to_json()), "nodes": self.nodes, "edges": self.edges})

    @classmethod
    def from_json(cls, text: str, schema: Schema) -> Vocabulary:
        """What :meth:`to_json` wrote. Raises if it is of another schema."""
        raw: dict[str, Any] = json.loads(text)
        if raw["schema"] != json.loads(schema.to_json()):
            raise SchemaError("it is of another schema")
        return cls(schema, *(tuple((int(a), int(b)) for a, b in raw[name]) for name in ("nodes", "edges")))


def _tuples(rows: Tensor) -> tuple[tuple[int, int], ...]:
    return tuple((int(a), int(b)) for a, b in rows)
