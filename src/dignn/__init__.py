"""dignn explains trained graph neural networks at model level: what does the model think a class looks like?

>>> from dignn import DiGNNExplainer
>>> explanations = DiGNNExplainer(model, data, target="author").fit().explain()    # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dignn.core.errors import DignnError as DignnError
    from dignn.explainers.base import Explainer as Explainer
    from dignn.explainers.methods.dignnexplainer.explainer import DiGNNExplainer as DiGNNExplainer
    from dignn.explainers.methods.dignnexplainer.settings import PRESETS as PRESETS
    from dignn.explainers.methods.dignnexplainer.settings import Config as Config
    from dignn.explanations.explanation import Explanation as Explanation
    from dignn.explanations.explanation import Explanations as Explanations
    from dignn.graphs.batch import GraphBatch as GraphBatch
    from dignn.graphs.feature_spec import Column as Column
    from dignn.graphs.feature_spec import FeatureKind as FeatureKind
    from dignn.graphs.feature_spec import FeatureSpec as FeatureSpec
    from dignn.graphs.inference import infer_schema as infer_schema
    from dignn.graphs.schema import Relation as Relation
    from dignn.graphs.schema import Schema as Schema

# Where the public names live. They are imported on first use, so that `dignn --help` need not load torch.
_HOMES = {
    "PRESETS": "explainers.methods.dignnexplainer.settings",
    "Column": "graphs.feature_spec",
    "Config": "explainers.methods.dignnexplainer.settings",
    "DiGNNExplainer": "explainers.methods.dignnexplainer.explainer",
    "DignnError": "core.errors",
    "Explainer": "explainers.base",
    "Explanation": "explanations.explanation",
    "Explanations": "explanations.explanation",
    "FeatureKind": "graphs.feature_spec",
    "FeatureSpec": "graphs.feature_spec",
    "GraphBatch": "graphs.batch",
    "Relation": "graphs.schema",
    "Schema": "graphs.schema",
    "infer_schema": "graphs.inference",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dignn' has no attribute '{name}'")
    return getattr(import_module(f"dignn.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
