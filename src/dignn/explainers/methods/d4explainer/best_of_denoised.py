"""The search of D4Explainer: from noise back to a clean graph, step by step by what the model takes for a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.explainers.methods.d4explainer.flip_denoiser import FlipDenoiser
from dignn.explainers.methods.d4explainer.flip_noise import square, uniform
from dignn.graphs.batch import GraphBatch
from dignn.graphs.joining_up import joined_up

Furnish = Callable[[GraphBatch, Seed], GraphBatch]
"""(graphs with features of nodes, seed) -> the same with features of edges"""
Liking = Callable[[GraphBatch], Tensor]
"""(graphs with features) -> how much each is liked (B,)"""
# Chances are at least so far from 0 and 1 that their log-odds are numbers.
_LEAST_CHANCE = 1e-7


def best_of_denoised(
    denoiser: FlipDenoiser, nodes: GraphBatch, judge: Liking, seed: Seed, furnish: Furnish | None = None
) -> GraphBatch:
    """Graphs with these nodes, and edges that are found from noise.

    In each step, from the greatest noise down, the denoiser says how likely each pair is joined in the clean graph; of
    several clean graphs drawn by that the one that the judge likes best is kept, and made noisy again at the next
    level. What the last step keeps is the answer.

    Every drawn graph is connected where its nodes can be: beside the pairs that are drawn stand those that come nearest
    to being drawn, as far as it takes (see :func:`dignn.graphs.joining_up.joined_up`).

    Args:
        denoiser: knows the data's graphs.
        nodes: B graphs of one size, without padding, with features of nodes; their edges are not looked at.
        judge: asks the explained model.
        seed: of all draws.
        furnish: gives edges their features, which are judged and kept with the graph; None where they carry nothing.
    """
    config, noise, random = denoiser.config, denoiser.noise, seed.child("walk").torch()
    device, size, tries = noise.counts.device, nodes.node_type.size(1), config.tries
    cells = torch.tensor(denoiser.words.edges, device=device)  # (E, 2) relations of a token, there and back
    kinds = nodes.node_type.to(device)
    density = noise.density(kinds)
    relation = noise.relations(kinds, random)  # (B, P) by which each pair is joined, if it is
    joined = noise.pure(density, config.flips, random)
    of = torch.arange(len(nodes)).repeat_interleave(tries)  # which graph each try is of
    bare = replace(nodes, edge_row=None, edge_tables={})[of]
    for step in range(config.denoising_steps, 0, -1):
        flips, less = (config.flips * level / config.denoising_steps for level in (step, step - 1))
        with torch.no_grad():
            logits = denoiser.logits(kinds, joined, torch.full((len(nodes),), flips, device=device))
        drawn = joined_up(_noisy(logits.masked_fill(density == 0, -torch.inf)[of], random), size)
        # A relation is drawn anew as often as noise flips a pair.
        by = torch.where(uniform(drawn, random) < flips, noise.relations(kinds[of], random), relation[of])
        there, back = cells[by * drawn].unbind(-1)
        tried = replace(bare, edge=square(there, back, size).cpu())
        tried = tried if furnish is None else furnish(tried, seed.child("judged", step))
        liked = judge(tried).view(len(nodes), tries)
        kept = liked.argmax(1) + torch.arange(len(nodes)) * tries
        relation, joined = by[kept], noise.flipped(drawn[kept], density, less, random)
    return tried[kept]


def _noisy(logits: Tensor, random: torch.Generator) -> Tensor:
    """Log-odds (B, P) plus logistic noise: above 0 with the probability that they are the log-odds of."""
    return logits + uniform(logits, random).clamp(_LEAST_CHANCE, 1 - _LEAST_CHANCE).logit()
