"""Edge diffusion: discrete diffusion over the relations of pairs of nodes, and over node types where wanted.

Two kinds of noise are known: ``marginal`` is that of DiGress and of the paper, ``absorbing`` takes edges away. The
paper's setting (marginal noise, its graph transformer, one model per size, all steps of the reverse chain) is one
configuration; the usual one has a small denoiser and one model for all sizes.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor

from dignn.core.devices import at_work, moved
from dignn.core.errors import DignnError
from dignn.core.files import put_under, under
from dignn.core.progress import Tick, Together, part_of
from dignn.core.seeds import Seed
from dignn.core.threads import map_threads
from dignn.diffusion.training import train
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema
from dignn.graphs.validity import connected
from dignn.structure.base import Guide, StructureGenerator
from dignn.structure.edge_diffusion.edge_absorbing import AbsorbingProcess
from dignn.structure.edge_diffusion.edge_marginal import MarginalProcess
from dignn.structure.edge_diffusion.edge_process import EdgeProcess
from dignn.structure.edge_diffusion.edge_sampling import Outcome, draw_graphs, steering
from dignn.structure.edge_diffusion.edge_tokens import Tokens
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.structure.settings import EdgeDiffusionConfig
from dignn.structure.vocabulary import Vocabulary

log = logging.getLogger(__name__)

# Pairs of nodes in a chunk of graphs that are drawn together; what fits in a cache is quicker.
CHUNK_PAIRS = 10_000
# Graphs of a batch whose gradient is computed at once; larger batches use several cores.
SHARD = 40
# One training graph in so many measures when to stop, up to a number per size.
VALIDATION, VALIDATION_GRAPHS = 10, 64


@STRUCTURE_GENERATORS.register("edge-diffusion")
class EdgeDiffusion(StructureGenerator):
    """Generates graphs by diffusion of edges.

    Args:
        config: noise, network, sampler, constraints and training.
    """

    config: EdgeDiffusionConfig
    _vocabulary: Vocabulary
    _models: dict[tuple[int, ...], EdgeProcess]  # by the sizes that a model serves
    _known: dict[int, Tensor]  # by size, what is known of its training graphs: (G, 1 + K + E), see Tokens

    # -- learning -------------------------------------------------------------------------------------

    def _fit(self, graphs: GraphBatch, seed: Seed, tick: Tick) -> GraphBatch:
        graphs = graphs[graphs.sizes > 0]
        if not len(graphs):
            raise DignnError("The training graphs have no nodes; give graphs that have some")
        if self.config.constraints:
            graphs = _of_makeable_sizes(graphs)
        self._vocabulary = Vocabulary.of(graphs)
        tokens = Tokens.by_size(graphs, self._vocabulary)
        self._known = {size: self._makeable(some) for size, some in tokens.items()}
        self._models = {}
        parts, training = self._parts(list(tokens)), self.config.training
        reports = {}
        for number, sizes in enumerate(parts):
            own = seed.child(*sizes)
            model = self._new_model(sizes, own)
            model.count(tokens)
            batches = Batches(model, {size: tokens[size] for size in sizes}, own, batch=self.config.batch)
            steps, part = training.steps_for(len(batches), self.config.batch), part_of(tick, number, len(parts))
            with self._at_work(sizes, model):
                report = train(model, batches.shards, batches.validate(), training, steps=steps, tick=part)
            self._models[sizes] = model
            reports[" ".join(map(str, sizes))] = report.to_json()
        self.report["parameters"] = sum(found["parameters"] for found in reports.values())
        self.report["training"] = reports
        return graphs

    def _makeable(self, graphs: Tokens) -> Tensor:
        """What is known of the training graphs; of connected ones only, if only such graphs are to be made."""
        return graphs.known[graphs.components()[1] == 1] if self.config.constraints else graphs.known

    def _at_work(self, sizes: tuple[int, ...], model: EdgeProcess) -> AbstractContextManager[torch.device]:
        return at_work(model, model, self.config.batch * max(sizes), self.device)  # nodes are its rows

    def _new_model(self, sizes: tuple[int, ...], seed: Seed) -> EdgeProcess:
        process = AbsorbingProcess if self.config.noise == "absorbing" else MarginalProcess
        with seed.child("weights").torch_globally():
            return process(self._vocabulary, list(sizes), self.config)

    def _parts(self, sizes: list[int]) -> list[tuple[int, ...]]:
        """The sizes that each model serves."""
        return [(size,) for size in sorted(sizes)] if self.config.one_model_per_size else [tuple(sorted(sizes))]

    # -- sampling -------------------------------------------------------------------------------------

    def _sample(self, sizes: list[int], seed: Seed, tick: Tick, guide: Guide | None) -> GraphBatch:
        wanted = torch.tensor(sizes, dtype=torch.long)
        chunks: list[tuple[int, Tensor, Tensor]] = []  # size, places among the requested graphs, what is known of them
        for size in sorted(set(sizes)):
            places = (wanted == size).nonzero().flatten()
            known = self._draw_known(size, len(places), seed.child(size, "known").torch())
            limit = max(1, CHUNK_PAIRS // (size * (size + 1) // 2))
            for chosen in _cut(len(places), limit, None if guide is None else guide.group[places]):
                chunks.append((size, places[chosen], known[chosen]))
        if not chunks:
            self._tell(Counter())
            return self._vocabulary.no_graphs()
        together = Together(tick, len(sizes))

        def one(number: int) -> tuple[GraphBatch, Outcome]:
            size, places, known = chunks[number]
            model = next(model for some, model in self._models.items() if size in some)
            generator = seed.child("chunk", number).torch()
            steer = None
            if guide is not None:
                liked: Callable[[GraphBatch], Tensor] = lambda graphs: guide.log_weight(graphs, places)  # noqa: E731
                steer = steering(liked, guide.group[places], model, generator)
            graphs, outcome = draw_graphs(model, size, known.to(model.allowed.device), generator, steer)
            together.add(len(places))
            return graphs.decode(self._vocabulary), outcome

        workers = None if guide is None else 1  # a model to explain need not be made for threads
        with ExitStack() as several:
            for some, model in self._models.items():
                several.enter_context(self._at_work(some, model))
            made = map_threads(one, range(len(chunks)), workers)
        self._tell(sum((outcome for _, outcome in made), Counter()))
        order = torch.cat([places for _, places, _ in chunks]).argsort()
        return GraphBatch.cat([graphs for graphs, _ in made])[order]

    def _draw_known(self, size: int, count: int, generator: torch.Generator) -> Tensor:
        """What graphs of this size shall have: that of training graphs, each as often as any other (or once more)."""
        rows = self._known[size]
        rounds = -(-count // len(rows))
        order = torch.cat([torch.randperm(len(rows), generator=generator) for _ in range(rounds)])
        return rows[order[:count]]

    def _tell(self, outcome: Outcome) -> None:
        graphs = max(1, outcome["graphs"])
        self.report["sampling"] = {
            "graphs": outcome["graphs"],
            "first_yield": outcome["first"] / graphs,
            "restarts": outcome["restarts"],
            "drawn_anew": outcome["fresh"],
            "yield": outcome["final"] / graphs,
        }
        wrong = outcome["graphs"] - outcome["final"]
        if self.config.constraints and wrong:
            told = "%d of %d generated graphs are still not connected after all attempts; train longer"
            log.warning(told, wrong, outcome["graphs"])

    # -- files ----------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = {f"known.{size}": rows for size, rows in self._known.items()}
        for sizes, model in self._models.items():
            tensors |= put_under(_name(sizes), model.state_dict())
        return tensors, {"vocabulary": self._vocabulary.to_json()}

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any], schema: Schema) -> None:
        self._vocabulary = Vocabulary.from_json(settings["vocabulary"], schema)
        self._known = {size: tensors[f"known.{size}"] for size in settings["sizes"]}
        self._models = {}
        for sizes in self._parts(settings["sizes"]):
            model = self._new_model(sizes, Seed(0))
            model.load_state_dict(under(_name(sizes), tensors))
            self._models[sizes] = model.eval()


class Denoises(Protocol):
    """What learns from batches: it makes clean graphs noisy, and tells how badly it finds them again."""

    @property
    def device(self) -> torch.device: ...

    def loss(self, graphs: Tokens, level: Tensor, generator: torch.Generator) -> Tensor:
        """As that of :class:`~dignn.structure.edge_diffusion.edge_process.EdgeProcess`."""
        ...


class Batches:
    """Training batches of one size each, and graphs kept for validation.

    Args:
        model: what is trained.
        graphs: training graphs by size.
        seed: decides the division and the batches.
        batch: graphs in a batch.
        shard: graphs of a batch whose gradient is computed at once; larger batches use several cores.
    """

    def __init__(
        self, model: Denoises, graphs: dict[int, Tokens], seed: Seed, *, batch: int, shard: int = SHARD
    ) -> None:
        self._model, self._seed, self._batch, self._shard = model, seed, batch, shard
        self._graphs: dict[int, Tokens] = {}
        self._kept: dict[int, Tokens] = {}
        for size, some in graphs.items():
            order = torch.randperm(len(some), generator=seed.child("division", size).torch())
            kept = min(len(some) // VALIDATION, VALIDATION_GRAPHS)
            self._kept[size], self._graphs[size] = some[order[:kept]], some[order[kept:]]
        self._sizes = list(self._graphs)
        self._weights = torch.tensor([float(len(some)) for some in self._graphs.values()])

    def __len__(self) -> int:
        """Training graphs."""
        return int(self._weights.sum())

    def shards(self, step: int) -> list[Callable[[], Tensor]]:
        """The losses of one step's batch, in pieces that can be computed side by side.

        Levels of noise are stratified: one in each of as many equal parts of [0, 1] as there are graphs.
        """
        seed = self._seed.child("step", step)
        generator = seed.torch()
        size = self._sizes[int(torch.multinomial(self._weights, 1, generator=generator))]
        some = self._graphs[size]
        batch = min(self._batch, len(some))
        chosen = torch.randperm(len(some), generator=generator)[:batch]
        level = (torch.arange(batch) + torch.rand(batch, generator=generator)) / batch
        level = level[torch.randperm(batch, generator=generator)]

        def loss(number: int, piece: Tensor) -> Tensor:
            own = seed.child(number).torch()
            return self._loss(some[chosen[piece]], level[piece], own) * (len(piece) / batch)

        pieces = enumerate(torch.arange(batch).split(self._shard))
        return [partial(loss, number, piece) for number, piece in pieces]

    def validate(self) -> Callable[[], float] | None:
        """A function that gives the loss on the kept graphs, always with the same noise; None if none were kept."""
        kept = {size: some for size, some in self._kept.items() if len(some)}
        if not kept:
            return None

        def validation() -> float:
            total = 0.0
            for size, some in kept.items():
                level = (torch.arange(len(some)) + 0.5) / len(some)
                total += len(some) * float(self._loss(some, level, self._seed.child("validation", size).torch()))
            return total / sum(map(len, kept.values()))

        return validation

    def _loss(self, graphs: Tokens, level: Tensor, generator: torch.Generator) -> Tensor:
        graphs, level = moved((graphs, level), self._model.device)
        return self._model.loss(graphs, level, generator)


def _of_makeable_sizes(graphs: GraphBatch) -> GraphBatch:
    """The training graphs of those sizes that connected ones have; where none is connected, none can be made."""
    whole = connected(graphs)
    if not bool(whole.any()):
        raise DignnError(
            "No training graph is connected, so connected ones cannot be learned; set constraints to False or give "
            "other graphs"
        )
    kept = torch.isin(graphs.sizes, graphs.sizes[whole])
    if bool(kept.all()):
        return graphs
    log.warning("%d training graphs are of sizes that no connected one has, and left out", int((~kept).sum()))
    return graphs[kept]


def _name(sizes: tuple[int, ...]) -> str:
    return "model-" + "-".join(map(str, sizes)) + "."


def _cut(count: int, limit: int, group: Tensor | None) -> list[Tensor]:
    """Places 0 to ``count`` - 1 in chunks of up to ``limit``; a group is never cut, so its chunk may be larger."""
    if group is None:
        return list(torch.arange(count).split(limit))
    order = group.argsort(stable=True)
    members = order.split(torch.unique_consecutive(group[order], return_counts=True)[1].tolist())
    chunks: list[list[Tensor]] = [[]]
    for some in members:
        if chunks[-1] and sum(map(len, chunks[-1])) + len(some) > limit:
            chunks.append([])
        chunks[-1].append(some)
    return [torch.cat(chunk) for chunk in chunks]
