"""GraphBatch: selecting, joining, reordering, filing, and the check of its promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.errors import RunFolderError, SchemaError
from dignn.core.files import save_tensors
from dignn.graphs.batch import PADDING, GraphBatch, spread
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from strategies import PROPERTY, arcs_of, batch_of, batches, plain_schema, random_batch, row_of, schemas

FIELDS = ("node_type", "edge", "label", "graph_label", "row")
WRITES = Relation("author", "writes", "paper", "rev_writes")
CITES = Relation("paper", "cites", "paper", directed=True)
SCHEMA = Schema(
    node_types=("author", "paper", "venue"),
    relations=(WRITES, CITES),
    features=(
        FeatureSpec(FeatureKind.BINARY, 2),
        FeatureSpec(FeatureKind.CONTINUOUS, 1),
        FeatureSpec(width=2, constant=(1.0, 0.5)),
    ),
    classes=("old", "new"),
    target="author",
)


def example() -> GraphBatch:
    """Author - paper -> paper, and a venue, with features."""
    batch = batch_of(SCHEMA, [0, 1, 1, 2], {(0, 1): 1, (1, 2): 2}, labels={0: 1})
    tables = {"author": torch.tensor([[0.0, 1.0], [1.0, 1.0]]), "paper": torch.tensor([[0.5], [1.5], [2.5]])}
    return replace(batch, row=torch.tensor([[1, 2, 0, 17]]), tables=tables)


def content(batch: GraphBatch, number: int) -> tuple:
    """All that one graph says, independent of padding and of how tables are stored."""
    nodes = batch.mask[number].nonzero()[:, 0].tolist()
    return (
        [int(batch.node_type[number, node]) for node in nodes],
        sorted(arcs_of(batch, number)),
        [int(batch.label[number, node]) for node in nodes],
        int(batch.graph_label[number]),
        [row_of(batch, number, node) for node in nodes],
    )


def contents(batch: GraphBatch) -> list[tuple]:
    return [content(batch, number) for number in range(len(batch))]


# -- the promises -------------------------------------------------------------------------------------


@PROPERTY
@given(batches())
def test_good_batches_pass_the_check(batch: GraphBatch) -> None:
    assert batch.check() is batch


def broken(**cells: Any) -> GraphBatch:
    """The example with some entries overwritten: broken(edge={(0, 1): 7})."""
    batch = example()
    for name, entries in cells.items():
        tensor = getattr(batch, name).clone()
        for place, value in entries.items():
            tensor[(0, *place)] = value
        batch = replace(batch, **{name: tensor})
    return batch


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"node_type": {(3,): 3}}, "an unknown node type"),
        ({"node_type": {(3,): -2}}, "an unknown node type"),
        ({"edge": {(1, 2): 3}}, "an unknown relation"),
        ({"edge": {(1, 2): -1}}, "an unknown relation"),
        ({"node_type": {(2,): -1}, "label": {}}, "an edge on padding"),
        ({"edge": {(1, 1): 2}}, "a self-loop"),
        ({"edge": {(1, 0): 0}}, "an undirected edge in one direction only"),
        ({"edge": {(0, 3): 1, (3, 0): 1}}, "a relation between types that the metagraph does not join"),
        ({"edge": {(0, 1): 2, (1, 0): 0}}, "a relation between types that the metagraph does not join"),
        ({"label": {(0,): 2}}, "a label outside the classes"),
        ({"label": {(0,): -2}}, "a label outside the classes"),
        ({"graph_label": {(): 2}}, "a label outside the classes"),
        ({"label": {(1,): 0}}, "a label on a node that is not of the target type"),
        ({"row": {(0,): 2}}, "a row that its feature table does not have"),
        ({"row": {(1,): -1}}, "a row that its feature table does not have"),
        ({"row": {(2,): 3}}, "a row that its feature table does not have"),
    ],
)
def test_every_broken_promise_is_found(cells: dict[str, Any], problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        broken(**cells).check()


def test_the_example_of_broken_promises_is_whole() -> None:
    example().check()


def test_several_broken_promises_are_all_named() -> None:
    with pytest.raises(SchemaError, match="a self-loop and a label outside the classes"):
        broken(edge={(1, 1): 2}, label={(0,): 5}).check()


@pytest.mark.parametrize("name", ["edge", "label", "graph_label", "row"])
def test_shapes_are_checked_at_once(name: str) -> None:
    with pytest.raises(SchemaError, match=rf"GraphBatch\.{name} has shape"):
        replace(example(), **{name: torch.zeros(1, 9, dtype=torch.long)})


def test_widths_of_tables_are_checked_at_once() -> None:
    with pytest.raises(SchemaError, match=r"table of 'author' has shape \(2, 3\); it needs 2 columns"):
        replace(example(), tables={"author": torch.zeros(2, 3)})


# -- content ------------------------------------------------------------------------------------------


@PROPERTY
@given(batches())
def test_features_come_in_order_of_graph_and_position(batch: GraphBatch) -> None:
    for code, name in enumerate(batch.schema.node_types):
        places = (batch.node_type == code).nonzero().tolist()
        expected = [row_of(batch, number, node) for number, node in places]
        assert batch.features(name).tolist() == expected


def test_constant_features_may_be_written_to() -> None:
    x = batch_of(SCHEMA, [2, 2], {}).features("venue")
    x[0] += 1
    assert x.tolist() == [[2.0, 1.5], [1.0, 0.5]]


def test_features_that_are_not_filled_in_are_named() -> None:
    with pytest.raises(SchemaError, match="features of 'author' are not filled in yet"):
        example().without_features().features("author")


def test_a_type_without_nodes_has_no_rows_even_before_it_is_filled() -> None:
    batch = batch_of(SCHEMA, [2], {})
    assert batch.features("author").shape == (0, 2)


@PROPERTY
@given(batches())
def test_masks_and_sizes(batch: GraphBatch) -> None:
    types = batch.node_type.tolist()
    assert batch.sizes.tolist() == [sum(code >= 0 for code in line) for line in types]
    target = batch.schema.target
    assert batch.target_mask.tolist() == [
        [code >= 0 and batch.schema.node_types[code] == target for code in line] for line in types
    ]


@PROPERTY
@given(batches(min_graphs=1))
def test_undirected_joins_whatever_an_arc_joins(batch: GraphBatch) -> None:
    for number in range(len(batch)):
        joined = {pair for _, u, v in arcs_of(batch, number) for pair in ((u, v), (v, u))}
        assert {tuple(pair) for pair in batch.undirected[number].nonzero().tolist()} == joined


def test_without_features_keeps_the_structure_only() -> None:
    batch = example().without_features()
    assert batch.tables == {}
    assert (batch.row == PADDING).all()
    assert torch.equal(batch.edge, example().edge)
    assert torch.equal(batch.label, example().label)


# -- selecting ----------------------------------------------------------------------------------------


@PROPERTY
@given(batches(min_graphs=1), st.data())
def test_selecting_graphs(batch: GraphBatch, data: st.DataObject) -> None:
    index = data.draw(st.lists(st.integers(-len(batch), len(batch) - 1), max_size=4))
    every = contents(batch)
    expected = [every[i] for i in index]
    assert contents(batch[index]) == expected
    assert contents(batch[torch.tensor(index, dtype=torch.long)]) == expected
    assert contents(batch[np.array(index, dtype=np.int64)]) == expected


@PROPERTY
@given(batches(min_graphs=1), st.data())
def test_selecting_by_slice_and_by_flags(batch: GraphBatch, data: st.DataObject) -> None:
    start, stop = data.draw(st.integers(0, len(batch))), data.draw(st.integers(0, len(batch)))
    assert contents(batch[start:stop]) == contents(batch)[start:stop]
    flags = data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)))
    kept = [one for one, flag in zip(contents(batch), flags, strict=True) if flag]
    assert contents(batch[torch.tensor(flags)]) == kept


@pytest.mark.parametrize("index", [1, -1, np.int64(1), torch.tensor(1)])
def test_selecting_one_graph(index: Any) -> None:
    batch = random_batch(SCHEMA, [3, 4], np.random.default_rng(0))
    assert contents(batch[index]) == contents(batch)[1:]


@PROPERTY
@given(batches(min_graphs=1))
def test_a_selection_is_trimmed_to_its_largest_graph(batch: GraphBatch) -> None:
    for number in range(len(batch)):
        assert batch[number].node_type.size(1) == int(batch.sizes[number])


def test_trimming_keeps_nodes_behind_padding() -> None:
    batch = example().permute(torch.tensor([[3, 2, 1, 0]]))
    hole = replace(batch, node_type=torch.tensor([[-1, 1, 1, 0]]), label=batch.label, row=batch.row)
    assert hole[0].node_type.tolist() == [[-1, 1, 1, 0]]


def test_iterating_gives_every_graph() -> None:
    batch = random_batch(SCHEMA, [3, 4, 0], np.random.default_rng(0))
    assert [content(one, 0) for one in batch] == contents(batch)


def test_a_graph_that_is_not_there() -> None:
    with pytest.raises(IndexError):
        example()[1]


def test_selecting_copies_no_features() -> None:
    batch = example()
    assert batch[[0, 0]].tables["author"] is batch.tables["author"]


# -- joining ------------------------------------------------------------------------------------------


@PROPERTY
@given(st.data())
def test_joining(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    drawn = data.draw(st.lists(batches(schema), min_size=1, max_size=3))
    joined = GraphBatch.cat(drawn)
    assert contents(joined) == [one for batch in drawn for one in contents(batch)]


@PROPERTY
@given(batches(min_graphs=1))
def test_joining_the_parts_gives_the_whole(batch: GraphBatch) -> None:
    joined = GraphBatch.cat([batch[number] for number in range(len(batch))])
    assert contents(joined) == contents(batch)
    for name, table in batch.tables.items():
        assert joined.tables[name] is table  # shared, not repeated


def test_nothing_to_join() -> None:
    with pytest.raises(SchemaError, match="nothing to join"):
        GraphBatch.cat([])


def test_joining_different_schemas() -> None:
    with pytest.raises(SchemaError, match="one schema"):
        GraphBatch.cat([example(), replace(example(), schema=replace(SCHEMA, classes=("x", "y")))])


def test_joining_filled_and_unfilled_graphs() -> None:
    with pytest.raises(SchemaError, match="Some batches have features of 'author' and some have none"):
        GraphBatch.cat([example(), example().without_features()])


def test_joining_structures_keeps_their_row_numbers() -> None:
    one = replace(example(), tables={})
    assert GraphBatch.cat([one, one]).row.tolist() == one.row.tolist() * 2


# -- reordering ---------------------------------------------------------------------------------------


@PROPERTY
@given(batches(), st.integers(0, 2**32 - 1))
def test_permuting_relabels_nodes(batch: GraphBatch, seed: int) -> None:
    count, size = batch.node_type.shape
    order = torch.from_numpy(np.random.default_rng(seed).permuted(np.tile(np.arange(size), (count, 1)), axis=1))
    moved = batch.permute(order).check()
    for number in range(count):
        place = {int(old): new for new, old in enumerate(order[number])}
        arcs = [(edge_type, place[u], place[v]) for edge_type, u, v in arcs_of(batch, number)]
        assert sorted(arcs_of(moved, number)) == sorted(arcs)
        for old, new in place.items():
            for name in ("node_type", "label", "row"):
                assert getattr(moved, name)[number, new] == getattr(batch, name)[number, old]


@PROPERTY
@given(batches(), st.integers(0, 2**32 - 1))
def test_permuting_there_and_back_again(batch: GraphBatch, seed: int) -> None:
    count, size = batch.node_type.shape
    order = torch.from_numpy(np.random.default_rng(seed).permuted(np.tile(np.arange(size), (count, 1)), axis=1))
    again = batch.permute(order).permute(order.argsort(1))
    assert all(torch.equal(getattr(again, name), getattr(batch, name)) for name in FIELDS)


@PROPERTY
@given(batches())
def test_without_labels_nothing_else_is_gone(batch: GraphBatch) -> None:
    before = contents(batch)
    shown = batch.without_labels().check()
    assert bool((shown.label == -1).all() & (shown.graph_label == -1).all())
    for name in ("node_type", "edge", "row"):
        assert torch.equal(getattr(shown, name), getattr(batch, name))
    assert shown.tables == batch.tables
    assert contents(batch) == before  # the batch itself keeps its labels


# -- files --------------------------------------------------------------------------------------------


@PROPERTY
@given(batches())
def test_save_and_load(tmp_path_factory: pytest.TempPathFactory, batch: GraphBatch) -> None:
    path = tmp_path_factory.getbasetemp() / "batch.safetensors"
    batch.save(path)
    loaded = GraphBatch.load(path).check()
    assert loaded.schema == batch.schema
    assert contents(loaded) == contents(batch)
    for name in ("node_type", "edge", "label", "graph_label"):
        assert torch.equal(getattr(loaded, name), getattr(batch, name))


@PROPERTY
@given(batches())
def test_row_numbers_of_structures_survive(tmp_path_factory: pytest.TempPathFactory, batch: GraphBatch) -> None:
    path = tmp_path_factory.getbasetemp() / "structure.safetensors"
    replace(batch, tables={}).save(path)
    loaded = GraphBatch.load(path)
    assert torch.equal(loaded.row, batch.row)
    assert loaded.tables == {}


def test_only_rows_in_use_are_saved(tmp_path: Path) -> None:
    example().save(tmp_path / "a.safetensors")
    loaded = GraphBatch.load(tmp_path / "a.safetensors")
    assert {name: table.tolist() for name, table in loaded.tables.items()} == {
        "author": [[1.0, 1.0]],
        "paper": [[0.5], [2.5]],
    }


def test_a_selection_can_be_saved(tmp_path: Path) -> None:
    batch = random_batch(SCHEMA, [5, 3, 4], np.random.default_rng(1))
    batch[1:].save(tmp_path / "a.safetensors")
    assert contents(GraphBatch.load(tmp_path / "a.safetensors")) == contents(batch)[1:]


def test_another_file_is_no_batch(tmp_path: Path) -> None:
    save_tensors(tmp_path / "a.safetensors", {"a": torch.zeros(1)}, {"format": "something else"})
    with pytest.raises(RunFolderError, match="something else"):
        GraphBatch.load(tmp_path / "a.safetensors")


def test_a_file_that_lacks_a_tensor_is_damaged(tmp_path: Path) -> None:
    metadata = {"format": "dignn.GraphBatch.1", "schema": plain_schema().to_json()}
    save_tensors(tmp_path / "a.safetensors", {"edge": torch.zeros(1, 0, 0)}, metadata)
    with pytest.raises(RunFolderError, match="damaged"):
        GraphBatch.load(tmp_path / "a.safetensors")


@pytest.mark.parametrize(
    ("part", "put", "told"),
    [
        ("author.count", None, "lacks table.author.count"),
        ("author.column", None, "lacks table.author.column"),
        ("author.value", None, "lacks table.author.value"),
        ("paper.dense", None, "lacks the features of 'paper'"),
        ("author.value", torch.tensor([1.0, torch.nan]), "table.author.value holds values that are no numbers"),
        ("paper.dense", torch.tensor([[0.5], [torch.inf]]), "table.paper.dense holds values that are no numbers"),
        ("author.column", torch.tensor([0, -1]), "do not fit each other"),
        ("author.value", torch.tensor([1.0]), "do not fit each other"),
        ("author.count", torch.tensor([1]), "do not fit each other"),
    ],
)
def test_a_damaged_table_is_named(part: str, put: torch.Tensor | None, told: str, tmp_path: Path) -> None:
    tensors = example().packed()
    assert f"table.{part}" in tensors
    del tensors[f"table.{part}"]
    if put is not None:
        tensors[f"table.{part}"] = put
    metadata = {"format": "dignn.GraphBatch.1", "schema": SCHEMA.to_json()}
    save_tensors(tmp_path / "a.safetensors", tensors, metadata)
    with pytest.raises(RunFolderError, match=f"is damaged .*{told}"):
        GraphBatch.load(tmp_path / "a.safetensors")


# -- evenly spread numbers ----------------------------------------------------------------------------


def test_spread() -> None:
    assert spread(0, 5) == []
    assert spread(3, 5) == [0, 1, 2]
    assert spread(9, 3) == [0, 4, 8]
    assert spread(7, 1) == [0]


@PROPERTY
@given(st.integers(0, 500), st.integers(0, 500))
def test_spread_is_even_and_has_as_many_numbers_as_there_can_be(count: int, most: int) -> None:
    numbers = spread(count, most)
    assert len(numbers) == min(count, most)
    assert all(0 <= number < count for number in numbers)
    if len(numbers) > 1:
        steps = np.diff(numbers)
        assert (numbers[0], numbers[-1]) == (0, count - 1)
        assert steps.min() >= 1
        assert steps.max() - steps.min() <= 1
