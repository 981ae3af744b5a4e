"""The mathematics of diffusion over categories, shared by structures and features; knows nothing of graphs.

Noise process (:class:`CategoricalNoise`), schedule (:func:`cosine_signal`, :func:`time_grid`), denoiser (any callback
that predicts clean values) and sampler (:func:`reverse`) are apart. All of them speak of the *signal*, the
probability that a variable still has its clean value: one denoiser that is told the signal serves every sampler
and every number of steps.
"""

from dignn.diffusion.categorical import CategoricalNoise, Predict, State, draw, variational_bound
from dignn.diffusion.guidance import resample
from dignn.diffusion.samplers import reverse
from dignn.diffusion.schedule import cosine_signal, time_grid

__all__ = [
    "CategoricalNoise",
    "Predict",
    "State",
    "cosine_signal",
    "draw",
    "resample",
    "reverse",
    "time_grid",
    "variational_bound",
]
