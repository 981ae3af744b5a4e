"""The models to explain: what they are (``models``, ``layers``), how they are trained (``zoo``, ``training``), where
they are kept (``checkpoint``), and how any model is asked for scores (``adapter``).
"""

from dignn.gnn.checkpoint import load, save, trained_model
from dignn.gnn.training import train
from dignn.gnn.zoo import FORMS, Form, Recipe, TrainedModel, recipe

__all__ = ["FORMS", "Form", "Recipe", "TrainedModel", "load", "recipe", "save", "train", "trained_model"]
