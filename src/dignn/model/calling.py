"""How a model is called: what its parameters ask for by name, and the type of numbers that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import Sequential

from dignn.core.errors import ModelMismatchError

Forward: TypeAlias = Callable[[Any, Any], Any]
AnyGraph: TypeAlias = Data | HeteroData
Parameters: TypeAlias = list[inspect.Parameter]

# A model that names none of these takes the graph itself.
_PARTS = ("x", "edge_index", "adj_t", "adj")
# Forms in which edges come; a model may call one by the name of another.
_EDGE_NAMES = ("edge_index", "adj_t", "adj")
# What graphs know about themselves without having it as a field; given only to parameters that must have it.
_COUNTS = ("num_nodes", "num_edges", "num_graphs", "batch_size")
# Labels, which nobody has when a model is used.
_LABELS = ("y",)
_GRAPH = "the graph"


class Numbers(IntEnum):
    """As what numbers of the data are handed over."""

    AS_THEY_ARE = 0
    OF_THE_WEIGHTS = 1  # fractions in the type that all of the model's weights have
    FRACTIONS = 2  # whole numbers too


@dataclass(frozen=True)
class Call:
    """Calls a model with a graph.

    Args:
        model: the model, without what is wrapped around it.
        forward: ``forward(model, graph)``, which decides everything, or None.
        arguments: where the signature tells nothing: what is given, by place; a field, or the graph itself.
        numbers: as what numbers are handed over.
        batch: whether a model that can do without gets batch vectors.
        more: further arguments, each a field of the graph: by a name, or by place where that is None.
    """

    model: Any
    forward: Forward | None = None
    arguments: tuple[str, ...] | None = None
    numbers: Numbers = Numbers.AS_THEY_ARE
    batch: bool = True
    more: tuple[tuple[str | None, str], ...] = ()

    def __call__(self, graph: AnyGraph) -> Any:
        graph = self._as_it_takes(graph)
        if self.forward is not None:
            return self.forward(self.model, graph)
        named, _ = parameters_of(self.model)
        by_place = [_field(graph, field) for name, field in self.more if name is None]
        by_name = {name: _field(graph, field) for name, field in self.more if name is not None}
        if self.arguments is not None:
            given = [graph if name == _GRAPH else _field(graph, name) for name in self.arguments]
            return self.model(*given, *by_place, **by_name)
        if _takes_the_graph(named):
            return self.model(graph, *by_place, **by_name)
        found = {p.name: self._argument(graph, p) for p in named if p.name not in by_name}
        missing = [p.name for p in named if p.default is p.empty and found.get(p.name, graph) is None]
        if missing:
            raise ModelMismatchError(
                f"The model's forward needs {', '.join(missing)}, which these graphs do not have, or have "
                "without columns; give forward=, a function of the model and the graph"
            )
        # By place as far as possible, as people call their models: hooks may look at that.
        first: list[Any] = []
        for p in named:
            if p.kind is p.KEYWORD_ONLY or found.get(p.name) is None:
                break
            first.append(found.pop(p.name))
        rest = {name: value for name, value in found.items() if value is not None}
        return self.model(*first, *by_place, **rest, **by_name)

    def _argument(self, graph: AnyGraph, parameter: inspect.Parameter) -> Any:
        base = _base(parameter.name)
        optional = parameter.default is not parameter.empty
        if optional and base in (*_COUNTS, *_LABELS):
            return None
        return _field(graph, parameter.name)

    def forms(self, of_graphs: bool) -> list[Call]:
        """Ways in which the model may be called, the likeliest first; the data's own graphs tell which works."""
        named, _ = parameters_of(self.model)
        if self.forward is not None or named:
            return [replace(self, numbers=each) for each in Numbers]
        places: list[tuple[str, ...]] = [("x", "edge_index"), (_GRAPH,)]
        if of_graphs:
            places = [("x", "edge_index", "batch"), *places[::-1]]
        return [replace(self, arguments=each, numbers=numbers) for numbers in Numbers for each in places]

    def alternatives(self, graph: AnyGraph, fields: Sequence[str]) -> list[tuple[str, str, Call]]:
        """Ways to hand over fields by names that are not theirs: the place in words, the field, and the call."""
        if self.forward is not None:
            return []
        named, others = parameters_of(self.model)
        free = [
            (f"the optional '{p.name}'", p.name)
            for p in named
            if p.default is not p.empty and not isinstance(p.default, bool) and self._argument(graph, p) is None
        ]
        found = [(place, each, replace(self, more=((name, each),))) for place, name in free for each in fields]
        if others & {inspect.Parameter.VAR_POSITIONAL}:
            found += [("more than it is given", each, replace(self, more=((None, each),))) for each in fields]
        if others & {inspect.Parameter.VAR_KEYWORD}:
            found += [("anything by name", each, replace(self, more=((each, each),))) for each in fields]
        return found

    def takes(self, field: str) -> bool:
        """Whether the model's forward names a field."""
        return any(_base(parameter.name) == field for parameter in parameters_of(self.model)[0])

    def _as_it_takes(self, graph: AnyGraph) -> AnyGraph:
        """The graph with numbers of the type that the model takes, and without batch vectors if it wants none."""
        if not self.batch:
            graph = copy(graph)
            for store in graph.node_stores:
                store.pop("batch", None)
                store.pop("ptr", None)
        wanted = _number_type(self.model)
        if self.numbers is Numbers.AS_THEY_ARE:
            return graph
        changed: list[tuple[Any, str, Tensor]] = []
        for store in graph.stores:
            for name in ("x", "edge_attr", "edge_weight"):
                value = store.get(name)
                if not isinstance(value, Tensor) or value.dtype == wanted:
                    continue
                if value.is_floating_point():
                    changed += [(store._key, name, value.to(wanted))] if wanted is not None else []
                elif self.numbers is Numbers.FRACTIONS:
                    changed.append((store._key, name, value.to(wanted or torch.get_default_dtype())))
        if not changed:
            return graph
        graph = copy(graph)
        for key, name, value in changed:
            (graph if key is None else graph[key])[name] = value
        return graph


def parameters_of(model: Any) -> tuple[Parameters, set[Any]]:
    """The named parameters of a model's forward, and the kinds of further ones (``*args``, ``**kwargs``).

    Of what nobody can know it may be anything.
    """
    if isinstance(model, Sequential):
        return [_parameter(name, required=True) for name in model.signature.param_dict], set()
    if isinstance(model, torch.jit.ScriptModule):
        arguments: Sequence[Any] = model.forward.schema.arguments[1:]  # type: ignore[attr-defined]
        return [_parameter(each.name, required=not each.has_default_value()) for each in arguments], set()
    function = model.forward if isinstance(model, nn.Module) else model
    try:
        every = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [], {inspect.Parameter.VAR_POSITIONAL}
    others = {p.kind for p in every if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    return [p for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)], others


def _parameter(name: str, *, required: bool) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, default=inspect.Parameter.empty if required else None)


def _takes_the_graph(named: Parameters) -> bool:
    required = [parameter for parameter in named if parameter.default is parameter.empty]
    return len(required) <= 1 and not any(_base(parameter.name) in _PARTS for parameter in named)


def _base(name: str) -> str:
    """``x`` and ``x_dict`` ask for the same."""
    return name.removesuffix("_dict")


def _field(graph: AnyGraph, name: str) -> Any:
    """What a graph has by the name of a parameter; of several types a dictionary; None where it has nothing."""
    base = _base(name)
    for each in dict.fromkeys((base, *_EDGE_NAMES)) if base in _EDGE_NAMES else (base,):
        if isinstance(graph, HeteroData):
            found = graph.collect(each, allow_empty=True) or graph._global_store.get(each)
        else:
            found = graph.get(each)
        if found is not None:
            return found
    return getattr(graph, base, None) if base in _COUNTS else None


def _number_type(model: Any) -> torch.dtype | None:
    """The type of all of a module's fractional weights; None where there are none, or several."""
    weights = model.parameters() if isinstance(model, nn.Module) else ()
    found = {weight.dtype for weight in weights if weight.is_floating_point()}
    return found.pop() if len(found) == 1 else None
