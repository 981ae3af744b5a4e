"""What PyTorch Geometric's ``ModelConfig`` says of a model, for those who have one."""

from __future__ import annotations

from typing import Any

from torch_geometric.explain.config import ModelConfig, ModelMode

from dignn.core.errors import ModelMismatchError
from dignn.graphs.tasks.base import ReturnType, Task


def said_by(config: ModelConfig | dict[str, Any], return_type: ReturnType | None) -> tuple[ReturnType, str]:
    """What a model returns, and what it answers about: ``node``, ``edge`` or ``graph``.

    Raises:
        ModelMismatchError: it is no configuration, none of a classifier, or contradicts ``return_type``.
    """
    try:
        config = ModelConfig.cast(config)
    except (TypeError, ValueError) as error:
        raise ModelMismatchError(
            f"model_config is {config!r} ({error}); give a ModelConfig of torch_geometric.explain"
        ) from error
    if not isinstance(config, ModelConfig):
        raise ModelMismatchError(
            f"model_config is a {type(config).__name__}; give a ModelConfig of torch_geometric.explain"
        )
    if config.mode is ModelMode.regression:
        raise ModelMismatchError("model_config says that the model is a regression; only classifiers are explained")
    found: ReturnType = config.return_type.value
    if return_type not in (None, found):
        raise ModelMismatchError(f"return_type is '{return_type}', but model_config says '{found}'; give one of them")
    return found, config.task_level.value


def check_level(level: str, task: Task) -> None:
    """Raises where a model that answers about nodes, edges or graphs (``level``) is given data of another task."""
    if level != ("graph" if task.of_graphs else "node"):
        raise ModelMismatchError(
            f"model_config says that the model answers about each {level}, but the data has labels of {task.things}; "
            "give one graph for nodes, or a list for graphs"
        )
