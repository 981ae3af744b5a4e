"""Trains the model of a world in seconds: the whole graph at once, edges thinned, the best weights kept.

Explanations are small graphs, in which most neighbours of a node are missing. So every step leaves out a random share
of the edges, and the model learns to do with few.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Batch, Data, HeteroData

from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.zoo.models.layers import cheaper_layout
from dignn.zoo.worlds.edge_columns import FIELD_OF
from dignn.zoo.worlds.furnishing import WorldData
from dignn.zoo.worlds.row_encoder import WIDE_TABLE, row_encoder
from dignn.zoo.worlds.world_models import (
    HIDDEN_WIDTH,
    WORLD_LAYERS,
    OneTypeEdgeModel,
    OneTypeModel,
    OneTypeWeightModel,
    SeveralTypesEdgeModel,
    SeveralTypesModel,
)
from dignn.zoo.worlds.world_recipe import WorldRecipe

EPOCHS, PATIENCE = 150, 40
# From this epoch on, training ends at this accuracy on the validation part.
LEAST_EPOCHS, WELL_ENOUGH = 60, 0.99
LEARNING_RATE, WEIGHT_DECAY = 1e-2, 1e-3
# Least share of the edges that a step keeps.
LEAST_KEPT = 0.3
# How many steps lie between two looks at the validation part.
STEPS_BETWEEN = 5


@dataclass(frozen=True)
class TrainedWorldModel:
    """A model, and the share of the held-out targets (or graphs) of which it names the class."""

    model: nn.Module
    accuracy: float


def train_world(recipe: WorldRecipe, data: WorldData, epochs: int = EPOCHS) -> TrainedWorldModel:
    """Trains a model; same recipe, same bits. The caller's random state and thread count stay as they are.

    Args:
        recipe: of the world.
        data: made from it.
        epochs: steps at most.
    """
    seed = recipe.seed.child("model")
    graphs = _together(data)
    with single_thread():
        with seed.child("weights").torch_globally():
            model = build_model(recipe, data)
        with seed.child("dropout").torch_globally():
            _fit(model, recipe, data, graphs, seed.child("edges"), epochs)
        model.eval()
        with torch.no_grad():
            scores = _scores(model, recipe, graphs)
    return TrainedWorldModel(model, float((scores.argmax(1) == data.labels)[data.held_out].float().mean()))


def _together(data: WorldData) -> Data | HeteroData:
    """What is trained on: all graphs side by side, without what no target sees, wide tables in their cheaper layout."""
    graph = Batch.from_data_list(data.graphs) if isinstance(data.graphs, list) else copy(data.graphs)
    if isinstance(graph, HeteroData):
        graph = _seen(graph, data.target or "")
    for store in graph.node_stores:
        if store.x.size(1) > WIDE_TABLE:
            store.x = cheaper_layout(store.x)
    return graph


def _seen(graph: HeteroData, target: str) -> HeteroData:
    """The nodes from which the targets can be reached within the model's layers."""
    seen = {name: torch.full((graph[name].num_nodes,), name == target) for name in graph.node_types}
    for _ in range(WORLD_LAYERS):
        before = {name: mask.clone() for name, mask in seen.items()}
        for source, name, end in graph.edge_types:
            index = graph[source, name, end].edge_index
            seen[source][index[0, before[end][index[1]]]] = True
    return graph.subgraph(seen)


def build_model(recipe: WorldRecipe, data: WorldData) -> nn.Module:
    """The model that fits the data, untrained."""
    if isinstance(data.graphs, HeteroData):
        graph = data.graphs
        encoders = {name: row_encoder(graph[name].x, _codes(data, name), HIDDEN_WIDTH) for name in graph.node_types}
        kind = SeveralTypesModel if recipe.edges == "none" else SeveralTypesEdgeModel
        scales = {} if recipe.edges == "none" else {each: _scale(graph[each].edge_attr) for each in graph.edge_types}
        return kind(encoders, graph.edge_types, data.target or "", recipe.classes, recipe.edges, scales)
    graphs = data.graphs if isinstance(data.graphs, list) else [data.graphs]
    encoder = row_encoder(torch.cat([graph.x for graph in graphs]), _codes(data, "node"), HIDDEN_WIDTH)
    models = {"none": OneTypeModel, "weight": OneTypeWeightModel}
    columns = recipe.edges not in models
    return models.get(recipe.edges, OneTypeEdgeModel)(
        encoder,
        recipe.classes,
        of_graphs=recipe.of_graphs,
        directed=recipe.shape == "citations",
        edges=recipe.edges,
        edge_scale=_scale(torch.cat([graph.edge_attr for graph in graphs])) if columns else None,
    )


def _codes(data: WorldData, node_type: str) -> tuple[int, ...]:
    """Numbers of the columns that hold codes of categories."""
    kinds = data.kinds.get(node_type, {})
    if isinstance(kinds, str):
        graph = data.graphs[0] if isinstance(data.graphs, list) else data.graphs
        return tuple(range((graph[node_type] if isinstance(graph, HeteroData) else graph).x.size(1)))
    return tuple(int(column) for column, kind in kinds.items() if kind == "categorical")


def _scale(features: Tensor) -> tuple[Tensor, Tensor]:
    """(k,) means and standard deviations of columns."""
    spread = features.std(0)
    return features.mean(0), torch.where(spread > 0, spread, torch.ones_like(spread))


def _fit(
    model: nn.Module, recipe: WorldRecipe, data: WorldData, graphs: Data | HeteroData, seed: Seed, epochs: int
) -> None:
    """Trains in place; the weights of the best look at the validation part stay."""
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    weight = 1 / torch.bincount(data.labels[data.splits["train"]], minlength=recipe.classes).clamp(min=1).float().sqrt()
    generator, train, val = seed.torch(), data.splits["train"], data.splits["val"]
    best, improved, kept = (-1.0, 0.0), 0, _copy(model)
    for epoch in range(1, epochs + 1):
        model.train()
        optimizer.zero_grad()
        scores = _scores(model, recipe, _thinned(graphs, recipe.edges, generator))
        cross_entropy(scores[train], data.labels[train], weight).backward()
        optimizer.step()
        if epoch % STEPS_BETWEEN and epoch < epochs:
            continue
        model.eval()
        with torch.no_grad():
            scores = _scores(model, recipe, _thinned(graphs, recipe.edges, seed.child("val").torch()))[val]
        reached = (
            float((scores.argmax(1) == data.labels[val]).float().mean()),
            -float(cross_entropy(scores, data.labels[val], weight)),
        )
        if reached > best:
            best, improved, kept = reached, epoch, _copy(model)
        if epoch - improved >= PATIENCE or (reached[0] >= WELL_ENOUGH and epoch >= LEAST_EPOCHS):
            break
    model.load_state_dict(kept)


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def _scores(model: nn.Module, recipe: WorldRecipe, graph: Data | HeteroData) -> Tensor:
    field = FIELD_OF.get(recipe.edges)
    if isinstance(graph, HeteroData):
        more = () if field is None else (graph.collect(field),)
        found: Tensor = model(graph.x_dict, graph.edge_index_dict, *more)
        return found
    given = [graph.x, graph.edge_index, *([] if field is None else [graph[field]])]
    scores: Tensor = model(*given, graph.batch if recipe.of_graphs else None)
    return scores


def _thinned(graph: Data | HeteroData, edges: str, generator: torch.Generator) -> Data | HeteroData:
    """The same nodes with a random share of the edges."""
    thin = type(graph)() if isinstance(graph, HeteroData) else Data()
    for store in graph.node_stores:
        (thin if store._key is None else thin[store._key]).x = store.x
    if "batch" in graph:
        thin.batch = graph.batch
    share = LEAST_KEPT + (1 - LEAST_KEPT) * float(torch.rand(1, generator=generator))
    for store in graph.edge_stores:
        keep = torch.rand(store.edge_index.size(1), generator=generator) < share
        own = thin if store._key is None else thin[store._key]
        own.edge_index = store.edge_index[:, keep]
        if edges in FIELD_OF:
            own[FIELD_OF[edges]] = store[FIELD_OF[edges]][keep]
    return thin
