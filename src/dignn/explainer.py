"""The facade that walks the five steps: what every explainer shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import torch
from torch import nn
from torch_geometric.data import Data, HeteroData

from dignn.backdrop import Backdrop
from dignn.batch import GraphBatch
from dignn.config import PRESETS, Config
from dignn.data.base import GroundTruth
from dignn.errors import DignnError, RunFolderError
from dignn.evidence import gather
from dignn.explanation import Explanation, Explanations, Standing
from dignn.explanation_files import BACKDROP, GENERATION, METRICS
from dignn.facts import agreement, facts
from dignn.fingerprint import data_fingerprint, model_fingerprint, schema_fingerprint
from dignn.gnn.adapter import Forward, GNNAdapter, ReturnType, Scores
from dignn.inference import infer_schema
from dignn.members import Members, all_members
from dignn.metrics import measure
from dignn.metrics.graph_features import learned_rows
from dignn.metrics.layers import Answer, Reality
from dignn.motifs.mining import Parts
from dignn.ranking import SELECTIONS, Ranking
from dignn.real import RealGraphs, refuse_dropped_fields
from dignn.runtime.files import read_json, write_json, write_text
from dignn.runtime.progress import Progress
from dignn.runtime.run import Run
from dignn.runtime.seeds import Seed
from dignn.runtime.threads import single_thread
from dignn.schema import Schema
from dignn.validity import Validity, check_validity


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
        truth: what makes a member of each class, where that is known; only metrics look at it.
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
        truth: GroundTruth | None = None,
        config: Config | str = "fast",
        seed: int = 0,
        forward: Forward | None = None,
        return_type: ReturnType = "raw",
        folder: Path | str | None = None,
        about: dict[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.run = Run(folder, progress)
        self.config = PRESETS[config] if isinstance(config, str) else config
        if not isinstance(self.config, Config):
            raise DignnError(f"config is a {type(config).__name__}; give a Config or the name of a preset")
        self.schema = schema if schema is not None else infer_schema(data, target)
        if target is not None and self.schema.target != target:
            raise DignnError(f"The schema's target is '{self.schema.target}', not '{target}'; give one of them")
        if self.schema.num_classes < 2:
            raise DignnError("There is only one class, so there is nothing to tell apart; give data with two or more")
        self.truth = truth
        self.seed = Seed(seed)
        self.adapter = GNNAdapter(model, self.schema, forward=forward, return_type=return_type)
        refuse_dropped_fields(self.adapter, data)
        self.real = RealGraphs(data, self.schema, self.config, self.seed.child("real"))
        self.prepare()
        with single_thread():
            trial = self.real.trial()
            self.adapter.check(trial)
            answers = self.adapter.score(trial).logits
        self.about: dict[str, Any] = {
            **(about or {}),
            "explainer": self.name,
            "seed": seed,
            "config": _plain(asdict(self.config)),
            "schema": schema_fingerprint(self.schema),
            "data": data_fingerprint(data),
            "model": model_fingerprint(model, answers),
        }
        self._note = {"versions": _versions(), "facts": facts(model, self.real, self.schema)}
        self.run.identify(self.about, self._note)
        # What the report needs to write the call down; a schema and a function can only be named.
        self._call = {
            "target": target,
            "return_type": return_type,
            "schema": schema is not None,
            "forward": forward is not None,
        }
        self._candidates: GraphBatch | None = None
        self._findings: dict[str, Any] = {}

    # -- what a subclass provides ---------------------------------------------------------------------

    def prepare(self) -> None:
        """Builds what :meth:`learn` trains; a setting that does not exist is refused here, before any work."""
        return

    @abstractmethod
    def learn(self, train: GraphBatch) -> None:
        """Learns from real graphs (and the rest of ``self.real``), in stages of ``self.run``."""

    @abstractmethod
    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        """One graph with features for each requested size, in stages of ``self.run``."""

    def findings(self) -> dict[str, Any]:
        """What learning and generating found, for the report: loss curves, yield, ... As JSON takes it."""
        return {}

    @cached_property
    def train_scores(self) -> Scores:
        """What the model says of the real graphs to learn from."""
        return self.adapter.score(self.real.train)

    @cached_property
    def members(self) -> list[Members]:
        """Real members of each class among them."""
        return all_members(self.train_scores, self.real.train)

    # -- the way --------------------------------------------------------------------------------------

    def fit(self) -> Self:
        """Samples real graphs, learns from them and makes the candidates (steps 1 and 2)."""
        with single_thread():
            with self.run.stage("FFS"):
                self.real.sample()
            self.run.claim()
            if self.run.folder is not None:
                write_text(self.run.folder / "schema.json", self.schema.to_json())
            self._candidates = self.run.artifact(
                "candidates.safetensors", self._make_candidates, GraphBatch.save, self._load_candidates
            )
        return self

    def explain(self, top_k: int | None = None, *, measure_again: bool = False) -> Explanations:
        """Validity, selection and metrics (steps 3 to 5): per class the graphs that speak for it best.

        Args:
            top_k: explanations per class; by default as many as the settings say.
            measure_again: whether metrics of the run folder are measured anew; should that fail, they stay.
        """
        if self._candidates is None:
            raise DignnError("There is nothing to choose from yet; call fit first")
        top_k = self.config.top_k if top_k is None else top_k
        if top_k < 1:
            raise DignnError(f"top_k is {top_k}; it must be at least 1")
        with single_thread():
            with self.run.stage("PP"):
                validity = check_validity(self._candidates)
                valid = self._candidates[validity.valid]
            with self.run.stage("GS"):
                ranking = self._ranked(valid, top_k)
                by_class = self._explanations(ranking, validity, top_k)
            metrics = self.run.artifact(
                METRICS,
                lambda: self._measure(ranking, validity),
                lambda value, path: write_json(path, value),
                lambda path: read_json(path, "paper", "sound", "floor", "control"),
                anew=measure_again,
            )
            backdrop = self.run.artifact(
                BACKDROP,
                lambda: Backdrop.gather(self.real.data, self.real.held_out, valid),
                Backdrop.save,
                Backdrop.load,
                anew=measure_again,
            )
        explanations = Explanations(by_class, self._told(validity, metrics, top_k), backdrop)
        if self.run.folder is not None:
            explanations.save(self.run.folder)
            explanations.report(self.run.folder / "report.html")
        return explanations

    # -- steps ----------------------------------------------------------------------------------------

    def _make_candidates(self) -> GraphBatch:
        self.learn(self.real.train)
        made = self.candidates(self.real.like(self.config.candidates))
        self._findings = self.findings()
        if self.run.folder is not None:
            write_json(self.run.folder / GENERATION, self._findings)
        return made

    def _load_candidates(self, path: Path) -> GraphBatch:
        found = GraphBatch.load(path)
        if found.schema != self.schema:
            raise RunFolderError(f"{path} holds graphs of another schema; choose another folder or delete it")
        told = path.with_name(GENERATION)
        self._findings = read_json(told) if told.exists() else {}
        return found

    def _ranked(self, valid: GraphBatch, top_k: int) -> Ranking:
        return Ranking(
            valid,
            self.adapter.score(valid),
            self.real.train,
            self.members,
            self.config,
            number=top_k,
            seed=self.seed.child("parts"),
        )

    def _told(self, validity: Validity, metrics: dict[str, Any], top_k: int) -> dict[str, Any]:
        """What a report tells beside the graphs."""
        return {
            **self.about,
            **self._note,
            "validity": validity.counts(),
            "sampling": self.real.report,
            "call": {**self._call, "top_k": top_k},
            "agreement": agreement(self.train_scores, self.real.train),
            "generation": self._findings,
            "metrics": metrics,
            "timings": self.run.note_timings(),
        }

    def _explanations(self, ranking: Ranking, validity: Validity, top_k: int) -> dict[str, list[Explanation]]:
        number = validity.valid.nonzero()[:, 0]
        scores = ranking.scores
        probability, log_odds = scores.probability, scores.log_odds
        found: list[Explanation] = []
        for index, several in enumerate(ranking.chosen):
            rows = torch.tensor([choice.score for choice in several[:top_k]], dtype=torch.long)
            place = self.members[index].place(scores, rows)
            inside = place.inside()
            found += [
                Explanation(
                    class_index=index,
                    class_name=self.schema.classes[index],
                    rank=rank,
                    probability=tuple(probability[choice.score].tolist()),
                    log_odds=float(log_odds[choice.score, index]),
                    graph=ranking.candidates[choice.graph],
                    node=None if self.schema.target is None else int(scores.node[choice.score]),
                    candidate=int(number[choice.graph]),
                    standing=Standing(
                        bool(inside[rank]), float(place.logit_rank[rank]), float(place.distance_rank[rank])
                    ),
                )
                for rank, choice in enumerate(several[:top_k])
            ]
        evidence = gather(self.adapter, found, self.real.train, self.train_scores)
        found = [
            replace(item, evidence=shown, example=self.real.train[shown.nearest.graph])
            for item, shown in zip(found, evidence, strict=True)
        ]
        return {name: [item for item in found if item.class_name == name] for name in self.schema.classes}

    def _measure(self, ranking: Ranking, validity: Validity) -> dict[str, Any]:
        with self.run.stage("EVAL") as tick:
            parts = Parts(self.real.held_out, seed=self.seed.child("motifs"))
            reality = Reality(
                train=self.real.train,
                train_scores=self.train_scores,
                held_out=self.real.held_out,
                held_out_scores=self.adapter.score(self.real.held_out),
                learned=learned_rows(self.real.data, self.real.learned),
                motifs=parts.motifs(self.truth),
                class_typed=parts.class_typed(),
                truth=self.truth,
            )
            return measure(
                Answer(ranking.candidates, ranking.scores, ranking.chosen),
                reality,
                validity.counts(),
                {name: ranking.by(name) for name in SELECTIONS},
                self.adapter.score,
                seed=self.seed.child("controls"),
                tick=tick,
            )


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}


def _versions() -> dict[str, str]:
    import torch_geometric

    from dignn import __version__

    return {"dignn": __version__, "torch": torch.__version__, "torch_geometric": torch_geometric.__version__}
