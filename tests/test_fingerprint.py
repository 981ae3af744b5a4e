"""Fingerprints: equal for equal things, different for different ones."""

from __future__ import annotations

import copy

import pytest
import torch

from dignn.data import Dataset, load
from dignn.fingerprint import data_fingerprint, fingerprint, model_fingerprint
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
