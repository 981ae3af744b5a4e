"""Predicates: each kind by hand, and all that a schema makes against plain loops over random graphs."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dignn.core.errors import DignnError
from dignn.goes_by import predicate_families, quantities
from dignn.goes_by.places import Places
from dignn.goes_by.predicate_families import families, ring_families, wheres
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.quantities import Count, Mean, Rings, means
from dignn.goes_by.traits import Holds, Shaped
from dignn.goes_by.where import Around, Edges, Step, steps_of
from dignn.graphs.batch import GraphBatch
from dignn.graphs.relation import Relation
from goes_by.library import CITES, HAS, READS, WRITES, library, weighted
from goes_by.plain_predicates import plainly
from strategies import PROPERTY, batch_of, batches, plain_schema, random_batch

AUTHOR, PAPERS, VENUES = Around("author", 0), Around("paper", 1), Around("venue", 2)


def count(where, *traits, least: int = 1) -> Predicate:
    return Predicate(Count(where, traits), least - 0.5)


BY_HAND = {
    "own word": (count(AUTHOR, Holds(0)), True),
    "own word that is not there": (count(AUTHOR, Holds(1)), False),
    "two of three own words": (count(AUTHOR, Holds(0), Holds(1), Holds(2), least=2), True),
    "three of three own words": (count(AUTHOR, Holds(0), Holds(1), Holds(2), least=3), False),
    "two papers": (count(PAPERS, least=2), True),
    "three papers": (count(PAPERS, least=3), True),
    "four papers": (count(PAPERS, least=4), False),
    "two papers that are written": (count(Around("paper", 1, (Step(WRITES),)), least=2), True),
    "three papers that are written": (count(Around("paper", 1, (Step(WRITES),)), least=3), False),
    "a paper that is read": (count(Around("paper", 1, (Step(READS),))), True),
    "a cheap paper": (count(PAPERS, Holds(0, "above", 3.0)), True),
    "two cheap papers": (count(PAPERS, Holds(0, "above", 3.0), least=2), False),
    "a paper without a price": (count(PAPERS, Holds(0, "missing")), True),
    "a kind": (count(PAPERS, Holds(1, "is", 2.0)), True),
    "the kind of zero": (count(PAPERS, Holds(1, "is", 0.0)), True),
    "another kind": (count(PAPERS, Holds(1, "is", 3.0)), False),
    "mean price": (Predicate(Mean(PAPERS, 0), 2.9), True),
    "mean price, higher": (Predicate(Mean(PAPERS, 0), 3.1), False),
    "mean of nothing": (Predicate(Mean(Around("venue", 3), 0), -9.0), False),
    "a venue two steps away is KDD": (count(VENUES, Holds(0)), True),
    "a venue two steps away is VLDB": (count(VENUES, Holds(1)), False),
    "a triangle with two papers": (Predicate(Rings(("author", "paper", "paper"))), True),
    "a triangle of papers": (Predicate(Rings(("paper", "paper", "paper"))), False),
    "two triangles": (Predicate(Rings(("author", "paper", "paper")), 1.5), False),
    "on a triangle": (count(AUTHOR, Shaped("cycle", 3)), True),
    "on a square": (count(AUTHOR, Shaped("cycle", 4)), False),
    "two papers on a triangle": (count(PAPERS, Shaped("cycle", 3), least=2), True),
    "a leaf beside it": (count(PAPERS, Shaped("leaf")), True),
    "two leaves beside it": (count(PAPERS, Shaped("leaf"), least=2), False),
    "a paper that cites": (count(PAPERS, Shaped("neighbours", 1, Step(CITES))), True),
    "a paper that is cited twice": (count(PAPERS, Shaped("neighbours", 2, Step(CITES, True))), False),
    "a paper in a venue": (count(PAPERS, Shaped("neighbours", 1, Step(HAS, True))), True),
    "two papers in venues": (count(PAPERS, Shaped("neighbours", 1, Step(HAS, True)), least=2), False),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    predicate, expected = BY_HAND[name]
    places = Places(library(), torch.tensor([0]), torch.tensor([0]))
    assert truth(places, [predicate, predicate.absent]).tolist() == [[expected, not expected]]
    assert plainly(library(), 0, 0, predicate) is expected


def test_edges_by_what_they_carry() -> None:
    batch, (label,) = weighted()
    places = Places(batch, torch.tensor([0, 0, 0]), torch.tensor([0, 1, 2]))
    asked = [
        count(Edges(label), Holds(0, "above", 0.5)),
        count(Edges(label), least=2),
        Predicate(Mean(Edges(label), 0), 0.5),
    ]
    expected = [[True, False, True], [True, True, False], [False, False, False]]
    assert truth(places, asked).tolist() == expected
    assert [[plainly(batch, 0, node, one) for one in asked] for node in range(3)] == expected
    assert truth(places, [count(Edges(label, True), least=2)]).all()


@given(batches(min_graphs=1), st.integers(0, 99))
@settings(PROPERTY, max_examples=30)
def test_all_predicates_of_any_schema_agree_with_plain_loops(batch: GraphBatch, seed: int) -> None:
    graph, node = batch.schema.task.answers(batch)
    places = Places(batch, graph, node)
    found = [family for where in wheres(places) for family in families(places, where)]
    found += list(ring_families(places))
    predicates = [predicate for family in found for predicate in family.predicates]
    if not predicates:
        return
    told = np.concatenate([family.true.toarray() for family in found], axis=1)
    asked = truth(Places(batch, graph, node), predicates)
    assert (told == asked).all()
    some = np.random.default_rng(seed).permutation(len(predicates))[:40]
    for place, (g, v) in enumerate(zip(graph.tolist(), node.tolist(), strict=True)):
        for which in some.tolist():
            assert asked[place, which] == plainly(batch, g, v, predicates[which]), predicates[which]


def test_the_vocabulary_has_each_kind_of_word() -> None:
    places = Places(library(), torch.tensor([0]), torch.tensor([0]))
    found = {each for where in wheres(places) for family in families(places, where) for each in family.predicates}
    found |= {each for family in ring_families(places) for each in family.predicates}
    assert count(Around("paper", 1, (Step(WRITES),))) in found  # that there are two is true of the same places
    for name in ("own word", "a kind", "a paper without a price", "a leaf beside it"):
        assert BY_HAND[name][0] in found, name
    assert BY_HAND["a triangle with two papers"][0] in found


MANY = tuple(Relation("node", f"r{number:02}", "node", directed=True) for number in range(20))


def many_relations() -> Places:
    """Nodes 0 to 3 in a row by the first relation, again and again, and node 4 that the second leads to from 3."""
    schema = plain_schema(MANY, target="node")
    batch = batch_of(schema, [0] * 5, {(0, 1): 1, (1, 2): 1, (2, 3): 1, (3, 4): 2})
    batch = GraphBatch.cat([batch] * 3)
    return Places(batch, *schema.task.answers(batch))


def test_paths_are_those_that_can_be_walked_and_of_many_those_walked_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1,600 paths of two steps twelve can be walked; what each of the others reaches is not even asked."""
    places, (first, second) = many_relations(), (relation.label for relation in MANY[:2])
    on, off, to = Step(first), Step(first, True), Step(second)
    walked = {each.path for each in wheres(places) if isinstance(each, Around) and len(each.path) == 2}
    back_and_forth = {(step, replace(step, back=not step.back)) for step in (on, off, to, Step(second, True))}
    assert walked >= {(on, on), (off, off), (on, to), (Step(second, True), off)} | back_and_forth
    assert {step for path in walked for step in path} == {on, off, to, Step(second, True)}
    monkeypatch.setattr(predicate_families, "_MOST_PATHS", 3)
    fewer = [each.path for each in wheres(places) if isinstance(each, Around) and len(each.path) == 2]
    assert fewer == [(on, on), (on, off), (off, on)]  # two walks in each graph, or three


def test_scopes_along_paths_are_not_kept_for_ever() -> None:
    places = many_relations()
    arcs = {(step, other) for step in steps_of(places.schema) for other in steps_of(places.schema)}
    for path in sorted(arcs, key=str):
        places.around(Around("node", 2, path))
    kept = [each for each in vars(places).values() if isinstance(each, dict)]
    along = {where for scopes in kept for where in scopes if isinstance(where, Around) and where.path}
    assert 0 < len(along) < 20


def test_means_go_through_columns_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three papers, of which two cost something; no dense table has more than a column."""
    places = Places(library(), torch.tensor([0]), torch.tensor([0]))
    where, widths = Around("paper", 1), []
    whole = means(places, where, [0, 1, 0])
    plain = csr_array.toarray

    def toarray(table: csr_array) -> np.ndarray:
        widths.append(table.shape[1])
        return plain(table)

    monkeypatch.setattr(quantities, "CELLS", 3)
    monkeypatch.setattr(csr_array, "toarray", toarray)
    assert means(places, where, [0, 1, 0]).tolist() == whole.tolist() == [[3.0, 1.0, 3.0]]
    assert widths == [1, 1, 1]


def test_bad_places_and_columns_are_told() -> None:
    batch = library()
    with pytest.raises(DignnError, match="the batch has 1 graphs"):
        Places(batch, torch.tensor([1]), torch.tensor([0]))
    for node in (1, 9):  # on padding, and beyond
        two = GraphBatch.cat([batch.without_features(), batch_of(batch.schema, [0], {})])
        with pytest.raises(DignnError, match="a node that its graph does not have"):
            Places(two, torch.tensor([1]), torch.tensor([node]))
    with pytest.raises(DignnError, match="one node for each"):
        Places(batch, torch.tensor([0]), torch.tensor([0, 0]))
    places = Places(batch, torch.tensor([0]), torch.tensor([0]))
    with pytest.raises(DignnError, match="no column 9; there are 3"):
        truth(places, [count(AUTHOR, Holds(9))])
    with pytest.raises(DignnError, match="no relation 'author -knows- author'"):
        truth(places, [count(Around("author", 1, (Step("author -knows- author"),)))])
    with pytest.raises(DignnError, match="carry nothing"):
        truth(places, [count(Edges(WRITES), Holds(0))])
    with pytest.raises(DignnError, match="not filled in yet"):
        truth(Places(batch.without_features(), torch.tensor([0]), torch.tensor([0])), [count(AUTHOR, Holds(0))])


def test_no_places_are_no_mistake() -> None:
    places = Places(library(), torch.empty(0, dtype=torch.long), torch.empty(0, dtype=torch.long))
    assert truth(places, [count(AUTHOR, Holds(0))]).shape == (0, 1)


def test_thousands_of_graphs_at_once() -> None:
    """3,000 graphs of 15 nodes and 2,000 predicates take about a third of a second on one core."""
    from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
    from dignn.graphs.schema import Relation

    schema = plain_schema(
        (Relation("author", "writes", "paper", "rev"),),
        node_types=("author", "paper"),
        features=(FeatureSpec(FeatureKind.BINARY, 400), FeatureSpec(FeatureKind.BINARY, 400)),
        target="author",
    )
    few = random_batch(schema, [15] * 30, np.random.default_rng(0))
    keep = torch.rand(few.edge.shape, generator=torch.Generator().manual_seed(0)) < 0.2
    keep = keep & keep.transpose(1, 2)
    few = GraphBatch(schema, few.node_type, few.edge * keep, few.label, few.graph_label, few.row, few.tables)
    batch = few[torch.arange(3000) % 30]
    graph, node = schema.task.answers(batch)
    first = np.unique(graph.numpy(), return_index=True)[1]
    places = Places(batch, graph[first], node[first])
    where = [Around("author", 0), Around("paper", 1), Around("author", 2)]
    asked = [count(at, Holds(column), least=least) for at in where for column in range(300) for least in (1, 2)]
    asked += [count(at, Shaped("cycle", number), least=n) for at in where for number in (3, 4, 6) for n in range(1, 24)]
    assert len(asked) >= 2000
    begin = time.process_time()
    assert truth(places, asked[:2000]).shape == (len(places), 2000)
    assert time.process_time() - begin < 3  # of a slow machine
