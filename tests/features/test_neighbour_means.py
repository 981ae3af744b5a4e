"""Means of neighbours, on a small world of movies and their directors."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.features.conditions import condition_batch
from dignn.features.neighbour_means import MOST_COMPOSED, NeighbourMeans
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from strategies import batch_of, hetero

WORDS, MOVIES, DIRECTORS = 5, 40, 15
SCHEMA = Schema(
    node_types=("movie", "director", "fan"),
    relations=(Relation("movie", "by", "director"), Relation("fan", "likes", "movie")),
    features=(
        FeatureSpec(FeatureKind.BINARY, WORDS),
        FeatureSpec(FeatureKind.CONTINUOUS, WORDS),
        FeatureSpec(FeatureKind.CONTINUOUS, WORDS),
    ),
    classes=("action", "drama", "noir"),
    target="movie",
)
RNG = np.random.default_rng(0)
ROWS = torch.from_numpy(RNG.integers(0, 2, (MOVIES, WORDS))).float()
LABEL = np.where(np.arange(MOVIES) < 36, RNG.integers(0, 2, MOVIES), -1)  # some unknown, and no noir
# The last movie has no director and the last director no movie; some movies have two directors.
BY = sorted({(m, int(d)) for m in range(MOVIES - 1) for d in RNG.integers(0, DIRECTORS - 1, RNG.integers(1, 3))})


def means(pairs: list[tuple[int, int]] = BY) -> Tensor:
    """Rows of directors, one by one."""
    found = torch.zeros(DIRECTORS, WORDS)
    for director in range(DIRECTORS):
        own = [m for m, d in pairs if d == director]
        if own:
            found[director] = ROWS[own].mean(0)
    return found


def world(directors: Tensor | None = None, schema: Schema = SCHEMA) -> Adjacency:
    data = hetero(
        {"movie": MOVIES, "director": DIRECTORS, "fan": 6},
        {("movie", "by", "director"): BY, ("fan", "likes", "movie"): [(i, i) for i in range(6)]},
        x={
            "movie": ROWS,
            "director": means() if directors is None else directors,
            "fan": torch.randn(6, WORDS, generator=Seed(0).torch()),
        },
        y={"movie": LABEL},
    )
    return Adjacency.build(data, schema)


def some_graphs(data: Adjacency) -> GraphBatch:
    """Twenty directors, in turn, each with up to two of its movies and a third one of others."""
    graphs = []
    for number in range(20):
        director = number % (DIRECTORS - 1)
        own = [m for m, d in BY if d == director][: 1 + number % 2]
        graphs.append([*own, 39, MOVIES + director])
    return data.induced(graphs)


@pytest.fixture(scope="module")
def found() -> NeighbourMeans:
    data = world()
    result = NeighbourMeans.find(data, some_graphs(data), "director")
    assert result is not None
    return result


# -- finding them -------------------------------------------------------------------------------------


def test_rows_that_are_means_are_found(found: NeighbourMeans) -> None:
    assert (found.name, found.source) == ("director", "movie")


def test_one_row_that_differs_is_enough_to_deny_it() -> None:
    directors = means()
    directors[3, 2] += 0.01
    data = world(directors)
    assert NeighbourMeans.find(data, some_graphs(data), "director") is None


def test_a_lonely_node_must_have_a_row_of_zeros() -> None:
    directors = means()
    directors[DIRECTORS - 1, 0] = 1.0
    data = world(directors)
    assert NeighbourMeans.find(data, some_graphs(data), "director") is None


@pytest.mark.parametrize("name", ["fan", "movie"])
def test_other_types_are_none(name: str) -> None:
    data = world()
    assert NeighbourMeans.find(data, some_graphs(data), name) is None


def test_only_discrete_rows_are_a_source() -> None:
    """Continuous rows may be means themselves, and are filled in too late to be averaged."""
    specs = (FeatureSpec(FeatureKind.CONTINUOUS, WORDS), *SCHEMA.features[1:])
    data = world(schema=replace(SCHEMA, features=specs))
    assert NeighbourMeans.find(data, some_graphs(data), "director") is None


def test_types_that_are_never_joined_are_no_means_of_each_other() -> None:
    schema = replace(SCHEMA, relations=(Relation("fan", "likes", "movie"), Relation("fan", "knows", "director")))
    data = hetero(
        {"movie": 2, "director": 2, "fan": 1},
        {("fan", "likes", "movie"): [(0, 0)], ("fan", "knows", "director"): [(0, 0)]},
        x={"movie": ROWS[:2], "director": torch.zeros(2, WORDS), "fan": torch.rand(1, WORDS)},
        y={"movie": [0, 1]},
    )
    adjacency = Adjacency.build(data, schema)
    assert NeighbourMeans.find(adjacency, adjacency.induced([[0]]), "director") is None


# -- what is counted ----------------------------------------------------------------------------------


def test_degrees_in_the_data_given_those_in_a_graph(found: NeighbourMeans) -> None:
    whole = Counter(d for _, d in BY)
    expected: dict[int, Counter[int]] = {0: Counter(), 1: Counter(), 2: Counter()}
    for number in range(20):
        director = number % (DIRECTORS - 1)
        inside = min(whole[director], 1 + number % 2) + ((39, director) in BY)
        expected[inside][whole[director]] += 1
    # No director stands alone in a graph: for that, all directors of the data count.
    expected[0] = Counter([*whole.values(), 0])
    assert found.degree.shape == (3, max(whole.values()) + 1)
    for inside, counts in expected.items():
        assert found.degree[inside].tolist() == [counts[k] for k in range(found.degree.size(1))]


def test_classes_of_siblings_by_counting_pairs(found: NeighbourMeans) -> None:
    pairs = np.zeros((3, 3))
    for m, d in BY:
        for other, same in BY:
            if d == same and m != other and LABEL[m] >= 0 and LABEL[other] >= 0:
                pairs[LABEL[m], LABEL[other]] += 1
    pairs[2, 2] = 1  # nothing is noir, so noir keeps to itself
    assert found.follows.numpy() == pytest.approx(pairs / pairs.sum(1, keepdims=True), abs=1e-6)


# -- filling ------------------------------------------------------------------------------------------

# Movies 0 to 2 (classes 0, 1, 1), directors 3 and 4, and a lonely director 5.
GRAPH = batch_of(SCHEMA, [0, 0, 0, 1, 1, 1], {(0, 3): 1, (1, 3): 1, (1, 4): 1, (2, 4): 1}, labels={0: 0, 1: 1, 2: 1})


def fill(
    means: NeighbourMeans, others: object, copies: int = 1, seed: int = 0
) -> tuple[Tensor, dict[str, Tensor], GraphBatch]:
    batch = GraphBatch.cat([GRAPH] * copies)
    row = torch.full_like(batch.row, -1)
    row[batch.node_type == 0] = torch.randperm(3 * copies, generator=Seed(5).torch())
    tables = {"movie": ROWS[:3].repeat(copies, 1)}
    batch = replace(batch, row=row, tables=tables)
    return means.fill(batch, condition_batch(batch), others, Seed(seed), batch.mask), tables, batch  # type: ignore[arg-type]


def always(*degrees: int) -> Tensor:
    """Directors with m movies in a graph have ``degrees[m]`` in the data."""
    return torch.eye(max(degrees) + 1)[list(degrees)]


def refuse(*_: object) -> Tensor:
    raise AssertionError("nothing is missing")


def test_without_missing_neighbours_rows_are_exact_means() -> None:
    made, tables, batch = fill(NeighbourMeans("director", "movie", always(0, 1, 2), torch.eye(3)), refuse, copies=4)
    rows = tables["movie"][batch.row[batch.node_type == 0]].view(4, 3, WORDS)
    expected = torch.stack([rows[:, :2].mean(1), rows[:, 1:].mean(1), torch.zeros(4, WORDS)], dim=1)
    assert torch.equal(made, expected.view(-1, WORDS))


def test_a_node_has_at_least_the_neighbours_of_its_graph() -> None:
    """Also where a count says fewer, or was never made."""
    for degree in (always(0, 1, 1), always(0)):
        made, tables, batch = fill(NeighbourMeans("director", "movie", degree, torch.eye(3)), refuse)
        rows = tables["movie"][batch.row[0, :3]]
        assert torch.equal(made[0], rows[:2].mean(0))


def test_missing_neighbours_are_generated_for_the_class_around() -> None:
    follows = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
    asked: list[Tensor] = []

    def tens(condition: Tensor, seed: Seed) -> Tensor:
        asked.append(condition)
        return torch.full((len(condition), WORDS), 10.0)

    made, tables, batch = fill(NeighbourMeans("director", "movie", always(3, 0, 5), follows), tens)
    rows = tables["movie"][batch.row[0, :3]]
    assert made[0].tolist() == pytest.approx(((rows[0] + rows[1] + 30) / 5).tolist())
    assert made[1].tolist() == pytest.approx(((rows[1] + rows[2] + 30) / 5).tolist())
    assert made[2].tolist() == [10.0] * WORDS
    around = torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    near = torch.repeat_interleave(around, 3, dim=0) @ follows
    expected = torch.cat([near, torch.zeros_like(near)], dim=1)  # a movie is near to its own class
    torch.testing.assert_close(torch.cat(asked), expected)


def test_numbers_of_neighbours_come_as_often_as_counted() -> None:
    def ones(condition: Tensor, seed: Seed) -> Tensor:
        return torch.ones(len(condition), WORDS)

    degree = torch.tensor([[0.0, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 2, 1]])
    counted = NeighbourMeans("director", "movie", degree, torch.eye(3))
    batch = GraphBatch.cat([GRAPH] * 1500)
    batch = replace(batch, row=torch.where(batch.node_type == 0, 0, -1), tables={"movie": torch.zeros(1, WORDS)})
    made = counted.fill(batch, condition_batch(batch), ones, Seed(0), batch.mask)
    missing = made[:, 0].view(1500, 3)[:, :2].flatten()  # 0 of 2, 1 of 3 or 2 of 4
    counts = [int((missing - value).abs().lt(1e-6).sum()) for value in (0.0, 1 / 3, 0.5)]
    assert sum(counts) == 3000
    assert chisquare(counts, [750, 1500, 750]).pvalue > 1e-3
    assert bool((made[:, 0].view(1500, 3)[:, 2] == 1).all())


def test_same_seed_same_rows() -> None:
    def random_rows(condition: Tensor, seed: Seed) -> Tensor:
        return torch.rand(len(condition), WORDS, generator=seed.torch())

    means = NeighbourMeans("director", "movie", always(1, 1, 4), torch.eye(3))
    one, same, other = (fill(means, random_rows, seed=seed)[0] for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


# -- following neighbours that change -----------------------------------------------------------------


def followed(directors: list[Tensor], movies: Tensor, changed: Tensor, marks: list[int]) -> tuple[Tensor, list[int]]:
    """Rows of the directors of ``GRAPH`` after its movies have changed, and those that could not follow."""
    row = torch.tensor([[*range(3), *range(3), *[-1] * (GRAPH.node_type.size(1) - 6)]])
    batch = replace(GRAPH, row=row, tables={"movie": movies, "director": torch.stack(directors)})
    nodes = torch.zeros_like(GRAPH.mask)
    nodes[0, marks] = True
    kept = torch.stack(directors)
    means = NeighbourMeans("director", "movie", always(0, 1, 2), torch.eye(3))
    lost = means.follow(batch, replace(batch, tables={"movie": changed}), nodes, kept)
    return kept, lost[0].nonzero()[:, 0].tolist()


def test_means_follow_the_graph_and_keep_what_it_leaves_out() -> None:
    """The first director has movies 0 and 1 and three others, the second 1 and 2, the third others only."""
    movies, changed = torch.eye(WORDS)[:3], torch.eye(WORDS)[:3].clone()
    changed[0] = torch.tensor([0.0, 1, 1, 1, 0])
    others = torch.tensor([[1.0, 1, 0, 1, 0], [0, 1, 0, 1, 0], [0, 0, 0, 1, 1]])
    before = [torch.cat([movies[:2], others]).mean(0), movies[1:].mean(0), others.mean(0)]
    after, lost = followed(before, movies, changed, [0])
    assert lost == []
    torch.testing.assert_close(after[0], torch.cat([changed[:2], others]).mean(0))
    assert torch.equal(after[1:], torch.stack(before[1:]))


@pytest.mark.parametrize("value", [0.0, 0.37, 2.0])
def test_rows_that_are_no_means_of_the_graph_cannot_follow(value: float) -> None:
    movies = torch.eye(WORDS)[:3]
    before = [torch.full((WORDS,), value), movies[1:].mean(0), torch.zeros(WORDS)]
    before[0][3] = 0.8 * value
    after, lost = followed(before, movies, movies.flip(1), [0, 2])
    assert lost == [3]
    assert torch.equal(after[0], before[0])
    torch.testing.assert_close(after[1], movies.flip(1)[1:].mean(0))


def test_a_director_that_is_drawn_anew_itself_need_not_follow() -> None:
    movies = torch.eye(WORDS)[:3]
    before = [movies[:2].mean(0), movies[1:].mean(0), torch.zeros(WORDS)]
    after, lost = followed(before, movies, movies.flip(1), [0, 1, 2, 3])
    assert lost == []
    assert torch.equal(after[0], before[0])
    torch.testing.assert_close(after[1], movies.flip(1)[1:].mean(0))


def hub_world(small: int, hubs: int, movies_of_hub: int) -> tuple[Adjacency, GraphBatch]:
    """Directors of two movies each and hubs with many; the data, and graphs of a director with two of its movies."""
    number = 2 * small + hubs * movies_of_hub
    owner = np.concatenate([np.repeat(np.arange(small), 2), np.repeat(np.arange(small, small + hubs), movies_of_hub)])
    rows = torch.from_numpy(np.random.default_rng(1).integers(0, 2, (number, WORDS))).float()
    table = torch.stack([rows[torch.from_numpy(owner == director)].mean(0) for director in range(small + hubs)])
    pairs = [(movie, int(director)) for movie, director in enumerate(owner)]
    data = Adjacency.build(
        hetero(
            {"movie": number, "director": small + hubs, "fan": 1},
            {("movie", "by", "director"): pairs, ("fan", "likes", "movie"): [(0, 0)]},
            x={"movie": rows, "director": table, "fan": torch.zeros(1, WORDS) + 0.5},
            y={"movie": np.arange(number) % 2},
        ),
        SCHEMA,
    )
    first = [int(np.flatnonzero(owner == director)[0]) for director in range(small + hubs)]
    return data, data.induced([[movie, movie + 1, number + director] for director, movie in enumerate(first)])


def test_a_hub_costs_no_more_than_any_other() -> None:
    data, graphs = hub_world(30, 1, 2000)
    found = NeighbourMeans.find(data, graphs, "director")
    assert found is not None
    asked: list[int] = []

    def generate(condition: Tensor, seed: Seed) -> Tensor:
        asked.append(len(condition))
        return torch.ones(len(condition), WORDS)

    hub = graphs[[30]]
    rows = found.fill(hub, condition_batch(hub), generate, Seed(0), hub.mask)
    assert sum(asked) <= MOST_COMPOSED
    assert rows.shape == (1, WORDS)


def test_rows_of_many_neighbours_on_average_are_learned_like_any_other() -> None:
    data, graphs = hub_world(1, 4, 50)
    assert NeighbourMeans.find(data, graphs, "director") is None
