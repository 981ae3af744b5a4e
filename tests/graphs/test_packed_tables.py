"""Tables in files: as they were, small where they are almost empty, and damage is named."""

from __future__ import annotations

import pytest
import torch

from dignn.core.errors import SchemaError
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.packed_tables import pack_table, unpack_table

SPEC = FeatureSpec(FeatureKind.CONTINUOUS, 40)


def table(share: float) -> torch.Tensor:
    """50 rows of numbers of which so many are not zero."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(50, 40, generator=generator)
    return rows * (torch.rand(50, 40, generator=generator) < share)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
def test_a_table_comes_back_bit_for_bit(share: float) -> None:
    rows = table(share)
    found = unpack_table("table.a", pack_table("table.a", rows, SPEC.kind), SPEC)
    assert found is not None
    assert torch.equal(found, rows)


def test_a_sparse_table_takes_little_room_and_a_dense_one_what_it_is() -> None:
    sizes = {}
    for share in (0.05, 0.5):
        packed = pack_table("table.a", table(share), SPEC.kind)
        sizes[share] = sum(part.numel() * part.element_size() for part in packed.values())
    assert sizes[0.05] < 0.2 * sizes[0.5]
    assert sizes[0.5] == 50 * 40 * 4


def test_missing_values_are_no_entries_that_could_be_left_out() -> None:
    rows = table(0.05)
    rows[0, 0] = torch.nan
    packed = pack_table("table.a", rows, FeatureKind.MIXED)
    assert torch.equal(packed["table.a.dense"].isnan(), rows.isnan())


@pytest.mark.parametrize("part", ["count", "column", "value"])
def test_a_lost_part_is_named(part: str) -> None:
    packed = pack_table("table.a", table(0.05), SPEC.kind)
    del packed[f"table.a.{part}"]
    if part == "count":  # without it there is no sparse table
        assert unpack_table("table.a", packed, SPEC) is None
        return
    with pytest.raises(SchemaError, match=f"it lacks table.a.{part}"):
        unpack_table("table.a", packed, SPEC)


def test_values_that_are_no_numbers_are_refused() -> None:
    packed = pack_table("table.a", table(0.05), SPEC.kind)
    packed["table.a.value"][0] = torch.nan
    with pytest.raises(SchemaError, match="table.a.value holds values that are no numbers"):
        unpack_table("table.a", packed, SPEC)
