"""What an explainer may be given: refused at once, before anything is computed, in one sentence each."""

from __future__ import annotations

import inspect
import json
from types import NoneType
from typing import Any

from torch_geometric.data import Data, HeteroData

from dignn.core.checks import instance, path, shown
from dignn.core.errors import DignnError
from dignn.graphs.intake import graphs_of
from dignn.graphs.motif import GroundTruth
from dignn.graphs.schema import Layout, Schema
from dignn.graphs.tasks.base import Task


def check_subject(target: object, task: object, schema: object, truth: object, forward: object) -> None:
    """What is explained, and how it is described."""
    instance("target", target, (str, NoneType), "the name of the classified node type")
    instance("task", task, (Task, NoneType), "a Task")
    instance("schema", schema, (Schema, NoneType), "a Schema, for example of infer_schema")
    instance("truth", truth, (GroundTruth, NoneType), "a GroundTruth, the motifs and keywords of each class")
    if not (forward is None or callable(forward)):
        raise DignnError(f"forward is {shown(forward)}; give a function of the model and the data")


def check_fits(data: Any, schema: Schema) -> None:
    """Raises where the data is not of the class that the schema describes, or one graph where graphs are classified."""
    graphs = graphs_of(data)
    wanted = "HeteroData" if schema.layout is Layout.HETERO else "Data"
    several = f"a list of {wanted}" if schema.task.of_graphs else f"a {wanted}"
    one = isinstance(data, (Data, HeteroData))
    if isinstance(graphs[0], HeteroData) != (schema.layout is Layout.HETERO) or (one and schema.task.of_graphs):
        found = f"a {type(data).__name__}" if one else f"a list of {type(graphs[0]).__name__}"
        raise DignnError(f"The data is {found}, but the schema is of {several}; give that, or another schema")


def check_fresh(fresh: Any) -> None:
    """Other data, or a function without arguments that makes it."""
    wanted = "give a Data, a HeteroData, a list of them, or a function without arguments that returns one"
    if fresh is None:
        return
    if not callable(fresh) or isinstance(fresh, (Data, HeteroData)):  # a graph can be called, too
        try:
            graphs_of(fresh)
        except DignnError as error:
            raise DignnError(f"fresh is {shown(fresh)}; {wanted}") from error
        return
    try:
        inspect.signature(fresh).bind()
    except TypeError as error:
        raise DignnError(f"fresh is a function that needs arguments ({error}); {wanted}") from error
    except ValueError:  # some functions written in C do not tell
        return


def made_fresh(fresh: Any) -> Any:
    """The other data, made if need be.

    Raises:
        DignnError: the function fails.
    """
    if isinstance(fresh, (Data, HeteroData)) or not callable(fresh):
        return fresh
    try:
        return fresh()
    except DignnError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise DignnError(
            f"The function that was given as fresh= fails ({why}); mend it, or leave fresh= out"
        ) from error


def check_run(folder: object, about: object, progress: object) -> dict[str, Any]:
    """Where a run is kept and who is told; returns what the run is said to be of, as a file gives it back."""
    if folder is not None:
        path("folder", folder)
    if progress is not None and not callable(getattr(progress, "stage", None)):
        raise DignnError(f"progress is {shown(progress)}; give a Progress, which has a method stage, or nothing")
    instance("about", about, (dict, NoneType), "a dictionary for config.json")
    try:
        return json.loads(json.dumps(about or {}, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise DignnError(
            f"about holds what JSON cannot ({error}); give texts, numbers, lists and dictionaries"
        ) from error
