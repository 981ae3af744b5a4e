"""A trained model on disk: ``model.safetensors`` (weights) and ``card.json`` (everything else)."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import torch

from dignn.core.errors import DignnError, RunFolderError
from dignn.core.files import load_tensors, read_json, save_tensors, write_json
from dignn.core.fingerprint import data_fingerprint, fingerprint
from dignn.core.progress import Tick
from dignn.graphs.schema import Schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.raw_files import cache_folder
from dignn.zoo.models.architectures import build
from dignn.zoo.models.recipes import TrainedModel, as_json, recipe
from dignn.zoo.models.settings import Form
from dignn.zoo.models.trainer import train

log = logging.getLogger(__name__)

WEIGHTS, MODEL_CARD = "model.safetensors", "card.json"
CHECKPOINT_FORMAT = "dignn.gnn.1"


def save(trained: TrainedModel, folder: Path | str) -> None:
    """Writes the weights, then the card: a folder with a card is complete."""
    (Path(folder) / MODEL_CARD).unlink(missing_ok=True)  # an older card would describe other weights
    save_tensors(Path(folder) / WEIGHTS, trained.model.state_dict(), {"format": CHECKPOINT_FORMAT})
    write_json(Path(folder) / MODEL_CARD, trained.card)


def load(folder: Path | str, schema: Schema) -> TrainedModel:
    """The model that :func:`save` wrote, in evaluation mode.

    Raises:
        DignnError: if there is no checkpoint, it is damaged, or it was trained on data of another schema.
    """
    folder = Path(folder)
    for name in (WEIGHTS, MODEL_CARD):
        if not (folder / name).is_file():
            raise DignnError(f"{folder} is not a trained model, it has no {name}; train one with `dignn train`")
    card = read_json(folder / MODEL_CARD, "architecture", "arguments", "schema")
    if card["schema"] != schema.fingerprint:
        raise DignnError(
            f"The model in {folder} was trained on data of another schema (node types, relations, features or classes "
            "differ); train one on this data"
        )
    with torch.random.fork_rng(devices=[]):  # fresh weights are drawn, then replaced
        model = build(card["architecture"], card["arguments"])
    tensors, _ = load_tensors(folder / WEIGHTS, CHECKPOINT_FORMAT)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise RunFolderError(f"The weights in {folder} do not fit its {card['architecture']}; train again") from error
    return TrainedModel(model.eval(), card)


def trained_model(
    dataset: Dataset,
    form: Form = "strong",
    seed: int = 0,
    cache: Path | str | None = None,
    progress: Tick | None = None,
) -> TrainedModel:
    """The trained model of a data set, from the cache or trained now and put there.

    A cached model is used only if it was trained on exactly this data, by today's recipe. The card of a model that was
    trained on selected feature columns says which.

    Args:
        dataset, form, seed, progress: as in :func:`~dignn.zoo.models.trainer.train`.
        cache: the cache folder; by default that of the data sets.
    """
    name = f"{dataset.name}-{form}-seed{seed}-{_fingerprint(dataset)[:8]}"
    folder = (cache_folder() if cache is None else Path(cache)) / "models" / name
    if (folder / MODEL_CARD).is_file():
        try:
            found = load(folder, dataset.schema)
            if found.card.get("recipe") == as_json(recipe(dataset, form)):
                return found
            log.info("The cached model in %s was trained by another recipe; it is trained again", folder)
        except DignnError as error:
            log.warning("A cached model is not used: %s", error)
    trained = train(dataset, form, seed, progress)
    if dataset.columns:
        numbers = {name: list(chosen) for name, chosen in dataset.columns.items()}
        trained = replace(trained, card={**trained.card, "columns": numbers})
    save(trained, folder)
    return trained


def _fingerprint(dataset: Dataset) -> str:
    """Of the data and its split, and of the columns where some were selected: two may hold the same values."""
    found = data_fingerprint(dataset.data, *dataset.splits.values())
    return fingerprint([found, json.dumps(dataset.columns)]) if dataset.columns else found
