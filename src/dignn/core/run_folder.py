"""A run: its stages, what they took, and, if it has a folder, what they made.

Every artifact is written whole and renamed into place, so a run that was killed goes on where it stopped: a
second start loads what is there and makes what is missing.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from dignn.core.background import check_wanted
from dignn.core.checksums import open_ledger
from dignn.core.errors import RunFolderError
from dignn.core.files import read_json, write_json
from dignn.core.progress import Progress, Tick
from dignn.core.whole_files import PARTIAL, remove_left_behind

Artifact = TypeVar("Artifact")
# Given what a folder notes, says how it differs, in words ("with seed 0, not 1"); None where it does not.
Differs = Callable[[Any], str | None]

# The paper's stages, then ours: what matters in each explanation, what the model goes by, metrics, and the whole run by
# the clock.
STAGES = {
    "FFS": "Sampling real subgraphs",
    "GGT": "Learning structure",
    "GGAT": "Generating structure",
    "NFGT": "Learning features",
    "NFGAT": "Generating features",
    "PP": "Checking validity",
    "GS": "Asking the model",
    "EVIDENCE": "Seeking what matters",
    "STUDY": "Finding what it goes by",
    "EVAL": "Measuring",
}
_LATER = ("EVIDENCE", "STUDY")  # stages that folders of earlier versions do not tell of
# What comes when explanations are there: what the model goes by, and how far to trust them.
_AFTERWARDS = ("STUDY", "EVAL")
WALL = "WALL"
CONFIG, TIMINGS, COUNTS = "config.json", "timings.json", "counts.json"
# Among the versions in the first of them: the commit of the code that began the run.
VERSIONS, COMMIT = "versions", "commit"


class Run:
    """Keeps timings and artifacts.

    Args:
        folder: where artifacts go; None keeps nothing. Nothing is written there before :meth:`claim`.
        progress: shows stages.
    """

    def __init__(self, folder: Path | str | None = None, progress: Progress | None = None) -> None:
        self.folder = None if folder is None else Path(folder)
        self.progress = progress if progress is not None else Progress()
        self._started = time.perf_counter()
        self._kept: dict[str, float] = {}  # from earlier starts
        self._spent: dict[str, float] = {}  # by this start
        self._made_something = False
        self._writing = threading.Lock()  # artifacts are made by several threads
        self._identity: dict[str, Any] = {}
        self._note: dict[str, Any] = {}
        self._counted: Callable[[], int] = int  # nothing is counted
        self._counted_before = 0  # by earlier starts, for what was loaded
        self._differs: Mapping[str, Differs] = {}
        if self.folder is not None:
            check_folder(self.folder)

    def identify(
        self, identity: dict[str, Any], note: dict[str, Any] | None = None, differs: Mapping[str, Differs] | None = None
    ) -> None:
        """Says what the run is of, and refuses a folder of another run; nothing is written yet.

        Args:
            identity: configuration, data, model, seed: what makes two runs the same.
            note: what else ``config.json`` should tell; may differ when a run goes on.
            differs: by key of the identity how it is compared, where not by equality. Such a key is not asked for in
                a folder that does not have it, because an earlier version made that.
        """
        self._identity, self._note, self._differs = identity, note or {}, differs or {}
        self._refuse_another()

    def _refuse_another(self) -> None:
        if self.folder is None or not (self.folder / CONFIG).exists():
            return
        found = read_json(self.folder / CONFIG)
        for key in [*self._identity, *(set(found) - set(self._identity) - set(self._note))]:
            if key not in self._differs:
                difference = unlike(key, found.get(key), self._identity.get(key))
            else:
                difference = self._differs[key](found[key]) if key in found else None
            if difference is not None:
                raise RunFolderError(f"{self.folder} is a run {difference}; choose another folder or delete it")
        if (self.folder / TIMINGS).exists():
            self._kept = read_timings(self.folder / TIMINGS)

    def claim(self) -> None:
        """Makes the folder this run's; called when it is sure that there is something to run.

        Raises:
            RunFolderError: it has become another's since :meth:`identify`.
        """
        if self.folder is None:
            return
        self._refuse_another()
        remove_left_behind(self.folder)
        if not (self.folder / CONFIG).exists():
            # Of several that come at the same time the first one's stays, and the others look at it.
            write_json(self.folder / CONFIG, {**self._identity, **self._note}, keep=True)
            self._refuse_another()
        open_ledger(self.folder)

    @property
    def timings(self) -> dict[str, float]:
        """Seconds by stage and in all. A stage that was done again counts once; a finished run stays as it was."""
        if self._kept and not self._made_something:
            return dict(self._kept)
        known = dict.fromkeys([*STAGES, WALL], 0.0) | self._kept | self._spent
        again = sum(self._kept.get(stage, 0.0) for stage in self._spent)
        known[WALL] = max(0.0, self._kept.get(WALL, 0.0) - again) + time.perf_counter() - self._started
        return {key: round(value, 4) for key, value in known.items()}

    @contextmanager
    def stage(self, name: str) -> Iterator[Tick]:
        """Times what happens inside under one of :data:`STAGES` and shows it."""
        begin = time.perf_counter()
        with self.progress.stage(STAGES[name]) as tick:
            yield tick
        self._spent[name] = self._spent.get(name, 0.0) + time.perf_counter() - begin

    def artifact(
        self,
        name: str,
        make: Callable[[], Artifact],
        save: Callable[[Artifact, Path], None],
        load: Callable[[Path], Artifact],
        *,
        anew: bool = False,
    ) -> Artifact:
        """Loads ``name`` from the folder if it is there, else makes it (in stages of its own) and saves it.

        ``anew``: makes and replaces it even if it is there.
        """
        if self.folder is None:
            return make()
        path = self.folder / name
        if path.exists() and not anew:
            self._counted_before += self._counts().get(name, 0)
            return load(path)
        before = self._count()
        made = make()
        with self._writing:
            check_wanted()
            self._note_count(name, self._count() - before)
            save(made, path)
            self._made_something = True
            self.note_timings()
        return made

    @contextmanager
    def counting(self, counted: Callable[[], int]) -> Iterator[Callable[[], int]]:
        """Counts what happens inside, such as graphs that a model scores; gives a function that says how many so far.

        What an artifact cost that an earlier start made counts when it is loaded, so the number does not depend on how
        often a run was stopped.

        Args:
            counted: the number so far, of this start.
        """
        begin = counted()
        self._counted, self._counted_before = lambda: counted() - begin, 0
        try:
            yield self._count
        finally:
            self._counted, self._counted_before = int, 0

    def _count(self) -> int:
        return self._counted_before + self._counted()

    def _counts(self) -> dict[str, int]:
        """By artifact what was counted while it was made, where that is not 0."""
        path = (self.folder or Path()) / COUNTS
        found = read_json(path) if path.exists() else {}
        if not all(type(value) is int for value in found.values()):
            raise RunFolderError(f"{path} is damaged (it holds values that are no numbers); run again in a new folder")
        return found

    def _note_count(self, name: str, number: int) -> None:
        known = self._counts()
        if self.folder is not None and number != known.get(name, 0):
            write_json(self.folder / COUNTS, {**known, name: number})

    def note_timings(self) -> dict[str, float]:
        """Writes what has been timed so far, if anything was made, and returns it."""
        timings = self.timings
        if self.folder is not None and self._made_something:
            write_json(self.folder / TIMINGS, timings)
        return timings


def read_timings(path: Path) -> dict[str, float]:
    """What :meth:`Run.note_timings` wrote."""
    found = read_json(path, *(stage for stage in STAGES if stage not in _LATER), WALL)
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in found.values()):
        raise RunFolderError(f"{path} is damaged (it holds values that are no numbers); delete the file and run again")
    return {key: float(value) for key, value in found.items()}


def made_at(folder: Path) -> str | None:
    """The commit of the code that began a run; None where nobody noted it, such as earlier versions."""
    versions = read_json(folder / CONFIG).get(VERSIONS)
    return versions.get(COMMIT) if isinstance(versions, dict) else None


def seconds_until_shown(timings: Mapping[str, float]) -> float:
    """Of the whole run those until explanations are there, without those of what comes afterwards."""
    return timings[WALL] - sum(timings.get(stage, 0.0) for stage in _AFTERWARDS)


def unlike(name: str, there: Any, here: Any) -> str | None:
    """How what a folder notes under ``name`` differs from what is here, in words; None where it does not."""
    if there == here:
        return None
    if isinstance(there, dict) and isinstance(here, dict):
        key = next(key for key in [*there, *here] if there.get(key) != here.get(key))
        return unlike(f"{name}.{key}", there.get(key), here.get(key))
    return f"with {name} {there!r}, not {here!r}"


def check_folder(folder: Path) -> None:
    """Raises if ``folder`` holds something else than a run."""
    if folder.exists() and not folder.is_dir():
        raise RunFolderError(f"{folder} is a file; choose another folder for the run")
    if folder.exists() and not (folder / CONFIG).exists():
        others = [path for path in folder.iterdir() if not path.name.endswith(PARTIAL)]
        if others:
            raise RunFolderError(f"{folder} holds other files and no {CONFIG}; choose an empty or new folder")
