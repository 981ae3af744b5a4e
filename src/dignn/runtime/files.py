"""Artifacts on disk: safetensors and JSON, written to a temporary name and renamed, never pickled."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dignn.errors import RunFolderError

METADATA = "dignn"
# The end of the name of a file that is not complete yet; one that stays behind was cut off and may be deleted.
PARTIAL = ".partial"
# The file that says what a folder is of: without it nothing else there can be believed. All others are made again.
_FOLDERS_OWN = "config.json"


def write_atomically(path: Path | str, write: Callable[[Path], None]) -> None:
    """Calls ``write`` with a temporary path beside ``path`` and renames the result into place."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PARTIAL, dir=path.parent)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written ({error.strerror or error}); choose another place") from error
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o666 & ~_umask())  # mkstemp is private; results are ordinary files
        temporary.replace(path)
    except OSError as error:
        raise RunFolderError(
            f"{path} could not be written ({error.strerror or error}); mend that and run again"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def fill_folder(folder: Path, names: Sequence[str], write: Callable[[Path], None]) -> list[Path]:
    """Lets ``write`` make files of these names in a folder of its own and moves them to ``folder``: all, or none.

    Returns:
        The paths of the files.
    """
    paths = [folder / name for name in names]
    for path in paths:
        if path.is_dir():
            raise RunFolderError(f"{path} is a folder, where a file is to be written; choose another place")
    new = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", suffix=PARTIAL, dir=folder) as made:  # renaming needs one disk
            try:
                write(Path(made))
            except RunFolderError as error:
                raise RunFolderError(str(error).replace(made, str(folder))) from error
            for path in paths:
                (Path(made) / path.name).replace(path)
    except OSError as error:
        _remove_empty(new)
        raise RunFolderError(f"{folder} cannot be written ({error.strerror or error}); choose another place") from error
    except BaseException:
        _remove_empty(new)
        raise
    return paths


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path | str, text: str) -> None:
    def write(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8")

    write_atomically(path, write)


def write_json(path: Path | str, value: Any) -> None:
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def read_json(path: Path | str, *keys: str, remedy: str | None = None) -> dict[str, Any]:
    """A JSON object that has ``keys``.

    Args:
        path: the file.
        keys: what it must have.
        remedy: what to do where it is damaged, if not what is said otherwise.

    Raises:
        RunFolderError: if the file cannot be read, is not JSON, or is another object.
    """
    remedy = remedy or f"delete {'its folder' if Path(path).name == _FOLDERS_OWN else 'the file'} and run again"
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except IsADirectoryError as error:
        raise RunFolderError(f"{path} is a folder, where a file should be; move it away and run again") from error
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read ({error.strerror}); give another path") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RunFolderError(f"{path} is damaged ({error}); {remedy}") from error
    if not isinstance(content, dict) or not set(keys) <= content.keys():
        lacking = ", ".join(keys) or "an object"
        raise RunFolderError(f"{path} is damaged (it lacks {lacking}); {remedy}")
    return content


def save_tensors(path: Path | str, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    apart: dict[str, Tensor] = {}
    storages: set[int] = set()
    for name, tensor in tensors.items():  # safetensors takes no two tensors with common memory (tied weights, views)
        storage = tensor.untyped_storage().data_ptr()
        apart[name] = (tensor.clone() if storage in storages else tensor).contiguous()
        storages.add(storage)
    # The header holds several metadata entries in no fixed order, and the same content must give the same bytes.
    one_entry = {METADATA: json.dumps(dict(metadata), sort_keys=True)}
    write_atomically(path, lambda temporary: save_file(apart, temporary, metadata=one_entry))


def load_tensors(path: Path | str, expected_format: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file whose metadata names ``expected_format``.

    Raises:
        RunFolderError: it is missing, cannot be read, is damaged, or holds something else.
    """
    if not Path(path).exists():
        raise RunFolderError(f"{path} is missing; run again to make it anew")
    if Path(path).is_dir():
        raise RunFolderError(f"{path} is a folder, where a file should be; move it away and run again")
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = json.loads((file.metadata() or {}).get(METADATA, "{}"))
            if metadata.get("format") != expected_format:
                raise RunFolderError(
                    f"{path} holds '{metadata.get('format')}', not '{expected_format}'; give another file"
                )
            return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
    except SafetensorError as error:
        raise RunFolderError(f"{path} is damaged ({error}); delete it and run again") from error
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read ({error.strerror or error}); mend that and run again") from error


def load_learned(
    path: Path | str, expected_format: str, restore: Callable[[dict[str, Tensor], dict[str, Any]], None]
) -> None:
    """Gives tensors and the JSON object ``metadata`` of a file to ``restore``, and says what is wrong if it fails.

    Raises:
        RunFolderError: the file is damaged, or does not fit what ``restore`` expects.
    """
    tensors, metadata = load_tensors(path, expected_format)
    if any(not bool(value.isfinite().all()) for value in tensors.values()):
        raise RunFolderError(f"{path} is damaged (it holds values that are no numbers); delete it and run again")
    try:
        restore(tensors, {**json.loads(metadata["metadata"]), "generator": metadata.get("generator")})
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError) as error:
        if isinstance(error, RunFolderError):
            raise
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RunFolderError(f"{path} does not fit these settings ({why}); delete it and run again") from error
