"""Fewer feature columns: the right ones, in order, with their names, for the model and the generator alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import VarianceThreshold
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.core.errors import DignnError
from dignn.core.fingerprint import data_fingerprint
from dignn.core.seeds import Seed
from dignn.features.bank import FeatureBank
from dignn.features.settings import FeatureSettings
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Schema
from dignn.model.adapter import GNNAdapter
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.column_selection import BY, By, is_word, select_columns
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from dignn.zoo.models.recipes import recipe
from dignn.zoo.models.trainer import train


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def dataset_of(name: str, x: Tensor, kind: FeatureKind, names: tuple[str, ...] | None = None) -> Dataset:
    """One graph of one type with these features; two classes."""
    count = len(x)
    path = torch.stack([torch.arange(count - 1), torch.arange(1, count)])
    graph = Data(x=x, edge_index=torch.cat([path, path.flip(0)], 1), y=torch.arange(count) % 2)
    schema = infer_schema(graph, kinds={"node": kind}, names={} if names is None else {"node": names})
    splits = {part: torch.arange(count)[number::3] for number, part in enumerate(("train", "val", "test"))}
    return Dataset(name, graph, schema, splits, sizes=(3,))


def counts(rows: int = 40, width: int = 12, seed: int = 0) -> Tensor:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.poisson(rng.uniform(0.05, 2.0, width), (rows, width))).float()


# -- which columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 8, 50, 60])
def test_variance_is_a_variance_threshold_that_leaves_so_many(planted: Dataset, count: int) -> None:
    table = planted.data["paper"].x.numpy()
    variances = np.sort(VarianceThreshold().fit(table).variances_)[::-1]
    threshold = (variances[count - 1] + variances[count]) / 2 if count < len(variances) else 0
    kept = VarianceThreshold(threshold).fit(table).get_support(indices=True)
    assert len(kept) == count  # no tie at the border, so the comparison is a fair one
    chosen = select_columns(planted, {"paper": count})
    assert np.array_equal(chosen.data["paper"].x.numpy(), table[:, kept])
    assert chosen.columns.get("paper", tuple(range(60))) == tuple(kept)


def test_variance_of_continuous_columns_that_are_far_from_zero() -> None:
    """The difference of two large squares would be all rounding error here."""
    rng = np.random.default_rng(0)
    x = rng.normal(1000.0, np.array([0.5, 3.0, 1.0, 2.0, 0.1]), (200, 5)).astype(np.float32)
    dataset = dataset_of("far", torch.from_numpy(x), FeatureKind.CONTINUOUS)
    best = np.sort(np.argsort(-x.astype(np.float64).var(0))[:3])
    assert tuple(best) == (1, 2, 3) == select_columns(dataset, {"node": 3}).columns["node"]


@settings(max_examples=60, deadline=None)
@given(
    x=st.integers(1, 400).flatmap(
        lambda width: st.integers(0, 2**16).map(lambda seed: np.random.default_rng(seed).integers(0, 3, (7, width)))
    ),
    share=st.floats(0, 1),
    by=st.sampled_from(BY),
)
def test_columns_by_slow_loops(x: np.ndarray, share: float, by: By) -> None:
    """Sorted by merit in whole numbers, then by number: with few rows there are many ties."""
    rows, width = x.shape
    count = max(1, round(share * width))

    def merit(column: int) -> int:
        values = [int(value) for value in x[:, column]]
        if by == "frequency":
            return sum(value != 0 for value in values)
        return rows * sum(value * value for value in values) - sum(values) ** 2

    expected = sorted(sorted(range(width), key=lambda column: (-merit(column), column))[:count])
    dataset = dataset_of("ties", torch.from_numpy(x).float(), FeatureKind.COUNT)
    chosen = select_columns(dataset, {"node": count}, by=by)
    assert np.array_equal(chosen.data.x.numpy(), x[:, expected])
    if count < width:
        assert chosen.columns == {"node": tuple(expected)}


def test_the_two_ways_can_differ() -> None:
    rare_but_large, common = torch.tensor([9.0] + [0.0] * 9), torch.tensor([1.0] * 9 + [0.0])
    dataset = dataset_of("two", torch.stack([common, rare_but_large], 1), FeatureKind.COUNT)
    assert select_columns(dataset, {"node": 1}, by="variance").columns == {"node": (1,)}
    assert select_columns(dataset, {"node": 1}, by="frequency").columns == {"node": (0,)}


# -- what is kept -------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", BY)
def test_names_and_levels_follow_their_columns(planted: Dataset, by: By) -> None:
    chosen = select_columns(planted, {"paper": 7, "author": 20}, by=by)
    for name, width in {"paper": 7, "author": 20}.items():
        before, after = planted.schema.spec(name), chosen.schema.spec(name)
        assert (after.kind, after.width) == (before.kind, width)
        assert chosen.data[name].x.shape == (len(planted.data[name].x), width)
        for number, word in enumerate(after.names):
            old = before.names.index(word)
            assert torch.equal(chosen.data[name].x[:, number], planted.data[name].x[:, old])
            assert chosen.columns[name][number] == old
            assert after.levels is None or after.levels[number] == before.levels[old]
    assert list(chosen.columns) == ["author", "paper"]  # in the schema's order, whatever that of the request
    assert chosen.schema.spec("term") == planted.schema.spec("term")
    assert (chosen.splits, chosen.sizes, chosen.truth, chosen.members) == (
        planted.splits,
        planted.sizes,
        planted.truth,
        planted.members,
    )


def test_the_original_is_not_touched(planted: Dataset) -> None:
    before = data_fingerprint(planted.data), planted.schema.fingerprint
    chosen = select_columns(planted, {"author": 5, "term": 3})
    chosen.data["author"].x.zero_()
    assert (data_fingerprint(planted.data), planted.schema.fingerprint) == before
    assert planted.columns == {}


def test_a_kind_does_not_change() -> None:
    """Two columns of counts that happen to be 0 and 1, or always 0, are counts still."""
    x = counts()
    x[:, 0] = torch.arange(40) % 2
    x[:, 1:] = x[:, 1:].clamp(min=0) * 5
    for kind in (FeatureKind.COUNT, FeatureKind.CATEGORICAL):
        spec = select_columns(dataset_of("kind", x, kind), {"node": 1}, by="frequency").schema.spec("node")
        assert (spec.kind, spec.width) == (kind, 1)
    empty = dataset_of("none", torch.zeros(6, 3).index_fill(0, torch.tensor([0]), 1.0), FeatureKind.BINARY)
    assert select_columns(empty, {"node": 2}).schema.spec("node") == FeatureSpec(FeatureKind.BINARY, 2)


def test_all_columns_are_no_selection(planted: Dataset) -> None:
    chosen = select_columns(planted, {"author": 50})
    assert chosen.columns == {}
    assert chosen.schema == planted.schema
    assert data_fingerprint(chosen.data) == data_fingerprint(planted.data)
    assert select_columns(planted, {}).columns == {}


def test_a_selection_of_a_selection_tells_the_originals_columns(planted: Dataset) -> None:
    once = select_columns(planted, {"author": 8})
    twice = select_columns(select_columns(select_columns(planted, {"author": 20}), {"paper": 3}), {"author": 8})
    assert twice.columns["author"] == once.columns["author"]
    assert len(twice.columns["paper"]) == 3
    assert twice.schema.spec("author") == once.schema.spec("author")


# -- other types' columns, other graphs ---------------------------------------------------------------


def films(width: int = 9) -> Dataset:
    """Movies have counts, directors means of them: the same columns."""
    data = HeteroData()
    data["movie"].x, data["movie"].y = counts(30, 9), torch.arange(30) % 2
    data["director"].x = torch.rand(30, width, generator=Seed(0).torch()) * torch.arange(width)
    data["movie", "to", "director"].edge_index = torch.arange(30).expand(2, -1)
    data["director", "to", "movie"].edge_index = torch.arange(30).expand(2, -1)
    schema = infer_schema(data, "movie")
    return Dataset("films", data, schema, {"train": torch.arange(30)}, sizes=(2,))


def with_names(dataset: Dataset, **names: str) -> Dataset:
    features = tuple(
        replace(spec, names=tuple(names[name])) if name in names else spec
        for name, spec in zip(dataset.schema.node_types, dataset.schema.features, strict=True)
    )
    return replace(dataset, schema=replace(dataset.schema, features=features))


@pytest.mark.parametrize("order", [("movie", "director"), ("director", "movie")])
def test_a_type_can_have_the_columns_of_another(order: tuple[str, str]) -> None:
    dataset, wanted = films(), {"movie": 3, "director": "movie"}
    chosen = select_columns(dataset, {name: wanted[name] for name in order})
    assert chosen.columns["director"] == chosen.columns["movie"]
    assert chosen.columns["movie"] == select_columns(dataset, {"movie": 3}).columns["movie"]
    assert chosen.columns["director"] != select_columns(dataset, {"director": 3}).columns["director"]
    assert torch.equal(chosen.data["director"].x, dataset.data["director"].x[:, chosen.columns["movie"]])
    kinds = [spec.kind for spec in chosen.schema.features]
    assert kinds == [FeatureKind.COUNT, FeatureKind.CONTINUOUS]


def test_a_list_of_graphs_is_ranked_by_all_rows() -> None:
    tables = [counts(5, 6, seed) for seed in range(8)]
    edges = torch.tensor([[0, 1], [1, 0]])
    graphs = [Data(x=x, edge_index=edges, y=torch.tensor([number % 2])) for number, x in enumerate(tables)]
    splits = {"train": torch.arange(8)}
    dataset = Dataset("list", graphs, Schema.from_graphs(graphs), splits, sizes=(5,))
    chosen = select_columns(dataset, {"node": 2})
    best = np.sort(np.argsort(-torch.cat(tables).double().numpy().var(0), kind="stable")[:2])
    assert chosen.columns == {"node": tuple(best)}
    for graph, table in zip(chosen.data, tables, strict=True):
        assert torch.equal(graph.x, table[:, best])
    assert all(torch.equal(graph.x, table) for graph, table in zip(graphs, tables, strict=True))


def test_sparse_features() -> None:
    dense = dataset_of("sparse", counts(), FeatureKind.COUNT)
    sparse = replace(dense, data=Data(**{**dense.data.to_dict(), "x": dense.data.x.to_sparse()}))
    one, other = (select_columns(dataset, {"node": 4}) for dataset in (dense, sparse))
    assert one.columns == other.columns
    assert torch.equal(one.data.x, other.data.x)


# -- words --------------------------------------------------------------------------------------------


def test_what_is_a_word() -> None:
    assert not any(
        map(is_word, ("", "k", "K", "(", "...", "--", "'s", "``", "1971", "2.0", "0-1", "the", "The", "via"))
    )
    assert all(map(is_word, ("query", "xml", "3d", "b+-tree", "a*", "1930s", "naïve", "数据", "and/or")))


def test_words_only_chooses_the_best_words() -> None:
    x = torch.zeros(10, 5)
    for column, ones in enumerate((5, 2, 4, 3, 1)):
        x[:ones, column] = 1
    dataset = dataset_of("words", x, FeatureKind.BINARY, (",", "query", "the", "web", "1971"))
    for by in BY:
        assert select_columns(dataset, {"node": 2}, by=by).schema.spec("node").names == (",", "the")
        chosen = select_columns(dataset, {"node": 2}, by=by, words_only=True)
        assert chosen.schema.spec("node").names == ("query", "web")
        assert chosen.columns == {"node": (1, 3)}
    one = select_columns(dataset, {"node": 1}, by="frequency", words_only=True)
    assert one.schema.spec("node").names == ("web",)
    with pytest.raises(DignnError, match="Only 2 of the 5 feature columns of 'node' are words, not 3"):
        select_columns(dataset, {"node": 3}, words_only=True)


# -- the model and the generator ----------------------------------------------------------------------


def test_model_and_generator_take_the_selected_columns(planted: Dataset) -> None:
    chosen = select_columns(planted, {"author": 8, "paper": 6, "term": 4})
    trained = train(chosen, instead=replace(recipe(chosen), epochs=2, pool=30, held_out=30))
    assert trained.card["arguments"]["widths"] == {"author": 8, "paper": 6, "term": 4, "venue": 1}
    with torch.no_grad():
        logits = trained.model(chosen.data.x_dict, chosen.data.edge_index_dict)
    assert logits.shape == (800, 4)
    adjacency = Adjacency.build(chosen.data, chosen.schema)
    graphs = forest_fire(adjacency, (10,), 4, seed=Seed(0))
    bank = FeatureBank(chosen.schema, FeatureSettings(features="bootstrap")).fit(adjacency, seed=Seed(1))
    filled = bank.fill(graphs.without_features(), seed=Seed(2))
    for name in ("author", "paper", "term"):
        made, real = filled.features(name), chosen.data[name].x
        assert len(made)
        assert all(bool((row == real).all(1).any()) for row in made)  # bootstrap repeats real rows
    assert GNNAdapter(trained.model, chosen.schema).score(filled).logits.shape[1] == 4


# -- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"autor": 5}, r"Unknown node type 'autor' \(did you mean 'author'\?\); choose from author, paper"),
        ({"author": 51}, "Node type 'author' has 50 feature columns, not 51; choose fewer"),
        ({"author": 0}, "'author' cannot have 0 columns"),
        ({"author": -1}, "'author' cannot have -1 columns"),
        ({"author": 2.5}, r"'author' cannot have 2\.5 columns"),
        ({"author": True}, "'author' cannot have True columns"),
        ({"venue": 1}, "Node type 'venue' has no features to choose columns from; leave it out"),
        ({"author": "x"}, "Unknown node type 'x'; choose from .*, or give the number of columns of 'author'"),
        ({"author": "paper", "paper": 5}, "'author' has 50 columns and 'paper' has 60"),
        ({"author": "term"}, "'author' takes the columns of 'term', so say how many columns 'term' has"),
        ({"author": "author"}, "so say how many columns 'author' has"),
        ({"author": "venue"}, "Node type 'venue' has no features"),
    ],
)
def test_requests_that_do_not_fit(planted: Dataset, columns: dict[str, int | str], message: str) -> None:
    with pytest.raises(DignnError, match=message) as caught:
        select_columns(planted, columns)
    assert "\n" not in str(caught.value)


def test_an_unknown_way_to_choose(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="cannot be chosen by 'entropy'; choose from variance, frequency"):
        select_columns(planted, {"author": 5}, by="entropy")


def test_identities_are_kept_whole() -> None:
    dataset = dataset_of("identity", torch.eye(6), FeatureKind.IDENTITY)
    with pytest.raises(DignnError, match="'node' tell its members apart, so all of them are needed"):
        select_columns(dataset, {"node": 3})


def test_words_need_names(planted: Dataset) -> None:
    with pytest.raises(DignnError, match="columns of 'term' have no names"):
        select_columns(planted, {"term": 3}, words_only=True)


def test_other_names_are_other_columns() -> None:
    same = with_names(films(), movie="abcdefghi", director="abcdefghi")
    assert select_columns(same, {"movie": 3, "director": "movie"}).columns
    other = with_names(films(), movie="abcdefghi", director="bacdefghi")
    with pytest.raises(DignnError, match="'director' and 'movie' have different names; give a number for each"):
        select_columns(other, {"movie": 3, "director": "movie"})


def test_features_that_are_not_numbers() -> None:
    dataset = dataset_of("nan", counts(), FeatureKind.COUNT)
    dataset.data.x[3, 4] = float("nan")
    with pytest.raises(DignnError, match="of 'node' holds NaN, though its values are never missing"):
        select_columns(dataset, {"node": 3})


# -- real data ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_imdb_as_in_the_paper(imdb: Dataset) -> None:
    dataset = imdb
    table = dataset.data["movie"].x.numpy()
    variances = VarianceThreshold().fit(table).variances_
    for count in (2, 5, 10):
        chosen = select_columns(dataset, {"movie": count, "director": "movie", "actor": "movie"})
        assert variances[list(chosen.columns["movie"])].min() > np.delete(variances, chosen.columns["movie"]).max()
        assert chosen.columns["actor"] == chosen.columns["director"] == chosen.columns["movie"]
        assert [spec.width for spec in chosen.schema.features] == [count] * 3
    everything = select_columns(dataset, {"movie": 3066})
    assert everything.columns == {}


@pytest.mark.slow
def test_dblp_words(dblp: Dataset) -> None:
    dataset = dblp
    if dataset.schema.spec("paper").names is None:
        pytest.skip("the text files with names are not beside the raw files")
    chosen = select_columns(dataset, {"author": 50, "paper": 50}, by="frequency").schema
    assert {",", ":", "query"} <= set(chosen.spec("paper").names)
    words = select_columns(dataset, {"author": 50, "paper": 50}, words_only=True).schema
    for name in ("author", "paper"):
        assert all(map(is_word, words.spec(name).names))
        assert {"mining", "query"} <= set(words.spec(name).names)
