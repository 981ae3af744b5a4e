"""Fingerprints: equal for equal things, different for different ones."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Data

from dignn.core.fingerprint import data_fingerprint, fingerprint, model_fingerprint
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from tiny_models import TinyGCN


@pytest.fixture(scope="module")
def shapes() -> Dataset:
    return load("ba-shapes")


def test_the_same_data_has_the_same_fingerprint(shapes: Dataset) -> None:
    assert data_fingerprint(shapes.data) == data_fingerprint(load("ba-shapes").data)


@pytest.mark.parametrize("field", ["x", "y", "edge_index"])
def test_one_changed_number_changes_it(shapes: Dataset, field: str) -> None:
    changed = shapes.data.clone()
    changed[field] = changed[field].clone()
    changed[field][..., -1] += 1
    assert data_fingerprint(changed) != data_fingerprint(shapes.data)


# Fingerprints are kept in run folders and in the names of trained models, so they stay as they are.
KEPT = {"planted": "dba13ea8968a4ea4", "ba-shapes": "12e750bbec59e439", "ba-3motif": "8024e4fb68bf2215"}


@pytest.mark.parametrize("name", KEPT)
def test_fingerprints_of_earlier_versions_stay_valid(name: str) -> None:
    data = load(name).data
    assert data_fingerprint(data) == data_fingerprint(data, described=True) == KEPT[name]


class Sparse:
    """As torch_sparse has it."""

    def __init__(self, value: Tensor) -> None:
        self.value = value

    def coo(self) -> tuple[Tensor, Tensor, Tensor]:
        return torch.arange(3), torch.arange(3), self.value

    def sizes(self) -> list[int]:
        return [3, 3]


def eye(value: float) -> Tensor:
    return torch.eye(3) * value


def quantised(value: float) -> Tensor:
    with warnings.catch_warnings(action="ignore"):
        return torch.quantize_per_tensor(eye(value), 0.1, 0, torch.qint8)


@pytest.mark.parametrize(
    "make",
    [
        *(lambda value, kind=kind: eye(value).to(kind) for kind in (torch.float64, torch.float16, torch.bfloat16)),
        *(lambda value, kind=kind: eye(value).to(kind) for kind in (torch.float8_e5m2, torch.uint16, torch.bool)),
        lambda value: torch.complex(eye(1), eye(value)).conj(),
        lambda value: eye(value).to_sparse(),
        lambda value: eye(value).to_sparse_csr(),
        lambda value: Sparse(torch.ones(3) * value),
        lambda value: EdgeIndex([[0, 1], [1, int(value)]], sparse_size=(3, 3)),
        quantised,
        lambda value: eye(value).numpy(),
        lambda value: [eye(1), {"deep": (eye(value),)}],
        lambda value: f"C{value}",
        lambda value: value,
        lambda value: {"b": 1, "a": [value, None]},
        lambda value: np.array([value, "x"], dtype=object),
    ],
)
@pytest.mark.parametrize("name", ["x", "edge_weight"])
def test_every_field_of_any_kind_counts(name: str, make: Callable[[float], object]) -> None:
    seen = []
    for value in (0.0, 0.0, 2.0):
        data = Data(edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0, 1]), **{name: make(value)})
        seen.append(data_fingerprint(data))
    assert seen[0] == seen[1] != seen[2]


def test_features_count_alike_dense_and_sparse() -> None:
    dense = Data(x=eye(2.0), edge_index=torch.tensor([[0], [1]]))
    for held in (eye(2.0).to_sparse(), eye(2.0).to_sparse_csr()):
        assert data_fingerprint(Data(x=held, edge_index=dense.edge_index)) == data_fingerprint(dense)


@pytest.mark.parametrize("described", [True, False])
def test_a_sparse_adjacency_counts_without_its_zeros(described: bool) -> None:
    """With them, this one would take 4 TB."""
    size, ends = 1_000_000, torch.tensor([[0, 999_999], [5, 7]])
    seen = []
    for value in (1.0, 1.0, 2.0):
        held = torch.sparse_coo_tensor(ends, torch.tensor([1.0, value]), (size, size))
        seen.append(data_fingerprint(Data(edge_index=held), described=described))
    assert seen[0] == seen[1] != seen[2]


def test_what_is_no_description_counts_only_in_all_fields() -> None:
    bare = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
    more = bare.clone()
    more.edge_weight, more.num_nodes = torch.ones(1), 2
    assert data_fingerprint(more) != data_fingerprint(bare)
    assert data_fingerprint(more, described=True) == data_fingerprint(bare)
    masked = bare.clone()
    masked.train_mask = torch.ones(2, dtype=torch.bool)
    assert data_fingerprint(masked) == data_fingerprint(bare)


def test_an_object_counts_by_its_class_because_its_address_changes() -> None:
    one, other = (Data(x=torch.ones(1, 1), thing=object()) for _ in range(2))
    assert data_fingerprint(one) == data_fingerprint(other)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.complex64, torch.int8])
def test_weights_of_any_kind_count(kind: torch.dtype) -> None:
    model = nn.Module()
    model.register_buffer("weight", torch.ones(2, dtype=kind) * (1j if kind is torch.complex64 else 1))
    same = model_fingerprint(model, torch.zeros(1))
    model.weight = model.weight * 2
    assert model_fingerprint(model, torch.zeros(1)) != same


def test_other_data_and_other_splits_change_it(shapes: Dataset) -> None:
    split = shapes.splits["train"]
    seen = [shapes.data, load("ba-shapes", seed=1).data, load("planted").data]
    assert (
        len({*map(data_fingerprint, seen), *(data_fingerprint(shapes.data, part) for part in (split, split[1:]))}) == 5
    )


def test_shape_and_type_count() -> None:
    values = torch.arange(6)
    different = [values, values.view(2, 3), values.int(), values.float()]
    assert len({fingerprint([part]) for part in different}) == len(different)
    assert fingerprint(["ab", "c"]) != fingerprint(["a", "bc"])


def test_models_differ_by_their_weights_and_callables_by_their_answers() -> None:
    model = TinyGCN(1, 2, pool=True)
    answers = torch.zeros(3, 2)
    same, other = copy.deepcopy(model), TinyGCN(1, 2, pool=True, seed=1)
    assert model_fingerprint(model, answers) == model_fingerprint(same, answers + 1)
    assert model_fingerprint(model, answers) != model_fingerprint(other, answers)
    assert model_fingerprint(len, answers) == model_fingerprint(sum, answers)
    assert model_fingerprint(len, answers) != model_fingerprint(len, answers + 1)
