"""Arguments of explainers that only their content, or calling them, shows to be wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from dignn import DignnError, DiGNNExplainer, infer_schema
from dignn.core.progress import Progress
from dignn.explainers.arguments import check_run
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.zoo.datasets.registry import load
from strategies import rings_and_stars
from tiny_models import TinyGCN, TinyHetero

PLANTED = load("planted")


def explainer(**options: Any) -> DiGNNExplainer:
    named = {"data": PLANTED.data, "schema": PLANTED.schema, "config": PRESETS["smoke"]} | options
    return DiGNNExplainer(TinyHetero(PLANTED.schema), **named)


def _narrow() -> HeteroData:
    data = PLANTED.data.clone()
    data["paper"].x = data["paper"].x[:, :5]
    return data


def _fails() -> HeteroData:
    raise RuntimeError("no more disks")


@pytest.mark.parametrize(
    ("fresh", "message"),
    [
        (lambda: 3, "fresh data does not fit: The data is a int; give a Data"),
        (lambda: Data(num_nodes=2), "fresh data does not fit: The data is a Data, but the schema is of a HeteroData; "),
        (rings_and_stars, "fresh data does not fit: The data is a list of Data, but the schema is of a HeteroData; "),
        (_narrow, "fresh data does not fit: 'paper' has 5 feature columns here and 60 in the schema; "),
        (_fails, "fresh= fails .RuntimeError: no more disks.; mend it, or leave fresh= out"),
    ],
)
def test_fresh_data_of_another_kind_is_named(fresh: Callable[[], Any], message: str) -> None:
    with pytest.raises(DignnError, match=message):
        explainer(fresh=fresh)._fresh_graphs()


@pytest.mark.parametrize("one", [rings_and_stars()[0], PLANTED.data])
def test_one_graph_where_graphs_are_classified_is_refused_at_once(one: Data | HeteroData) -> None:
    with pytest.raises(DignnError, match="but the schema is of a list of Data; give that, or another schema"):
        DiGNNExplainer(TinyGCN(1, 2, pool=True), one, schema=infer_schema(rings_and_stars()))


def test_what_a_run_is_of_is_as_its_file_gives_it_back(tmp_path: Path) -> None:
    given = {"dataset": "mine", "columns": (1, 2), "deep": {"a": [True, None]}}
    assert check_run(tmp_path, given, Progress()) == json.loads(json.dumps(given))
    assert check_run(None, None, None) == {}
    with pytest.raises(DignnError, match="about holds what JSON cannot .*Tensor.*; give texts, numbers, lists and"):
        check_run(None, {"a": torch.zeros(1)}, None)
