"""Draws a world: its recipe, its data, and the model that is trained on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torch import nn

from dignn.graphs.inference import infer_schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.worlds.furnishing import WorldData, furnish
from dignn.zoo.worlds.world_recipe import WorldRecipe, recipe_of
from dignn.zoo.worlds.world_training import EPOCHS, train_world

# Nodes per explanation graph, where nodes are classified.
EXPLANATION_SIZES = tuple(range(10, 16))


@dataclass(frozen=True, eq=False)
class World:
    """A small data set with a trained model.

    Args:
        recipe: its properties.
        made: its data.
        model: trained on it.
        accuracy: share of the held-out targets (or graphs) of which the model names the class; that of targets without
            a label in the data is known here.
    """

    recipe: WorldRecipe
    made: WorldData
    model: nn.Module
    accuracy: float

    @property
    def name(self) -> str:
        """For example ``worlds-7``."""
        return self.recipe.name

    @property
    def summary(self) -> str:
        """All properties in one line."""
        return self.recipe.summary

    @property
    def majority(self) -> float:
        """The accuracy of always naming the class that is most frequent among those held out."""
        found = self.made.labels[self.made.held_out].bincount()
        return float(found.max() / found.sum())

    @cached_property
    def dataset(self) -> Dataset:
        """The data with its schema, which is read off it when it is asked for."""
        return dataset_of(self.recipe, self.made)


def draw(seed: int) -> World:
    """World number ``seed``, with a model trained on it: the same bits every time.

    Args:
        seed: the number of the world, from 1.

    Raises:
        DignnError: it is below 1.
    """
    return draw_from(recipe_of(seed))


def draw_from(recipe: WorldRecipe, epochs: int = EPOCHS) -> World:
    """The world of a recipe.

    Args:
        recipe: the recipe.
        epochs: for how many steps the model is trained at most.
    """
    made = furnish(recipe)
    trained = train_world(recipe, made, epochs)
    return World(recipe, made, trained.model, trained.accuracy)


def dataset_of(recipe: WorldRecipe, made: WorldData) -> Dataset:
    """Data of a world as a data set, with a schema.

    Args:
        recipe: of the world.
        made: its data.
    """
    graphs = made.graphs
    sizes = sorted({int(graph.num_nodes or 0) for graph in graphs}) if isinstance(graphs, list) else EXPLANATION_SIZES
    return Dataset(
        name=recipe.name,
        data=graphs,
        schema=infer_schema(graphs, made.target, kinds=made.kinds),
        splits=made.splits,
        sizes=tuple(sizes),
    )
