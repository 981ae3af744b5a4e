"""What every step of an explainer works with: model, data and settings, checked, and what follows from them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
import torch_geometric
from torch import Tensor, nn
from torch_geometric.explain import ModelConfig

from dignn import __version__
from dignn.core.checks import checked_seed
from dignn.core.code_version import commit
from dignn.core.devices import Device, known_device, on_cpu
from dignn.core.errors import DignnError
from dignn.core.fingerprint import data_fingerprints
from dignn.core.presets import preset_named
from dignn.core.progress import Progress
from dignn.core.run_folder import COMMIT, VERSIONS, Run, unlike
from dignn.core.seeds import Seed
from dignn.core.torch_defaults import TorchDefaults, plain_torch
from dignn.evidence.registry import check_markers
from dignn.explainers.arguments import check_fits, check_fresh, check_run, check_subject, made_fresh
from dignn.explainers.checked_model import ACCEPTED, CheckedModel
from dignn.explainers.model_and_data import model_and_data
from dignn.explainers.settings import RunSettings
from dignn.features.bank import FeatureBank
from dignn.features.settings import FeatureSettings
from dignn.graphs.batch import GraphBatch
from dignn.graphs.flattening import FlatGraphs
from dignn.graphs.inference import read_data
from dignn.graphs.intake import given_graphs
from dignn.graphs.motif import GroundTruth
from dignn.graphs.schema import Schema
from dignn.graphs.tasks.base import ReturnType, Task
from dignn.model.adapter import GNNAdapter, check_model
from dignn.model.calling import Forward
from dignn.model.masked_model import check_maskable
from dignn.model.pyg_config import check_level, said_by
from dignn.model.same_answers import ON_DIFFERENCE, OnDifference
from dignn.model.scores import Scores
from dignn.sampling.division import RealGraphs, divide, is_learned
from dignn.sampling.unlabelled import label_unlabelled
from dignn.selection.members import Members, all_members
from dignn.selection.ranking import Ranker

FEATURES = "features.safetensors"


class Prepared:
    """Model, data and settings as they were given, refused where they do not fit, and what is made of them.

    Arguments are those of :class:`~dignn.explainers.base.Explainer`. Nothing is computed before it is asked for.
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
        seed = checked_seed(seed)
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

    @classmethod
    def _settings(cls, config: RunSettings | str) -> RunSettings:
        if isinstance(config, str):
            return preset_named(config, cls.presets)
        kind = type(cls.presets["fast"])
        if not isinstance(config, kind):
            raise DignnError(f"config is a {type(config).__name__}; give a {kind.__name__} or the name of a preset")
        return config

    # -- what follows from them -----------------------------------------------------------------------

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

        if self.run.folder is None and self.bank.learned:  # they have learned, and no file says so
            return
        self.run.artifact(FEATURES, fit, FeatureBank.save, self.bank.load)

    # -- checks ---------------------------------------------------------------------------------------

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
        made_by = None if self.run.folder is None else commit()
        versions |= {} if made_by is None else {COMMIT: made_by}
        facts = model_and_data(self.adapter.model, self.real, self.schema)
        self._note = {VERSIONS: versions, "facts": facts, **checked.accepted()}
        differs = {"fields": lambda there: unlike("fields", there, fields), **checked.identity.differs()}
        # A folder may tell of a difference that another version of dignn does not find.
        self.run.identify(self.about, self._note, differs | dict.fromkeys(ACCEPTED, lambda _there: None))
        self._checked = checked

    # -- real graphs ----------------------------------------------------------------------------------

    def _sample(self, real: RealGraphs) -> None:
        """Draws real graphs; what has no label gets the model's."""

        def answer(graphs: GraphBatch) -> tuple[Tensor, Tensor, Tensor]:
            scores = self.adapter.score(graphs)
            return scores.graph, scores.node, scores.predicted

        real.sample()
        label_unlabelled(real, answer)

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
