"""Finds the scores in what a model returns: a tensor, or one of several in a tuple, a dictionary or an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from torch import Tensor

from dignn.core.errors import ModelMismatchError
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Layout

# Under this name models return scores beside other things.
_LOGITS = "logits"


def target_rows(output: Any, batch: GraphBatch, expected: int) -> Tensor:
    """The scores of what is answered about, a row each.  (m, columns)

    Args:
        output: what the model returned for ``batch``.
        batch: the graphs.
        expected: m, the number of things in them that are answered about.

    Raises:
        ModelMismatchError: there are none, or several could be meant.
    """
    task, classes = batch.schema.task, batch.schema.num_classes
    if isinstance(output, Mapping) and task.target in output and not _logits_fit(output, batch, expected):
        output = output[task.target]
    if not isinstance(output, Tensor):
        output = _chosen(output, batch, expected)
    if not isinstance(output, Tensor) or output.dim() not in (1, 2) or (output.dim() == 1 and classes != 2):
        raise ModelMismatchError(
            f"The model returns {_described(output)}; it must return a score per class in each row, or give forward="
        )
    rows = select(output if output.dim() == 2 else output[:, None], batch, expected)
    if rows is None:
        raise ModelMismatchError(
            f"The model returns {len(output)} rows for {expected} {task.things}; return one row for each, or give "
            "forward="
        )
    return rows


def select(output: Tensor, batch: GraphBatch, expected: int) -> Tensor | None:
    """The rows of what is answered about; None where the number of rows does not fit."""
    targets = batch.target_mask[batch.mask]  # of all nodes in order, as a homogeneous model scores them
    if batch.schema.layout is Layout.HOMOGENEOUS and len(output) == len(targets) and bool(targets.any()):
        return output[targets.to(output.device)]
    return output if len(output) == expected else None


def _logits_fit(output: Mapping[Any, Any], batch: GraphBatch, expected: int) -> bool:
    return _fits(output.get(_LOGITS), batch, expected)


def _chosen(output: Any, batch: GraphBatch, expected: int) -> Any:
    """Of several things the one that can be scores of classes."""
    parts = dict(_parts(output))
    task = batch.schema.task
    if not parts:
        return output
    fitting = {name: value for name, value in parts.items() if _fits(value, batch, expected)}
    if len(fitting) == 1 or (_LOGITS in fitting and task.target not in fitting):
        return fitting.get(_LOGITS, next(iter(fitting.values())))
    if fitting:
        raise ModelMismatchError(
            f"The model returns {_described(output)}, of which {' and '.join(fitting)} could be the scores of "
            f"{task.things}; choose by forward=, a function of the model and the graph that returns one of them"
        )
    raise ModelMismatchError(
        f"The model returns {_described(output)}, but no scores of {task.things} (a row for each, with "
        f"{batch.schema.num_classes} columns); return them, or give forward="
    )


def _parts(output: Any) -> Iterator[tuple[str, Any]]:
    """What a tuple, a dictionary or an object is made of, by names for people."""
    if isinstance(output, Mapping):
        yield from ((str(name), value) for name, value in output.items())
    elif isinstance(output, (tuple, list)):
        names = getattr(output, "_fields", [f"element {number}" for number in range(len(output))])
        yield from zip(names, output, strict=True)
    elif is_dataclass(output):
        yield from ((each.name, getattr(output, each.name)) for each in fields(output))
    elif isinstance(getattr(output, _LOGITS, None), Tensor):
        yield _LOGITS, getattr(output, _LOGITS)


def _fits(value: Any, batch: GraphBatch, expected: int) -> bool:
    if not isinstance(value, Tensor) or value.dim() not in (1, 2) or not value.is_floating_point():
        return False
    columns = value.size(1) if value.dim() == 2 else 1
    classes = batch.schema.num_classes
    return (columns == classes or columns == 1 == classes - 1) and select(value, batch, expected) is not None


def _described(output: Any) -> str:
    if isinstance(output, Tensor):
        return f"a tensor of shape {tuple(output.shape)}"
    parts = dict(_parts(output))
    if isinstance(output, Mapping):
        return f"a dictionary with {sorted(parts)}"
    return f"a {type(output).__name__} of {', '.join(parts)}" if parts else type(output).__name__
