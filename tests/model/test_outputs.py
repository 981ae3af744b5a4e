"""What models return: scores are found in it, and read for what they are."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import ModelConfig

from any_models import DATA, Base, agrees, people
from dignn import DiGNNExplainer
from dignn.core.errors import ModelMismatchError

Named = namedtuple("Named", "hidden scores")


def out(change: Callable[[Base, Tensor, Tensor], Any], classes: int = 3) -> nn.Module:
    class Changed(Base):
        def forward(self, x: Tensor, edge_index: Tensor) -> Any:
            return change(self, self.conv(x, edge_index).relu(), self.scores(x, edge_index))

    return Changed(classes=classes)


OUTPUTS: dict[str, Callable[[Base, Tensor, Tensor], Any]] = {
    "tuple": lambda model, hidden, scores: (scores, hidden),
    "tuple, scores last": lambda model, hidden, scores: (hidden, scores),
    "list": lambda model, hidden, scores: [scores, None],
    "named tuple": lambda model, hidden, scores: Named(hidden, scores),
    "dictionary": lambda model, hidden, scores: {"out": scores, "hidden": hidden},
    "dictionary with logits": lambda model, hidden, scores: {"other": scores * 2, "logits": scores},
    "object with logits": lambda model, hidden, scores: SimpleNamespace(logits=scores, loss=None),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs(name: str) -> None:
    agrees(out(OUTPUTS[name]), "people", lambda model, graph: model.scores(graph.x, graph.edge_index))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda model, hidden, scores: (scores, scores * 2), "element 0 and element 1"),
        (lambda model, hidden, scores: {"first": scores, "second": scores * 2}, "first and second"),
        (lambda model, hidden, scores: Named(scores, scores), "hidden and scores"),
    ],
)
def test_several_that_could_be_meant_are_refused_with_the_choices(change: Any, named: str) -> None:
    with pytest.raises(ModelMismatchError, match=f"of which {named} could be the scores .*choose by forward="):
        DiGNNExplainer(out(change), DATA["people"]).check()


def two_classes() -> Data:
    data = people()
    data.y = data.y.clamp_max(1)
    return data


def pair(logit: Tensor) -> Tensor:
    """The scores of both classes, of the second one's logit."""
    return torch.stack([torch.zeros_like(logit), logit], dim=1)


@pytest.mark.parametrize("squeezed", [False, True])
def test_one_logit_for_two_classes(squeezed: bool) -> None:
    model = out(lambda model, hidden, scores: 9 * (scores[:, 0] if squeezed else scores), classes=1)
    made = agrees(
        model,
        "people",
        lambda model, graph: pair(9 * model.scores(graph.x, graph.edge_index)[:, 0]),
        given=two_classes(),
    )
    assert made.adapter.return_type == "raw"


def test_one_probability_for_two_classes_must_be_said() -> None:
    model = out(lambda model, hidden, scores: scores[:, 0].sigmoid(), classes=1)
    with pytest.raises(ModelMismatchError, match="could be scores or probabilities; say which by return_type"):
        DiGNNExplainer(model, two_classes()).check()
    agrees(
        model,
        "people",
        lambda model, graph: pair(model.scores(graph.x, graph.edge_index)[:, 0]),
        given=two_classes(),
        return_type="probs",
    )


@pytest.mark.parametrize(("kind", "change"), [("probs", torch.softmax), ("log_probs", torch.log_softmax)])
def test_probabilities_are_recognised(kind: str, change: Callable[..., Tensor]) -> None:
    made = agrees(
        out(lambda model, hidden, scores: change(scores, 1)),
        "people",
        lambda model, graph: model.scores(graph.x, graph.edge_index),
    )
    assert made.adapter.return_type == kind


@pytest.mark.parametrize(
    ("said", "change", "message"),
    [
        ("probs", lambda scores: scores, "rows are no probabilities .*return_type='raw'"),
        ("probs", lambda scores: scores.log_softmax(1), "rows are no probabilities"),
        ("log_probs", lambda scores: scores, "no logarithms of probabilities"),
        ("log_probs", lambda scores: scores.softmax(1), "no logarithms of probabilities"),
        ("raw", lambda scores: scores.softmax(1), "sum to 1, so they are probabilities"),
        (None, lambda scores: scores.sigmoid(), "between 0 and 1 and do not sum to 1"),
    ],
)
def test_what_is_said_of_the_output_must_be_true(said: Any, change: Callable[[Tensor], Tensor], message: str) -> None:
    model = out(lambda model, hidden, scores: change(scores))
    with pytest.raises(ModelMismatchError, match=message):
        DiGNNExplainer(model, DATA["people"], return_type=said).check()


def test_the_configuration_of_pyg_is_understood() -> None:
    model = out(lambda model, hidden, scores: scores.softmax(1))
    config = ModelConfig("multiclass_classification", "node", "probs")
    for given in (config, {"mode": "multiclass_classification", "task_level": "node", "return_type": "probs"}):
        agrees(model, "people", lambda model, graph: model.scores(graph.x, graph.edge_index), model_config=given)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (ModelConfig("multiclass_classification", "graph", "raw"), {}, "about each graph, but .*nodes of type"),
        (ModelConfig("multiclass_classification", "edge", "raw"), {}, "about each edge"),
        (ModelConfig("regression", "node"), {}, "is a regression; only classifiers"),
        (
            ModelConfig("multiclass_classification", "node", "raw"),
            {"return_type": "probs"},
            "'probs', but model_config says 'raw'",
        ),
        ({"mode": "guessing"}, {}, "give a ModelConfig of torch_geometric.explain"),
        ("node", {}, "give a ModelConfig of torch_geometric.explain"),
    ],
)
def test_configurations_that_do_not_fit(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelMismatchError, match=message):
        DiGNNExplainer(Base(), DATA["people"], model_config=given, **options).check()
