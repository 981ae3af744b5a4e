"""dignn explains trained graph neural networks at model level: what does the model think a class looks like?

>>> from dignn import DiGNNExplainer
>>> explanations = DiGNNExplainer(model, data, target="author").fit().explain()    # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dignn.batch import GraphBatch
    from dignn.config import Config
    from dignn.dignnexplainer import DiGNNExplainer
    from dignn.errors import DignnError
    from dignn.explainer import Explainer
    from dignn.explanation import Explanation, Explanations
    from dignn.inference import infer_schema
    from dignn.schema import FeatureKind, FeatureSpec, Relation, Schema

# Where the public names live. They are imported on first use, so that `dignn --help` need not load torch.
_HOMES = {
    "Config": "dignn.config",
    "DiGNNExplainer": "dignn.dignnexplainer",
    "DignnError": "dignn.errors",
    "Explainer": "dignn.explainer",
    "Explanation": "dignn.explanation",
    "Explanations": "dignn.explanation",
    "FeatureKind": "dignn.schema",
    "FeatureSpec": "dignn.schema",
    "GraphBatch": "dignn.batch",
    "Relation": "dignn.schema",
    "Schema": "dignn.schema",
    "infer_schema": "dignn.inference",
}

__all__ = [
    "Config",
    "DiGNNExplainer",
    "DignnError",
    "Explainer",
    "Explanation",
    "Explanations",
    "FeatureKind",
    "FeatureSpec",
    "GraphBatch",
    "Relation",
    "Schema",
    "infer_schema",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dignn' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
