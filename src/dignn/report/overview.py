"""The top of the page: the model and the data in plain words, and a line for each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dignn.evidence.grammar import listed, noun, nouns, percent
from dignn.explanation import Explanation, Explanations
from dignn.report.generators import origin_in_words
from dignn.report.known import part, schema_of
from dignn.report.words import made_of, unbroken

# Node types that are named with their numbers.
_NAMED = 6
# What is shown of each class, by the rule that chose it.
_RULES = {
    "highest": "those of which the model is surest",
    "typical": "those of which the model is nearly surest, and which are like real members",
    "representative": "those of which the model is nearly surest, and which are like real members",
}


def content(explanations: Explanations, panels: int | None = None) -> dict[str, Any]:
    """What the template of the top needs.

    Args:
        explanations: of all classes.
        panels: how many of them have a panel, to which a link may lead; None for all.
    """
    about = explanations.about
    schema = schema_of(explanations)
    what, more = origin_in_words(about)
    linked = len(explanations) if panels is None else panels
    return {
        "title": title(about),
        "text": unbroken(" ".join(sentences(explanations))),
        "what": "graph" if schema is None or schema.target is None else noun(schema.target),
        "node": schema is not None and schema.target is not None,
        "origin": what,
        "chosen": " ".join(filter(None, [more, chosen_in_words(explanations)])),
        "rows": [
            _row(name, several[0] if several else None, number, linked=number <= linked)
            for number, (name, several) in enumerate(explanations.items(), 1)
        ],
    }


def title(about: Mapping[str, Any]) -> str:
    """What the page is about: the data set's name, a file's without its folders."""
    name = about.get("dataset")
    return str(name).replace("\\", "/").rstrip("/").rpartition("/")[2] if name else "your model"


def sentences(explanations: Explanations) -> list[str]:
    """The model and the data in plain words, as far as they are known."""
    about = explanations.about
    facts = part(about, "facts")
    schema = schema_of(explanations)
    things = "what it is given" if schema is None else "graphs" if schema.target is None else nouns(schema.target)
    count = len(explanations)
    of_data = f" of {title(about)}" if about.get("dataset") else ""
    classes = f"{count} classes" if count != 1 else "one class"
    found = [f"The model{_model(part(facts, 'model'))} sorts {things}{of_data} into {classes}."]
    agreement = part(about, "agreement")
    share, tested = agreement.get("share"), agreement.get("count")
    if isinstance(share, (int, float)) and isinstance(tested, int) and tested:
        whom = "" if schema is None else f" {things}"
        seen = "" if schema is None or schema.target is None else ", as they stand in small real graphs"
        found.append(f"It gives {percent(share)} of {tested:,}{whom} their label{seen}.")
    return [*found, *_data(part(facts, "data"))]


def chosen_in_words(explanations: Explanations) -> str:
    """By what rule, and of how many, the graphs of the page were chosen; and whether they lie among real ones."""
    config, validity = part(explanations.about, "config"), part(explanations.about, "validity")
    items = [item for several in explanations.values() for item in several]
    rule = _RULES.get(str(config.get("selection")))
    made, valid = validity.get("generated"), validity.get("valid")
    told = []
    if items and rule is not None and isinstance(made, int) and isinstance(valid, int):
        sound = "" if made == valid else f" and {valid:,} found sound"
        told.append(f"{made:,} graphs were made{sound}; shown are, of each class, {rule}.")
    standings = [item.standing for item in items]
    known = [standing for standing in standings if standing is not None]
    outside = sum(not standing.inside for standing in known)
    if outside:
        told.append(f"{outside} of {len(items)} shown lie{'s' * (outside == 1)} outside the range of real members.")
    elif known and len(known) == len(items):
        told.append("All that are shown lie in the range of real members of their class.")
    return " ".join(told)


def _model(model: Mapping[str, Any]) -> str:
    parameters = model.get("parameters")
    known = [str(model["name"])] if model.get("name") else []
    known += [f"{parameters:,} parameters"] if isinstance(parameters, int) else []
    return f" ({', '.join(known)})" if known else ""


def _data(data: Mapping[str, Any]) -> list[str]:
    nodes = {name: count for name, count in part(data, "nodes").items() if isinstance(count, int)}
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


def _row(name: str, best: Explanation | None, number: int, linked: bool) -> dict[str, Any]:
    return {
        "name": name,
        "key": f"class-{number}" if linked else None,
        "text": None if best is None or best.evidence is None else unbroken(best.evidence.text),
        "score": None if best is None else unbroken(percent(best.score)),
        "width": 0.0 if best is None else 100 * best.score,
        "nodes": None if best is None else made_of(best.graph),
    }
