"""All metrics of a run in the shape of ``metrics.json``: paper layer, sound layer, floor and controls.

Values stand beside their floor, what real graphs score, and beside controls, what graphs score that are wrong in one
known way. A value that does not apply is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dignn.batch import GraphBatch, spread
from dignn.data.motifs import known_groups
from dignn.gnn.adapter import Scores
from dignn.metrics.controls import control_sets
from dignn.metrics.faithfulness import ground_truth_faithfulness
from dignn.metrics.graph_features import graph_features
from dignn.metrics.layers import (
    PAPER_GRAPHS,
    Answer,
    Reality,
    class_cosine,
    details,
    of_choice,
    paper_layer,
    sound_layer,
)
from dignn.metrics.mmd import METRICS, mmd
from dignn.metrics.structure import novelty, uniqueness
from dignn.motifs.mining import graph_classes
from dignn.motifs.sets import group_hits
from dignn.plain import plain_graphs
from dignn.runtime.progress import Tick, silent
from dignn.runtime.seeds import Seed
from dignn.selection import Choice, select_highest
from dignn.validity import check_validity

# Graphs of each control, and their feature rows of a type, at most.
CONTROL_GRAPHS, CONTROL_ROWS = 300, 400
# Controls with the candidates' structure and features of their own; of the others features are real.
OWN_FEATURES = frozenset({"column_noise", "shuffled_rows"})

# Parts of measuring that take about as long: features, the answer, its floor, four controls, the rest.
PARTS = 8


def measure(
    answer: Answer,
    reality: Reality,
    validity: Mapping[str, int],
    rules: Mapping[str, Sequence[Sequence[Choice]]],
    score: Callable[[GraphBatch], Scores],
    *,
    seed: Seed,
    tick: Tick = silent,
) -> dict[str, Any]:
    """Measures valid candidates.

    Args:
        answer: the valid candidates, and which of them stand for each class.
        reality: what they are measured against.
        validity: counts of :meth:`dignn.validity.Validity.counts`.
        rules: by name, which candidates each rule of selection would choose.
        score: asks the model, for the controls.
        seed: of the controls.
        tick: progress.
    """
    made = validity["generated"]
    features, floor_features = graph_features(answer.graphs, reality.train, reality.held_out, reality.learned)
    tick(1, PARTS)
    found: dict[str, Any] = {
        "paper": paper_layer(answer, reality),
        "sound": sound_layer(
            answer, reality, graph_yield=validity["valid"] / made if made else None, features=features
        ),
    }
    tick(2, PARTS)
    found["floor"] = _floor(reality, floor_features)
    tick(3, PARTS)
    found["control"] = _controls(answer, reality, score, seed, lambda done, _: tick(3 + done, PARTS))
    found["selection"] = {name: _rule(answer, chosen, reality) for name, chosen in rules.items()}
    found["details"] = {**details(answer, reality), "groups": _groups(answer, reality)}
    tick(PARTS, PARTS)
    return found


def _floor(reality: Reality, features: dict[str, Any]) -> dict[str, Any]:
    """What real graphs score: random training graphs of each class, and the set of all of them."""
    random = Answer(reality.train, reality.train_scores, _members_of_classes(reality))
    paper = paper_layer(random, reality, shown=PAPER_GRAPHS)
    # Of 50 training graphs from themselves MMD would be 0; and held-out rows are what rows should be like.
    one, other = (plain_graphs(batch[spread(len(batch), PAPER_GRAPHS)]) for batch in (reality.train, reality.held_out))
    paper["mmd"] = {name: mmd(one, other, metric) for name, metric in METRICS["paper"].items()}
    paper["cosine"] = class_cosine(reality.held_out, reality.train)
    sound = sound_layer(random, reality, graph_yield=_valid(reality.train), features=features, shown=PAPER_GRAPHS)
    sound["graphs"] |= {
        "novelty": novelty(reality.held_out, reality.train),
        "uniqueness": uniqueness(reality.held_out),
    }
    return {"paper": paper, "sound": sound}


def _valid(graphs: GraphBatch) -> float:
    return float(check_validity(graphs).valid.double().mean())


def _members_of_classes(reality: Reality) -> list[list[Choice]]:
    """Per class random training graphs, all of whose target nodes are of the class where there are enough such."""
    train, scores = reality.train, reality.train_scores
    whole = graph_classes(train)[scores.graph]
    own = whole if train.schema.target is None else train.label[scores.graph, scores.node]
    chosen = []
    for number in range(train.schema.num_classes):
        rows = ((own == number) & (whole == number)).nonzero()[:, 0]
        rows = rows if len(rows) >= PAPER_GRAPHS else (own == number).nonzero()[:, 0]
        of_graph = {int(scores.graph[row]): int(row) for row in rows}
        order = Seed(0).child("floor").numpy().permutation(list(of_graph))[:PAPER_GRAPHS].tolist()
        chosen.append([Choice(graph, of_graph[graph]) for graph in order])
    return chosen


def _controls(
    answer: Answer, reality: Reality, score: Callable[[GraphBatch], Scores], seed: Seed, tick: Tick
) -> dict[str, dict[str, Any]]:
    """Each control as an explainer would use it: the paper's rule chooses from it."""
    if not len(answer.graphs):
        return {}
    found: dict[str, dict[str, Any]] = {}
    sets = control_sets(answer.graphs, reality.train, number=CONTROL_GRAPHS, seed=seed)
    for name, graphs in sets.items():
        scores = score(graphs)
        control = Answer(graphs, scores, select_highest(graphs, scores, PAPER_GRAPHS))
        made = graphs if name in OWN_FEATURES else graphs[:0]
        features, _ = graph_features(
            made, reality.train, reality.held_out, reality.learned, most=CONTROL_ROWS, floor=False
        )
        found[name] = {
            "paper": paper_layer(control, reality),
            "sound": sound_layer(
                control, reality, graph_yield=_valid(graphs), features=features, structure=name not in OWN_FEATURES
            ),
        }
        tick(len(found), len(sets))
    return found


def _rule(answer: Answer, chosen: Sequence[Sequence[Choice]], reality: Reality) -> dict[str, Any]:
    """What another rule of selection would give: of each class's first graph, and coverage of the first ten."""
    other = Answer(answer.graphs, answer.scores, chosen)
    probability = answer.scores.probability
    best = [float(probability[several[0].score, number]) for number, several in enumerate(chosen) if several]
    return {
        "probability": float(np.mean(best)) if best else None,
        "gf": ground_truth_faithfulness(other.best(1), reality.motifs, typed=False),
        **of_choice(other, reality),
    }


def _groups(answer: Answer, reality: Reality) -> dict[str, Any] | None:
    """Of each known chemical group, the share of a class's explanations and of its real graphs that have it."""
    schema = answer.graphs.schema
    groups = known_groups(schema) if schema.target is None else ()
    if not groups:
        return None
    real = GraphBatch.cat([reality.train, reality.held_out])
    hits = group_hits(real, groups)
    found: dict[str, Any] = {}
    for number, name in enumerate(schema.classes):
        own = (real.graph_label == number).numpy()
        chosen = [choice.graph for choice in answer.chosen[number][:PAPER_GRAPHS]]
        shown = group_hits(answer.graphs[chosen], groups) if chosen else np.zeros((0, len(groups)), dtype=bool)
        found[name] = {
            group.name: {
                "first": bool(shown[0, place]) if len(shown) else None,
                "explanations": float(shown[:, place].mean()) if len(shown) else None,
                "real": float(hits[own, place].mean()) if own.any() else None,
            }
            for place, group in enumerate(groups)
        }
    return found
