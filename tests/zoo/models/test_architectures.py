"""Properties that every model to explain has: batches, node order, missing types, masks."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.explain.algorithm.utils import clear_masks, set_hetero_masks, set_masks
from torch_geometric.nn import HANConv as PyGHANConv
from torch_geometric.nn import SAGEConv

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import to_disjoint
from dignn.graphs.feature_spec import FeatureSpec
from dignn.graphs.schema import Relation, Schema
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.registry import load
from dignn.zoo.models import layers
from dignn.zoo.models.architectures import GCN, HAN, HeteroSAGE, MotifGNN, build
from dignn.zoo.models.layers import Encoder, HANConv, cheaper_layout, key
from dignn.zoo.models.recipes import FORMS, arguments, in_form, recipe
from dignn.zoo.models.settings import Form


def _graphs(name: str, count: int = 4) -> GraphBatch:
    dataset = load(name)
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (6, 9, 12), count, seed=Seed(1))


@pytest.fixture(scope="module")
def hetero() -> GraphBatch:
    return _graphs("planted")


@pytest.fixture(scope="module")
def homogeneous() -> GraphBatch:
    return _graphs("ba-shapes")


HETERO: dict[str, dict[str, Any]] = {
    "HeteroSAGE": {},
    "HeteroSAGE-sum": {"aggregations": ["mean", "sum"], "norm": True, "layers": 3},
    "HAN": {"heads": 4},
}


def _hetero_model(schema: Schema, kind: str) -> nn.Module:
    torch.manual_seed(0)
    given = {
        "widths": {name: schema.spec(name).width for name in schema.node_types},
        "edge_types": [list(edge_type) for edge_type in schema.edge_types],
        "target": schema.target,
        "classes": schema.num_classes,
        "hidden": 16,
        "unit_rows": ["author"],
    }
    return build(kind.split("-")[0], given | HETERO[kind]).eval()


HOMOGENEOUS = {
    "GCN": lambda pooling: GCN(1, 3, hidden=8, pooling=pooling),
    "MotifGNN": lambda pooling: MotifGNN(1, 3, hidden=8, pooling=pooling),
}


def _homogeneous_model(kind: str, pooling: str | None) -> nn.Module:
    torch.manual_seed(0)
    return HOMOGENEOUS[kind](pooling).eval()


def _score(model: nn.Module, graphs: GraphBatch) -> Tensor:
    data = to_disjoint(graphs)
    if isinstance(data, HeteroData):
        return model(data.x_dict, data.edge_index_dict, data.batch_dict).detach()
    return model(data.x, data.edge_index, data.batch).detach()


# -- batches and node order ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HETERO)
def test_a_batch_gives_each_hetero_graph_what_it_gets_alone(hetero: GraphBatch, kind: str) -> None:
    model = _hetero_model(hetero.schema, kind)
    alone = [_score(model, hetero[number]) for number in range(len(hetero))]
    torch.testing.assert_close(_score(model, hetero), torch.cat(alone), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("pooling", [None, "mean", "sum", "max", "mean+sum"])
@pytest.mark.parametrize("kind", HOMOGENEOUS)
def test_a_batch_gives_each_graph_what_it_gets_alone(homogeneous: GraphBatch, kind: str, pooling: str | None) -> None:
    model = _homogeneous_model(kind, pooling)
    alone = []
    for number in range(len(homogeneous)):
        data = to_disjoint(homogeneous[number])
        alone.append(model(data.x, data.edge_index).detach())  # and no batch vector means one graph
    torch.testing.assert_close(_score(model, homogeneous), torch.cat(alone), atol=1e-5, rtol=1e-4)


def _shuffled(graphs: GraphBatch) -> tuple[GraphBatch, Tensor]:
    """Each graph with its own nodes in another order, padding last; and the order."""
    noise = torch.rand(graphs.node_type.shape, generator=torch.Generator().manual_seed(3))
    order = noise.masked_fill(~graphs.mask, 2.0).argsort(1)
    return graphs.permute(order), order


@pytest.mark.parametrize("kind", [*HETERO, *HOMOGENEOUS])
def test_node_scores_follow_the_nodes(hetero: GraphBatch, homogeneous: GraphBatch, kind: str) -> None:
    graphs = homogeneous if kind in HOMOGENEOUS else hetero
    model = _homogeneous_model(kind, None) if kind in HOMOGENEOUS else _hetero_model(graphs.schema, kind)
    shuffled, order = _shuffled(graphs)

    def placed(batch: GraphBatch) -> Tensor:
        scores = _score(model, batch)
        out = torch.zeros(*batch.node_type.shape, scores.size(1))
        out[batch.target_mask] = scores
        return out

    expected = placed(graphs).gather(1, order[:, :, None].expand(-1, -1, placed(graphs).size(2)))
    torch.testing.assert_close(placed(shuffled), expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", HOMOGENEOUS)
def test_graph_scores_do_not_depend_on_node_order(homogeneous: GraphBatch, kind: str) -> None:
    model = _homogeneous_model(kind, "mean")
    torch.testing.assert_close(
        _score(model, _shuffled(homogeneous)[0]), _score(model, homogeneous), atol=1e-5, rtol=1e-4
    )


# -- what a graph may lack ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HETERO)
def test_types_and_relations_may_be_missing(hetero: GraphBatch, kind: str) -> None:
    model = _hetero_model(hetero.schema, kind)
    data = to_disjoint(hetero)
    authors = data["author"].x
    empty = {name: torch.zeros(0, x.size(1)) for name, x in data.x_dict.items()} | {"author": authors}
    no_edges = {edge_type: torch.zeros(2, 0, dtype=torch.long) for edge_type in data.edge_types}
    with_empty = model(empty, no_edges)
    assert with_empty.shape == (len(authors), hetero.schema.num_classes)
    assert torch.isfinite(with_empty).all()
    torch.testing.assert_close(model({"author": authors}, {}), with_empty)
    assert model({"author": authors[:0]}, {}, {"author": torch.zeros(0, dtype=torch.long)}).shape == (0, 4)


@pytest.mark.parametrize("kind", HETERO)
def test_a_type_without_features_is_counted_from_the_batch_or_the_edges(hetero: GraphBatch, kind: str) -> None:
    schema = hetero.schema
    bare = replace(
        schema,
        features=tuple(
            s if n == "author" else FeatureSpec() for n, s in zip(schema.node_types, schema.features, strict=True)
        ),
    )
    model = _hetero_model(bare, kind)
    data = to_disjoint(replace(hetero[0], schema=bare, tables={"author": hetero.tables["author"]}))
    assert set(data.x_dict) == {"author"}
    one = model(data.x_dict, data.edge_index_dict)
    torch.testing.assert_close(model(data.x_dict, data.edge_index_dict, data.batch_dict), one)


@pytest.mark.parametrize("pooling", [None, "mean"])
@pytest.mark.parametrize("kind", HOMOGENEOUS)
def test_a_graph_without_edges_has_finite_scores(kind: str, pooling: str | None) -> None:
    model = _homogeneous_model(kind, pooling)
    scores = model(torch.ones(4, 1), torch.zeros(2, 0, dtype=torch.long))
    assert scores.shape == (1 if pooling else 4, 3)
    assert torch.isfinite(scores).all()
    assert len(model(torch.ones(0, 1), torch.zeros(2, 0, dtype=torch.long), torch.zeros(0, dtype=torch.long))) == 0


def test_a_graph_whose_nodes_are_alike_does_not_blow_up() -> None:
    cycle = torch.tensor([[0, 1, 2, 3, 4, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 0, 1, 2, 3, 4]])
    torch.manual_seed(0)
    model = _homogeneous_model("MotifGNN", None)
    norm = model.norms[0]
    norm.mean_scale.data.fill_(0.9)
    x = torch.randn(1, len(norm.weight)).expand(5, -1)
    assert norm(x).abs().max() < 2 * x.abs().max()
    assert torch.isfinite(model(torch.ones(5, 1), cycle)).all()


def test_hetero_sage_has_no_weights_for_relations_that_cannot_reach_the_target(hetero: GraphBatch) -> None:
    model = _hetero_model(hetero.schema, "HeteroSAGE")
    assert set(model.layers[-1].convs.keys()) == {"paper__rev_writes__author"}
    assert "paper__mentions__term" not in model.layers[0].convs
    assert all(parameter.grad is not None for parameter in _with_gradients(model, hetero))


def _with_gradients(model: nn.Module, graphs: GraphBatch) -> list[Tensor]:
    data = to_disjoint(graphs)
    model(data.x_dict, data.edge_index_dict, data.batch_dict).square().sum().backward()
    return list(model.parameters())


# -- against PyTorch Geometric ------------------------------------------------------------------------


def test_a_model_leaves_the_layers_of_pytorch_geometric_as_they_are(hetero: GraphBatch) -> None:
    """A class's ``propagate`` is compiled for its first object: one with several aggregations cannot be fused."""
    model = _hetero_model(hetero.schema, "HeteroSAGE-sum")
    assert not any(type(layer) is SAGEConv for layer in model.modules())
    matrix = torch.eye(3).to_sparse()
    assert SAGEConv(3, 2)(torch.ones(3, 3), matrix).shape == (3, 2)


def test_han_equals_that_of_pytorch_geometric(hetero: GraphBatch) -> None:
    torch.manual_seed(0)
    data = to_disjoint(hetero)  # to PyTorch Geometric this is one graph
    theirs = PyGHANConv({name: x.size(1) for name, x in data.x_dict.items()}, 16, data.metadata(), heads=4)
    ours = HANConv(16, data.edge_types, heads=4)
    for edge_type in data.edge_types:
        ours.convs[key(edge_type)].source.data.copy_(theirs.lin_src[key(edge_type)])
        ours.convs[key(edge_type)].target.data.copy_(theirs.lin_dst[key(edge_type)])
    ours.lin.load_state_dict(theirs.k_lin.state_dict())
    ours.query.data.copy_(theirs.q)
    projected = {name: theirs.proj[name](x) for name, x in data.x_dict.items()}
    expected = theirs(data.x_dict, data.edge_index_dict)
    found = ours(projected, data.edge_index_dict)
    assert set(found) == {name for name, out in expected.items() if out is not None}
    for name, out in found.items():
        torch.testing.assert_close(out, expected[name])


@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.parametrize("unit_rows", [False, True])
def test_the_encoder_treats_sparse_and_dense_features_alike(unit_rows: bool) -> None:
    torch.manual_seed(0)
    x = torch.randn(20, 30) * (torch.rand(20, 30) < 0.2)
    x[3] = 0
    encoder = Encoder(30, 8, unit_rows)
    dense = encoder(x)
    assert torch.isfinite(dense).all()
    assert cheaper_layout(x).layout is torch.strided
    assert cheaper_layout(x * (torch.rand(20, 30) < 0.2)).layout is torch.sparse_csr
    torch.testing.assert_close(encoder(x.to_sparse_csr()), dense)
    if unit_rows:
        torch.testing.assert_close(encoder(7 * x), dense)


def test_a_constant_type_is_not_looked_at(hetero: GraphBatch) -> None:
    schema = hetero.schema
    given = arguments(replace(recipe(load("planted"), "paper"), constant=("venue",)), schema)
    model = build("HeteroSAGE", given).eval()
    data = to_disjoint(hetero)
    before = model(data.x_dict, data.edge_index_dict)
    torch.testing.assert_close(model(data.x_dict | {"venue": data["venue"].x + 5}, data.edge_index_dict), before)


# -- edge masks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HETERO)
def test_hetero_edge_masks_weigh_messages(hetero: GraphBatch, kind: str) -> None:
    model = _hetero_model(hetero.schema, kind)
    data = to_disjoint(hetero)
    plain = model(data.x_dict, data.edge_index_dict, data.batch_dict)
    masks = {edge_type: torch.ones(data[edge_type].num_edges, requires_grad=True) for edge_type in data.edge_types}
    set_hetero_masks(model, masks, data.edge_index_dict, apply_sigmoid=False)
    masked = model(data.x_dict, data.edge_index_dict, data.batch_dict)
    torch.testing.assert_close(masked, plain)
    masked.square().sum().backward()
    assert masks["paper", "rev_writes", "author"].grad.abs().max() > 0
    set_hetero_masks(
        model, {name: torch.zeros_like(mask) for name, mask in masks.items()}, data.edge_index_dict, apply_sigmoid=False
    )
    without = model(data.x_dict, data.edge_index_dict, data.batch_dict)
    clear_masks(model)
    torch.testing.assert_close(without, model(data.x_dict, {}, data.batch_dict))
    assert not torch.allclose(without, plain)


def test_edge_masks_reach_a_layer_whose_base_was_made_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a module of its own, where PyTorch Geometric has compiled nothing of it yet, but has compiled ``SAGEConv``."""
    SAGEConv(2, 2)
    spec = spec_from_file_location("layers_anew", layers.__file__)
    assert spec is not None
    assert spec.loader is not None
    anew = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, anew)  # where PyTorch Geometric looks for what annotations name
    spec.loader.exec_module(anew)
    layer, x, pairs = anew.RelationSAGE((2, 2), 2), torch.ones(3, 2), torch.tensor([[0, 1], [1, 2]])
    mask = torch.ones(2, requires_grad=True)
    set_masks(layer, mask, pairs, apply_sigmoid=False)
    layer((x, x), pairs).square().sum().backward()
    assert mask.grad is not None
    assert bool((mask.grad != 0).all())


@pytest.mark.parametrize("kind", HOMOGENEOUS)
def test_edge_masks_weigh_messages(homogeneous: GraphBatch, kind: str) -> None:
    model = _homogeneous_model(kind, None)
    data = to_disjoint(homogeneous)
    assert isinstance(data, Data)
    plain = model(data.x, data.edge_index, data.batch)
    for weight, same in ((1.0, True), (0.0, False)):
        set_masks(model, torch.full((data.num_edges,), weight), data.edge_index, apply_sigmoid=False)
        assert torch.allclose(model(data.x, data.edge_index, data.batch), plain, atol=1e-6) == same
        clear_masks(model)


# -- construction -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["planted", "ba-shapes", "tree-cycle", "tree-grids"])
def test_the_zoo_builds_a_model_for_every_generated_data_set(name: str, form: Form) -> None:
    dataset, form = in_form(load(name), form)
    chosen = recipe(dataset, form)
    assert build(chosen.architecture, arguments(chosen, dataset.schema)).head.out_features == dataset.schema.num_classes


def test_mistakes_are_named() -> None:
    with pytest.raises(DignnError, match="Unknown architecture 'GIN'"):
        build("GIN", {})
    with pytest.raises(DignnError, match="MotifGNN cannot be built"):
        build("MotifGNN", {"in_channels": 1})
    with pytest.raises(DignnError, match="Unknown pooling"):
        GCN(1, 2, pooling="median")
    edge_types = [["a", "to", "b"]]
    with pytest.raises(DignnError, match="do not divide"):
        HAN({"a": 1, "b": 1}, edge_types, "b", 2, hidden=10, heads=4)
    with pytest.raises(DignnError, match="No relation leads to 'a'"):
        HAN({"a": 1, "b": 1}, edge_types, "a", 2)
    with pytest.raises(DignnError, match="Unknown form"):
        recipe(load("planted"), "weak")  # type: ignore[arg-type]


def test_names_of_types_may_be_those_of_module_attributes() -> None:
    model = HeteroSAGE({"type": 2, "values": 3}, [["values", "to", "type"]], "type", 2)
    x_dict = {"type": torch.ones(2, 2), "values": torch.ones(1, 3)}
    assert model(x_dict, {("values", "to", "type"): torch.tensor([[0], [1]])}).shape == (2, 2)


def test_data_that_no_model_takes_is_refused() -> None:
    dataset = load("planted")
    with pytest.raises(DignnError, match="heterogeneous graphs as a whole"):
        recipe(replace(dataset, name="mine", schema=replace(dataset.schema, target=None, task=None)))
    shapes = load("ba-shapes")
    schema = Schema(
        ("node",), (Relation("node", "to", "node", "to"),), (FeatureSpec(),), ("a",), "node", shapes.schema.layout
    )
    with pytest.raises(DignnError, match="no node features"):
        arguments(recipe(shapes), schema)
