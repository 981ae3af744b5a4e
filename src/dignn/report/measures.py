"""Which figures of ``metrics.json`` the report shows, what each is called and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dignn.report import verdicts
from dignn.report.charts.dots import Better
from dignn.report.lookup import number_at
from dignn.report.verdicts import Judge

# Controls in words, and the marks that charts draw for them. The last two change features only.
CONTROLS = {
    "real_subgraphs": ("training graphs, chosen by the model", "square"),
    "random_trees": ("random trees", "triangle"),
    "column_noise": ("noise in every column", "cross"),
    "shuffled_rows": ("shuffled rows", "plus"),
}
OF_FEATURES = ("column_noise", "shuffled_rows")
# Distances of structure are drawn from 0 to at least this: on a finer scale chance would look like a difference.
_LEAST_SCALE = 0.01


@dataclass(frozen=True)
class Measure:
    """A figure.

    Args:
        name: as the report calls it.
        what: a few words on what it is.
        path: where it is in every layer of ``metrics.json``: names joined by dots, or one by one.
        better: which side is good.
        judge: says what a value means.
        low, high: ends of its scale; None for as the values need.
        made: what its value is of, where that is not what the legend says.
    """

    name: str
    what: str
    path: str | tuple[str, ...]
    better: Better
    judge: Judge
    low: float | None = 0.0
    high: float | None = None
    made: str | None = None


# Explanations are chosen for what is typical too, so those shown are seldom these.
BEST = "best generated graphs"
STRUCTURE = (
    Measure(
        "Valid",
        "Share of generated graphs that are connected and join only what the data joins (yield).",
        "sound.yield",
        "higher",
        verdicts.valid,
        high=1.0,
    ),
    Measure(
        "Node types",
        "How far the mix of node types is from that of real graphs (MMD).",
        "sound.mmd.node_type",
        "lower",
        verdicts.distance,
        high=_LEAST_SCALE,
    ),
    Measure(
        "Degrees",
        "The same for how many neighbours nodes have (MMD).",
        "sound.mmd.degree",
        "lower",
        verdicts.distance,
        high=_LEAST_SCALE,
    ),
    Measure(
        "Triangles",
        "The same for how often neighbours are neighbours of each other (MMD of clustering).",
        "sound.mmd.clustering",
        "lower",
        verdicts.distance,
        high=_LEAST_SCALE,
    ),
    Measure(
        "Overall shape",
        "The same for the spectrum, which sums up the shape of a graph (MMD).",
        "sound.mmd.spectral",
        "lower",
        verdicts.distance,
        high=_LEAST_SCALE,
    ),
    Measure(
        "Told from real graphs",
        "How well a classifier tells generated from real graphs (C2ST); .5 is guessing.",
        "sound.graphs.c2st",
        "lower",
        verdicts.told_apart,
        low=0.4,
        high=1.0,
    ),
    Measure(
        "New",
        "Share of generated graphs that are the same as no graph that was learned from (novelty).",
        "sound.graphs.novelty",
        "near",
        verdicts.new,
        high=1.0,
    ),
    Measure(
        "Different",
        "Of as many generated graphs as real ones were held out, the share that are the same as no other (uniqueness).",
        "sound.graphs.uniqueness",
        "near",
        verdicts.different,
        high=1.0,
    ),
)
FEATURES = (
    Measure(
        "Single columns",
        "How far each column's values are from the real ones (column error).",
        "sound.features.column_error",
        "lower",
        verdicts.single_columns,
    ),
    Measure(
        "Pairs of columns",
        "How far columns go together as in real nodes (pair error).",
        "sound.features.pair_error",
        "lower",
        verdicts.feature_error,
    ),
    Measure(
        "Fullness of rows",
        "How far the number of non-zero columns of a node is from the real one (row density).",
        "sound.features.row_density",
        "lower",
        verdicts.feature_error,
    ),
    Measure(
        "Told from real features",
        "How well a classifier tells generated from real features (C2ST); .5 is guessing.",
        "sound.features.c2st",
        "lower",
        verdicts.told_apart,
        low=0.4,
        high=1.0,
    ),
    Measure(
        "Not copied",
        "Share of rows nearer to what was learned from than to what was held out (memorisation).",
        "sound.features.memorisation",
        "near",
        verdicts.memorised,
        high=1.0,
    ),
)
FAITHFUL = (
    Measure(
        "Probability",
        "The highest probability that any generated graph gets, mean over classes (PF).",
        "paper.pf",
        "higher",
        verdicts.surest,
        high=1.0,
        made=BEST,
    ),
    Measure(
        "Probability, inside the real range",
        "The same among graphs that the model sees as it sees real members; not only of those shown.",
        "sound.pf_in_distribution",
        "higher",
        verdicts.sure_inside,
        high=1.0,
        made=BEST,
    ),
    Measure(
        "Typical parts",
        "Share of a class's typical parts (motifs) in its first explanation, node types ignored (GF).",
        "paper.gf",
        "higher",
        verdicts.motifs,
        high=1.0,
    ),
    Measure(
        "Typical parts, with types",
        "The same with types of nodes and relations matched (typed GF).",
        "sound.typed_gf",
        "higher",
        verdicts.motifs,
        high=1.0,
    ),
    Measure(
        "Coverage",
        "Share of real members that one of the first ten explanations is near to, as the model sees them.",
        "sound.coverage",
        "higher",
        verdicts.covered,
        high=1.0,
    ),
)
TRUTH = (
    Measure(
        "Pattern found",
        "Share of explanations whose classified node has the planted pattern (recall).",
        "sound.planted.mean.motif_recall",
        "higher",
        verdicts.found,
        high=1.0,
    ),
    Measure(
        "Pattern right",
        "Of planted patterns that are there, the share that belong to the class (precision).",
        "sound.planted.mean.motif_precision",
        "higher",
        verdicts.right,
        high=1.0,
    ),
    Measure(
        "Words found",
        "Share of the planted words that explanations show (recall).",
        "sound.planted.mean.keyword_recall",
        "higher",
        verdicts.found,
        high=1.0,
    ),
    Measure(
        "Words right",
        "Of planted words that are there, the share that belong to the class (precision).",
        "sound.planted.mean.keyword_precision",
        "higher",
        verdicts.right,
        high=1.0,
    ),
)
# The paper's own figures, for the table only: kernels that can hardly tell similar graphs from different ones.
PAPER = {
    "Node types of explanations (the paper's MMD)": "paper.mmd.node_type",
    "Degrees of explanations (the paper's MMD)": "paper.mmd.degree",
    "Clustering of explanations (the paper's MMD)": "paper.mmd.clustering",
    "Spectrum of explanations (the paper's MMD)": "paper.mmd.spectral",
    "Cosine of features, generated and real (best at the floor)": "paper.cosine",
}


def controls_of(metrics: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The controls that a run has; without features those that change features are the candidates themselves."""
    found = metrics.get("control")
    there = found if isinstance(found, Mapping) else {}
    plain = number_at(metrics, "sound.features.column_error") is None
    return {
        name: there[name]
        for name in CONTROLS
        if isinstance(there.get(name), Mapping) and not (plain and name in OF_FEATURES)
    }
