"""What a command explains: the model and the data, from a data set by name or from a user's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dignn.cli.options import FewerColumns, Form, Own
from dignn.errors import DignnError
from dignn.suggestions import did_you_mean

if TYPE_CHECKING:
    from dignn.config import Config
    from dignn.data.base import GroundTruth
    from dignn.dignnexplainer import DiGNNExplainer
    from dignn.own import OwnModel
    from dignn.runtime.progress import Progress
    from dignn.schema import Schema


@dataclass(frozen=True)
class Subject:
    """Everything about the model and the data that an explainer is given.

    Args:
        model: the model, and how to call it.
        data: the graphs.
        schema: of the graphs.
        about: for ``config.json``: what rebuilds this.
        return_type: of the model.
        sizes: of graphs, where the data set has its own.
        truth: what makes a member of each class, where that is known.
        card: of a model that dignn trained; None for a user's.
    """

    model: OwnModel
    data: Any
    schema: Schema
    about: dict[str, Any]
    return_type: Any = "raw"
    sizes: tuple[int, ...] | None = None
    truth: GroundTruth | None = None
    card: Mapping[str, Any] | None = field(default=None, repr=False)

    def explainer(self, config: Config, seed: int, folder: Path, preset: str, progress: Progress) -> DiGNNExplainer:
        from dignn.dignnexplainer import DiGNNExplainer

        return DiGNNExplainer(
            self.model.model,
            self.data,
            schema=self.schema,
            truth=self.truth,
            config=config if config.sizes is not None else replace(config, sizes=self.sizes),
            seed=seed,
            forward=self.model.forward,
            return_type=self.return_type,
            folder=folder,
            about={**self.about, "preset": preset},
            progress=progress,
        )


def is_file(name: str) -> bool:
    """Whether ``name`` is a data file (else a data set).

    Raises:
        DignnError: it is neither; the nearest name is in the message.
    """
    from dignn.data import DATASETS

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


def of_dataset(name: str, seed: int, form: Form, fewer: FewerColumns, progress: Progress, *, download: bool) -> Subject:
    """A data set, and dignn's own model of it, trained first where that has not been done yet."""
    from dignn.data import load
    from dignn.gnn.checkpoint import trained_model
    from dignn.own import OwnModel

    dataset = fewer.of(load(name, seed=seed, download=download))
    with progress.stage("Training the model") as tick:
        trained = trained_model(dataset, form, seed, progress=tick)
    return Subject(
        OwnModel(trained.model),
        dataset.data,
        dataset.schema,
        {"dataset": name, "form": form, **fewer.about()},
        sizes=dataset.sizes,
        truth=dataset.truth,
        card=trained.card,
    )


def of_file(path: Path, own: Own) -> Subject:
    """A user's data file and model."""
    from torch_geometric.data import HeteroData

    from dignn.inference import infer_schema
    from dignn.own import load_data, load_model, load_names

    if own.model is None:
        raise DignnError(
            f"{path} needs a model; add --model FILE.py:FUNCTION, a function that returns your trained model"
        )
    data = load_data(path, trust=own.trust)
    choices = data.node_types if isinstance(data, HeteroData) else own.type_names
    if choices and own.target is None and not isinstance(data, list):
        raise DignnError(f"Say which node type of {path} is classified: --target one of {', '.join(choices)}")
    schema = infer_schema(
        data,
        own.target,
        names=None if own.names is None else load_names(own.names),
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
    )
