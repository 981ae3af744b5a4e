"""Work side by side gives what it gives one after another, and its processes end."""

from __future__ import annotations

import errno
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from dignn.core import processes
from dignn.core.errors import DignnError
from dignn.core.processes import map_processes

# Workers cannot import a test module, whose folder is not on their path: they are sent its functions as they are.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(autouse=True, scope="module")
def _ctrl_c() -> Iterator[None]:
    """Interrupts as at a terminal: a shell that starts something in the background lets it ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def power(base: int, exponent: int) -> int:
    return base**exponent


def noise(seed: int) -> list[float]:
    import torch

    from dignn.core.seeds import Seed

    drawn: list[float] = torch.randn(5, generator=Seed(seed).torch()).tolist()
    return drawn


def where() -> int:
    return os.getpid()


def refuse(number: int) -> int:
    raise DignnError(f"Piece {number} cannot be learned")


each = pytest.mark.parametrize("workers", [1, 2])


@each
def test_results_come_in_order_and_every_piece_is_told(workers: int) -> None:
    told: list[int] = []
    found: dict[int, int] = {}
    arguments = [(2, exponent) for exponent in range(7)]
    made = map_processes(power, arguments, workers=workers, done=told.append, found=found.__setitem__)
    assert made == [1, 2, 4, 8, 16, 32, 64]
    assert sorted(told) == list(range(7))
    assert found == dict(enumerate(made))


@each
def test_nothing_to_do(workers: int) -> None:
    assert map_processes(power, [], workers=workers) == []


@each
def test_errors_keep_their_words(workers: int) -> None:
    with pytest.raises(DignnError, match="Piece 3 cannot be learned"):
        map_processes(refuse, [(3,), (3,)], workers=workers)


def test_the_same_bits_whatever_the_number_of_processes() -> None:
    seeds = [(number,) for number in range(4)]
    assert map_processes(noise, seeds, workers=1) == map_processes(noise, seeds, workers=2)


@pytest.mark.parametrize(("pieces", "workers", "here"), [(3, 1, True), (1, 4, True), (3, 2, False)])
def test_one_piece_or_one_worker_needs_no_other_process(pieces: int, workers: int, here: bool) -> None:
    arguments: list[tuple[Any, ...]] = [()] * pieces
    assert ({os.getpid()} == set(map_processes(where, arguments, workers=workers))) == here


# -- the end of processes -----------------------------------------------------------------------------

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def lack_file(number: int) -> int:
    raise FileNotFoundError(errno.ENOENT, "words", f"part-{number}")


def sleep(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def children(parent: int) -> set[int]:
    """Processes that a process has started and that still run."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, its_parent = path.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            continue
        if int(its_parent) == parent and state != "Z":
            found.add(int(path.parent.name))
    return found


def runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return condition()


# Workers say that they are at work, each by a file of its own.
SCRIPT = """
import os, sys, time
from pathlib import Path
from dignn.core.processes import map_processes

def work(folder, number):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)

if __name__ == "__main__":
    map_processes(work, [(sys.argv[1], number) for number in range(2)], workers=2)
"""


@needs_proc
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(how: signal.Signals, tmp_path: Path) -> None:
    script, folder = tmp_path / "script.py", tmp_path / "workers"
    script.write_text(SCRIPT)
    folder.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(folder)], stderr=subprocess.DEVNULL)
    try:
        assert wait_until(lambda: len(list(folder.iterdir())) == 2, 30)
        started = children(parent.pid)
        assert started >= {int(path.name) for path in folder.iterdir()}
        parent.send_signal(how)
        assert wait_until(lambda: parent.poll() is not None, 5)
        assert wait_until(lambda: not any(runs(child) for child in started), 5)
    finally:
        parent.kill()
        parent.wait()


@needs_proc
def test_no_worker_stays_when_the_work_is_done() -> None:
    workers = set(map_processes(sleep, [(0.1,)] * 4, workers=2))
    assert workers
    assert not any(runs(worker) for worker in workers)


@needs_proc
def test_no_worker_stays_when_the_caller_gives_up() -> None:
    def stop(number: int) -> None:
        raise KeyboardInterrupt

    before = children(os.getpid())
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        map_processes(sleep, [(0.0,), (60.0,), (60.0,)], workers=2, done=stop)
    assert time.monotonic() - begun < 30
    # The process that clears away what workers leave is joblib's own and stays.
    assert wait_until(lambda: len(children(os.getpid()) - before) <= 1, 5)


def test_a_worker_that_dies_is_told_in_one_sentence() -> None:
    with pytest.raises(DignnError, match="ended unexpectedly, probably for lack of memory; run again"):
        map_processes(die, [(1,), (2,)], workers=2)
    assert map_processes(power, [(2, 3), (2, 4)], workers=2) == [8, 16]


def test_an_error_of_the_work_is_no_failure_to_start_processes(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(FileNotFoundError, match="part-3"):
        map_processes(lack_file, [(3,), (3,)], workers=2)
    assert not caplog.records


def no_semaphores(*arguments: Any, **options: Any) -> Any:
    raise PermissionError(errno.EACCES, "no semaphores")


@pytest.mark.parametrize("name", ["joblib.executor.MemmappingExecutor.get_memmapping_executor", "effective_n_jobs"])
def test_where_no_process_starts_the_work_is_done_here(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if name == "effective_n_jobs":  # joblib itself has found out that it has no semaphores
        monkeypatch.setattr(processes, name, lambda workers: 1)
    else:
        monkeypatch.setattr(name, no_semaphores)
    told: list[int] = []
    with caplog.at_level(logging.WARNING):
        assert set(map_processes(where, [()] * 3, workers=2, done=told.append)) == {os.getpid()}
    assert told == [0, 1, 2]
    assert "No processes can be started here" in caplog.text


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_the_command_line_ends_in_order_when_it_is_told_to(
    sent: signal.Signals, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dignn.cli import datasets as module
    from dignn.cli.main import main

    cleared: list[str] = []

    def datasets() -> None:
        """Receives a signal while it works."""
        try:
            os.kill(os.getpid(), sent)
            time.sleep(20)
        finally:
            cleared.append("files")

    monkeypatch.setattr(module, "datasets", datasets)
    before = signal.getsignal(signal.SIGTERM)
    assert main(["datasets"]) == code
    assert "the same command goes on where it stopped" in capsys.readouterr().err
    assert cleared == ["files"]
    assert signal.getsignal(signal.SIGTERM) is before


def crowd(folder: str, number: int) -> tuple[int, int]:
    """Is at work for a moment, as its file says; returns its process and how many were at work at most."""
    mine, seen = Path(folder) / str(number), 0
    mine.touch()
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        seen = max(seen, len(list(mine.parent.iterdir())))
        time.sleep(0.01)
    mine.unlink()
    return os.getpid(), seen


def meet(folder: str, number: int) -> tuple[int, bool]:
    """Waits as long as it takes until two have begun; the first of two in turn would wait in vain."""
    (Path(folder) / str(number)).touch()
    return os.getpid(), wait_until(lambda: len(list(Path(folder).iterdir())) == 2, 20)


@pytest.mark.parametrize(("cores", "most"), [(2, 1), (3, 2)])
def test_work_apart_leaves_a_core_to_what_it_is_beside(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cores: int, most: int
) -> None:
    monkeypatch.setattr("dignn.core.threads.cores", lambda: cores)
    found = map_processes(crowd, [(str(tmp_path), number) for number in range(4)], apart=True)
    assert os.getpid() not in {process for process, _ in found}
    assert max(seen for _, seen in found) <= most


def test_work_apart_uses_the_cores_that_are_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dignn.core.threads.cores", lambda: 3)
    found = map_processes(meet, [(str(tmp_path), number) for number in range(2)], apart=True)
    assert len({os.getpid(), *(process for process, _ in found)}) == 3
    assert all(met for _, met in found)
