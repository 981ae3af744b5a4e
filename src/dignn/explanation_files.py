"""Explanations as files of a run folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from dignn.backdrop import Backdrop
from dignn.batch import GraphBatch
from dignn.errors import RunFolderError
from dignn.evidence import Evidence, NearestExample
from dignn.explanation import Explanation, Explanations, Standing
from dignn.runtime.files import read_json, write_json
from dignn.runtime.run import CONFIG, TIMINGS, read_timings
from dignn.runtime.typed import check_types
from dignn.schema import Schema

FORMAT = "dignn.Explanations.2"
EXPLANATIONS, GRAPHS = "explanations.json", "explanations.safetensors"
# What a report shows beside explanations; folders of earlier versions lack both.
NEAREST, BACKDROP = "nearest.safetensors", "backdrop.safetensors"
METRICS, GENERATION = "metrics.json", "generation.json"
TOLD = ("call", "validity", "sampling", "agreement")  # parts of ``about`` that no other file of a run folder holds


def save(explanations: Explanations, folder: Path) -> None:
    """Writes the graphs, the nearest real ones, the backdrop, and what people and programs read, last."""
    ranked = [explanation for several in explanations.values() for explanation in several]
    examples = [explanation.example for explanation in ranked if explanation.example is not None]
    (folder / EXPLANATIONS).unlink(missing_ok=True)  # it tells of the other files, so it is there only with them
    _write_graphs(folder / GRAPHS, [explanation.graph for explanation in ranked])
    _write_graphs(folder / NEAREST, examples if len(examples) == len(ranked) else [])
    if explanations.backdrop is not None:
        explanations.backdrop.save(folder / BACKDROP)
    else:
        (folder / BACKDROP).unlink(missing_ok=True)
    write_json(
        folder / EXPLANATIONS,
        {
            "format": FORMAT,
            **{name: explanations.about[name] for name in TOLD if name in explanations.about},
            "classes": {name: [item.summary() for item in several] for name, several in explanations.items()},
        },
    )


def _write_graphs(path: Path, graphs: list[GraphBatch]) -> None:
    if graphs:
        GraphBatch.cat(graphs).save(path)
    else:
        path.unlink(missing_ok=True)


def load(folder: Path) -> Explanations:
    """Reads what :func:`save` wrote, and what else a run folder tells.

    Raises:
        RunFolderError: there are no explanations, or a file is damaged or of another version.
    """
    path = folder / EXPLANATIONS
    if not path.exists():
        raise RunFolderError(f"{folder} holds no {EXPLANATIONS}; give the folder of a finished run")
    content = read_json(path, "format", "classes")
    if content["format"] != FORMAT:
        raise RunFolderError(
            f"{path} has the format {content['format']}, not {FORMAT}: if it is older, `dignn evaluate {folder}` makes "
            "it anew; if it is newer, update dignn"
        )
    try:
        items = [(name, item) for name, several in content["classes"].items() for item in several]
        graphs = _graphs(folder / GRAPHS, len(items))
        examples = _graphs(folder / NEAREST, len(items)) if (folder / NEAREST).exists() else None
        found = [
            _explanation(name, item, graphs[number], None if examples is None else examples[number])
            for number, (name, item) in enumerate(items)
        ]
        about = _about(folder) | {name: content[name] for name in TOLD if name in content}
    except RunFolderError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise RunFolderError(f"{path} is damaged ({_told(error)}); `dignn evaluate {folder}` makes it anew") from error
    return Explanations(
        {name: [item for item in found if item.class_name == name] for name in content["classes"]},
        about,
        Backdrop.load(folder / BACKDROP) if (folder / BACKDROP).exists() else None,
    )


def _graphs(path: Path, number: int) -> list[GraphBatch]:
    if not number:
        return []
    if not path.exists():
        raise RunFolderError(f"{path} is missing; `dignn evaluate {path.parent}` makes it anew")
    graphs = GraphBatch.load(path)
    if len(graphs) != number:
        raise RunFolderError(
            f"{path} holds {len(graphs)} graphs and {EXPLANATIONS} tells of {number}; `dignn evaluate {path.parent}` "
            "makes both anew"
        )
    return [graphs[position] for position in range(number)]


def _explanation(name: str, item: dict[str, Any], graph: GraphBatch, example: GraphBatch | None) -> Explanation:
    classes = graph.schema.classes
    probability = tuple(float(item["probability"][each]) for each in classes)
    if not all(map(math.isfinite, probability)):
        raise ValueError("a probability is no number")
    evidence = None if item["evidence"] is None else Evidence.from_json(item["evidence"])
    if evidence is not None:
        check_types(evidence)
        _check_nearest(evidence.nearest, example, len(classes))
        _check_columns(evidence, graph.schema)
        for effect in evidence.effects.effects:
            for node in effect.part.nodes:
                _check_node(node, graph)
    _check_node(item["target_node"], graph)
    return Explanation(
        class_index=classes.index(name),
        class_name=name,
        rank=int(item["rank"]),
        probability=probability,
        log_odds=float(item["log_odds"]),
        graph=graph,
        node=item["target_node"],
        candidate=int(item["candidate"]),
        standing=None if item["standing"] is None else _standing(item["standing"]),
        evidence=evidence,
        example=example,
    )


def _check_nearest(nearest: NearestExample, example: GraphBatch | None, classes: int) -> None:
    """Raises where it tells of what does not exist."""
    _check_node(nearest.node, example)
    for label in (nearest.label, nearest.predicted):
        if label is not None and not 0 <= label < classes:
            raise ValueError(f"the nearest example is of class {label}, which does not exist")


def _check_node(node: Any, graph: GraphBatch | None) -> None:
    """Raises where ``node`` is no place in the graph, if that is there, nor None."""
    if node is not None and not (type(node) is int and node >= 0 and (graph is None or node < int(graph.sizes[0]))):
        raise ValueError(f"{node!r} is no node of its graph")


def _standing(content: dict[str, Any]) -> Standing:
    standing = Standing(**content)
    check_types(standing)
    return standing


def _check_columns(evidence: Evidence, schema: Schema) -> None:
    for column in (*evidence.own_columns, *evidence.columns_around):
        if not 0 <= column.column < schema.spec(column.node_type).width:
            raise ValueError(f"{column.node_type} has no column {column.column}")


def _about(folder: Path) -> dict[str, Any]:
    """What a run folder tells beside the graphs; nothing where only explanations were saved."""
    words = "mend the file or delete it: only the words about settings need it"
    about = read_json(folder / CONFIG, remedy=words) if (folder / CONFIG).exists() else {}
    if (folder / METRICS).exists():
        about["metrics"] = read_json(folder / METRICS, "paper", "sound", "floor", "control")
    if (folder / GENERATION).exists():
        about["generation"] = read_json(folder / GENERATION)
    if (folder / TIMINGS).exists():
        about["timings"] = read_timings(folder / TIMINGS)
    return about


def _told(error: Exception) -> str:
    """What went wrong; the text of a KeyError is the key alone."""
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)
