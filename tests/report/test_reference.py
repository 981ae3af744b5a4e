"""What explanations are seen against: real features class by class, and that files give back what was saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

from dignn.core.errors import RunFolderError
from dignn.core.files import load_tensors, save_tensors
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Schema
from dignn.report.reference import DENSITY_BINS, DENSITY_COLUMNS, SHOWN, Reference, profiles
from dignn.sampling.division import divide
from dignn.zoo.datasets.registry import load
from small_runs import small_config


def authors_and_papers(width: int = 3) -> tuple[HeteroData, Schema]:
    """Authors with words, the last without a class, and papers with continuous columns, the last without author."""
    rng = np.random.default_rng(0)
    data = HeteroData()
    data["author"].x = torch.tensor([[1.0, 0, 1, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]])
    data["author"].y = torch.tensor([0, 0, 1, 1, -1])
    data["paper"].x = torch.from_numpy(rng.normal(size=(6, width))).float()
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 2, 0, 3, 4], [0, 1, 2, 3, 3, 4]])
    return data, infer_schema(data, "author", classes=("one", "two"))


def test_means_of_target_nodes_are_those_of_their_class() -> None:
    data, schema = authors_and_papers()
    found = profiles(Adjacency.build(data, schema))["author"]
    x = data["author"].x
    assert found.weight.tolist() == [2, 2, 5]
    assert torch.allclose(found.mean, torch.stack([x[:2].mean(0), x[2:4].mean(0), x.mean(0)]))
    assert torch.allclose(found.present, found.mean)  # of zeros and ones
    assert found.bounds is None
    assert found.share is None


def test_counts_and_signs_do_not_change_how_often_a_column_is_there() -> None:
    data, _ = authors_and_papers()
    data["author"].x = data["author"].x * torch.tensor([1.0, 7, 2, 3])
    found = profiles(Adjacency.build(data, infer_schema(data, "author")))["author"]
    assert found.present[2].tolist() == pytest.approx([0.6, 0.6, 0.4, 0.4])
    assert found.mean[2].tolist() == pytest.approx([0.6, 4.2, 0.8, 1.2])


def test_names_of_types_may_have_dots(tmp_path: Path) -> None:
    data = HeteroData()
    data["a"].num_nodes = 2
    data["a.b"].x, data["a.b"].y = torch.tensor([[1.0, 0], [0, 1], [1, 1]]), torch.tensor([0, 1, 1])
    data["a", "to", "a.b"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])
    known = Adjacency.build(data, infer_schema(data, "a.b"))
    graphs = known.induced([[0, 2], [1, 3]])
    Reference(graphs, graphs, profiles(known)).save(tmp_path / "file")
    assert Reference.load(tmp_path / "file").profiles.keys() == {"a.b"}


def test_other_nodes_count_for_the_classes_around_them() -> None:
    data, schema = authors_and_papers()
    found = profiles(Adjacency.build(data, schema))["paper"]
    x = data["paper"].x
    assert found.weight.tolist() == [2.5, 1.5, 6]  # paper 3 has an author of each class, 4 and 5 have none with one
    assert torch.allclose(found.mean[0], (x[0] + x[1] + x[3] / 2) / 2.5, atol=1e-6)
    assert torch.allclose(found.mean[1], (x[2] + x[3] / 2) / 1.5, atol=1e-6)
    assert torch.allclose(found.mean[2], x.mean(0), atol=1e-6)


def test_densities_are_weighted_histograms() -> None:
    data, schema = authors_and_papers()
    found = profiles(Adjacency.build(data, schema))["paper"]
    assert found.bounds is not None
    assert found.share is not None
    x = data["paper"].x.numpy()
    weights = {0: [1, 1, 0, 0.5, 0, 0], 1: [0, 0, 1, 0.5, 0, 0], 2: [1] * 6}
    for label, weight in weights.items():
        for column in range(3):
            expected, _ = np.histogram(x[:, column], found.bounds[1 + column].double().numpy(), weights=weight)
            assert np.allclose(found.share[label, 1 + column], expected / np.sum(weight), atol=1e-6)
        pooled, _ = np.histogram(x, found.bounds[0].double().numpy(), weights=np.repeat(weight, 3).reshape(6, 3))
        assert np.allclose(found.share[label, 0], pooled / (3 * np.sum(weight)), atol=1e-6)


def test_far_values_leave_room_for_the_others() -> None:
    data, _ = authors_and_papers()
    data["paper"].x = torch.cat([torch.linspace(0, 1, 2000)[:, None], torch.tensor([[1e6]])])
    found = profiles(Adjacency.build(data, infer_schema(data, "author")))["paper"]
    assert found.bounds is not None
    assert found.share is not None
    assert float(found.bounds.max()) < 2
    assert 0.99 < float(found.share[2, 0].sum()) < 1


def test_a_column_of_one_value_has_a_density() -> None:
    data, _ = authors_and_papers()
    data["paper"].x[:, 1] = 7.5
    found = profiles(Adjacency.build(data, infer_schema(data, "author")))["paper"]
    assert found.bounds is not None
    assert found.share is not None
    assert float(found.bounds[2, 0]) < 7.5 < float(found.bounds[2, -1])
    assert float(found.share[2, 2].sum()) == pytest.approx(1)


def test_very_many_continuous_columns_have_one_density() -> None:
    data, schema = authors_and_papers(DENSITY_COLUMNS + 1)
    found = profiles(Adjacency.build(data, schema))["paper"]
    assert found.bounds is not None
    assert found.bounds.shape == (1, DENSITY_BINS + 1)
    assert found.mean.shape == (3, DENSITY_COLUMNS + 1)


def test_a_class_that_nobody_has_is_zero_and_no_error() -> None:
    data, _ = authors_and_papers()
    schema = infer_schema(data, "author", classes=("one", "two", "three"))
    found = profiles(Adjacency.build(data, schema))["author"]
    assert found.weight[2] == 0
    assert not found.mean[2].any()


@pytest.fixture(scope="module")
def reference() -> Reference:
    dataset = load("planted")
    real = divide(dataset.data, dataset.schema, small_config(), Seed(0))
    real.sample()
    return Reference.gather(real.data, real.held_out, real.train)


def test_graphs_shown_are_few_and_of_all_sizes(reference: Reference) -> None:
    assert len(reference.generated) <= SHOWN
    assert set(reference.generated.sizes.tolist()) == {8, 9}


def same(one: GraphBatch, other: GraphBatch) -> bool:
    names = ("node_type", "edge", "label", "graph_label")
    tables = all(torch.equal(one.features(name), other.features(name)) for name in one.schema.node_types)
    return tables and all(torch.equal(getattr(one, name), getattr(other, name)) for name in names)


def test_files_give_back_what_was_saved(reference: Reference, tmp_path: Path) -> None:
    reference.save(tmp_path / "one")
    loaded = Reference.load(tmp_path / "one")
    assert same(loaded.real, reference.real)
    assert same(loaded.generated, reference.generated)
    assert loaded.profiles.keys() == reference.profiles.keys()
    for name, profile in reference.profiles.items():
        assert torch.equal(loaded.profiles[name].mean, profile.mean)
        assert (loaded.profiles[name].share is None) == (profile.share is None)
    loaded.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_profiles_under_other_names_are_not_passed_over(reference: Reference, tmp_path: Path) -> None:
    path = tmp_path / "backdrop.safetensors"
    reference.save(path)
    tensors, metadata = load_tensors(path, "dignn.Backdrop.1")
    save_tensors(path, {name.replace("profile.0", "profile.author"): x for name, x in tensors.items()}, metadata)
    with pytest.raises(RunFolderError, match="profiles of node types that there are not"):
        Reference.load(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("profile.0.mean", lambda value: value[:, 1:]),
        ("profile.2.share", lambda value: value[:1]),
        ("profile.0.weight", lambda value: value[0]),
        ("real.edge", lambda value: value[:, :-1]),
        ("generated.row", lambda value: value + 100_000),
        ("real.node_type", lambda value: value + 50),
        ("real.table.author.column", lambda value: value + 100_000),
        ("profile.0.mean", None),
        ("generated.label", None),
    ],
)
def test_a_damaged_file_is_named(reference: Reference, tmp_path: Path, name: str, change: object) -> None:
    path = tmp_path / "backdrop.safetensors"
    reference.save(path)
    tensors, metadata = load_tensors(path, "dignn.Backdrop.1")
    assert name in tensors
    value = tensors.pop(name)
    save_tensors(path, tensors if change is None else tensors | {name: change(value)}, metadata)  # type: ignore[operator]
    with pytest.raises(RunFolderError, match="backdrop.safetensors is damaged .*; delete it and run again"):
        Reference.load(path)
