"""Main directions of tables, and where columns stand to each other."""

from __future__ import annotations

import torch

from dignn.core.seeds import Seed
from dignn.features.main_directions import column_places


def test_columns_that_go_together_are_near_each_other() -> None:
    """Two sets of columns; a row has entries of one of them."""
    generator = Seed(0).torch()
    set_of_row, set_of_column = torch.arange(500) % 2, torch.arange(40) % 2
    there = (set_of_row[:, None] == set_of_column) & (torch.rand(500, 40, generator=generator) < 0.4)
    place = column_places(there.float() * 3, 16, Seed(1).torch())
    assert place.shape == (40, 16)
    same = set_of_column[:, None] == set_of_column
    apart = torch.cdist(place[:, :1], place[:, :1])
    assert float(apart[~same].min()) > 3 * float(apart[same].max())
    assert torch.equal(place, column_places(there.float(), 16, Seed(1).torch()))  # values do not count


def test_a_table_of_few_columns_or_rows_leaves_the_rest_to_chance() -> None:
    for rows in (torch.eye(3), torch.zeros(1, 3), torch.ones(5, 1)):
        place = column_places(rows, 8, Seed(0).torch())
        assert place.shape == (rows.size(1), 8)
        assert bool(place.isfinite().all())
