"""Judging explanations of a known model, made by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import torch

from dignn.core.errors import DignnError
from dignn.evidence.gathering import Evidence
from dignn.evidence.nearest_example import NearestExample
from dignn.evidence.removal import Effect, Effects
from dignn.evidence.variants import Kind, Part
from dignn.explanations.explanation import Explanation, Explanations
from dignn.graphs.schema import Schema
from dignn.zoo.known.known_model import FAILS, HOLDS
from dignn.zoo.known.known_scores import score_known
from dignn.zoo.known.registry import KNOWN_MODELS
from strategies import batch_of

# The author, 0, has the keyword logic, or wrote a paper, 1, with an award; 2 is a paper that the author reviewed.
KNOWN = KNOWN_MODELS["disjunction"]
USED = [Part(Kind.NODE, (1,)), Part(Kind.EDGE, (0, 1))]
UNUSED = [Part(Kind.NODE, (2,)), Part(Kind.EDGE, (0, 2))]


@cache
def schema() -> Schema:
    return KNOWN.dataset(0).schema


def column(kind: str, name: str) -> int:
    spec = schema().spec(kind)
    return [spec.column_name(j) for j in range(spec.width)].index(name)


def code(name: str) -> int:
    """The number of a relation, from 1."""
    return 1 + [relation.name for relation in schema().relations].index(name)


def shown(*, logic: bool, award: bool, remote: bool = False, marked: tuple[Part, ...] | None = None) -> Explanation:
    """An explanation of the class "rule holds" with these features, in which everything ``marked`` costs something."""
    author, paper = (schema().type_index(name) for name in ("author", "paper"))
    batch = batch_of(schema(), [author, paper, paper], {(0, 1): code("writes"), (0, 2): code("reviews")})
    tables = {
        "author": torch.zeros(1, schema().spec("author").width),
        "paper": torch.zeros(2, schema().spec("paper").width),
    }
    tables["author"][0, column("author", "logic")] = float(logic)
    tables["author"][0, column("author", "remote")] = float(remote)
    tables["paper"][0, column("paper", "award")] = float(award)
    tables["paper"][1, column("paper", "award")] = 1  # reviewed, which says nothing
    batch.row[0] = torch.tensor([0, 0, 1])
    evidence = None
    if marked is not None:
        effects = [Effect(part, 1.0, 0.5) for part in marked] + [Effect(Part(Kind.NODE, (2,)), 0.00001, 0.9)]
        nearest = NearestExample(graph=0, node=0, row=0, label=1, predicted=1, distance=0.5, farther=0.4)
        evidence = Evidence("", nearest, (), (), Effects(1, 0, 0.9, 2.0, tuple(effects)))
    return Explanation(1, HOLDS, 0, (0.1, 0.9), 2.0, replace(batch, tables=tables).check(), 0, 0, evidence=evidence)


def judged(holds: list[Explanation], fails: list[Explanation]) -> Explanations:
    return Explanations({FAILS: fails, HOLDS: holds})


NOTHING, LOGIC, AWARD, TWO = (
    {"logic": logic, "award": award} for logic, award in ((False, False), (True, False), (False, True), (True, True))
)


def test_explanations_are_on_the_right_side_of_the_rule_or_not() -> None:
    holds = [shown(**LOGIC), shown(**AWARD), shown(**TWO), shown(**NOTHING)]
    found = score_known(KNOWN, judged(holds, [shown(**NOTHING), shown(**LOGIC)]))
    assert (found.holds, found.fails, found.satisfied) == (0.75, 0.5, 0.625)


def test_a_class_without_explanations_has_none_that_is_right() -> None:
    found = score_known(KNOWN, judged([], [shown(**NOTHING)]))
    assert (found.holds, found.fails, found.satisfied, found.patterns_found) == (0, 1, 0.5, 0)
    assert found.evidence_precision is None
    assert found.decoys is None


def test_patterns_are_sought_among_the_ten_best() -> None:
    found = score_known(KNOWN, judged([shown(**LOGIC)] * 10 + [shown(**AWARD)], []))
    assert (found.patterns_found, found.patterns_alone, found.missing) == (0.5, 0.5, ("award",))
    found = score_known(KNOWN, judged([shown(**LOGIC)] * 9 + [shown(**AWARD)], []))
    assert (found.patterns_found, found.patterns_alone, found.missing) == (1, 1, ())


def test_patterns_that_are_only_shown_together_are_found_and_not_alone() -> None:
    found = score_known(KNOWN, judged([shown(**TWO)] * 3, []))
    assert (found.patterns_found, found.patterns_alone) == (1, 0)


def test_evidence_is_right_where_the_rule_uses_what_it_marks() -> None:
    logic = Part(Kind.COLUMN, (0,), (column("author", "logic"),))
    remote = Part(Kind.COLUMN, (0,), (column("author", "remote"),))
    award = Part(Kind.COLUMN, (1,), (column("paper", "award"),))
    reviewed = Part(Kind.COLUMN, (2,), (column("paper", "award"),))
    right, wrong = (*USED, logic, award), (*UNUSED, remote, reviewed)
    for marks, precision in ((right, 1.0), (wrong, 0.0), (right + wrong[:1], 0.8), ((), None)):
        found = score_known(KNOWN, judged([shown(**TWO, marked=marks)], []))
        assert found.evidence_precision == precision
        assert found.marked == len(marks)
    # Without the award nothing about the paper counts, however the evidence marks it.
    found = score_known(KNOWN, judged([shown(**LOGIC, marked=right)], []))
    assert found.evidence_precision == 0.25


def test_decoys_are_what_tells_the_classes_apart_without_being_used() -> None:
    with_, without = shown(**LOGIC, remote=True), shown(**LOGIC)
    assert score_known(KNOWN, judged([with_], [shown(**NOTHING)])).decoys == pytest.approx(1 / 3)  # one of three
    # One that is rarer where the rule holds tells the classes apart as well.
    fewer = score_known(KNOWN, judged([without], [shown(**NOTHING, remote=True)]))
    assert fewer.decoys == pytest.approx(1 / 3)
    assert score_known(KNOWN, judged([without], [shown(**NOTHING)])).decoys == 0
    assert score_known(KNOWN, judged([with_, without], [with_, without])).decoys == 0


def test_explanations_of_other_classes_are_refused() -> None:
    with pytest.raises(DignnError, match="a known model has 'rule fails' and 'rule holds'"):
        score_known(KNOWN, Explanations({"one": [], "two": []}))


def test_explanations_without_a_node_are_refused() -> None:
    with pytest.raises(DignnError, match="no classified node"):
        score_known(KNOWN, judged([replace(shown(**LOGIC), node=None)], []))
