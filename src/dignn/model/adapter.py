"""The adapter: any PyTorch Geometric model or callable as a function from a GraphBatch to scores.

It finds out how the model is called, scores thousands of small graphs as one disjoint batch, and refuses a model that
does not fit the schema with a sentence that says what does not fit.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch_geometric.nn import MessagePassing

from dignn.core.devices import Device, model_device
from dignn.core.errors import ModelMismatchError
from dignn.core.torch_defaults import TORCH_AS_IT_STARTS, TorchDefaults
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import to_disjoint, weight_field
from dignn.graphs.edge_tables import rows_in, table_in
from dignn.graphs.feature_matrix import as_given
from dignn.graphs.schema import Layout, Schema
from dignn.graphs.tasks.base import RETURN_TYPES, ReturnType
from dignn.model.calling import AnyGraph, Call, Forward
from dignn.model.feature_shares import share_features
from dignn.model.hooks import edge_weights, has_message_passing, linear_layers, trace_failure
from dignn.model.outputs import select, target_rows
from dignn.model.scores import Scores
from dignn.model.state import asked, unchanged, unwrapped

log = logging.getLogger(__name__)

# (layer, input, output) of linear layers that ran.
Layers: TypeAlias = list[tuple[nn.Module, Tensor, Tensor]]
# Graphs in one disjoint batch: bounds memory for wide features.
CHUNK = 512
# Two answers of a model that differ by less are the same answer (sums in another order), by the type of its numbers.
TOLERANCE = 1e-5
_ROUGH = {torch.float16: 1e-2, torch.bfloat16: 6e-2}
_ROUNDED = 1e-3  # no tolerance of such a model is smaller


class GNNAdapter:
    """Scores graphs with the model to explain.

    Args:
        model: a PyTorch Geometric module, or any callable; what ``torch.compile`` or ``DataParallel`` wraps is asked
            itself. What it takes is read from the names of its parameters: ``x_dict, edge_index_dict`` (or
            ``x, edge_index``), and whatever else graphs have by that name (``batch``, ``edge_type``, ``num_graphs``,
            ...); one that names none of the first gets the graph itself. Features arrive as the data has them, in the
            precision of the model's weights.
        schema: the data's schema.
        forward: ``forward(model, graph)`` returns the output, where the signature does not tell.
        return_type: whether the output is raw scores, probabilities or log-probabilities; None to find out.
        defaults: dtype and device of tensors that the model makes without saying; by default as everywhere here.
        device: where a callable is asked, of which that is not known; a module is asked where its weights are. Graphs
            and scores are on the CPU.

    Attributes:
        scored: how many graphs were scored so far, a graph that is scored twice counted twice: what a method costs that
            asks the model. Checking the model does not count.
    """

    def __init__(
        self,
        model: Any,
        schema: Schema,
        *,
        forward: Forward | None = None,
        return_type: ReturnType | None = None,
        defaults: TorchDefaults = TORCH_AS_IT_STARTS,
        device: Device = "auto",
    ) -> None:
        check_model(model, return_type)
        self.model = unwrapped(model)
        self.schema, self.task = schema, schema.task
        self.one_by_one = False
        self.call = Call(self.model, forward)
        self._said = return_type
        self.return_type: ReturnType = return_type or "raw"
        self.tolerance = TOLERANCE
        self._last: nn.Module | None = None  # the linear layer whose input is the embedding
        self._settled = False
        self._defaults = defaults
        self._device = device
        self.scored = 0

    # -- scoring --------------------------------------------------------------------------------------

    def score(self, batch: GraphBatch, *, counted: bool = True) -> Scores:
        """Scores of every target node (or graph) of ``batch``, without gradients.

        ``counted``: whether the graphs count among those :attr:`scored`; not where every method asks about the same.
        """
        self.scored += len(batch) if counted else 0
        step = 1 if self.one_by_one else CHUNK
        with torch.no_grad(), trace_failure(self.model, self.schema):
            every = [self._score(batch[start : start + step], None) for start in range(0, len(batch), step)]
        parts = {number * step: part for number, part in enumerate(every) if len(part)}
        return Scores.cat(list(parts.values()), list(parts)) if parts else self._score(batch[:0], None)

    def score_weighted(
        self,
        batch: GraphBatch,
        edge_weight: Tensor | None,
        *,
        type_weight: Tensor | None = None,
        node_share: Tensor | None = None,
        partial_edges: bool = False,
    ) -> Scores:
        """Scores with messages multiplied by ``edge_weight`` (B, N, N), differentiable in the weights.

        Needs a module made of PyTorch Geometric layers; any other model gets the weights as the attribute
        ``edge_weight`` (``message_weight`` where the data has that itself) of the data that ``forward`` receives, and
        must use them itself. Scores are differentiable in the batch's feature tables, too, where the data's features
        are floating-point numbers.

        Args:
            batch: the graphs.
            edge_weight: (B, N, N) of their edges; None for none.
            type_weight: (B, N, T) how far a node is of each type, in place of its one-hot type, where that is what the
                model sees of a node (``schema.type_in_x``).
            node_share: (B, N) what the features of each node are multiplied by, where the model takes fractions.
            partial_edges: whether an edge of weight 0 is to be as good as none, see
                :func:`dignn.model.hooks.edge_weights`.
        """
        self.scored += len(batch)
        return self._score(batch, edge_weight, type_weight, node_share, partial_edges)

    def _score(
        self,
        batch: GraphBatch,
        edge_weight: Tensor | None,
        type_weight: Tensor | None = None,
        node_share: Tensor | None = None,
        partial_edges: bool = False,
    ) -> Scores:
        graph, node = self.task.answers(batch)
        if not len(graph):
            empty = torch.empty(0, self.schema.num_classes)
            return Scores(graph, node, empty, empty, self.task)
        data = unlabelled(to_disjoint(batch, edge_weight))
        if type_weight is not None:
            data.x = as_given(type_weight[batch.mask], self.schema.features[0])
        if node_share is not None:
            share_features(data, batch, node_share, self.call)
        data = self._placed(data)
        hooked: AbstractContextManager[None] = nullcontext()
        if edge_weight is not None and has_message_passing(self.model):
            hooked = edge_weights(self.model, data, weight_field(self.schema), partial_edges=partial_edges)
        with linear_layers() as layers, hooked:
            output = self._rows(data, batch, len(graph))
        embedding = self._embedding(layers, output, batch)
        logits = self.task.read(output.cpu(), self.return_type)
        return Scores(graph, node, logits, logits if embedding is None else embedding.float().cpu(), self.task)

    def _placed(self, data: AnyGraph) -> AnyGraph:
        """A graph on the device where the model is asked."""
        return data.to(model_device(self.model, self._device, spread=self.call.forward is not None))

    def _rows(self, data: AnyGraph, batch: GraphBatch, expected: int) -> Tensor:
        """What the model says of the target nodes (or graphs), as it says it.  (m, columns)"""
        with asked(self.model), self._defaults.in_force():
            return target_rows(self.call(data), batch, expected)

    def _embedding(self, layers: Layers, output: Tensor, batch: GraphBatch) -> Tensor | None:
        """The input of the linear layer whose output is the model's output, up to a softmax at the end."""
        last = self._last if self._settled else _source(layers, output, batch)
        for layer, seen, _ in reversed(layers):
            if layer is last:
                return select(seen, batch, len(output))
        return None

    # -- checking -------------------------------------------------------------------------------------

    def answers(self, graphs: Sequence[AnyGraph], batch: GraphBatch, call: Call | None = None) -> Tensor:
        """What the model says of graphs that somebody else made, each asked alone; raw scores.  (m, C)

        Args:
            graphs: the same graphs as those of ``batch``, with their nodes in the same order.
            batch: says what is answered about.
            call: another way to call the model than its own.
        """
        before, self.call = self.call, call or self.call
        try:
            with torch.no_grad(), trace_failure(self.model, self.schema):
                rows, _, _ = self._tried(graphs, batch)
        finally:
            self.call = before
        return self.task.read(torch.cat(rows).cpu(), self.return_type)

    def settle(self, graphs: Sequence[AnyGraph], batch: GraphBatch) -> None:
        """Finds out how the model is called, and what it returns, by trying it.

        Args:
            graphs, batch: as :meth:`answers` takes them.

        Raises:
            ModelMismatchError: no way works, or what it returns fits no class.
        """
        _check_edge_types(self.model, self.schema)
        failure: ModelMismatchError | None = None
        for call in self.call.forms(self.task.of_graphs):
            self.call = call
            try:
                with torch.no_grad(), unchanged(self.model), trace_failure(self.model, self.schema):
                    rows, last, raw = self._tried(graphs, batch)
                break
            except ModelMismatchError as error:
                failure = failure or error
        else:
            assert failure is not None
            raise failure
        if not rows:
            raise ModelMismatchError(f"The sampled graphs have no {self.task.things} to score; give other graphs")
        output = torch.cat(rows).cpu()
        if not torch.isfinite(output).all():
            raise ModelMismatchError(_why_no_number(batch))
        # What a linear layer gives is raw, though scores may happen to look like probabilities.
        said = self._said or ("raw" if raw else None)
        self.return_type = self.task.recognise(output, said, self.schema.classes)
        self.tolerance = _ROUGH.get(output.dtype, TOLERANCE)
        self._last, self._settled = last, True

    def _tried(self, graphs: Sequence[AnyGraph], batch: GraphBatch) -> tuple[list[Tensor], nn.Module | None, bool]:
        """What the model says of each graph, the linear layer that it comes from, and whether as that gives it."""
        rows, sources, raw = [], set(), True
        for number, graph in enumerate(graphs):
            one = batch[number]
            count = len(self.task.answers(one)[0])
            if count:
                with linear_layers() as layers:  # a model may change what it is given
                    rows.append(self._rows(self._placed(graph.clone()), one, count))
                sources.add(_source(layers, rows[-1], one))
                given = [select(produced, one, count) for _, _, produced in layers if produced.dim() == 2]
                raw &= any(found is not None and _equal(found, rows[-1]) for found in given)
        return rows, sources.pop() if len(sources) == 1 else None, raw

    def check(self, sample: GraphBatch) -> None:
        """Tries the model on a few graphs of the data.

        Raises:
            ModelMismatchError: if it fails on them, answers with the wrong number of classes, with NaN, with
                probabilities where scores are expected, or differently each time.

        A model that lets graphs of one batch influence each other (a normalisation or attention over all nodes
        without the batch vector) is noted, and its graphs are scored one by one from then on.
        """
        alone = [unlabelled(to_disjoint(sample[number])) for number in range(len(sample))]
        if not self._settled:
            self.settle(alone, sample)
        with torch.no_grad(), trace_failure(self.model, self.schema):
            first, again = (self._score(sample, None).logits for _ in range(2))
        self.refuse_randomness(first, again)
        self.one_by_one = not self.same(first, self.answers(alone, sample))
        if self.one_by_one:
            log.warning(
                "The model lets graphs of one batch influence each other (it normalises or attends over all nodes "
                "without the batch vector), so graphs are scored one by one, which is slower"
            )

    def refuse_randomness(self, first: Tensor, again: Tensor) -> None:
        """Raises where two answers to the same question differ."""
        if not self.same(first, again):
            raise ModelMismatchError(
                "The model answers differently each time; make its dropout and sampling depend on self.training, or "
                "call eval() on what forward= or a function closes over"
            )

    def know_rounding(self, one: Tensor, other: Tensor) -> None:
        """Makes the tolerance of a model of low precision as small as two answers that only round differently allow."""
        if self.tolerance > TOLERANCE:
            self.tolerance = min(self.tolerance, max(_ROUNDED, 4 * float((one - other).abs().max())))

    def same(self, one: Tensor, other: Tensor) -> bool:
        """Whether these are the same answers, up to rounding."""
        scale = max(1.0, float(other.abs().max())) if other.numel() else 1.0
        return torch.allclose(one, other, atol=self.tolerance * scale, rtol=max(10 * TOLERANCE, self.tolerance))


def unlabelled(graph: AnyGraph) -> AnyGraph:
    """The graph without labels, which nobody has when a model is used; in place."""
    for store in graph.stores:
        if "y" in store:
            del store["y"]
    return graph


def _source(layers: Layers, output: Tensor, batch: GraphBatch) -> nn.Module | None:
    """The linear layer whose output is the model's output, up to a softmax at the end; None where none is."""
    for layer, _, produced in reversed(layers):
        for rows in (produced, produced.softmax(-1), produced.log_softmax(-1), produced.sigmoid()):
            chosen = select(rows, batch, len(output)) if rows.dim() == 2 else None
            if chosen is None:
                break
            if _equal(chosen, output):
                return layer
    return None


def _why_no_number(batch: GraphBatch) -> str:
    """Why the model's scores of real graphs are NaN or infinite: for what is missing in them, if anything is."""
    for name in (*batch.tables, *batch.edge_tables):
        absent = table_in(batch, name)[rows_in(batch, name)].isnan().any(0).nonzero()[:, 0]
        if len(absent):
            column = batch.schema.table_spec(name).column_name(int(absent[0]))
            return (
                f"The model's scores are NaN on the data's own graphs, where '{column}' of '{name}' misses values; "
                "fill them in before training, or have the model handle NaN"
            )
    return "The model's scores are NaN or infinite on the data's own graphs; check its weights and the features"


def _equal(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one, other)


def _check_edge_types(model: Any, schema: Schema) -> None:
    """Refuses layers for edges between the data's node types that the data does not have."""
    if not isinstance(model, nn.Module) or schema.layout is not Layout.HETERO:
        return
    known = {_plain_name(edge_type) for edge_type in schema.edge_types}
    types = {_plain_name((name,)) for name in schema.node_types}
    layers = [
        (key, layer) for each in model.modules() if isinstance(each, nn.ModuleDict) for key, layer in each.items()
    ]
    for key, layer in layers:
        # PyTorch Geometric's dictionaries give the edge type itself, to_hetero and others a__to__b
        parts = key if isinstance(key, tuple) else tuple(key.strip("<>").split("___" if "___" in key else "__"))
        passes = any(isinstance(module, MessagePassing) for module in layer.modules())
        ends = len(parts) == 3 and {_plain_name((parts[0],)), _plain_name((parts[2],))} <= types
        if passes and ends and _plain_name(parts) not in known:
            raise ModelMismatchError(
                f"The model has a layer for the edge type {parts}, which the data does not have; "
                f"it has {', '.join(map(str, schema.edge_types))}; give the data that the model was trained on"
            )


def check_model(model: Any, return_type: ReturnType | None) -> None:
    """Raises for what cannot be a trained model, without asking it."""
    if not callable(model):
        raise ModelMismatchError(f"The model is a {type(model).__name__}; give a torch module or a callable")
    if isinstance(model, type):
        raise ModelMismatchError(f"The model is the class {model.__name__}; give a trained instance of it")
    if isinstance(model, nn.Module) and any(weight.is_meta for weight in model.parameters()):
        raise ModelMismatchError("The model's weights are on the meta device, so it has none; load them first")
    if return_type is not None and return_type not in RETURN_TYPES:
        raise ModelMismatchError(f"Unknown return_type '{return_type}'; choose from {', '.join(RETURN_TYPES)}")
    if isinstance(model, nn.Module) and any(is_lazy(parameter) for parameter in model.parameters()):
        raise ModelMismatchError("The model has layers that never saw data, so it is not trained; train it first")


def _plain_name(edge_type: tuple[str, ...]) -> str:
    """As ``torch_geometric.nn.to_hetero`` names an edge type."""
    return "__".join(edge_type).replace(" ", "_").replace("-", "_").replace(":", "_")
