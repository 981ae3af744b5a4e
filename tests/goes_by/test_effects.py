"""Effects: a cause has the effect that its model gives it, a decoy has none however well it goes with the class."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.features.bank import FeatureBank
from dignn.features.settings import FeatureSettings
from dignn.goes_by.effects import Effect, effects
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count, Mean, Rings
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around, Step
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.sampling.division import divide
from dignn.zoo.known.registry import KNOWN_MODELS
from goes_by.answered import WORDS
from goes_by.asked import ByWords, asked


def has(word: str) -> Predicate:
    return Predicate(Count(Around("author"), (Holds(WORDS.index(word)),)))


CARRIES = Predicate(Count(Around("paper", 1), (Holds(0),)))


def tried(
    model: ByWords, terms: list[tuple[int, Predicate, float]], *, copied: bool = False, seed: int = 0
) -> list[Effect]:
    batch, scores, adapter = asked(model, copied=copied)
    return effects(terms, batch, scores, adapter, None, Seed(seed))


def test_a_cause_has_the_effect_that_the_model_gives_it() -> None:
    model = ByWords(paper=2.0, query=3.0, logic=-1.25)
    terms = [(1, has("query"), 2.0), (1, has("logic"), -1.0), (1, CARRIES, 2.0), (0, has("query"), -2.0)]
    found = tried(model, terms)
    assert [round(each.mean or 0, 4) for each in found] == [3.0, -1.25, 2.0, -3.0]
    for each in found:
        assert each.interval == pytest.approx((each.mean, each.mean), abs=1e-4)
        assert each.pairs == 48
        assert not each.matched
    assert not any(each.decoy(points) for each, (_, _, points) in zip(found, terms, strict=True))


def test_what_is_true_of_the_same_places_as_a_cause_and_does_nothing_is_a_decoy() -> None:
    cause, decoy = tried(ByWords(0.0, query=3.0), [(1, has("query"), 1.5), (1, has("remote"), 1.5)], copied=True)
    assert cause.mean == pytest.approx(3.0)
    assert decoy.mean == 0
    assert decoy.decoy(1.5)
    assert not cause.decoy(1.5)
    assert cause.decoy(-1.5)  # it acts the other way round


def test_half_an_exclusive_or_acts_though_its_mean_is_nothing() -> None:
    effect = Effect(0.02, (-0.9, 0.94), False, 48, size=3.0)
    assert not effect.decoy(0.8)
    assert Effect(0.02, (-0.9, 0.94), False, 48, size=0.1).decoy(0.8)
    assert not Effect(None, None, True, 0).decoy(0.8)


def test_a_group_of_words_acts_as_its_words_do() -> None:
    terms = [(1, group("graph", "logic", "open"), 1.0)]
    (effect,) = tried(ByWords(0.0, graph=1.0, logic=1.0, open=1.0), terms)
    # of three words, each there in half of the rows: 2.25 where there are at least two, 0.75 where not
    assert effect.interval is not None
    assert effect.interval[0] < 1.5 < effect.interval[1]
    assert effect.mean == pytest.approx(1.5, abs=0.4)


def test_absence_has_the_opposite_effect() -> None:
    here, absent = tried(ByWords(0.0, query=3.0), [(1, has("query"), 1.0), (1, has("query").absent, -1.0)])
    assert here.mean == pytest.approx(3.0)
    assert absent.mean == pytest.approx(-3.0)


def test_one_extreme_does_not_speak_for_all() -> None:
    (effect,) = tried(ByWords(0.0, query=1000.0), [(1, has("query"), 1.0)])
    assert effect.mean == 10.0


def test_effects_that_are_known_are_not_tried_again() -> None:
    batch, scores, adapter = asked(ByWords(0.0, query=3.0))
    before, known = adapter.scored, Effect(7.0, (6.0, 8.0), False, 5)
    terms = [(1, has("query"), 1.0)]
    assert effects(terms, batch, scores, adapter, None, Seed(0), known={(1, has("query")): known}) == [known]
    assert adapter.scored == before


def group(*words: str) -> Predicate:
    return Predicate(Count(Around("author"), tuple(Holds(WORDS.index(word)) for word in words)), 1.5)


def test_same_seed_same_effects() -> None:
    terms = [(1, group("graph", "logic", "open"), 1.0), (1, Predicate(Count(Around("paper", 1)), 1.5), 1.0)]
    model = ByWords(2.0, graph=1.0, logic=3.0)
    assert tried(model, terms) == tried(model, terms)
    assert tried(model, terms) != tried(model, terms, seed=1)


def test_graphs_are_matched_where_nothing_can_be_set_or_cut() -> None:
    """All papers have a mean above -1, and authors without papers have none, so there is no value to set."""
    batch, scores, adapter = asked(ByWords(0.0, query=3.0))
    mean = Predicate(Mean(Around("paper", 1), 1), -1.0)
    terms = [(1, mean, 1.0), (1, has("query"), 1.0)]
    effect, _ = effects(terms, batch, scores, adapter, None, Seed(0))
    assert (effect.mean, effect.matched, effect.pairs) == (0.0, True, 48)  # alike in "query", which is all that acts
    some = batch[batch.sizes > 1]
    (nothing,) = effects(terms[:1], some, adapter.score(some), adapter, None, Seed(0))
    assert nothing == Effect(None, None, True, 0)


def test_terms_of_other_classes_are_refused() -> None:
    with pytest.raises(DignnError, match="A term is of class 2, and the model has 2 classes; number them from 0"):
        tried(ByWords(0.0), [(2, has("query"), 1.0)])


def test_something_else_than_a_model_is_refused() -> None:
    batch, scores, _ = asked(ByWords(0.0, query=1.0))
    with pytest.raises(DignnError, match="adapter"):
        effects([(1, has("query"), 1.0)], batch, scores, "model", None, Seed(0))  # type: ignore[arg-type]


# -- known models -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Few:
    sizes: tuple[int, ...]
    subgraphs_per_size: int = 100


def known(name: str) -> tuple[GraphBatch, Scores, GNNAdapter, FeatureBank]:
    model = KNOWN_MODELS[name]
    data = model.dataset(0)
    real = divide(data.data, data.schema, Few(data.sizes), Seed(0))
    real.sample()
    adapter = GNNAdapter(model.model(data.schema), data.schema)
    rows = Adjacency.build(data.data, data.schema)
    bank = FeatureBank(data.schema, FeatureSettings(features="bootstrap")).fit(rows, graphs=real.train, seed=Seed(0))
    return real.train, adapter.score(real.train), adapter, bank


def log_odds(amount: float) -> float:
    """Of a model whose rule is that there is at least one."""
    beyond = amount - 0.5
    margin = beyond / math.sqrt(1 + beyond**2)
    return 8 * margin / math.sqrt(1 + margin**2)


def test_structure_that_acts_and_structure_that_goes_with_it() -> None:
    """A paper of the author is cited; authors of cited papers attend conferences, too."""
    with single_thread():
        batch, scores, adapter, bank = known("direction")
        wrote, cites, attends = (
            next(each.label for each in batch.schema.relations if name in each.label)
            for name in ("writes", "cites", "attends")
        )
        cited = Predicate(Count(Around("paper", 2, (Step(wrote), Step(cites, back=True)))))
        conference = Predicate(Count(Around("conference", 1, (Step(attends),))))
        act, go = effects([(1, cited, 3.0), (1, conference, 1.5)], batch, scores, adapter, bank, Seed(0))
    assert act.mean is not None
    assert log_odds(1) - log_odds(0) - 1e-4 <= act.mean <= log_odds(9) - log_odds(0)
    assert not act.decoy(3.0)
    assert go.mean is not None
    assert abs(go.mean) < 0.2
    assert go.decoy(1.5)
    assert not act.matched
    assert not go.matched


def test_numbers_are_set_to_those_of_the_other_side_and_the_rest_of_the_row_is_shared() -> None:
    with single_thread():
        batch, scores, adapter, bank = known("threshold")
        columns = batch.schema.spec("patient").names or ()
        above = {
            name: Predicate(Count(Around("patient"), (Holds(columns.index(name), "above", level),)))
            for name, level in (("pressure", 137.5), ("pulse", 76.0))
        }
        terms = [(1, above["pressure"], 3.0), (1, above["pulse"], 1.0)]
        act, go = effects(terms, batch, scores, adapter, bank, Seed(0))
    table = batch.features("patient")[:, columns.index("pressure")].numpy()
    beyond = (table - 137.5) / 10
    margin = beyond / np.sqrt(1 + beyond**2)
    odds = 8 * margin / np.sqrt(1 + margin**2)
    expected = odds[table > 137.5].mean() - odds[table <= 137.5].mean()
    assert act.interval is not None
    assert act.interval[0] - 0.5 < expected < act.interval[1] + 0.5
    assert go.mean == 0
    assert go.decoy(1.0)


def test_a_ring_is_cut() -> None:
    """The author wrote two papers of which one cites the other: the triangle acts, and nothing else of the graph."""
    with single_thread():
        batch, scores, adapter, bank = known("structure")
        triangle = Predicate(Rings(("author", "paper", "paper")))
        many = Predicate(Count(Around("author", 2)), 1.5)
        act, go = effects([(1, triangle, 6.0), (1, many, 1.0)], batch, scores, adapter, bank, Seed(0))
    assert act.mean == pytest.approx(log_odds(1) - log_odds(0), abs=1.0)
    assert not act.decoy(6.0)
    assert go.mean == pytest.approx(0, abs=0.3)
    assert not go.matched
