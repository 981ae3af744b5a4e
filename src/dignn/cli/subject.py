"""What a command explains: the model and the data, from a data set by name or from a user's files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dignn.cli.column_names import Named, load_names
from dignn.cli.feature_kinds import joined_kinds, parse_kinds
from dignn.cli.options import Known, Own
from dignn.cli.user_model import OwnModel, check_place, load_model
from dignn.cli.working import load_torch
from dignn.core.checks import checked_seed
from dignn.core.errors import DignnError
from dignn.core.suggestions import did_you_mean
from dignn.explainers.registry import EXPLAINERS
from dignn.zoo.datasets.registry import DATASETS, fresh_world, load

if TYPE_CHECKING:
    from dignn.core.progress import Progress
    from dignn.explainers.base import Explainer
    from dignn.explainers.settings import RunSettings
    from dignn.graphs.motif import GroundTruth
    from dignn.graphs.schema import Schema
    from dignn.zoo.datasets.dataset import Dataset
    from dignn.zoo.models.checkpoint import TrainedModel


@dataclass(frozen=True)
class Subject:
    """Everything about the model and the data that an explainer is given.

    Args:
        model: the model, and how to call it.
        data: the graphs.
        schema: of the graphs.
        about: for ``config.json``: what rebuilds this.
        return_type: of the model; None to find out.
        on_difference: what happens where the model goes by what generated graphs lack.
        sizes: of graphs, where the data set has its own.
        truth: what makes a member of each class, where that is known.
        fresh: makes other data of the same kind from a seed, or None where nobody can.
        card: of a model that dignn trained; None for a user's.
    """

    model: OwnModel
    data: Any
    schema: Schema
    about: dict[str, Any]
    return_type: Any = None
    on_difference: Any = "refuse"
    sizes: tuple[int, ...] | None = None
    truth: GroundTruth | None = None
    fresh: Callable[[int], Any] | None = None
    card: Mapping[str, Any] | None = field(default=None, repr=False)

    def explainer(
        self, name: str, config: RunSettings, seed: int, folder: Path, preset: str, progress: Progress
    ) -> Explainer:
        """The explainer of this name, ready to be fitted."""
        return EXPLAINERS[name](
            self.model.model,
            self.data,
            schema=self.schema,
            truth=self.truth,
            fresh=None if self.fresh is None else partial(self.fresh, seed),
            config=config if config.sizes is not None else replace(config, sizes=self.sizes),
            seed=seed,
            forward=self.model.forward,
            return_type=self.return_type,
            on_difference=self.on_difference,
            folder=folder,
            about={**self.about, "preset": preset},
            progress=progress,
        )


def is_file(name: str) -> bool:
    """Whether ``name`` is a data file (else a data set).

    Raises:
        DignnError: it is neither; the nearest name is in the message.
    """
    if name in DATASETS:
        return False
    path = Path(name)
    if path.is_dir():
        raise DignnError(f"{name} is a folder; give a data file, or the name of a data set")
    if path.exists():
        return True
    beside = [str(other) for other in path.parent.glob("*") if other.is_file()] if path.parent.is_dir() else []
    guess = did_you_mean(name, DATASETS) or did_you_mean(name, beside)
    raise DignnError(
        f"There is no data set called '{name}'{guess} and no such file; choose from {', '.join(DATASETS)}, or give the "
        "path of a data file"
    )


def refuse_options(name: str, known: Known, own: Own, *, file: bool) -> None:
    """Refuses options of a data set that were given with a file, and those of a file given with a data set."""
    if file and known != Known():
        raise DignnError(
            f"--columns, --form and --download are of data sets that dignn knows, and {name} is a file; "
            "leave them out (select columns before you train and save)"
        )
    if not file and own.given():
        raise DignnError(
            f"{', '.join(own.given())} needs a data file, and {name} is a data set with a model of its own; give a "
            "file, or leave it out"
        )


def trained_on(name: str, seed: int, known: Known, progress: Progress) -> tuple[Dataset, TrainedModel]:
    """A data set, and dignn's own model of it, trained first where that has not been done yet.

    Raises:
        DignnError: there is no such data set, it is not here, or it has no such columns, or the seed is none.
    """
    DATASETS.check(name)
    checked_seed(seed)
    load_torch(progress)
    from dignn.zoo.models.checkpoint import trained_model
    from dignn.zoo.models.recipes import in_form

    dataset, form = in_form(known.selected(load(name, seed=seed, download=known.download)), known.form)
    with progress.stage("Training the model") as tick:
        return dataset, trained_model(dataset, form, seed, progress=tick)


def of_dataset(name: str, seed: int, known: Known, progress: Progress) -> Subject:
    """A data set and dignn's own model of it."""
    dataset, trained = trained_on(name, seed, known, progress)
    return Subject(
        OwnModel(trained.model),
        dataset.data,
        dataset.schema,
        {"dataset": name, **known.about()},
        sizes=dataset.sizes,
        truth=dataset.truth,
        fresh=None if DATASETS[name].fresh is None else partial(fresh_world, dataset),
        card=trained.card,
    )


def of_file(path: Path, own: Own, progress: Progress) -> Subject:
    """A user's data file and model."""
    if own.model is None:
        raise DignnError(
            f"{path} needs a model; add --model FILE.py:FUNCTION, a function that returns your trained model"
        )
    check_place(own.model)
    said = Named() if own.names is None else load_names(own.names)
    kinds = joined_kinds(said.kinds, parse_kinds(own.kinds))
    load_torch(progress)
    from torch_geometric.data import HeteroData

    from dignn.cli.user_data import load_data
    from dignn.graphs.inference import infer_schema

    data = load_data(path, trust=own.trust)
    choices = data.node_types if isinstance(data, HeteroData) else own.type_names
    if choices and own.target is None and not isinstance(data, list):
        raise DignnError(f"Say which node type of {path} is classified: --target one of {', '.join(choices)}")
    schema = infer_schema(
        data,
        own.target,
        names=said.names,
        kinds=kinds,
        classes=own.classes or None,
        type_names=own.type_names or None,
        edge_names=own.edge_names or None,
    )
    return Subject(
        load_model(own.model, data),
        data,
        schema,
        {"dataset": path.name, "own": {"data": str(path), **own.about()}},
        return_type=own.return_type,
        on_difference=own.on_difference,
    )
