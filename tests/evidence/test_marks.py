"""Marks of other explainers: known answers, what PyTorch Geometric gives when it is asked itself, and agreement."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import Explainer, GNNExplainer, ModelConfig

from dignn.core.errors import DignnError, UnknownNameError
from dignn.core.json_types import restored
from dignn.core.seeds import Seed
from dignn.evidence import registry
from dignn.evidence.gathering import Evidence, gather
from dignn.evidence.marks import Marks, agreement, mark, random_agreement, summed_up
from dignn.evidence.registry import MARKED_BY, check_markers
from dignn.evidence.removal import Effect, Effects, removal_effects
from dignn.evidence.variants import Kind, Part
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg
from dignn.graphs.description import edges
from dignn.graphs.inference import infer_schema
from dignn.model.adapter import GNNAdapter
from evidence import planned
from tiny_models import TinyGCN, TinyHetero

BOTH = [
    "gnnexplainer",
    pytest.param("captum", marks=pytest.mark.skipif(not registry.available("captum"), reason="needs captum")),
]
SEED = Seed(0).child("marks")


def path(nodes: int = 5, label: int | None = None) -> Data:
    """Nodes in a row; a class each, or one of the graph."""
    here = torch.arange(nodes - 1)
    pairs = torch.stack([here, here + 1])
    x = torch.rand(nodes, 3, generator=torch.Generator().manual_seed(0)) + 0.5
    y = torch.arange(nodes) % 2 if label is None else torch.tensor([label])
    return Data(x=x, edge_index=torch.cat([pairs, pairs.flip(0)], 1), y=y)


def one(data: Data, model: object, *more: Data) -> tuple[GNNAdapter, GraphBatch]:
    schema = infer_schema([data, *more] if more else data)
    return GNNAdapter(model, schema), from_pyg([data], schema)


def marks_and_effects(
    name: str, adapter: GNNAdapter, graph: GraphBatch, node: int | None, seed: Seed = SEED
) -> tuple[Marks, Effects]:
    effects = removal_effects(adapter, graph, node, 1)
    return mark(name, adapter, graph, effects, seed), effects


def reads_the_marked(x: Tensor, edge_index: Tensor) -> Tensor:
    """Of each node the first column of neighbours whose last one is set, and nothing else."""
    source, target = edge_index
    score = torch.zeros(len(x)).index_add(0, target, 4 * x[source, 0] * x[source, 2])
    return torch.stack([torch.zeros_like(score), score], 1)


def effects_of(drops: list[float | None], node: int | None = None) -> Effects:
    found = tuple(Effect(Part(Kind.NODE, (v,)), drop, 0.5) for v, drop in enumerate(drops) if v != node)
    return Effects(1, node, 0.5, 0.0, found)


# -- known answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BOTH)
def test_of_a_model_that_reads_one_neighbour_that_one_is_marked(name: str) -> None:
    data = path()
    data.x[:, 2] = torch.eye(5)[1]
    adapter, graph = one(data, reads_the_marked)
    marks, effects = marks_and_effects(name, adapter, graph, 2)
    assert marks.edges is None  # it has no layers
    assert marks.nodes[1] is not None
    assert marks.nodes[1] > 0.1
    assert [marks.nodes[v] for v in (0, 2, 3, 4)] == [0, 0, 0, 0]
    assert effects.of(Kind.NODE)[0].part.nodes == (1,)
    assert marks.agreement == pytest.approx(1)
    assert marks.random is not None
    assert abs(marks.random) < 0.1
    assert marks.random_high is not None
    assert marks.random_high < 1


@pytest.mark.skipif(not registry.available("captum"), reason="needs captum")
def test_integrated_gradients_of_a_sum_are_its_terms() -> None:
    graph = planned.bibliography()
    marks, _ = marks_and_effects("captum", planned.adapter(), graph, 0)
    author, papers = graph.tables["author"][0] @ planned.AUTHOR, graph.tables["paper"] @ planned.PAPER
    term, venue = graph.tables["term"][0] @ planned.TERM, graph.tables["venue"][0] @ planned.VENUE
    assert marks.nodes == pytest.approx([float(author), *papers.tolist(), float(term), float(venue), 0.0], abs=1e-5)


@pytest.mark.parametrize("of_graphs", [False, True])
def test_marks_are_those_of_pytorch_geometric_asked_itself(of_graphs: bool) -> None:
    """On a homogeneous graph, where it can be asked without us."""
    model = TinyGCN(3, 2, pool=of_graphs).eval()
    data = path(label=0 if of_graphs else None)
    adapter, graph = one(data, model, *([path(label=1)] if of_graphs else []))
    marks, _ = marks_and_effects("gnnexplainer", adapter, graph, None if of_graphs else 2)
    level = ModelConfig(
        mode="multiclass_classification", task_level="graph" if of_graphs else "node", return_type="raw"
    )
    explainer = Explainer(model, GNNExplainer(), "phenomenon", level, "object", "object")
    order = (data.edge_index[0] * 5 + data.edge_index[1]).argsort()
    index = data.edge_index[:, order]
    with SEED.child("gnnexplainer").torch_globally():
        target = torch.ones(1 if of_graphs else 5, dtype=torch.long)
        given = {"batch": torch.zeros(5, dtype=torch.long)} if of_graphs else {"index": 2}
        direct = explainer(data.x, index, target=target, **given)
    assert marks.nodes == pytest.approx(direct.node_mask[:, 0].tolist(), abs=1e-3)
    known = dict(zip(map(tuple, index.T.tolist()), direct.edge_mask.tolist(), strict=True))
    assert marks.edges == pytest.approx([(known[u, v] + known[v, u]) / 2 for u, v, _ in edges(graph)], abs=1e-3)


# -- properties ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BOTH)
def test_heterogeneous_layers_are_marked_nodes_and_edges(name: str) -> None:
    adapter = GNNAdapter(TinyHetero(planned.SCHEMA), planned.SCHEMA)
    marks, _ = marks_and_effects(name, adapter, planned.bibliography(), 0)
    assert marks.edges is not None
    assert [bool(value) for value in marks.edges] == [True, True, False, False, False, False]  # one layer reaches two
    assert [bool(value) for value in marks.nodes] == [True, True, True, False, False, False]


def test_the_same_seed_gives_the_same_bits() -> None:
    adapter, graph = one(path(), TinyGCN(3, 2, pool=False))
    first, again, other = (
        marks_and_effects("gnnexplainer", adapter, graph, 2, seed)[0] for seed in (SEED, SEED, Seed(1))
    )
    assert first == again
    assert first.nodes != other.nodes
    torch.manual_seed(5)
    state = torch.random.get_rng_state()
    marks_and_effects("gnnexplainer", adapter, graph, 2)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_single_node_is_marked_and_compared_with_nothing() -> None:
    batch = planned.bibliography()
    lone = replace(
        batch,
        node_type=batch.node_type[:, :1],
        edge=batch.edge[:, :1, :1],
        label=batch.label[:, :1],
        row=batch.row[:, :1],
    )
    for adapter in (planned.adapter(), GNNAdapter(TinyHetero(planned.SCHEMA), planned.SCHEMA)):
        marks, _ = marks_and_effects("gnnexplainer", adapter, lone, 0)
        assert len(marks.nodes) == 1
        assert not marks.edges
        assert (marks.agreement, marks.random, marks.random_high) == (None, None, None)


def test_what_cannot_be_masked_has_no_mark() -> None:
    adapter, graph = one(path(), lambda x, edge_index: (x[:, :2] * 2).detach())
    marks, _ = marks_and_effects("gnnexplainer", adapter, graph, 2)
    assert marks == Marks((None,) * 5, None)


# -- agreement ----------------------------------------------------------------------------------------


def test_agreement_is_spearmans_correlation() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        marks, drops = rng.integers(0, 5, 9) / 4, rng.integers(-4, 4, 9) / 2  # with equal values
        if len(set(marks)) > 1 and len(set(drops)) > 1:
            assert agreement(marks.tolist(), effects_of(drops.tolist())) == pytest.approx(spearmanr(marks, drops)[0])


def test_the_classified_node_and_what_is_not_known_are_left_out() -> None:
    drops: list[float | None] = [3.0, 0.0, 1.0, 2.0, None, 9.0]
    marks = [0.0, 0.1, 0.2, 0.3, 0.4, None]
    assert agreement(marks, effects_of(drops, node=0)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("marks", "drops"),
    [
        ([0.1, 0.2], [1.0, 2.0]),  # two nodes agree or disagree entirely
        ([0.5, 0.5, 0.5], [1.0, 2.0, 3.0]),
        ([0.1, 0.2, 0.3], [0.0, 0.00001, 0.0]),  # sums in another order
        ([None, None, None], [1.0, 2.0, 3.0]),
        ([0.1, 0.2, 0.3], [None, None, 3.0]),
    ],
)
def test_where_nothing_can_be_compared_there_is_no_number(marks: list[float | None], drops: list[float | None]) -> None:
    assert agreement(marks, effects_of(drops)) is None
    assert random_agreement(marks, effects_of(drops), SEED) is None


def test_random_marks_have_the_spread_that_they_must_have() -> None:
    """Of n nodes the variance of the correlation is 1 / (n - 1)."""
    draws = random_agreement([0.1 * v for v in range(11)], effects_of([float(v) for v in range(11)]), SEED)
    assert draws is not None
    assert abs(draws.mean()) < 0.04
    assert draws.std() == pytest.approx(10**-0.5, rel=0.08)


def test_over_explanations_chance_shrinks() -> None:
    drops = effects_of([float(v) for v in range(6)])
    nodes = tuple(0.1 * v for v in range(6))
    several = [(Marks(nodes, None, 1.0, 0.0, 0.7), drops, SEED.child(number)) for number in range(16)]
    empty = (Marks((None,) * 6, None), drops, SEED)
    found = summed_up([*several, empty])
    assert found.agreement == pytest.approx(1)
    assert found.explanations == 16
    assert found.random_high is not None
    assert found.random_high == pytest.approx(1.645 * (5 * 16) ** -0.5, rel=0.2)
    assert summed_up([empty]).agreement is None


# -- names and files ----------------------------------------------------------------------------------


def test_names_are_checked_at_once() -> None:
    assert check_markers(["gnnexplainer", "gnnexplainer"]) == ("gnnexplainer",)
    assert {"gnnexplainer", "captum"} <= set(MARKED_BY)
    with pytest.raises(UnknownNameError, match="gnnexplainer"):
        check_markers(["gnnexplaner"])
    with pytest.raises(DignnError, match="marks is 'gnnexplainer'; give a list of names"):
        check_markers("gnnexplainer")


def test_a_package_that_is_missing_is_named() -> None:
    with (
        mock.patch.object(
            registry, "find_spec", lambda name: None if name == "captum" else importlib.util.find_spec(name)
        ),
        pytest.raises(DignnError, match=r"needs the package captum, .* pip install dignnexplainer\[captum\]"),
    ):
        check_markers(["captum"])


def test_as_json() -> None:
    graph = planned.bibliography()
    (evidence,) = gather(planned.adapter(), [(graph, 0, 1)], graph)
    assert "marks" not in evidence.to_json()  # as without
    marks = Marks((0.5, None), (0.25,), None, None, None)
    marked = replace(evidence, marks={"gnnexplainer": marks})
    assert Evidence.from_json(json.loads(json.dumps(marked.to_json(), allow_nan=False))) == marked
    assert Evidence.from_json(json.loads(json.dumps(evidence.to_json()))) == evidence
    with pytest.raises(TypeError, match="nodes"):
        restored(Marks, {**json.loads(json.dumps(marked.to_json()))["marks"]["gnnexplainer"], "nodes": ["a"]})
