"""What makes a run again: the command, or the call from Python, with the settings that differ from the preset."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any

from dignn.core.presets import DEFAULT_PRESET, leaves
from dignn.report.lookup import entry, part

_LONGEST = 80  # letters of a line of Python
_EXPLAINER, _FORM, _RETURNS = "dignnexplainer", "strong", "raw"  # what the command takes where nothing is said


def changes(about: Mapping[str, Any]) -> dict[str, Any] | None:
    """Settings of a run that differ from its preset: names, with dots between those of groups, and values.

    None where the run does not tell them.
    """
    settings, changed = dict(leaves(part(about, "config"))), entry(about, list, "from_preset", "changed")
    # A name that is none could be anything in a command or a call.
    sound = bool(settings) and all(word.isidentifier() for name in settings for word in name.split("."))
    if not sound or changed is None or preset_of(about) is None or not settings.keys() >= set(map(str, changed)):
        return None
    return {str(name): settings[str(name)] for name in changed}


def preset_of(about: Mapping[str, Any]) -> str | None:
    """The preset that a run started from; None where it does not tell."""
    return entry(about, str, "from_preset", "name")


def command(about: Mapping[str, Any]) -> str | None:
    """The line for a shell that makes a run of the command line again; None for a run from Python.

    Raises nothing: what does not fit gives None.
    """
    settings, dataset, file = changes(about), entry(about, str, "dataset"), entry(about, str, "own", "data")
    if settings is None or dataset is None or (file is None and "form" not in about):
        return None
    words = ["dignn", "explain", file or dataset]
    words += [] if about.get("explainer") == _EXPLAINER else ["--explainer", str(about.get("explainer"))]
    if file is not None:
        words += _options_of_files(about["own"])
    else:
        words += [] if about["form"] == _FORM else ["--form", str(about["form"])]
        words += _columns(part(about, "columns"))
    preset = str(preset_of(about))
    words += [] if preset == DEFAULT_PRESET else ["--preset", preset]
    marks = entry(about, list, "call", "marks") or []
    words += ["--marks", *map(str, marks)] if marks else []
    words += [word for name, value in settings.items() for word in _option(name, value)]
    return shlex.join([*words, "--seed", str(about.get("seed", 0))])


def python_call(about: Mapping[str, Any], target: str | None = None) -> str | None:
    """The call that makes a run from Python again, for a model and data that are there; None where it is not known.

    What is no value, a schema or a function, cannot be written out: a comment says that it must be given again.

    Args:
        about: what the run tells of itself.
        target: the classified node type, of a run with several types that does not tell how it was called.
    """
    settings = changes(about)
    if settings is None:
        return None
    called = entry(about, dict, "call")
    called = {"target": target} if called is None else called
    again = [name for name in ("schema", "forward") if called.get(name) is True]
    classified, returns, top_k = entry(called, str, "target"), entry(called, str, "return_type"), _top_k(about, called)
    task = entry(called, dict, "task")
    given = ["model", "data"]
    given += [] if classified is None else [f"target={classified!r}"]
    given += [] if task is None else [f"task=Task.from_json({task!r})"]
    given += [f"{name}={name}" for name in again]
    given += [] if returns in (None, _RETURNS) else [f"return_type={returns!r}"]
    given += ["on_difference='warn'"] if about.get("on_difference") == "warn" else []
    preset = preset_of(about)
    lines, method = ["from dignn import DiGNNExplainer"], "DiGNNExplainer"
    if about.get("explainer") != _EXPLAINER:
        lines, method = ["from dignn.explainers.registry import EXPLAINERS"], f"EXPLAINERS[{about.get('explainer')!r}]"
    lines += [] if task is None else ["from dignn.graphs.tasks.base import Task"]
    if settings:
        lines = ["from dataclasses import replace", "", *lines, ""]
        lines += [f"preset = {method}.presets[{preset!r}]", _broken("config = replace", _replaced("preset", settings))]
        given.append("config=config")
    elif preset != DEFAULT_PRESET:
        given.append(f"config={preset!r}")
    if again:
        lines.append(f"# {' and '.join(again)}: what the run was given, which is not kept with it")
    given.append(f"seed={about.get('seed', 0)!r}")
    marks = entry(called, list, "marks")
    asked = ", ".join(filter(None, [top_k, f"marks={marks!r}" if marks else ""]))
    lines += [_broken(f"explainer = {method}", given), f"explanations = explainer.fit().explain({asked})"]
    return "\n".join(lines)


def _top_k(about: Mapping[str, Any], called: Mapping[str, Any]) -> str:
    """How many explanations of each class were asked for, where the settings say something else."""
    asked = entry(called, int, "top_k")
    return "" if asked in (None, entry(about, int, "config", "top_k")) else f"top_k={asked}"


def _option(setting: str, value: Any) -> list[str]:
    """A setting as the command line takes it."""
    above, dot, name = setting.replace("_", "-").rpartition(".")
    if isinstance(value, bool):
        return [f"--{above}{dot}{name if value else f'no-{name}'}"]
    several = value if isinstance(value, list) else [value]
    return [f"--{above}{dot}{name}", *(str(item) for item in several)]


def _options_of_files(own: Mapping[str, Any]) -> list[str]:
    """What the command takes beside a user's data file."""
    usual = {"data": own["data"], "return_type": _RETURNS}
    return [word for name, value in own.items() if (name, value) not in usual.items() for word in _option(name, value)]


def _columns(columns: Mapping[str, Any]) -> list[str]:
    chosen = part(columns, "chosen")
    if not chosen:
        return []
    words = ["--columns", *(f"{name}={number}" for name, number in chosen.items())]
    words += [] if columns.get("by", "variance") == "variance" else ["--columns-by", str(columns["by"])]
    return [*words, "--words-only"] if columns.get("words_only") else words


def _replaced(name: str, settings: Mapping[str, Any]) -> list[str]:
    """What ``replace`` takes to give ``name`` with other settings, those inside others included."""
    inner: dict[str, dict[str, Any]] = {}
    given = [name]
    for setting, value in settings.items():
        group, dot, inside = setting.partition(".")
        if dot:
            inner.setdefault(group, {})[inside] = value
        else:
            given.append(f"{setting}={tuple(value) if isinstance(value, list) else value!r}")
    given += [_broken(f"{group}=replace", _replaced(f"{name}.{group}", some)) for group, some in inner.items()]
    return given


def _broken(function: str, given: Sequence[str]) -> str:
    """A call on one line or, where that is long, with a line for each argument."""
    line = f"{function}({', '.join(given)})"
    if len(line) <= _LONGEST and "\n" not in line:
        return line
    inside = "".join(f"{part},\n" for part in given)
    return f"{function}(\n{indent(inside, '    ')})"
