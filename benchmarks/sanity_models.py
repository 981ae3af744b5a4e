"""The models whose explanations are compared: as it is, trained again, with random weights, on permuted labels."""

from __future__ import annotations

import copy
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData

from dignn.cli.options import Known
from dignn.cli.subject import Subject, of_dataset
from dignn.cli.user_model import OwnModel
from dignn.core.errors import DignnError
from dignn.core.progress import Progress
from dignn.core.seeds import Seed
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from dignn.zoo.models.architectures import build
from dignn.zoo.models.checkpoint import trained_model
from dignn.zoo.models.recipes import TrainedModel

REFERENCE, OTHER_SEED, RETRAINED, RANDOMISED, PERMUTED = RUNS = (
    "reference",
    "other-seed",
    "retrained",
    "randomised",
    "permuted",
)
_SEED = Seed(0).child("sanity")


def subject_of(run: str, name: str) -> Subject:
    """What a run explains: always the data set of seed 0 with its own labels; only the model is another.

    Generators and selection see the same data in every run, so that what changes comes from the model. Explanations
    that hang on labels of the data alone, and not on the model, would stay.
    """
    subject = of_dataset(name, 0, Known(), Progress())
    return replace(subject, model=OwnModel(model_of(run, load(name, seed=0))), card=None)


def model_of(run: str, dataset: Dataset) -> nn.Module:
    """The model of a run, from the cache or trained now."""
    if run == RETRAINED:
        return trained_model(dataset, seed=1).model
    if run == PERMUTED:
        return trained_model(permuted(dataset, _SEED.child("labels"))).model
    trained = trained_model(dataset)
    return randomised(trained, _SEED.child("weights")) if run == RANDOMISED else trained.model


def randomised(trained: TrainedModel, seed: Seed) -> nn.Module:
    """The same architecture with all weights drawn anew, as before training."""
    with seed.torch_globally():
        return build(trained.card["architecture"], trained.card["arguments"]).eval()


def permuted(dataset: Dataset, seed: Seed) -> Dataset:
    """The data set with the labels of its labelled nodes, or graphs, in random order; all else stays.

    What is known of the classes (``truth``) no longer holds, so it is left out.
    """
    data = copy.deepcopy(dataset.data) if isinstance(dataset.data, list) else copy.copy(dataset.data)
    if isinstance(data, list):
        labels = _shuffled(torch.cat([graph.y.flatten() for graph in data]), seed)
        for graph, label in zip(data, labels, strict=True):
            graph.y = label.reshape(graph.y.shape)
    else:
        store = data[dataset.schema.target] if isinstance(data, HeteroData) else data
        store.y = _shuffled(store.y, seed)
    return replace(dataset, data=data, truth=None)


def _shuffled(labels: Tensor, seed: Seed) -> Tensor:
    """Labels (n,) among those that have one; -1 stands for none."""
    if labels.is_floating_point() or labels.dim() != 1:
        raise DignnError("Labels are permuted where they are whole numbers, one for each; this data set has others")
    known = (labels >= 0).nonzero()[:, 0]
    order = torch.randperm(len(known), generator=seed.torch())
    return labels.index_copy(0, known, labels[known[order]])
