"""What torch does around an explainer is the caller's business: the same bits, and everything as it was afterwards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from dignn import DiGNNExplainer, Explanations
from dignn.core.torch_defaults import TorchDefaults
from dignn.graphs.schema import EdgeType
from dignn.zoo.datasets.registry import load
from small_runs import small_config
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
SCHEMA = load("planted").schema


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def other_defaults() -> Iterator[None]:
    """Tensors that are made without saying what they are get another type, and no content."""
    with torch.no_grad(), default_dtype(torch.float64), torch.device("meta"):
        yield


SURROUNDINGS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "other defaults": other_defaults,
    "inference_mode": torch.inference_mode,
}


class TwoInferences:
    """A model as people wrap it: made of tensors of inference mode, and answering with such."""

    def __init__(self) -> None:
        with torch.inference_mode():
            self.model = TinyHetero(SCHEMA)

    @torch.inference_mode()
    def __call__(self, x_dict: dict[str, Tensor], edge_index_dict: dict[EdgeType, Tensor]) -> Tensor:
        return self.model(x_dict, edge_index_dict)


def data() -> HeteroData:
    return load("planted").data


def run(folder: Path, model: Any, given: HeteroData) -> Explanations:
    """Features and structure are learned, and everything is measured."""
    config = replace(small_config(), sizes=(8,), candidates=12, top_k=1)
    return DiGNNExplainer(model, given, schema=SCHEMA, config=config, folder=folder).check().fit().explain()


def digests(folder: Path, *left_out: str) -> dict[str, str]:
    timed = {"timings.json", "report.html", "checksums.json", *left_out}
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir()) if p.name not in timed}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run in a fresh process's surroundings."""
    folder = tmp_path_factory.mktemp("plain") / "run"
    run(folder, TinyHetero(SCHEMA), data())
    learned = json.loads((folder / "generation.json").read_text())["features"]
    assert {each["generator"] for each in learned.values()} == {"ditabddpm", "tabddpm"}
    return folder


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_surroundings_change_no_bit_and_stay(plain: Path, tmp_path: Path, name: str) -> None:
    model, given = TinyHetero(SCHEMA), data()
    with SURROUNDINGS[name]():
        before = TorchDefaults.now(), torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        run(tmp_path / "run", model, given)
        assert (TorchDefaults.now(), torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == before
    assert digests(tmp_path / "run") == digests(plain)


def test_data_and_model_of_inference_mode_give_the_same_bits(plain: Path, tmp_path: Path) -> None:
    with torch.inference_mode():
        model, given = TinyHetero(SCHEMA), data().clone()
        for store in given.node_stores:
            store.x = store.x.clone()
    assert given["author"].x.is_inference()
    assert model.head.weight.is_inference()
    run(tmp_path / "run", model, given)
    assert digests(tmp_path / "run") == digests(plain)


def test_a_model_that_answers_in_inference_mode_is_explained(plain: Path, tmp_path: Path) -> None:
    run(tmp_path / "run", TwoInferences(), data())
    named = "config.json", "explanations.json", "metrics.json"  # a callable has no weights, and no layer inside
    assert digests(tmp_path / "run", *named).keys() == digests(plain, *named).keys()


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_explanations_are_read_as_they_were_written(plain: Path, tmp_path: Path, name: str) -> None:
    with SURROUNDINGS[name]():
        loaded = Explanations.load(plain)
        loaded.save(tmp_path / "again")
        item = next(several[0] for several in loaded.values() if several)
        x, mask = item.to_hetero_data()["author"].x, item.to_pyg()["author"].node_mask
        assert item.top_features(item.node or 0) is not None
    assert (x.dtype, x.device.type) == (mask.dtype, mask.device.type) == (torch.float32, "cpu")
    for name in ("explanations.safetensors", "nearest.safetensors", "explanations.json"):
        assert (tmp_path / "again" / name).read_bytes() == (plain / name).read_bytes()


class Careless(torch.nn.Module):
    """Relies on what its author has told torch: it makes tensors without saying of what type."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = TinyHetero(SCHEMA)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[EdgeType, Tensor]) -> Tensor:
        assert torch.zeros(1).dtype is torch.float64
        return self.inner(x_dict, edge_index_dict)


def test_the_model_itself_finds_the_defaults_of_its_author() -> None:
    model, given = Careless(), data()
    with default_dtype(torch.float64):
        made = DiGNNExplainer(model, given, schema=SCHEMA, config=replace(small_config(), sizes=(8,)))
    made.check()
