"""What to do about a model that fails: the remedy that fits what it said."""

from __future__ import annotations

import re

# The first pattern that is found in what an exception says decides.
_REMEDIES = (
    (
        r"same device|on device|Expected.* device|no NVIDIA|CUDA",
        "move the whole model to one device, or name the one it is on by device=",
    ),
    (
        r"argument #1 'indices'|Embedding|embedding|tensors used as indices",
        "the model looks whole numbers up, so give x as whole numbers (an integer tensor), or convert it in forward=",
    ),
    (
        r"same dtype|scalar type|dtype|Half|BFloat16|Double|not implemented for '(Long|Int|Bool|Byte)'",
        "give features of the type that the model's weights have, or convert them in forward=",
    ),
    (
        r"cannot be multiplied|size mismatch|shape mismatch|sizes? of tensor|invalid for input",
        "give the data that the model was trained on, or call the model by forward=",
    ),
    (
        r"index out of range in self|index .* is out of bounds|out of bounds for dimension",
        "a model that keeps something for every node of its training graph cannot answer about small graphs; give one "
        "that goes by features, or call it by forward=",
    ),
    (
        r"positional argument|unexpected keyword|takes .* arguments?|values to unpack|(tuple|list) index out of range",
        "say how the model is called by forward=, a function of the model and the graph",
    ),
    (
        r"has no attribute|NoneType|KeyError|no attribute|not subscriptable",
        "the model reads something that these graphs do not have; say how it is called by forward=, a function of the "
        "model and the graph",
    ),
)
_ELSE = "call it on a small part of the data to see why, or say how it is called by forward="


def remedy(error: Exception) -> str:
    """What a person can do about an exception that a model raised."""
    said = f"{type(error).__name__}: {error}"
    return next((advice for pattern, advice in _REMEDIES if re.search(pattern, said)), _ELSE)
