"""Artifacts on disk: all or nothing, and damage is named."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.checksums import open_ledger
from dignn.core.errors import RunFolderError
from dignn.core.files import load_tensors, read_json, save_tensors, write_atomically, write_json, write_text
from strategies import PROPERTY

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FORMAT = "test.1"


def failing_writer(temporary: Path) -> None:
    temporary.write_text("half of the")
    raise OSError("disk full")


# -- all or nothing -----------------------------------------------------------------------------------


def test_a_failing_writer_leaves_the_old_file(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(RunFolderError, match=r"a\.txt could not be written \(disk full\)"):
        write_atomically(tmp_path / "a.txt", failing_writer)
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_failing_writer_leaves_no_temporary_file(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"a\.txt could not be written \(disk full\)"):
        write_atomically(tmp_path / "a.txt", failing_writer)
    assert list(tmp_path.iterdir()) == []


def test_the_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path, seen = tmp_path / "a.txt", []

    def write(temporary: Path) -> None:
        temporary.write_text("whole")
        seen.append(path.exists())

    write_atomically(path, write)
    assert seen == [False]
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_are_made(tmp_path: Path) -> None:
    write_text(tmp_path / "b" / "c" / "a.txt", "text")
    assert (tmp_path / "b" / "c" / "a.txt").read_text() == "text"


def test_files_have_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "ordinary").touch()
    write_text(tmp_path / "a.txt", "text")
    assert os.stat(tmp_path / "a.txt").st_mode == os.stat(tmp_path / "ordinary").st_mode


def test_tensors_that_cannot_be_written_leave_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    save_tensors(path, {"a": torch.arange(3)}, {"format": FORMAT})
    with pytest.raises(TypeError):
        save_tensors(path, {"a": torch.arange(3)}, {"format": object()})  # type: ignore[dict-item]
    assert load_tensors(path, FORMAT)[0]["a"].tolist() == [0, 1, 2]
    assert list(tmp_path.iterdir()) == [path]


@contextmanager
def small_files() -> Iterator[None]:
    """Inside, writing more than four kilobytes fails, as on a full disk."""
    assert signal.getsignal(signal.SIGXFSZ) is signal.SIG_IGN  # by Python; it would end the process
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


def test_a_full_disk_is_named_and_leaves_the_old_files_alone(tmp_path: Path) -> None:
    open_ledger(tmp_path)
    save_tensors(tmp_path / "a.safetensors", {"a": torch.arange(3)}, {"format": FORMAT})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    writes: dict[str, Callable[[Path], object]] = {
        "a.safetensors": lambda path: save_tensors(path, {"a": torch.arange(10000)}, {"format": FORMAT}),
        "b.json": lambda path: write_json(path, {"b": "long" * 10000}),
    }
    for name, write in writes.items():
        with small_files(), pytest.raises(RunFolderError) as told:
            write(tmp_path / name)
        assert str(told.value) == f"{tmp_path / name} could not be written (File too large); mend that and run again"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert load_tensors(tmp_path / "a.safetensors", FORMAT)[0]["a"].tolist() == [0, 1, 2]


def test_a_file_that_is_to_be_kept_stays(tmp_path: Path) -> None:
    for number in (1, 2):
        write_json(tmp_path / "a.json", {"a": number}, keep=True)
    assert read_json(tmp_path / "a.json") == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


# -- JSON ---------------------------------------------------------------------------------------------


@PROPERTY
@given(st.dictionaries(st.text(), JSON, max_size=3))
def test_json_round_trip(tmp_path_factory: pytest.TempPathFactory, value: dict[str, object]) -> None:
    path = tmp_path_factory.getbasetemp() / "value.json"
    write_json(path, value)
    assert read_json(path) == value


def test_json_of_another_shape_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    assert read_json(tmp_path / "a.json", "a") == {"a": 1}
    with pytest.raises(RunFolderError, match=r"a\.json is damaged \(it lacks a, b\)"):
        read_json(tmp_path / "a.json", "a", "b")


def test_numbers_that_json_does_not_have_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"a": float("inf")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b'{"a": 1', b"\xff\xfe", b"[1, 2] 3", b"[]", b"null"])
def test_damaged_json_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(RunFolderError, match=r"a\.json is damaged .*; delete the file and run again$"):
        read_json(tmp_path / "a.json")


def test_a_folder_whose_own_file_is_damaged_goes_as_a_whole(tmp_path: Path) -> None:
    for name, what in (("config.json", "its folder"), ("timings.json", "the file"), ("generation.json", "the file")):
        (tmp_path / name).write_text("{}")
        with pytest.raises(RunFolderError, match=rf"{name} is damaged .*; delete {what} and run again$"):
            read_json(tmp_path / name, "a")


def test_who_reads_a_file_knows_what_to_do_about_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[")
    with pytest.raises(RunFolderError, match=r"config\.json is damaged .*; mend it$"):
        read_json(tmp_path / "config.json", remedy="mend it")


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    for read in (read_json, lambda path: load_tensors(path, FORMAT)):
        with pytest.raises(RunFolderError, match="is a folder, where a file should be; move it away"):
            read(tmp_path)


# -- tensors ------------------------------------------------------------------------------------------


def test_tensors_round_trip(tmp_path: Path) -> None:
    tensors = {
        "whole": torch.arange(6).reshape(2, 3),
        "transposed": torch.arange(6).reshape(2, 3).T,
        "expanded": torch.ones(1).expand(4),
        "empty": torch.empty(0, 5),
        "flags": torch.tensor([True, False]),
        "half": torch.tensor([0.1], dtype=torch.float16),
    }
    save_tensors(tmp_path / "a.safetensors", tensors, {"format": FORMAT, "note": "ß"})
    found, metadata = load_tensors(tmp_path / "a.safetensors", FORMAT)
    assert metadata == {"format": FORMAT, "note": "ß"}
    assert set(found) == set(tensors)
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)


def test_tensors_that_share_memory_round_trip(tmp_path: Path) -> None:
    one = torch.arange(4)
    save_tensors(tmp_path / "a.safetensors", {"one": one, "same": one, "part": one[:2]}, {"format": FORMAT})
    found, _ = load_tensors(tmp_path / "a.safetensors", FORMAT)
    assert {name: tensor.tolist() for name, tensor in found.items()} == {
        "one": [0, 1, 2, 3],
        "same": [0, 1, 2, 3],
        "part": [0, 1],
    }


@pytest.mark.parametrize("keep", [0, 1, 7, 20, -1])
def test_cut_off_tensors_are_named(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a.safetensors"
    save_tensors(path, {"a": torch.arange(100)}, {"format": FORMAT})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(RunFolderError, match=r"a\.safetensors is damaged .*; delete it and run again"):
        load_tensors(path, FORMAT)


def test_tensors_that_are_not_there_are_missing_and_need_not_be_deleted(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"a\.safetensors is missing; run again to make it anew$"):
        load_tensors(tmp_path / "a.safetensors", FORMAT)


def test_another_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_text("this is a letter to a friend")
    with pytest.raises(RunFolderError, match="is damaged"):
        load_tensors(tmp_path / "a.safetensors", FORMAT)


@pytest.mark.parametrize("metadata", [{"format": "other.2"}, {}])
def test_another_format_is_named(tmp_path: Path, metadata: dict[str, str]) -> None:
    save_tensors(tmp_path / "a.safetensors", {"a": torch.arange(3)}, metadata)
    with pytest.raises(RunFolderError, match=f"not '{FORMAT}'"):
        load_tensors(tmp_path / "a.safetensors", FORMAT)


def test_files_of_another_version_are_named_so(tmp_path: Path) -> None:
    path = tmp_path / "some.safetensors"
    save_tensors(path, {"a": torch.zeros(1)}, {"format": "dignn.Thing.1"})
    with pytest.raises(RunFolderError, match=r"was written by another version of dignn; delete it and run again$"):
        load_tensors(path, "dignn.Thing.2")
    with pytest.raises(RunFolderError, match=r"holds 'dignn.Thing.1', not 'dignn.Other.1'; give another file$"):
        load_tensors(path, "dignn.Other.1")
