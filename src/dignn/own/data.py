"""Reads a data file that was written by ``torch.save``, and a JSON file with names of feature columns."""

from __future__ import annotations

import json
import pickle
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import BaseStorage, EdgeStorage, GlobalStorage, NodeStorage

from dignn.errors import DignnError

Graphs: TypeAlias = Data | HeteroData | list[Data | HeteroData]

# What a saved Data or HeteroData consists of beside tensors, numbers, text and the classes that PyTorch Geometric
# allows by itself. None of them runs anything when it is read.
SAFE = [Data, HeteroData, DataEdgeAttr, DataTensorAttr, BaseStorage, EdgeStorage, GlobalStorage, NodeStorage]


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
    if isinstance(content, Batch):
        raise DignnError(f"{path} holds a Batch; save its graphs as a list, batch.to_data_list()")
    if isinstance(content, (Data, HeteroData)):
        return content
    if isinstance(content, (list, tuple)):
        others = {type(item).__name__ for item in content if not isinstance(item, (Data, HeteroData))}
        if content and not others:
            return list(content)
        what = f"a {type(content).__name__} with {', '.join(sorted(others))}" if others else "an empty list"
    else:
        what = f"a {type(content).__name__}"
    raise DignnError(f"{path} holds {what}; save a HeteroData, a Data, or a list of them with torch.save(data, path)")


def load_names(path: Path | str) -> dict[str, list[str]]:
    """Names of feature columns by node type, from a JSON file such as ``{"author": ["mining", "query"]}``."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DignnError(f"{path} cannot be read ({error.strerror or error}); give a JSON file with names") from error
    except ValueError as error:  # not JSON, or not text
        raise DignnError(
            f"{path} is not JSON ({error}); write, for example, {{'author': ['mining', 'query']}}"
        ) from error
    fits = isinstance(content, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in content.values()
    )
    if not fits:
        raise DignnError(
            f'{path} must hold a list of names by node type, for example {{"author": ["mining", "query"]}}'
        )
    return content
