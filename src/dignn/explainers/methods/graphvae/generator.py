"""Learning and sampling of GraphVAE: structure and features of small typed graphs from one latent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from dignn.core.devices import Device, at_work
from dignn.core.errors import DignnError
from dignn.core.files import blamed_on, load_learned, put_under, save_tensors, under
from dignn.core.progress import Tick, silent
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.diffusion.training import train
from dignn.explainers.methods.graphvae.autoencoder import Autoencoder, joined_odds, most_likely
from dignn.explainers.methods.graphvae.row_codes import ROW_CODES, RowCode, code_of, decodable, threshold_for
from dignn.explainers.methods.graphvae.settings import GraphVAESettings
from dignn.explainers.methods.graphvae.training_graphs import TrainingGraphs
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.schema import Schema
from dignn.graphs.validity import check_validity
from dignn.structure.vocabulary import Vocabulary

_FORMAT = "dignn.GraphVAE.1"
# One training graph in so many measures when to stop, up to so many.
_VALIDATION, _VALIDATION_GRAPHS = 10, 256
# Graphs of a batch whose gradient is computed at once; larger batches use several cores.
_SHARD = 32
# Share of the training steps in which the KL term gains its weight, so that the latent is used at all.
_KL_WARM_UP = 0.25
# Graphs that are decoded together.
_AT_ONCE = 256
# Graphs that thresholds are measured on, and numbers in their rows, at most.
_CALIBRATION_GRAPHS, _CALIBRATION_NUMBERS = 512, 8_000_000


@dataclass
class Structures:
    """Decoded structures: tokens of nodes (B, N), of pairs above the diagonal (B, N, N), class of the graph (B,)."""

    nodes: Tensor
    edges: Tensor
    label: Tensor

    @classmethod
    def empty(cls, count: int, size: int) -> Structures:
        """So many of up to ``size`` nodes, none of which is there yet."""
        nodes, edges = torch.full((count, size), PADDING), torch.zeros(count, size, size, dtype=torch.long)
        return cls(nodes, edges, torch.full((count,), PADDING))

    def put(self, places: Tensor, others: Structures) -> None:
        """Replaces those at some places (m,)."""
        for part, new in zip(vars(self).values(), vars(others).values(), strict=True):
            part[places] = new


class GraphVAEGenerator:
    """Encodes graphs in a latent, and decodes graphs of any learned size from random latents.

    Args:
        settings: of GraphVAE.
        device: where it learns and samples, see :func:`dignn.core.devices.at_work`.

    Attributes:
        report: how learning and sampling went, as JSON takes it.
    """

    def __init__(self, settings: GraphVAESettings, *, device: Device = "auto") -> None:
        self.settings, self.device = settings, device
        self.report: dict[str, Any] = {}
        self._file: Path | None = None  # that it was loaded from
        self._words: Vocabulary
        self._codes: dict[str, RowCode]  # by node type, of those whose rows are decoded
        self._sizes: Tensor  # (G,) of training graphs, ascending
        self._edge_threshold = torch.zeros(())  # log-odds from which on there is an edge
        self._network: Autoencoder

    # -- learning -------------------------------------------------------------------------------------

    def fit(self, graphs: GraphBatch, learned: Tensor, *, seed: Seed, tick: Tick = silent) -> Self:
        """Learns from real graphs with their features, and returns itself.

        Args:
            graphs: at least one.
            learned: (B, N) nodes whose rows may be learned from; the others are seen without features.
            seed: of everything that is drawn.
            tick: progress.
        """
        there = graphs.sizes > 0
        if not bool(there.any()):
            raise DignnError("There are no training graphs with nodes; sample some first")
        known = TrainingGraphs(graphs[there], learned[there], joint=self.settings.joint and decodable(graphs.schema))
        self._words, self._sizes, self._file = known.words, known.sizes.sort().values, None
        rows = {name: known.measured(name, seed.child("rows", name)) for name in known.names}
        kinds = {name: code_of(some, graphs.schema.spec(name).kind) for name, some in rows.items()}
        self._codes = {name: ROW_CODES[kind].of(rows[name]) for name, kind in kinds.items()}
        with single_thread():
            self._network = self._new(seed.child("weights"))
            self._network.start_from(known.nodes, known.edges, list(rows.values()))
            self.report = {"training": {"all sizes": self._train(known, seed, tick)}}
            self._calibrate(known, seed.child("thresholds"))
        self.report["rows"] = kinds
        return self

    def _new(self, seed: Seed) -> Autoencoder:
        with seed.torch_globally():
            return Autoencoder(self._words, int(self._sizes.max()), self._codes, self.settings)

    def _train(self, known: TrainingGraphs, seed: Seed, tick: Tick) -> dict[str, Any]:
        order = torch.randperm(len(known), generator=seed.child("validation").torch())
        kept, rest = order.split([held := min(len(known) // _VALIDATION, _VALIDATION_GRAPHS), len(known) - held])
        steps = self.settings.training.steps_for(len(rest), self.settings.batch)

        def shards(step: int) -> list[Callable[[], Tensor]]:
            generator = seed.child("step", step).torch()
            index = rest[torch.randperm(len(rest), generator=generator)[: self.settings.batch]]
            noise = torch.randn(len(index), self.settings.latent, generator=generator)
            beta = self.settings.beta * min(1.0, (step + 1) / max(1.0, _KL_WARM_UP * steps))
            pieces = zip(index.split(_SHARD), noise.split(_SHARD), strict=True)
            return [partial(self._loss, known, some, own, beta, len(index)) for some, own in pieces]

        def validate() -> float:
            noise = torch.randn(len(kept), self.settings.latent, generator=seed.child("noise").torch())
            pieces = zip(kept.split(_AT_ONCE), noise.split(_AT_ONCE), strict=True)
            return sum(float(self._loss(known, some, own, self.settings.beta, len(kept))) for some, own in pieces)

        with self._at_work():
            return train(
                self._network, shards, validate if held else None, self.settings.training, steps=steps, tick=tick
            ).to_json()

    def _loss(self, known: TrainingGraphs, index: Tensor, noise: Tensor, beta: float, of: int) -> Tensor:
        """What graphs at these places add to the mean loss of so many: reconstruction, and beta times KL."""
        losses = self._network.losses(known.some(index, list(self._codes)), noise)
        kl = losses.pop("kl")
        return (torch.stack(list(losses.values())).sum(0) + beta * kl).sum() / of

    def _at_work(self) -> AbstractContextManager[torch.device]:
        return at_work(self._network, self._network, self.settings.batch, self.device)

    def _calibrate(self, known: TrainingGraphs, seed: Seed) -> None:
        """Chooses thresholds with which random graphs have as many edges, and rows as many entries, as real ones."""
        count = min(_CALIBRATION_GRAPHS, len(self._sizes))
        sizes = self._sizes[torch.linspace(0, len(self._sizes) - 1, count).round().long()]
        latent = torch.randn(count, self.settings.latent, generator=seed.torch())
        with self._at_work():
            nodes = self._structures(latent, sizes).nodes
            if self.settings.edge_threshold == "density":
                with torch.no_grad():
                    decoded = self._network.decode(latent, sizes)
                odds, _ = joined_odds(decoded, nodes, self._words, constrained=self.settings.constrained)
                edges = int((known.edges.triu(1) > 0).sum()) / len(known)
                self._edge_threshold = threshold_for(odds, round(edges * count))
            said = self._said(latent, nodes)
        for name, code in self._codes.items():
            most = max(1, _CALIBRATION_NUMBERS // code.size)
            self._codes[name] = code.calibrated(said[name][0][:most])

    # -- sampling -------------------------------------------------------------------------------------

    def sample(self, sizes: Sequence[int], *, seed: Seed, tick: Tick = silent) -> GraphBatch:
        """A graph for each size, with features where they are decoded.

        What is not valid is decoded again from another latent, as often as settings allow. What is not connected then
        stays so; what breaks the metagraph is left out, because no batch can hold it.

        Args:
            sizes: numbers of nodes, each that of some training graph.
            seed: same seed, same graphs.
            tick: progress.

        Raises:
            DignnError: there is no graph that fits the metagraph.
        """
        wanted = torch.tensor(list(sizes), dtype=torch.long)
        with single_thread(), blamed_on(self._file), self._at_work():
            latent, made, kept = self._drawn(wanted, seed, tick)
            if len(wanted) and not bool(kept.any()):
                raise DignnError("No decoded graph is consistent with the metagraph; set constrained to True")
            graphs = self._words.decode(made.nodes[kept], made.edges[kept], made.label[kept])
            return self._with_rows(graphs, self._said(latent[kept], made.nodes[kept]))

    def _drawn(self, wanted: Tensor, seed: Seed, tick: Tick) -> tuple[Tensor, Structures, Tensor]:
        """Latents (B, latent), structures of the wanted sizes (B,), and which fit the metagraph (B,)."""
        latent = torch.zeros(len(wanted), self.settings.latent)
        made = Structures.empty(len(wanted), int(self._sizes.max()))
        kept, valid = (torch.zeros(len(wanted), dtype=torch.bool) for _ in range(2))
        first, decoded = 0, 0
        for attempt in range(self.settings.draws + 1):
            left = (~valid).nonzero()[:, 0]
            if not len(left):
                break
            source = seed.child("latent", attempt).torch()
            latent[left] = torch.randn(len(left), self.settings.latent, generator=source)
            some = self._structures(latent[left], wanted[left])
            made.put(left, some)
            found = check_validity(self._words.decode(some.nodes, some.edges, some.label))
            kept[left], valid[left] = found.consistent, found.valid
            first, decoded = (int(valid.sum()) if attempt == 0 else first), decoded + len(left)
            tick(int(valid.sum()), len(wanted))
        count = max(1, len(wanted))
        self.report["sampling"] = {
            "graphs": len(wanted),
            "decoded": decoded,
            "first_yield": first / count,
            "yield": int(valid.sum()) / count,
            "left_out": int((~kept).sum()),
        }
        tick(1, 1)
        return latent, made, kept

    @torch.no_grad()
    def _structures(self, latent: Tensor, sizes: Tensor) -> Structures:
        """The most likely structures of latents (B, latent) with sizes (B,)."""
        found = []
        for some, own in zip(latent.split(_AT_ONCE), sizes.split(_AT_ONCE), strict=True):
            decoded = self._network.decode(some, own)
            tokens = most_likely(
                decoded,
                own,
                self._words,
                constrained=self.settings.constrained,
                threshold=float(self._edge_threshold),
            )
            label = decoded.label.argmax(1) if decoded.label.size(1) else torch.full((len(own),), PADDING)
            found.append((*tokens, label))
        return Structures(*(torch.cat(parts) for parts in zip(*found, strict=True)))

    @torch.no_grad()
    def _said(self, latent: Tensor, nodes: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        """By node type, what is said of the rows of nodes (B, N) with these tokens, and the graph of each.

        (m, size), (m,)
        """
        types = self._words.types[nodes].masked_fill(nodes < 0, PADDING)
        pieces: dict[str, list[Tensor]] = {name: [] for name in self._codes}
        for index in torch.arange(len(latent)).split(_AT_ONCE):
            states = self._network.decode(latent[index], (nodes[index] >= 0).sum(1)).states
            for number, name in enumerate(self._codes):
                here = types[index] == self._words.schema.type_index(name)
                pieces[name].append(self._network.rows(number, states[here], nodes[index][here]))
        graph = {name: (types == self._words.schema.type_index(name)).nonzero()[:, 0] for name in self._codes}
        return {name: (torch.cat(said), graph[name]) for name, said in pieces.items() if said}

    def _with_rows(self, graphs: GraphBatch, said: dict[str, tuple[Tensor, Tensor]]) -> GraphBatch:
        row, tables = graphs.row, {}
        for name, (numbers, graph) in said.items():
            here = graphs.node_type == graphs.schema.type_index(name)
            tables[name] = self._codes[name].decode(numbers, graph)
            row = row.masked_scatter(here, torch.arange(len(graph)))
        return replace(graphs, row=row, tables=tables)

    @torch.no_grad()
    def reconstruct(self, graphs: GraphBatch) -> GraphBatch:
        """Graphs, with all their features seen, through the mean of their latents and back, in canonical order."""
        known = TrainingGraphs(graphs, graphs.mask, words=self._words)
        with single_thread(), self._at_work():
            latent = self._network.encode(known.some(torch.arange(len(known)), list(self._codes)))[0]
            made = self._structures(latent, known.sizes)
            decoded = self._words.decode(made.nodes, made.edges, made.label)
            return self._with_rows(decoded, self._said(latent, made.nodes))

    # -- files ----------------------------------------------------------------------------------------

    def save(self, path: Path | str) -> None:
        """Writes what was learned to a safetensors file."""
        tensors = put_under("network.", self._network.state_dict())
        tensors |= {"sizes": self._sizes, "edge_threshold": self._edge_threshold}
        for name, code in self._codes.items():
            tensors |= put_under(f"rows.{name}.", code.state())
        metadata = {"vocabulary": self._words.to_json(), "report": self.report}
        save_tensors(path, tensors, {"format": _FORMAT, "metadata": json.dumps(metadata)})

    def load(self, path: Path | str, schema: Schema) -> Self:
        """Takes up what a generator of the same settings wrote with :meth:`save`, and returns itself."""

        def restore(tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
            self._words, self.report = Vocabulary.from_json(settings["vocabulary"], schema), settings["report"]
            self._sizes, self._edge_threshold = tensors["sizes"], tensors["edge_threshold"]
            kinds = self.report["rows"]
            self._codes = {
                name: ROW_CODES[kind].restored(under(f"rows.{name}.", tensors)) for name, kind in kinds.items()
            }
            self._network = self._new(Seed(0))
            self._network.load_state_dict(under("network.", tensors))
            self._network.eval()

        load_learned(path, _FORMAT, restore)
        self._file = Path(path)
        return self
