"""The command and the call that make a run again, read back by the real command line and by Python."""

from __future__ import annotations

import functools
import inspect
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dignn import DiGNNExplainer, Explainer, Explanations, GraphBatch
from dignn.cli import explain
from dignn.cli.application import read
from dignn.cli.options import Own
from dignn.core.presets import from_preset
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.explainers.settings import RunSettings
from dignn.graphs.tasks.classification import NodeClassification
from dignn.report.made_again import changes, command, python_call
from dignn.zoo.datasets.registry import load
from tiny_models import TinyHetero


def as_json(config: RunSettings) -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads(json.dumps(asdict(config)))
    return found


def about_dataset(config: Config, preset: str = "fast", **more: Any) -> dict[str, Any]:
    base = {"dataset": "dblp", "form": "strong", "explainer": "dignnexplainer", "seed": 3}
    return {**base, "preset": preset, **noted(config, preset=preset), **more}


def noted(config: Any, presets: Any = PRESETS, preset: str | None = None) -> dict[str, Any]:
    """What a run notes of its settings."""
    return {"config": as_json(config), "from_preset": from_preset(as_json(config), presets, preset)}


def read_back(line: str | None) -> dict[str, Any]:
    """What the command ``explain`` would be called with."""
    assert line is not None
    words = shlex.split(line)
    assert words[:2] == ["dignn", "explain"]
    kept: dict[str, Any] = {}

    @functools.wraps(explain.explain)
    def keep(*positional: Any, **named: Any) -> None:
        kept.update(named, positional=positional)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explain, "explain", keep)
        read(words[1:])()
    return {"own": Own(), "seed": 0, **kept}


FAST = PRESETS["fast"]
CHANGED = {
    "nothing": FAST,
    "numbers": replace(FAST, candidates=96, tolerance=0.1, guidance=1.5),
    "a tuple instead of None": replace(FAST, sizes=(5, 7, 9)),
    "choices": replace(FAST, structure="edge-diffusion", selection="highest", continuous="tabddpm"),
    "a flag on": replace(FAST, one_model_per_class=True),
    "nested": replace(FAST, node_growth=replace(FAST.node_growth, width=32, temperature=0.9)),
    "twice nested, a flag off": replace(
        FAST,
        edge_diffusion=replace(
            FAST.edge_diffusion,
            constraints=False,
            training=replace(FAST.edge_diffusion.training, cosine=False, epochs=7, learning_rate=1e-5),
        ),
    ),
}


@pytest.mark.parametrize("config", CHANGED.values(), ids=CHANGED.keys())
def test_the_command_gives_the_same_settings(config: Config) -> None:
    found = read_back(command(about_dataset(config)))
    assert found["config"] == config
    assert found["seed"] == 3


@pytest.mark.parametrize("config", CHANGED.values(), ids=CHANGED.keys())
def test_the_call_gives_the_same_settings(config: Config) -> None:
    about = about_dataset(config)
    del about["dataset"], about["form"]
    assert command(about) is None
    call = python_call(about, target="author")
    assert call is not None
    given = called_with(call)
    assert given.pop("config", FAST) == config
    assert given == {"positional": ("M", "D"), "target": "author", "seed": 3, "explained": {}}


def called_with(call: str) -> dict[str, Any]:
    """What the explainer, which must take it, is given by some code."""
    given: dict[str, Any] = {}

    class Recorder:
        presets = PRESETS

        def __init__(self, *positional: Any, **named: Any) -> None:
            inspect.signature(DiGNNExplainer).bind(*positional, **named)
            given.update(named, positional=positional)

        def fit(self) -> Recorder:
            return self

        def explain(self, **named: Any) -> None:
            inspect.signature(DiGNNExplainer.explain).bind(self, **named)
            given["explained"] = named

    code = call.replace("from dignn import DiGNNExplainer", "")
    exec(
        code, {"DiGNNExplainer": Recorder, **{name: name[0].upper() for name in ("model", "data", "schema", "forward")}}
    )
    return given


def test_the_command_asks_for_the_marks_that_a_run_has() -> None:
    about = about_dataset(FAST)
    assert "marks" not in read_back(command(about))
    assert read_back(command({**about, "call": {"marks": ["gnnexplainer", "captum"]}}))["marks"] == (
        "gnnexplainer",
        "captum",
    )


@pytest.mark.parametrize(
    ("call", "given", "explained"),
    [
        ({"target": None}, {}, {}),
        ({"target": "it's"}, {"target": "it's"}, {}),
        ({"return_type": "raw", "top_k": FAST.top_k}, {}, {}),
        ({"return_type": "log_probs"}, {"return_type": "log_probs"}, {}),
        ({"top_k": FAST.top_k + 4}, {}, {"top_k": FAST.top_k + 4}),
        ({"top_k": None}, {}, {}),
        ({"top_k": FAST.top_k, "marks": ["gnnexplainer"]}, {}, {"marks": ["gnnexplainer"]}),
        ({"top_k": FAST.top_k + 1, "marks": ["captum"]}, {}, {"top_k": FAST.top_k + 1, "marks": ["captum"]}),
        ({"marks": "captum"}, {}, {}),  # damaged
        ({"schema": True, "forward": False}, {"schema": "S"}, {}),
        ({"schema": True, "forward": True}, {"schema": "S", "forward": "F"}, {}),
        ({"schema": "yes", "target": 3, "return_type": [], "top_k": "3"}, {}, {}),  # damaged
    ],
)
def test_the_call_gives_what_the_run_was_called_with(
    call: dict[str, Any], given: dict[str, Any], explained: dict[str, Any]
) -> None:
    about = {"explainer": "dignnexplainer", **noted(FAST), "seed": 3, "call": call}
    code = python_call(about, target="of the schema")
    assert code is not None
    assert called_with(code) == {"positional": ("M", "D"), "seed": 3, **given, "explained": explained}
    for name in ("schema", "forward"):  # what cannot be written out is named
        assert any(line.startswith("#") and name in line for line in code.splitlines()) == (name in given)


def test_the_call_names_the_task() -> None:
    task = {"name": "node classification", "target": "author"}
    about = {"explainer": "dignnexplainer", **noted(FAST), "call": {"target": None, "task": task}}
    code = python_call(about, target="of the schema")
    assert code is not None
    assert called_with(code)["task"] == NodeClassification("author")


def test_a_run_tells_what_differs_where_nobody_knows_its_explainer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = RunSettings(sizes=(8,), subgraphs_per_size=10, candidates=24, top_k=1)
    planted = load("planted")
    about = {"dataset": "planted", "form": "strong", "preset": "smoke"}
    made = Repeated(TinyHetero(planted.schema), planted.data, "author", config=settings, about=about, folder=tmp_path)
    made.fit().explain(measure=False)
    for name in [name for name in sys.modules if name.startswith("dignn.explainers")]:
        monkeypatch.setitem(sys.modules, name, None)  # type: ignore[arg-type]  # it can no longer be imported
    Explanations.load(tmp_path).report(tmp_path / "again.html")
    line = "dignn explain planted --explainer repeated --preset smoke --sizes 8 --subgraphs-per-size 10 --candidates 24"
    assert f"{line} --top-k 1 --seed 0" in (tmp_path / "again.html").read_text()


class Repeated(Explainer):
    """Real graphs as they are."""

    name = "repeated"

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        return self.real.train[torch.arange(len(sizes)) % len(self.real.train)]


def test_a_name_cannot_leave_the_call() -> None:
    hostile = "x'); import os\n#"
    about = {
        "explainer": "dignnexplainer",
        **noted(FAST),
        "call": {"target": hostile, "return_type": hostile},
    }
    code = python_call(about)
    assert code is not None
    assert called_with(code)["target"] == hostile


def test_values_of_other_presets_return_to_the_default() -> None:
    paper = PRESETS["paper"]
    training = replace(paper.edge_diffusion.training, epochs=None, cosine=True)
    config = replace(
        paper,
        one_model_per_class=False,
        edge_diffusion=replace(paper.edge_diffusion, training=training, constraints=True),
    )
    found = read_back(command(about_dataset(config, preset="paper")))
    assert found["config"] == config
    assert found["preset"] == "paper"


def test_only_what_differs_is_written() -> None:
    assert command(about_dataset(FAST, seed=0)) == "dignn explain dblp --seed 0"
    assert changes(about_dataset(replace(FAST, top_k=5))) == {"top_k": 5}


def test_form_and_columns() -> None:
    columns = {"chosen": {"author": 50, "director": "movie"}, "by": "frequency", "words_only": True}
    known = read_back(command(about_dataset(FAST, form="paper", columns=columns)))["known"]
    assert known.form == "paper"
    assert known.columns == ("author=50", "director=movie")
    assert (known.columns_by, known.words_only) == ("frequency", True)


def test_data_of_ones_own_with_names_that_a_shell_would_break() -> None:
    own = Own(model="my gnn.py:load", target="author", classes=("it's $HOME", "b; rm x"), return_type="probs")
    about = {**about_dataset(FAST), "dataset": "data.pt", "own": {"data": "my data.pt", **own.about()}}
    del about["form"]
    found = read_back(command(about))
    assert found["own"] == own
    assert found["positional"] == ("my data.pt",)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"config": None},
        {"from_preset": None},
        {"from_preset": {"name": ["fast"], "changed": []}},
        {"from_preset": {"name": "fast", "changed": ["unknown"]}},
        {"from_preset": {"name": "fast", "changed": [["top_k"]]}},
        {"from_preset": {"name": "fast", "changed": "top_k"}},
        {"config": {**as_json(FAST), "x); import os #": 1}},
        {"dataset": 3},
    ],
)
def test_what_is_not_known_gives_nothing(broken: dict[str, Any]) -> None:
    assert command({**about_dataset(FAST), **broken} if broken else {}) is None


@pytest.mark.parametrize("preset", PRESETS)
def test_a_run_that_names_no_preset_is_written_from_the_nearest(preset: str) -> None:
    config = replace(PRESETS[preset], candidates=97)
    about = {"explainer": "dignnexplainer", **noted(PRESETS[preset]), "seed": 1}
    whole = python_call(about)
    assert whole is not None
    assert "replace" not in whole
    code = python_call({**about, **noted(config)})
    assert code is not None
    assert "replace(preset, candidates=97)" in code
    assert called_with(code)["config"] == config


def test_lines_of_the_call_are_short() -> None:
    about = {"explainer": "dignnexplainer", **noted(PRESETS["smoke"], preset="paper"), "seed": 1}
    code = python_call({**about, "call": {"target": "customer " * 5, "return_type": "log_probs"}})
    assert code is not None
    assert max(map(len, code.splitlines())) <= 100
    assert called_with(code)["config"] == PRESETS["smoke"]


def test_a_run_from_python_with_a_preset() -> None:
    about = {"explainer": "dignnexplainer", **noted(PRESETS["smoke"]), "seed": 1}
    call = python_call(about)
    assert call is not None
    assert "config='smoke', seed=1" in call
    assert python_call({}) is None


def test_that_differences_were_accepted_is_written_out() -> None:
    about = {"explainer": "dignnexplainer", **noted(PRESETS["smoke"]), "seed": 1}
    call = python_call({**about, "on_difference": "warn"})
    assert call is not None
    assert called_with(call)["on_difference"] == "warn"
    assert "on_difference" not in str(python_call(about))


def test_another_explainer_is_named() -> None:
    about = {"explainer": "mine", "dataset": "planted", "form": "strong", "preset": "fast", "seed": 1}
    about |= noted(RunSettings(top_k=2), {"fast": RunSettings()})
    assert command(about) == "dignn explain planted --explainer mine --top-k 2 --seed 1"
    call = python_call(about)
    assert call is not None
    assert "from dignn.explainers.registry import EXPLAINERS" in call
    assert "explainer = EXPLAINERS['mine'](model, data, config=config, seed=1)" in call
