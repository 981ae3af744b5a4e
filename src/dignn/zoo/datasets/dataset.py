"""What a data set is: graphs, schema, splits, and the truth where it is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from dignn.zoo.datasets.raw_files import RawSet

if TYPE_CHECKING:  # what data sets there are is known without torch
    from torch import Tensor
    from torch_geometric.data import Data, HeteroData

    from dignn.graphs.motif import GroundTruth
    from dignn.graphs.schema import Schema


@dataclass(frozen=True)
class Dataset:
    """A loaded data set.

    Args:
        name: its name in the registry.
        data: one graph (node classification) or a list of graphs (graph classification).
        schema: with the names of columns and classes where they are known.
        splits: ``train``, ``val`` and ``test``, numbers of target nodes or of graphs.
        sizes: nodes per explanation graph.
        truth: ground truth, or None.
        members: names of single nodes by type (titles of movies), row by row, where they are known.
        columns: by type, the numbers of the original's feature columns that were selected
            (:mod:`dignn.zoo.datasets.column_selection`); types that have all their columns are not in it.
        homogeneous: whether it was converted to one kind of node (:mod:`dignn.zoo.datasets.one_kind`).
    """

    name: str
    data: HeteroData | Data | list[Data]
    schema: Schema
    splits: dict[str, Tensor]
    sizes: tuple[int, ...]
    truth: GroundTruth | None = None
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: dict[str, tuple[int, ...]] = field(default_factory=dict)
    homogeneous: bool = False


class Loader(Protocol):
    def __call__(self, *, seed: int, download: bool) -> Dataset: ...


def loader_of(module: str, name: str = "load", *given: str) -> Loader:
    """A loader that is imported when it is called.

    Args:
        module: its module in :mod:`dignn.zoo.datasets`.
        name: its name there.
        given: what it takes beside seed and download.
    """

    def load(*, seed: int, download: bool) -> Dataset:
        return getattr(import_module(f"dignn.zoo.datasets.{module}"), name)(*given, seed=seed, download=download)

    return load


@dataclass(frozen=True)
class DatasetInfo:
    """A line of ``dignn datasets``.

    Args:
        name: what the user types.
        summary: one line: what it is.
        task: for example ``node classification, 4 classes``.
        size: for example ``26,128 nodes, 119,783 edges``.
        licence: under which terms the data may be used.
        source: how to get it.
        load: makes the :class:`Dataset`; generated sets depend on the seed.
        files: what it is made of; None for a generated set.
        fresh: makes other data of the same kind from a seed, where there is a recipe.
        several_kinds: whether its nodes are of several kinds, so that a GCN needs it converted to one.
    """

    name: str
    summary: str
    task: str
    size: str
    licence: str
    source: str
    load: Loader
    files: RawSet | None = None
    fresh: Loader | None = None
    several_kinds: bool = False

    @property
    def available(self) -> bool:
        return self.files is None or self.files.local() is not None

    @property
    def downloadable(self) -> bool:
        """Whether ``load`` can fetch it."""
        return self.files is not None and self.files.open is not None
