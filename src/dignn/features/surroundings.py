"""What is known of a node before its features are drawn: classes around it, and features that neighbours have by then.

The features of a real graph depend on each other in more ways than by classes: an author's words are those of the
author's papers, and a node that says nothing of its class has neighbours that do. So nodes get their features one after
another, those of the target type first, and each goes by what its neighbours have by then. A type whose nodes are
joined to each other is drawn in rounds, a random part of its nodes in each.

A row of a neighbour enters as a few numbers (its main directions), and several neighbours of a type as their mean, so
that what is known does not grow with the width of tables nor with the degree of a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.features.conditions import class_of_condition, condition_batch, steps_to_target
from dignn.features.end_columns import end_columns
from dignn.features.given import ContextScale
from dignn.features.table import Contexts
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema

# Numbers that a neighbour's row is told by, at most.
SUMMARY = 24
# Occurrences of rows that main directions are measured on, at most, and numbers in rows that are looked at together.
MEASURED, MEASURED_CELLS = 8192, 2**26
# Parts in which nodes of one type are drawn that are joined to each other.
DRAWING_ROUNDS = 4
# How many times a row is seen in training graphs: half of them as it is when it is drawn for the first time, the others
# with the features of all its neighbours, as when it is drawn anew, but for one, on which nothing is known.
OCCASIONS = 8


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Tells what is known of nodes.

    Args:
        schema: of the graphs.
        summaries: by node type, how its rows are told to neighbours.
    """

    schema: Schema
    summaries: dict[str, ContextScale]

    @classmethod
    def of(cls, graphs: GraphBatch, learned: Tensor, names: Sequence[str], seed: Seed) -> Surroundings:
        """Measured on rows of some types in training graphs, each as often as it stands there.

        Args:
            graphs: training graphs.
            learned: (B, N) which of their nodes may be learned from.
            names: the types.
            seed: of what is drawn.
        """
        schema, found = graphs.schema, {}
        for name in names:
            generator = seed.child(name).torch()
            rows = graphs.row[learned & (graphs.node_type == schema.type_index(name))]
            most = min(MEASURED, max(1, MEASURED_CELLS // schema.spec(name).width))
            some, times = rows[torch.randperm(len(rows), generator=generator)[:most]].unique(return_counts=True)
            columns = end_columns(graphs.tables[name][some], schema.spec(name))
            if len(some) > 1 and columns.size(1):
                found[name] = ContextScale.of(columns, times.float(), generator, SUMMARY)
        return cls(schema, found)

    def training(self, graphs: GraphBatch, learned: Tensor) -> Occasions:
        """What is known of rows in training graphs, of whose nodes those marked in ``learned`` (B, N) may be seen."""
        told = {}
        for name, summary in self.summaries.items():
            table, spec = graphs.tables[name], self.schema.spec(name)
            some = graphs.row[graphs.node_type == self.schema.type_index(name)].unique()
            parts = some.split(max(1, MEASURED_CELLS // spec.width))
            told[name] = some, torch.cat([summary.encode(end_columns(table[part], spec)) for part in parts])
        return Occasions(self, graphs, condition_batch(graphs), learned, told)

    @property
    def order(self) -> list[str]:
        """Node types in the order in which they get their features: those nearest to the target first."""
        steps = steps_to_target(self.schema).tolist()
        return sorted(self.schema.node_types, key=lambda name: steps[self.schema.type_index(name)])

    def rounds(self, name: str) -> int:
        """In how many parts the nodes of a type are drawn."""
        return DRAWING_ROUNDS if name in self.summaries and name in self.beside(name) else 1

    def beside(self, name: str) -> list[str]:
        """Types whose nodes may be neighbours of nodes of this one."""
        own = self.schema.type_index(name)
        joined = self.schema.allowed[own, :, 1:] | self.schema.allowed[:, own, 1:]  # (T, R)
        return [other for other, there in zip(self.schema.node_types, joined, strict=True) if there.any()]

    def look(self, batch: GraphBatch, around: Tensor, there: Tensor) -> Seen:
        """At graphs of which the nodes marked in ``there`` (B, N) have features; ``around`` (B, N, 2 C): conditions."""
        seen = Seen.blind(self, batch, around)
        for name in self.summaries:
            of_type = batch.node_type == self.schema.type_index(name)
            here = there & of_type
            if bool(here.any()):
                seen.add(name, here, batch.features(name)[there[of_type]])
        return seen

    def part_of(self, nodes: Tensor, name: str, seed: Seed) -> Tensor:
        """The round in which each marked node (B, N) is drawn.  (B, N) long"""
        drawn = torch.randint(self.rounds(name), nodes.shape, generator=seed.child("rounds").torch())
        return drawn.masked_fill(~nodes, 0)

    def parts(self, joined: Tensor, nodes: Tensor, name: str, seed: Seed) -> list[Tensor]:
        """The marked nodes (B, N) of a type in the parts in which they are drawn, each with at least one.

        Where no two of them are joined (B, N, N) they need not wait for each other.
        """
        if not bool((joined & nodes[:, None, :] & nodes[:, :, None]).any()):
            return [nodes]
        part = self.part_of(nodes, name, seed)
        found = [nodes & (part == number) for number in range(self.rounds(name))]
        return [some for some in found if bool(some.any())]

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Tensor]:
        """Tensors for a file."""
        return {f"{name}.{part}": value for name, each in self.summaries.items() for part, value in vars(each).items()}

    @classmethod
    def restored(cls, tensors: dict[str, Tensor], schema: Schema) -> Surroundings:
        """From what :meth:`state` gave."""
        names = [name for name in schema.node_types if f"{name}.mean" in tensors]
        parts = ("mean", "scale", "directions")
        return cls(schema, {name: ContextScale(*(tensors[f"{name}.{part}"] for part in parts)) for name in names})


@dataclass(frozen=True, eq=False)
class Occasions:
    """Training graphs, and what is known of their rows there.

    Args:
        surroundings: what tells it.
        graphs: the graphs.
        around: (B, N, 2 C) conditions of their nodes.
        learned: (B, N) nodes whose rows may be seen.
        told: by node type, (u,) the rows of its table that stand in graphs, ascending, and (u, r) what each tells.
    """

    surroundings: Surroundings
    graphs: GraphBatch
    around: Tensor
    learned: Tensor
    told: dict[str, tuple[Tensor, Tensor]]

    def of(self, name: str, rows: Tensor, seed: Seed) -> Contexts:
        """What is known of rows (n,) of a type's table on some of the occasions on which they stand in graphs.

        Args:
            name: the type.
            rows: numbers of rows.
            seed: of the order in which nodes get their features, and of what is chosen.

        Returns:
            8 of each; on one of them nothing is known (NaN), nor ever of rows that stand nowhere.
        """
        types, kind = self.surroundings.schema.type_index, self.graphs.node_type
        here, order = kind == types(name), self.surroundings.order
        earlier = torch.isin(kind, torch.tensor([types(each) for each in order[: order.index(name)]]))
        anew = self._look(self.graphs.mask).context(name, here)
        at_first, part = torch.empty_like(anew), self.surroundings.part_of(here, name, seed)
        for number in range(self.surroundings.rounds(name)):
            seen = self._look(earlier | (here & (part < number)))
            at_first[part[here] == number] = seen.context(name, here & (part == number))
        place = _places(self.graphs.row[here], rows, OCCASIONS // 2, seed.child("occasions").torch())  # (n, 4)
        nothing = at_first.new_full((1, at_first.size(1)), torch.nan)
        nowhere = 2 * len(anew)
        place = torch.cat([place.where(place < len(anew), nowhere), (place + len(anew)).clamp_max(nowhere)], dim=1)
        place[:, -1] = nowhere
        return Contexts(torch.cat([at_first, anew, nothing]), place)

    def _look(self, there: Tensor) -> Seen:
        """At the graphs while the nodes marked in ``there`` (B, N) have features."""
        seen = Seen.blind(self.surroundings, self.graphs, self.around)
        for name, (rows, told) in self.told.items():
            here = self.learned & there & (self.graphs.node_type == self.surroundings.schema.type_index(name))
            seen.tell(name, here, told[torch.searchsorted(rows, self.graphs.row[here])])
        return seen


@dataclass(eq=False)
class Seen:
    """What is seen of graphs while their nodes get features.

    Args:
        surroundings: what tells it.
        batch: the graphs.
        around: (B, N, C) the class around each node.
        there: (B, N) which nodes have features.
        told: by node type, (B, N, r) what the rows of its nodes tell, 0 elsewhere.
    """

    surroundings: Surroundings
    batch: GraphBatch
    around: Tensor
    there: Tensor
    told: dict[str, Tensor]

    @cached_property
    def joined(self) -> Tensor:
        """(B, N, N) bool, which nodes are."""
        return self.batch.undirected

    @classmethod
    def blind(cls, surroundings: Surroundings, batch: GraphBatch, around: Tensor) -> Seen:
        """Graphs of which no node has features; ``around`` (B, N, 2 C): conditions."""
        size = batch.mask.shape
        told = {name: torch.zeros(*size, summary.width) for name, summary in surroundings.summaries.items()}
        return cls(surroundings, batch, class_of_condition(around), torch.zeros_like(batch.mask), told)

    def add(self, name: str, nodes: Tensor, rows: Tensor) -> None:
        """The marked nodes (B, N) of a type have these rows (m, d) now."""
        summary = self.surroundings.summaries.get(name)
        if summary is not None:
            self.tell(name, nodes, summary.encode(end_columns(rows, self.batch.schema.spec(name))))

    def tell(self, name: str, nodes: Tensor, told: Tensor) -> None:
        """The same of rows of which this is told (m, r)."""
        self.there = self.there | nodes
        self.told[name][nodes] = told

    def context(self, name: str, nodes: Tensor) -> Tensor:
        """What is known of the marked nodes (B, N) of a type, in order.  (m, k)

        The class around a node and around its neighbours; of neighbours of each type how many there are, how many of
        them have features, and the mean of what their rows tell; NaN where none has any.
        """
        joined = self.joined.float()  # (B, N, N)

        def over(chosen: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
            """How many chosen neighbours (B, N) the nodes have, and the mean of what these have (B, N, r)."""
            values = torch.cat([chosen[..., None].float(), values * chosen[..., None]], dim=2)
            total = joined.bmm(values)[nodes]  # (m, 1 + r)
            number = total[:, :1]
            return number.log1p(), torch.where(number > 0, total[:, 1:] / number.clamp_min(1), torch.nan)

        found = [self.around[nodes], over(self.batch.mask, self.around)[1]]
        for other in self.surroundings.beside(name):
            of_type = self.batch.node_type == self.batch.schema.type_index(other)
            found.append(over(of_type, self.around[..., :0])[0])
            if other in self.surroundings.summaries:
                found += over(of_type & self.there, self.told[other])
        return torch.cat(found, dim=1)


def _places(row: Tensor, rows: Tensor, number: int, generator: torch.Generator) -> Tensor:
    """Where rows (n,) stand in ``row`` (m,): some random places of each, in turn if there are fewer; m for nowhere.

    Returns:
        (n, number).
    """
    order = torch.randperm(len(row), generator=generator)
    order = order[row[order].argsort(stable=True)]  # places of one row side by side, in random order
    first, last = (torch.searchsorted(row[order], rows, right=right) for right in (False, True))
    count = (last - first)[:, None]
    place = first[:, None] + torch.arange(number) % count.clamp_min(1)
    return torch.cat([order, torch.tensor([len(row)])])[place.where(count > 0, len(row))]
