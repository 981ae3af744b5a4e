"""Reads what other tools made: sets of graphs as JSON, feature tables as NumPy archives.

A file of graphs is ``{"graphs": [{"n": 3, "edges": [[0, 1], [1, 2]], "types": [0, 1, 0]}, ...]}``: nodes from 0 to
n - 1, undirected edges in any direction and however often, u = v for a self-loop; without ``types`` all nodes are of
type 0. A table is the array ``x`` (rows, columns) of an ``.npz`` file. Every breach is one sentence with the file's
name.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from dignn.core.errors import DignnError
from dignn.graphs.plain_graph import PlainGraph

# The metrics are for small graphs: they hold a matrix of all pairs of nodes and count types by position.
MOST_NODES = 2000
MOST_TYPES = 1000
# Squares of larger values, and sums of them, leave the range of floats.
LARGEST = 1e30
# How an archive of arrays and a single array begin.
_NPZ, _NPY = b"PK", b"\x93NUMPY"
_WRITE = "write it with numpy.savez(path, x=table), where table is an array of numbers"
_FORM = '{"graphs": [{"n": 2, "edges": [[0, 1]], "types": [0, 1]}]}'


def read_graphs(path: Path | str) -> list[PlainGraph]:
    """The graphs of a JSON file, empty ones included.

    Raises:
        DignnError: the file cannot be read, or breaks the format.
    """
    try:
        # Some editors mark UTF-8 by three bytes at the beginning; "utf-8-sig" takes both forms.
        raw = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise DignnError(f"{path} is not JSON ({error}); write {_FORM}") from error
    graphs = raw.get("graphs") if isinstance(raw, dict) else None
    if not isinstance(graphs, list):
        raise DignnError(f'{path} has no list "graphs"; write {_FORM}')
    try:
        return [_graph(number, graph) for number, graph in enumerate(graphs)]
    except DignnError as error:
        raise DignnError(f"{path}: {error}") from error


def read_table(path: Path | str) -> np.ndarray:
    """The array ``x`` of an ``.npz`` file: finite real numbers, rows and columns, at least one.  (n, d)

    Raises:
        DignnError: the file cannot be read, or breaks the format. Nothing pickled is ever loaded.
    """
    try:
        # Opened here, because an archive that is refused would stay open otherwise.
        with open(path, "rb") as file:
            start = file.read(len(_NPY))
            if start == _NPY:
                raise DignnError(f"{path} is a single array; {_WRITE}")
            if not start.startswith(_NPZ):
                raise DignnError(f"{path} is no .npz file; {_WRITE}")
            file.seek(0)
            archive = np.load(file, allow_pickle=False)
            if "x" not in archive.files:
                there = ", ".join(archive.files) or "nothing"
                raise DignnError(f"{path} has no array x (it has {there}); {_WRITE}")
            table: np.ndarray = archive["x"]
    except OSError as error:
        raise _unreadable(path, error) from error
    except DignnError:
        raise
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        # Not in NumPy's words, which advise to load what is pickled.
        raise DignnError(f"{path} is no .npz file of plain numbers, or is damaged; {_WRITE}") from error
    if not isinstance(table, np.ndarray) or table.dtype.kind not in "biuf":
        raise DignnError(f"{path}: x holds no real numbers ({getattr(table, 'dtype', 'text')}); give such numbers")
    if table.ndim != 2 or not table.size:
        raise DignnError(f"{path}: x has shape {table.shape}; it needs rows and columns, at least one of each")
    if np.isinf(table).any():
        raise DignnError(f"{path}: x holds infinity; replace it by numbers first, or by NaN where a value is missing")
    if np.isnan(table).all(0).any():
        column = int(np.flatnonzero(np.isnan(table).all(0))[0])
        raise DignnError(f"{path}: column {column} of x is NaN in every row; leave it out")
    if table.dtype.kind == "f" and float(max(np.nanmax(table), -np.nanmin(table))) > LARGEST:
        raise DignnError(f"{path}: x holds values beyond {LARGEST:.0e}; scale its columns first")
    return table


def read_tables(real: Path | str, generated: Path | str) -> tuple[np.ndarray, np.ndarray]:
    """Two tables with the same columns."""
    one, other = read_table(real), read_table(generated)
    if one.shape[1] != other.shape[1]:
        raise DignnError(f"{generated} has {other.shape[1]} columns and {real} {one.shape[1]}; give the same columns")
    return one, other


# -- graphs -------------------------------------------------------------------------------------------


def _graph(number: int, raw: Any) -> PlainGraph:
    """One graph; ``number`` is its place in the list."""
    here = f"graph {number} (counted from 0)"
    if not isinstance(raw, dict) or not {"n", "edges"} <= set(raw):
        raise DignnError(f'{here} has no "n" or no "edges"; write {_FORM}')
    size, edges, types = _whole(raw["n"]), raw["edges"], raw.get("types")
    if size is None or size < 0:
        raise DignnError(f"{here} says n = {_short(raw['n'])}; n is the number of nodes, 0 or more")
    if size > MOST_NODES:
        raise DignnError(f"{here} has {size} nodes; graphs of up to {MOST_NODES} nodes are compared, cut it smaller")
    if not isinstance(edges, list):
        raise DignnError(f"{here} has edges that are not a list; write [[0, 1], [1, 2]]")
    pairs = [_edge(here, edge, size) for edge in edges]
    if types is None:
        return PlainGraph.from_edges(size, pairs)
    if not isinstance(types, list) or len(types) != size:
        found = f"{len(types)} types" if isinstance(types, list) else "types that are not a list"
        raise DignnError(f"{here} has {found} for {size} nodes; give one type for each node, or none at all")
    return PlainGraph.from_edges(size, pairs, [_type(here, value) for value in types])


def _edge(here: str, edge: Any, size: int) -> tuple[int, int]:
    ends = [_whole(end) for end in edge] if isinstance(edge, list) and len(edge) == 2 else []
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise DignnError(f"{here} has the edge {_short(edge)}; an edge is a pair of node numbers, like [0, 1]")
    if not (0 <= ends[0] < size and 0 <= ends[1] < size):
        raise DignnError(f"{here} has the edge {_short(edge)}, but its nodes are numbered from 0 to n - 1 = {size - 1}")
    return ends[0], ends[1]


def _type(here: str, value: Any) -> int:
    code = _whole(value)
    if code is None or not 0 <= code < MOST_TYPES:
        raise DignnError(
            f"{here} has the node type {_short(value)}; types are whole numbers from 0 to {MOST_TYPES - 1}, the same "
            "for all files"
        )
    return code


def _whole(value: Any) -> int | None:
    """A whole number, also one that was written as 2.0; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _unreadable(path: Path | str, error: OSError) -> DignnError:
    return DignnError(f"{path} cannot be read ({error.strerror or error}); give the path of a file that exists")
