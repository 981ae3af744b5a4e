"""All metrics of a run in the shape of ``metrics.json``: paper layer, sound layer, floor and controls.

A value that does not apply, or that this version does not measure yet, is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dignn.batch import GraphBatch
from dignn.gnn.adapter import Scores
from dignn.metrics.cosine import mean_cosine
from dignn.metrics.faithfulness import predictive_faithfulness
from dignn.metrics.graph_features import Learned, graph_features
from dignn.metrics.mmd import METRICS, mmd
from dignn.metrics.structure import novelty, spread, uniqueness
from dignn.plain import plain_graphs
from dignn.schema import Schema
from dignn.selection import select_highest

# Graphs per class, and real graphs, that the paper's MMD compares.
PAPER_GRAPHS = 50
# Graphs of a set that the sound MMD compares at most.
SOUND_GRAPHS = 400


def measure(
    candidates: GraphBatch,
    scores: Scores,
    validity: dict[str, int],
    train: GraphBatch,
    held_out: GraphBatch,
    held_out_scores: Scores,
    learned: Learned,
) -> dict[str, Any]:
    """Measures valid candidates against real graphs.

    Args:
        candidates, scores: the valid candidates and what the model says of them.
        validity: counts of :meth:`dignn.validity.Validity.counts`.
        train: real graphs that the generators learned from.
        held_out, held_out_scores: real graphs that they did not learn from, and what the model says of those.
        learned: by node type, (rows of its table,) whether generators learned from the row: held-out graphs have
            nodes that were learned, and training graphs nodes that were not.
    """
    alike = min(len(candidates), len(held_out))
    features, floor_features = graph_features(candidates, train, held_out, learned)
    return {
        "paper": {
            "mmd": _class_mmd(candidates, scores, train),
            "cosine": _class_cosine(candidates, train),
            "pf": predictive_faithfulness(scores),
            "gf": None,
        },
        "sound": _sound(
            validity["valid"] / validity["generated"] if validity["generated"] else None,
            _set_mmd(candidates, held_out, "sound"),
            _share_new(candidates, train, alike),
            features,
        ),
        "floor": {
            "paper": {
                "mmd": _set_mmd(train, held_out, "paper", PAPER_GRAPHS),
                "cosine": _class_cosine(held_out, train),
                "pf": predictive_faithfulness(held_out_scores),
                "gf": None,
            },
            "sound": _sound(
                1.0, _set_mmd(train, held_out, "sound"), _share_new(held_out, train, alike), floor_features
            ),
        },
        "control": {},
    }


def _class_mmd(candidates: GraphBatch, scores: Scores, real: GraphBatch) -> dict[str, float | None]:
    """Mean over classes of the MMD between the best distinct candidates of a class and real graphs."""
    chosen = select_highest(candidates, scores, PAPER_GRAPHS)
    reference = plain_graphs(real[spread(len(real), PAPER_GRAPHS)])
    sets = [plain_graphs(candidates[[choice.graph for choice in several]]) for several in chosen if several]
    return {
        name: _mean([mmd(graphs, reference, metric) for graphs in sets]) for name, metric in METRICS["paper"].items()
    }


def _set_mmd(one: GraphBatch, other: GraphBatch, layer: str, most: int = SOUND_GRAPHS) -> dict[str, float | None]:
    graphs, reference = (plain_graphs(batch[spread(len(batch), most)]) for batch in (one, other))
    return {name: mmd(graphs, reference, metric) for name, metric in METRICS[layer].items()}


def _share_new(graphs: GraphBatch, train: GraphBatch, number: int) -> dict[str, float | None]:
    """Novelty, and uniqueness among ``number`` graphs: it falls with their number, so floors are of as many."""
    some = graphs[spread(len(graphs), number)]
    return {"novelty": novelty(graphs, train), "uniqueness": uniqueness(some) if len(some) else None}


def _class_cosine(generated: GraphBatch, real: GraphBatch) -> float | None:
    """Mean over classes of the mean cosine between target rows of that class; None without target features."""
    schema: Schema = generated.schema
    if schema.target is None or not schema.spec(schema.target).generated:
        return None
    rows = [batch.features(schema.target) for batch in (generated, real)]
    labels = [batch.label[batch.target_mask] for batch in (generated, real)]
    return _mean([mean_cosine(rows[0][labels[0] == c], rows[1][labels[1] == c]) for c in range(schema.num_classes)])


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _sound(
    graph_yield: float | None,
    set_mmd: dict[str, float | None],
    graphs: dict[str, float | None],
    features: dict[str, Any],
) -> dict[str, Any]:
    return {
        "yield": graph_yield,
        "mmd": set_mmd,
        "features": features,
        "graphs": {**graphs, "c2st": None},
        **dict.fromkeys(("typed_gf", "contrast", "pf_in_distribution", "coverage", "planted")),
    }
