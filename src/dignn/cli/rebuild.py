"""Rebuilds what a run folder is of from its ``config.json``: settings, data and model."""

from __future__ import annotations

import types
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from dignn.cli.options import FewerColumns, Form, Own
from dignn.cli.subject import Subject, of_dataset, of_file
from dignn.config import PRESETS, Config
from dignn.errors import DignnError, RunFolderError

if TYPE_CHECKING:
    from dignn.runtime.progress import Progress

Settings = TypeVar("Settings")
# Options that say where something is.
PATHS = ("data", "model", "names")


@dataclass(frozen=True)
class Noted:
    """What a run folder notes of itself.

    Args:
        folder: the run folder.
        content: its ``config.json``.
        config: the settings in it.
    """

    folder: Path
    content: dict[str, Any]
    config: Config

    @property
    def seed(self) -> int:
        return int(self.content["seed"])

    @property
    def preset(self) -> str:
        return str(self.content["preset"])


def noted(folder: Path) -> Noted:
    """Reads ``config.json`` of a run folder.

    Raises:
        RunFolderError: ``folder`` is not a run of `dignn explain`, is damaged, or is of another version.
    """
    from dignn.dignnexplainer import DiGNNExplainer
    from dignn.runtime.files import read_json
    from dignn.runtime.run import CONFIG

    if not (folder / CONFIG).is_file():
        what = "is not a run folder" if folder.is_dir() else "is a file" if folder.exists() else "does not exist"
        raise RunFolderError(f"{folder} {what}; give a folder that `dignn explain` made")
    content = read_json(folder / CONFIG, "explainer", "seed", "config")
    if content["explainer"] != DiGNNExplainer.name:
        raise RunFolderError(f"{folder} is a run of '{content['explainer']}', which `dignn evaluate` cannot rebuild")
    if not {"preset", "dataset"} <= content.keys() or not ({"form", "own"} & content.keys()):
        raise RunFolderError(
            f"{folder} was made from Python, and its {CONFIG} does not say where data and model are; call "
            "explain again there"
        )
    _check_values(folder / CONFIG, content)
    try:
        return Noted(folder, content, restored(Config, content["config"]))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        version = (content.get("versions") or {}).get("dignn", "an unknown version")
        raise RunFolderError(
            f"{folder} has settings that this version of dignn does not have (it was made by {version}: {error}); run "
            "`dignn explain` again in a new folder"
        ) from error


def _check_values(path: Path, content: dict[str, Any]) -> None:
    """Refuses what no run of `dignn explain` writes beside its settings."""
    right = {
        "seed": type(content["seed"]) is int,
        "preset": isinstance(content["preset"], str) and content["preset"] in PRESETS,
        "dataset": isinstance(content["dataset"], str),
        "form": "own" in content or content["form"] in get_args(Form),
        "columns": _are_columns(content.get("columns")),
    }
    for name in right:
        if not right[name]:
            raise RunFolderError(
                f"{path} is damaged ({name} is {content[name]!r}, which `dignn explain` never notes); run it again in "
                "a new folder"
            )


def _are_columns(noted: Any) -> bool:
    """Whether it is what ``FewerColumns.about`` notes."""
    if not isinstance(noted, dict):
        return noted is None
    return noted.keys() == {"chosen", "by", "words_only"} and isinstance(noted["chosen"], dict)


def restored(kind: type[Settings], values: dict[str, Any]) -> Settings:
    """A dataclass of settings, and those in it, from the JSON object that ``asdict`` gives.

    Raises:
        TypeError, ValueError: a setting is missing, unknown, or makes no sense.
    """
    hints = get_type_hints(kind)
    names = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    if names != values.keys():
        raise TypeError(f"settings {', '.join(sorted(names ^ values.keys()))} are on one side only")
    return kind(**{name: _restored(hints[name], value) for name, value in values.items()})


def _restored(hint: Any, value: Any) -> Any:
    if isinstance(value, dict):
        options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        kind: Any = next((option for option in options if is_dataclass(option)), None)
        if kind is None:
            raise TypeError(f"{sorted(value)} is no single setting")
        return restored(kind, value)
    return tuple(value) if isinstance(value, list) else value


def subject_of(
    run: Noted, progress: Progress, *, data: Path | None, model: str | None, trust: bool, download: bool
) -> Subject:
    """The data and model of a run.

    Args:
        run: what it notes.
        progress: shows training, where the model is not in the cache.
        data: where a user's data file is now, if not where it was.
        model: the function that makes a user's model.
        trust: as for ``dignn explain``, and whether the function that the folder names may be called where ``model`` is
            None; what was trusted then is not remembered.
        download: whether a data set may be fetched.

    Raises:
        DignnError: it is not said which code may be run, or something is not where it was.
    """
    content = run.content
    if "own" not in content:
        if data is not None or model is not None or trust:
            raise DignnError(
                f"{run.folder} is of the data set {content['dataset']}; leave out --data, --model, --trust"
            )
        fewer = fewer_columns(content.get("columns"))
        return of_dataset(content["dataset"], run.seed, content["form"], fewer, progress, download=download)
    path, own = _own(run)
    if model is None and own.model is not None and not trust:
        raise DignnError(
            f"To rebuild the model of {run.folder}, the code {own.model} that its config.json names would be run; if "
            f"you want that, add --model {own.model}"
        )
    path, own = data or path, replace(own, model=model or own.model, trust=trust)
    if not path.is_file():
        raise DignnError(f"The data file {path} of {run.folder} is not here; say where it is by --data FILE")
    return as_noted(of_file(path, own), run.folder)


def as_noted(subject: Subject, folder: Path) -> Subject:
    """A subject under the paths that a run folder notes, where it differs from what is noted in paths only.

    A run goes on from another working folder, or after its files were moved: that data, model and names are the same
    is seen from fingerprints, not from where they are.
    """
    from dignn.runtime.files import read_json
    from dignn.runtime.run import CONFIG

    noted = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    one, other = noted.get("own"), subject.about.get("own")
    if not (isinstance(one, dict) and isinstance(other, dict)) or one.keys() != other.keys():
        return subject
    if any(one[name] != other[name] for name in other if name not in PATHS):
        return subject
    return replace(subject, about={**subject.about, "dataset": noted.get("dataset"), "own": one})


def fewer_columns(noted: dict[str, Any] | None) -> FewerColumns:
    """The selection of columns that ``FewerColumns.about`` noted."""
    if noted is None:
        return FewerColumns()
    chosen = tuple(f"{name}={number}" for name, number in noted["chosen"].items())
    return FewerColumns(chosen, noted["by"], noted["words_only"])


def _own(run: Noted) -> tuple[Path, Own]:
    """The data file and the options that a run of a user's files was given."""
    try:
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in run.content["own"].items()
        }
        if "names" in given:
            given["names"] = Path(given["names"])
        return Path(given.pop("data")), Own(**given)
    except (TypeError, KeyError, AttributeError) as error:
        raise RunFolderError(f"{run.folder}/config.json is damaged ({error}); run `dignn explain` again") from error
