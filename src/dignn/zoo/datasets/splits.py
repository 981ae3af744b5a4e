"""Stratified splits of items into train, validation and test."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dignn.core.seeds import Seed

SPLITS = ("train", "val", "test")
EIGHTY_TEN_TEN = (0.8, 0.1, 0.1)


def stratified_split(strata: np.ndarray, shares: tuple[float, float, float], seed: Seed) -> dict[str, Tensor]:
    """Divides items so that each part has its share of every stratum.

    Args:
        strata: (n,) the stratum (usually the class) of each item.
        shares: of train, validation and test; they sum to 1. Validation and test are rounded, the rest trains.
        seed: decides who goes where; items of one stratum are exchangeable.

    Returns:
        sorted item numbers of ``train``, ``val`` and ``test``; together every item once.
    """
    if abs(sum(shares) - 1) > 1e-9 or min(shares) < 0:
        raise ValueError(f"Shares {shares} do not sum to 1")
    parts: dict[str, list[np.ndarray]] = {part: [] for part in SPLITS}
    for stratum in np.unique(strata):
        members = seed.child("split", int(stratum)).numpy().permutation(np.flatnonzero(strata == stratum))
        val, test = (round(share * len(members)) for share in shares[1:])
        train = len(members) - val - test
        for part, piece in zip(SPLITS, np.split(members, [train, train + val]), strict=True):
            parts[part].append(piece)
    return {part: torch.from_numpy(np.sort(np.concatenate(pieces))) for part, pieces in parts.items()}
