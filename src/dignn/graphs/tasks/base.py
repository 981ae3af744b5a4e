"""What every task is, and their registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

import numpy as np
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.registry import Registry, import_modules
from dignn.graphs import tasks

if TYPE_CHECKING:
    from dignn.graphs.batch import GraphBatch

ReturnType = Literal["raw", "probs", "log_probs"]
# Of nodes, or of their graphs: arrays or tensors.
Labels = TypeVar("Labels", np.ndarray, Tensor)
RETURN_TYPES: tuple[ReturnType, ...] = get_args(ReturnType)


class Task(ABC):
    """What the model answers, and how an answer is read.

    An *answer* is about a place: a graph of a batch and a position in it, or -1 for the graph as a whole. Everything
    that must know what is answered asks the task, so that a new task is one file here and one for its words
    (:mod:`dignn.evidence.task_words`). A task is frozen, and its fields are plain values, so that schemas can be
    written as JSON.

    Attributes:
        name: in files, and in the registry.
        of_graphs: whether answers are about whole graphs; else they are about nodes of the type ``target``.
        target: the node type that is answered about; None for whole graphs.
    """

    name: ClassVar[str]
    of_graphs: ClassVar[bool]
    target: str | None

    # -- what is answered about -----------------------------------------------------------------------

    @abstractmethod
    def check(self, node_types: Sequence[str]) -> None:
        """Raises a SchemaError where graphs of these types have nothing that is answered about."""

    @property
    @abstractmethod
    def things(self) -> str:
        """What is answered about, for messages: ``graphs``, ``nodes of type 'author'``."""

    @abstractmethod
    def types(self, node_types: Sequence[str]) -> np.ndarray:
        """(T,) bool, the node types that a subgraph may start from: what is answered about is, or is made of, them."""

    @abstractmethod
    def node_mask(self, node_type: Tensor, node_types: Sequence[str]) -> Tensor:
        """(B, N) bool, which nodes of types (B, N) are answered about one by one."""

    @abstractmethod
    def answers(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        """Graph (m,) and position (m,) of everything in a batch that is answered about."""

    @abstractmethod
    def labels(self, batch: GraphBatch, graph: Tensor, node: Tensor) -> Tensor:
        """(m,) the class of the things at these places; -1 where unknown."""

    def with_labels(self, batch: GraphBatch, graph: Tensor, node: Tensor, label: Tensor) -> GraphBatch:
        """The same graphs, in which the things at these places have these classes (m,)."""
        if self.of_graphs:
            return replace(batch, graph_label=batch.graph_label.index_put((graph,), label))
        return replace(batch, label=batch.label.index_put((graph, node), label))

    @abstractmethod
    def identities(self, batch: GraphBatch, graph: Tensor, node: Tensor) -> Tensor:
        """(m,) which things of the data they are: a node stands in many subgraphs. -1 for what is not of the data."""

    @abstractmethod
    def node_class(self, label: Labels, graph_label: Labels) -> Labels:
        """(...) of labels of nodes and of their graphs, those that say of which class a node is."""

    @abstractmethod
    def meant_for(self, batch: GraphBatch, class_index: int) -> GraphBatch:
        """The same graphs, in which what is answered about is said to be of a class."""

    # -- how labels and answers are read --------------------------------------------------------------

    @abstractmethod
    def read_labels(self, values: Tensor, found: str) -> np.ndarray:
        """(n,) classes of the values (n,) that data has as ``y``; -1 where unknown.

        Raises:
            SchemaError: they are no labels of this task; ``found`` begins the sentence.
        """

    @abstractmethod
    def classes(self, labels: np.ndarray, names: Sequence[str] | None) -> tuple[str, ...]:
        """Names of the classes that labels (n,) have. Raises SchemaError where there are none, or names do not fit."""

    def check_classes(self, classes: Sequence[str]) -> None:
        """Raises a DignnError where there is nothing to tell apart."""
        if len(classes) < 2:
            raise DignnError("There is only one class, so there is nothing to tell apart; give data with two or more")

    @abstractmethod
    def read(self, output: Tensor, return_type: ReturnType) -> Tensor:
        """(m, C) raw scores of the classes, float32, from the rows (m, columns) that a model returns."""

    @abstractmethod
    def recognise(self, output: Tensor, said: ReturnType | None, classes: Sequence[str]) -> ReturnType:
        """What the rows (m, columns) that a model returns are: as ``said``, or as they look.

        Raises:
            ModelMismatchError: they cannot be answers of this task, contradict what is said, or leave it in doubt.
        """

    @abstractmethod
    def probability(self, scores: Tensor) -> Tensor:
        """(m, C) of raw scores (m, C), float64."""

    @abstractmethod
    def log_odds(self, scores: Tensor) -> Tensor:
        """(m, C) log p / (1 - p), float64: orders like the probability, and still tells scores apart near 1."""

    # -- JSON -----------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]  # tasks are dataclasses

    @staticmethod
    def from_json(content: dict[str, Any]) -> Task:
        """The task that :meth:`to_json` described; a file of this folder is found."""
        import_modules(tasks)
        fields = dict(content)
        return TASKS[fields.pop("name")](**fields)


TASKS: Registry[type[Task]] = Registry("task")
