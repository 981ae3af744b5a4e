"""Mean pairwise cosine against the double loop."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cosine_similarity

from dignn.metrics.column_errors import matrix_of
from dignn.metrics.measures.cosine import mean_cosine


def test_equals_the_mean_over_all_pairs() -> None:
    generator = torch.Generator().manual_seed(0)
    one, other = torch.rand(5, 7, generator=generator).round(), torch.rand(4, 7, generator=generator)
    one[2] = 0  # a zero row gives 0
    pairs = [float(cosine_similarity(a.double(), b.double(), dim=0)) for a in one for b in other]
    assert mean_cosine(one, other) == pytest.approx(sum(pairs) / len(pairs))
    assert mean_cosine(matrix_of(one), matrix_of(other)) == mean_cosine(one, other)


def test_an_empty_table_has_no_cosine() -> None:
    assert mean_cosine(torch.empty(0, 3), torch.ones(2, 3)) is None
