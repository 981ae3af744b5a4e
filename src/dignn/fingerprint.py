"""Fingerprints: short texts that tell schemas, data and models apart, so that a run never continues another's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from dignn.schema import Schema

DIGITS = 16


def fingerprint(parts: Iterable[str | np.ndarray | Tensor]) -> str:
    """Hexadecimal digits that depend on every part: text, and the type, shape and content of arrays."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(part.encode() + b"\0")
            continue
        array = part.detach().cpu().contiguous().numpy() if isinstance(part, Tensor) else np.ascontiguousarray(part)
        digest.update(f"{array.dtype} {array.shape}\0".encode())
        digest.update(array.data)
    return digest.hexdigest()[:DIGITS]


def schema_fingerprint(schema: Schema) -> str:
    return fingerprint([schema.to_json()])


def data_fingerprint(data: Data | HeteroData | Sequence[Data | HeteroData], *more: Tensor) -> str:
    """Of edges, labels and features of one or many graphs, and of whatever else is given (a split, say)."""
    graphs = [data] if isinstance(data, (Data, HeteroData)) else data
    parts: list[str | Tensor] = []
    for graph in graphs:
        for store in graph.stores:
            for name in ("edge_attr", "edge_index", "x", "y"):
                value = store.get(name)
                if value is not None:
                    tensor = torch.as_tensor(value)
                    parts += [
                        f"{store._key} {name}",
                        tensor.to_dense() if tensor.layout is not torch.strided else tensor,
                    ]
    return fingerprint([*parts, *more])


def model_fingerprint(model: Any, answers: Tensor) -> str:
    """Of a module's class and weights; of any other callable, its ``answers`` to some graphs."""
    if not isinstance(model, nn.Module):
        return fingerprint([answers])
    weights = sorted(model.state_dict().items())
    tensors = [part for name, value in weights if isinstance(value, Tensor) for part in (name, value.to(torch.float64))]
    return fingerprint([type(model).__qualname__, *tensors])
