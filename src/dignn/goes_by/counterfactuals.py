"""Counterfactual pairs: a typical graph of one class, and the smallest edits with which the model says another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dignn.core.checks import instance
from dignn.core.errors import DignnError
from dignn.core.progress import Tick, part_of, silent
from dignn.core.seeds import Seed
from dignn.features.bank import FeatureBank
from dignn.goes_by.contrasts.answers import Judge
from dignn.goes_by.contrasts.differences import Differences
from dignn.goes_by.contrasts.flipping import flipped
from dignn.goes_by.contrasts.graph_edits import Edit
from dignn.goes_by.contrasts.joint_searches import Aim, side_by_side
from dignn.goes_by.contrasts.minimal_edits import minimal
from dignn.goes_by.contrasts.starts import asked_pairs, typical_starts
from dignn.graphs.batch import GraphBatch
from dignn.graphs.editing import with_room, with_used_rows
from dignn.graphs.validity import check_validity
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.selection.members import Members


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """A graph of one class and an edited copy of another.

    Args:
        source, target: classes.
        before, after: batches of one graph each, with the same positions and without labels. A node that was removed,
            or is not there yet, is padding.
        node: position of the classified node; None where graphs are classified.
        edits: everything that differs. None of them can be undone alone: the model would say another class than the
            target, or the graph would leave the target's real range, or not be valid.
        probability_before, probability_after: of every class.
        inside: whether the edited graph is inside the real range of its class.
    """

    source: int
    target: int
    before: GraphBatch
    after: GraphBatch
    node: int | None
    edits: tuple[Edit, ...]
    probability_before: tuple[float, ...]
    probability_after: tuple[float, ...]
    inside: bool


def counterfactuals(
    batch: GraphBatch,
    scores: Scores,
    members: Sequence[Members],
    adapter: GNNAdapter,
    bank: FeatureBank | None,
    seed: Seed,
    *,
    tick: Tick = silent,
) -> list[Counterfactual]:
    """For pairs of classes a typical graph of one, and the smallest edits found with which the model says the other.

    Each search starts from several graphs and edits them: rows are drawn anew by the generator, given the wanted class;
    edges and nodes are taken away, or added where the metagraph allows it. Then every edit is undone that was not
    necessary, down to single columns. Of a pair's searches the one with the fewest edits counts.

    Args:
        batch: generated graphs with features.
        scores: what the model says of them.
        members: real members of every class.
        adapter: asks the model.
        bank: generates features, see :meth:`~dignn.features.bank.FeatureBank.redraw`; None where nothing carries any.
        seed: of starts, edits and rows.
        tick: progress.

    Returns:
        At most one for each pair of :func:`~dignn.goes_by.contrasts.starts.asked_pairs`, in their order. A pair that is
        not there was not found: no edits lead from one class to the other.

    Raises:
        DignnError: members are not those of all classes, or generated features have no bank.
    """
    check_given(batch, scores, members)
    generated = bool(batch.tables or batch.edge_tables)
    if generated and bank is None:
        raise DignnError("The graphs carry generated features, and no bank can draw them anew; give the fitted bank")
    judge = Judge(adapter, members)
    valid = scores[check_validity(batch).valid[scores.graph]]
    asked = asked_pairs(valid)
    starts = {source: typical_starts(valid, members[source]) for source in {source for source, _ in asked}}
    begun = [(pair, row) for pair in asked for row in starts[pair[0]]]
    aims = [Aim(int(valid.node[row]), target) for (_, target), row in begun]
    searches = [
        flipped(batch[int(valid.graph[row])], aim, seed.child("pair", *pair, row), generated=generated)
        for (pair, row), aim in zip(begun, aims, strict=True)
    ]
    bank = bank if generated else None
    found = side_by_side(list(zip(aims, searches, strict=True)), judge, bank, seed.child("rows"), part_of(tick, 0, 2))
    held = [(pair, aim, Differences(*each)) for (pair, _), aim, each in zip(begun, aims, found, strict=True) if each]
    reductions = [(aim, minimal(differences)) for _, aim, differences in held]
    done = side_by_side(reductions, judge, None, seed, part_of(tick, 1, 2))
    best: dict[tuple[int, int], tuple[Aim, GraphBatch, tuple[Edit, ...]]] = {}
    for (pair, aim, differences), kept in zip(held, done, strict=True):
        if pair not in best or int(kept.sum()) < len(best[pair][2]):
            edits = tuple(differences.edits[number] for number in kept.nonzero()[:, 0].tolist())
            best[pair] = aim, differences.apply(torch.stack([torch.zeros_like(kept), kept])).without_labels(), edits
    tick(1, 1)
    return [_told_by(judge, pair, *best[pair]) for pair in sorted(best)]


def check_given(batch: GraphBatch, scores: Scores, members: Sequence[Members]) -> None:
    """Raises for what are no graphs with scores and members of every class."""
    instance("batch", batch, GraphBatch, "a GraphBatch")
    instance("scores", scores, Scores, "what the model says of the graphs, as GNNAdapter.score gives it")
    classes = [each.class_index for each in members]
    if classes != list(range(batch.schema.num_classes)):
        raise DignnError(
            f"Members are of the classes {classes}, and there are {batch.schema.num_classes} classes; give what "
            "all_members gives"
        )
    if len(scores) and int(scores.graph.max()) >= len(batch):
        raise DignnError(
            f"A score is of graph {int(scores.graph.max())}, and the batch has {len(batch)} graphs; give its scores"
        )


def _told_by(
    judge: Judge, pair: tuple[int, int], aim: Aim, graphs: GraphBatch, edits: tuple[Edit, ...]
) -> Counterfactual:
    answer = judge.answer(graphs, torch.tensor([aim.node] * 2), torch.tensor([pair[1]] * 2))
    before, after = (tuple(row) for row in answer.probability.tolist())
    size = int(graphs.mask.any(0).nonzero().max()) + 1
    first, second = (with_room(with_used_rows(graphs[number]), size) for number in range(2))
    node = None if aim.node < 0 else aim.node
    return Counterfactual(*pair, first, second, node, edits, before, after, bool(answer.ok[1]))
