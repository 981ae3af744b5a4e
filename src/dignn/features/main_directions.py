"""The main directions of a table: where its rows differ most."""

from __future__ import annotations

import torch
from torch import Tensor

# Rows or columns up to which directions are exact. Larger tables are looked at through so many random directions more
# than are asked for, and so many times over.
EXACT_SIZE, MORE_DIRECTIONS, LOOKS = 1024, 16, 4
# Directions that columns are placed in, and rows that tell where, at most.
MOST_PLACES, MOST_PLACED_ROWS = 32, 4096


def main_directions(rows: Tensor, number: int, generator: torch.Generator) -> Tensor:
    """Up to ``number`` orthonormal directions, most variance first, of centred rows (n, d).  (d, r)

    The sign of each is such that its largest entry is positive, so that the same rows give the same directions.
    """
    number = min(number, *rows.shape)
    if rows.size(1) <= EXACT_SIZE:
        doubled = rows.double()
        found = torch.linalg.eigh(doubled.T @ doubled).eigenvectors.flip(1)[:, :number].float()
    elif len(rows) <= EXACT_SIZE:
        doubled = rows.double()
        value, vector = torch.linalg.eigh(doubled @ doubled.T)
        kept = min(number, max(1, int((value > 1e-9 * value[-1]).sum())))  # the others are no directions of the rows
        found = torch.linalg.qr(doubled.T @ vector.flip(1)[:, :kept]).Q.float()
    else:
        seen = torch.randn(rows.size(1), min(number + MORE_DIRECTIONS, *rows.shape), generator=generator)
        for _ in range(LOOKS):
            seen = torch.linalg.qr(rows.T @ torch.linalg.qr(rows @ seen).Q).Q
        turned = torch.linalg.eigh((rows @ seen).T @ (rows @ seen)).eigenvectors.flip(1)
        found = (seen @ turned)[:, :number]
    largest = found.gather(0, found.abs().argmax(0, keepdim=True))
    return found * torch.where(largest < 0, -1.0, 1.0)


def column_places(rows: Tensor, width: int, generator: torch.Generator) -> Tensor:
    """Where columns stand to each other: columns that go together in rows (n, d) are near each other.  (d, width)

    Main directions of which entries rows have, rare columns raised a little; numbers have mean square 1. What is left
    of the width is random. Of many rows, some that are evenly spread tell it.
    """
    some = torch.linspace(0, len(rows) - 1, min(len(rows), MOST_PLACED_ROWS)).long()
    there = (rows[some] != 0).float()
    share = there.mean(0)
    found = main_directions((there - share) * share.clamp_min(1e-6) ** -0.25, min(width // 2, MOST_PLACES), generator)
    rest = torch.randn(rows.size(1), width - found.size(1), generator=generator)
    return torch.cat([found * rows.size(1) ** 0.5, rest], dim=1)
