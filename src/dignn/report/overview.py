"""The top of the page: the model and the data in plain words, and a line for each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dignn.core.numerals import percent
from dignn.evidence.grammar import listed, noun, nouns
from dignn.evidence.label_order import below_guessing
from dignn.evidence.task_words import TaskWords, words_of
from dignn.report.generator_words import origin_in_words
from dignn.report.goes_by_words import class_words, concluded
from dignn.report.graph_words import unbroken
from dignn.report.lookup import entry, number_at, part, shows_real
from dignn.report.told_terms import told_study

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanations

# Node types that are named with their numbers.
_NAMED = 6
# What is shown of each class, by the rule that chose it.
_RULES = {
    "highest": "those of which the model is surest",
    "typical": "those of which the model is nearly surest, and which are like real members",
    "representative": "those of which the model is nearly surest, and which are like real members",
    "covering": "those that most real members are like",
    "proposed": "the first that are meant for it",
}


def content(explanations: Explanations, panels: int | None = None) -> dict[str, Any]:
    """What the template of the top needs.

    Args:
        explanations: of all classes.
        panels: how many of them have a panel, to which a link may lead; None for all.
    """
    about = explanations.about
    words = _words(explanations)
    what, more = origin_in_words(about)
    linked = len(explanations) if panels is None else panels
    told, study = class_words(about, explanations.schema), told_study(about)
    conclusion = "" if study is None else concluded(study, explanations.schema, "What they say")
    return {
        "title": title(about),
        "text": unbroken(" ".join(sentences(explanations))),
        "what": words.thing,
        "node": not words.whole,
        "origin": what,
        "chosen": " ".join(filter(None, [more, chosen_in_words(explanations)])),
        "conclusion": f"{conclusion}." if conclusion and told else None,
        "rows": [
            (name, f"class-{number}" if number <= linked else None, several[0] if several else None, told.get(name))
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
    words = _words(explanations)
    what = f"{words.things} of {title(about)}" if about.get("dataset") else words.things
    does = words.sorts(what, len(explanations))
    found = [f"The model{_model(part(about, 'facts', 'model'))} {does}."]
    share, tested = number_at(about, "agreement.share"), entry(about, int, "agreement", "count")
    if share is not None and tested:
        whom = "" if explanations.schema is None else f" {words.things}"
        seen = "" if words.whole else ", as they stand in small real graphs, which leave neighbours out"
        doubt = below_guessing(share, len(explanations), tested)
        said = "" if doubt is None else f": {doubt}"
        found.append(f"It gives {percent(share)} of {tested:,}{whom} their label{seen}{said}.")
    return [*found, *_data(part(about, "facts", "data")), *_dropped(part(about, "dropped"))]


def chosen_in_words(explanations: Explanations) -> str:
    """By what rule, and of how many, the graphs of the page were chosen; and whether they lie among real ones."""
    about = explanations.about
    items = [item for several in explanations.values() for item in several]
    rule = _RULES.get(entry(about, str, "config", "selection") or "")
    made, valid = entry(about, int, "validity", "generated"), entry(about, int, "validity", "valid")
    told = []
    if items and rule is not None and made is not None and valid is not None:
        sound = "" if made == valid else f" and {valid:,} found sound"
        how = "real graphs were looked at" if shows_real(about) else "graphs were made"
        told.append(f"{made:,} {how}{sound}; shown are, of each class, {rule}.")
    known = [item.standing for item in items if item.standing is not None]
    outside = sum(not standing.inside for standing in known)
    if outside:
        told.append(f"{outside} of {len(items)} shown lie{'s' * (outside == 1)} outside the range of real members.")
    elif known and len(known) == len(items):
        told.append("All that are shown lie in the range of real members of their class.")
    return " ".join(told)


def _words(explanations: Explanations) -> TaskWords:
    """Of the task; vague ones where there is no explanation that would tell it."""
    schema = explanations.schema
    return TaskWords("graph", "what it is given", whole=True) if schema is None else words_of(schema.task)


def _model(model: Mapping[str, Any]) -> str:
    parameters = entry(model, int, "parameters")
    known = [str(model["name"])] if model.get("name") else []
    known += [] if parameters is None else [f"{parameters:,} parameters"]
    return f" ({', '.join(known)})" if known else ""


def _data(data: Mapping[str, Any]) -> list[str]:
    nodes = {name: count for name, count in part(data, "nodes").items() if isinstance(count, int)}
    if not nodes:
        return []
    named = [f"{count:,} {noun(name) if count == 1 else nouns(name)}" for name, count in list(nodes.items())[:_NAMED]]
    if len(nodes) > _NAMED:
        others = sum(list(nodes.values())[_NAMED:])
        named.append(f"{others:,} other{'' if others == 1 else 's'}")
    graphs, edges = entry(data, int, "graphs") or 1, entry(data, int, "edges")
    joined = "" if edges is None else f", joined by {edges:,} edge{'' if edges == 1 else 's'}"
    what = f"{graphs:,} graphs with {sum(nodes.values()):,} nodes" if graphs > 1 else f"a graph of {listed(named)}"
    return [f"The data is {what}{joined}."]


def _dropped(counts: Mapping[str, Any]) -> list[str]:
    """Edges that were left out, by kind."""
    known = {str(kind): count for kind, count in counts.items() if isinstance(count, int) and count > 0}
    told = [f"{count:,} {kind.removesuffix('s') if count == 1 else kind}" for kind, count in known.items()]
    return [f"Left out of it, because generated graphs cannot have such edges: {listed(told)}."] if told else []
