"""Checksums of a run folder: a ledger beside its files that says what was written, so that what was altered is seen.

The ledger has two digests of a file while that is replaced, the old and the new one, so a process that is killed in the
middle leaves none that does not fit. Whoever writes next leaves the one that does. Folders without a ledger, such as
those of earlier versions, are taken as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from dignn.core.errors import RunFolderError
from dignn.core.locks import locked
from dignn.core.whole_files import write_whole

CHECKSUMS = "checksums.json"
# Files that are kept account of, by the ends of their names. A page is made from them.
KINDS = (".json", ".safetensors")

Ledger = dict[str, tuple[str, ...]]


def open_ledger(folder: Path) -> None:
    """From now on the folder keeps account of its files, beginning with those that are there."""
    with locked(folder):
        if not (folder / CHECKSUMS).exists():
            there = [path for path in folder.iterdir() if path.suffix in KINDS and path.is_file()]
            _write(folder, {path.name: (_digest(path),) for path in there})


def put(temporary: Path, path: Path, *, keep: bool = False) -> None:
    """Renames a file that is complete to ``path``, and notes its checksum where the folder has a ledger.

    Args:
        temporary: the file, in the same folder.
        path: its name from now on.
        keep: whether a file that is there already stays, and this one does not take its place.
    """
    folder = path.parent
    with locked(folder):
        if keep and path.exists():
            return
        if path.suffix not in KINDS or not (folder / CHECKSUMS).exists():
            temporary.replace(path)
            return
        digest, noted = _digest(temporary), _read(folder)
        _write(folder, noted | {path.name: (*noted.get(path.name, ()), digest)})
        temporary.replace(path)
        _write(folder, _settled(folder, noted | {path.name: (digest,)}))


def check(path: Path, content: bytes | None = None, *, remedy: str) -> None:
    """Compares a file with the ledger of its folder, if there is one and it has the file.

    Args:
        path: the file.
        content: what was read from it; by default it is read now.
        remedy: what to do if it is another.

    Raises:
        RunFolderError: the file is not what was written.
    """
    known = _read(path.parent).get(path.name)
    if known is None or (_digest(path) if content is None else hashlib.sha256(content).hexdigest()) in known:
        return
    with locked(path.parent):  # it may have been replaced between the two looks
        if _digest(path) in _read(path.parent).get(path.name, ()):
            return
    raise RunFolderError(f"{path} is damaged or was altered: it is not what was written there; {remedy}")


def _settled(folder: Path, noted: Ledger) -> Ledger:
    """Without files that are gone, and with one digest of each that was cut off while it was replaced."""
    there = {name: known for name, known in noted.items() if (folder / name).is_file()}
    for name, known in there.items():
        if len(known) > 1:
            there[name] = tuple(each for each in known if each == _digest(folder / name)) or known
    return there


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(folder: Path) -> Ledger:
    path = folder / CHECKSUMS
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {name: (noted,) if isinstance(noted, str) else tuple(map(str, noted)) for name, noted in content.items()}
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read ({error.strerror}); mend that and run again") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise RunFolderError(f"{path} is damaged ({error}); delete the file and run again") from error


def _write(folder: Path, noted: Mapping[str, tuple[str, ...]]) -> None:
    content = {name: known[0] if len(set(known)) == 1 else sorted(set(known)) for name, known in sorted(noted.items())}
    text = json.dumps(content, indent=1) + "\n"
    path = folder / CHECKSUMS
    if not path.exists() or path.read_bytes() != text.encode():
        write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"), Path.replace)
