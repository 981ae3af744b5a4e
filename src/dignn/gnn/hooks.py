"""Looking into and acting upon a model from outside: embeddings, edge weights, and where a failure happened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.dense.linear import Linear as PyGLinear

from dignn.errors import DignnError, ModelMismatchError
from dignn.schema import Schema


@contextmanager
def final_linear_input(model: Any) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """Collects (input, output) of every linear layer that runs inside, in order."""
    seen: list[tuple[Tensor, Tensor]] = []
    handles = []

    def note(_module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if inputs and isinstance(inputs[0], Tensor) and isinstance(output, Tensor) and inputs[0].dim() == 2:
            seen.append((inputs[0], output))

    if isinstance(model, nn.Module):
        handles = [m.register_forward_hook(note) for m in model.modules() if isinstance(m, (nn.Linear, PyGLinear))]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def has_message_passing(model: Any) -> bool:
    """Whether the model is a module with PyTorch Geometric layers inside."""
    return isinstance(model, nn.Module) and any(isinstance(module, MessagePassing) for module in model.modules())


@contextmanager
def edge_weights(model: nn.Module, data: Data | HeteroData) -> Iterator[None]:
    """Inside, every message of every layer is multiplied by the ``edge_weight`` of its edge in ``data``.

    Self-loops that a layer adds keep the weight 1. Works for every layer that passes messages along the
    ``edge_index`` of the data, attention included.
    """
    layers = [module for module in model.modules() if isinstance(module, MessagePassing)]
    stores = data.edge_stores if isinstance(data, HeteroData) else [data]
    known = [(store.edge_index, store.edge_weight) for store in stores]
    current: dict[int, Tensor] = {}

    def before(layer: MessagePassing, inputs: tuple[Any, ...]) -> None:
        current[id(layer)] = _weight_of(inputs[0], known)

    def after(layer: MessagePassing, _inputs: tuple[Any, ...], message: Tensor) -> Tensor:
        weight = current[id(layer)]
        dim = message.dim() + layer.node_dim if layer.node_dim < 0 else layer.node_dim
        return message * weight.view([-1 if axis == dim else 1 for axis in range(message.dim())])

    handles = [layer.register_propagate_forward_pre_hook(before) for layer in layers]
    handles += [layer.register_message_forward_hook(after) for layer in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _weight_of(edge_index: Any, known: list[tuple[Tensor, Tensor]]) -> Tensor:
    """The weights of the edges that a layer propagates along; edges it added at the end weigh 1."""
    if isinstance(edge_index, Tensor):
        same = [weight for index, weight in known if index is edge_index]
        if same:
            return same[0]
        for index, weight in known:
            if edge_index.size(1) >= index.size(1) and torch.equal(edge_index[:, : index.size(1)], index):
                return torch.cat([weight, weight.new_ones(edge_index.size(1) - index.size(1))])
    raise ModelMismatchError("A layer passes messages along edges that are not the data's, so they cannot be weighted")


@contextmanager
def trace_failure(model: Any, schema: Schema) -> Iterator[None]:
    """Turns an exception inside the model into one sentence that names the layer and what it was given."""
    entered: list[tuple[str, nn.Module, tuple[Any, ...]]] = []
    handles = []
    if isinstance(model, nn.Module):
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_pre_hook(_enter(name, entered)))
                handles.append(module.register_forward_hook(lambda *_: entered.pop() and None))
    try:
        yield
    except DignnError:
        raise
    except Exception as error:
        columns = ", ".join(
            f"{name} {len(schema.node_types) if schema.type_in_x else schema.spec(name).width}"
            for name in schema.node_types
        )
        where = ""
        if entered:
            name, module, inputs = entered[-1]
            shapes = [tuple(value.shape) for value in inputs if isinstance(value, Tensor)]
            where = f" in its layer '{name}' ({type(module).__name__}{_widths(module)}) given {shapes}"
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelMismatchError(
            f"The model fails on the data's own graphs{where}: {reason}; the data has feature columns {columns} "
            f"and is {schema.layout.value}"
        ) from error
    finally:
        for handle in handles:
            handle.remove()


def _enter(name: str, entered: list[tuple[str, nn.Module, tuple[Any, ...]]]) -> Any:
    def hook(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        entered.append((name, module, inputs))

    return hook


def _widths(module: nn.Module) -> str:
    ins = getattr(module, "in_channels", getattr(module, "in_features", None))
    outs = getattr(module, "out_channels", getattr(module, "out_features", None))
    return f" from {ins} to {outs} columns" if ins is not None and outs is not None else ""
