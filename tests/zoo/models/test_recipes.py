"""Recipes, checkpoints and the cache of trained models."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.fingerprint import data_fingerprint
from dignn.zoo.datasets.column_selection import select_columns
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import DATASETS, load
from dignn.zoo.models import checkpoint
from dignn.zoo.models.checkpoint import trained_model
from dignn.zoo.models.recipes import FORMS, RECIPES, Recipe, TrainedModel, in_form, recipe
from dignn.zoo.models.trainer import train


@pytest.fixture(scope="module")
def shapes() -> Dataset:
    return load("ba-shapes")


@pytest.fixture(scope="module")
def trained(shapes: Dataset) -> TrainedModel:
    return train(shapes, instead=replace(recipe(shapes), epochs=3, pool=60, held_out=60))


def _scores(model: TrainedModel, dataset: Dataset) -> Tensor:
    with torch.no_grad():
        return model.model(dataset.data.x, dataset.data.edge_index)


# -- recipes ------------------------------------------------------------------------------------------


def test_recipes_are_for_data_sets_that_exist() -> None:
    for form in FORMS:
        assert set(RECIPES[form]) <= set(DATASETS)


@pytest.mark.parametrize("name", DATASETS)
def test_the_registry_says_which_data_a_gcn_needs_converted(name: str) -> None:
    if not DATASETS[name].available:
        pytest.skip(f"{name} is not on this machine")
    assert (in_form(load(name), "gcn")[1] == "gcn") == DATASETS[name].several_kinds


def test_the_papers_hyperparameters() -> None:
    """The paper's appendix "Hyperparameters", and "three-layer GCNs" with a patience of 100 epochs."""
    shapes, planted = load("ba-shapes"), load("planted")
    named = {name: recipe(replace(planted, name=name), "paper") for name in ("dblp", "imdb")}
    named |= {name: recipe(replace(shapes, name=name), "paper") for name in ("mutag", "ba-shapes")}
    assert all(chosen.patience == 100 and chosen.subgraphs == 0 for chosen in named.values())
    assert (named["dblp"].architecture, named["dblp"].learning_rate, named["dblp"].weight_decay) == (
        "HeteroSAGE",
        0.005,
        0.001,
    )
    assert named["dblp"].constant == ("conference",)
    assert (named["imdb"].architecture, named["imdb"].learning_rate, named["imdb"].weight_decay) == (
        "HAN",
        0.005,
        0.001,
    )
    assert named["imdb"].arguments["dropout"] == 0.6
    assert (named["mutag"].learning_rate, named["mutag"].arguments["dropout"]) == (0.0005, 0.3)
    assert (named["ba-shapes"].learning_rate, named["ba-shapes"].arguments["dropout"]) == (0.005, 0.5)


# -- checkpoints --------------------------------------------------------------------------------------


def test_a_checkpoint_comes_back_bit_for_bit(trained: TrainedModel, shapes: Dataset, tmp_path: Path) -> None:
    checkpoint.save(trained, tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["card.json", "model.safetensors"]
    torch.manual_seed(0)
    state = torch.get_rng_state()
    again = checkpoint.load(tmp_path / "model", shapes.schema)
    assert torch.equal(torch.get_rng_state(), state)
    assert again.card == trained.card
    assert not again.model.training
    assert torch.equal(_scores(again, shapes), _scores(trained, shapes))


def test_a_checkpoint_of_another_schema_is_refused(trained: TrainedModel, shapes: Dataset, tmp_path: Path) -> None:
    checkpoint.save(trained, tmp_path)
    with pytest.raises(DignnError, match="data of another schema"):
        checkpoint.load(tmp_path, replace(shapes.schema, classes=("a", "b", "c", "d")))


def test_no_checkpoint_is_named(shapes: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DignnError, match=r"it has no model\.safetensors"):
        checkpoint.load(tmp_path, shapes.schema)


def _break_weights(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


def _break_card(folder: Path) -> None:
    (folder / "card.json").write_text('{"dataset": ')


def _empty_card(folder: Path) -> None:
    (folder / "card.json").write_text("[]")


def _other_width(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    card["arguments"]["hidden"] += 1
    (folder / "card.json").write_text(json.dumps(card))


def _other_architecture(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    card["architecture"] = "Transformer"
    (folder / "card.json").write_text(json.dumps(card))


DAMAGE = {
    "is damaged": (_break_weights, _break_card, _empty_card),
    "do not fit": (_other_width,),
    "Unknown architecture": (_other_architecture,),
}


@pytest.mark.parametrize(
    ("message", "damage"), [(message, one) for message, several in DAMAGE.items() for one in several]
)
def test_damage_is_named(trained: TrainedModel, shapes: Dataset, tmp_path: Path, message: str, damage) -> None:
    checkpoint.save(trained, tmp_path)
    damage(tmp_path)
    with pytest.raises(DignnError, match=message) as caught:
        checkpoint.load(tmp_path, shapes.schema)
    assert "\n" not in str(caught.value)


# -- the cache ----------------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Training made short, and counted."""
    calls: list[str] = []

    def short_recipe(dataset: Dataset, form: str) -> Recipe:
        return replace(recipe(dataset, form), epochs=2, pool=30, held_out=30)

    def short(dataset: Dataset, form: str, seed: int, progress: object) -> TrainedModel:
        calls.append(f"{dataset.name} {form} {seed}")
        return train(dataset, form, seed, instead=checkpoint.recipe(dataset, form))

    monkeypatch.setattr(checkpoint, "train", short)
    monkeypatch.setattr(checkpoint, "recipe", short_recipe)
    return calls


def test_a_model_is_trained_once(shapes: Dataset, counted: list[str], tmp_path: Path) -> None:
    first = trained_model(shapes, "strong", 0, tmp_path)
    again = trained_model(shapes, "strong", 0, tmp_path)
    assert counted == ["ba-shapes strong 0"]
    assert torch.equal(_scores(first, shapes), _scores(again, shapes))
    trained_model(shapes, "paper", 0, tmp_path)
    trained_model(shapes, "strong", 1, tmp_path)
    assert counted == ["ba-shapes strong 0", "ba-shapes paper 0", "ba-shapes strong 1"]
    assert all(folder.name.startswith("ba-shapes-") for folder in (tmp_path / "models").iterdir())


def test_a_model_of_other_data_is_not_served(shapes: Dataset, counted: list[str], tmp_path: Path) -> None:
    trained_model(shapes, "paper", 0, tmp_path)
    other = load("ba-shapes", seed=1)  # the same schema
    assert other.schema.fingerprint == shapes.schema.fingerprint
    trained = trained_model(other, "paper", 0, tmp_path)
    assert len(counted) == 2
    assert trained.card["data"] == data_fingerprint(other.data, *other.splits.values())


def test_a_damaged_model_is_trained_again(
    shapes: Dataset, counted: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trained_model(shapes, "paper", 0, tmp_path)
    (folder,) = (tmp_path / "models").iterdir()
    _break_weights(folder)
    trained_model(shapes, "paper", 0, tmp_path)
    assert len(counted) == 2
    assert "is damaged" in caplog.text
    trained_model(shapes, "paper", 0, tmp_path)
    assert len(counted) == 2


def test_a_model_of_an_older_recipe_is_trained_again(
    shapes: Dataset, counted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained_model(shapes, "paper", 0, tmp_path)
    before = checkpoint.recipe
    monkeypatch.setattr(checkpoint, "recipe", lambda dataset, form: replace(before(dataset, form), learning_rate=0.1))
    trained_model(shapes, "paper", 0, tmp_path)
    trained_model(shapes, "paper", 0, tmp_path)
    assert len(counted) == 2


def test_models_of_different_columns_are_kept_apart(counted: list[str], tmp_path: Path) -> None:
    planted = load("planted")
    same = planted.data["author"].x[:, :1].expand(-1, 50).clone()  # whatever is chosen, the values are the same
    planted.data["author"].x = same
    schema = replace(planted.schema, features=tuple(replace(spec, names=None) for spec in planted.schema.features))
    planted = replace(planted, schema=schema)
    one = select_columns(planted, {"author": 1})
    other = replace(one, columns={"author": (7,)})
    assert data_fingerprint(one.data) == data_fingerprint(other.data)
    for dataset in (planted, one, other, one, other, planted, select_columns(planted, {"author": 50})):
        card = trained_model(dataset, "strong", 0, tmp_path).card
        expected = {name: list(chosen) for name, chosen in dataset.columns.items()}
        assert card.get("columns", {}) == expected
        assert card["arguments"]["widths"]["author"] == dataset.data["author"].x.size(1)
    assert len(counted) == 3


def test_all_columns_have_the_name_that_they_always_had(shapes: Dataset, counted: list[str], tmp_path: Path) -> None:
    trained_model(shapes, "paper", 0, tmp_path)
    (folder,) = (tmp_path / "models").iterdir()
    assert folder.name == f"ba-shapes-paper-seed0-{data_fingerprint(shapes.data, *shapes.splits.values())[:8]}"
    assert "columns" not in json.loads((folder / "card.json").read_text())


# -- real data ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "full", "small"),
    [
        ("dblp", 0.93, 0.80),
        ("imdb", 0.57, 0.47),
        ("mutag", 0.7, None),
        ("ba-3motif", 0.99, 0.95),
        ("planted", 0.95, 0.85),
        ("ba-shapes", 0.95, 0.85),
        ("tree-cycle", 0.95, 0.85),
        ("tree-grids", 0.9, 0.8),
    ],
)
def test_strong_models_are_strong(name: str, full: float, small: float | None) -> None:
    if not DATASETS[name].available:
        pytest.skip(f"{name} is not on this machine")
    accuracy = train(load(name)).card["accuracy"]
    assert accuracy["full"]["test"] >= full
    if small is not None:
        assert next(iter(accuracy["small"].values())) >= small
