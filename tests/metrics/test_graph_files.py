"""Files of other tools: what is read, and one sentence with the file's name for everything else."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.errors import DignnError
from dignn.metrics.graph_files import MOST_NODES, read_graphs, read_table, read_tables
from strategies import PROPERTY

GRAPH = {"n": 3, "edges": [[0, 1], [2, 1], [1, 2], [2, 2]], "types": [4, 0, 1]}


def graphs_file(folder: Path, graphs: Any) -> Path:
    path = folder / "graphs.json"
    path.write_text(json.dumps({"graphs": graphs}))
    return path


def refusal(path: Path, read: Any = read_graphs) -> str:
    """The message, which names the file, is one line and says what to do."""
    with pytest.raises(DignnError) as caught:
        read(path)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    assert ";" in message or "numbered" in message
    return message


# -- graphs -------------------------------------------------------------------------------------------


def test_a_graph(tmp_path: Path) -> None:
    graph, bare, empty = read_graphs(graphs_file(tmp_path, [GRAPH, {"n": 2, "edges": []}, {"n": 0, "edges": []}]))
    assert graph.adjacency.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 1]]
    assert graph.types.tolist() == [4, 0, 1]
    assert bare.types.tolist() == [0, 0]
    assert not bare.adjacency.any()
    assert len(empty) == 0
    assert read_graphs(str(graphs_file(tmp_path, []))) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n": -1}, "n = -1"),
        ({"n": "3"}, 'n = "3"'),
        ({"n": 2.5}, "n = 2.5"),
        ({"n": None}, "n = null"),
        ({"n": True}, "n = true"),
        ({"n": float("nan")}, "n = NaN"),
        ({"n": float("inf")}, "n = Infinity"),
        ({"n": MOST_NODES + 1}, f"{MOST_NODES + 1} nodes"),
        ({"n": 10**30}, "nodes"),
        ({"edges": [[0, 3]]}, "the edge [0, 3], but its nodes are numbered from 0 to n - 1 = 2"),
        ({"edges": [[-1, 0]]}, "the edge [-1, 0]"),
        ({"edges": [[0, 1, 2]]}, "the edge [0, 1, 2]"),
        ({"edges": [[0]]}, "the edge [0]"),
        ({"edges": [0, 1]}, "the edge 0"),
        ({"edges": [["a", "b"]]}, 'the edge ["a", "b"]'),
        ({"edges": [[0, 0.5]]}, "the edge [0, 0.5]"),
        ({"edges": [[0, None]]}, "the edge [0, null]"),
        ({"edges": {"0": 1}}, "edges that are not a list"),
        ({"edges": None}, "edges that are not a list"),
        ({"edges": [list(range(1000))]}, "..."),
        ({"types": [0, 1]}, "2 types for 3 nodes"),
        ({"types": []}, "0 types for 3 nodes"),
        ({"types": "abc"}, "types that are not a list"),
        ({"types": [0, 1, "paper"]}, 'the node type "paper"'),
        ({"types": [0, 1, -1]}, "the node type -1"),
        ({"types": [0, 1, 1.5]}, "the node type 1.5"),
        ({"types": [0, 1, 10**9]}, "the node type 1000000000"),
        ({"types": [0, 1, [2]]}, "the node type [2]"),
    ],
)
def test_a_graph_that_breaks_the_format(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    message = refusal(graphs_file(tmp_path, [GRAPH, {**GRAPH, **change}]))
    assert said in message
    assert "graph 1 (counted from 0)" in message
    assert len(message) < 400


@pytest.mark.parametrize("graph", [None, 3, [], "graph", {}, {"n": 1}, {"edges": []}])
def test_no_graph_at_all(tmp_path: Path, graph: Any) -> None:
    assert 'has no "n" or no "edges"' in refusal(graphs_file(tmp_path, [graph]))


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '{"graphs": {}}', '{"graphs": null}', '{"graph": []}'])
def test_no_list_of_graphs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "graphs.json"
    path.write_text(text)
    assert 'no list "graphs"' in refusal(path)


@pytest.mark.parametrize("content", [b"", b"{", b'{"graphs": [', b"\xff\xfe\x00", b"\x80\x04\x95", b"[" * 100_000])
def test_not_json(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "graphs.json"
    path.write_bytes(content)
    assert "is not JSON" in refusal(path)


@pytest.mark.parametrize("read", [read_graphs, read_table])
def test_no_file(tmp_path: Path, read: Any) -> None:
    assert "cannot be read" in refusal(tmp_path / "absent", read)
    assert "cannot be read" in refusal(tmp_path, read)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.text(max_size=3),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(st.sampled_from(["graphs", "n", "edges", "types"]), part, max_size=4)
    ),
    max_leaves=12,
)


@given(
    JSON | st.fixed_dictionaries({"graphs": st.lists(st.fixed_dictionaries({"n": JSON, "edges": JSON, "types": JSON}))})
)
@PROPERTY
def test_anything_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.mktemp("any") / "graphs.json"
    path.write_text(json.dumps(value))
    try:
        graphs = read_graphs(path)
    except DignnError:
        with pytest.raises(DignnError, match=re.escape(str(path))):
            read_graphs(path)
    else:
        assert len(graphs) == len(value["graphs"])


# -- tables -------------------------------------------------------------------------------------------


def saved(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "table.npz", **arrays)
    return folder / "table.npz"


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, ">f8"])
def test_a_table(tmp_path: Path, dtype: Any) -> None:
    rows = np.array([[0, 1, 1], [1, 0, 0]], dtype=dtype)
    assert read_table(saved(tmp_path, x=rows, other=np.array(["a"]))).tolist() == rows.tolist()
    np.savez_compressed(tmp_path / "small.npz", x=rows)
    assert read_table(str(tmp_path / "small.npz")).tolist() == rows.tolist()


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"y": np.eye(2)}, "has no array x (it has y)"),
        ({}, "has no array x (it has nothing)"),
        ({"x": np.ones(3)}, "shape (3,)"),
        ({"x": np.ones((2, 2, 2))}, "shape (2, 2, 2)"),
        ({"x": np.ones((0, 3))}, "shape (0, 3)"),
        ({"x": np.ones((3, 0))}, "shape (3, 0)"),
        ({"x": np.float64(1)}, "shape ()"),
        ({"x": np.array([[np.nan, 1]])}, "NaN"),
        ({"x": np.array([[np.inf, 1]])}, "infinity"),
        ({"x": np.array([["a", "b"]])}, "no real numbers"),
        ({"x": np.array([[1j]])}, "no real numbers"),
        ({"x": np.array([[None, {}]], dtype=object)}, "no .npz file of plain numbers"),
        ({"x": np.array([[0, 1e300]])}, "values beyond 1e+30; scale its columns first"),
        ({"x": np.array([[-2e30, 1]], dtype=np.float32)}, "values beyond 1e+30"),
    ],
)
def test_a_table_that_breaks_the_format(tmp_path: Path, arrays: dict[str, Any], said: str) -> None:
    assert said in refusal(saved(tmp_path, **arrays), read_table)


def test_files_that_are_no_archives(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    whole = saved(tmp_path, x=np.eye(50)).read_bytes()
    for content in (b"", b"x", b"PK\x03\x04 nothing", pickle.dumps([1]), whole[: len(whole) // 2], whole[:-10]):
        path.write_bytes(content)
        said = refusal(path, read_table)
        assert "is no .npz file" in said
        assert "pickle" not in said
    with path.open("wb") as file:
        np.save(file, np.eye(3))
    assert "single array" in refusal(path, read_table)


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self._path,)


def test_nothing_pickled_is_loaded(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    path = saved(tmp_path, x=np.array([[Trap(sprung)]], dtype=object))
    refusal(path, read_table)
    path.write_bytes(pickle.dumps(Trap(sprung)))
    refusal(path, read_table)
    assert not sprung.exists()


def test_tables_of_one_width(tmp_path: Path) -> None:
    real, made = tmp_path / "real.npz", tmp_path / "made.npz"
    np.savez(real, x=np.ones((3, 2)))
    np.savez(made, x=np.zeros((5, 2)))
    assert [table.shape for table in read_tables(real, made)] == [(3, 2), (5, 2)]
    np.savez(made, x=np.zeros((5, 4)))
    with pytest.raises(DignnError, match=r"made\.npz has 4 columns and .*real\.npz 2"):
        read_tables(real, made)
