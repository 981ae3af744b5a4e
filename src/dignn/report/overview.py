"""The top of the page: the model and the data in plain words, and a line for each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dignn.evidence.grammar import listed, noun, nouns, percent
from dignn.explanation import Explanation, Explanations
from dignn.report.graphview import made_of, unbroken
from dignn.schema import Schema

# Node types that are named with their numbers.
_NAMED = 6


def content(explanations: Explanations) -> dict[str, Any]:
    """What the template of the top needs."""
    about = explanations.about
    schema = schema_of(explanations)
    return {
        "title": title(about),
        "text": unbroken(" ".join(sentences(explanations))),
        "what": "graph" if schema is None or schema.target is None else noun(schema.target),
        "node": schema is not None and schema.target is not None,
        "candidates": _number(_part(about, "validity").get("valid")),
        "rows": [
            _row(name, several[0] if several else None, number)
            for number, (name, several) in enumerate(explanations.items(), 1)
        ],
    }


def title(about: Mapping[str, Any]) -> str:
    """What the page is about: the data set's name, a file's without its folders."""
    name = about.get("dataset")
    return str(name).replace("\\", "/").rstrip("/").rpartition("/")[2] if name else "your model"


def schema_of(explanations: Explanations) -> Schema | None:
    """The schema of the graphs; None where there is no explanation."""
    return next((several[0].graph.schema for several in explanations.values() if several), None)


def sentences(explanations: Explanations) -> list[str]:
    """The model and the data in plain words, as far as they are known."""
    about = explanations.about
    facts = _part(about, "facts")
    schema = schema_of(explanations)
    things = "what it is given" if schema is None else "graphs" if schema.target is None else nouns(schema.target)
    count = len(explanations)
    of_data = f" of {title(about)}" if about.get("dataset") else ""
    classes = f"{count} classes" if count != 1 else "one class"
    found = [f"The model{_model(_part(facts, 'model'))} sorts {things}{of_data} into {classes}."]
    agreement = _part(about, "agreement")
    share, tested = agreement.get("share"), agreement.get("count")
    if isinstance(share, (int, float)) and isinstance(tested, int) and tested:
        whom = "" if schema is None else f" {things}"
        seen = "" if schema is None or schema.target is None else ", as they stand in small real graphs"
        found.append(f"It gives {percent(share)} of {tested:,}{whom} their label{seen}.")
    return [*found, *_data(_part(facts, "data"))]


def _model(model: Mapping[str, Any]) -> str:
    parameters = model.get("parameters")
    known = [str(model["name"])] if model.get("name") else []
    known += [f"{parameters:,} parameters"] if isinstance(parameters, int) else []
    return f" ({', '.join(known)})" if known else ""


def _data(data: Mapping[str, Any]) -> list[str]:
    nodes = {name: count for name, count in _part(data, "nodes").items() if isinstance(count, int)}
    if not nodes:
        return []
    total = sum(nodes.values())
    named = [f"{count:,} {nouns(name)}" for name, count in list(nodes.items())[:_NAMED]]
    if len(nodes) > _NAMED:
        named.append(f"{sum(list(nodes.values())[_NAMED:]):,} others")
    graphs, edges = data.get("graphs"), data.get("edges")
    joined = f", joined by {edges:,} edges" if isinstance(edges, int) else ""
    if isinstance(graphs, int) and graphs > 1:
        return [f"The data is {graphs:,} graphs with {total:,} nodes{joined}."]
    return [f"The data is a graph of {listed(named)}{joined}."]


def _row(name: str, best: Explanation | None, number: int) -> dict[str, Any]:
    return {
        "name": name,
        "key": f"class-{number}",
        "text": None if best is None or best.evidence is None else unbroken(best.evidence.text),
        "score": None if best is None else unbroken(percent(best.score)),
        "width": 0.0 if best is None else 100 * best.score,
        "nodes": None if best is None else made_of(best.graph),
    }


def _part(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of what is known about a run; empty where it is missing."""
    part = content.get(name)
    return part if isinstance(part, dict) else {}


def _number(value: object) -> str | None:
    return f"{value:,}" if isinstance(value, int) else None
