"""Where the rows of each class lie: what Gaussian diffusion starts from.

If the rows of a class were normal around their mean, with deviation 1 in every direction, the best a denoiser could do
is known: values seen from the mean of the class are pure noise, and their velocity is 0. So values are diffused as seen
from there, and a network that says nothing yet generates just such rows; it only learns how rows differ from that.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.features.table import Table


def class_means(values: Tensor, table: Table) -> Tensor:
    """Means of values (n, r) of a table's rows by label, drawn to the mean of all where a label has few rows.  (L, r)

    How far follows from how much the means of labels differ beyond chance (James and Stein).
    """
    weight = table.label_weight
    share = weight / weight.sum(1, keepdim=True)
    means = share @ values.double()  # (L, r)
    apart = means - means[-1:]
    spread = float((table.weight.double() @ (values.double() - means[-1]).square()).sum() / table.weight.double().sum())
    rows = 1 / share.square().sum(1).clamp_min(1e-12)  # (L,) that count alike
    chance = (spread / rows)[:, None]
    beyond = (apart.square().sum(1, keepdim=True) - chance).clamp_min(0.0)[:-1].mean() if len(means) > 1 else 0.0
    return (means[-1:] + apart * beyond / (beyond + chance).clamp_min(1e-12)).float()


def expected_means(means: Tensor, table: Table) -> Tensor:
    """The mean (L, r) that each row of a table is expected around, which may be of several labels in parts.  (n, r)"""
    none = (1 - table.condition.sum(1, keepdim=True)).clamp_min(0.0)
    return torch.cat([table.condition, none], dim=1) @ means
