"""The adapter: any PyTorch Geometric model or callable as a function from a GraphBatch to scores.

It reads from the model's signature what to pass, scores thousands of small graphs as one disjoint batch, and
refuses a model that does not fit the schema with a sentence that says what does not fit.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch_geometric.data import Data, HeteroData

from dignn.batch import GraphBatch
from dignn.convert import to_disjoint
from dignn.errors import ModelMismatchError
from dignn.gnn.hooks import edge_weights, final_linear_input, has_message_passing, trace_failure
from dignn.schema import Layout, Schema

log = logging.getLogger(__name__)

ReturnType = Literal["raw", "probs", "log_probs"]
RETURN_TYPES: tuple[ReturnType, ...] = get_args(ReturnType)
Forward = Callable[[Any, Any], Any]

# Graphs in one disjoint batch: bounds memory for wide features.
CHUNK = 512
# Two answers of a model that differ by less are the same answer (float32 sums in another order).
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Scores:
    """What the model says about m target nodes (node classification) or m graphs.

    Args:
        graph: (m,) which graph of the batch.
        node: (m,) position of the target node; -1 for graph classification.
        logits: (m, C) raw scores; softmax gives probabilities.
        embedding: (m, D) what the model's last linear layer sees, or the logits where there is none.
    """

    graph: Tensor
    node: Tensor
    logits: Tensor
    embedding: Tensor

    @property
    def probability(self) -> Tensor:
        """(m, C)"""
        return self.logits.double().softmax(1)

    @property
    def log_odds(self) -> Tensor:
        """(m, C) log p / (1 - p): orders like the probability, and still tells scores apart near 1."""
        logits = self.logits.double()
        log_p = logits.log_softmax(1)
        odds = log_p - torch.log1p(-log_p.exp())
        # Of the largest score 1 - p may vanish; its log-odds are its distance to all others together.
        top = logits.argmax(1, keepdim=True)
        others = logits.scatter(1, top, -torch.inf).logsumexp(1, keepdim=True)
        return odds.scatter(1, top, logits.gather(1, top) - others)


class GNNAdapter:
    """Scores graphs with the model to explain.

    Args:
        model: a PyTorch Geometric module, or any callable. What it takes is read from the names of its
            parameters: ``x_dict, edge_index_dict`` (or ``x, edge_index``), and if it has them ``batch`` and
            ``edge_attr``; a single parameter of another name gets the ``Data`` or ``HeteroData`` itself.
            Features arrive as float32; where a model wants another type, ``forward`` converts them.
        schema: the data's schema.
        forward: ``forward(model, data)`` returns the output, where the signature does not tell.
        return_type: whether the output is raw scores, probabilities or log-probabilities.
    """

    def __init__(
        self, model: Any, schema: Schema, *, forward: Forward | None = None, return_type: ReturnType = "raw"
    ) -> None:
        if not callable(model):
            raise ModelMismatchError(f"The model is a {type(model).__name__}; give a torch module or a callable")
        if return_type not in RETURN_TYPES:
            raise ModelMismatchError(f"Unknown return_type '{return_type}'; choose from {', '.join(RETURN_TYPES)}")
        if isinstance(model, nn.Module) and any(is_lazy(parameter) for parameter in model.parameters()):
            raise ModelMismatchError("The model has layers that never saw data, so it is not trained; train it first")
        self.model = model
        self.schema = schema
        self.return_type = return_type
        self.one_by_one = False
        self._forward = forward if forward is not None else _read_signature(model, schema)

    # -- scoring --------------------------------------------------------------------------------------

    def score(self, batch: GraphBatch) -> Scores:
        """Scores of every target node (or graph) of ``batch``, without gradients."""
        step = 1 if self.one_by_one else CHUNK
        with torch.no_grad(), trace_failure(self.model, self.schema):
            every = [self._score(batch[start : start + step], None) for start in range(0, len(batch), step)]
        graphs = [part.graph + number * step for number, part in enumerate(every) if len(part.graph)]
        parts = [part for part in every if len(part.graph)]
        if not parts:
            empty = torch.empty(0, dtype=torch.long)
            return Scores(
                empty, empty, torch.empty(0, self.schema.num_classes), torch.empty(0, self.schema.num_classes)
            )
        return Scores(
            torch.cat(graphs),
            torch.cat([part.node for part in parts]),
            torch.cat([part.logits for part in parts]),
            torch.cat([part.embedding for part in parts]),
        )

    def asks_for(self, field: str) -> bool:
        """Whether the model's parameters name a field of the data, for example ``edge_attr``."""
        return any(parameter.name.removesuffix("_dict") == field for parameter in _parameters(self.model))

    def score_weighted(self, batch: GraphBatch, edge_weight: Tensor) -> Scores:
        """Scores with messages multiplied by ``edge_weight`` (B, N, N), differentiable in the weights.

        Needs a module made of PyTorch Geometric layers; any other model gets the weights as the attribute
        ``edge_weight`` of the data that ``forward`` receives, and must use them itself.
        """
        return self._score(batch, edge_weight)

    def _score(self, batch: GraphBatch, edge_weight: Tensor | None) -> Scores:
        data = to_disjoint(batch, edge_weight)
        if self.schema.target is None:
            graph, node = torch.arange(len(batch)), torch.full((len(batch),), -1)
        else:
            graph, node = batch.target_mask.nonzero(as_tuple=True)
        if not len(graph):
            empty = torch.empty(0, self.schema.num_classes)
            return Scores(graph, node, empty, empty)
        with _evaluation(self.model), final_linear_input(self.model) as candidates:
            weighted = edge_weight is not None and has_message_passing(self.model)
            with edge_weights(self.model, data) if weighted else nullcontext():
                output = self._forward(self.model, data)
        output = self._rows(output, batch, len(graph))
        logits = output.clamp_min(1e-38).log() if self.return_type == "probs" else output
        embedding = self._embedding(candidates, output, batch)
        return Scores(graph, node, logits, logits if embedding is None else embedding)

    def _rows(self, output: Any, batch: GraphBatch, expected: int) -> Tensor:
        """The output's rows of the target nodes (or graphs).  (m, C)"""
        if isinstance(output, dict):
            if self.schema.target is None or self.schema.target not in output:
                raise ModelMismatchError(
                    f"The model returns a dictionary with {sorted(map(str, output))}, but no scores of "
                    f"'{self.schema.target}'; return them, or give forward="
                )
            output = output[self.schema.target]
        if isinstance(output, tuple):
            output = output[0]
        if not isinstance(output, Tensor) or output.dim() != 2:
            found = f"a tensor of shape {tuple(output.shape)}" if isinstance(output, Tensor) else type(output).__name__
            raise ModelMismatchError(f"The model returns {found}; it must return a score per class in each row")
        return self._select(output, batch, expected)

    def _select(self, output: Tensor, batch: GraphBatch, expected: int) -> Tensor:
        per_node = self.schema.layout is Layout.HOMOGENEOUS and self.schema.target is not None
        if per_node and len(output) == int(batch.mask.sum()):
            return output[batch.target_mask[batch.mask]]
        if len(output) != expected:
            what = "graphs" if self.schema.target is None else f"nodes of type '{self.schema.target}'"
            raise ModelMismatchError(
                f"The model returns {len(output)} rows for {expected} {what}; return one row for each"
            )
        return output

    def _embedding(self, candidates: list[tuple[Tensor, Tensor]], output: Tensor, batch: GraphBatch) -> Tensor | None:
        """The input of the linear layer whose output is the model's output, up to a softmax at the end."""
        for seen, produced in reversed(candidates):
            for rows in (produced, produced.softmax(-1), produced.log_softmax(-1)):
                try:
                    chosen = self._select(rows, batch, len(output))
                except ModelMismatchError:
                    break
                if chosen.shape == output.shape and torch.equal(chosen, output):
                    return self._select(seen, batch, len(output))
        return None

    # -- checking -------------------------------------------------------------------------------------

    def check(self, sample: GraphBatch) -> None:
        """Tries the model on a few graphs of the data.

        Raises:
            ModelMismatchError: if it fails on them, answers with the wrong number of classes, with NaN, with
                probabilities where scores are expected, or differently each time.

        A model that lets graphs of one batch influence each other (a normalisation or attention over all nodes
        without the batch vector) is noted, and its graphs are scored one by one from then on.
        """
        self._check_edge_types()
        with torch.no_grad(), trace_failure(self.model, self.schema):
            first = self._score(sample, None)
            again = self._score(sample, None)
        found, wanted = first.logits.size(1), self.schema.num_classes
        if found != wanted:
            raise ModelMismatchError(
                f"The model scores {found} classes, but the data has {wanted}: {', '.join(self.schema.classes)}"
            )
        if not len(first.graph):
            raise ModelMismatchError(
                f"The sampled graphs have no node of type '{self.schema.target}' to score; give other graphs"
            )
        if not torch.isfinite(first.logits).all():
            raise ModelMismatchError(
                "The model's scores are NaN or infinite on the data's own graphs; check its weights"
            )
        rows = first.logits
        if (
            self.return_type == "raw"
            and bool((rows >= 0).all())
            and torch.allclose(rows.sum(1), torch.ones(len(rows)), atol=1e-4)
        ):
            raise ModelMismatchError(
                "The model's rows sum to 1, so they are probabilities; give return_type='probs' (on the command line "
                "--return-type probs)"
            )
        if not torch.allclose(first.logits, again.logits, atol=TOLERANCE, rtol=10 * TOLERANCE):
            raise ModelMismatchError(
                "The model answers differently each time; make its dropout and sampling depend on self.training"
            )
        with torch.no_grad(), trace_failure(self.model, self.schema):
            alone = torch.cat([self._score(sample[number], None).logits for number in range(len(sample))])
        self.one_by_one = not torch.allclose(first.logits, alone, atol=TOLERANCE, rtol=10 * TOLERANCE)
        if self.one_by_one:
            log.warning(
                "The model lets graphs of one batch influence each other (it normalises or attends over all nodes "
                "without the batch vector), so graphs are scored one by one, which is slower"
            )

    def _check_edge_types(self) -> None:
        if not isinstance(self.model, nn.Module) or self.schema.layout is not Layout.HETERO:
            return
        known = {_plain_name(edge_type) for edge_type in self.schema.edge_types}
        for module in self.model.modules():
            if not isinstance(module, nn.ModuleDict):
                continue
            for key in module:
                # HeteroConv writes <a___to___b>, to_hetero and others a__to__b
                parts = tuple(key.strip("<>").split("___" if "___" in key else "__"))
                if len(parts) == 3 and _plain_name(parts) not in known:
                    raise ModelMismatchError(
                        f"The model has a layer for the edge type {parts}, which the data does not have; "
                        f"it has {', '.join(map(str, self.schema.edge_types))}"
                    )


def _plain_name(edge_type: tuple[str, ...]) -> str:
    """As ``torch_geometric.nn.to_hetero`` names an edge type."""
    return "__".join(edge_type).replace(" ", "_").replace("-", "_").replace(":", "_")


@contextmanager
def _evaluation(model: Any) -> Iterator[None]:
    """Evaluation mode, put back afterwards module by module."""
    modules = [module for module in model.modules() if module.training] if isinstance(model, nn.Module) else []
    for module in modules:
        module.training = False
    try:
        yield
    finally:
        for module in modules:
            module.training = True


# -- reading the signature ----------------------------------------------------------------------------


def _parameters(model: Any) -> list[inspect.Parameter]:
    """The named parameters of a model's forward; none where they cannot be known."""
    function = model.forward if isinstance(model, nn.Module) else model
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    return [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def _read_signature(model: Any, schema: Schema) -> Forward:
    """A function ``(model, data) -> output`` that passes what the model's parameters ask for by name."""
    named = _parameters(model)
    known = [p.name for p in named if _field(p.name) is not None]
    missing = [p.name for p in named if _field(p.name) is None and p.default is p.empty]
    if not known and len(missing) <= 1:
        return lambda model, data: model(data)
    if missing:
        raise ModelMismatchError(
            f"The model's forward needs {', '.join(missing)}, which graphs of this schema do not have; "
            "give forward=, a function of the model and the data"
        )

    def forward(model: Any, data: Data | HeteroData) -> Any:
        values = {name: _value(data, str(_field(name)), name in required, schema) for name in known}
        return model(**{name: value for name, value in values.items() if value is not None})

    required = {p.name for p in named if p.default is p.empty}
    return forward


_FIELDS = ("x", "edge_index", "batch", "edge_attr")


def _field(name: str) -> str | None:
    """The field that a parameter called ``name`` asks for: both ``x`` and ``x_dict`` ask for features."""
    field = name.removesuffix("_dict")
    return field if field in _FIELDS else None


def _value(data: Data | HeteroData, field: str, required: bool, schema: Schema) -> Any:
    if isinstance(data, HeteroData):
        value = data.collect(field, allow_empty=True)
        value = value or None
    else:
        value = data.get(field)
    if value is None and required:
        raise ModelMismatchError(
            f"The model's forward needs {field}, which graphs of this schema ({schema.layout.value}) do not have; "
            "give forward=, a function of the model and the data"
        )
    return value
