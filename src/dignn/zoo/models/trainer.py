"""Training a model to explain: seeded, stopped early on the validation set, best weights restored.

A model that is right on a large graph can be useless on a small one, where hubs have lost their neighbours. So the
strong forms learn node classification on both: every step takes the whole graph and a batch of forest-fire subgraphs
of explanation size, and the validation score is the mean of both accuracies.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data, HeteroData

from dignn.core.errors import DignnError
from dignn.core.fingerprint import data_fingerprint
from dignn.core.progress import Tick, silent
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg, to_disjoint, to_pyg
from dignn.graphs.feature_spec import FeatureSpec
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.models.architectures import GCN, build
from dignn.zoo.models.cut import one_motif
from dignn.zoo.models.large_graph import MANY_EDGES, node_logits, normalised_adjacency
from dignn.zoo.models.layers import cheaper_layout
from dignn.zoo.models.recipes import Recipe, TrainedModel, arguments, as_json, recipe
from dignn.zoo.models.settings import Form

log = logging.getLogger(__name__)

Accuracies = Mapping[str, Mapping[str, float | None]]


def train(
    dataset: Dataset, form: Form = "strong", seed: int = 0, progress: Tick | None = None, instead: Recipe | None = None
) -> TrainedModel:
    """Trains the model to explain for a data set.

    Same data, form and seed give the same bits. The caller's random state and thread count stay as they are.

    Args:
        dataset: with splits ``train``, ``val`` and ``test``.
        form: ``strong``, ``paper``, or of converted data ``gcn``, see :mod:`dignn.zoo.models.recipes`.
        seed: decides initial weights, dropout, and the subgraphs and batches to train on.
        progress: told after every epoch.
        instead: a recipe to follow instead of the data set's own.

    Returns:
        the model with the weights of its best epoch, and its card.

    Raises:
        DignnError: if a part of the split is missing or empty, or no model here fits the data.
    """
    for part in ("train", "val", "test"):
        if not len(dataset.splits.get(part, ())):
            raise DignnError(f"The data set '{dataset.name}' has no {part} part; give splits train, val and test")
    chosen = instead or recipe(dataset, form)
    root = Seed(seed).child("gnn", dataset.name, form)
    started = time.perf_counter()
    with single_thread(), torch.random.fork_rng(devices=[]):
        kind = GraphObjective if dataset.schema.task.of_graphs else NodeObjective
        objective: Objective = kind(dataset, chosen, root)
        torch.manual_seed(root.child("weights").value)
        given = arguments(chosen, dataset.schema)
        model = build(chosen.architecture, given)
        torch.manual_seed(root.child("dropout").value)
        epochs, best_epoch = _fit(model, objective, chosen, progress or silent)
        seconds = time.perf_counter() - started
        accuracy = objective.report(model)
    card = {
        "dataset": dataset.name,
        "form": form,
        "architecture": chosen.architecture,
        "arguments": given,
        "recipe": as_json(chosen),
        "schema": dataset.schema.fingerprint,
        "data": data_fingerprint(dataset.data, *dataset.splits.values()),
        "splits": {part: len(index) for part, index in dataset.splits.items()},
        "seed": seed,
        "epochs": epochs,
        "best_epoch": best_epoch,
        "seconds": round(seconds, 2),
        "accuracy": accuracy,
    }
    log.debug("%s, %s form: best epoch %d of %d, accuracy %s", dataset.name, form, best_epoch, epochs, accuracy)
    return TrainedModel(model, card)


def _fit(model: nn.Module, objective: Objective, chosen: Recipe, tick: Tick) -> tuple[int, int]:
    """Trains in place and restores the best weights; returns the epochs done and the best of them, from 1."""
    optimizer = torch.optim.Adam(model.parameters(), lr=chosen.learning_rate, weight_decay=chosen.weight_decay)
    best, least, best_epoch, improved, epoch = (-1.0, 0.0), float("inf"), 0, 0, 0
    weights = _copy(model)
    for epoch in range(1, chosen.epochs + 1):
        model.train()
        for loss in objective.losses(model):
            optimizer.zero_grad()
            loss.backward()
            if chosen.clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), chosen.clip)
            optimizer.step()
        score = objective.validate(model.eval())
        if score > best:
            best, best_epoch, improved, weights = score, epoch, epoch, _copy(model)
        if -score[1] < least:  # on a plateau of the accuracy the loss tells whether training goes on
            least, improved = -score[1], epoch
        tick(epoch, chosen.epochs)
        if epoch - improved >= chosen.patience:
            break
    model.load_state_dict(weights)
    model.eval()
    return epoch, best_epoch


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


# -- what is learned ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scene:
    """Graphs side by side as a model takes them, and what is known about the m nodes or graphs that it scores.

    Args:
        x: features; for a heterogeneous model rows of the data's tables by type, or None for all rows.
        edges, batch: as the model takes them.
        label: (m,) class, -1 where unknown.
        number: (m,) number of the target node in the data.
        start: (m,) whether a fire started here.
        scored: which rows of a homogeneous model's output are target nodes.
    """

    x: Any
    edges: Any
    batch: Any
    label: Tensor
    number: Tensor
    start: Tensor
    scored: Tensor | None = None


class NodeObjective:
    """Node classification on one graph, and on forest-fire subgraphs of it.

    ``losses`` is one epoch, the loss of one step after the other; ``validate`` returns the validation accuracy, and
    minus the validation loss to break ties; ``report`` the accuracies for the card.
    """

    def __init__(self, dataset: Dataset, chosen: Recipe, seed: Seed) -> None:
        self.dataset, self.chosen, self.seed = dataset, chosen, seed
        self.adjacency = Adjacency.build(dataset.data, dataset.schema)
        self.tables = _tables(dataset.data) if isinstance(dataset.data, HeteroData) else None
        self.full = self._full_graph()
        self.part = {name: torch.isin(self.full.number, index) for name, index in dataset.splits.items()}  # (n,) each
        if any(bool((self.full.label[here] < 0).any()) for here in self.part.values()):
            raise DignnError(f"The split of '{dataset.name}' names nodes without a class; leave them out of it")
        self.pool, self.held_out = [], []
        if chosen.subgraphs:
            graphs = self._subgraphs("train", chosen.pool)
            order = torch.randperm(len(graphs), generator=seed.child("order").torch())
            self.pool = [self._scene(graphs[some]) for some in order.split(chosen.subgraphs)]
            self.held_out = [self._scene(self._subgraphs("val", chosen.held_out))]
        self.turns = cycle(self.pool)

    def losses(self, model: nn.Module) -> Iterator[Tensor]:
        encoded = self._encode(model)
        scenes = [self.full, *islice(self.turns, 1)]
        yield torch.stack([cross_entropy(*self._scored(model, encoded, scene, "train")) for scene in scenes]).sum()

    @torch.no_grad()
    def validate(self, model: nn.Module) -> tuple[float, float]:
        encoded = self._encode(model)
        scored = [self._scored(model, encoded, scene, "val") for scene in (self.full, *self.held_out)]
        accuracy = sum(_accuracy(*each) for each in scored) / len(scored)
        return accuracy, -float(sum(cross_entropy(*each) for each in scored))

    @torch.no_grad()
    def report(self, model: nn.Module) -> Accuracies:
        """``full``: accuracy by part of the split; ``small``: on test nodes in subgraphs that started at one."""
        encoded = self._encode(model)
        logits = self._logits(model, encoded, self.full)
        full = {name: _accuracy(logits, self.full.label, here) for name, here in self.part.items()}
        scene = self._scene(self._subgraphs("test", self.chosen.held_out))
        logits, test = self._logits(model, encoded, scene), self.part["test"][scene.number]
        small = {"start": test & scene.start, "all": test}
        return {"full": full, "small": {name: _accuracy(logits, scene.label, here) for name, here in small.items()}}

    def _encode(self, model: nn.Module) -> Any:
        return model.encode(self.tables) if self.tables is not None else None  # type: ignore[operator]

    def _logits(self, model: nn.Module, encoded: Any, scene: Scene) -> Tensor:
        if self.tables is None:
            if isinstance(model, GCN) and scene.edges.layout is not torch.strided:
                return node_logits(model, scene.x, scene.edges)[scene.scored]
            return model(scene.x, scene.edges, scene.batch)[scene.scored]
        rows = encoded if scene.x is None else {name: table[scene.x[name]] for name, table in encoded.items()}
        return model.classify(rows, scene.edges, scene.batch)  # type: ignore[operator]

    def _scored(self, model: nn.Module, encoded: Any, scene: Scene, part: str) -> tuple[Tensor, Tensor]:
        """Logits and classes of the target nodes that are in a part of the split."""
        here = self.part[part][scene.number]
        return self._logits(model, encoded, scene)[here], scene.label[here]

    def _subgraphs(self, part: str, count: int) -> GraphBatch:
        """About ``count`` subgraphs of explanation size that start at nodes of a part of the split."""
        sizes = self.dataset.sizes
        starts = self.adjacency.targets[self.dataset.splits[part].numpy()]
        return forest_fire(
            self.adjacency, sizes, -(-count // len(sizes)), seed=self.seed.child("subgraphs", part), starts=starts
        )

    def _full_graph(self) -> Scene:
        data, schema = self.dataset.data, self.dataset.schema
        label = torch.from_numpy(self.adjacency.label[self.adjacency.targets])
        number, start = torch.arange(len(label)), torch.zeros(len(label), dtype=torch.bool)
        if isinstance(data, HeteroData):
            return Scene(None, data.edge_index_dict, None, label, number, start)
        assert not isinstance(data, list)  # nodes of one graph are classified
        scored = torch.from_numpy(self.adjacency.node_type == schema.target_index)
        large = self.chosen.architecture == "GCN" and data.edge_index.size(1) >= MANY_EDGES
        edges = normalised_adjacency(data.edge_index, len(data.x)) if large else data.edge_index
        return Scene(data.x, edges, None, label, number, start, scored)

    def _scene(self, graphs: GraphBatch) -> Scene:
        target = graphs.target_mask
        start = torch.zeros_like(target)
        start[:, 0] = True
        facts = graphs.label[target], graphs.row[target], start[target]
        if self.tables is None:
            data = to_disjoint(graphs)
            return Scene(data.x, data.edge_index, data.batch, *facts, target[graphs.mask])
        schema = graphs.schema
        bare = replace(schema, features=tuple(FeatureSpec() for _ in schema.features))
        data = to_disjoint(replace(graphs, schema=bare, tables={}))
        rows = {name: graphs.row[graphs.node_type == code] for code, name in enumerate(schema.node_types)}
        return Scene(rows, data.edge_index_dict, data.batch_dict, *facts)


def _tables(data: HeteroData) -> dict[str, Tensor]:
    """Features of all nodes by type, sparse where that is cheaper."""
    return {
        name: cheaper_layout(data[name].x) if "x" in data[name] else torch.zeros(int(data[name].num_nodes), 0)
        for name in data.node_types
    }


class GraphObjective:
    """Graph classification on graphs of their own, and on graphs cut down to one motif where the truth is known.

    ``losses``, ``validate`` and ``report`` are those of :class:`NodeObjective`.
    """

    def __init__(self, dataset: Dataset, chosen: Recipe, seed: Seed) -> None:
        parts = {name: [dataset.data[i] for i in index.tolist()] for name, index in dataset.splits.items()}
        self.learned, small = parts["train"], [graph for graph in parts["test"] if graph.num_nodes in dataset.sizes]
        if dataset.truth is not None:
            small = self._cut(dataset, parts["test"])
            self.learned = self.learned + (self._cut(dataset, parts["train"]) if chosen.cut else [])
        self.parts = {name: _side_by_side(graphs) for name, graphs in parts.items()}
        self.small = _side_by_side(small) if small else None
        self.step, self.order = chosen.graphs, seed.child("order").torch()
        self.whole = _side_by_side(self.learned) if self.step >= len(self.learned) else None

    def losses(self, model: nn.Module) -> Iterator[Tensor]:
        if self.whole is not None:
            yield cross_entropy(*self._scored(model, self.whole))
            return
        for some in torch.randperm(len(self.learned), generator=self.order).split(self.step):
            yield cross_entropy(*self._scored(model, _side_by_side([self.learned[i] for i in some.tolist()])))

    @torch.no_grad()
    def validate(self, model: nn.Module) -> tuple[float, float]:
        logits, label = self._scored(model, self.parts["val"])
        return _accuracy(logits, label), -float(cross_entropy(logits, label))

    @torch.no_grad()
    def report(self, model: nn.Module) -> Accuracies:
        """``full``: by part of the split; ``small``: on test graphs of explanation size."""
        full = {name: _accuracy(*self._scored(model, graphs)) for name, graphs in self.parts.items()}
        small = _accuracy(*self._scored(model, self.small)) if self.small is not None else None
        return {"full": full, "small": {"graphs": small}}

    def _cut(self, dataset: Dataset, graphs: list[Data]) -> list[Data]:
        assert dataset.truth is not None
        return to_pyg(one_motif(from_pyg(graphs, dataset.schema), dataset.truth))

    def _scored(self, model: nn.Module, graphs: Data) -> tuple[Tensor, Tensor]:
        return model(graphs.x, graphs.edge_index, graphs.batch), graphs.y


Objective: TypeAlias = NodeObjective | GraphObjective


def _side_by_side(graphs: list[Data]) -> Data:
    """One disjoint graph with ``x``, ``edge_index``, ``batch`` and ``y``: what the models read, and nothing else."""
    nodes = torch.tensor([len(graph.x) for graph in graphs])
    edges = torch.tensor([graph.edge_index.size(1) for graph in graphs])
    first = (nodes.cumsum(0) - nodes).repeat_interleave(edges)
    return Data(
        x=torch.cat([graph.x for graph in graphs]),
        edge_index=torch.cat([graph.edge_index for graph in graphs], dim=1) + first,
        batch=torch.arange(len(graphs)).repeat_interleave(nodes),
        y=torch.cat([graph.y.flatten() for graph in graphs]),
    )


def _accuracy(logits: Tensor, label: Tensor, here: Tensor | slice = slice(None)) -> float:
    return round(float((logits[here].argmax(1) == label[here]).double().mean()), 6)
