"""Does the model answer here as it answers there: on graphs as dignn makes them, and on the same graphs of the user.

Generated graphs have what the schema knows, and their nodes in no order. Whatever else a user's graphs have (positions,
names of edges, parallel edges, ...) is missing there, and where the model goes by it, an explanation would be of
another model.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Literal, get_args

import torch
from torch import Tensor
from torch_geometric.data import Batch

from dignn.core.errors import ModelMismatchError
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import to_disjoint
from dignn.model.adapter import GNNAdapter, unlabelled
from dignn.model.calling import AnyGraph
from dignn.model.lacking import IN_EVERY_GRAPH, lacking, shuffled

log = logging.getLogger(__name__)

OnDifference = Literal["refuse", "warn"]
ON_DIFFERENCE: tuple[OnDifference, ...] = get_args(OnDifference)
# Graphs on which other ways of handing a field over are tried: they are many, and one difference is enough.
_TRIED = 8
# A probability may shift by so much with the order of nodes.
_TIES = 0.05


def compare_answers(
    adapter: GNNAdapter, batch: GraphBatch, own: Sequence[AnyGraph], on_difference: OnDifference
) -> str | None:
    """Refuses a model that answers differently on the user's own graphs, or warns; says nothing where it does not.

    Args:
        adapter: asks the model; knows how from now on.
        batch: real graphs, as dignn holds them.
        own: the same graphs with their nodes in the same order, as the user has them.
        on_difference: what happens where answers differ.

    Returns:
        The warning; None where answers agree.

    Raises:
        ModelMismatchError: the model fails on the user's own graphs, or its answers differ.
    """
    own = [copy(graph) for graph in own]  # graphs note what they are asked about their fields
    loaded = _loaded(adapter, own)
    adapter.settle(loaded, batch)
    there = adapter.answers(loaded, batch)
    adapter.refuse_randomness(there, adapter.answers(loaded, batch))
    adapter.know_rounding(there, adapter.answers(_loaded(adapter, [shuffled(graph) for graph in own]), batch))
    made = _made(batch)
    here, failure = _here(adapter, batch, made, there)
    problem = None
    if here is None or not adapter.same(here, there):
        problem = _difference(adapter, batch, own, made, there, here)
        if problem is None and failure is not None:
            raise failure
    else:
        problem = _order(adapter, batch, here) or _doubt(adapter, batch[:_TRIED], own[:_TRIED])
    if problem is None:
        return None
    if on_difference == "refuse" or here is None:
        go_on = "" if here is None else ", or go on all the same by on_difference='warn' (--on-difference warn)"
        raise ModelMismatchError(problem + go_on)
    log.warning("%s", problem)
    return problem


def _loaded(adapter: GNNAdapter, graphs: Sequence[AnyGraph]) -> list[AnyGraph]:
    """As a data loader gives them to a graph classifier: a batch of one each."""
    return [Batch.from_data_list([graph]) for graph in graphs] if adapter.task.of_graphs else list(graphs)


def _made(batch: GraphBatch) -> list[AnyGraph]:
    """Each graph alone, as it is handed to the model."""
    return [unlabelled(to_disjoint(batch[number])) for number in range(len(batch))]


def _here(
    adapter: GNNAdapter, batch: GraphBatch, made: Sequence[AnyGraph], there: Tensor
) -> tuple[Tensor | None, ModelMismatchError | None]:
    """The answers on dignn's graphs, or None and the failure; a user's node classifier may not want batch vectors."""
    found, failure = _asked(adapter, batch, made)
    if adapter.task.of_graphs or (found is not None and adapter.same(found, there)):
        return found, failure
    with_batches, adapter.call = adapter.call, replace(adapter.call, batch=False)
    without, _ = _asked(adapter, batch, made)
    if without is not None and adapter.same(without, there):
        return without, None
    adapter.call = with_batches
    return found, failure


def _asked(
    adapter: GNNAdapter, batch: GraphBatch, graphs: Sequence[AnyGraph]
) -> tuple[Tensor | None, ModelMismatchError | None]:
    try:
        return adapter.answers(graphs, batch), None
    except ModelMismatchError as error:
        return None, error


def _changes(adapter: GNNAdapter, there: Tensor, here: Tensor) -> str:
    """How much of the answers changes, in words."""
    changed = int((there.argmax(1) != here.argmax(1)).sum())
    shift = (adapter.task.probability(there) - adapter.task.probability(here)).abs().max()
    labels = f"gives {changed} of {len(there)} {adapter.task.things} another label"
    return f"{labels} and shifts a probability by up to {float(shift):.2g}"


def _difference(
    adapter: GNNAdapter,
    batch: GraphBatch,
    own: Sequence[AnyGraph],
    made: Sequence[AnyGraph],
    there: Tensor,
    here: Tensor | None,
) -> str | None:
    """What the model's answers on a user's graphs depend on and generated graphs lack; None where nobody knows."""
    used = []
    for name, graphs in lacking(own, made).items():
        without, _ = _asked(adapter, batch, _loaded(adapter, graphs))
        if without is None or not adapter.same(without, there):
            used.append(name)
    if here is None and not used:
        return None
    what = " and ".join(used) or "something in how your graphs are stored"
    effect = "fails without" if here is None else f"{_changes(adapter, there, here)} without"
    return (
        f"The model goes by {what}, which generated graphs do not have: on the same real graphs it {effect} that; "
        "explain a model that does not need it, or call it by forward= with a value that suits all graphs"
    )


def _order(adapter: GNNAdapter, batch: GraphBatch, here: Tensor) -> str | None:
    """Whether answers depend on the order of nodes, which means nothing in generated graphs."""
    rng = torch.Generator().manual_seed(0)
    chance = torch.rand(batch.node_type.shape, generator=rng).masked_fill(~batch.mask, 2.0)
    order = chance.argsort(1)  # (B, N) padding stays at the end
    mixed = batch.permute(order)
    found, _ = _asked(adapter, mixed, _made(mixed))
    graph, node = adapter.task.answers(mixed)
    places = {place: row for row, place in enumerate(_pairs(*adapter.task.answers(batch)))}
    before = [(g, int(order[g, n]) if n >= 0 else n) for g, n in _pairs(graph, node)]
    known = here[torch.tensor([places[place] for place in before])]
    if found is not None and _hardly(adapter, found, known):
        return None
    effect = "fails" if found is None else _changes(adapter, known, found)
    return (
        "The model goes by the order of nodes, which means nothing in generated graphs: with the nodes of real graphs "
        f"in another order it {effect}; explain a model that goes by features and edges alone"
    )


def _pairs(graph: Tensor, node: Tensor) -> list[tuple[int, int]]:
    return list(zip(graph.tolist(), node.tolist(), strict=True))


def _hardly(adapter: GNNAdapter, one: Tensor, other: Tensor) -> bool:
    """Whether answers differ no more than those of a layer that sorts nodes and has to break ties."""
    shift = (adapter.task.probability(one) - adapter.task.probability(other)).abs().max()
    return bool((one.argmax(1) == other.argmax(1)).all()) and float(shift) <= _TIES


def _doubt(adapter: GNNAdapter, batch: GraphBatch, own: Sequence[AnyGraph]) -> str | None:
    """A parameter that may be left out, and a field that could be meant for it and makes a difference."""
    fields = {
        name
        for graph in own
        for store in graph.stores
        for name, value in store.items()
        if isinstance(value, Tensor) and name not in IN_EVERY_GRAPH and not adapter.call.takes(name)
    }
    graphs = _loaded(adapter, own)
    there = adapter.answers(graphs, batch)
    for place, field, call in adapter.call.alternatives(own[0], sorted(fields - {"y"})):
        try:
            given = adapter.answers(graphs, batch, call)
        except ModelMismatchError:
            continue
        if not adapter.same(given, there):
            return (
                f"The model's forward takes {place}, and whether that is {field} of the data nobody can know: with it "
                f"the model {_changes(adapter, given, there)}; say by forward=, a function of the model and the graph, "
                "how it is called"
            )
    return None
