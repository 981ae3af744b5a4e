"""Rebuilds what a run folder is of from its ``config.json``: settings, data and model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from dignn.cli.options import Known, Own, settings_of
from dignn.cli.subject import Subject, of_dataset, of_file
from dignn.core.errors import DignnError, RunFolderError
from dignn.core.files import read_json
from dignn.core.json_types import restored
from dignn.core.run_folder import CONFIG
from dignn.explainers.registry import EXPLAINERS, presets_of
from dignn.zoo.models.settings import Form

if TYPE_CHECKING:
    from dignn.core.progress import Progress
    from dignn.explainers.settings import RunSettings

# Options that say where something is.
PATHS = ("data", "model", "names")


def noted(folder: Path) -> tuple[dict[str, Any], RunSettings]:
    """``config.json`` of a run folder, and the settings in it.

    Raises:
        RunFolderError: ``folder`` is not a run of `dignn explain`, is damaged, or is of another version.
    """
    if not (folder / CONFIG).is_file():
        what = "is not a run folder" if folder.is_dir() else "is a file" if folder.exists() else "does not exist"
        raise RunFolderError(f"{folder} {what}; give a folder that `dignn explain` made")
    content = read_json(folder / CONFIG, "explainer", "seed", "config")
    if content["explainer"] not in list(EXPLAINERS):
        raise RunFolderError(f"{folder} is a run of '{content['explainer']}', which `dignn evaluate` cannot rebuild")
    if not {"preset", "dataset"} <= content.keys() or not ({"form", "own"} & content.keys()):
        raise RunFolderError(
            f"{folder} was made from Python, and its {CONFIG} does not say where data and model are; call "
            "explain again there"
        )
    _check_values(folder / CONFIG, content)
    try:
        return content, restored(type(settings_of(content["explainer"], content["preset"])), content["config"])
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
        "preset": isinstance(content["preset"], str) and content["preset"] in presets_of(content["explainer"]),
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
    """Whether it is what ``Known.about`` notes."""
    if not isinstance(noted, dict):
        return noted is None
    return noted.keys() == {"chosen", "by", "words_only"} and isinstance(noted["chosen"], dict)


def subject_of(
    folder: Path,
    content: dict[str, Any],
    progress: Progress,
    *,
    data: Path | None,
    model: str | None,
    trust: bool,
    download: bool,
) -> Subject:
    """The data and model of a run.

    Args:
        folder: its folder.
        content: what that notes.
        progress: shows training, where the model is not in the cache.
        data: where a user's data file is now, if not where it was.
        model: the function that makes a user's model.
        trust: as for ``dignn explain``, and whether the function that the folder names may be called where ``model`` is
            None; what was trusted then is not remembered.
        download: whether a data set may be fetched.

    Raises:
        DignnError: it is not said which code may be run, or something is not where it was.
    """
    if "own" not in content:
        if data is not None or model is not None or trust:
            raise DignnError(f"{folder} is of the data set {content['dataset']}; leave out --data, --model, --trust")
        known = replace(known_from(content), download=download)
        return of_dataset(content["dataset"], content["seed"], known, progress)
    path, own = _noted_files(folder, content["own"])
    if model is None and own.model is not None and not trust:
        raise DignnError(
            f"To rebuild the model of {folder}, the code {own.model} that its config.json names would be run; if "
            f"you want that, add --model {own.model}"
        )
    path, own = data or path, replace(own, model=model or own.model, trust=trust)
    if not path.is_file():
        raise DignnError(f"The data file {path} of {folder} is not here; say where it is by --data FILE")
    return as_noted(of_file(path, own, progress), folder)


def as_noted(subject: Subject, folder: Path) -> Subject:
    """A subject under the paths that a run folder notes, where it differs from what is noted in paths only.

    A run goes on from another working folder, or after its files were moved: that data, model and names are the same
    is seen from fingerprints, not from where they are. A model must be made by the same function of a file of the same
    name.
    """
    noted = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    one, other = noted.get("own"), subject.about.get("own")
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return subject
    # Earlier versions noted what a model returns also where nobody had said it.
    unsaid = {"return_type"} if one.get("return_type") == "raw" else set()
    if one.keys() - unsaid != other.keys() - unsaid:
        return subject
    if any(one[name] != other[name] for name in other if name not in (*PATHS, *unsaid)):
        return subject
    same = _function(one.get("model")) == _function(other.get("model"))
    own = one if same else {**one, "model": other["model"]}
    return replace(subject, about={**subject.about, "dataset": noted.get("dataset"), "own": own})


def _function(model: Any) -> tuple[str, str]:
    """The file, wherever it is, and the function of ``FILE.py:FUNCTION``."""
    place, _, name = str(model).rpartition(":")
    return Path(place).name, name


def known_from(content: dict[str, Any]) -> Known:
    """The options of a data set that ``Known.about`` noted."""
    columns = content.get("columns")
    if columns is None:
        return Known(content["form"])
    chosen = tuple(f"{name}={number}" for name, number in columns["chosen"].items())
    return Known(content["form"], chosen, columns["by"], columns["words_only"])


def _noted_files(folder: Path, noted: dict[str, Any]) -> tuple[Path, Own]:
    """The data file and the options that a run of a user's files was given."""
    try:
        given: dict[str, Any] = {name: tuple(it) if isinstance(it, list) else it for name, it in noted.items()}
        if "names" in given:
            given["names"] = Path(given["names"])
        return Path(given.pop("data")), Own(**given)
    except (TypeError, KeyError, AttributeError) as error:
        raise RunFolderError(f"{folder}/config.json is damaged ({error}); run `dignn explain` again") from error
