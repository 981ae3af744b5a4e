"""Data sets by name: ``load("planted")``, ``load("dblp")``; :data:`DATASETS` lists them all.

One file per family: :mod:`~dignn.data.planted` (ours, the embedded default), :mod:`~dignn.data.synthetic`
(BA-Shapes, Tree-Cycle, Tree-Grids), :mod:`~dignn.data.real` (DBLP, IMDB, MUTAG) and :mod:`~dignn.data.motif3`
(BA-3Motif). :func:`select_columns` makes a data set with fewer feature columns.
"""

from dignn.data.base import Dataset, DatasetInfo, GroundTruth, Motif
from dignn.data.columns import parse_columns, select_columns
from dignn.data.registry import DATASETS, load

__all__ = ["DATASETS", "Dataset", "DatasetInfo", "GroundTruth", "Motif", "load", "parse_columns", "select_columns"]
