"""What is as large as the user's graph is done once: reading it, sorting its edges, hashing it; so is learning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from dignn.core import fingerprint
from dignn.explainers.methods.dignnexplainer.explainer import DiGNNExplainer
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.features.bank import FeatureBank
from dignn.graphs import edge_keys, flattening
from dignn.graphs.inference import infer_schema
from dignn.zoo.datasets.registry import load
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")


def counting(monkeypatch: pytest.MonkeyPatch, place: Any, name: str) -> list[Any]:
    """The first argument of every call of a function."""
    seen: list[Any] = []
    whole = getattr(place, name)
    monkeypatch.setattr(place, name, lambda *given, **named: seen.append(given[0]) or whole(*given, **named))
    return seen


def explainer(**options: Any) -> DiGNNExplainer:
    data = load("planted").data
    model = TinyHetero(infer_schema(data, "author"))
    config = replace(PRESETS["smoke"], subgraphs_per_size=10, candidates=16, features="bootstrap")
    return DiGNNExplainer(model, data, target="author", config=config, seed=0, **options)


def test_a_graph_is_read_sorted_and_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = explainer()
    read = counting(monkeypatch, flattening, "_hetero_part")
    sorts = counting(monkeypatch, edge_keys, "distinct")
    hashed = counting(monkeypatch, fingerprint, "_update")
    made.check()
    data = made._data
    assert len(read) == 1
    assert len(sorts) == len(data.edge_types)
    large = [part for part in hashed if isinstance(part, Tensor | np.ndarray) and len(part) and part.shape[-1] > 100]
    assert len([part for part in large if part.shape[0] == 2]) == len(data.edge_types)


@pytest.mark.parametrize("kept", [False, True])
def test_features_are_learned_once(kept: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    learned = counting(monkeypatch, FeatureBank, "fit")
    explainer(folder=tmp_path / "run" if kept else None).fit()
    assert len(learned) == 1
