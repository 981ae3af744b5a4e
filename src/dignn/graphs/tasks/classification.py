"""Classification: each node of a type, or each graph, is of one class, and the model scores every class."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from dignn.core.errors import ModelMismatchError, SchemaError
from dignn.core.suggestions import did_you_mean
from dignn.graphs.tasks.base import TASKS, Labels, ReturnType, Task

if TYPE_CHECKING:
    from dignn.graphs.batch import GraphBatch

# Probabilities below this have no logarithm in float32.
_LEAST = 1e-38
# How many classes a sentence names.
_NAMED = 5
# How far rows of probabilities may be from their sum, by the type of numbers; 1e-4 for others.
_ROUNDING = {torch.float16: 1e-2, torch.bfloat16: 3e-2}


class Classification(Task, ABC):
    """One class for each thing; raw scores become probabilities by a softmax."""

    def read_labels(self, values: Tensor, found: str) -> np.ndarray:
        """Whole numbers, of any type; -1 for every negative one (PyTorch marks unknown ones with -100)."""
        values = values.detach().cpu()
        if values.is_complex():
            raise SchemaError(f"{found}; give whole-number classes")
        if values.is_floating_point():
            values = values.double()
            strange = values[~values.isfinite() | (values != values.round())]
            if len(strange):
                raise SchemaError(f"{found}; give whole-number classes, which {strange[0]:g} is not")
        return np.maximum(values.long().numpy(), -1)

    def classes(self, labels: np.ndarray, names: Sequence[str] | None) -> tuple[str, ...]:
        count = int(labels.max(initial=-1)) + 1
        if not count:
            place = f"{self.things[0].upper()}{self.things[1:]}"
            raise SchemaError(f"{place} have no labels; set y, one class each (-1 where unknown)")
        if set(labels.tolist()) == {-1, 1}:
            raise SchemaError(
                f"The only labels of {self.things} are 1 and a negative number, which means unknown; number classes "
                "from 0, for example (y + 1) // 2 of -1 and 1"
            )
        if names is None:
            return tuple(f"class {number}" for number in range(count))
        if len(names) < count:
            raise SchemaError(
                f"{len(names)} class names were given, but the labels go up to {count - 1}; name every class"
            )
        return tuple(names)

    def read(self, output: Tensor, return_type: ReturnType) -> Tensor:
        if output.size(1) == 1:  # of two classes, the second one's
            if return_type == "probs":
                output = torch.cat([1 - output, output], dim=1)
            else:
                output = torch.cat([torch.zeros_like(output), output], dim=1)
        return (output.float().clamp_min(_LEAST).log() if return_type == "probs" else output).float()

    def recognise(self, output: Tensor, said: ReturnType | None, classes: Sequence[str]) -> ReturnType:
        one = output.size(1) == 1 and len(classes) == 2
        if output.size(1) != len(classes) and not one:
            raise _other_classes(output.size(1), classes)
        values, off = output.double(), _ROUNDING.get(output.dtype, 1e-4)
        bounded = bool(((values >= -off) & (values <= 1 + off)).all())
        shares = bounded and (one or bool(((values.sum(1) - 1).abs() <= off).all()))
        logs = not one and bool((values.logsumexp(1).abs() <= off).all())
        if said in ("probs", None) and bounded and (not shares or (one and said is None)):
            raise _between_0_and_1(output, one)
        if (said == "probs" and not shares) or (said == "log_probs" and not logs):
            what = "probabilities" if said == "probs" else "logarithms of probabilities"
            raise ModelMismatchError(
                f"The model's rows are no {what} (the first is {few(output[0])}); give return_type='raw' for raw "
                "scores (on the command line --return-type raw)"
            )
        if said == "raw" and shares and not one:
            raise ModelMismatchError(
                "The model's rows sum to 1, so they are probabilities; give return_type='probs' (on the command line "
                "--return-type probs)"
            )
        return said or ("probs" if shares else "log_probs" if logs else "raw")

    def probability(self, scores: Tensor) -> Tensor:
        return scores.double().softmax(1)

    def log_odds(self, scores: Tensor) -> Tensor:
        scores = scores.double()
        log_p = scores.log_softmax(1)
        odds = log_p - torch.log1p(-log_p.exp())
        # Of the largest score 1 - p may vanish; its log-odds are its distance to all others together.
        top = scores.argmax(1, keepdim=True)
        others = scores.scatter(1, top, -torch.inf).logsumexp(1, keepdim=True)
        return odds.scatter(1, top, scores.gather(1, top) - others)


@TASKS.register("node classification")
@dataclass(frozen=True)
class NodeClassification(Classification):
    """Nodes of one type are classified.

    Args:
        target: the type.
    """

    of_graphs = False
    target: str

    def check(self, node_types: Sequence[str]) -> None:
        if self.target not in node_types:
            known, guess = ", ".join(node_types), did_you_mean(self.target, node_types)
            raise SchemaError(f"Target '{self.target}' is not a node type{guess}; choose from {known}")

    @property
    def things(self) -> str:
        return f"nodes of type '{self.target}'"

    def types(self, node_types: Sequence[str]) -> np.ndarray:
        return np.array([name == self.target for name in node_types])

    def node_mask(self, node_type: Tensor, node_types: Sequence[str]) -> Tensor:
        return node_type == list(node_types).index(self.target)

    def answers(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        graph, node = batch.target_mask.nonzero(as_tuple=True)
        return graph, node

    def labels(self, batch: GraphBatch, graph: Tensor, node: Tensor) -> Tensor:
        return batch.label[graph, node]

    def identities(self, batch: GraphBatch, graph: Tensor, node: Tensor) -> Tensor:
        return batch.row[graph, node]

    def node_class(self, label: Labels, graph_label: Labels) -> Labels:
        return label

    def meant_for(self, batch: GraphBatch, class_index: int) -> GraphBatch:
        return replace(batch, label=batch.label.masked_fill(batch.target_mask, class_index))


@TASKS.register("graph classification")
@dataclass(frozen=True)
class GraphClassification(Classification):
    """Whole graphs are classified."""

    of_graphs = True
    target = None
    things = "graphs"

    def check(self, node_types: Sequence[str]) -> None:
        return

    def types(self, node_types: Sequence[str]) -> np.ndarray:
        return np.ones(len(node_types), dtype=bool)

    def node_mask(self, node_type: Tensor, node_types: Sequence[str]) -> Tensor:
        return torch.zeros_like(node_type, dtype=torch.bool)

    def answers(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        return torch.arange(len(batch)), torch.full((len(batch),), -1)

    def labels(self, batch: GraphBatch, graph: Tensor, node: Tensor) -> Tensor:
        return batch.graph_label[graph]

    def identities(self, batch: GraphBatch, graph: Tensor, node: Tensor) -> Tensor:
        return graph

    def node_class(self, label: Labels, graph_label: Labels) -> Labels:
        return graph_label

    def meant_for(self, batch: GraphBatch, class_index: int) -> GraphBatch:
        return replace(batch, graph_label=torch.full_like(batch.graph_label, class_index))


def classification(target: str | None) -> Classification:
    """Of the nodes of a type, or of whole graphs."""
    return GraphClassification() if target is None else NodeClassification(target)


def _other_classes(columns: int, classes: Sequence[str]) -> ModelMismatchError:
    named = ", ".join(classes[:_NAMED]) + ", ..." * (len(classes) > _NAMED)
    from_one = "number labels from 0 (do they begin at 1?), " * (columns == len(classes) - 1)
    return ModelMismatchError(
        f"The model scores {columns} classes, but the data has {len(classes)}: {named}; {from_one}give the data that "
        "it was trained on, or name every class by classes="
    )


def _between_0_and_1(output: Tensor, one: bool) -> ModelMismatchError:
    """Of rows that may come from a sigmoid; ``one``: of one column, for the second of two classes."""
    first = f"(the first is {few(output[0])})"
    if one:
        return ModelMismatchError(
            f"The model's rows lie between 0 and 1 {first}, so they could be scores or probabilities; say which by "
            "return_type='raw' or 'probs' (on the command line --return-type)"
        )
    return ModelMismatchError(
        f"The model's rows lie between 0 and 1 and do not sum to 1 {first}, so they are no probabilities of classes; "
        "return the scores before the sigmoid, or give return_type='raw' where they are scores (on the command line "
        "--return-type raw)"
    )


def few(row: Tensor) -> str:
    """The first numbers of a row, for people."""
    shown = ", ".join(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row[:4].tolist())
    return f"{shown}, ..." if len(row) > 4 else shown
