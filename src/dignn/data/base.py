"""What a data set is: graphs, schema, splits, and the truth where it is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.schema import EdgeType, Schema


@dataclass(frozen=True)
class Motif:
    """A small typed pattern.

    Args:
        name: what people call it.
        node_types: by position.
        edges: (u, v), positions, with their ``edge_types``.
        closed: positions that have no neighbours beyond the motif's own.
    """

    name: str
    node_types: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    edge_types: tuple[EdgeType, ...]
    closed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.edge_types):
            raise ValueError("Give one edge type per edge")


@dataclass(frozen=True)
class GroundTruth:
    """What makes a member of each class, known because the data was made that way.

    Args:
        motifs: per class, the motifs of which one is around every member.
        keywords: per class, the names of the target's feature columns that mark it; empty without features.
    """

    motifs: tuple[tuple[Motif, ...], ...]
    keywords: tuple[tuple[str, ...], ...] = ()


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
            (:func:`~dignn.data.columns.select_columns`); types that have all their columns are not in it.
    """

    name: str
    data: HeteroData | Data | list[Data]
    schema: Schema
    splits: dict[str, Tensor]
    sizes: tuple[int, ...]
    truth: GroundTruth | None = None
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: dict[str, tuple[int, ...]] = field(default_factory=dict)


class Loader(Protocol):
    def __call__(self, *, seed: int, download: bool) -> Dataset: ...


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
        local: the raw files, where the set is made of files and they are here; None where it is not here.
            A generated set has no ``local``.
        downloadable: whether ``load`` can fetch it.
    """

    name: str
    summary: str
    task: str
    size: str
    licence: str
    source: str
    load: Loader
    local: Callable[[], Path | None] | None = None
    downloadable: bool = False

    @property
    def available(self) -> bool:
        return self.local is None or self.local() is not None
