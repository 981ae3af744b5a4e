"""Files that appear whole or not at all: written to a temporary name and renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from dignn.core.errors import RunFolderError
from dignn.core.locks import is_locked, locked

# The end of the name of a file that is not complete yet; one that stays behind was cut off and may be deleted.
PARTIAL = ".partial"


def write_whole(path: Path, write: Callable[[Path], object], put: Callable[[Path, Path], object]) -> None:
    """Calls ``write`` with a temporary path beside ``path``, and ``put`` with both, to rename the one to the other.

    Raises:
        RunFolderError: nothing can be written there; what was there stays, and nothing half-written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PARTIAL, dir=path.parent)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written ({error.strerror or error}); choose another place") from error
    os.close(handle)
    temporary = Path(name)
    try:
        with locked(temporary):  # so that others do not take it for one that stayed behind
            write(temporary)
            temporary.chmod(0o666 & ~_umask())  # mkstemp is private; results are ordinary files
            put(temporary, path)
    except OSError as error:
        raise RunFolderError(
            f"{path} could not be written ({error.strerror or error}); mend that and run again"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def remove_left_behind(folder: Path) -> None:
    """Deletes what runs that were killed left half-written; what others are just writing stays."""
    for path in folder.glob(f".*{PARTIAL}"):
        if path.is_file() and not is_locked(path):
            path.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
