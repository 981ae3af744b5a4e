"""The bank learns: which generator each type gets, from which rows, in how many processes, and how it is kept."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from dignn.core.errors import RunFolderError
from dignn.core.files import load_tensors, save_tensors
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features import bank
from dignn.features.bank import FeatureBank
from dignn.features.settings import DiTabDDPMConfig, FeatureSettings, TabDDPMConfig
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind
from dignn.graphs.schema import Schema
from dignn.sampling.forest_fire import forest_fire
from strategies import batch_of, hetero

HASTE = TrainingConfig(steps=5, validate_every=5)
CONFIG = FeatureSettings(
    ditabddpm=DiTabDDPMConfig(width=8, blocks=1, sampler_steps=3, training=HASTE, marginal_training=HASTE),
    tabddpm=TabDDPMConfig(width=8, blocks=1, sampler_steps=3, training=HASTE),
)
COUNT = {"author": 90, "paper": 60, "kind": 30, "venue": 5, "term": 40, "tag": 40, "group": 24, "plain": 30}
CLASSES = 3


@cache
def world() -> Adjacency:
    """A type of every kind around papers; an author's class y shows in column y, groups are means of their papers."""
    rng = np.random.default_rng(0)
    label = np.arange(90) % CLASSES
    words = rng.random((90, 6)) < 0.3
    words[:, :CLASSES] = np.eye(CLASSES)[label]
    papers = rng.integers(1, 3, (60, 4)) * (rng.random((60, 4)) < 0.4)
    tags = rng.normal(size=(40, 7)) * (rng.random((40, 7)) < 0.3)
    edges = {("author", "writes", "paper"): [(i, i % 60) for i in range(90)]}
    for name in ("kind", "venue", "term", "tag", "group", "plain"):
        edges["paper", f"has {name}", name] = [(i, i % COUNT[name]) for i in range(60)]
    groups = np.stack([papers[np.arange(60) % 24 == group].mean(0) for group in range(24)])
    x = {
        "author": words,
        "paper": papers,
        "kind": rng.integers(0, 3, (30, 3)),
        "venue": np.eye(5),
        "term": rng.normal(size=(40, 4)),
        "tag": tags,
        "group": groups,
        "plain": np.ones((30, 1)),
    }
    data = hetero(
        COUNT, edges, x={name: torch.from_numpy(rows).float() for name, rows in x.items()}, y={"author": label}
    )
    return Adjacency.build(
        data, Schema.from_hetero(data, "author", kinds={"kind": FeatureKind.CATEGORICAL, "author": FeatureKind.BINARY})
    )


@cache
def graphs() -> GraphBatch:
    return forest_fire(world(), (8,), 150, seed=Seed(0))


def fitted(config: FeatureSettings = CONFIG, **options: object) -> FeatureBank:
    named = {"graphs": graphs(), "seed": Seed(1)} | options
    return FeatureBank(world().schema, config).fit(world(), **named)  # type: ignore[arg-type]


@cache
def usual() -> FeatureBank:
    """With all the usual settings; not to be changed."""
    return fitted()


def same(one: GraphBatch, other: GraphBatch) -> bool:
    return all(torch.equal(table, other.tables[name]) for name, table in one.tables.items())


# -- which generator ----------------------------------------------------------------------------------

NAMES = ("author", "paper", "kind", "venue", "term", "tag", "group")
# An identity is one choice, not columns: its exact distribution, which the controls have too.
DISCRETE = dict.fromkeys(NAMES[:3], "ditabddpm") | {"venue": "bootstrap"}
CHOICES = {
    "best": ({}, DISCRETE | {"term": "tabddpm", "tag": "ditabddpm", "group": "neighbour means"}),
    "paper": ({"continuous": "tabddpm"}, DISCRETE | dict.fromkeys(NAMES[4:], "tabddpm")),
    "tabddpm": ({"features": "tabddpm"}, dict.fromkeys(NAMES, "tabddpm") | {"venue": "bootstrap"}),
    "bootstrap": ({"features": "bootstrap"}, dict.fromkeys(NAMES, "bootstrap")),
    "independent": ({"features": "independent"}, dict.fromkeys(NAMES, "independent")),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_each_type_gets_the_generator_that_suits_it(choice: str) -> None:
    settings, expected = CHOICES[choice]
    found = (fitted(replace(CONFIG, **settings)) if settings else usual()).report
    assert {name: about["generator"] for name, about in found.items()} == expected
    assert found["group"].get("of") == ("paper" if choice == "best" else None)


def test_without_graphs_means_are_not_looked_for() -> None:
    assert fitted(graphs=None).report["group"]["generator"] == "tabddpm"


def test_the_report_tells_how_learning_went() -> None:
    report = usual().report
    assert report["author"]["noise"] == "absorbing"
    assert report["kind"]["noise"] == "marginal"
    assert 1 <= report["term"]["training"]["steps"] <= 5  # six generators share what four would take
    assert "plain" not in report


# -- one model per class ------------------------------------------------------------------------------

PER_CLASS = replace(CONFIG, one_model_per_class=True)


def test_one_model_for_each_class_of_the_target_and_blind_ones_elsewhere() -> None:
    made = fitted(replace(PER_CLASS, continuous="tabddpm"))
    assert [label for name, label in made.parts if name == "author"] == [0, 1, 2]
    assert [part for part in made.parts if part[0] != "author"] == [(name, None) for name in NAMES[1:]]
    for (name, _), generator in made.parts.items():
        assert (generator.classes > 0) == (name == "venue")
    assert list(made.report["author"]) == ["class 0", "class 1", "class 2"]


@pytest.mark.parametrize("features", ["ditabddpm", "tabddpm"])
def test_each_class_is_generated_by_its_own_model(features: str) -> None:
    """What all rows of a class have in common is constant for its own model."""
    made = fitted(replace(PER_CLASS, features=features))
    schema = world().schema
    batch = batch_of(schema, [0, 0, 0, 0], {}, labels={0: 0, 1: 1, 2: 2})[[0] * 50]
    rows = made.fill(batch, seed=Seed(0)).features("author").view(50, 4, 6)[:, :, :CLASSES]
    assert torch.equal(rows[:, :3], torch.eye(CLASSES).expand(50, 3, 3))
    assert bool((rows[:, 3].sum(1) == 1).all())  # without a class: any of them
    assert len(rows[:, 3].unique(dim=0)) == CLASSES


# -- which rows ---------------------------------------------------------------------------------------


def authors(batch: GraphBatch) -> list[int]:
    """Numbers of the authors whose rows were drawn; their rows are told apart by one number."""
    return batch.features("a")[:, 0].long().tolist()


def numbered() -> Adjacency:
    """Authors 1 to 6, whose row is their number, and papers 1 to 3 of authors (1, 2), (3, 4) and (5, 6)."""
    label = [0, 1, 0, 1, 0, 1]
    data = hetero(
        {"a": 6, "p": 3},
        {("a", "writes", "p"): [(i, i // 2) for i in range(6)]},
        x={"a": torch.arange(1.0, 7)[:, None] + 0.5, "p": torch.arange(1.0, 4)[:, None] + 0.5},
        y={"a": label},
    )
    return Adjacency.build(data, Schema.from_hetero(data, "a"))


def test_a_row_counts_as_often_as_its_node_stands_in_the_graphs() -> None:
    data = numbered()
    subgraphs = data.induced([[0, 6]] * 7 + [[2, 7]] * 2 + [[1, 6]])
    made = FeatureBank(data.schema, FeatureSettings(features="bootstrap")).fit(data, graphs=subgraphs, seed=Seed(0))
    batch = made.fill(batch_of(data.schema, [0, 0], {}, labels={0: 0})[[0] * 2000], seed=Seed(1))
    found = torch.tensor(authors(batch)).view(2000, 2)
    first, nobody = (Counter(column.tolist()) for column in found.unbind(1))
    # every node counts a half for being in the data
    assert set(first) == {1, 3, 5}
    assert chisquare([first[number] for number in (1, 3, 5)], 2000 * np.array([7.5, 2.5, 0.5]) / 10.5).pvalue > 1e-3
    times = 2000 * np.array([7.5, 1.5, 2.5, 0.5, 0.5, 0.5]) / 13
    assert chisquare([nobody[number] for number in range(1, 7)], times).pvalue > 1e-3


def test_the_class_around_a_node_is_that_of_its_subgraphs() -> None:
    """Paper 1 is of both classes in the data, but stands beside its author of class 0 in three of four graphs."""
    data = numbered()
    batch = batch_of(data.schema, [0, 1], {(0, 1): 1}, labels={0: 1})[[0] * 1000]

    def papers(subgraphs: GraphBatch | None) -> Counter[float]:
        made = FeatureBank(data.schema, FeatureSettings(features="bootstrap")).fit(data, graphs=subgraphs, seed=Seed(0))
        return Counter(made.fill(batch, seed=Seed(1)).features("p")[:, 0].tolist())

    some = papers(data.induced([[0, 6]] * 60 + [[1, 6]] * 20 + [[3, 7]] * 20))
    # a quarter of 80 occurrences against all of 20; what the data adds, a quarter each, is little
    assert (
        chisquare([some[number] for number in (1.5, 2.5, 3.5)], 1000 * np.array([20.25, 20.25, 0.25]) / 40.75).pvalue
        > 1e-3
    )
    whole = papers(None)
    assert chisquare([whole[1.5], whole[2.5], whole[3.5]]).pvalue > 1e-3


def test_held_out_nodes_are_never_learned_from() -> None:
    data = numbered()
    learned = np.array([True, False, True, True, False, False, True, True, True])
    for subgraphs in (None, data.induced([[0, 6], [1, 6], [4, 5, 8]])):
        made = FeatureBank(data.schema, FeatureSettings(features="bootstrap")).fit(
            data, learned, subgraphs, seed=Seed(0)
        )
        batch = made.fill(batch_of(data.schema, [0], {})[[0] * 200], seed=Seed(1))
        assert set(authors(batch)) == {1, 3, 4}


def test_a_type_that_no_subgraph_holds_is_learned_from_the_data() -> None:
    data = numbered()
    made = FeatureBank(data.schema, FeatureSettings(features="bootstrap")).fit(
        data, graphs=data.induced([[0], [1]]), seed=Seed(0)
    )
    batch = made.fill(batch_of(data.schema, [1], {})[[0] * 100], seed=Seed(1))
    assert set(batch.features("p")[:, 0].tolist()) == {1.5, 2.5, 3.5}


# -- few rows -----------------------------------------------------------------------------------------


def few(config: FeatureSettings, label: list[int], caplog: pytest.LogCaptureFixture) -> list[str]:
    """What is logged about a type of these labels."""
    rows = (torch.rand(len(label), 4, generator=Seed(0).torch()) < 0.4).float()
    rows[0] = 1.0
    data = hetero({"author": len(label)}, x={"author": rows}, y={"author": label})
    names = ("old", "new", *(f"class {number}" for number in range(2, max(label) + 1)))
    schema = Schema.from_hetero(data, "author", classes=names)
    with caplog.at_level(logging.WARNING, "dignn"):
        FeatureBank(schema, config).fit(Adjacency.build(data, schema), seed=Seed(0))
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("config", [CONFIG, PER_CLASS], ids=["one model", "per class"])
def test_a_class_with_few_rows_is_told(config: FeatureSettings, caplog: pytest.LogCaptureFixture) -> None:
    told = few(config, [0] * 30 + [1] * 7, caplog)
    assert told == ["Class 'new' has only 7 feature rows of 'author' to learn from; they are repeated as they are"]


@pytest.mark.parametrize("config", [CONFIG, PER_CLASS], ids=["one model", "per class"])
def test_many_classes_with_few_rows_are_one_sentence(config: FeatureSettings, caplog: pytest.LogCaptureFixture) -> None:
    what = "classes have few feature rows of 'author' to learn from"
    told = few(config, [0] * 30 + [1] * 7 + [2] * 6, caplog)
    assert told == [f"2 {what} ('new': 7, 'class 2': 6); they are repeated as they are"]
    caplog.clear()
    told = few(config, [0] * 30 + [1] * 7 + [2, 3, 4, 5] * 6, caplog)
    assert told == [f"5 {what} ('new': 7, 'class 2': 6, 'class 3': 6 and 2 more); they are repeated as they are"]


def test_a_type_with_few_rows_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    told = few(CONFIG, [0] * 3 + [1] * 4, caplog)
    assert told == ["The data has only 7 feature rows of 'author' to learn from; they are repeated as they are"]


def test_enough_rows_are_not_worth_a_word(caplog: pytest.LogCaptureFixture) -> None:
    assert few(CONFIG, [0, 1] * 20, caplog) == []


# -- processes and files ------------------------------------------------------------------------------


def sent(function: Callable[..., Any], pieces: Iterator[Any], workers: int) -> Iterator[tuple[int, Any]]:
    """What processes do, without their start: work and results are sent, and the last piece is finished first."""
    for number, arguments in reversed(list(pieces)):
        there, given = cloudpickle.loads(cloudpickle.dumps((function, arguments)))
        yield number, cloudpickle.loads(cloudpickle.dumps(there(*given)))


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("as_many_rows_as_elsewhere")  # which real processes take
def test_the_same_bits_whatever_the_number_of_processes(real: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not real:
        monkeypatch.setattr("dignn.core.processes._side_by_side", sent)
    filled = []
    for cells in (bank.MANY_CELLS, 0):  # too few, and enough for processes
        monkeypatch.setattr(bank, "MANY_CELLS", cells)
        told: list[float] = []
        made = fitted(workers=2, tick=lambda done, total, told=told: told.append(done / total))
        filled.append(made.fill(graphs(), seed=Seed(2)))
        assert told[-1] == 1
    assert same(*filled)


@pytest.mark.parametrize("config", [CONFIG, PER_CLASS], ids=["one model", "per class"])
def test_what_was_learned_survives_a_file(config: FeatureSettings, tmp_path: Path) -> None:
    made = usual() if config is CONFIG else fitted(config)
    made.save(tmp_path / "one")
    again = FeatureBank(world().schema, config).load(tmp_path / "one")
    assert same(again.fill(graphs(), seed=Seed(3)), made.fill(graphs(), seed=Seed(3)))
    assert again.report == made.report
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_files_that_were_damaged_or_are_of_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "features.safetensors"
    usual().save(path)
    wider = replace(CONFIG, ditabddpm=replace(CONFIG.ditabddpm, width=16))
    with pytest.raises(RunFolderError, match="does not fit these settings"):
        FeatureBank(world().schema, wider).load(path)
    with pytest.raises(RunFolderError, match="holds features of other node types"):
        FeatureBank(numbered().schema, CONFIG).load(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RunFolderError, match="is damaged"):
        FeatureBank(world().schema, CONFIG).load(path)
    save_tensors(path, {"x": torch.zeros(1)}, {"format": "dignn.GraphBatch.1"})
    with pytest.raises(RunFolderError, match=r"holds 'dignn.GraphBatch.1', not 'dignn.FeatureBank.4'"):
        FeatureBank(world().schema, CONFIG).load(path)
    usual().save(path)
    tensors, metadata = load_tensors(path, "dignn.FeatureBank.4")
    save_tensors(path, tensors, metadata | {"format": "dignn.FeatureBank.2"})
    with pytest.raises(RunFolderError, match="was written by another version"):
        FeatureBank(world().schema, CONFIG).load(path)
    with pytest.raises(RunFolderError, match="is missing"):
        FeatureBank(world().schema, CONFIG).load(tmp_path / "nowhere")


@pytest.mark.parametrize("change", [torch.zeros_like, lambda value: value * 64], ids=["zeros", "large"])
def test_a_garbled_file_that_can_still_be_read_is_named(
    change: Callable[[torch.Tensor], torch.Tensor], tmp_path: Path
) -> None:
    """As in a run folder of an earlier version, which has no checksums."""
    path = tmp_path / "features.safetensors"
    usual().save(path)
    tensors, metadata = load_tensors(path, "dignn.FeatureBank.4")
    save_tensors(path, {name: change(value) for name, value in tensors.items()}, metadata)
    with pytest.raises(RunFolderError, match=r"features\.safetensors is damaged: .*; delete it and run again$") as told:
        FeatureBank(world().schema, CONFIG).load(path).fill(graphs(), seed=Seed(0))
    assert "NaN" not in str(told.value)
    assert "index" not in str(told.value)
