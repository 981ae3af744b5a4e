"""Files with a line for every finished run: what was cut off, who writes at the same time, what is no such file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dignn.cli.finished_lines import append_line, read_lines
from dignn.core.errors import DignnError

WRITER = "import sys; from pathlib import Path; from dignn.cli.finished_lines import append_line\n"
WRITER += "line = {'by': sys.argv[2], 'more': 'x' * 5000}\n"
WRITER += "for number in range(100): append_line(Path(sys.argv[1]), {**line, 'number': number})"


def test_a_last_line_counts_where_only_its_end_is_lacking(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"run": 1}\n{"run": 2}')
    assert read_lines(path) == [{"run": 1}, {"run": 2}]
    append_line(path, {"run": 3})
    assert path.read_text() == '{"run": 1}\n{"run": 2}\n{"run": 3}\n'


@pytest.mark.parametrize("last", ['{"run": 2', "2", '{"run": "ü'])
def test_a_last_line_that_was_cut_off_does_not_count(tmp_path: Path, last: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"run": 1}\n' + last.encode()[: -1 if "ü" in last else None])
    assert read_lines(path) == [{"run": 1}]
    append_line(path, {"run": 3})
    assert path.read_text() == '{"run": 1}\n{"run": 3}\n'


def test_several_that_write_at_the_same_time_lose_no_line(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"by": "nobo')
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "ab"]
    assert [one.wait() for one in writers] == [0, 0]
    found = [(line["by"], line["number"]) for line in read_lines(path)]
    assert sorted(found) == [(name, number) for name in "ab" for number in range(100)]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'\xff\xfe{"run": 1}\n', "is no text in UTF-8 (invalid start byte)"),
        (b"[1]\n", "is damaged (line 1: it is no object)"),
        (b'{"run": 1}\n\n', "is damaged (line 2: "),
        (b'{"run": 1}\n{"seed": 1}\n', "is damaged (line 2: it lacks run)"),
        (
            b'{"run": 1}\n{"run": 2, "paper": {"pf": 1.5}}\n',
            "(line 2: its paper.pf is 1.5, which is not between 0 and 1)",
        ),
        (b'{"run": 1, "gib": 1e999}\n', "(line 1: its gib is Infinity, which is no number)"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(content)
    with pytest.raises(DignnError) as refused:
        read_lines(path, ["run"])
    assert told in str(refused.value)


def test_figures_that_are_no_shares_may_be_anything(tmp_path: Path) -> None:
    """Of classes, which may have any name, of distances, and of what could not be measured."""
    line = {
        "run": 1,
        "sound": {"contrast": {"yield": -0.5}, "mmd": {"degree": -0.001}, "coverage": None},
        "floor": None,
    }
    path = tmp_path / "lines.jsonl"
    append_line(path, line)
    assert read_lines(path) == [line]


def test_a_line_is_one_object(tmp_path: Path) -> None:
    append_line(tmp_path / "new" / "lines.jsonl", {"run": "ü\n"})
    assert [json.loads(line) for line in (tmp_path / "new" / "lines.jsonl").read_text().splitlines()] == [
        {"run": "ü\n"}
    ]
