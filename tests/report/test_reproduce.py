"""The command and the call that make a run again, read back by the real command line and by Python."""

from __future__ import annotations

import functools
import inspect
import shlex
from dataclasses import asdict, replace
from typing import Any

import pytest
import tyro

from dignn import DiGNNExplainer
from dignn.cli.explain import explain_with
from dignn.cli.options import Own, preset_of
from dignn.config import PRESETS, Config
from dignn.report.reproduce import changes, command, python_call


def as_json(config: Config) -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads(json.dumps(asdict(config)))
    return found


def about_dataset(config: Config, preset: str = "fast", **more: Any) -> dict[str, Any]:
    base = {"dataset": "dblp", "form": "strong", "explainer": "dignnexplainer", "seed": 3}
    return {**base, "preset": preset, "config": as_json(config), **more}


def read_back(line: str | None) -> dict[str, Any]:
    """What the command ``explain`` would be called with."""
    assert line is not None
    words = shlex.split(line)
    assert words[:2] == ["dignn", "explain"]
    preset = preset_of(words)
    kept: dict[str, Any] = {}

    @functools.wraps(explain_with(preset))
    def explain(*positional: Any, **named: Any) -> None:
        kept.update(named, positional=positional)

    tyro.cli(explain, args=words[2:])
    return {"config": PRESETS[preset], "own": Own(), "seed": 0, **kept}


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
    del about["dataset"], about["form"], about["preset"]
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


@pytest.mark.parametrize(
    ("call", "given", "explained"),
    [
        ({"target": None}, {}, {}),
        ({"target": "it's"}, {"target": "it's"}, {}),
        ({"return_type": "raw", "top_k": FAST.top_k}, {}, {}),
        ({"return_type": "log_probs"}, {"return_type": "log_probs"}, {}),
        ({"top_k": FAST.top_k + 4}, {}, {"top_k": FAST.top_k + 4}),
        ({"top_k": None}, {}, {}),
        ({"schema": True, "forward": False}, {"schema": "S"}, {}),
        ({"schema": True, "forward": True}, {"schema": "S", "forward": "F"}, {}),
        ({"schema": "yes", "target": 3, "return_type": [], "top_k": "3"}, {}, {}),  # damaged
    ],
)
def test_the_call_gives_what_the_run_was_called_with(
    call: dict[str, Any], given: dict[str, Any], explained: dict[str, Any]
) -> None:
    about = {"explainer": "dignnexplainer", "config": as_json(FAST), "seed": 3, "call": call}
    code = python_call(about, target="of the schema")
    assert code is not None
    assert called_with(code) == {"positional": ("M", "D"), "seed": 3, **given, "explained": explained}
    for name in ("schema", "forward"):  # what cannot be written out is named
        assert any(line.startswith("#") and name in line for line in code.splitlines()) == (name in given)


def test_a_name_cannot_leave_the_call() -> None:
    hostile = "x'); import os\n#"
    about = {
        "explainer": "dignnexplainer",
        "config": as_json(FAST),
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
    assert changes(about_dataset(replace(FAST, top_k=5))) == {("top_k",): 5}


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
    assert "my data.pt" in (found.get("name"), *found["positional"])


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"config": None},
        {"preset": "none such"},
        {"preset": ["fast"]},
        {"config": {"top_k": 3}},
        {"config": {**as_json(FAST), "unknown": 1}},
        {"explainer": "another"},
        {"dataset": 3},
    ],
)
def test_what_is_not_known_gives_nothing(broken: dict[str, Any]) -> None:
    assert command({**about_dataset(FAST), **broken} if broken else {}) is None


@pytest.mark.parametrize("preset", PRESETS)
def test_a_run_that_names_no_preset_is_written_from_the_nearest(preset: str) -> None:
    config = replace(PRESETS[preset], candidates=97)
    about = {"explainer": "dignnexplainer", "config": as_json(PRESETS[preset]), "seed": 1}
    whole = python_call(about)
    assert whole is not None
    assert "replace" not in whole
    code = python_call({**about, "config": as_json(config)})
    assert code is not None
    assert "replace(preset, candidates=97)" in code
    assert called_with(code)["config"] == config


def test_lines_of_the_call_are_short() -> None:
    about = {"explainer": "dignnexplainer", "config": as_json(PRESETS["smoke"]), "preset": "paper", "seed": 1}
    code = python_call({**about, "call": {"target": "customer " * 5, "return_type": "log_probs"}})
    assert code is not None
    assert max(map(len, code.splitlines())) <= 100
    assert called_with(code)["config"] == PRESETS["smoke"]


def test_a_run_from_python_with_a_preset() -> None:
    about = {"explainer": "dignnexplainer", "preset": "smoke", "config": as_json(PRESETS["smoke"]), "seed": 1}
    call = python_call(about)
    assert call is not None
    assert "config='smoke', seed=1" in call
    assert python_call({}) is None
