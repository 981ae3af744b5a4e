"""Checksums: what was altered is seen, and neither kills nor others at work make a good file look altered."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

import pytest
import torch

from dignn.core.checksums import CHECKSUMS, check, open_ledger
from dignn.core.errors import RunFolderError
from dignn.core.files import load_tensors, read_json, save_tensors, write_json, write_text
from dignn.core.run_folder import Run

FORMAT = "test.1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a ledger."""
    open_ledger(tmp_path)
    return tmp_path


def ledger(folder: Path) -> dict[str, object]:
    return json.loads((folder / CHECKSUMS).read_text())


def digests(folder: Path, *names: str) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


# -- what is noted and seen ---------------------------------------------------------------------------


def test_every_artifact_is_noted_sorted_and_nothing_else(folder: Path) -> None:
    write_json(folder / "b.json", {"b": 1})
    write_text(folder / "page.html", "<p>")
    save_tensors(folder / "a.safetensors", {"a": torch.arange(3)}, {"format": FORMAT})
    assert ledger(folder) == digests(folder, "a.safetensors", "b.json")
    assert list(ledger(folder)) == ["a.safetensors", "b.json"]


def test_a_replaced_file_is_noted_anew_and_a_deleted_one_forgotten(folder: Path) -> None:
    for number in (1, 2):
        write_json(folder / "a.json", {"a": number})
        write_json(folder / "b.json", {})
    (folder / "b.json").unlink()
    write_json(folder / "a.json", {"a": 3})
    assert ledger(folder) == digests(folder, "a.json")


def test_files_that_were_there_before_the_ledger_are_noted(tmp_path: Path) -> None:
    write_json(tmp_path / "old.json", {"a": 1})
    open_ledger(tmp_path)
    assert ledger(tmp_path) == digests(tmp_path, "old.json")
    (tmp_path / "old.json").write_text('{"a": 2}')
    open_ledger(tmp_path)  # which does not believe what is there now
    with pytest.raises(RunFolderError, match=r"old\.json is damaged or was altered"):
        read_json(tmp_path / "old.json")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("metrics.json", "delete the file and run again"), ("config.json", "delete its folder and run again")],
)
def test_one_altered_digit_is_seen(folder: Path, name: str, remedy: str) -> None:
    write_json(folder / name, {"pf": 0.25})
    assert read_json(folder / name) == {"pf": 0.25}
    (folder / name).write_text((folder / name).read_text().replace("0.25", "0.95"))
    with pytest.raises(RunFolderError, match=rf"{name} is damaged or was altered: .*; {remedy}$"):
        read_json(folder / name)
    write_json(folder / name, {"pf": 0.5})  # made anew
    assert read_json(folder / name) == {"pf": 0.5}


def test_one_altered_byte_of_tensors_is_seen(folder: Path) -> None:
    path = folder / "a.safetensors"
    save_tensors(path, {"a": torch.arange(100)}, {"format": FORMAT})
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(RunFolderError, match=r"a\.safetensors is damaged or was altered: .*; delete it and run again"):
        load_tensors(path, FORMAT)
    path.unlink()
    with pytest.raises(RunFolderError, match="is missing; run again"):
        load_tensors(path, FORMAT)


def test_folders_without_a_ledger_take_no_part(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"a": 1})
    (tmp_path / "a.json").write_text('{"a": 2}')
    assert read_json(tmp_path / "a.json") == {"a": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("content", ["{", "[1]", '{"a.json": 3}', "\udcff"])
def test_a_damaged_ledger_is_named(folder: Path, content: str) -> None:
    write_json(folder / "a.json", {"a": 1})
    (folder / CHECKSUMS).write_bytes(content.encode(errors="surrogateescape"))
    for use in (lambda: read_json(folder / "a.json"), lambda: write_json(folder / "a.json", {"a": 2})):
        with pytest.raises(RunFolderError, match=r"checksums\.json is damaged .*; delete the file and run again"):
            use()
    (folder / CHECKSUMS).unlink()
    assert read_json(folder / "a.json") == {"a": 1}


# -- killed -------------------------------------------------------------------------------------------


def in_child(work: Callable[[], object]) -> int:
    """Does the work in a process of its own; returns how that ended."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Whether the process is killed at a step of the work: before or after it renames a file."""

    def mortal() -> None:
        seen, rename = iter(range(10**6)), Path.replace

        def replace(path: Path, target: Path) -> Path:
            if next(seen) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            done = rename(path, target)
            if next(seen) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        with mock.patch.object(Path, "replace", replace):
            work()

    return in_child(mortal) == signal.SIGKILL


def small_run(folder: Path) -> None:
    """A run with an artifact of each kind, one that is made again and again, and one that goes in between."""
    run = Run(folder)
    run.identify({"seed": 0})
    run.claim()
    write_json(folder / "schema.json", {})
    (folder / "told.json").unlink(missing_ok=True)
    run.artifact("a.json", lambda: {"a": 1}, lambda value, path: write_json(path, value), read_json)
    run.artifact(
        "b.safetensors",
        lambda: {"b": torch.arange(3)},
        lambda value, path: save_tensors(path, value, {"format": FORMAT}),
        lambda path: load_tensors(path, FORMAT)[0],
    )
    for number in range(3):
        write_json(folder / "told.json", {"number": number})


def content(folder: Path) -> dict[str, object]:
    """All files, without what depends on the clock."""
    found: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir()}
    del found["timings.json"]
    return found | {CHECKSUMS: {name: kept for name, kept in ledger(folder).items() if name != "timings.json"}}


def test_a_run_that_is_killed_at_any_step_ends_with_the_same_files(tmp_path: Path) -> None:
    small_run(tmp_path / "whole")
    expected = content(tmp_path / "whole")
    assert set(ledger(tmp_path / "whole")) == set(expected) - {CHECKSUMS} | {"timings.json"}
    step, folder = 0, tmp_path / "0"
    while killed_at(step, partial(small_run, folder)):
        for path in folder.glob("*.json"):  # what is there is good
            read_json(path)
        small_run(folder)
        assert content(folder) == expected
        assert ledger(folder) == digests(folder, *ledger(folder))
        step, folder = step + 1, tmp_path / f"{step + 1}"
    assert step > 40


def test_two_digests_while_a_file_is_replaced_and_neither_excuses_a_third(folder: Path) -> None:
    write_json(folder / "a.json", {"a": 1})
    old = (folder / "a.json").read_bytes()
    assert killed_at(2, lambda: write_json(folder / "a.json", {"a": 2}))  # the ledger is renamed, the file is next
    assert (folder / "a.json").read_bytes() == old
    assert len(ledger(folder)["a.json"]) == 2  # type: ignore[arg-type]
    assert read_json(folder / "a.json") == {"a": 1}
    (folder / "a.json").write_text('{"a": 3}')
    with pytest.raises(RunFolderError, match="is damaged or was altered"):
        read_json(folder / "a.json")
    (folder / "a.json").write_bytes(old)
    write_json(folder / "b.json", {})
    assert ledger(folder) == digests(folder, "a.json", "b.json")


def test_who_read_a_file_before_it_was_replaced_read_no_altered_one(folder: Path) -> None:
    """Between reading a file and looking at the ledger another may replace both."""
    path = folder / "a.json"
    write_json(path, {"a": 1})
    old = path.read_bytes()
    write_json(path, {"a": 2})
    check(path, old, remedy="run again")
    path.write_text('{"a": 3}')
    with pytest.raises(RunFolderError, match="is damaged or was altered: .*; run again"):
        check(path, old, remedy="run again")


# -- several at once ----------------------------------------------------------------------------------


def write_many(folder: Path, name: str) -> None:
    for number in range(12):
        write_json(folder / f"{name}-{number}.json", {"number": number})
        write_json(folder / "common.json", {"by": name, "number": number})
        assert read_json(folder / "common.json").keys() == {"by", "number"}


def test_threads_and_processes_lose_none_of_each_others_entries(folder: Path) -> None:
    children = []
    for name in ("one", "two"):
        child = os.fork()
        if not child:
            failed = 1
            try:
                write_many(folder, name)
                failed = 0
            finally:
                os._exit(failed)
        children.append(child)
    threads = [threading.Thread(target=write_many, args=(folder, name)) for name in ("three", "four")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    names = {path.name for path in folder.iterdir()} - {CHECKSUMS}
    assert len(names) == 4 * 12 + 1
    assert ledger(folder) == digests(folder, *sorted(names))
