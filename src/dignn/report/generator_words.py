"""Generators and refinement in words, for people who have never heard of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dignn.report.lookup import entry, part, shows_real

_STRUCTURE = {
    "node-growth": (
        "Structure was made by node growth: a network learned to build graphs node by node, by undoing the removal of "
        "nodes from real graphs (a discrete diffusion). So graphs are connected at every step."
    ),
    "edge-diffusion": (
        "Structure was made by edge diffusion: noise was put on the edges of real graphs, and a network learned to "
        "take it away again, step by step."
    ),
    "bootstrap": (
        "Structure was made by bootstrap, which repeats real graphs: a control that shows what a perfect generator "
        "would score, not a generator of new graphs."
    ),
}
_FEATURES = {
    "ditabddpm": "discrete diffusion (DiTabDDPM): columns are blanked out and a network learned to fill them in",
    "tabddpm": "Gaussian diffusion (TabDDPM): noise is added to values and a network learned to take it away",
    "bootstrap": "rows of real nodes, drawn as they are",
    "independent": "every column drawn by itself: a control",
}


# Generators that learn: names of users' own, and of controls, are not among them.
_LEARNED = ("node-growth", "edge-diffusion")
_DRAWN = ("bootstrap",)


def origin_in_words(about: Mapping[str, Any]) -> tuple[str, str]:
    """What an explanation is, as far as a run tells how its graphs were made: a phrase, and what there is to add."""
    settings, explainer = part(about, "config"), entry(about, str, "explainer")
    structure, features = str(settings.get("structure")), str(settings.get("features"))
    if shows_real(about):
        return "a small real graph,", "chosen from the data: nothing was generated."
    if explainer != "dignnexplainer" or not settings:
        who = f" that the explainer “{explainer}” made" if explainer is not None and settings else ""
        return f"a small graph{who}, to stand for a class.", ""
    if structure in _DRAWN and features in _DRAWN:
        return "a small real graph, drawn again:", "both generators of this run are controls that copy from the data."
    if structure in _DRAWN:
        return "a small real graph with generated features:", "structure was copied from the data, as a control."
    if structure not in _LEARNED:
        return f"a small graph that the generator “{structure}” made.", ""
    if features in _DRAWN:
        return "a small graph whose structure was generated;", "its nodes carry features of real nodes, as a control."
    return "a small graph that was generated.", ""


def structure_in_words(config: Mapping[str, Any]) -> str | None:
    """What the structure generator does."""
    name = entry(config, str, "structure")
    return None if name is None else _STRUCTURE.get(name, f"Structure was made by the generator {name}.")


def features_in_words(features: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(node type, what its features come from), a generator for each class told once."""
    return [(str(name), _features(found)) for name, found in features.items() if isinstance(found, dict)]


def _features(found: Mapping[str, Any]) -> str:
    if "generator" not in found:
        of_class = [part(found, name) for name in found]
        words = list(dict.fromkeys(_features(learned) for learned in of_class if "generator" in learned))
        return f"one generator for each class: {'; '.join(words)}" if words else "not known"
    name = str(found["generator"])
    if name == "neighbour means":
        return f"the mean of the features of its neighbours of type {found.get('of', 'another')}, as in the data"
    words = [_FEATURES.get(name, f"the generator {name}")]
    share = entry(found, float, "repeated_share") or 0.0
    if share > 0.005:
        words.append(f"{100 * share:.0f} % are rows that many real nodes share, drawn as they are")
    if found.get("few_rows"):
        words.append("classes with few real rows get those rows")
    return "; ".join(words)


def refinement_in_words(found: Any) -> str | None:
    """What refinement tried and kept; None where a run does not tell."""
    if not isinstance(found, dict):
        return None
    if not found or found.get("graphs") == 0:
        return "No graph was refined: there were enough that the model is sure of, or nothing to draw anew."
    numbers = [entry(found, int, name) for name in ("graphs", "rounds", "tried", "accepted")]
    if None in numbers:
        return None
    graphs, rounds, tried, accepted = (f"{number:,}" for number in numbers)
    return (
        f"Refinement: single rows of features of {graphs} promising graphs were drawn anew, in {rounds} rounds. Of "
        f"{tried} draws {accepted} made the model surer of the class and were kept."
    )
