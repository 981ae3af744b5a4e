"""A run: its stages, what they took, and, if it has a folder, what they made.

Every artifact is written whole and renamed into place, so a run that was killed goes on where it stopped: a
second start loads what is there and makes what is missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from dignn.errors import RunFolderError
from dignn.runtime.files import read_json, write_json
from dignn.runtime.progress import Progress, Tick

Artifact = TypeVar("Artifact")

# The paper's stages, then ours: metrics, and the whole run by the clock.
STAGES = {
    "FFS": "Sampling real subgraphs",
    "GGT": "Learning structure",
    "GGAT": "Generating structure",
    "NFGT": "Learning features",
    "NFGAT": "Generating features",
    "PP": "Checking validity",
    "GS": "Asking the model",
    "EVAL": "Measuring",
}
WALL = "WALL"
CONFIG = "config.json"


class Run:
    """Keeps timings and artifacts.

    Args:
        folder: where artifacts go; None keeps nothing. Nothing is written there before :meth:`claim`.
        identity: what the run is of (configuration, data, seed). A folder of another run is refused at once.
        note: what else ``config.json`` should tell (versions, the command); may differ on resuming.
        progress: shows stages.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        identity: dict[str, Any] | None = None,
        note: dict[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.progress = progress if progress is not None else Progress()
        self.timings: dict[str, float] = dict.fromkeys([*STAGES, WALL], 0.0)
        self._identity, self._note = identity or {}, note or {}
        self._claimed = False
        if self.folder is not None:
            self._check(self.folder)
            if (self.folder / "timings.json").exists():
                self.timings |= read_json(self.folder / "timings.json")
        self._before = self.timings[WALL]
        self._started = time.perf_counter()

    def _check(self, folder: Path) -> None:
        """Raises if the folder is not empty and not of this run."""
        if folder.exists() and not folder.is_dir():
            raise RunFolderError(f"{folder} is a file; choose another folder for the run")
        if not (folder / CONFIG).exists():
            if folder.exists() and any(folder.iterdir()):
                raise RunFolderError(f"{folder} holds other files and no {CONFIG}; choose an empty or new folder")
            return
        found = read_json(folder / CONFIG)
        for key, value in self._identity.items():
            if found.get(key) != value:
                raise RunFolderError(
                    f"{folder} is a run with {key} {found.get(key)!r}, not {value!r}; "
                    "choose another folder or delete it"
                )

    def claim(self) -> None:
        """Marks the folder as this run's; called when it is sure that there is something to run."""
        if self.folder is not None and not self._claimed:
            self._claimed = True
            if not (self.folder / CONFIG).exists():
                write_json(self.folder / CONFIG, {**self._identity, **self._note})

    @contextmanager
    def stage(self, name: str) -> Iterator[Tick]:
        """Times what happens inside under one of :data:`STAGES` and shows it."""
        begin = time.perf_counter()
        with self.progress.stage(STAGES[name]) as tick:
            yield tick
        now = time.perf_counter()
        self.timings[name] += now - begin
        self._note_time(now)

    def artifact(
        self,
        name: str,
        make: Callable[[], Artifact],
        save: Callable[[Artifact, Path], None],
        load: Callable[[Path], Artifact],
    ) -> Artifact:
        """Loads ``name`` from the folder if it is there, else makes it (in stages of its own) and saves it."""
        if self.folder is None:
            return make()
        path = self.folder / name
        if path.exists():
            return load(path)
        made = make()
        save(made, path)
        return made

    def finish(self) -> None:
        """Writes the timings."""
        self._note_time(time.perf_counter())

    def _note_time(self, now: float) -> None:
        self.timings[WALL] = self._before + now - self._started
        if self.folder is not None and self._claimed:
            write_json(self.folder / "timings.json", {key: round(value, 4) for key, value in self.timings.items()})
