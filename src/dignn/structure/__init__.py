"""Step 1: generators of typed graph structure, found by name in :data:`STRUCTURE_GENERATORS`.

To add a method, write a file with a class that follows :class:`StructureGenerator` and register it.
"""

from dignn.structure.base import STRUCTURE_GENERATORS, Guide, StructureGenerator
from dignn.structure.bootstrap import BootstrapStructure
from dignn.structure.edge_diffusion import EdgeDiffusion
from dignn.structure.node_growth import NodeGrowth

__all__ = ["STRUCTURE_GENERATORS", "BootstrapStructure", "EdgeDiffusion", "Guide", "NodeGrowth", "StructureGenerator"]
