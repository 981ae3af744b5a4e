"""Many searches at once: each says what it wants to have drawn and asked, and all that is asked together."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import torch
from torch import Tensor

from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.features.bank import FeatureBank
from dignn.goes_by.contrasts.answers import Answer, Judge
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import NO_ROW, edge_values, own_cells, with_rows
from dignn.graphs.editing import with_room, with_used_rows

Found = TypeVar("Found")
# Graphs that are asked about at once: bounds memory for wide features.
_AT_ONCE = 2000


@dataclass(frozen=True, eq=False)
class Question:
    """What a search wants to know.

    Args:
        graphs: n graphs.
        fresh: (n, N) nodes that are to get generated rows first; None for none.
    """

    graphs: GraphBatch
    fresh: Tensor | None = None


Search: TypeAlias = Generator[Question, Answer, Found]


@dataclass(frozen=True)
class Aim:
    """What a search is about: the position of the classified node (-1: the graph), and the class that is wanted."""

    node: int
    wanted: int


def side_by_side(
    searches: Sequence[tuple[Aim, Search[Found]]], judge: Judge, bank: FeatureBank | None, seed: Seed, tick: Tick
) -> list[Found]:
    """Runs searches to their ends.

    Args:
        searches: what each is about, and itself.
        judge: asks the model.
        bank: generates rows; None where nothing carries any.
        seed: of rows. Rows of different searches are drawn together, so all searches matter for each.
        tick: progress, in searches.

    Returns:
        What each has found.
    """
    found: dict[int, Found] = {}
    waiting: dict[int, Question] = {}

    def proceed(number: int, answer: Answer | None) -> None:
        try:
            # a generator that has not begun takes nothing but None
            waiting[number] = next(searches[number][1]) if answer is None else searches[number][1].send(answer)
        except StopIteration as end:
            found[number] = end.value
            tick(len(found), len(searches))

    for number in range(len(searches)):
        proceed(number, None)
    turn = 0
    while waiting:
        asked, waiting = waiting, {}
        for some in _portions(asked):
            answers = _asked({number: asked[number] for number in some}, searches, judge, bank, seed.child(turn))
            turn += 1
            for number in some:
                proceed(number, answers[number])
    return [found[number] for number in range(len(searches))]


def _portions(asked: dict[int, Question]) -> list[list[int]]:
    """Numbers of the questions, some at a time."""
    portions: list[list[int]] = [[]]
    size = 0
    for number, question in asked.items():
        if portions[-1] and size + len(question.graphs) > _AT_ONCE:
            portions.append([])
            size = 0
        portions[-1].append(number)
        size += len(question.graphs)
    return portions


def _asked(
    asked: dict[int, Question],
    searches: Sequence[tuple[Aim, Search[Found]]],
    judge: Judge,
    bank: FeatureBank | None,
    seed: Seed,
) -> dict[int, Answer]:
    size = max(question.graphs.node_type.size(1) for question in asked.values())
    graphs = with_room(GraphBatch.cat([question.graphs for question in asked.values()]), size)
    fresh = torch.cat([_marks(question, size) for question in asked.values()])
    if bank is not None:
        graphs = _drawn(graphs, fresh, bank, seed)
    count = torch.tensor([len(question.graphs) for question in asked.values()])
    node, wanted = (
        torch.tensor([getattr(searches[number][0], name) for number in asked]).repeat_interleave(count)
        for name in ("node", "wanted")
    )
    answer = judge.answer(graphs, node, wanted)
    found, start = {}, 0
    for number, question in asked.items():
        own = answer[slice(start, start + len(question.graphs))]
        kept = with_room(with_used_rows(own.graphs), question.graphs.node_type.size(1))
        found[number] = replace(own, graphs=kept)
        start += len(question.graphs)
    return found


def _marks(question: Question, size: int) -> Tensor:
    """(n, size) bool, the nodes of a question that get rows."""
    found = torch.zeros(len(question.graphs), size, dtype=torch.bool)
    if question.fresh is not None:
        found[:, : question.fresh.size(1)] = question.fresh
    return found


def _drawn(graphs: GraphBatch, fresh: Tensor, bank: FeatureBank, seed: Seed) -> GraphBatch:
    """The same graphs with generated rows for some nodes (B, N), for the edges of these, and for edges without one."""
    index = (fresh.any(1) | _lacking(graphs)).nonzero()[:, 0]
    if not len(index):
        return graphs
    some, size = graphs[index], graphs.node_type.size(1)
    marks = fresh[index][:, : some.node_type.size(1)]
    drawn = bank.redraw(replace(some, edge_row=None, edge_tables={}), marks, seed=seed)
    for label in some.edge_tables:
        cells = graph, u, v = own_cells(drawn, drawn.node_type, label)
        rows = edge_values(drawn, label, cells)
        assert some.edge_row is not None
        kept = ~(marks[graph, u] | marks[graph, v]) & (some.edge_row[cells] != NO_ROW)
        rows[kept] = edge_values(some, label, (graph[kept], u[kept], v[kept]))
        drawn = with_rows(drawn, label, cells, torch.arange(len(rows)), rows)
    rest = torch.ones(len(graphs), dtype=torch.bool)
    rest[index] = False
    place = torch.cat([rest.nonzero()[:, 0], index])
    return with_room(GraphBatch.cat([graphs[rest], drawn])[place.argsort()], size)


def _lacking(graphs: GraphBatch) -> Tensor:
    """(B,) whether an edge has no row that edges of its relation have."""
    carrying = torch.tensor([each.relation for each in graphs.schema.generated_edges.values()], dtype=torch.long)
    there = torch.isin(graphs.edge, carrying)
    return (there if graphs.edge_row is None else there & (graphs.edge_row == NO_ROW)).flatten(1).any(1)
