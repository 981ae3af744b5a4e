"""Settings of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dignn.config.checks import at_least, one_of, positive, share
from dignn.config.features import DiTabDDPMConfig, TabDDPMConfig
from dignn.config.structure import EdgeDiffusionConfig, NodeGrowthConfig
from dignn.errors import DignnError

# Larger graphs are no explanations for people, and dense tensors of them do not fit in memory.
MAX_NODES = 100
Continuous = Literal["auto", "tabddpm"]
Selection = Literal["representative", "typical", "highest"]


@dataclass(frozen=True)
class Config:
    """How explanations are made.

    Args:
        sizes: nodes per explanation graph. By default what the data set recommends, 10 to 15 for a graph of your
            own, and the sizes of the data's graphs for graph classification.
        subgraphs_per_size: real subgraphs sampled per size; one in five is for measuring, not for learning.
        candidates: generated graphs in all, shared out evenly over the sizes.
        structure: name of the structure generator: node-growth, edge-diffusion, or the control bootstrap.
        node_growth, edge_diffusion: settings of the structure generator of that name.
        guidance: how strongly structures are drawn towards what the model takes for each class; 0 for not at all.
        features: name of the feature generator: ditabddpm, tabddpm, or a control, bootstrap or independent. With
            ditabddpm, continuous features go to others.
        ditabddpm, tabddpm: settings of the feature generator of that name.
        continuous: where features are learned by ``ditabddpm``, how continuous ones are: each type by what suits it, or
            by ``tabddpm``, as in the paper.
        one_model_per_class: one feature generator for each class of the target type (of every type, in graph
            classification) and one, blind to classes, for each other type, as in the paper; otherwise one for each
            type, which knows the class around a node. Identity types and controls always know it.
        refined: share of the candidates, the most promising of each class, of which rows of features are drawn anew and
            kept where the model becomes surer of the class, up to what it says about real members; 0 for none.
        refinement_rounds: how often.
        selection: how explanations are chosen: highest (the paper's rule: the highest probability), typical (inside the
            range of real members, nearly the highest, and nearest to members in the model's embedding space) or
            representative (the same, but first the graph with the structure most typical of the class).
        tolerance: how much lower than the best a probability may be that is nearly the highest.
        top_k: explanations per class.
    """

    sizes: tuple[int, ...] | None = None
    subgraphs_per_size: int = 1250
    candidates: int = 1536
    structure: str = "node-growth"
    node_growth: NodeGrowthConfig = field(default_factory=NodeGrowthConfig)
    edge_diffusion: EdgeDiffusionConfig = field(default_factory=EdgeDiffusionConfig)
    guidance: float = 0.0
    features: str = "ditabddpm"
    ditabddpm: DiTabDDPMConfig = field(default_factory=DiTabDDPMConfig)
    tabddpm: TabDDPMConfig = field(default_factory=TabDDPMConfig)
    continuous: Continuous = "auto"
    one_model_per_class: bool = False
    refined: float = 0.25
    refinement_rounds: int = 20
    selection: Selection = "representative"
    tolerance: float = 0.05
    top_k: int = 3

    def __post_init__(self) -> None:
        at_least(self, 1, "subgraphs_per_size", "candidates", "refinement_rounds", "top_k")
        positive(self, "guidance", zero=True)
        share(self, "refined", "tolerance")
        one_of(self, continuous=Continuous, selection=Selection)
        if self.subgraphs_per_size < 5:
            raise DignnError("subgraphs_per_size must be at least 5, because one in five is held out for measuring")
        if self.sizes is not None and (not self.sizes or min(self.sizes) < 1 or max(self.sizes) > MAX_NODES):
            raise DignnError(f"sizes {list(self.sizes)} must be one or more numbers of nodes from 1 to {MAX_NODES}")
