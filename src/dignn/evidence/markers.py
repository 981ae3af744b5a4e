"""Explainers of single predictions that can mark an explanation, as PyTorch Geometric has them, with its defaults.

A marker is a function of a module (:class:`~dignn.model.masked_model.MaskedModel`, which gives the log-odds of a class)
and of whether its edges are masked, which returns an ``Explainer`` of ``torch_geometric.explain``. Further ones may be
registered.
"""

from __future__ import annotations

from torch import nn
from torch_geometric.explain import Explainer, GNNExplainer, ModelConfig

from dignn.evidence.registry import MARKED_BY


@MARKED_BY.register("gnnexplainer")
def gnnexplainer(model: nn.Module, edges: bool) -> Explainer:
    """GNNExplainer (Ying et al., 2019): masks from 0 to 1 that keep the class likely while they get small and sharp."""
    config = ModelConfig(mode="binary_classification", task_level="graph", return_type="raw")
    return Explainer(
        model,
        GNNExplainer(),
        explanation_type="phenomenon",
        model_config=config,
        node_mask_type="object",
        edge_mask_type="object" if edges else None,
    )


@MARKED_BY.register("captum")
def captum(model: nn.Module, edges: bool) -> Explainer:
    """Captum's integrated gradients of the log-odds, from no features and messages to all; positive for the class."""
    from torch_geometric.explain import CaptumExplainer

    config = ModelConfig(mode="regression", task_level="graph", return_type="raw")  # the log-odds themselves
    return Explainer(
        model,
        CaptumExplainer("IntegratedGradients"),
        explanation_type="phenomenon",
        model_config=config,
        node_mask_type="attributes",
        edge_mask_type="object" if edges else None,
    )
