"""Artifacts on disk: safetensors and JSON, whole or not at all, compared with their checksums, never pickled."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from dignn.core import checksums
from dignn.core.errors import DignnError, NotNumbersError, RunFolderError
from dignn.core.whole_files import PARTIAL, write_whole

if TYPE_CHECKING:  # JSON is read without torch
    from torch import Tensor

METADATA = "dignn"
# The file that says what a folder is of: without it nothing else there can be believed. All others are made again.
_FOLDERS_OWN = "config.json"


def write_atomically(path: Path | str, write: Callable[[Path], object], *, keep: bool = False) -> None:
    """Calls ``write`` with a temporary path beside ``path`` and renames the result into place.

    In a folder that keeps account of its files (:mod:`dignn.core.checksums`) the checksum is noted. ``keep``: a file
    that is there already stays.
    """
    write_whole(Path(path), write, partial(checksums.put, keep=keep))


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
    except BaseException as error:
        for parent in new:
            with contextlib.suppress(OSError):
                parent.rmdir()
        if not isinstance(error, OSError):
            raise
        raise RunFolderError(f"{folder} cannot be written ({error.strerror or error}); choose another place") from error
    return paths


def write_text(path: Path | str, text: str) -> None:
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_json(path: Path | str, value: Any, *, keep: bool = False) -> None:
    """``keep``: a file that is there already stays."""
    text = json.dumps(value, indent=1, allow_nan=False) + "\n"
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"), keep=keep)


def read_json(path: Path | str, *keys: str, remedy: str | None = None) -> dict[str, Any]:
    """A JSON object that has ``keys``.

    Args:
        path: the file.
        keys: what it must have.
        remedy: what to do where it is damaged, if not what is said otherwise.

    Raises:
        RunFolderError: if the file cannot be read, was altered, is not JSON, or is another object.
    """
    remedy = remedy or f"delete {'its folder' if Path(path).name == _FOLDERS_OWN else 'the file'} and run again"
    try:
        found = Path(path).read_bytes()
        checksums.check(Path(path), found, remedy=remedy)
        content = json.loads(found.decode())
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
    from safetensors.torch import save

    apart: dict[str, Tensor] = {}
    storages: set[int] = set()
    for name, tensor in tensors.items():  # safetensors takes no two tensors with common memory (tied weights, views)
        storage = tensor.untyped_storage().data_ptr()
        apart[name] = (tensor.clone() if storage in storages else tensor).contiguous()
        storages.add(storage)
    # The header holds several metadata entries in no fixed order, and the same content must give the same bytes.
    one_entry = {METADATA: json.dumps(dict(metadata), sort_keys=True)}
    # save_file would write to a name of its own, which stays behind where it is killed, and says less if it fails.
    write_atomically(path, lambda temporary: temporary.write_bytes(save(apart, metadata=one_entry)))


def put_under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same tensors by names that begin with ``prefix``."""
    return {f"{prefix}{name}": value for name, value in tensors.items()}


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with ``prefix``, without it: what :func:`put_under` took."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def load_tensors(path: Path | str, expected_format: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file whose metadata names ``expected_format``.

    Raises:
        RunFolderError: it is missing, cannot be read, is damaged, was altered, or holds something else.
    """
    if not Path(path).exists():
        raise RunFolderError(f"{path} is missing; run again to make it anew")
    if Path(path).is_dir():
        raise RunFolderError(f"{path} is a folder, where a file should be; move it away and run again")
    try:
        checksums.check(Path(path), remedy="delete it and run again to make it anew")
        with safe_open(str(path), framework="pt") as file:
            metadata = json.loads((file.metadata() or {}).get(METADATA, "{}"))
            found = str(metadata.get("format"))
            if found != expected_format and found.rpartition(".")[0] == expected_format.rpartition(".")[0]:
                raise RunFolderError(f"{path} was written by another version of dignn; delete it and run again")
            if found != expected_format:
                raise RunFolderError(f"{path} holds '{found}', not '{expected_format}'; give another file")
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
    except IndexError as error:
        raise RunFolderError(f"{path} is damaged: its parts do not fit each other; delete it and run again") from error
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        if isinstance(error, RunFolderError):
            raise
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RunFolderError(f"{path} does not fit these settings ({why}); delete it and run again") from error


@contextlib.contextmanager
def blamed_on(path: Path | None) -> Iterator[None]:
    """Says that what was learned is damaged where working with it fails inside.

    A file may be changed and still be read: without a checksum that is seen only when its numbers make no sense.

    Args:
        path: the file that it was loaded from; None where it was learned just now, so that nothing is damaged.

    Raises:
        RunFolderError: work inside failed for reasons that nobody foresaw.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError, OverflowError) as error:
        if path is None or (isinstance(error, DignnError) and not isinstance(error, NotNumbersError)):
            raise
        raise RunFolderError(
            f"{path} is damaged: what was learned there makes no sense; delete it and run again"
        ) from error
