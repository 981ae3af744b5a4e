"""How node types are drawn: a colour and a shape each, the same in every drawing of a schema."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.schema import Schema

# Okabe and Ito's palette, which colour-blind readers can tell apart; shapes say the same a second time.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#B8A800", "#777777")
SHAPES = ("circle", "square", "triangle", "diamond", "pentagon", "hexagon", "down", "star")


@dataclass(frozen=True)
class Look:
    """How a node type is drawn."""

    colour: str
    shape: str


def looks(schema: Schema) -> dict[str, Look]:
    """A colour and a shape for each node type, by its place in the schema."""
    return {
        name: Look(COLOURS[place % len(COLOURS)], SHAPES[(place + place // len(COLOURS)) % len(SHAPES)])
        for place, name in enumerate(schema.node_types)
    }
