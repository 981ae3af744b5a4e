"""Every structure generator by name. Loads nothing heavy before one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dignn.core.registry import Registry

if TYPE_CHECKING:
    from dignn.structure.base import StructureGenerator

STRUCTURE_GENERATORS: Registry[type[StructureGenerator]] = Registry(
    "structure generator",
    {
        "node-growth": "dignn.structure.node_growth.generator",
        "edge-diffusion": "dignn.structure.edge_diffusion.generator",
        "bootstrap": "dignn.structure.bootstrap",
    },
)
