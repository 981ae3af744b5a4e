"""Fingerprints: short texts that tell schemas, data and models apart, so that a run never continues another's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

DIGITS = 16
# The fields that graphs are described by. Others come after them, so that data without others keeps its fingerprint.
DESCRIBED = ("edge_attr", "edge_index", "x", "y")
# How somebody divided the data; it is no part of it.
SPLIT_FIELDS = ("train_mask", "val_mask", "test_mask")
# Numbers of sparse features, zeros among them, up to which these count with their zeros.
MOST_ZEROS = 2**28

Part = str | np.ndarray | Tensor


def fingerprint(parts: Iterable[Part]) -> str:
    """Hexadecimal digits that depend on every part: text, and the type, shape and content of arrays."""
    digest = hashlib.sha256()
    for part in parts:
        _update(part, digest)
    return digest.hexdigest()[:DIGITS]


def _update(part: Part, *digests: Any) -> None:
    """Lets digests depend on a part."""
    if isinstance(part, str):
        contents: list[Any] = [part.encode() + b"\0"]
    else:
        kind, array = _array(part) if isinstance(part, Tensor) else ("", np.ascontiguousarray(part))
        contents = [f"{kind or array.dtype} {array.shape}\0".encode(), array.data]
    for digest in digests:
        for content in contents:
            digest.update(content)


def data_fingerprint(
    data: Data | HeteroData | Sequence[Data | HeteroData], *more: Tensor, described: bool = False
) -> str:
    """Of all fields of one or many graphs, and of whatever else is given (a split, say).

    Args:
        data: the graphs; splits among their fields do not count.
        more: what else counts.
        described: whether only the fields count that graphs are described by: edges, labels and features.
    """
    return data_fingerprints(data, *more)[0 if described else 1]


def data_fingerprints(data: Data | HeteroData | Sequence[Data | HeteroData], *more: Tensor) -> tuple[str, str]:
    """:func:`data_fingerprint` of the fields that graphs are described by, and of all, in one reading."""
    graphs = [data] if isinstance(data, (Data, HeteroData)) else data
    digests = [hashlib.sha256()]  # a second one from the first field on that graphs are not described by
    for graph in graphs:
        for store in graph.stores:
            for name in DESCRIBED:
                value = store.get(name)
                if value is not None:
                    for part in (f"{store._key} {name}", *_parts(_numbers(name, value))):
                        _update(part, *digests)
            for name in sorted(set(store.keys()) - {*DESCRIBED, *SPLIT_FIELDS}):
                value = store.get(name)
                if value is not None:
                    if len(digests) == 1:
                        digests.append(digests[0].copy())
                    for part in (f"{store._key} {name}", *_parts(value)):
                        _update(part, digests[1])
    for part in more:
        _update(part, *digests)
    return digests[0].hexdigest()[:DIGITS], digests[-1].hexdigest()[:DIGITS]


def model_fingerprint(model: Any, answers: Tensor) -> str:
    """Of a module's class and weights; of any other callable, its ``answers`` to some graphs."""
    if not isinstance(model, nn.Module):
        return fingerprint([answers])
    weights = sorted(model.state_dict().items())
    tensors = [part for name, value in weights if isinstance(value, Tensor) for part in (name, _widened(value))]
    return fingerprint([type(model).__qualname__, *tensors])


def _numbers(name: str, value: Any) -> Any:
    """Numbers of a field that graphs are described by, which count however they are held: as a list, as an array.

    Features count with all their zeros, as in earlier versions, unless these are too many to be looked at; of an
    adjacency matrix nobody could hold these.
    """
    with suppress(TypeError, ValueError, RuntimeError):
        value = torch.as_tensor(value)
    sparse = isinstance(value, Tensor) and value.layout is not torch.strided and not value.is_nested
    return value.to_dense() if sparse and name == "x" and value.numel() <= MOST_ZEROS else value


def _parts(value: Any) -> Iterator[Part]:
    """Of any value that a graph may have; of an object that is no plain value only its class."""
    if isinstance(value, Tensor):
        yield from _strided(value)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield value
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield f"{key}:"
            yield from _parts(value[key])
    elif isinstance(value, np.ndarray | list | tuple):
        yield str(len(value))
        for each in value:
            yield from _parts(each)
    elif hasattr(value, "coo") and hasattr(value, "sizes"):  # torch_sparse.SparseTensor
        yield from _parts([*value.coo(), value.sizes()])
    else:
        plain = isinstance(value, str | bytes | bool | int | float | complex | None)
        yield repr(value) if plain else type(value).__qualname__


def _strided(tensor: Tensor) -> Iterator[Tensor]:
    """The tensor, or the tensors that a sparse or nested one is made of."""
    if type(tensor) is not Tensor:
        tensor = tensor.as_subclass(Tensor)  # an EdgeIndex would make an adjacency matrix of itself
    if tensor.is_nested:
        yield from tensor.unbind()
    elif tensor.layout is torch.strided:
        yield tensor
    else:
        entries = tensor.to_sparse_coo().coalesce()
        yield from (torch.tensor(entries.shape), entries.indices(), entries.values())


def _widened(weight: Tensor) -> Tensor:
    """Weights in double precision, so that the same numbers count the same."""
    weight = weight.cpu()
    plain = weight.dequantize() if weight.is_quantized else weight.to_dense()
    return plain.to(torch.complex128 if plain.is_complex() else torch.float64)


def _array(tensor: Tensor) -> tuple[str, np.ndarray]:
    """A tensor as NumPy has it; one of a type that NumPy does not have as its bytes, with the name of that type."""
    found = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    if found.is_quantized:
        return str(found.dtype), found.dequantize().numpy()
    try:
        return "", found.numpy()
    except TypeError:
        return f"{found.dtype} {tuple(found.shape)}", found.reshape(-1).view(torch.uint8).numpy()
