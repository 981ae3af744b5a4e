"""Looking into and acting upon a model from outside: embeddings, edge weights, and where a failure happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from inspect import signature
from threading import get_ident
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils.hooks import RemovableHandle
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.aggr import MeanAggregation, MultiAggregation
from torch_geometric.nn.dense.linear import Linear as PyGLinear

from dignn.core.errors import DignnError, ModelMismatchError
from dignn.graphs.schema import Schema
from dignn.model.remedies import remedy

Before = Callable[[nn.Module, tuple[Any, ...]], None]
After = Callable[[nn.Module, tuple[Any, ...], Any], None]


@contextmanager
def watched(before: Before | None = None, after: After | None = None) -> Iterator[None]:
    """Calls ``before`` and ``after`` around every module that runs inside, whoever calls it, in this thread."""
    own = get_ident()

    def enter(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if before is not None and get_ident() == own:
            before(module, inputs)

    def leave(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if after is not None and get_ident() == own:
            after(module, inputs, output)

    with _removed([register_module_forward_pre_hook(enter), register_module_forward_hook(leave)]):
        yield


@contextmanager
def linear_layers() -> Iterator[list[tuple[nn.Module, Tensor, Tensor]]]:
    """Collects (layer, input, output) of every linear layer that runs inside, in order."""
    seen: list[tuple[nn.Module, Tensor, Tensor]] = []

    def note(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        linear = isinstance(module, (nn.Linear, PyGLinear)) and inputs and isinstance(output, Tensor)
        if linear and isinstance(inputs[0], Tensor) and inputs[0].dim() == 2:
            seen.append((module, inputs[0], output))

    with watched(after=note):
        yield seen


@contextmanager
def _removed(hooks: Iterable[RemovableHandle]) -> Iterator[None]:
    """Registers hooks, and removes them at the end."""
    handles = list(hooks)
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def has_message_passing(model: Any) -> bool:
    """Whether the model is a module with PyTorch Geometric layers inside."""
    return isinstance(model, nn.Module) and any(isinstance(module, MessagePassing) for module in model.modules())


@contextmanager
def edge_weights(
    model: nn.Module, data: Data | HeteroData, field: str = "edge_weight", *, partial_edges: bool = False
) -> Iterator[None]:
    """Inside, every message of every layer is multiplied by the weight of its edge in ``data``, in this field.

    The field itself is taken away, so that no layer multiplies by it a second time. Self-loops that a layer adds keep
    the weight 1. Works for every layer that passes messages along the
    ``edge_index`` of the data, attention included.

    Args:
        partial_edges: whether a weight says how far its edge is there, so that one of weight 0 is as good as none:
            means of messages and normalisations by degree then count edges by their weights. (A softmax over edges
            counts every edge as a whole one.)
    """
    layers = [module for module in model.modules() if isinstance(module, MessagePassing)]
    known = [(store.edge_index, store.pop(field)) for store in data.edge_stores]
    normalising = [layer for layer in layers if partial_edges and _counts_degrees(layer)]
    current: dict[int, Tensor] = {}
    given: set[int] = set()  # layers that were given the weights themselves

    def enter(layer: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        bound = signature(layer.forward).bind_partial(*inputs, **named).arguments
        given.discard(id(layer))
        if bound.get("edge_weight") is not None:  # the data's own
            return inputs, named
        given.add(id(layer))
        return (), {**bound, "edge_weight": _weight_of(bound["edge_index"], known)}

    def before(layer: MessagePassing, inputs: tuple[Any, ...]) -> None:
        current[id(layer)] = _weight_of(inputs[0], known)

    def after(layer: MessagePassing, _inputs: tuple[Any, ...], message: Tensor) -> Tensor:
        weight = current[id(layer)]
        if id(layer) in given:
            return message
        dim = message.dim() + layer.node_dim if layer.node_dim < 0 else layer.node_dim
        return message * weight.view([-1 if axis == dim else 1 for axis in range(message.dim())])

    def joined(layer: MessagePassing, inputs: tuple[Any, ...], output: Tensor) -> Tensor:
        index = inputs[0].get("index")  # a layer with an aggregation of its own may do without
        return output if index is None else _weighted_means(layer, index, current[id(layer)], output)

    with (
        _removed(layer.register_forward_pre_hook(enter, with_kwargs=True) for layer in normalising),
        _removed(layer.register_propagate_forward_pre_hook(before) for layer in layers),
        _removed(layer.register_message_forward_hook(after) for layer in layers),
        _removed(layer.register_aggregate_forward_hook(joined) for layer in layers if partial_edges),
    ):
        yield


def _counts_degrees(layer: MessagePassing) -> bool:
    """Whether a layer divides by degrees, and counts edges by weights where it is given any (GCN and its kin)."""
    return getattr(layer, "normalize", False) is True and "edge_weight" in signature(layer.forward).parameters


def _weighted_means(layer: MessagePassing, index: Tensor, weight: Tensor, output: Tensor) -> Tensor:
    """What a layer aggregated (n, ...), with means over the weights of edges (E,) instead of over their number.

    Weights of less than one edge in all count as one, so that a mean fades with its last edge.
    """
    several = layer.aggr_module
    kinds = list(several.aggrs) if isinstance(several, MultiAggregation) else [several]
    means = [isinstance(kind, MeanAggregation) for kind in kinds]
    stacked = len(kinds) == 1 or (several.mode == "cat" and output.size(-1) % len(kinds) == 0)
    if not any(means) or not stacked:
        return output
    dim = layer.node_dim % output.dim()
    number, total = (
        output.new_zeros(output.size(dim)).index_add(0, index, each.to(output.dtype))
        for each in (torch.ones_like(weight), weight)
    )
    factor = (number / total.clamp_min(1)).view([-1 if axis == dim else 1 for axis in range(output.dim())])
    parts = output.chunk(len(kinds), dim=-1)
    return torch.cat([part * factor if mean else part for part, mean in zip(parts, means, strict=True)], dim=-1)


def _weight_of(edge_index: Any, known: list[tuple[Tensor, Tensor]]) -> Tensor:
    """The weights of the edges that a layer propagates along; edges it added at the end weigh 1."""
    if isinstance(edge_index, Tensor):
        same = [weight for index, weight in known if index is edge_index]
        if same:
            return same[0]
        for index, weight in known:
            if edge_index.size(1) >= index.size(1) > 0 and torch.equal(edge_index[:, : index.size(1)], index):
                return torch.cat([weight, weight.new_ones(edge_index.size(1) - index.size(1))])
        if any(not weight.numel() for _, weight in known):  # what a layer added to a relation without edges
            return known[0][1].new_ones(edge_index.size(1))
    raise ModelMismatchError("A layer passes messages along edges that are not the data's, so they cannot be weighted")


@contextmanager
def trace_failure(model: Any, schema: Schema) -> Iterator[None]:
    """Turns an exception inside the model into one sentence that names the layer, what it was given, and a remedy."""
    entered: list[tuple[nn.Module, tuple[Any, ...]]] = []
    try:
        with watched(lambda *given: entered.append(given), lambda *_: entered.pop() and None):
            yield
    except DignnError:
        raise
    except Exception as error:
        columns = ", ".join(
            f"{name} {len(schema.node_types) if schema.type_in_x else schema.spec(name).width}"
            for name in schema.node_types
        )
        where = ""
        if entered and entered[-1][0] is not model:
            module, inputs = entered[-1]
            known = model.named_modules() if isinstance(model, nn.Module) else ()
            names = {id(each): f"'{name}' " for name, each in known}
            shapes = [tuple(value.shape) for value in inputs if isinstance(value, Tensor)]
            called = f"{names.get(id(module), '')}({type(module).__name__}{_widths(module)})"
            where = f" in its layer {called} given {shapes}"
        reason = str(error).strip().splitlines()[0] if str(error).strip() else ""
        if len(reason) < 20:  # a KeyError says no more than the key
            reason = f"{type(error).__name__} {reason}".strip()
        raise ModelMismatchError(
            f"The model fails on the data's own graphs{where}: {reason}; the data has feature columns {columns} "
            f"and is {schema.layout.value}; {remedy(error)}"
        ) from error


def _widths(module: nn.Module) -> str:
    ins = getattr(module, "in_channels", getattr(module, "in_features", None))
    outs = getattr(module, "out_channels", getattr(module, "out_features", None))
    return f" from {ins} to {outs} columns" if ins is not None and outs is not None else ""
