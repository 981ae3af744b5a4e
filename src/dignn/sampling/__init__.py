"""Small typed subgraphs of a large graph: :func:`forest_fire` over an :class:`Adjacency`."""

from dignn.sampling.adjacency import Adjacency
from dignn.sampling.forest_fire import ForestFireReport, forest_fire

__all__ = ["Adjacency", "ForestFireReport", "forest_fire"]
