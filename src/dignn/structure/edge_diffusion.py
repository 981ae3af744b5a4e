"""Edge diffusion: discrete diffusion over the relations of pairs of nodes, and over node types where wanted.

Two kinds of noise are known: ``marginal`` is that of DiGress and of the paper, ``absorbing`` takes edges away. The
paper's setting (marginal noise, its graph transformer, one model per size, all steps of the reverse chain) is one
configuration; the usual one has a small denoiser and one model for all sizes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import torch
from torch import Tensor

from dignn.batch import GraphBatch
from dignn.config import Config, EdgeDiffusionConfig
from dignn.diffusion.training import train
from dignn.errors import DignnError
from dignn.runtime.progress import Tick, Together
from dignn.runtime.seeds import Seed
from dignn.runtime.threads import map_threads
from dignn.schema import Schema
from dignn.structure.base import STRUCTURE_GENERATORS, Guide, StructureGenerator
from dignn.structure.edge_absorbing import AbsorbingProcess
from dignn.structure.edge_marginal import MarginalProcess
from dignn.structure.edge_process import EdgeProcess
from dignn.structure.edge_sampling import Outcome, draw_graphs, steering
from dignn.structure.edge_tokens import Tokens
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

    _vocabulary: Vocabulary
    _models: dict[tuple[int, ...], EdgeProcess]  # by the sizes that a model serves
    _known: dict[int, Tensor]  # by size, what is known of its training graphs: (G, 1 + K + E), see Tokens

    def __init__(self, config: EdgeDiffusionConfig | None = None) -> None:
        super().__init__()
        self.config = config if config is not None else EdgeDiffusionConfig()

    @classmethod
    def build(cls, config: Config) -> Self:
        return cls(config.edge_diffusion)

    # -- learning -------------------------------------------------------------------------------------

    def _fit(self, graphs: GraphBatch, seed: Seed, tick: Tick) -> GraphBatch:
        graphs = graphs[graphs.sizes > 0]
        if not len(graphs):
            raise DignnError("The training graphs have no nodes; give graphs that have some")
        self._vocabulary = Vocabulary.of(graphs)
        tokens = Tokens.by_size(graphs, self._vocabulary)
        self._known = {size: self._makeable(some) for size, some in tokens.items()}
        self._models = {}
        parts = self._parts(list(tokens))
        reports = {}
        for number, sizes in enumerate(parts):
            own = seed.child(*sizes)
            model = self._new_model(sizes, own)
            model.count(tokens)
            batches = Batches(model, {size: tokens[size] for size in sizes}, own)
            report = train(
                model,
                batches.shards,
                batches.validate(),
                self.config.training,
                steps=self.config.training.steps_for(len(batches), self.config.batch),
                tick=_share(tick, number, len(parts)),
            )
            self._models[sizes] = model
            reports[" ".join(map(str, sizes))] = report.to_json()
        self.report["parameters"] = sum(found["parameters"] for found in reports.values())
        self.report["training"] = reports
        return graphs

    def _makeable(self, graphs: Tokens) -> Tensor:
        """What is known of the training graphs; of connected ones only, if only such graphs are to be made."""
        whole = graphs.components()[1] == 1
        if self.config.constraints and not bool(whole.any()):
            raise DignnError(
                f"No training graph of {graphs.size} nodes is connected, so connected ones cannot be learned; "
                "set constraints to False or give other graphs"
            )
        return graphs.known[whole] if self.config.constraints else graphs.known

    def _new_model(self, sizes: tuple[int, ...], seed: Seed) -> EdgeProcess:
        process = AbsorbingProcess if self.config.noise == "absorbing" else MarginalProcess
        with torch.random.fork_rng(devices=[]):  # layers draw their weights from torch's global generator
            torch.manual_seed(seed.child("weights").value)
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
            self._tell(Outcome())
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
            graphs, outcome = draw_graphs(model, size, known, generator, steer)
            together.add(len(places))
            return graphs.decode(self._vocabulary), outcome

        workers = None if guide is None else 1  # a model to explain need not be made for threads
        made = map_threads(one, range(len(chunks)), workers)
        self._tell(sum((outcome for _, outcome in made), Outcome()))
        order = torch.cat([places for _, places, _ in chunks]).argsort()
        return GraphBatch.cat([graphs for graphs, _ in made])[order]

    def _draw_known(self, size: int, count: int, generator: torch.Generator) -> Tensor:
        """What graphs of this size shall have: that of training graphs, each as often as any other (or once more)."""
        rows = self._known[size]
        rounds = -(-count // len(rows))
        order = torch.cat([torch.randperm(len(rows), generator=generator) for _ in range(rounds)])
        return rows[order[:count]]

    def _tell(self, outcome: Outcome) -> None:
        graphs = max(1, outcome.graphs)
        self.report["sampling"] = {
            "graphs": outcome.graphs,
            "first_yield": outcome.first / graphs,
            "restarts": outcome.restarts,
            "drawn_anew": outcome.fresh,
            "yield": outcome.final / graphs,
        }
        if self.config.constraints and outcome.final < outcome.graphs:
            log.warning(
                "%d of %d generated graphs are still not connected after all attempts; train longer",
                outcome.graphs - outcome.final,
                outcome.graphs,
            )

    # -- files ----------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = {f"known.{size}": rows for size, rows in self._known.items()}
        for sizes, model in self._models.items():
            tensors |= {f"{_name(sizes)}.{key}": value for key, value in model.state_dict().items()}
        return tensors, {"vocabulary": self._vocabulary.to_json()}

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any], schema: Schema) -> None:
        self._vocabulary = Vocabulary.from_json(settings["vocabulary"], schema)
        self._known = {size: tensors[f"known.{size}"] for size in settings["sizes"]}
        self._models = {}
        for sizes in self._parts(settings["sizes"]):
            model = self._new_model(sizes, Seed(0))
            start = f"{_name(sizes)}."
            state = {key.removeprefix(start): value for key, value in tensors.items() if key.startswith(start)}
            model.load_state_dict(state)
            self._models[sizes] = model.eval()


class Batches:
    """Training batches of one size each, and graphs kept for validation.

    Args:
        model: what is trained.
        graphs: training graphs by size.
        seed: decides the division and the batches.
    """

    def __init__(self, model: EdgeProcess, graphs: dict[int, Tokens], seed: Seed) -> None:
        self._model, self._seed = model, seed
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
        batch = min(self._model.config.batch, len(some))
        chosen = torch.randperm(len(some), generator=generator)[:batch]
        level = (torch.arange(batch) + torch.rand(batch, generator=generator)) / batch
        level = level[torch.randperm(batch, generator=generator)]

        def loss(number: int, piece: Tensor) -> Tensor:
            own = seed.child(number).torch()
            return self._model.loss(some[chosen[piece]], level[piece], own) * (len(piece) / batch)

        pieces = enumerate(torch.arange(batch).split(SHARD))
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
                loss = self._model.loss(some, level, self._seed.child("validation", size).torch())
                total += float(loss) * len(some)
            return total / sum(len(some) for some in kept.values())

        return validation


def _name(sizes: tuple[int, ...]) -> str:
    return "model-" + "-".join(map(str, sizes))


def _share(tick: Tick, number: int, count: int) -> Tick:
    """Progress of one of several trainings."""
    return lambda done, total: tick(number * total + done, count * total)


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
