"""The walk that every explainer shares: real graphs, candidates, validity, selection, metrics."""

from __future__ import annotations

import json
import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
import torch_geometric
from torch import Tensor, nn
from torch_geometric.explain import ModelConfig

from dignn import __version__
from dignn.core.checks import instance, whole_number
from dignn.core.devices import Device, known_device, on_cpu
from dignn.core.errors import DignnError, RunFolderError
from dignn.core.files import read_json, write_json, write_text
from dignn.core.fingerprint import data_fingerprints
from dignn.core.presets import from_preset, preset_named
from dignn.core.progress import Progress, Tick, silent
from dignn.core.run_folder import Run, unlike
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.core.torch_defaults import TorchDefaults, plain_torch
from dignn.evidence.registry import check_markers
from dignn.explainers.arguments import check_fits, check_fresh, check_run, check_subject, made_fresh
from dignn.explainers.checked_model import ACCEPTED, CheckedModel
from dignn.explainers.chosen import Explained, chosen_explanations
from dignn.explainers.marked import chosen_markers, marked
from dignn.explainers.model_and_data import agreement, model_and_data
from dignn.explainers.settings import RunSettings
from dignn.explanations.explanation import Explanations
from dignn.explanations.explanation_files import GENERATION_FILE, METRICS_FILE, REFERENCE, REPORT_FILE, read_metrics
from dignn.features.bank import FeatureBank
from dignn.features.settings import FeatureSettings
from dignn.graphs.batch import GraphBatch
from dignn.graphs.flattening import FlatGraphs
from dignn.graphs.inference import read_data
from dignn.graphs.intake import given_graphs
from dignn.graphs.motif import GroundTruth
from dignn.graphs.schema import Schema
from dignn.graphs.tasks.base import ReturnType, Task
from dignn.graphs.validity import Validity, check_validity
from dignn.metrics.run import Measuring, drawn
from dignn.model.adapter import GNNAdapter, check_model
from dignn.model.calling import Forward
from dignn.model.masked_model import check_maskable
from dignn.model.pyg_config import check_level, said_by
from dignn.model.same_answers import ON_DIFFERENCE, OnDifference
from dignn.model.scores import Scores
from dignn.report.reference import Reference
from dignn.sampling.division import RealGraphs, divide, is_learned
from dignn.sampling.unlabelled import label_unlabelled
from dignn.selection.members import Members, all_members
from dignn.selection.ranking import Ranker

log = logging.getLogger(__name__)
CANDIDATES, FEATURES, UNREFINED = "candidates.safetensors", "features.safetensors", "unrefined.safetensors"


class Explainer(ABC):
    """Model-level explanation: candidates from somewhere, then the same checks, selection and metrics for all.

    A method says where candidates come from: :meth:`learn` once, then :meth:`candidates`. It may leave features to the
    generators that every explainer has (by returning graphs without any), look at one class at a time
    (:class:`~dignn.explainers.class_search.ClassSearch`), ask the model for scores or gradients (``self.adapter``), and
    :meth:`refine` what it made. Its settings are its own: a subclass of :class:`~dignn.explainers.settings.RunSettings`
    with presets.

    Args:
        model: the trained model, a PyTorch Geometric module or any callable (see
            :class:`~dignn.model.adapter.GNNAdapter`).
        data: one ``HeteroData`` or ``Data`` with labels ``y`` (node classification), or several (graph
            classification), as a list, ``Dataset``, ``DataLoader`` or whatever else
            :func:`~dignn.graphs.intake.given_graphs` knows: what the model was trained on.
        target: the classified node type of a ``HeteroData``.
        task: what the model answers, where that is no classification of nodes or graphs.
        schema: where the inferred one lacks something, for example names.
        truth: what makes a member of each class, where that is known; only metrics look at it.
        fresh: other data of the same kind, which neither model nor generators have seen, or a function that makes it;
            only metrics look at it.
        config: settings, or the name of a preset.
        seed: the same seed gives the same explanations, bit for bit.
        forward: how to call the model where its signature does not tell, a function of the model and a graph.
        return_type: what the model returns, where its answers leave that open.
        model_config: the same in PyTorch Geometric's words.
        on_difference: where the model's answers on graphs as dignn makes them differ from those on the same graphs of
            the data (it goes by weights of edges, say), ``refuse`` it, or ``warn`` and explain it without them.
        device: where generators learn and sample, and where a callable is asked. By default a GPU where there is one
            and the work is large enough to pay, and the CPU for callables. A module is asked where its weights are;
            data may be anywhere.
        folder: a run folder; everything made is kept there, and a second run goes on from it.
        about: what the run is of, for ``config.json`` and the report (for example the data set's name).
        progress: shows stages; silent by default.
    """

    name: ClassVar[str]
    shows_real: ClassVar[bool] = False  # whether its graphs are those of the data, and nothing is generated
    presets: ClassVar[Mapping[str, RunSettings]] = {
        "fast": RunSettings(),
        "smoke": RunSettings(subgraphs_per_size=20, candidates=96),
    }

    def __init__(
        self,
        model: nn.Module | Any,
        data: Any,
        target: str | None = None,
        *,
        task: Task | None = None,
        schema: Schema | None = None,
        truth: GroundTruth | None = None,
        fresh: Any = None,
        config: RunSettings | str = "fast",
        seed: int = 0,
        forward: Forward | None = None,
        return_type: ReturnType | None = None,
        model_config: ModelConfig | dict[str, Any] | None = None,
        on_difference: OnDifference = "refuse",
        device: Device = "auto",
        folder: Path | str | None = None,
        about: dict[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        check_model(model, return_type)
        self._level: str | None = None
        if model_config is not None:
            return_type, self._level = said_by(model_config, return_type)
        if on_difference not in ON_DIFFERENCE:
            raise DignnError(f"on_difference is {on_difference!r}; choose from {', '.join(ON_DIFFERENCE)}")
        data = given_graphs(data)
        check_subject(target, task, schema, truth, forward)
        if schema is not None:
            check_fits(data, schema)
        if schema is not None and target is not None and schema.target != target:
            raise DignnError(f"The schema's target is '{schema.target}', not '{target}'; give one of them")
        if task not in (None, schema and schema.task) and schema is not None:
            raise DignnError(f"The schema has another task, about {schema.task.things}; give one of them")
        check_fresh(fresh)
        seed = whole_number("seed", seed, 0, sys.maxsize)
        self._given = check_run(folder, about, progress)
        known_device(device)
        self.run = Run(folder, progress)
        self.config = self._settings(config)
        self.seed, self.truth = Seed(seed), truth
        self._model, self._data, self._fresh = model, on_cpu(data), fresh
        self._target, self._task, self._schema = target, task, schema
        self._forward, self._return_type, self._on_difference = forward, return_type, on_difference
        self._defaults = TorchDefaults.now()
        self.device = device
        self._view: FlatGraphs | None = None  # the data as it was read for the schema, until it is divided
        self._checked: CheckedModel | None = None
        self._candidates: GraphBatch | None = None
        self._compared: GraphBatch | None = None
        self._metrics: dict[str, Any] | None = None
        self._explained: Explained | None = None
        self._findings: dict[str, Any] = {}

    @classmethod
    def _settings(cls, config: RunSettings | str) -> RunSettings:
        if isinstance(config, str):
            return preset_named(config, cls.presets)
        kind = type(cls.presets["fast"])
        if not isinstance(config, kind):
            raise DignnError(f"config is a {type(config).__name__}; give a {kind.__name__} or the name of a preset")
        return config

    # -- what a method provides -----------------------------------------------------------------------

    def learn(self, train: GraphBatch) -> None:
        """Learns from real graphs (and the rest of ``self.real``), in stages of ``self.run``."""
        return

    @abstractmethod
    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        """A graph for each requested size, in stages of ``self.run``; without features they get generated ones."""

    def refine(self, candidates: GraphBatch) -> GraphBatch:
        """The candidates with features, changed where the model becomes surer; as many, in the same order."""
        return candidates

    def findings(self) -> dict[str, Any]:
        """What learning and generating found, for the report: loss curves, yield, ... As JSON takes it."""
        return {}

    @classmethod
    def within(cls, settings: RunSettings, budget: int, classes: int) -> RunSettings:
        """Settings with which at most ``budget`` graphs are scored, those that explanations are chosen from included.

        A method that asks the model while it learns or makes candidates says here how it asks less. What a run scored
        is noted as ``scored`` in ``generation.json``, without the candidates, which are scored to choose from them.
        """
        return replace(settings, candidates=min(settings.candidates, budget))

    # -- what a method may use ------------------------------------------------------------------------

    @cached_property
    def schema(self) -> Schema:
        """The schema that was given, or that of the data."""
        found = self._schema
        if found is None:
            found, self._view = read_data(self._data, self._target, task=self._task)
        found.task.check_classes(found.classes)
        return found

    @cached_property
    def adapter(self) -> GNNAdapter:
        """Asks the model."""
        return GNNAdapter(
            self._model,
            self.schema,
            forward=self._forward,
            return_type=self._return_type,
            defaults=self._defaults,
            device=self.device,
        )

    @cached_property
    def real(self) -> RealGraphs:
        """The real graphs, divided into what is learned from and what is held out."""
        schema, view = self.schema, self._view
        self._view = None  # it is read once, and not needed twice
        return divide(self._data, schema, self.config, self.seed.child("real"), view)

    @cached_property
    def train_scores(self) -> Scores:
        """What the model says of the real graphs to learn from; every method asks, so it is no cost of one."""
        return self.adapter.score(self.real.train, counted=False)

    @cached_property
    def members(self) -> list[Members]:
        """Real members of each class among them, of what generators may learn from."""
        scores = self.train_scores
        known = is_learned(self.real.train, scores.graph, scores.node, self.real.learned_rows)
        return all_members(scores[known], self.real.train, seed=self.seed)

    @cached_property
    def ranker(self) -> Ranker:
        """Chooses explanations."""
        return Ranker(
            self.real.train, self.members, self.config.selection, self.config.tolerance, self.seed.child("parts")
        )

    @cached_property
    def bank(self) -> FeatureBank:
        """Generators of features, not fitted yet."""
        settings = self.config if isinstance(self.config, FeatureSettings) else FeatureSettings()
        return FeatureBank(self.schema, settings, device=self.device)

    def learn_features(self, *, apart: bool = False) -> None:
        """Fits the generators of features, or loads them; ``apart`` from this process, which has other work."""

        def fit() -> FeatureBank:
            with self.run.stage("NFGT") as tick:
                seed = self.seed.child("NFGT")
                return self.bank.fit(
                    self.real.data, self.real.learned, self.real.train, seed=seed, tick=tick, apart=apart
                )

        if self.run.folder is None and self.bank.parts:  # they have learned, and no file says so
            return
        self.run.artifact(FEATURES, fit, FeatureBank.save, self.bank.load)

    # -- the way --------------------------------------------------------------------------------------

    @plain_torch()
    def check(self, *, marks: Sequence[str] = ()) -> Self:
        """Asks the model about some of the data's own graphs, and looks whether the run folder is of this run.

        Its answers on real graphs as dignn holds them must be those on the same graphs of the data. Whoever checks
        again only looks whether it is still the same model; :meth:`fit` and :meth:`explain` do.

        Args:
            marks: what :meth:`explain` will be asked for, so that it is refused before any work.

        Raises:
            DignnError: model, data and folder do not fit each other, or the model was changed; nothing was written.
        """
        markers = check_markers(marks)
        if self._checked is None:
            self._check()
        else:
            self._checked.refuse_changed()
        if markers and self._checked is not None:
            check_maskable(self.adapter, self._checked.graphs)
        return self

    def _check(self) -> None:
        """For the first time."""
        if self._level is not None:
            check_level(self._level, self.schema.task)
        checked = CheckedModel(self.adapter, self.real, self._model, self._forward, self._on_difference)
        described, fields = data_fingerprints(self._data)
        self.about: dict[str, Any] = {
            **self._given,
            "explainer": self.name,
            "seed": self.seed.root,
            "config": json.loads(json.dumps(asdict(self.config))),  # as a file gives it back
            "schema": self.schema.fingerprint,
            "data": described,
            "fields": fields,  # of the data, all of them
            **checked.identity.noted(),
        }
        versions = {"dignn": __version__, "torch": torch.__version__, "torch_geometric": torch_geometric.__version__}
        facts = model_and_data(self.adapter.model, self.real, self.schema)
        self._note = {"versions": versions, "facts": facts, **checked.accepted()}
        differs = {"fields": lambda there: unlike("fields", there, fields), **checked.identity.differs()}
        # A folder may tell of a difference that another version of dignn does not find.
        self.run.identify(self.about, self._note, differs | dict.fromkeys(ACCEPTED, lambda _there: None))
        self._checked = checked

    @plain_torch()
    def fit(self) -> Self:
        """Checks, samples real graphs, learns from them and makes the candidates (steps 1 and 2)."""
        self.check()
        with single_thread():
            with self.run.stage("FFS"):
                self._sample(self.real)
            self.run.claim()
            if self.run.folder is not None:
                write_text(self.run.folder / "schema.json", self.schema.to_json())
            self._candidates = self.run.artifact(
                CANDIDATES, self._make_candidates, GraphBatch.save, self._load_candidates
            )
        return self

    @plain_torch()
    def explain(
        self,
        top_k: int | None = None,
        *,
        marks: Sequence[str] | None = None,
        measure: bool = True,
        measure_again: bool = False,
    ) -> Explanations:
        """Validity and selection (steps 3 and 4), then metrics (:meth:`measure`): per class what speaks for it best.

        In a run folder explanations and page are there before measuring begins; then metrics are added. A run that is
        stopped meanwhile measures when it is called again.

        Args:
            top_k: explanations per class; by default as many as the settings say.
            marks: other explainers that mark the explanations beside their own evidence: ``gnnexplainer``, ``captum``;
                by default those whose marks the run folder has already.
            measure: whether metrics are measured where they are not known yet.
            measure_again: whether metrics that are known are measured anew; should that fail, they stay.
        """
        if self._candidates is None:
            raise DignnError("There is nothing to choose from yet; call fit first")
        self.check(marks=() if marks is None else marks)
        markers = chosen_markers(marks, self.run.folder)
        top_k = whole_number("top_k", self.config.top_k if top_k is None else top_k, 1)
        for name, given in (("measure", measure), ("measure_again", measure_again)):
            instance(name, given, bool, "True or False")
        with single_thread():
            with self.run.stage("PP"):
                validity = check_validity(self._candidates)
                valid = self._candidates[validity.valid]
            with self.run.stage("GS") as tick:
                ranking = self.ranker.rank(valid, self.adapter.score(valid), top_k)
                number, known = validity.valid.nonzero()[:, 0], (self.real.train_given, self.train_scores)
                by_class = chosen_explanations(ranking, top_k, number, self.members, self.adapter, known)
                by_class, told = marked(by_class, markers, self.adapter, self.seed.child("marks"), tick)
            reference = self.run.artifact(
                REFERENCE,
                lambda: Reference.gather(self.real.data, self.real.held_out, valid),
                Reference.save,
                Reference.load,
                anew=measure_again,
            )
        self._metrics = self._known_metrics(measure_again)
        explanations = Explanations(by_class, self._told(validity, top_k, told), reference)
        if self.run.folder is not None:
            explanations.save(self.run.folder)
            explanations.report(self.run.folder / REPORT_FILE)
        self._explained = Explained(explanations, ranking, validity)
        return self.measure(again=measure_again) if measure or measure_again else explanations

    @plain_torch()
    def measure(self, *, again: bool = False) -> Explanations:
        """The explanations that :meth:`explain` gave last with their metrics (step 5), measured where none are known.

        Args:
            again: whether metrics that are known are measured anew; should that fail, they stay.
        """
        if self._explained is None:
            raise DignnError("There is nothing to measure yet; call explain first")
        instance("again", again, bool, "True or False")
        if self._metrics is not None and not again:
            return self._explained.explanations
        self.check()
        with single_thread():
            self._metrics = self.run.artifact(
                METRICS_FILE,
                partial(self._measured, self._explained),
                lambda value, path: write_json(path, value),
                read_metrics,
                anew=again,
            )
        self._explained = self._explained.told(metrics=self._metrics, timings=self.run.note_timings())
        if self.run.folder is not None:
            self._explained.explanations.report(self.run.folder / REPORT_FILE)
        return self._explained.explanations

    # -- steps ----------------------------------------------------------------------------------------

    def _sample(self, real: RealGraphs) -> None:
        """Draws real graphs; what has no label gets the model's."""

        def answer(graphs: GraphBatch) -> tuple[Tensor, Tensor, Tensor]:
            scores = self.adapter.score(graphs)
            return scores.graph, scores.node, scores.predicted

        real.sample()
        label_unlabelled(real, answer)

    def _proposed(self) -> tuple[GraphBatch, bool]:
        """Candidates before refinement, and whether they still need features, which are learned then."""
        self.learn(self.real.train)
        made = self.candidates(self.real.like(self.config.candidates))
        of_nodes = not made.tables and any(spec.generated for spec in self.schema.features)
        bare = of_nodes or bool(not made.edge_tables and self.schema.generated_edges)
        if bare:
            self.learn_features()
        return made, bare

    def _filled(self, proposed: GraphBatch, bare: bool, tick: Tick = silent) -> GraphBatch:
        seed = self.seed.child("NFGAT")
        if bare and proposed.tables:  # features of nodes are there already
            return self.bank.fill_edges(proposed, seed=seed)
        return self.bank.fill(proposed, seed=seed, tick=tick) if bare else proposed

    def _make_candidates(self) -> GraphBatch:
        with self.run.counting(lambda: self.adapter.scored) as scored:
            proposed, bare = self._proposed()
            with self.run.stage("NFGAT") as tick:
                filled = self._filled(proposed, bare, tick)
                self._unrefined(filled)
                made = self.refine(filled)
            self._findings = {"scored": scored(), **self.findings()}
        if self.run.folder is not None:
            write_json(self.run.folder / GENERATION_FILE, self._findings)
        return made

    def _unrefined(self, proposed: GraphBatch | None = None) -> GraphBatch:
        """As many random valid candidates before refinement as metrics compare."""

        def draw() -> GraphBatch:
            made = self._filled(*self._proposed()) if proposed is None else proposed
            return drawn(made[check_validity(made).valid], self.seed.child("compared"))

        if self._compared is None:
            self._compared = self.run.artifact(UNREFINED, draw, GraphBatch.save, self._load_graphs)
        return self._compared

    def _load_graphs(self, path: Path) -> GraphBatch:
        found = GraphBatch.load(path)
        if found.schema != self.schema:
            raise RunFolderError(f"{path} holds graphs of another schema; choose another folder or delete it")
        return replace(found, schema=self.schema)

    def _load_candidates(self, path: Path) -> GraphBatch:
        told = path.with_name(GENERATION_FILE)
        self._findings = read_json(told) if told.exists() else {}
        return self._load_graphs(path)

    def _fresh_graphs(self) -> RealGraphs:
        made = made_fresh(self._fresh)
        try:
            data = given_graphs(made)
            check_fits(data, self.schema)
            found = divide(on_cpu(data), self.schema, self.config, self.seed.child("fresh"))
            self._sample(found)
        except DignnError as error:
            raise DignnError(f"The fresh data does not fit: {error}") from error
        return found

    def _known_metrics(self, doubted: bool) -> dict[str, Any] | None:
        """What has been measured already; None where nothing has, or where it is ``doubted`` and cannot be read."""
        there = self.run.folder is not None and (self.run.folder / METRICS_FILE).exists()
        if self._metrics is not None or self.run.folder is None or not there:
            return self._metrics
        try:
            return read_metrics(self.run.folder / METRICS_FILE)
        except RunFolderError:
            if doubted:
                return None
            raise

    def _measured(self, explained: Explained) -> dict[str, Any]:
        if self.run.folder is not None:
            log.info("The explanations are in %s; how far to trust them is measured now", self.run.folder / REPORT_FILE)
        with self.run.stage("EVAL") as tick:
            fresh = None if self._fresh is None else self._fresh_graphs()
            measuring = Measuring(self.adapter, self.real, self.train_scores, self.ranker, self.truth, self.seed)
            return measuring.measure(explained.ranking, self._unrefined(), explained.validity, fresh, tick)

    def _told(self, validity: Validity, top_k: int, marks: dict[str, Any]) -> dict[str, Any]:
        """What a report tells beside the graphs."""
        # What the report needs to write the call down; a schema and a function can only be named.
        call = {
            "target": self._target,
            **({} if self._task is None else {"task": self._task.to_json()}),
            "return_type": self.adapter.return_type,
            "schema": self._schema is not None,
            "forward": self._forward is not None,
            "top_k": top_k,
            **({"marks": list(marks)} if marks else {}),
        }
        dropped = {kind: edges.count for kind, edges in self.real.data.dropped.items()}
        return {
            **self.about,
            **self._note,
            "validity": validity.counts(),
            "sampling": self.real.report,
            **({"dropped": dropped} if dropped else {}),
            **({"real": True} if self.shows_real else {}),
            "call": call,
            **({"marks": marks} if marks else {}),
            "from_preset": from_preset(self.about["config"], self.presets, self._given.get("preset")),
            "agreement": agreement(self.train_scores, self.real.train_given),
            "generation": self._findings,
            **({} if self._metrics is None else {"metrics": self._metrics}),
            "timings": self.run.note_timings(),
        }
