"""Reads a data file that was written by ``torch.save``."""

from __future__ import annotations

import pickle
import re
import warnings
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import AttrType, BaseStorage, EdgeStorage, GlobalStorage, NodeStorage

from dignn.core.errors import DignnError, SchemaError
from dignn.graphs.intake import Graphs, given_graphs

# What a saved Data or HeteroData consists of beside tensors, numbers, text and the classes that PyTorch Geometric
# allows by itself. None of them runs anything when it is read.
SAFE = [Data, HeteroData, DataEdgeAttr, DataTensorAttr, BaseStorage, EdgeStorage, GlobalStorage, NodeStorage]
SAFE += [AttrType, defaultdict, set]  # in which a graph notes which of its fields are of nodes, and which of edges


def load_data(path: Path | str, *, trust: bool = False) -> Graphs:
    """The graphs in a file of ``torch.save``: a ``HeteroData``, a ``Data``, or a list of them, on the CPU.

    Args:
        path: the file.
        trust: whether it may hold anything else, whose reading can run any code.

    Raises:
        DignnError: there is no such file, it holds something else, or it needs ``trust``.
    """
    path = Path(path)
    if path.is_dir():
        raise DignnError(f"{path} is a folder; give the data file in it")
    if not path.is_file():
        raise DignnError(f"There is no data file {path}; give the path of one")
    return _graphs(_read(path, trust), path)


def _read(path: Path, trust: bool) -> Any:
    try:
        with torch.serialization.safe_globals(SAFE), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of the pickle protocol, which what follows speaks about
            return torch.load(path, map_location="cpu", weights_only=not trust)
    except pickle.UnpicklingError as error:
        found = re.search(r"GLOBAL ([\w.]+)", str(error))
        if trust or not (found or zipfile.is_zipfile(path)):
            raise _unreadable(path, error) from error
        what = f"{found[1]}, which is no part" if found else "more than the parts"
        raise DignnError(
            f"{path} holds {what} of a Data or HeteroData, so reading it can run any code of whoever wrote it; "
            "add --trust if that is you or somebody you trust, or save the graphs alone"
        ) from error
    except OSError as error:
        raise DignnError(f"{path} cannot be read ({error.strerror or error}); give another file") from error
    except Exception as error:  # torch raises RuntimeError, EOFError, KeyError, ... for files of other kinds
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> DignnError:
    first = str(error).strip().splitlines()[0][:120] if str(error).strip() else "it ends too early"
    why = "" if isinstance(error, (pickle.UnpicklingError, KeyError)) else f" ({type(error).__name__}: {first})"
    return DignnError(
        f"{path} is damaged or was not written by torch.save{why}; save your Data, HeteroData or list with "
        "torch.save(data, path)"
    )


def _graphs(content: Any, path: Path) -> Graphs:
    try:
        return given_graphs(content)
    except SchemaError as error:
        raise DignnError(f"{path} does not hold graphs: {error}") from error
