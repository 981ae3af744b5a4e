"""A tree of seeds: every stage and every task derives its own from the run's seed and its own name.

So a result does not depend on the order in which tasks run, nor on how many run at once.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Seed:
    """A node of the tree. ``Seed(0).child("structure", 12)`` names one task."""

    root: int
    path: tuple[str, ...] = ()

    def child(self, *names: str | int) -> Seed:
        """The seed of a task within this one; other names, other random numbers."""
        return Seed(self.root, (*self.path, *(str(name) for name in names)))

    @property
    def value(self) -> int:
        """63 bits that depend on the root and the whole path."""
        text = "\0".join((str(self.root), *self.path))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1

    def torch(self) -> torch.Generator:
        """A generator of torch that starts from this seed."""
        return torch.Generator().manual_seed(self.value)

    @contextmanager
    def torch_globally(self) -> Iterator[None]:
        """Inside, torch's own generator, from which layers draw weights and dropout, starts from this seed."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self.value)  # torch.manual_seed would change a GPU's for good
            yield

    def numpy(self) -> np.random.Generator:
        """The same of numpy."""
        return np.random.default_rng(self.value)

    def python(self) -> random.Random:
        """The same of Python's own module."""
        return random.Random(self.value)
