"""The walk that every explainer shares: real graphs, candidates, validity, selection, metrics."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from dignn.core.checks import instance, whole_number
from dignn.core.errors import DignnError, RunFolderError
from dignn.core.files import read_json, write_json, write_text
from dignn.core.presets import from_preset
from dignn.core.progress import Tick, silent
from dignn.core.threads import single_thread
from dignn.core.torch_defaults import plain_torch
from dignn.explainers.chosen import Explained, chosen_explanations
from dignn.explainers.marked import chosen_markers, marked
from dignn.explainers.model_and_data import agreement
from dignn.explainers.prepared import FEATURES, Prepared
from dignn.explainers.settings import RunSettings
from dignn.explainers.studying import STUDY_FILE, Study, study
from dignn.explanations.explanation import Explanations
from dignn.explanations.explanation_files import GENERATION_FILE, METRICS_FILE, REFERENCE, REPORT_FILE, read_metrics
from dignn.features.bank import FeatureBank
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import Validity, check_validity
from dignn.metrics.run import Measuring, drawn
from dignn.report.reference import Reference

log = logging.getLogger(__name__)
CANDIDATES, UNREFINED = "candidates.safetensors", "unrefined.safetensors"


class Explainer(Prepared, ABC):
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

    # What has been made so far.
    _candidates: GraphBatch | None = None
    _compared: GraphBatch | None = None
    _explained: Explained | None = None
    _study: Study | None = None
    _metrics: dict[str, Any] | None = None
    _findings: dict[str, Any] | None = None

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

    # -- the way --------------------------------------------------------------------------------------

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
            with self.run.stage("GS"):
                ranking = self.ranker.rank(valid, self.adapter.score(valid), top_k)
            with self.run.stage("EVIDENCE") as tick:
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
        self._study = self._known_study(measure_again)
        contrasts = None if self._study is None else self._study.contrasts
        explanations = Explanations(by_class, self._told(validity, top_k, told), reference, contrasts)
        if self.run.folder is not None:
            explanations.save(self.run.folder)
            explanations.report(self.run.folder / REPORT_FILE)
        self._explained = Explained(explanations, ranking, validity)
        if measure or measure_again:
            self.study(again=measure_again)
            self.measure(again=measure_again)
        return self._given_last("show").explanations

    @plain_torch()
    def study(self, *, again: bool = False) -> Explanations:
        """The explanations that :meth:`explain` gave last, with what the model goes by in words.

        Scorecards and rules are found on the candidates and tested on held-out real graphs.

        Args:
            again: whether it is found anew where it is known.
        """
        explained = self._given_last("study")
        instance("again", again, bool, "True or False")
        if self._study is None or again:
            self.check()
            with single_thread():
                make, folder = partial(self._studied, explained), self.run.folder
                anew = again or (folder is not None and not Study.kept_in(folder))
                self._study = self.run.artifact(STUDY_FILE, make, Study.save, Study.load, anew=anew)
        self._explained = explained.told(
            contrasts=self._study.contrasts, **self._study.told, timings=self.run.note_timings()
        )
        if self.run.folder is not None:
            self._explained.explanations.save(self.run.folder)
            self._explained.explanations.report(self.run.folder / REPORT_FILE)
        return self._explained.explanations

    @plain_torch()
    def measure(self, *, again: bool = False) -> Explanations:
        """The explanations that :meth:`explain` gave last with their metrics (step 5), measured where none are known.

        Args:
            again: whether metrics that are known are measured anew; should that fail, they stay.
        """
        explained = self._given_last("measure")
        instance("again", again, bool, "True or False")
        if self._metrics is not None and not again:
            return explained.explanations
        if self._study is None:
            self.study()
            explained = self._given_last("measure")
        self.check()
        with single_thread():
            self._metrics = self.run.artifact(
                METRICS_FILE,
                partial(self._measured, explained),
                lambda value, path: write_json(path, value),
                read_metrics,
                anew=again,
            )
        self._explained = explained.told(metrics=self._metrics, timings=self.run.note_timings())
        if self.run.folder is not None:
            self._explained.explanations.report(self.run.folder / REPORT_FILE)
        return self._explained.explanations

    # -- steps ----------------------------------------------------------------------------------------

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

    def _known_study(self, doubted: bool) -> Study | None:
        """What has been found already; None where nothing has, or where it is ``doubted`` and cannot be read.

        What will be found anew is told as it was until then, so that nothing is lost when a run is stopped.
        """
        try:
            if self._study is not None or self.run.folder is None or not Study.kept_in(self.run.folder):
                return self._study
            return Study.load(self.run.folder / STUDY_FILE)
        except RunFolderError:
            if doubted:
                return None
            raise

    def _given_last(self, what: str) -> Explained:
        if self._explained is None:
            raise DignnError(f"There is nothing to {what} yet; call explain first")
        return self._explained

    def _studied(self, explained: Explained) -> Study:
        ranking = explained.ranking
        with self.run.stage("STUDY") as tick:
            return study(
                ranking.candidates,
                ranking.scores,
                self.adapter,
                self._learned_bank(),
                real=self.real,
                train_scores=self.train_scores,
                members=self.members,
                seed=self.seed.child("goes by"),
                tick=tick,
            )

    def _learned_bank(self) -> FeatureBank | None:
        """The generators of features, if they have learned: in this process, or as the run folder tells."""
        if not self.bank.learned and self.run.folder is not None and (self.run.folder / FEATURES).exists():
            self.learn_features()
        return self.bank if self.bank.learned else None

    def _measured(self, explained: Explained) -> dict[str, Any]:
        if self.run.folder is not None:
            log.info("The explanations are in %s; how far to trust them is measured now", self.run.folder / REPORT_FILE)
        with self.run.stage("EVAL") as tick:
            fresh = None if self._fresh is None else self._fresh_graphs()
            fidelity = {} if self._study is None else self._study.fidelity
            measuring = Measuring(
                self.adapter, self.real, self.train_scores, self.ranker, self.truth, self.seed, fidelity
            )
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
            "generation": self._findings or {},
            **({} if self._study is None else self._study.told),
            **({} if self._metrics is None else {"metrics": self._metrics}),
            "timings": self.run.note_timings(),
        }
