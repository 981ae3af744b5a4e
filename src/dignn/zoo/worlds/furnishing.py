"""A sketch becomes data: rows for its nodes, features for its edges, labels, a split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.graphs.column_kinds import Kinds
from dignn.zoo.datasets.splits import stratified_split
from dignn.zoo.worlds.edge_columns import FIELD_OF, edge_table
from dignn.zoo.worlds.many_graphs import many_graphs
from dignn.zoo.worlds.one_type import one_type
from dignn.zoo.worlds.several_types import several_types
from dignn.zoo.worlds.sketch import Sketch
from dignn.zoo.worlds.table_making import MadeTable, make_table
from dignn.zoo.worlds.world_recipe import WorldRecipe

# Of labelled targets for training, validation and test.
PARTS = (0.6, 0.2, 0.2)
# Share of the nodes of one type whose rows show no class where neighbours do, or where edges tell as well.
SILENT, SILENT_WITH_EDGES = 0.45, 0.3


@dataclass(frozen=True)
class WorldData:
    """The data of a world.

    Args:
        graphs: one graph, or a list where graphs are classified.
        target: the classified type of a ``HeteroData``, else None.
        kinds: by node type, kinds of columns that a schema cannot read off the numbers: one for all, or by number.
        splits: numbers of labelled targets, or of graphs: ``train``, ``val`` and ``test``.
        labels: (m,) the class of every target, also of those whose label the data lacks.
    """

    graphs: HeteroData | Data | list[Data]
    target: str | None
    kinds: dict[str, Kinds]
    splits: dict[str, Tensor]
    labels: Tensor

    @property
    def held_out(self) -> Tensor:
        """Numbers of the targets that training does not look at: the test part, and those without a label."""
        new = torch.ones(len(self.labels), dtype=torch.bool)
        new[torch.cat([self.splits["train"], self.splits["val"]])] = False
        return new.nonzero()[:, 0]


def furnish(recipe: WorldRecipe) -> WorldData:
    """Makes the data of a world, bit for bit from its recipe."""
    make = many_graphs if recipe.of_graphs else one_type if recipe.types == 1 else several_types
    sketch = make(recipe)
    seed, topics = recipe.seed, recipe.classes + 1
    shown = _shown(recipe, sketch)
    tables = {name: make_table(sketch, name, shown, topics, seed.child("table", name)) for name in sketch.hidden}
    known = _known(recipe, sketch)
    splits = stratified_split(sketch.labels[known], PARTS, seed)
    numbers = torch.from_numpy(np.flatnonzero(known))
    labels = torch.from_numpy(sketch.labels)
    y = torch.where(torch.from_numpy(known), labels, -1)
    return WorldData(
        graphs=_hetero(recipe, sketch, tables, y) if recipe.types > 1 else _homogeneous(recipe, sketch, tables, y),
        target=sketch.target if recipe.types > 1 else None,
        kinds={name: table.kinds for name, table in tables.items() if table.kinds is not None},
        splits={part: numbers[index] for part, index in splits.items()},
        labels=labels,
    )


def _known(recipe: WorldRecipe, sketch: Sketch) -> np.ndarray:
    """(m,) whose labels the data has: their share of every class, and three at least."""
    rng = recipe.seed.child("labelled").numpy()
    known = np.zeros(len(sketch.labels), dtype=bool)
    for number in range(recipe.classes):
        members = rng.permutation(np.flatnonzero(sketch.labels == number))
        known[members[: max(3, round(recipe.labelled * len(members)))]] = True
    return known


def _shown(recipe: WorldRecipe, sketch: Sketch) -> dict[str, np.ndarray]:
    """By type, the topic of each node's row: its hidden class, or that of no class."""
    rng, distance, shown = recipe.seed.child("silent").numpy(), sketch.distance, {}
    least = {"neighbours": 1, "two steps away": 2}.get(recipe.clue, 0)
    for name, hidden in sketch.hidden.items():
        silent = np.full(len(hidden), distance[name] < least)
        if recipe.types == 1 and recipe.clue != "own rows":
            silent = rng.random(len(hidden)) < SILENT
        elif recipe.edges != "none" and recipe.clue == "own rows":
            silent = rng.random(len(hidden)) < SILENT_WITH_EDGES
        silent &= sketch.degree(name) > 0  # who is alone must speak
        shown[name] = np.where(silent, recipe.classes, hidden)
    return shown


def _hetero(recipe: WorldRecipe, sketch: Sketch, tables: dict[str, MadeTable], y: Tensor) -> HeteroData:
    data = HeteroData()
    for name, table in tables.items():
        data[name].x = torch.from_numpy(table.x)
    data[sketch.target].y = y
    for edge_type, pairs in sketch.edges.items():
        source, name, target = edge_type
        there, back = (source, name, target), (target, f"rev_{name}", source)
        index = torch.from_numpy(pairs.T.copy())
        data[there].edge_index, data[back].edge_index = index, index.flip(0)
        if recipe.edges != "none":
            ends = sketch.hidden[source][pairs[:, 0]], sketch.hidden[target][pairs[:, 1]]
            made = edge_table(recipe.edges, ends, recipe.classes + 1, recipe.seed.child("edges", *edge_type))
            for direction in (there, back):
                data[direction][FIELD_OF[recipe.edges]] = torch.from_numpy(made)
    return data


def _homogeneous(recipe: WorldRecipe, sketch: Sketch, tables: dict[str, MadeTable], y: Tensor) -> Data | list[Data]:
    ((edge_type, pairs),) = sketch.edges.items()
    hidden, x = sketch.hidden[sketch.target], torch.from_numpy(tables[sketch.target].x)
    both = pairs if edge_type in sketch.directed else np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    fields = {}
    if recipe.edges != "none":
        ends = hidden[pairs[:, 0]], hidden[pairs[:, 1]]
        made = edge_table(recipe.edges, ends, recipe.classes + 1, recipe.seed.child("edges"))
        times = len(both) // len(pairs)
        fields[FIELD_OF[recipe.edges]] = torch.from_numpy(np.concatenate([made] * times)[order])
    whole = Data(x=x, edge_index=torch.from_numpy(both[order].T.copy()), y=y, **fields)
    return whole if sketch.graph is None else _apart(whole, sketch.graph)


def _apart(whole: Data, graph: np.ndarray) -> list[Data]:
    """The graphs that stand side by side in one; its ``y`` has one label for each."""
    count = len(whole.y)
    first = np.searchsorted(graph, np.arange(count + 1))
    edge_graph = graph[whole.edge_index[0].numpy()]
    cuts = np.searchsorted(edge_graph, np.arange(count + 1))
    names = [name for name in ("edge_attr", "edge_weight") if name in whole]
    return [
        Data(
            x=whole.x[first[number] : first[number + 1]].clone(),
            edge_index=whole.edge_index[:, cuts[number] : cuts[number + 1]] - int(first[number]),
            y=whole.y[number : number + 1].clone(),
            **{name: whole[name][cuts[number] : cuts[number + 1]].clone() for name in names},
        )
        for number in range(count)
    ]
