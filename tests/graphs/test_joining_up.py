"""What is drawn, and what it takes to connect it."""

from __future__ import annotations

import networkx as nx
import torch

from dignn.core.seeds import Seed
from dignn.graphs.joining_up import joined_up


def test_what_is_drawn_is_joined_up_by_the_highest_scores() -> None:
    """Against spanning trees of networkx."""
    size = 7
    score = torch.randn(40, 21, generator=Seed(0).torch()) - 1
    score[:, 3] = -torch.inf
    made = joined_up(score, size)
    assert torch.equal(made[score > 0], torch.ones(int((score > 0).sum()), dtype=torch.bool))
    pairs = torch.triu_indices(size, size, 1).T.tolist()
    for number in range(len(score)):
        whole = nx.Graph()
        whole.add_weighted_edges_from((*pairs[place], float(score[number, place])) for place in range(21) if place != 3)
        tree = {tuple(sorted(edge)) for edge in nx.maximum_spanning_tree(whole).edges}
        drawn = {tuple(pairs[place]) for place in (score[number] > 0).nonzero()[:, 0].tolist()}
        assert {tuple(pairs[place]) for place in made[number].nonzero()[:, 0].tolist()} == tree | drawn


def test_nodes_that_nothing_joins_stay_alone() -> None:
    score = torch.tensor([[-1.0, -torch.inf, -torch.inf]])  # of three nodes the third
    assert joined_up(score, 3).tolist() == [[True, False, False]]
    assert joined_up(torch.empty(2, 0), 1).shape == (2, 0)


def test_parts_that_cannot_be_joined_are_connected_each() -> None:
    """The pairs are 01 02 03 12 13 23: nodes 0 and 1 are never joined with 2 and 3."""
    score = torch.tensor([[-4.0, -torch.inf, -torch.inf, -torch.inf, -torch.inf, -5.0]])
    assert joined_up(score, 4).tolist() == [[True, False, False, False, False, True]]
