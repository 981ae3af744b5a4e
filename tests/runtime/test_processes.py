"""Work side by side gives what it gives one after another."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch

from dignn.errors import DignnError
from dignn.runtime.processes import map_processes
from dignn.runtime.seeds import Seed


def power(base: int, exponent: int) -> int:
    return base**exponent


def noise(seed: Seed) -> torch.Tensor:
    return torch.randn(5, generator=seed.torch())


def where() -> int:
    return os.getpid()


def refuse(number: int) -> int:
    raise DignnError(f"Piece {number} cannot be learned")


each = pytest.mark.parametrize("workers", [1, 2])


@each
def test_results_come_in_order_and_every_piece_is_told(workers: int) -> None:
    told: list[int] = []
    arguments = [(2, exponent) for exponent in range(7)]
    assert map_processes(power, arguments, workers=workers, done=told.append) == [1, 2, 4, 8, 16, 32, 64]
    assert sorted(told) == list(range(7))


@each
def test_nothing_to_do(workers: int) -> None:
    assert map_processes(power, [], workers=workers) == []


@each
def test_errors_keep_their_words(workers: int) -> None:
    with pytest.raises(DignnError, match="Piece 3 cannot be learned"):
        map_processes(refuse, [(3,), (3,)], workers=workers)


def test_the_same_bits_whatever_the_number_of_processes() -> None:
    seeds = [(Seed(number),) for number in range(4)]
    for one, other in zip(map_processes(noise, seeds, workers=1), map_processes(noise, seeds, workers=2), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(("pieces", "workers", "here"), [(3, 1, True), (1, 4, True), (3, 2, False)])
def test_one_piece_or_one_worker_needs_no_other_process(pieces: int, workers: int, here: bool) -> None:
    arguments: list[tuple[Any, ...]] = [()] * pieces
    assert ({os.getpid()} == set(map_processes(where, arguments, workers=workers))) == here
