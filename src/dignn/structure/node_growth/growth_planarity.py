"""Node growth, planarity: where all training graphs can be drawn without crossings, so can all that grows.

A graph of which an edge is taken away stays planar, so nothing that is not planar can become so: an edge that would
cross others is refused when it is proposed, and what a planar graph needs is never refused (cf. ConStruct, Madeira et
al., NeurIPS 2024). An exact network never proposes such an edge, so the distribution that it generates stays. What a
network that is not exact lacks in the end is put where it crosses nothing.
"""

from __future__ import annotations

import rustworkx
import torch
from torch import Tensor

# Of fewer training graphs nobody can say that all graphs of their kind are planar.
TELLING = 30
# A connected graph with fewer edges beyond a tree is always planar: K(3, 3) has four.
_ALWAYS = 4


def all_planar(joined: Tensor) -> bool:
    """Whether connected graphs with these edges (B, N, N) are enough to tell, and all planar."""
    return len(joined) >= TELLING and all(is_planar(edges) for edges in joined.unbind(0))


def is_planar(joined: Tensor) -> bool:
    """Whether a connected graph with these edges (N, N) can be drawn without crossings; single nodes do not count."""
    nodes, edges = int(joined.any(1).sum()), int(joined.sum()) // 2
    if edges - nodes + 1 < _ALWAYS:
        return True
    if edges > 3 * nodes - 6:  # Euler's formula
        return False
    graph = rustworkx.PyGraph(multigraph=False)
    graph.extend_from_edge_list(list(map(tuple, joined.triu(1).nonzero().tolist())))
    return bool(rustworkx.is_planar(graph))


class Drawings:
    """Graphs that grow and stay planar, one edge after the other."""

    def __init__(self, count: int, size: int) -> None:
        self._graphs = [rustworkx.PyGraph(multigraph=False) for _ in range(count)]
        for graph in self._graphs:
            graph.add_nodes_from(range(size))
        self._nodes = [1] * count  # that have come

    def attach(self, graph: Tensor, u: Tensor, new: Tensor) -> None:
        """A new node (b,) joined to u (b,) in each of these graphs (b,); it crosses nothing."""
        for number, first, second in zip(graph.tolist(), u.tolist(), new.tolist(), strict=True):
            self._graphs[number].add_edge(first, second, None)
            self._nodes[number] += 1

    def refused(self, graph: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """(b,) which edges from u (b,) to v (b,) of graphs (b,) cross others; all others are drawn."""
        ends = zip(graph.tolist(), u.tolist(), v.tolist(), strict=True)
        return torch.tensor([not self.draws(*each) for each in ends], dtype=torch.bool, device=u.device)

    def draws(self, number: int, u: int, v: int) -> bool:
        """Draws an edge in a graph, if it crosses no other."""
        graph = self._graphs[number]
        # A node with one neighbour lies anywhere beside an edge of that neighbour, so it can join its other end.
        around = list(graph.neighbors(v))
        beside = len(around) == 1 and graph.has_edge(around[0], u)
        graph.add_edge(u, v, None)
        fits = beside or graph.num_edges() - self._nodes[number] + 1 < _ALWAYS or rustworkx.is_planar(graph)
        if not fits:
            graph.remove_edge(u, v)
        return fits

    def keep(self, here: Tensor, chosen: Tensor) -> None:
        """Graphs ``chosen`` (b,) stand in the places ``here`` (b,) from now on."""
        found = [(self._graphs[number].copy(), self._nodes[number]) for number in chosen.tolist()]
        for number, (graph, nodes) in zip(here.tolist(), found, strict=True):
            self._graphs[number], self._nodes[number] = graph, nodes

    def complete(
        self, number: int, missing: int, joinable: Tensor, room: list[int], order: Tensor
    ) -> list[tuple[int, int]]:
        """Draws edges that found no place while a graph grew between nodes two steps apart, fewest edges first.

        Args:
            number: of the graph.
            missing: edges that it lacks.
            joinable: (N, N) which nodes an edge may join.
            room: how many edges each node can have.
            order: (N, N) numbers that decide between pairs with as many edges.

        Returns:
            The pairs u < v that were joined.
        """
        graph, may, ties = self._graphs[number], joinable.tolist(), order.tolist()
        around = [set(graph.neighbors(node)) for node in range(len(room))]
        crossed: set[tuple[int, int]] = set()
        drawn: list[tuple[int, int]] = []
        while len(drawn) < missing:
            unfilled = {node for node, own in enumerate(around) if len(own) < room[node]}
            near = {(u, v) for u in unfilled for w in around[u] for v in around[w] & unfilled - around[u] if u < v}
            fit = [(u, v) for u, v in near - crossed if may[u][v]]
            fit.sort(key=lambda pair: (len(around[pair[0]]) + len(around[pair[1]]), ties[pair[0]][pair[1]]))
            for u, v in fit:
                if self.draws(number, u, v):
                    drawn.append((u, v))
                    around[u].add(v)
                    around[v].add(u)
                    break
                crossed.add((u, v))  # and always will
            else:
                break
        return drawn
