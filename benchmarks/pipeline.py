"""The whole way on every data set with generators that learn nothing: seconds per stage around them."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from typing import Any

from benchmarks.measure import peak_memory
from dignn.explainers.methods.dignnexplainer.explainer import DiGNNExplainer
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.zoo.datasets.registry import DATASETS, load
from dignn.zoo.models.checkpoint import trained_model


def run() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, info in DATASETS.items():
        if not info.available:
            continue
        dataset = load(name)
        model = trained_model(dataset).model
        with tempfile.TemporaryDirectory() as folder:
            config = replace(PRESETS["fast"], sizes=dataset.sizes, structure="bootstrap", features="bootstrap")
            explainer = DiGNNExplainer(model, dataset.data, schema=dataset.schema, config=config, folder=folder)
            explanations = explainer.fit().explain()
        found[name] = {
            "timings": {stage: round(taken, 2) for stage, taken in explanations.about["timings"].items()},
            "pf": explanations.about["metrics"]["paper"]["pf"],
            "valid": explanations.about["validity"]["valid"],
        }
    found["peak_memory_gib"] = round(peak_memory(), 2)
    return found
