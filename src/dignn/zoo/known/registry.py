"""Every known model by name. Loads nothing heavy."""

from __future__ import annotations

from dignn.core.registry import Registry
from dignn.graphs.relation import EdgeType
from dignn.zoo.known.clues import Clue, own
from dignn.zoo.known.known_model import KnownModel
from dignn.zoo.known.rules import Above, Both, Either, Not, OnlyOne, Rule, at_least, between, some

_WROTE: EdgeType = ("author", "writes", "paper")
_WRITTEN_BY: EdgeType = ("paper", "rev_writes", "author")
_REVIEWED: EdgeType = ("author", "reviews", "paper")
_CITES: EdgeType = ("paper", "cites", "paper")
_CITED_BY: EdgeType = ("paper", "rev_cites", "paper")
_IN: EdgeType = ("paper", "appears_in", "conference")
_TAKES: EdgeType = ("patient", "takes", "drug")
_DATABASE = ("concurrency", "index", "join", "query", "relational", "schema", "storage", "transaction")

_DECOYS: dict[str, tuple[Clue, ...]] = {
    "bibliography": (own("adaptive"), own("analysis")),
    "library": (own("remote"), Clue((_WROTE,), "demo"), Clue((("author", "attends", "conference"),))),
    "clinic": (own("pulse"), Clue((("patient", "calls", "doctor"),))),
}

KNOWN_MODELS: Registry[KnownModel] = Registry("known model")


def _know(name: str, world: str, says: str, rule: Rule, **patterns: Rule) -> None:
    found = {pattern.replace("_", " "): sufficient for pattern, sufficient in patterns.items()} or {name: rule}
    KNOWN_MODELS.add(name, KnownModel(name, says, world, rule, found, _DECOYS[world]))


# -- bibliography -------------------------------------------------------------------------------------

_TRIANGLE = some(Clue((_WROTE, _CITES, _WRITTEN_BY), closed=True))
_QUERY = some(own("query"))

_know("feature", "bibliography", "the author has the keyword query", _QUERY)
_know("structure", "bibliography", "a paper of the author cites another paper of the author", _TRIANGLE)
_know(
    "both",
    "bibliography",
    "the author has the keyword query, and a paper of the author cites another paper of the author",
    Both(_QUERY, _TRIANGLE),
)
_know(
    "count",
    "bibliography",
    "the author has at least five of the eight keywords of databases",
    at_least(5, *map(own, _DATABASE)),
)

# -- library ------------------------------------------------------------------------------------------

_LOGIC, _NEURAL = some(own("logic")), some(own("neural"))
_AWARD, _SURVEY = some(Clue((_WROTE,), "award")), some(Clue((_WROTE,), "survey"))
_THEORY_REVIEWED = some(Clue((_REVIEWED,), "theory"))

_know("absence", "library", "the author wrote no survey", Not(_SURVEY))
_know(
    "disjunction",
    "library",
    "the author has the keyword logic, or wrote a paper with an award",
    Either(_LOGIC, _AWARD),
    keyword_logic=_LOGIC,
    award=_AWARD,
)
_know(
    "exclusive",
    "library",
    "the author has one of the keywords query and neural, and not both",
    OnlyOne(_QUERY, _NEURAL),
    query_alone=Both(_QUERY, Not(_NEURAL)),
    neural_alone=Both(_NEURAL, Not(_QUERY)),
)
_know(
    "two-steps",
    "library",
    "a paper of the author cites a theory paper",
    some(Clue((_WROTE, _CITES), "theory")),
)
_know("one-relation", "library", "the author reviewed a theory paper; writing one does not count", _THEORY_REVIEWED)
_know(
    "direction",
    "library",
    "a paper of the author is cited; citing does not count",
    some(Clue((_WROTE, _CITED_BY))),
)
_know("degree", "library", "the author wrote at least three papers", at_least(3, Clue((_WROTE,))))
_know("identity", "library", "a paper of the author appeared at Coast", some(Clue((_WROTE, _IN), "Coast")))
_know("neighbour", "library", "the author wrote a survey", _SURVEY)
_know(
    "two-neighbours", "library", "the author wrote at least two theory papers", at_least(2, Clue((_WROTE,), "theory"))
)
_know(
    "present-and-absent",
    "library",
    "the author wrote a theory paper and reviewed none",
    Both(some(Clue((_WROTE,), "theory")), Not(_THEORY_REVIEWED)),
)

# -- clinic -------------------------------------------------------------------------------------------

_HIGH = Above((own("pressure"),), 137.5, scale=10)
_STRONG = some(Clue((_TAKES,), "strong"))

_know("threshold", "clinic", "the patient's pressure is above 137.5", _HIGH)
_know("interval", "clinic", "the patient's age is between 40 and 60", between(40, 60, own("age"), scale=5))
_know(
    "threshold-and-neighbour",
    "clinic",
    "the patient's pressure is above 137.5, and the patient takes a strong drug",
    Both(_HIGH, _STRONG),
)
_know(
    "threshold-or-count",
    "clinic",
    "the patient's pressure is above 162.5, or the patient takes at least three drugs",
    Either(Above((own("pressure"),), 162.5, scale=10), at_least(3, Clue((_TAKES,)))),
    pressure=Above((own("pressure"),), 162.5, scale=10),
    three_drugs=at_least(3, Clue((_TAKES,))),
)
