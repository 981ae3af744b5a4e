"""Guidance: what it does to the scores of a model that generated graphs rarely convince, and to their realism."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from dignn.core.threads import single_thread
from dignn.explainers.methods.dignnexplainer.explainer import DiGNNExplainer
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.metrics.structure_realism import structure_realism
from dignn.zoo.datasets.registry import load
from dignn.zoo.models.checkpoint import trained_model

DATASET, FORM = "ba-shapes", "paper"
STRENGTHS = (0.0, 4.0, 16.0)


def run() -> dict[str, Any]:
    dataset = load(DATASET)
    model = trained_model(dataset, FORM).model
    config = replace(PRESETS["fast"], sizes=dataset.sizes)
    explainer = DiGNNExplainer(model, dataset.data, schema=dataset.schema, config=config)
    explainer.real.sample()
    found: dict[str, Any] = {"dataset": DATASET, "form": FORM, "classes": list(dataset.schema.classes)}
    with single_thread():
        explainer.learn(explainer.real.train)
        for strength in STRENGTHS:
            explainer.config = replace(config, guidance=strength)
            made = explainer.candidates(explainer.real.like(config.candidates))
            probability = explainer.adapter.score(made).probability
            realism = structure_realism(made, explainer.real.train, explainer.real.held_out)
            found[f"{strength:g}"] = {
                "best": [round(value, 4) for value in probability.max(0).values.tolist()],
                "top_50": [round(value, 4) for value in _top(probability).tolist()],
                "ratio": realism.ratio,
                "unique": realism.unique,
            }
    return found


def _top(probability: torch.Tensor) -> torch.Tensor:
    """(C,) mean of the 50 highest probabilities of each class."""
    return probability.sort(0, descending=True).values[:50].mean(0)
