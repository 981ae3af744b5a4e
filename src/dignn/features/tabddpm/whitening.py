"""Scaled columns in their main directions, each with deviation 1: linear dependence needs no network then.

Many dense columns (embeddings) hardly vary but in some directions, and in the others they are next to normal.
A network learns the main directions, given each other; the others are those of a real row that is near in these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

# Directions that a network learns, at most.
LEARNED_DIRECTIONS = 24
# Real rows that the other directions come from, at most, and how many of them are near.
REAL_ROWS, NEAR_ROWS = 4096, 8
# Directions with less than this share of the largest variance are none.
_NO_DIRECTION = 1e-7
# Rows whose lengths differ by no more than this share have one length.
_SAME_LENGTH = 1e-3


@dataclass(frozen=True, eq=False)
class Whitening:
    """From scaled columns to directions and back.

    Args:
        mean: (d,) of the columns.
        to: (d, r) towards directions.
        back: (r, d) from directions.
        real: (b, r) directions of real rows, where there are more than a network learns; (0, r) otherwise.
    """

    mean: Tensor
    to: Tensor
    back: Tensor
    real: Tensor

    @classmethod
    def of(cls, values: Tensor, weight: Tensor, generator: torch.Generator) -> Whitening:
        """Of values (n, d) of which each row counts ``weight`` (n,) times; most variance first."""
        share = weight.double() / weight.double().sum()
        mean = (share[:, None] * values).sum(0)
        centred = (values - mean) * share.sqrt()[:, None]
        variance, direction = torch.linalg.eigh(centred.T @ centred)
        variance, direction = variance.flip(0), direction.flip(1)
        kept = variance > _NO_DIRECTION * variance[0]
        deviation, direction = variance[kept].sqrt(), direction[:, kept]
        largest = direction.gather(0, direction.abs().argmax(0, keepdim=True))
        direction = direction * torch.where(largest < 0, -1.0, 1.0)  # so that the same rows give the same directions
        to, back = (direction / deviation).float(), (direction * deviation).T.float().contiguous()
        found = cls(mean.float(), to, back, torch.empty(0, to.size(1)))
        if found.learned == to.size(1):
            return found
        some = torch.multinomial(share, min(len(values), REAL_ROWS), generator=generator)
        return replace(found, real=found.encode(values[some]))

    @property
    def learned(self) -> int:
        """Directions that a network learns."""
        return min(self.to.size(1), LEARNED_DIRECTIONS)

    def complete(self, learned: Tensor, generator: torch.Generator) -> Tensor:
        """All directions of rows, given those that are learned: the others of a near real row.  (m, l) -> (m, r)"""
        if not len(self.real):
            return learned
        apart = torch.cdist(learned, self.real[:, : learned.size(1)])
        near = apart.topk(min(NEAR_ROWS, len(self.real)), dim=1, largest=False).indices
        drawn = torch.randint(near.size(1), (len(near), 1), generator=generator).to(near.device)
        return torch.cat([learned, self.real[near.gather(1, drawn)[:, 0], learned.size(1) :]], dim=1)

    def known(self, known: Tensor, mask: Tensor) -> Callable[[Tensor], Tensor]:
        """What makes directions (m, r) agree with columns that are known, where the mask is: by the least change.

        That is how a normal distribution with these directions changes once they are known.

        Args:
            known: (m, d) columns.
            mask: (m, d) bool, which of them are known.
        """
        patterns, of = mask.unique(dim=0, return_inverse=True)
        parts = []
        for number, pattern in enumerate(patterns):
            rows, to = (of == number).nonzero()[:, 0], self.back[:, pattern]  # (r, k)
            parts.append((rows, to, torch.linalg.pinv(to), (known[rows] - self.mean)[:, pattern]))

        def put(directions: Tensor) -> Tensor:
            out = directions.clone()
            for rows, to, inverse, wanted in parts:
                out[rows] += (wanted - directions[rows] @ to) @ inverse
            return out

        return put

    def encode(self, values: Tensor) -> Tensor:
        """(m, d) -> (m, r)"""
        return (values - self.mean) @ self.to

    def decode(self, directions: Tensor) -> Tensor:
        """(m, r) -> (m, d)"""
        return directions @ self.back + self.mean


def common_length(rows: Tensor) -> float:
    """The length that all rows (n, d) have; 0 where they have several."""
    length = rows.double().norm(dim=1)
    same = float(length.max() - length.min()) <= _SAME_LENGTH * float(length.mean())
    return float(length.mean()) if same else 0.0
