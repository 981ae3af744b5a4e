"""Drawing graphs with a trained process, and drawing again those that fall apart.

A graph that is not connected is made noisy again, up to the middle, and denoised once more; after some attempts it is
drawn anew. Guidance copies promising unfinished graphs over others of their group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import torch
from torch import Tensor

from dignn.diffusion.resampling import resample
from dignn.graphs.batch import GraphBatch
from dignn.structure.edge_diffusion.edge_process import EdgeProcess, Steer
from dignn.structure.edge_diffusion.edge_tokens import Tokens

# Level of noise to which a graph that fell apart goes back.
MIDDLE = 0.5
# How often a graph is drawn anew before it is left as it is.
DRAWN_ANEW = 10
# Guidance starts after this share of the steps (before, predictions say little) and acts so often in all.
GUIDE_FROM, GUIDE_TIMES = 0.4, 6


Outcome = Counter[str]
"""How sampling went, in graphs: ``graphs`` drawn, ``first`` right at once, ``restarts`` (made noisy again), ``fresh``
(drawn anew), ``final`` right in the end."""


@torch.no_grad()
def draw_graphs(
    process: EdgeProcess, size: int, known: Tensor, generator: torch.Generator, steer: Steer | None = None
) -> tuple[Tokens, Outcome]:
    """Graphs of one size.

    Args:
        process: the trained process.
        size: nodes of each graph.
        known: (B, 1 + K + E) what each graph shall have, as in :class:`Tokens`.
        generator: all randomness.
        steer: guidance of the first attempt.
    """

    def fresh(known: Tensor, steer: Steer | None = None) -> Tokens:
        blank = Tokens.blank(known, size, process.vocabulary)
        return process.denoise(process.noisy(blank, 1.0, generator), 1.0, generator, steer)

    graphs = fresh(known, steer)
    right = are_right(graphs, process)
    outcome = Counter(graphs=len(known), first=int(right.sum()))
    for attempt in range(process.config.restarts + DRAWN_ANEW if process.config.constraints else 0):
        wrong = (~right).nonzero().flatten()
        if not len(wrong):
            break
        if attempt < process.config.restarts:
            again = process.denoise(process.noisy(graphs[wrong], MIDDLE, generator), MIDDLE, generator)
            outcome["restarts"] += len(wrong)
        else:
            again = fresh(graphs.known[wrong])
            outcome["fresh"] += len(wrong)
        graphs = Tokens(*(one.index_copy(0, wrong, vars(again)[name]) for name, one in vars(graphs).items()))
        right[wrong] = are_right(again, process)
    outcome["final"] = int(right.sum())
    return graphs, outcome


def are_right(graphs: Tokens, process: EdgeProcess) -> Tensor:
    """Whether each graph is connected and consistent with the metagraph.  (B,)"""
    one, other = graphs.ends()
    fits = process.allowed[one, other, graphs.pairs].all(1)
    return fits & (graphs.components()[1] == 1)


def steering(
    log_weight: Callable[[GraphBatch], Tensor], group: Tensor, process: EdgeProcess, generator: torch.Generator
) -> Steer:
    """Guidance by resampling inside groups.

    Args:
        log_weight: (B,) how much each predicted clean graph is liked.
        group: (B,) which graphs compete.
    """
    before = torch.zeros(len(group))
    times = 0

    def steer(share: float, predict: Callable[[], Tokens]) -> Tensor | None:
        nonlocal before, times
        if share >= 1 or share < GUIDE_FROM + (1 - GUIDE_FROM) * times / GUIDE_TIMES:
            return None
        times += 1
        now = log_weight(predict().decode(process.vocabulary)).float()
        chosen = resample(now - before, group, generator)  # what was liked before has been rewarded already
        before = now[chosen]
        return chosen

    return steer
