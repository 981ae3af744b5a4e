"""Rows for nodes that graphs leave out."""

from __future__ import annotations

import pickle

import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.features.reserve import LEAST_RESERVED, RESERVED_NUMBERS, RESERVED_ROWS, Reserve


class Asked:
    """Makes rows that tell their label and their number, and counts."""

    def __init__(self, width: int = 2) -> None:
        self.width = width
        self.asked: list[int] = []

    def __call__(self, condition: Tensor, seed: Seed) -> Tensor:
        self.asked.append(len(condition))
        none = 1 - condition.sum(1, keepdim=True)
        label = torch.cat([condition, none], dim=1).argmax(1).float()
        noise = torch.rand(len(condition), generator=seed.torch())
        return torch.stack([label, noise], 1)[:, : self.width]


def conditions(label: Tensor, labels: int) -> Tensor:
    return torch.nn.functional.one_hot(label, labels + 1)[:, :labels].float()


def test_rows_are_those_of_the_label_and_drawn_once() -> None:
    asked = Asked()
    reserve = Reserve(2, Seed(0))
    label = torch.arange(4).repeat(5000)  # the last: no class
    for attempt in range(3):
        made = reserve.take(conditions(label, 3), Seed(attempt), asked)
        assert torch.equal(made[:, 0].long(), label)
    assert asked.asked == [RESERVED_ROWS] * 4
    different = made[label == 1, 1].unique()
    assert len(different) > 0.95 * RESERVED_ROWS  # all of them are taken
    counts = torch.unique(made[label == 1, 1], return_counts=True)[1].float()
    assert float(counts.mean()) < 6
    assert float(counts.max()) < 25  # each as often as any other


def test_a_row_is_the_same_whoever_asks_first() -> None:
    one, other = (Reserve(2, Seed(3)) for _ in range(2))
    first, second = (conditions(torch.full((50,), number), 3) for number in (0, 2))
    one.take(second, Seed(9), Asked())
    assert torch.equal(one.take(first, Seed(1), Asked()), other.take(first, Seed(1), Asked()))
    assert not torch.equal(one.take(first, Seed(1), Asked()), one.take(first, Seed(2), Asked()))


def test_what_is_kept_can_be_sent_to_a_process() -> None:
    reserve = Reserve(2, Seed(3))
    given = conditions(torch.arange(3), 3), Seed(1), Asked()
    assert torch.equal(reserve.take(*given), pickle.loads(pickle.dumps(reserve)).take(*given))


def test_labels_are_drawn_from_conditions() -> None:
    mixed = torch.tensor([[0.7, 0.1]]).repeat(20_000, 1)  # the rest: no class
    made = Reserve(2, Seed(0)).take(mixed, Seed(0), Asked())
    share = torch.bincount(made[:, 0].long(), minlength=3) / len(made)
    assert torch.allclose(share, torch.tensor([0.7, 0.1, 0.2]), atol=0.02)


def test_many_labels_and_columns_share_what_is_kept() -> None:
    asked = Asked()
    reserve = Reserve(3000, Seed(0))
    reserve.take(conditions(torch.arange(1000), 1000), Seed(0), lambda *given: asked(*given)[:, :1].expand(-1, 3000))
    assert max(asked.asked) == LEAST_RESERVED
    assert max(asked.asked) * 3000 * 1001 <= 2 * RESERVED_NUMBERS
