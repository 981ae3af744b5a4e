"""Raw files of data sets: where they are looked for, and how PyTorch Geometric's dataset classes read them.

Raw files are looked for in ``$DIGNN_DATA/<folder>/raw``, then in ``<cache>/datasets/<folder>/raw``. The first is
only ever read: PyTorch Geometric writes beside the raw files, so they are copied into the cache and prepared there,
in a folder named by their content. Other raw files therefore never meet an old preparation, and processes
that prepare the same set at the same time do not disturb each other.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dignn.core.errors import DatasetUnavailableError

log = logging.getLogger(__name__)

_REDIRECTED = threading.Lock()  # sys.stdout and sys.stderr belong to all threads


def cache_folder() -> Path:
    """``$DIGNN_CACHE``, else ``$XDG_CACHE_HOME/dignn``, else ``~/.cache/dignn``. It may be deleted at any time."""
    if os.environ.get("DIGNN_CACHE"):
        return Path(os.environ["DIGNN_CACHE"]).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base).expanduser() if base else Path.home() / ".cache") / "dignn"


def data_folder() -> Path | None:
    """``$DIGNN_DATA``: the user's own copies of data sets."""
    value = os.environ.get("DIGNN_DATA")
    return Path(value).expanduser() if value else None


@dataclass(frozen=True)
class RawSet:
    """A data set made of files.

    Args:
        name: its name in the registry.
        title: what people call it.
        folder: name of its folder.
        files: the raw files that must be there.
        url: where PyTorch Geometric downloads them from; None where it cannot.
        open: makes PyTorch Geometric's dataset object from its root; None where the files are read directly.
        subfolder: folder inside the root in which the class keeps ``raw`` and ``processed``.
    """

    name: str
    title: str
    folder: str
    files: tuple[str, ...]
    url: str | None = None
    open: Callable[[str], Any] | None = None
    subfolder: str = ""

    # -- finding --------------------------------------------------------------------------------------

    @property
    def cached(self) -> Path:
        """The set's folder in the cache."""
        return cache_folder() / "datasets" / self.folder

    def local(self) -> Path | None:
        """The folder that holds all raw files, or None."""
        places = [place / self.folder for place in [data_folder()] if place is not None] + [self.cached]
        for place in places:
            if all((place / "raw" / file).is_file() for file in self.files):
                return place / "raw"
        return None

    def find(self, *, download: bool) -> Path:
        """The folder that holds all raw files; fetches them into the cache if ``download`` and they are not here.

        Raises:
            DatasetUnavailableError: they are nowhere, or the download failed.
        """
        raw = self.local()
        if raw is None and (not download or self.open is None):
            raise DatasetUnavailableError(self._missing())
        return raw or self._download()

    def _missing(self) -> str:
        folder = data_folder()
        own = "DIGNN_DATA is not set" if folder is None else self._lack(folder / self.folder / "raw")
        cause = f"{self.title} is not on this machine ({own}, and {self._lack(self.cached / 'raw')})"
        place = (folder / self.folder if folder is not None else self.cached) / "raw"
        if self.open is None:
            return f"{cause} and cannot be downloaded automatically; put {', '.join(self.files)} into {place}"
        way = f"--download (in Python load('{self.name}', download=True))"
        return f"{cause}; download it with {way}, or put its raw files into {place}"

    def _lack(self, raw: Path) -> str:
        absent = [file for file in self.files if not (raw / file).is_file()]
        if not raw.is_dir():
            return f"there is no folder {raw}"
        return f"{raw} lacks {', '.join(absent)}"

    def names(self, raw: Path, kind: str, of: str, count: int | None = None) -> tuple[str, ...] | None:
        """The lines of ``<kind>_<of>.txt`` beside ``raw``; None without that file.

        Raises:
            DatasetUnavailableError: ``count`` names were expected and the file has another number.
        """
        path = raw.parent / f"{kind}_{of}.txt"
        if not path.is_file():
            return None
        names = tuple(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
        if count is not None and len(names) != count:
            raise DatasetUnavailableError(f"{path} has {len(names)} lines where {count} are needed; mend or remove it")
        return names

    # -- preparing ------------------------------------------------------------------------------------

    def read(self, raw: Path) -> Any:
        """PyTorch Geometric's dataset object of the files in ``raw``, prepared in the cache on first use."""
        root = self.cached / f"prepared-{self._fingerprint(raw)}"
        if not root.is_dir():
            with _workshop(self.cached) as workshop:
                target = workshop / self.subfolder / "raw"
                target.mkdir(parents=True)
                for file in self.files:
                    shutil.copyfile(raw / file, target / file)
                log.info("Preparing %s in %s", self.title, root)
                self._construct(workshop, f"The raw files of {self.title} in {raw} cannot be read", "replace them")
                _put(workshop, root)
        return self._construct(root, f"Prepared files of {self.title} cannot be read", f"delete {root} and load again")

    def _fingerprint(self, raw: Path) -> str:
        """The content of the raw files and the version that prepares them."""
        import torch_geometric

        digest = hashlib.sha256(torch_geometric.__version__.encode())
        for file in self.files:
            digest.update(f"\0{file}\0".encode())
            digest.update(hashlib.sha256((raw / file).read_bytes()).digest())
        return digest.hexdigest()[:16]

    def _construct(self, root: Path, cause: str, remedy: str) -> Any:
        assert self.open is not None  # only sets with a class are prepared
        try:
            with _quiet():
                return self.open(str(root))
        except Exception as error:  # whatever a damaged file makes the reader raise
            raise DatasetUnavailableError(f"{cause} ({_reason(error)}); {remedy}") from error

    def _download(self) -> Path:
        raw = self.cached / "raw"
        log.info("Downloading %s from %s to %s", self.title, self.url, raw)
        with _workshop(self.cached) as workshop:
            self._construct(
                workshop,
                f"The download of {self.title} from {self.url} failed",
                f"check the connection, or put its raw files into {raw}",
            )
            _put(workshop / self.subfolder / "raw", raw)
        if self.local() is None:
            raise DatasetUnavailableError(
                f"The download of {self.title} is incomplete: {self._lack(raw)}; delete {raw} and try again"
            )
        return raw


@contextlib.contextmanager
def _workshop(parent: Path) -> Iterator[Path]:
    """A temporary folder beside the place where its content will go."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix=".workshop-", dir=parent))
    except OSError as error:
        raise DatasetUnavailableError(
            f"The cache folder {parent} cannot be written ({_reason(error)}); set DIGNN_CACHE to a folder that can"
        ) from error
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _put(source: Path, target: Path) -> None:
    """Renames a finished folder into place; if another process was faster, its folder stays."""
    source.chmod(0o755)  # mkdtemp is private
    try:
        source.rename(target)
    except OSError:
        if not target.is_dir():
            raise


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Sends what PyTorch Geometric prints ("Processing...") to the log."""
    captured = io.StringIO()
    try:
        with _REDIRECTED, contextlib.redirect_stderr(captured), contextlib.redirect_stdout(captured):
            yield
    finally:
        for line in captured.getvalue().splitlines():
            log.debug("%s", line)


def _reason(error: Exception) -> str:
    """The error on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":. ")
