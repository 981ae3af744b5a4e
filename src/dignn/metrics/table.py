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
from dignn.metrics.graph_features import feature_pieces, measure_piece, summary
from dignn.metrics.layers import PAPER_GRAPHS, Answer, Reality, class_cosine, details, paper_layer, sound_layer
from dignn.metrics.mmd import METRICS, mmd
from dignn.metrics.structure import novelty, uniqueness
from dignn.motifs.mining import graph_classes
from dignn.motifs.sets import group_hits
from dignn.plain import plain_graphs
from dignn.runtime.beside import Beside
from dignn.runtime.processes import map_processes
from dignn.runtime.seeds import Seed
from dignn.runtime.threads import cores
from dignn.selection import Choice, select_highest

# Graphs of each control, and their feature rows of a type, at most.
CONTROL_GRAPHS, CONTROL_ROWS = 300, 400
# Controls with the candidates' structure and features of their own; of the others features are real.
OWN_FEATURES = frozenset({"column_noise", "shuffled_rows"})
# Cells of generated tables from which on it is worth the seconds that processes take to start.
MANY_CELLS = 1_000_000
ANSWER = "candidates"


def measure(
    answer: Answer,
    reality: Reality,
    validity: Mapping[str, int],
    rules: Mapping[str, Sequence[Sequence[Choice]]],
    score: Callable[[GraphBatch], Scores],
    *,
    seed: Seed,
) -> dict[str, Any]:
    """Measures valid candidates.

    Args:
        answer: the valid candidates, and which of them stand for each class.
        reality: what they are measured against.
        validity: counts of :meth:`dignn.validity.Validity.counts`.
        rules: by name, which candidates each rule of selection would choose.
        score: asks the model, for the controls.
        seed: of the controls.
    """
    sets = _control_sets(answer, reality, seed)
    with Beside(lambda: _features(answer, sets, reality)) as beside:
        made = validity["generated"]
        found: dict[str, Any] = {
            "paper": paper_layer(answer, reality),
            "sound": sound_layer(answer, reality, graph_yield=validity["valid"] / made if made else None),
            "floor": _floor(reality),
            "control": {name: _control(name, graphs, reality, score) for name, graphs in sets.items()},
            "selection": {name: _rule(answer, chosen, reality) for name, chosen in rules.items()},
            "details": {**details(answer, reality), "groups": _groups(answer, reality)},
        }
        features = beside.result()
    found["sound"]["features"], found["floor"]["sound"]["features"] = features[ANSWER]
    nothing, _ = summary({})
    for name in sets:
        found["control"][name]["sound"]["features"] = features[name][0] if name in features else nothing
    return found


def _features(
    answer: Answer, sets: Mapping[str, GraphBatch], reality: Reality
) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Feature metrics of the candidates, with floors, and of the controls that have features of their own."""
    real = (reality.train, reality.held_out, reality.learned)
    pieces = {(ANSWER, name): piece for name, piece in feature_pieces(answer.graphs, *real).items()}
    for control in sets.keys() & OWN_FEATURES:
        found = feature_pieces(sets[control], *real, most=CONTROL_ROWS, floor=False)
        pieces |= {(control, name): piece for name, piece in found.items()}
    order = sorted(pieces, key=lambda key: (-pieces[key].generated.numel(), key))
    many = sum(piece.generated.numel() for piece in pieces.values()) >= MANY_CELLS and cores() > 1
    measured = map_processes(measure_piece, [(pieces[key],) for key in order], workers=None if many else 1, apart=many)
    by_set: dict[str, dict[str, Any]] = {name: {} for name in (ANSWER, *(sets.keys() & OWN_FEATURES))}
    for (control, name), values in zip(order, measured, strict=True):
        by_set[control][name] = values
    return {name: summary({of: found[of] for of in sorted(found)}) for name, found in by_set.items()}


def _floor(reality: Reality) -> dict[str, Any]:
    """What real graphs score: random training graphs of each class, and the set of all of them."""
    random = Answer(reality.train, reality.train_scores, _members_of_classes(reality))
    paper = paper_layer(random, reality, shown=PAPER_GRAPHS)
    # Of 50 training graphs from themselves MMD would be 0; and held-out rows are what rows should be like.
    one, other = (plain_graphs(batch[spread(len(batch), PAPER_GRAPHS)]) for batch in (reality.train, reality.held_out))
    paper["mmd"] = {name: mmd(one, other, metric) for name, metric in METRICS["paper"].items()}
    paper["cosine"] = class_cosine(reality.held_out, reality.train)
    sound = sound_layer(random, reality, graph_yield=1.0, shown=PAPER_GRAPHS)
    sound["graphs"] |= {
        "novelty": novelty(reality.held_out, reality.train),
        "uniqueness": uniqueness(reality.held_out),
    }
    return {"paper": paper, "sound": sound}


def _members_of_classes(reality: Reality) -> list[list[Choice]]:
    """Per class evenly spread training graphs, all of whose target nodes are of the class where there are such."""
    train, scores = reality.train, reality.train_scores
    whole = graph_classes(train)[scores.graph]
    own = whole if train.schema.target is None else train.label[scores.graph, scores.node]
    chosen = []
    for number in range(train.schema.num_classes):
        rows = ((own == number) & (whole == number)).nonzero()[:, 0]
        rows = rows if len(rows) >= PAPER_GRAPHS else (own == number).nonzero()[:, 0]
        of_graph = {int(scores.graph[row]): int(row) for row in rows}
        graphs = list(of_graph)
        chosen.append([Choice(graphs[place], of_graph[graphs[place]]) for place in spread(len(graphs), PAPER_GRAPHS)])
    return chosen


def _control_sets(answer: Answer, reality: Reality, seed: Seed) -> dict[str, GraphBatch]:
    if not len(answer.graphs):
        return {}
    return control_sets(answer.graphs, reality.train, number=CONTROL_GRAPHS, seed=seed)


def _control(name: str, graphs: GraphBatch, reality: Reality, score: Callable[[GraphBatch], Scores]) -> dict[str, Any]:
    """A control as an explainer would use it: the paper's rule chooses from it."""
    scores = score(graphs)
    control = Answer(graphs, scores, select_highest(graphs, scores, PAPER_GRAPHS))
    return {
        "paper": paper_layer(control, reality),
        "sound": sound_layer(control, reality, graph_yield=1.0, structure=name not in OWN_FEATURES),
    }


def _rule(answer: Answer, chosen: Sequence[Sequence[Choice]], reality: Reality) -> dict[str, Any]:
    """What another rule of selection would give: of each class's first graph, and coverage of the first ten."""
    other = Answer(answer.graphs, answer.scores, chosen)
    probability = answer.scores.probability
    sound = sound_layer(other, reality, graph_yield=None, structure=False)
    best = [float(probability[several[0].score, number]) for number, several in enumerate(chosen) if several]
    return {
        "probability": float(np.mean(best)) if best else None,
        "gf": ground_truth_faithfulness(other.best(1), reality.motifs, typed=False),
        **{name: sound[name] for name in ("typed_gf", "contrast", "coverage", "planted")},
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
