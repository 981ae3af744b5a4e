"""Every argument of what ``dignn`` exports, given wrongly, ends in one sentence: its name, the value, what to give."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

import dignn
import hand_made
from dignn import (
    Config,
    DignnError,
    DiGNNExplainer,
    Explanation,
    Explanations,
    FeatureSpec,
    GraphBatch,
    Relation,
    Schema,
)
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.features.settings import DiTabDDPMConfig, TabDDPMConfig
from dignn.structure.settings import EdgeDiffusionConfig, NodeGrowthConfig
from strategies import rings_and_stars
from tiny_models import TinyGCN

Call = Callable[[Any], object]
# By the kind of a setting, what it cannot be.
WHOLE = ["3", 2.5, True, None, -1, [3], torch.tensor(3)]
NUMBER = ["0.5", True, None, -1.0, [0.5], float("nan"), float("inf")]
SHARE = [*NUMBER, 1.0]
CHOICE = ["nope", 3, None, ["flow"]]
SWITCH = [1, "yes", None]
NAME = [3, None, ["a"]]
PART = [{}, "fast", None, 3]
PLACE = [3, 2.5, True, ["a"]]


def named(value: object) -> str:
    """The same in every process: without addresses in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def refused(call: Call, value: object, names: str) -> None:
    """One sentence with the argument's name, or what it is called, and a remedy behind a semicolon."""
    with pytest.raises(DignnError) as raised:
        call(value)
    said = str(raised.value)
    assert re.search(names, said), said
    assert re.search("; .|must be|Say which", said), said
    assert "\n" not in said


# -- settings -----------------------------------------------------------------------------------------

SETTINGS: dict[type, dict[str, list[Any]]] = {
    Config: {
        "sizes": ["10", 12, (), ("a",), (12.5,), (True,), (0,), (101,), {8: 1}, [None], 2.5, "abc"],
        "subgraphs_per_size": [*WHOLE, 4],
        "candidates": [*WHOLE, 0, 10**20],
        "selection": CHOICE,
        "tolerance": SHARE,
        "top_k": [*WHOLE, 0],
        "structure": NAME,
        "node_growth": PART,
        "edge_diffusion": PART,
        "guidance": NUMBER,
        "features": NAME,
        "ditabddpm": PART,
        "tabddpm": PART,
        "continuous": CHOICE,
        "one_model_per_class": SWITCH,
        "surroundings": SWITCH,
        "refined": SHARE,
        "refinement_rounds": [*WHOLE, 0],
    },
    NodeGrowthConfig: {
        "width": [*WHOLE, 0],
        "layers": [*WHOLE, 0],
        "heads": [*WHOLE, 0, 7],
        "events_per_batch": [*WHOLE, 0],
        "temperature": [*NUMBER, 0],
        "roles": SWITCH,
        "looks": WHOLE,
        "new": SWITCH,
        "effort": [*NUMBER, 0],
        "passes": [*NUMBER, 0],
        "training": PART,
    },
    EdgeDiffusionConfig: {
        "noise": CHOICE,
        "denoiser": CHOICE,
        "one_model_per_size": SWITCH,
        "batch": [*WHOLE, 0],
        "edge_weight": NUMBER,
        "sampler": CHOICE,
        "sampler_steps": [*WHOLE, 0],
        "grid": CHOICE,
        "constraints": SWITCH,
        "restarts": WHOLE,
        "training": PART,
    },
    DiTabDDPMConfig: {
        "noise": CHOICE,
        "denoiser": CHOICE,
        "width": [*WHOLE, 0],
        "blocks": [*WHOLE, 0],
        "dropout": SHARE,
        "batch": [*WHOLE, 0],
        "emphasis": [*NUMBER, 6],
        "sampler_steps": [*WHOLE, 0],
        "grid": CHOICE,
        "training": PART,
        "marginal_training": PART,
    },
    TabDDPMConfig: {
        "transform": CHOICE,
        "prediction": CHOICE,
        "waves": SWITCH,
        "repeated_rows": SWITCH,
        "discrete": CHOICE,
        "width": [*WHOLE, 0],
        "blocks": [*WHOLE, 0],
        "dropout": SHARE,
        "batch": [*WHOLE, 0],
        "sampler": CHOICE,
        "sampler_steps": [*WHOLE, 0],
        "training": PART,
    },
    TrainingConfig: {
        "steps": [*WHOLE, 0],
        "epochs": ["3", 2.5, True, 0],
        "learning_rate": [*NUMBER, 0],
        "optimizer": CHOICE,
        "matrix_rate": [*NUMBER, 0],
        "warm_up": SHARE,
        "cosine": SWITCH,
        "settle": SHARE,
        "weight_decay": NUMBER,
        "clip": [*NUMBER, 0],
        "ema": SHARE,
        "validate_every": [*WHOLE, 0],
        "gain": SHARE,
        "patience": [*WHOLE, 0],
    },
}


def test_no_setting_is_forgotten() -> None:
    for kind, known in SETTINGS.items():
        assert [item.name for item in fields(kind)] == list(known)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [(kind, name, value) for kind, known in SETTINGS.items() for name, values in known.items() for value in values],
    ids=lambda value: getattr(value, "__name__", None) or named(value),
)
def test_settings(kind: type, name: str, value: object) -> None:
    refused(lambda given: kind(**{name: given}), value, rf"\b{name}\b")


def test_numbers_of_numpy_and_lists_of_sizes_are_fine_and_the_same_settings() -> None:
    given = Config(sizes=[np.int64(8), 9], top_k=np.int32(2), tolerance=np.float32(0.5))  # type: ignore[arg-type]
    assert given == Config(sizes=(8, 9), top_k=2, tolerance=0.5)
    assert type(given.top_k) is int
    assert type(given.tolerance) is float
    assert Config(sizes=range(8, 10)) == Config(sizes=(8, 9))  # type: ignore[arg-type]


# -- explainers ---------------------------------------------------------------------------------------


def explainer(**options: Any) -> DiGNNExplainer:
    named = {"model": TinyGCN(1, 2, pool=True), "data": rings_and_stars()} | options
    return DiGNNExplainer(**named)


def _needs(argument: object) -> None:
    """A function that cannot be called without an argument."""


EXPLAINER: dict[str, list[Any]] = {
    "model": ["gnn", 3, None],
    "data": [3, None, "a.pt", [], [3], {"a": 1}],
    "target": [["p"], 3, True],
    "task": ["classification", 3],
    "schema": [{}, "schema.json", 3],
    "truth": ["motif", 3, {}],
    "fresh": [3, "a.pt", [], [3], _needs, {"a": 1}],
    "config": [{"top_k": 3}, 3, None, "fasst", TrainingConfig()],
    "seed": ["abc", -1, 1.5, True, None],
    "forward": ["model", 3],
    "return_type": ["logits", 3, ["raw"]],
    "model_config": ["node", 3, {"mode": "guessing"}],
    "on_difference": ["ignore", 3, None, ["warn"]],
    "device": ["gpu", 3, None, "cuda:99"],
    "folder": PLACE,
    "about": ["a run", 3, {"a": object()}, {"a": float("nan")}],
    "progress": ["bar", 3, True],
}


def test_no_argument_of_explainers_is_forgotten() -> None:
    assert list(inspect.signature(dignn.Explainer.__init__).parameters)[1:] == list(EXPLAINER)


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in EXPLAINER.items() for value in values],
    ids=lambda value: named(value)[:30],
)
def test_explainers(name: str, value: object) -> None:
    called = {"model": "The model", "data": "The (data|list of graphs)", "config": "config|preset"}
    refused(lambda given: explainer(**{name: given}), value, called.get(name, rf"\b{name}\b"))


@pytest.fixture(scope="module")
def fitted() -> DiGNNExplainer:
    """Nothing is asked of what it chooses from."""
    made = explainer(config=PRESETS["smoke"])
    made._candidates = hand_made.graph()
    return made


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("top_k", value) for value in ["3", 2.5, True, 0, -1]),
        *(("marks", value) for value in ["gnnexplainer", 3, True, [3], ["gnn"]]),
        *((name, value) for name in ("measure", "measure_again") for value in SWITCH),
    ],
)
def test_explain(fitted: DiGNNExplainer, name: str, value: object) -> None:
    refused(lambda given: fitted.explain(**{name: given}), value, rf"\b{name}\b|marker")


# -- explanations -------------------------------------------------------------------------------------

SHOWN = hand_made.explanations()
ONE = SHOWN["two"][0]
EXPLANATIONS: dict[str, tuple[Call, list[Any], str]] = {
    "top_features(node)": (ONE.top_features, [99, -1, "0", 1.5, True, None], "node"),
    "top_features(most)": (lambda value: ONE.top_features(0, value), ["3", 2.5, 0, True, None], "most"),
    "to_pyg(masks)": (ONE.to_pyg, ["node", 3, None, ["nodes"]], "masks"),
    "plot(ax)": (ONE.plot, ["ax", 3], "ax"),
    "export(path)": (ONE.export, [*PLACE, None], "path"),
    "export(suffix)": (ONE.export, ["a.bmp", "a"], "suffix"),
    "Explanations(by_class)": (Explanations, [3, None, [ONE], {"two": 3}, {"two": [3]}, {2: [ONE]}], "by_class|class"),
    "Explanations(about)": (lambda value: Explanations({}, value), [3, "a", None], "about"),
    "Explanations(reference)": (lambda value: Explanations({}, {}, value), [3, "a"], "reference"),
    "[name]": (SHOWN.__getitem__, ["nope", "tow", 0, 2.5, None, ["two"]], "class"),
    "plot(rank)": (SHOWN.plot, ["0", 1.5, -1, 99, True, None], "rank"),
    "export(folder)": (lambda value: SHOWN.export(value, "json"), [*PLACE, None], "folder"),
    "export(format)": (lambda value: SHOWN.export("x", value), ["bmp", 3, None, ["json"], ""], "format"),
    "report(path)": (SHOWN.report, [*PLACE, None], "path"),
    "save(folder)": (SHOWN.save, [*PLACE, None], "folder"),
    "load(folder)": (Explanations.load, [*PLACE, None, "nowhere"], "folder|nowhere"),
}


def _cases(table: dict[str, tuple[Call, list[Any], str]]) -> list[Any]:
    return [
        pytest.param(call, value, names, id=f"{what} {value!r:.30}")
        for what, (call, values, names) in table.items()
        for value in values
    ]


@pytest.mark.parametrize(("call", "value", "names"), _cases(EXPLANATIONS))
def test_explanations(call: Call, value: object, names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused(call, value, names)
    assert not list(tmp_path.iterdir())


# -- schemas and graphs -------------------------------------------------------------------------------


def hetero() -> HeteroData:
    data = HeteroData()
    data["a"].x, data["b"].x = torch.rand(4, 3), torch.rand(4, 2)
    data["a"].y = torch.tensor([0, 1, 0, 1])
    data["a", "to", "b"].edge_index = torch.arange(4).repeat(2, 1)
    return data


def inferred(**options: Any) -> Schema:
    return dignn.infer_schema(**({"data": hetero(), "target": "a"} | options))


def atoms(**options: Any) -> Schema:
    data = Data(x=torch.eye(2), edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=torch.ones(2, 1))
    data.y = torch.tensor([0])
    return dignn.infer_schema([data], **({"type_names": ["C", "O"], "edge_names": ["single"]} | options))


def schema(**options: Any) -> Schema:
    known = hand_made.schema()
    return Schema(**({item.name: getattr(known, item.name) for item in fields(Schema)} | options))


def batch(**options: Any) -> GraphBatch:
    known = hand_made.graph()
    return GraphBatch(**({item.name: getattr(known, item.name) for item in fields(GraphBatch)} | options))


def takes(function: Callable[..., object], name: str) -> Call:
    return lambda value: function(**{name: value})


NAMES = [3, "ab", [1, 2], {"a": 1}]
KNOWN = hand_made.graph()
GRAPHS: dict[str, tuple[Call, list[Any], str]] = {
    "infer_schema(data)": (takes(inferred, "data"), EXPLAINER["data"], "data|list"),
    "infer_schema(target)": (takes(inferred, "target"), [["a"], 3, "nope", None], "[tT]arget"),
    "infer_schema(task)": (takes(inferred, "task"), ["classification", 3], "task"),
    "infer_schema(kinds)": (
        takes(inferred, "kinds"),
        [3, "binary", ["binary"], {"nope": "binary"}, {"a": "nope"}, {"a": 3}, {"a": "binary"}, {3: "binary"}],
        "kind|binary",
    ),
    "infer_schema(names)": (
        takes(inferred, "names"),
        [3, "a", ["x"], {"nope": ["x"]}, {"a": "abc"}, {"a": 3}, {"a": [1, 2, 3]}, {"a": ["x"]}, {3: ["x"]}],
        "names",
    ),
    "infer_schema(classes)": (takes(inferred, "classes"), [*NAMES, [], ["x"], ["x", "x"]], "[cC]lass"),
    "infer_schema(type_names)": (takes(atoms, "type_names"), [*NAMES, ["C"]], "type_names|names"),
    "infer_schema(edge_names)": (takes(atoms, "edge_names"), [*NAMES, ["a", "b"]], "edge_names|names"),
    "from_hetero(target)": (lambda value: Schema.from_hetero(hetero(), value), [["a"], 3, "nope"], "[tT]arget"),
    "from_graphs(graphs)": (Schema.from_graphs, [3, [], [3]], "data|list"),
    "Schema(node_types)": (takes(schema, "node_types"), [*NAMES, None, ()], "[nN]ode.types"),
    "Schema(relations)": (takes(schema, "relations"), [3, None, [3], ["writes"]], "relations"),
    "Schema(features)": (takes(schema, "features"), [3, None, [3], ["binary"], ()], "feature"),
    "Schema(classes)": (takes(schema, "classes"), [*NAMES, None, ()], "[cC]lass"),
    "Schema(target)": (takes(schema, "target"), [3, ["author"], "nope"], "[tT]arget"),
    "Schema(layout)": (takes(schema, "layout"), [3, None, "nope"], "layout"),
    "Schema(type_in_x)": (takes(schema, "type_in_x"), SWITCH, "type_in_x"),
    "Schema(edge_attr_names)": (takes(schema, "edge_attr_names"), NAMES, "edge_attr_names"),
    "Schema(edge_type_names)": (takes(schema, "edge_type_names"), NAMES, "edge_type_names"),
    "Schema(edge_form)": (takes(schema, "edge_form"), [3, None, "x", {"adj_t": "sparse_csr"}], "edge_form"),
    "Schema(edge_order)": (takes(schema, "edge_order"), [3, "ab", ["writes"], [("a", "b")], [(1, 2, 3)]], "edge_order"),
    "Schema(task)": (takes(schema, "task"), [3, "classification"], "task"),
    "type_index": (hand_made.schema().type_index, ["nope", 3, None, ["author"]], "node type"),
    "spec": (hand_made.schema().spec, ["nope", 99, -1, None, 1.5, True], "node.type"),
    "ends": (hand_made.schema().ends, [0, 99, -1, "writes", None, 1.5], "relation"),
    "Schema.from_json": (Schema.from_json, [3, None, "{}", "[]", "nope"], "JSON form"),
    "FeatureSpec(kind)": (FeatureSpec, ["nope", 3, None, ["binary"]], "kind"),
    "FeatureSpec(width)": (lambda value: FeatureSpec("binary", value), WHOLE, "width"),
    "FeatureSpec(levels)": (lambda value: FeatureSpec("count", 1, levels=value), [3, "3", ("a",), (0,), ()], "levels"),
    "FeatureSpec(names)": (lambda value: FeatureSpec("binary", 2, names=value), [3, "ab", (1, 2), ("a",)], "names"),
    "FeatureSpec(constant)": (
        lambda value: FeatureSpec("none", 1, constant=value),
        [3, "1", ("a",), (float("nan"),), ()],
        "constant",
    ),
    "Relation(source)": (lambda value: Relation(value, "to", "b"), NAME, "source"),
    "Relation(name)": (lambda value: Relation("a", value, "b"), NAME, "name"),
    "Relation(target)": (lambda value: Relation("a", "to", value), NAME, "target"),
    "Relation(reverse)": (lambda value: Relation("a", "to", "b", value), [3, ["to"]], "reverse"),
    "Relation(directed)": (lambda value: Relation("a", "to", "a", directed=value), SWITCH, "directed"),
    "GraphBatch(schema)": (takes(batch, "schema"), [3, None, "schema.json"], "schema"),
    **{
        f"GraphBatch({name})": (takes(batch, name), [3, None, [[0]], np.zeros((1, 4)), torch.zeros(7)], name)
        for name in ("node_type", "edge", "label", "graph_label", "row")
    },
    "GraphBatch(tables)": (
        takes(batch, "tables"),
        [3, None, {"nope": torch.zeros(1, 3)}, {"author": 3}, {"author": torch.zeros(1, 9)}, {3: torch.zeros(1, 3)}],
        "table|node type",
    ),
    "GraphBatch.features": (KNOWN.features, ["nope", 3, None], "node.type"),
    "GraphBatch[...]": (
        KNOWN.__getitem__,
        ["a", 1, -2, 1.5, None, [0, 7], torch.tensor([True, False]), [0.5], {"a": 1}],
        "batch",
    ),
    "permute": (KNOWN.permute, [3, None, [[0, 1]], torch.zeros(1, 2), torch.full((1, 4), 9)], "order"),
    "cat": (GraphBatch.cat, [3, None, [], [3], KNOWN], "batch"),
    "save": (KNOWN.save, [*PLACE, None], "path"),
    "load": (GraphBatch.load, [*PLACE, None, "nowhere"], "path|nowhere"),
    "unpacked(schema)": (lambda value: GraphBatch.unpacked(value, KNOWN.packed()), [3, None], "schema"),
    "unpacked(tensors)": (
        lambda value: GraphBatch.unpacked(KNOWN.schema, value),
        [3, None, {**KNOWN.packed(), "edge": 3}],
        "tensors|edge",
    ),
    "PRESETS[...]": (PRESETS.__getitem__, ["fasst", 3, None, ["fast"]], "preset"),
}


@pytest.mark.parametrize(("call", "value", "names"), _cases(GRAPHS))
def test_schemas_and_graphs(
    call: Call, value: object, names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(call, value, names)


# -- what means the same is taken ---------------------------------------------------------------------


def test_names_lists_and_numbers_of_numpy_mean_the_same() -> None:
    assert FeatureSpec("binary", np.int64(2), names=["a", "b"]) == FeatureSpec(  # type: ignore[arg-type]
        dignn.FeatureKind.BINARY, 2, names=("a", "b")
    )
    known = hand_made.schema()
    lists = schema(node_types=list(known.node_types), relations=list(known.relations), classes=np.array(known.classes))
    assert lists == known
    assert lists.spec(np.int64(0)) == known.spec(0)  # type: ignore[arg-type]
    assert explainer(seed=np.int64(7)).seed == explainer(seed=7).seed
    assert ONE.top_features(np.int64(2)) == ONE.top_features(2)


def test_a_mapping_is_one() -> None:
    assert "nope" not in SHOWN
    assert 0 not in SHOWN
    assert "two" in SHOWN
    assert SHOWN.get("nope") is None
    assert PRESETS.get("fasst") is None
    with pytest.raises(KeyError) as raised:
        SHOWN["tow"]
    assert isinstance(raised.value, DignnError)
    assert str(raised.value) == "There is no class called 'tow' (did you mean 'two'?); choose from one, two"


def test_a_loop_over_graphs_ends() -> None:
    assert [len(one) for one in GraphBatch.cat([KNOWN, KNOWN])] == [1, 1]


def test_settings_that_files_hold_are_not_changed() -> None:
    assert isinstance(ONE, Explanation)
    known = hand_made.schema()
    assert Schema.from_json(known.to_json()) == known
