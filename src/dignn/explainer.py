"""The facade that walks the five steps, and what every explainer shares."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import torch
from torch import nn
from torch_geometric.data import Data, HeteroData

from dignn.batch import GraphBatch
from dignn.config import PRESETS, Config
from dignn.convert import from_pyg
from dignn.errors import DignnError
from dignn.explanation import Explanation, Explanations
from dignn.features import FeatureBank
from dignn.gnn.adapter import Forward, GNNAdapter, ReturnType, Scores
from dignn.inference import infer_schema
from dignn.metrics import measure
from dignn.runtime.files import read_json, write_json, write_text
from dignn.runtime.progress import Progress
from dignn.runtime.run import Run
from dignn.runtime.seeds import Seed
from dignn.runtime.threads import single_thread
from dignn.sampling import Adjacency, forest_fire
from dignn.schema import Schema
from dignn.selection import select_highest
from dignn.structure import STRUCTURE_GENERATORS
from dignn.validity import Validity, check_validity

log = logging.getLogger(__name__)

DEFAULT_SIZES = tuple(range(10, 16))
# Of the real graphs of each size, one in this many is held out for measuring.
HELD_OUT = 5
# Graphs on which a model is tried before anything is learned.
TRIAL_GRAPHS = 8


class Explainer(ABC):
    """Model-level explanation: candidates from somewhere, then the same checks, selection and metrics for all.

    A subclass says where candidates come from: :meth:`learn` once, then :meth:`candidates`.

    Args:
        model: the trained model, a PyTorch Geometric module or any callable (see
            :class:`~dignn.gnn.adapter.GNNAdapter`).
        data: one ``HeteroData`` or ``Data`` with labels ``y`` (node classification), or a list of them (graph
            classification): what the model was trained on.
        target: the classified node type of a ``HeteroData``.
        schema: where the inferred one lacks something, for example names.
        config: settings, or the name of a preset.
        seed: the same seed gives the same explanations, bit for bit.
        forward, return_type: how to call the model where its signature does not tell.
        folder: a run folder; everything made is kept there, and a second run goes on from it.
        about: what the run is of, for ``config.json`` and the report (for example the data set's name).
        progress: shows stages; silent by default.
    """

    name: str

    def __init__(
        self,
        model: nn.Module | Any,
        data: HeteroData | Data | Sequence[Data | HeteroData],
        target: str | None = None,
        *,
        schema: Schema | None = None,
        config: Config | str = "fast",
        seed: int = 0,
        forward: Forward | None = None,
        return_type: ReturnType = "raw",
        folder: Path | str | None = None,
        about: dict[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        if isinstance(config, str):
            config = PRESETS[config]
        self.schema = schema if schema is not None else infer_schema(data, target)
        if target is not None and self.schema.target != target:
            raise DignnError(f"The schema's target is '{self.schema.target}', not '{target}'; give one of them")
        self.config = config
        self.seed = Seed(seed)
        self.adapter = GNNAdapter(model, self.schema, forward=forward, return_type=return_type)
        self.data = Adjacency.build(data, self.schema)
        self._graphs = None if self.schema.target is not None else from_pyg(data, self.schema)
        self.prepare()
        with single_thread():
            self.adapter.check(self._trial_graphs())
        identity = {"explainer": self.name, "seed": seed, "config": _plain(asdict(config)), **(about or {})}
        self.run = Run(folder, identity, {"versions": _versions()}, progress)
        self.about = identity
        self.train: GraphBatch | None = None
        self.held_out: GraphBatch | None = None

    # -- what a subclass provides ---------------------------------------------------------------------

    def prepare(self) -> None:
        """Builds what :meth:`learn` trains; a setting that does not exist is refused here, before any work."""
        return

    @abstractmethod
    def learn(self, train: GraphBatch) -> None:
        """Learns from real graphs (and from ``self.data``), in stages of ``self.run``."""

    @abstractmethod
    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        """One graph with features for each requested size, in stages of ``self.run``."""

    # -- the way --------------------------------------------------------------------------------------

    def fit(self) -> Self:
        """Samples real graphs, learns from them and makes the candidates (steps 1 and 2)."""
        with single_thread():
            self.train, self.held_out = self._real_graphs()
            self.run.claim()
            if self.run.folder is not None:
                write_text(self.run.folder / "schema.json", self.schema.to_json())
            self._candidates = self.run.artifact(
                "candidates.safetensors", self._make_candidates, GraphBatch.save, GraphBatch.load
            )
        self.run.finish()
        return self

    def explain(self, top_k: int | None = None) -> Explanations:
        """Validity, selection and metrics (steps 3 to 5): per class the graphs that speak for it best."""
        if self.train is None or self.held_out is None:
            raise DignnError("There is nothing to choose from yet; call fit first")
        train, held_out = self.train, self.held_out
        with single_thread():
            with self.run.stage("PP"):
                validity = check_validity(self._candidates)
                valid = self._candidates[validity.valid]
            with self.run.stage("GS"):
                scores = self.adapter.score(valid)
                by_class = self._select(valid, validity, scores, top_k if top_k is not None else self.config.top_k)
            metrics = self.run.artifact(
                "metrics.json",
                lambda: self._measure(valid, scores, validity, train, held_out),
                lambda value, path: write_json(path, value),
                read_json,
            )
        self.run.finish()
        about = {**self.about, "validity": validity.counts(), "metrics": metrics, "timings": dict(self.run.timings)}
        explanations = Explanations(by_class, about)
        if self.run.folder is not None:
            explanations.save(self.run.folder)
            explanations.report(self.run.folder / "report.html")
        return explanations

    # -- steps ----------------------------------------------------------------------------------------

    def _trial_graphs(self) -> GraphBatch:
        if self._graphs is not None:
            return self._graphs[:TRIAL_GRAPHS]
        sizes = sorted({min(self._sizes), max(self._sizes)})
        return forest_fire(self.data, sizes, TRIAL_GRAPHS // 2, seed=self.seed.child("trial"))[0]

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.config.sizes if self.config.sizes is not None else DEFAULT_SIZES

    def _real_graphs(self) -> tuple[GraphBatch, GraphBatch]:
        """Real graphs to learn from and real graphs to measure against, shuffled within each size."""
        with self.run.stage("FFS"):
            graphs = self._sampled() if self._graphs is None else self._own(self._graphs)
            order = torch.randperm(len(graphs), generator=self.seed.child("held-out").torch())
            order = order[torch.argsort(graphs.sizes[order], stable=True)]
            held_out = torch.zeros(len(order), dtype=torch.bool)
            held_out[HELD_OUT - 1 :: HELD_OUT] = True
        if len(order) < HELD_OUT:
            raise DignnError(f"There are only {len(order)} real graphs to learn from; at least {HELD_OUT} are needed")
        return graphs[order[~held_out]], graphs[order[held_out]]

    def _sampled(self) -> GraphBatch:
        graphs, _ = forest_fire(self.data, self._sizes, self.config.subgraphs_per_size, seed=self.seed.child("FFS"))
        return graphs

    def _own(self, graphs: GraphBatch) -> GraphBatch:
        if self.config.sizes is None:
            return graphs
        fitting = torch.isin(graphs.sizes, torch.tensor(self.config.sizes))
        if not fitting.any():
            found = f"{int(graphs.sizes.min())} to {int(graphs.sizes.max())}"
            raise DignnError(f"No graph has one of the sizes {list(self.config.sizes)}; they have {found} nodes")
        return graphs[fitting]

    def _make_candidates(self) -> GraphBatch:
        assert self.train is not None  # fit sets it first
        self.learn(self.train)
        return self.candidates(self._candidate_sizes(self.train))

    def _candidate_sizes(self, train: GraphBatch) -> list[int]:
        """Sizes of the candidates: as frequent as among the real graphs, which sampling makes equally so."""
        known = train.sizes.sort().values
        place = torch.linspace(0, len(known) - 1, self.config.candidates).round().long()
        return known[place].tolist()

    def _select(
        self, valid: GraphBatch, validity: Validity, scores: Scores, top_k: int
    ) -> dict[str, list[Explanation]]:
        number = validity.valid.nonzero()[:, 0]
        probability, log_odds = scores.probability, scores.log_odds
        by_class: dict[str, list[Explanation]] = {}
        for index, (name, several) in enumerate(
            zip(self.schema.classes, select_highest(valid, scores, top_k), strict=True)
        ):
            by_class[name] = [
                Explanation(
                    class_index=index,
                    class_name=name,
                    rank=rank,
                    probability=tuple(probability[choice.score].tolist()),
                    log_odds=float(log_odds[choice.score, index]),
                    graph=valid[choice.graph],
                    node=None if self.schema.target is None else int(scores.node[choice.score]),
                    candidate=int(number[choice.graph]),
                )
                for rank, choice in enumerate(several)
            ]
        return by_class

    def _measure(
        self, valid: GraphBatch, scores: Scores, validity: Validity, train: GraphBatch, held_out: GraphBatch
    ) -> dict[str, Any]:
        with self.run.stage("EVAL"):
            return measure(valid, scores, validity.counts(), train, held_out, self.adapter.score(held_out))


class DiGNNExplainer(Explainer):
    """The paper's explainer: structure and features from generators that learned them from the model's data.

    >>> explainer = DiGNNExplainer(model, data, target="author", seed=0)     # doctest: +SKIP
    >>> explanations = explainer.fit().explain(top_k=3)                      # doctest: +SKIP
    >>> explanations.report("report.html")                                   # doctest: +SKIP
    """

    name = "dignnexplainer"

    def prepare(self) -> None:
        self._structure = STRUCTURE_GENERATORS[self.config.structure]()
        self._bank = FeatureBank(self.schema, self.config.features)

    def learn(self, train: GraphBatch) -> None:
        with self.run.stage("GGT") as tick:
            self._structure.fit(train, seed=self.seed.child("GGT"), tick=tick)
        with self.run.stage("NFGT") as tick:
            self._bank.fit(self.data, seed=self.seed.child("NFGT"), tick=tick)

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        with self.run.stage("GGAT") as tick:
            structure = self._structure.sample(sizes, seed=self.seed.child("GGAT"), tick=tick)
        with self.run.stage("NFGAT") as tick:
            return self._bank.fill(structure, seed=self.seed.child("NFGAT"), tick=tick)


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}


def _versions() -> dict[str, str]:
    import torch_geometric

    from dignn import __version__

    return {"dignn": __version__, "torch": torch.__version__, "torch_geometric": torch_geometric.__version__}
