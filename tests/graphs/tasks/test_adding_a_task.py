"""A task of another kind is one file: here a regression, whose answers are read as low or high."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dignn import DiGNNExplainer, Explanations, Schema, infer_schema
from dignn.core.errors import ModelMismatchError, SchemaError
from dignn.evidence.task_words import WORDS, TaskWords
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.graphs import tasks
from dignn.graphs.tasks.base import TASKS, ReturnType, Task
from dignn.graphs.tasks.classification import NodeClassification
from dignn.report.made_again import python_call
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")


@dataclass(frozen=True)
class Threshold(NodeClassification):
    """A number for each node of a type; what lies above the threshold is high."""

    threshold: float = 0.0

    def read_labels(self, values: Tensor, found: str) -> np.ndarray:
        return (values > self.threshold).long().numpy()

    def classes(self, labels: np.ndarray, names: Sequence[str] | None) -> tuple[str, ...]:
        return ("low", "high")

    def recognise(self, output: Tensor, said: ReturnType | None, classes: Sequence[str]) -> ReturnType:
        if output.size(1) != 1:
            raise ModelMismatchError(f"The model returns {output.size(1)} numbers for each node; return one")
        return "raw"

    def read(self, output: Tensor, return_type: ReturnType) -> Tensor:
        return torch.cat([self.threshold - output, output - self.threshold], dim=1)


class ThresholdWords(TaskWords):
    """Its words."""

    def answer(self, name: str, probability: float) -> str:
        return f"The model's number for this {self.thing} is {name}"


class Number(nn.Module):
    """One number for each author."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self.inner = TinyHetero(replace(schema, classes=("one",)))

    def forward(self, x_dict: dict, edge_index_dict: dict) -> Tensor:
        return self.inner(x_dict, edge_index_dict)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    TASKS.add("low or high", Threshold)
    WORDS["low or high"] = ThresholdWords
    yield
    TASKS._items.pop("low or high")
    WORDS.pop("low or high")


@pytest.fixture
def numbers() -> Dataset:
    """The planted data with numbers in place of classes."""
    planted = load("planted")
    data = planted.data.clone()
    data["author"].y = torch.linspace(-1, 1, data["author"].num_nodes)
    return replace(planted, data=data)


def test_a_whole_run_asks_the_task(numbers: Dataset) -> None:
    task = Threshold("author", 0.25)
    config = replace(PRESETS["smoke"], sizes=(8,), subgraphs_per_size=20, candidates=24, features="bootstrap")
    made = DiGNNExplainer(Number(numbers.schema), numbers.data, task=task, config=config)
    explanations = made.fit().explain(top_k=1)
    assert list(explanations) == ["low", "high"]
    [best] = explanations["high"]
    raw = made.adapter.model(best.to_hetero_data().x_dict, best.to_hetero_data().edge_index_dict)
    place = best.graph.target_mask[0].nonzero()[:, 0].tolist().index(best.node)
    assert best.score == pytest.approx(float(torch.sigmoid(2 * (raw[place, 0] - 0.25))), abs=1e-5)
    assert best.evidence is not None
    assert best.evidence.text.startswith("The model's number for this author is “high”")
    assert made.members[0].class_index == 0


def test_the_schema_keeps_it(numbers: Dataset) -> None:
    schema = infer_schema(numbers.data, task=Threshold("author", 0.25))
    assert json.loads(schema.to_json())["task"] == {"name": "low or high", "target": "author", "threshold": 0.25}
    assert Schema.from_json(schema.to_json()) == schema
    labels = numbers.data["author"].y > 0.25
    assert int(labels.sum()) > 0
    plain = infer_schema(load("planted").data, "author")
    assert "task" not in json.loads(plain.to_json())  # files of classifications are as they were


@pytest.fixture
def one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A task that nobody has loaded, in a folder where tasks are looked for."""
    (tmp_path / "sign.py").write_text(
        "from dataclasses import dataclass\n"
        "from dignn.graphs.tasks.base import TASKS\n"
        "from dignn.graphs.tasks.classification import NodeClassification\n"
        "@TASKS.register('sign')\n"
        "@dataclass(frozen=True)\n"
        "class Sign(NodeClassification):\n"
        "    turned: bool = False\n"
    )
    monkeypatch.setattr(tasks, "__path__", [*tasks.__path__, str(tmp_path)])
    monkeypatch.setattr(TASKS, "_items", dict(TASKS._items))
    yield
    del sys.modules["dignn.graphs.tasks.sign"]


def test_a_file_of_the_folder_is_found_by_whoever_reads_a_schema(numbers: Dataset, one_file: None) -> None:
    content = json.loads(numbers.schema.to_json())
    content["task"] = {"name": "sign", "target": "author", "turned": True}
    assert "sign" not in TASKS
    assert repr(Schema.from_json(json.dumps(content)).task) == "Sign(target='author', turned=True)"


def test_the_page_names_it(numbers: Dataset, tmp_path: Path) -> None:
    task = Threshold("author", 0.25)
    config = replace(PRESETS["smoke"], sizes=(8,), subgraphs_per_size=20, candidates=24, features="bootstrap")
    made = DiGNNExplainer(Number(numbers.schema), numbers.data, task=task, config=config, folder=tmp_path)
    made.fit().explain(measure=False)
    code = python_call(Explanations.load(tmp_path).about)
    assert code is not None
    (line,) = (line for line in code.splitlines() if "task=" in line)
    written = line[line.index("Task.from_json(") : line.index("})") + 2]
    assert eval(written, {"Task": Task}) == task
    assert "Task.from_json" in (tmp_path / "report.html").read_text()


def test_a_model_that_does_not_answer_it_is_refused(numbers: Dataset) -> None:
    with pytest.raises(ModelMismatchError, match="returns 4 numbers for each node; return one"):
        DiGNNExplainer(TinyHetero(numbers.schema), numbers.data, task=Threshold("author")).check()


def test_numbers_are_no_classes(numbers: Dataset) -> None:
    with pytest.raises(SchemaError, match="type 'author' are torch.float32; give whole-number classes"):
        infer_schema(numbers.data, "author")
