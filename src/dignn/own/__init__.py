"""A user's own files: :func:`load_data` reads graphs, :func:`load_names` names of columns, :func:`load_model` calls the
function that makes the trained model.

A data file is read without running anything in it, unless the user says that it can be trusted; a model file is Python
that the user names, and is run.
"""

from dignn.own.data import Graphs, load_data, load_names
from dignn.own.model import OwnModel, load_model

__all__ = ["Graphs", "OwnModel", "load_data", "load_model", "load_names"]
