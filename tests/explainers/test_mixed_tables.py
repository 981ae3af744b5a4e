"""Whole runs on tables that mix everything: from the data to the page, and models that cannot take what is missing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from dignn.core.errors import ModelMismatchError
from dignn.explainers.methods.dignnexplainer.explainer import DiGNNExplainer
from dignn.explanations.explanation import Explanations
from dignn.graphs.column_checks import breach
from dignn.report.case_study import explanations_figure
from dignn.report.export.portable import portable_graph
from mixed_world import SHOP, MixedModel, mixed_data, mixed_schema
from small_runs import small_config

pytestmark = pytest.mark.usefixtures("haste")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixed") / "run"
    config = replace(small_config(), features="bootstrap")
    made = DiGNNExplainer(MixedModel(), mixed_data(), schema=mixed_schema(), config=config, seed=0, folder=folder)
    made.fit().explain()
    return folder


def test_explanations_have_rows_of_the_schema(run: Path) -> None:
    found = Explanations.load(run)
    graphs = [item.graph for several in found.values() for item in several]
    assert graphs
    for graph in graphs:
        for name in ("shop", "item"):
            assert breach(graph.features(name), graph.schema.spec(name)) is None
        assert graph.features("owner").tolist() == [[3.0, 0.5]] * int((graph.node_type == 2).sum())
    assert any(bool(graph.features("shop").isnan().any()) for graph in graphs)


def test_what_is_missing_is_null_and_dates_are_dates(run: Path) -> None:
    content = json.loads((run / "explanations.json").read_text())
    shops = [
        dict(node["features"])
        for several in content["classes"].values()
        for item in several
        for node in item["nodes"]
        if node["type"] == "shop"
    ]
    assert None in [shop["price"] for shop in shops if "price" in shop]
    for shop in shops:
        assert shop["founded"][:2] in ("19", "20")
        assert shop["founded"][4] == "-"
        assert len({"red", "green", "blue"} & shop.keys()) == 1
        assert "bias" not in shop


def test_everything_is_measured(run: Path) -> None:
    found = json.loads((run / "metrics.json").read_text())
    shop = found["sound"]["features"]["by_type"]["shop"]
    assert all(shop[name] is not None for name in ("column_error", "pair_error", "row_density", "c2st"))
    assert 0 <= found["sound"]["missing_rates"]["error"] <= 1
    assert set(found["sound"]["missing_rates"]["by_class"]) == {"cheap", "dear"}
    assert found["control"]["column_noise"]["sound"]["missing_rates"]["error"] is not None
    assert found["paper"]["cosine"] is not None


def test_the_page_shows_columns_as_people_read_them(run: Path) -> None:
    page = (run / "report.html").read_text()
    assert "“price” is missing in" in page
    assert "founded: 19" in page or "founded: 20" in page
    assert "town: " in page
    assert "price: missing" in page
    assert "nan" not in page.lower().replace("finance", "")


def test_figures_and_exports_bear_what_is_missing(run: Path) -> None:
    found = Explanations.load(run)
    explanations_figure(found)
    item = next(iter(found.values()))[0]
    graph = portable_graph(item)
    for node, values in graph.nodes(data=True):
        row = item.graph.features("shop")
        if values["type"] == "shop":
            assert values["shop: bias"] == 1
            assert isinstance(values["shop: founded"], str)
        assert not any(value != value for value in values.values()), node
    assert len(row) > 0


def test_a_model_that_cannot_take_what_is_missing_is_told_so() -> None:
    config = replace(small_config(), features="bootstrap")
    made = DiGNNExplainer(MixedModel(fills=False), mixed_data(), schema=mixed_schema(), config=config)
    with pytest.raises(
        ModelMismatchError, match="where '(price|rating)' of 'shop' misses values; fill them in before training, or"
    ) as refused:
        made.check()
    assert "\n" not in str(refused.value)


def test_a_value_that_is_rarely_missing_is_tried_all_the_same() -> None:
    data = mixed_data()
    price = SHOP.index("price")
    rare = data["shop"].x[:, price].nan_to_num(5.0)
    rare[77] = torch.nan
    data["shop"].x[:, price] = rare
    data["shop"].x[:, SHOP.index("rating")].nan_to_num_(2.0)
    made = DiGNNExplainer(MixedModel(fills=False), data, "shop", config=replace(small_config(), features="bootstrap"))
    with pytest.raises(ModelMismatchError, match="where 'column 6' of 'shop' misses values"):
        made.check()
