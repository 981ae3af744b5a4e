"""What stays behind of a kill goes, and what somebody is writing stays."""

from __future__ import annotations

from pathlib import Path

from dignn.core.locks import is_locked, locked
from dignn.core.whole_files import remove_left_behind, write_whole


def test_what_was_left_behind_goes_and_what_is_being_written_stays(tmp_path: Path) -> None:
    (tmp_path / ".a.json.abc.partial").write_text("{")
    (tmp_path / ".exports.partial").mkdir()
    seen = []

    def write(temporary: Path) -> None:
        temporary.write_text("{}")
        remove_left_behind(tmp_path)  # as another process does that begins with the same folder
        seen.extend(sorted(path.name for path in tmp_path.iterdir()))
        assert is_locked(temporary)

    write_whole(tmp_path / "b.json", write, Path.replace)
    assert ".a.json.abc.partial" not in seen
    assert len(seen) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [".exports.partial", "b.json"]


def test_a_lock_is_seen_while_somebody_is_inside(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        assert is_locked(tmp_path)
    assert not is_locked(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_locked_work_goes_on(tmp_path: Path) -> None:
    with locked(tmp_path / "nowhere"):
        assert not is_locked(tmp_path / "nowhere")
