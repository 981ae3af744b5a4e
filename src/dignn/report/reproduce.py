"""What makes a run again: the command, or the call from Python, with the settings that differ from the preset."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from textwrap import indent
from typing import Any

from dignn.config import PRESETS

# Where no other preset is named.
DEFAULT = "fast"
_EXPLAINER = "dignnexplainer"
_LONGEST = 80  # letters of a line of Python
_FORM, _RETURNS = "strong", "raw"  # what the command takes where nothing is said


def changes(about: Mapping[str, Any]) -> dict[tuple[str, ...], Any] | None:
    """Settings of a run that differ from its preset: their path to their value, as JSON has it.

    None where the run does not tell its settings, or has others than this version of dignn.
    """
    return _differences(preset_of(about), about.get("config"))


def preset_of(about: Mapping[str, Any]) -> Any:
    """The preset that a run names or, where it names none, the one from which fewest of its settings differ."""
    if "preset" in about:
        return about["preset"]
    found = {
        name: _differences(name, about.get("config")) for name in sorted(PRESETS, key=lambda name: name != DEFAULT)
    }
    known = {name: len(differ) for name, differ in found.items() if differ is not None}
    return min(known, key=lambda name: known[name], default=DEFAULT)


def _differences(preset: Any, config: Any) -> dict[tuple[str, ...], Any] | None:
    if not isinstance(preset, str) or preset not in PRESETS or not isinstance(config, Mapping):
        return None
    usual, found = dict(leaves(asdict(PRESETS[preset]))), dict(leaves(config))
    if usual.keys() != found.keys():
        return None
    return {path: value for path, value in found.items() if _plain(value) != _plain(usual[path])}


def command(about: Mapping[str, Any]) -> str | None:
    """The line for a shell that makes a run of the command line again; None for a run from Python.

    Raises nothing: what does not fit gives None.
    """
    settings, dataset, own = changes(about), about.get("dataset"), about.get("own")
    if settings is None or about.get("explainer") != _EXPLAINER or not isinstance(dataset, str):
        return None
    if isinstance(own, Mapping) and isinstance(own.get("data"), str):
        words = ["dignn", "explain", own["data"], *_own(own)]
    elif "form" in about:
        words = ["dignn", "explain", dataset]
        words += [] if about["form"] == _FORM else ["--form", str(about["form"])]
        words += _columns(about.get("columns"))
    else:
        return None
    preset = preset_of(about)
    words += [] if preset == DEFAULT else ["--preset", preset]
    words += [word for path, value in settings.items() for word in _option(path, value)]
    return shlex.join([*words, "--seed", str(about.get("seed", 0))])


def python_call(about: Mapping[str, Any], target: str | None = None) -> str | None:
    """The call that makes a run from Python again, for a model and data that are there; None where it is not known.

    What is no value, a schema or a function, cannot be written out: a comment says that it must be given again.

    Args:
        about: what the run tells of itself.
        target: the classified node type, of a run with several types that does not tell how it was called.
    """
    settings = changes(about)
    if settings is None or about.get("explainer") != _EXPLAINER:
        return None
    known = about.get("call")
    called: Mapping[str, Any] = known if isinstance(known, Mapping) else {"target": target}
    given = ["model", "data"]
    given += [f"target={called['target']!r}"] if isinstance(called.get("target"), str) else []
    again = [name for name in ("schema", "forward") if called.get(name) is True]
    given += [f"{name}={name}" for name in again]
    returns = called.get("return_type")
    given += [f"return_type={returns!r}"] if isinstance(returns, str) and returns != _RETURNS else []
    preset = str(preset_of(about))
    lines = ["from dignn import DiGNNExplainer"]
    if settings:
        lines = ["from dataclasses import replace", "", *lines, "from dignn.config import PRESETS", ""]
        lines += [f"preset = PRESETS[{preset!r}]", _broken("config = replace", _replaced("preset", settings))]
        given.append("config=config")
    elif preset != DEFAULT:
        given.append(f"config={preset!r}")
    if again:
        lines.append(f"# {' and '.join(again)}: what the run was given, which is not kept with it")
    given.append(f"seed={about.get('seed', 0)!r}")
    return "\n".join(
        [
            *lines,
            _broken("explainer = DiGNNExplainer", given),
            f"explanations = explainer.fit().explain({_top_k(about, called)})",
        ]
    )


def _top_k(about: Mapping[str, Any], called: Mapping[str, Any]) -> str:
    """How many explanations of each class were asked for, where the settings say something else."""
    asked, config = called.get("top_k"), about.get("config")
    usual = config.get("top_k") if isinstance(config, Mapping) else None
    return f"top_k={asked}" if isinstance(asked, int) and asked != usual else ""


def leaves(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every single setting with its path."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*path, str(name)))
        else:
            yield (*path, str(name)), value


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list) else value


def _option(path: tuple[str, ...], value: Any) -> list[str]:
    """A setting as the command line takes it."""
    *above, name = (part.replace("_", "-") for part in path)
    if isinstance(value, bool):
        return ["--" + ".".join([*above, name if value else f"no-{name}"])]
    several = value if isinstance(value, list | tuple) else [value]
    return ["--" + ".".join([*above, name]), *(str(item) for item in several)]


def _own(own: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in own.items():
        if name != "data" and not (name == "return_type" and value == _RETURNS):
            words += _option((name,), value)
    return words


def _columns(columns: Any) -> list[str]:
    if not isinstance(columns, Mapping) or not isinstance(columns.get("chosen"), Mapping):
        return []
    words = ["--columns", *(f"{name}={number}" for name, number in columns["chosen"].items())]
    words += [] if columns.get("by", "variance") == "variance" else ["--columns-by", str(columns["by"])]
    return [*words, "--words-only"] if columns.get("words_only") else words


def _replaced(name: str, settings: Mapping[tuple[str, ...], Any]) -> list[str]:
    """What ``replace`` takes to give ``name`` with other settings, those inside others included."""
    inner: dict[str, dict[tuple[str, ...], Any]] = {}
    given = [name]
    for path, value in settings.items():
        if len(path) == 1:
            given.append(f"{path[0]}={tuple(value) if isinstance(value, list) else value!r}")
        else:
            inner.setdefault(path[0], {})[path[1:]] = value
    given += [_broken(f"{part}=replace", _replaced(f"{name}.{part}", some)) for part, some in inner.items()]
    return given


def _broken(function: str, given: Sequence[str]) -> str:
    """A call on one line or, where that is long, with a line for each argument."""
    line = f"{function}({', '.join(given)})"
    if len(line) <= _LONGEST and "\n" not in line:
        return line
    inside = "".join(f"{part},\n" for part in given)
    return f"{function}(\n{indent(inside, '    ')})"
