"""Finding, preparing, downloading raw files: no write in DIGNN_DATA, one clear sentence when something is missing."""

from __future__ import annotations

import logging
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from torch_geometric.datasets import DBLP, IMDB, TUDataset

from dignn.core.errors import DatasetUnavailableError, DignnError
from dignn.zoo.datasets.raw_files import RawSet, cache_folder
from dignn.zoo.datasets.raw_sets import DBLP_FILES, IMDB_FILES, MUTAG_FILES
from dignn.zoo.datasets.registry import DATASETS, load

FILE_SETS = [name for name, info in DATASETS.items() if info.files is not None]


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without data: DIGNN_DATA and the cache exist and are empty."""
    for variable, folder in (("DIGNN_DATA", "data"), ("DIGNN_CACHE", "cache")):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / folder))
    return tmp_path


class Toy:
    """Stands in for a PyTorch Geometric dataset class: downloads if raw is empty, processes, prints."""

    def __init__(self, root: str) -> None:
        raw, processed = Path(root) / "raw" / "numbers.txt", Path(root) / "processed" / "sum.txt"
        if not raw.exists():
            raw.parent.mkdir(parents=True)
            raw.write_text("1 2 3")
        if not processed.exists():
            print("Processing...")  # noqa: T201
            processed.parent.mkdir(parents=True)
            processed.write_text(str(sum(map(int, raw.read_text().split()))))
        self.sum = int(processed.read_text())


def unreachable(root: str) -> None:
    raise OSError("no route\nto host")


TOY = RawSet(name="toy", title="Toy", folder="TOY", files=("numbers.txt",), url="https://example.org/toy", open=Toy)


def put(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "numbers.txt").write_text(text)
    return folder


# -- names --------------------------------------------------------------------------------------------


def test_unknown_name_is_answered_with_the_closest_and_the_list() -> None:
    with pytest.raises(
        DignnError, match=r"no data set called 'DBPL' \(did you mean 'dblp'\?\); choose from planted, dblp"
    ):
        load("DBPL")
    with pytest.raises(DignnError, match=r"no data set called 'zzz'; choose from"):
        load("zzz")


# -- missing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILE_SETS)
def test_a_missing_set_says_where_it_was_looked_for_and_what_to_do(name: str, empty: Path) -> None:
    assert not DATASETS[name].available
    with pytest.raises(DatasetUnavailableError) as caught:
        load(name)
    message = str(caught.value)
    assert "\n" not in message
    assert ". " not in message
    assert f"no folder {empty / 'data'}" in message
    assert str(empty / "cache") in message
    assert ("download=True" in message) == DATASETS[name].downloadable
    assert not list((empty / "cache").iterdir())


def test_a_set_that_cannot_be_downloaded_says_where_to_put_the_file(empty: Path) -> None:
    place = empty / "data" / "BA3" / "raw"
    with pytest.raises(DatasetUnavailableError, match=f"cannot be downloaded.*put BA-3motif.npz into {place}"):
        load("ba-3motif", download=True)


def test_without_dignn_data_the_message_says_so(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIGNN_DATA")
    with pytest.raises(DatasetUnavailableError, match="DIGNN_DATA is not set"):
        load("dblp")


def test_a_half_empty_folder_is_described_by_what_it_lacks(empty: Path) -> None:
    (empty / "data" / "TOY" / "raw").mkdir(parents=True)
    with pytest.raises(DatasetUnavailableError, match=r"raw lacks numbers\.txt"):
        TOY.find(download=False)


def test_generated_sets_need_no_files(empty: Path) -> None:
    for name, info in DATASETS.items():
        if info.files is None:
            assert info.available
            assert load(name).name == name


# -- cache --------------------------------------------------------------------------------------------


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIGNN_CACHE", "/a")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    monkeypatch.setenv("HOME", "/c")
    assert cache_folder() == Path("/a")
    monkeypatch.delenv("DIGNN_CACHE")
    assert cache_folder() == Path("/b/dignn")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path("/c/.cache/dignn")


def test_the_users_copy_comes_before_the_cache_and_is_never_written(empty: Path, capfd: pytest.CaptureFixture) -> None:
    put(empty / "cache" / "datasets" / "TOY" / "raw", "7")
    raw = put(empty / "data" / "TOY" / "raw", "1 2")
    before = sorted(empty.joinpath("data").rglob("*"))
    for path in (raw / "numbers.txt", raw, raw.parent):
        path.chmod(path.stat().st_mode & ~0o222)
    assert TOY.find(download=False) == raw
    assert TOY.read(raw).sum == 3
    assert sorted(empty.joinpath("data").rglob("*")) == before
    assert capfd.readouterr() == ("", "")
    for path in (raw.parent, raw):
        path.chmod(0o755)


def test_other_raw_files_are_prepared_anew(empty: Path) -> None:
    raw = put(empty / "data" / "TOY" / "raw", "1 2")
    stamp = (raw / "numbers.txt").stat()
    assert TOY.read(raw).sum == 3
    put(raw, "1 9")
    os.utime(raw / "numbers.txt", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # same size, same time, other content
    assert TOY.read(raw).sum == 10


def test_many_may_prepare_at_once(empty: Path) -> None:
    raw = put(empty / "data" / "TOY" / "raw", "1 2 3 4")
    with ThreadPoolExecutor(8) as pool:
        assert {toy.sum for toy in pool.map(lambda _: TOY.read(raw), range(32))} == {10}
    assert len(list(TOY.cached.iterdir())) == 1  # no temporary folder is left


def test_damaged_raw_files_are_named_and_nothing_half_prepared_stays(empty: Path) -> None:
    raw = put(empty / "data" / "TOY" / "raw", "one two")
    with pytest.raises(
        DatasetUnavailableError, match=r"raw files of Toy in .* cannot be read \(ValueError.*replace them"
    ):
        TOY.read(raw)
    assert list(TOY.cached.iterdir()) == []


def test_damaged_prepared_files_are_named(empty: Path) -> None:
    raw = put(empty / "data" / "TOY" / "raw", "1")
    TOY.read(raw)
    (prepared,) = TOY.cached.iterdir()
    (prepared / "processed" / "sum.txt").write_text("?")
    with pytest.raises(DatasetUnavailableError, match=f"delete {prepared} and load again"):
        TOY.read(raw)


def test_a_cache_that_cannot_be_made_is_named(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = put(empty / "data" / "TOY" / "raw", "1")
    (empty / "file").write_text("")
    monkeypatch.setenv("DIGNN_CACHE", str(empty / "file"))
    with pytest.raises(DatasetUnavailableError, match="set DIGNN_CACHE"):
        TOY.read(raw)


# -- names of columns ---------------------------------------------------------------------------------


def test_names_are_lines_of_text_files_beside_raw(empty: Path) -> None:
    raw = put(empty / "data" / "TOY" / "raw", "1")
    assert TOY.names(raw, "vocabulary", "word") is None
    (raw.parent / "vocabulary_word.txt").write_text("alpha\n\u2028 beta\n\ngamma\n", encoding="utf-8")
    assert TOY.names(raw, "vocabulary", "word", 4) == ("alpha", "\u2028 beta", "", "gamma")
    with pytest.raises(DatasetUnavailableError, match="has 4 lines where 5 are needed"):
        TOY.names(raw, "vocabulary", "word", 5)


# -- download -----------------------------------------------------------------------------------------


def test_a_download_is_announced_and_kept(empty: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="dignn"):
        raw = TOY.find(download=True)
    assert "Downloading Toy from https://example.org/toy" in caplog.text
    assert raw == TOY.cached / "raw"
    assert TOY.local() == raw
    assert TOY.read(raw).sum == 6
    caplog.clear()
    assert TOY.find(download=True) == raw
    assert "Downloading" not in caplog.text


def test_a_failed_download_is_one_sentence_and_leaves_nothing(empty: Path) -> None:
    offline = RawSet(name="toy", title="Toy", folder="TOY", files=("n.txt",), url="https://x.org", open=unreachable)
    with pytest.raises(DatasetUnavailableError) as caught:
        offline.find(download=True)
    message = str(caught.value)
    assert message.startswith("The download of Toy from https://x.org failed (OSError: no route to host); check")
    assert list(offline.cached.iterdir()) == []


def test_an_incomplete_download_is_named(empty: Path) -> None:
    wanting = RawSet(name="toy", title="Toy", folder="TOY", files=("numbers.txt", "more.txt"), url="x", open=Toy)
    with pytest.raises(DatasetUnavailableError, match=r"incomplete: .*raw lacks more\.txt"):
        wanting.find(download=True)


# -- BA-3Motif's file ---------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["text", "array", "pickle"])
def test_a_foreign_npz_is_named_and_never_unpickled(empty: Path, content: str) -> None:
    path = empty / "data" / "BA3" / "raw" / "BA-3motif.npz"
    path.parent.mkdir(parents=True)
    if content == "text":
        path.write_text("hello")
    elif content == "array":
        np.savez(path, y=np.arange(3))
    else:
        fields = dict.fromkeys(("node_ptr", "edge_ptr", "edge_index", "y", "split"), np.array([{}], dtype=object))
        np.savez(path, **fields)
    with pytest.raises(DatasetUnavailableError, match="is not BA-3Motif"):
        load("ba-3motif")


def test_mutag_names_are_known_without_text_files(empty: Path, dignn_data: Path) -> None:
    shutil.copytree(dignn_data / "MUTAG" / "raw", empty / "data" / "MUTAG" / "raw")
    schema = load("mutag").schema
    assert schema.node_types == ("C", "N", "O", "F", "I", "Cl", "Br")
    assert schema.classes == ("non-mutagenic", "mutagenic")


def test_messages_name_the_place_that_pytorch_geometric_downloads_from() -> None:
    assert (DBLP_FILES.url, IMDB_FILES.url) == (DBLP.url, IMDB.url)
    assert MUTAG_FILES.url == f"{TUDataset.url}/MUTAG.zip"
