"""The part that a node plays in a finished graph: how many edges it has, and how short a cycle it lies on.

A grid's corner, side and centre differ by it, as do the walls and the roof of a house. A growth that knows which parts
are still to be filled closes shapes exactly, and a graph that has grown can be held against what was planned. Nodes of
trees lie on no cycle; there it is told how far they are from leaves, as which twigs differ from boughs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Numbers that a search for cycles holds at once, for each of its few tensors.
_CELLS = 2**22


@dataclass(frozen=True)
class Position:
    """How nodes stand in finished graphs, 0 on padding.

    Args:
        degree: (B, N) number of edges.
        cycle: (B, N) length of the shortest cycle through the node, 0 where there is none so short.
        height: (B, N) how often leaves are taken away until the node is gone, up to some number: 1 for leaves.
    """

    degree: Tensor
    cycle: Tensor
    height: Tensor

    @classmethod
    def of(cls, joined: Tensor, cycles: int, heights: int) -> Position:
        """That of nodes in graphs with these edges (B, N, N), cycles up to this length and heights up to this one."""
        degree = joined.sum(2)
        nothing = torch.zeros_like(degree)
        return cls(
            degree,
            shortest_cycles(joined, cycles) if cycles else nothing,
            heights_above_leaves(joined, heights) if heights else nothing,
        )


@dataclass(frozen=True)
class Detail:
    """What is told apart.

    Args:
        degrees: numbers of edges are told apart up to this one, which stands for larger ones as well; 0 for not at all.
        cycles: lengths of the shortest cycle through a node are told apart up to this one; longer is none.
        heights: heights above leaves are told apart up to this one, which stands for larger ones as well.
    """

    degrees: int
    cycles: int
    heights: int = 0

    @property
    def count(self) -> int:
        """Number of roles."""
        return (self.degrees + 1) * (self.cycles + 1) * (self.heights + 1)

    def roles(self, joined: Tensor) -> Tensor:
        """(B, N) role of each node of graphs with these edges (B, N, N); 0 on padding."""
        return self.told(Position.of(joined, self.cycles, self.heights))

    def told(self, position: Position) -> Tensor:
        """(B, N) role of nodes that stand so."""
        cycle = position.cycle.where(position.cycle <= self.cycles, 0)
        role = position.degree.clamp_max(self.degrees) * (self.cycles + 1) + cycle
        return role * (self.heights + 1) + position.height.clamp_max(self.heights)


# What words may tell of roles, the most first.
DETAILS = (Detail(degrees=7, cycles=6), Detail(degrees=4, cycles=6), Detail(degrees=0, cycles=6), Detail(0, 0))
# The same where all graphs are trees.
TREE_DETAILS = (Detail(7, 0, heights=3), Detail(7, 0), Detail(4, 0), Detail(0, 0, heights=3), Detail(0, 0))


def heights_above_leaves(joined: Tensor, most: int) -> Tensor:
    """(B, N) in which round a node is gone when leaves are taken away again and again, at most ``most``.

    1 for leaves, ``most`` for all that would stay longer or for ever; 0 on padding and for nodes without edges.

    Args:
        joined: (B, N, N) whether two nodes have an edge; symmetric, without self-loops.
        most: rounds.
    """
    stays = joined.any(2)
    found = stays.long()
    for height in range(2, most + 1):
        left = joined & stays[:, :, None] & stays[:, None, :]
        stays = stays & (left.sum(2) > 1)
        found[stays] = height
    return found


def shortest_cycles(joined: Tensor, longest: int) -> Tensor:
    """(B, N) length of the shortest cycle through each node, 0 where there is none up to ``longest``.

    Some graphs at a time, so that memory stays small however many and dense they are.

    A cycle through an edge is a way from one end to the other that does not take the edge, so a search of at most
    ``longest`` - 1 steps starts from one end of every edge.

    Args:
        joined: (B, N, N) whether two nodes have an edge; symmetric, without self-loops.
        longest: of the cycles.
    """
    size = joined.size(1)
    most = int(joined.sum((1, 2)).max()) // 2 if len(joined) else 0
    at_once = max(1, _CELLS // max(1, most * size))
    return torch.cat([_shortest_cycles(some, longest) for some in joined.split(at_once)])


def _shortest_cycles(joined: Tensor, longest: int) -> Tensor:
    count, size, _ = joined.shape
    graph, u, v = joined.triu(1).nonzero(as_tuple=True)
    number = torch.bincount(graph, minlength=count)
    most = int(number.max()) if len(graph) else 0
    place = torch.arange(len(graph), device=joined.device) - (number.cumsum(0) - number)[graph]
    ends = torch.zeros(2, count, most, 1, dtype=torch.long, device=joined.device)
    ends[:, graph, place, 0] = torch.stack([u, v])
    one, other = ends
    step = joined.float()
    front = torch.zeros(count, most, size, device=joined.device)
    front[graph, place, u] = 1.0
    unseen, length = front == 0, torch.zeros(count, most, dtype=torch.long, device=joined.device)
    for steps in range(1, min(size, longest)):
        reached = front @ step
        for here, there in ((one, other), (other, one)):  # not by the edge itself
            reached.scatter_add_(2, there, -front.gather(2, here))
        front = ((reached > 0.5) & unseen).float()
        unseen &= front == 0
        length[(front.gather(2, other)[..., 0] > 0) & (length == 0)] = steps + 1
    never = longest + 1
    length = length[graph, place]
    shortest = torch.full((count * size,), never, device=joined.device)
    for end in (u, v):
        shortest.scatter_reduce_(0, graph * size + end, length.where(length > 0, never), "amin")
    return shortest.where(shortest < never, 0).view(count, size)
