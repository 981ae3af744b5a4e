"""Policies at work: graphs that they finish, and graphs of given sizes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dignn.explainers.methods.xgnn.building import Building
from dignn.explainers.methods.xgnn.policy import Policies
from dignn.graphs.batch import GraphBatch


@torch.no_grad()
def finish(policies: Policies, building: Building, steps: int, generator: torch.Generator) -> Building:
    """What the policies make of unfinished graphs in so many valid steps, or as many as there are.

    Args:
        policies: of C classes.
        building: G graphs; the first G / C belong to the first class, and so on.
        steps: edges that are added at most.
        generator: of the draws.
    """
    for _ in range(steps if len(building.nodes) else 0):
        decision = policies.decide(building, building.valid(building.nodes.size(1)), generator)
        if not bool(decision.possible.any()):
            break
        building = building.joined(decision.choice, decision.possible)
    return building


@torch.no_grad()
def build(policy: Policies, sizes: Sequence[int], edges: Tensor, generator: torch.Generator) -> Building:
    """Connected graphs of exactly these sizes, as far as the metagraph has nodes to add.

    A policy has no decision that ends a graph. When as many edges are left as nodes, every one adds a node. Where no
    node can be added within the degrees of real graphs, one is added beyond them; where no edge can, there are fewer.

    Args:
        policy: of one class.
        sizes: nodes of each graph, at least 1.
        edges: (G,) of each graph, at least those of a tree.
        generator: of the draws.
    """
    size = torch.tensor(sizes, dtype=torch.long)
    building = Building.begin(policy.rules, len(sizes), max(sizes, default=1), generator)
    for step in range(int(edges.max()) if len(sizes) else 0):
        lacking = size - building.sizes
        ends = building.valid(size)
        only_grows = (lacking > 0) & (edges - step <= lacking)
        ends = ends.where(~only_grows[:, None, None], building.growing(ends))
        stuck = (lacking > 0) & ~ends.flatten(1).any(1)
        ends = ends.where(~stuck[:, None, None], building.growing(building.consistent()))
        ends &= (step < edges)[:, None, None]
        decision = policy.decide(building, ends, generator)
        building = building.joined(decision.choice, decision.possible)
    return building


def edges_like_real(sizes: Sequence[int], real: GraphBatch, generator: torch.Generator) -> Tensor:
    """As many edges beyond those of a tree as some real graph of each size has, or of the nearest size.  (G,)"""
    wanted, known = torch.tensor(sizes, dtype=torch.long), real.sizes
    beyond = (real.undirected.sum((1, 2)) // 2 - known + 1).clamp_min(0)
    found = wanted - 1
    for size in wanted.unique().tolist():
        nearest = known[(known - size).abs().argmin()]
        own, places = beyond[known == nearest], (wanted == size).nonzero()[:, 0]
        found[places] += own[torch.randint(len(own), (len(places),), generator=generator)]
    return found
