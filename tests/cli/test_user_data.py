"""Data files of users: what is read, and that nothing in them is run unasked."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData

from dignn.cli.user_data import load_data
from dignn.core.errors import DignnError


def _data() -> Data:
    return Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 1, 0]), title="a")


def _hetero() -> HeteroData:
    data = HeteroData()
    data["author"].x, data["author"].y = torch.eye(2), torch.tensor([0, 1])
    data["author"].names = ["Ada", "Emmy"]
    data["author", "knows", "author"].edge_index = torch.tensor([[0], [1]])
    return data


class Bomb:
    """Whoever unpickles it makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("made", [_data, _hetero, lambda: [_data(), _data()], lambda: [_hetero()]])
@pytest.mark.parametrize("legacy", [False, True])
def test_graphs_come_back_as_they_were_saved(made: Any, legacy: bool, tmp_path: Path) -> None:
    saved = made()
    torch.save(saved, tmp_path / "data.pt", _use_new_zipfile_serialization=not legacy)
    found = load_data(tmp_path / "data.pt")
    assert type(found) is type(saved)
    one, other = (value if isinstance(value, list) else [value] for value in (saved, found))
    assert len(one) == len(other)
    for before, after in zip(one, other, strict=True):
        assert type(before) is type(after)
        assert str(before.to_dict()) == str(after.to_dict())


@pytest.mark.parametrize("place", ["alone", "in the data", "in a list", "plain pickle", "newer pickle"])
def test_nothing_in_a_file_is_run_without_trust(place: str, tmp_path: Path) -> None:
    marker, path = tmp_path / "was-run", tmp_path / "data.pt"
    bomb, data = Bomb(marker), _data()
    data.more = bomb
    if place == "plain pickle":
        path.write_bytes(pickle.dumps(bomb, protocol=2))
    elif place == "newer pickle":
        torch.save(bomb, path, pickle_protocol=4)
    else:
        torch.save({"alone": bomb, "in the data": data, "in a list": [data]}[place], path)
    with pytest.raises(DignnError, match="can run any code.*--trust") as refused:
        load_data(path)
    assert "\n" not in str(refused.value)
    assert not marker.exists()
    # The file is as dangerous as the message says.
    if place in ("in the data", "in a list"):
        load_data(path, trust=True)
    else:
        with pytest.raises(DignnError):
            load_data(path, trust=True)
    assert marker.exists()


def test_the_classes_allowed_for_a_data_file_are_not_allowed_for_ever(tmp_path: Path) -> None:
    torch.save(_data(), tmp_path / "data.pt")
    before = set(torch.serialization.get_safe_globals())
    load_data(tmp_path / "data.pt")
    assert set(torch.serialization.get_safe_globals()) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"x": torch.ones(2)}, "does not hold graphs: The data is a dict; give a Data"),
        ([], "does not hold graphs: The list of graphs is empty"),
        ([torch.ones(2), _data()], "does not hold graphs: The list of graphs holds a Tensor"),
        (torch.ones(2), "does not hold graphs: The data is a Tensor"),
    ],
)
def test_other_content_is_named(content: Any, message: str, tmp_path: Path) -> None:
    torch.save(content, tmp_path / "data.pt")
    with pytest.raises(DignnError, match=message):
        load_data(tmp_path / "data.pt")


def test_a_batch_in_a_trusted_file_is_its_graphs(tmp_path: Path) -> None:
    torch.save(Batch.from_data_list([_data(), _data()]), tmp_path / "data.pt")
    found = load_data(tmp_path / "data.pt", trust=True)
    assert isinstance(found, list)
    assert [str(graph.to_dict()) for graph in found] == [str(_data().to_dict())] * 2


@pytest.mark.parametrize("content", [b"", b"hello\n" * 50, b"\x80\x02garbage", b"\x7fELF" + bytes(100), b"PK\x03\x04"])
@pytest.mark.parametrize("trust", [False, True])
def test_a_file_of_another_kind_is_named(content: bytes, trust: bool, tmp_path: Path) -> None:
    (tmp_path / "data.pt").write_bytes(content)
    with pytest.raises(DignnError, match="damaged or was not written by torch.save") as refused:
        load_data(tmp_path / "data.pt", trust=trust)
    assert "\n" not in str(refused.value)


def test_a_file_that_was_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.pt"
    torch.save(_data(), path)
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(DignnError, match="damaged"):
        load_data(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(DignnError, match="There is no data file"):
        load_data(tmp_path / "data.pt")
    with pytest.raises(DignnError, match="is a folder"):
        load_data(tmp_path)
