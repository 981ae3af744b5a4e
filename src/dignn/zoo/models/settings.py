"""Settings of models that are trained here. Loads nothing heavy."""

from __future__ import annotations

from typing import Literal

# Which of the two models of a data set: what we recommend to explain, or what the paper describes.
Form = Literal["strong", "paper"]
