"""How labels and answers of classifiers are read, and what is said of those that cannot be."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from any_models import people
from dignn.core.errors import ModelMismatchError, SchemaError
from dignn.graphs.flattening import flatten
from dignn.graphs.inference import infer_schema
from dignn.graphs.tasks.classification import GraphClassification, NodeClassification
from strategies import hetero

TASK = NodeClassification("node")


def labelled(*labels: Any, **options: Any) -> Data:
    return Data(x=torch.rand(len(labels), 1), y=torch.tensor(labels, **options), edge_index=torch.tensor([[0], [1]]))


# -- labels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8])
def test_whole_numbers_of_any_type_are_classes(kind: torch.dtype) -> None:
    data = labelled(0, 2, 1, dtype=kind)
    assert infer_schema(data).num_classes == 3
    assert flatten(data, task=TASK).label.tolist() == [0, 2, 1]
    assert flatten([Data(num_nodes=2, y=torch.tensor([1], dtype=kind))]).graph_label.tolist() == [1]


def test_unknown_labels_may_be_floating_point_numbers() -> None:
    assert flatten(labelled(0.0, -100.0, 1.0), task=TASK).label.tolist() == [0, -1, 1]


@pytest.mark.parametrize("strange", [0.5, float("nan"), float("inf")])
def test_fractions_and_nan_are_no_classes(strange: float) -> None:
    with pytest.raises(SchemaError, match=f"are torch.float32; give whole-number classes, which {strange:g} is not"):
        infer_schema(labelled(0.0, 1.0, strange))
    with pytest.raises(SchemaError, match="Graph 0 has the label .*; give whole-number classes"):
        infer_schema([Data(num_nodes=2, y=strange)])


@pytest.mark.parametrize("kind", [torch.int64, torch.float32])
def test_minus_one_is_no_class(kind: torch.dtype) -> None:
    message = "The only labels of {} are 1 and a negative number, which means unknown; number classes from 0"
    with pytest.raises(SchemaError, match=message.format("nodes of type 'node'")):
        infer_schema(labelled(-1, 1, 1, -1, dtype=kind))
    with pytest.raises(SchemaError, match=message.format("graphs")):
        infer_schema([Data(num_nodes=2, y=torch.tensor([label], dtype=kind)) for label in (1, -1, 1)])


def test_only_what_is_classified_has_labels() -> None:
    assert infer_schema(hetero({"a": 2, "b": 3}, y={"a": [1, 1]}), "a").num_classes == 2
    assert flatten(labelled(-1, 1, 1, -1), task=TASK).label.tolist() == [-1, 1, 1, -1]  # of a schema that is known


def test_one_hot_labels_get_advice() -> None:
    rows = torch.eye(3)[[0, 1, 2, 1]]
    data = Data(x=torch.rand(4, 1), y=rows, edge_index=torch.tensor([[0], [1]]))
    with pytest.raises(SchemaError, match=r"have shape \(4, 3\); give one label per node, y.argmax\(-1\) of one-hot"):
        infer_schema(data)
    data.y = rows.argmax(-1)
    assert infer_schema(data).num_classes == 3
    data.y = torch.ones(4, 3)
    with pytest.raises(SchemaError, match="give one label per node$"):
        infer_schema(data)
    for label in (rows[:1], rows[0]):
        with pytest.raises(SchemaError, match=r"Graph 0 has .*; give one label per graph, y.argmax\(-1\) of one-hot"):
            infer_schema([Data(num_nodes=2, y=label)])


def test_a_list_of_one_graph_with_labels_of_nodes() -> None:
    with pytest.raises(SchemaError) as refused:
        infer_schema([people()])
    assert str(refused.value) == (
        "Graph 0 has the labels 0, 1, 2, 0, ..., one for each node, but a list of graphs is classified as graphs; give "
        "one label per graph, or, to have nodes classified, the graph itself instead of a list"
    )


# -- answers ------------------------------------------------------------------------------------------


def refusal(output: Tensor, said: Any, classes: int) -> str:
    with pytest.raises(ModelMismatchError) as refused:
        GraphClassification().recognise(output, said, [f"class {number}" for number in range(classes)])
    return str(refused.value)


def test_a_few_classes_are_named() -> None:
    sentence = refusal(torch.randn(3, 4), None, 40)
    assert "but the data has 40: class 0, class 1, class 2, class 3, class 4, ...; give the data" in sentence
    assert "class 4; give" in refusal(torch.randn(3, 7), None, 5)


def test_labels_may_begin_at_one() -> None:
    assert "number labels from 0 (do they begin at 1?)" in refusal(torch.randn(3, 4), None, 5)
    for columns in (2, 3, 6):
        assert "begin at 1" not in refusal(torch.randn(3, columns), None, 5)


@pytest.mark.parametrize("said", [None, "probs"])
def test_a_sigmoid_is_to_be_left_out(said: Any) -> None:
    rows = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    sentence = refusal(rows.sigmoid(), said, 3)
    assert "lie between 0 and 1 and do not sum to 1" in sentence
    assert "return the scores before the sigmoid, or give return_type='raw'" in sentence
    assert "sigmoid" not in refusal(rows, "probs", 3)
    assert GraphClassification().recognise(rows.sigmoid(), "raw", ["a", "b", "c"]) == "raw"
    assert GraphClassification().recognise(rows, said if said != "probs" else None, ["a", "b", "c"]) == "raw"
