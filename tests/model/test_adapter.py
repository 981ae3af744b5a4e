"""The adapter: any model in, scores out, misfits refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn.functional import dropout
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GATConv, GCNConv, SAGEConv, to_hetero

from dignn.core.errors import ModelMismatchError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg, to_pyg
from dignn.graphs.inference import infer_schema
from dignn.graphs.tasks.classification import GraphClassification
from dignn.model.adapter import GNNAdapter
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from tiny_models import TinyGCN, TinyHetero


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


@pytest.fixture(scope="module")
def graphs(planted: Dataset) -> GraphBatch:
    return forest_fire(Adjacency.build(planted.data, planted.schema), range(10, 16), 4, seed=Seed(0))


@pytest.fixture(scope="module")
def molecules() -> tuple[list[Data], GraphBatch]:
    rng = torch.Generator().manual_seed(0)
    listed = []
    for number in range(6):
        size = 4 + number
        ring = torch.arange(size)
        index = torch.stack([ring, (ring + 1) % size])
        x = nn.functional.one_hot(torch.randint(3, (size,), generator=rng), 3).float()
        listed.append(Data(x=x, edge_index=torch.cat([index, index.flip(0)], 1), y=torch.tensor([number % 2])))
    schema = infer_schema(listed, type_names=("C", "N", "O"))
    return listed, from_pyg(listed, schema)


def test_scores_of_a_batch_are_those_of_each_graph_alone(planted: Dataset, graphs: GraphBatch) -> None:
    model = TinyHetero(planted.schema)
    scores = GNNAdapter(model, planted.schema).score(graphs)
    alone = [model(graph.x_dict, graph.edge_index_dict) for graph in to_pyg(graphs)]
    assert torch.allclose(scores.logits, torch.cat(alone), atol=1e-5)
    assert torch.equal(scores.graph, graphs.target_mask.nonzero()[:, 0])
    assert torch.equal(scores.node, graphs.target_mask.nonzero()[:, 1])


def test_scoring_in_chunks_changes_nothing(
    planted: Dataset, graphs: GraphBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = GNNAdapter(TinyHetero(planted.schema), planted.schema)
    whole = adapter.score(graphs)
    monkeypatch.setattr("dignn.model.adapter.CHUNK", 5)
    parts = adapter.score(graphs)
    assert torch.equal(whole.graph, parts.graph)
    assert torch.allclose(whole.logits, parts.logits, atol=1e-5)


def test_graph_classification_scores_every_graph_once(molecules: tuple[list[Data], GraphBatch]) -> None:
    listed, batch = molecules
    model = TinyGCN(3, 2, pool=True)
    scores = GNNAdapter(model, batch.schema).score(batch)
    alone = [model(graph.x, graph.edge_index, torch.zeros(len(graph.x), dtype=torch.long)) for graph in listed]
    assert torch.allclose(scores.logits, torch.cat(alone), atol=1e-5)
    assert scores.node.tolist() == [-1] * len(listed)


def test_homogeneous_node_classification_scores_every_node() -> None:
    data = Data(
        x=torch.rand(5, 3), edge_index=torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]), y=torch.tensor([0, 1, 0, 1, 1])
    )
    schema = infer_schema(data)
    model = TinyGCN(3, 2, pool=False)
    scores = GNNAdapter(model, schema).score(from_pyg(data, schema))
    assert torch.allclose(scores.logits, model(data.x, data.edge_index), atol=1e-6)


def test_embedding_is_what_the_head_sees(planted: Dataset, graphs: GraphBatch) -> None:
    model = TinyHetero(planted.schema)
    scores = GNNAdapter(model, planted.schema).score(graphs)
    assert scores.embedding.shape == (len(scores.graph), 8)
    assert torch.allclose(model.head(scores.embedding), scores.logits, atol=1e-5)


def test_embedding_is_found_behind_a_final_softmax(molecules: tuple[list[Data], GraphBatch]) -> None:
    class Softmaxed(TinyGCN):
        def forward(self, *args: torch.Tensor, **named: torch.Tensor) -> torch.Tensor:
            return super().forward(*args, **named).softmax(1)

        forward.__signature__ = __import__("inspect").signature(TinyGCN.forward)  # type: ignore[attr-defined]

    batch = molecules[1]
    plain = GNNAdapter(TinyGCN(3, 2, pool=True), batch.schema).score(batch)
    softmaxed = GNNAdapter(Softmaxed(3, 2, pool=True), batch.schema, return_type="probs").score(batch)
    assert softmaxed.embedding.shape[1] == 8
    assert torch.allclose(softmaxed.probability, plain.probability, atol=1e-6)


def test_a_model_without_linear_head_embeds_by_its_logits(molecules: tuple[list[Data], GraphBatch]) -> None:
    batch = molecules[1]

    def count_nodes(data: Data) -> torch.Tensor:
        size = torch.bincount(data.batch).float()
        return torch.stack([size, -size], dim=1)

    scores = GNNAdapter(count_nodes, batch.schema).score(batch)
    assert torch.equal(scores.embedding, scores.logits)
    assert torch.equal(scores.logits[:, 0], batch.sizes.float())


def test_log_odds_order_scores_whose_probability_is_one() -> None:
    from dignn.model.scores import Scores

    logits = torch.tensor([[60.0, 0.0, 1.0], [80.0, 0.0, 1.0], [1.0, 2.0, 3.0]])
    scores = Scores(torch.arange(3), torch.zeros(3), logits, logits, GraphClassification())
    assert scores.probability[0, 0] == scores.probability[1, 0] == 1.0
    assert scores.log_odds[1, 0] > scores.log_odds[0, 0]
    probability = scores.probability[2]
    assert torch.allclose(scores.log_odds[2], (probability / (1 - probability)).log())


def test_dropout_is_off_while_scoring_and_the_mode_comes_back(molecules: tuple[list[Data], GraphBatch]) -> None:
    class Dropping(TinyGCN):
        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
            return super().forward(dropout(x, 0.5, self.training), edge_index, batch)

    batch = molecules[1]
    model = Dropping(3, 2, pool=True).train()
    adapter = GNNAdapter(model, batch.schema)
    assert torch.equal(adapter.score(batch).logits, adapter.score(batch).logits)
    assert model.training
    assert model.conv.training


@pytest.mark.parametrize("conv", [GCNConv, SAGEConv, GATConv])
def test_edge_weight_zero_removes_an_edge_and_one_changes_nothing(
    conv: type[nn.Module], molecules: tuple[list[Data], GraphBatch]
) -> None:
    batch = molecules[1]

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv = conv(3, 2)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
            from torch_geometric.nn import global_add_pool

            return global_add_pool(self.conv(x, edge_index), batch)

    adapter = GNNAdapter(Model(), batch.schema)
    plain = adapter.score(batch).logits
    weight = torch.ones(batch.edge.shape)
    assert torch.allclose(adapter.score_weighted(batch, weight).logits, plain, atol=1e-6)
    weight = weight.requires_grad_()
    adapter.score_weighted(batch, weight).logits.sum().backward()
    assert weight.grad is not None
    assert bool((weight.grad[batch.edge > 0] != 0).any())
    assert bool((weight.grad[batch.edge == 0] == 0).all())
    zero = adapter.score_weighted(batch, torch.zeros(batch.edge.shape)).logits
    assert not torch.allclose(zero, plain, atol=1e-4)


def test_edge_weights_reach_every_relation_of_a_heterogeneous_model(planted: Dataset, graphs: GraphBatch) -> None:
    adapter = GNNAdapter(TinyHetero(planted.schema), planted.schema)
    weight = torch.ones(graphs.edge.shape, requires_grad=True)
    scores = adapter.score_weighted(graphs, weight)
    assert torch.allclose(scores.logits, adapter.score(graphs).logits, atol=1e-5)
    scores.logits.square().sum().backward()
    target = graphs.target_mask
    touching = (graphs.edge > 0) & (target[:, :, None] | target[:, None, :])
    assert weight.grad is not None
    assert float((weight.grad[touching] != 0).float().mean()) > 0.3


def test_edge_weights_do_not_stay(molecules: tuple[list[Data], GraphBatch]) -> None:
    batch = molecules[1]
    adapter = GNNAdapter(TinyGCN(3, 2, pool=True), batch.schema)
    before = adapter.score(batch).logits
    adapter.score_weighted(batch, torch.zeros(batch.edge.shape))
    assert torch.equal(adapter.score(batch).logits, before)


# -- how models are called ----------------------------------------------------------------------------


def test_models_made_by_to_hetero_are_understood(planted: Dataset, graphs: GraphBatch) -> None:
    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = SAGEConv((-1, -1), 8)
            self.head = nn.Linear(8, 4)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return self.head(self.conv(x, edge_index))

    model = to_hetero(Inner(), planted.schema.metadata)
    model(planted.data.x_dict, planted.data.edge_index_dict)
    adapter = GNNAdapter(model, planted.schema)
    adapter.check(graphs)
    assert adapter.score(graphs).logits.shape[1] == 4


def test_a_callable_with_one_parameter_gets_the_data(planted: Dataset, graphs: GraphBatch) -> None:
    def score(graph: HeteroData) -> dict[str, torch.Tensor]:
        return {"author": graph["author"].x[:, :4]}

    adapter = GNNAdapter(score, planted.schema, return_type="raw")
    adapter.check(graphs)
    assert torch.equal(adapter.score(graphs).logits, graphs.features("author")[:, :4])


def test_forward_says_how_to_call_a_model(planted: Dataset, graphs: GraphBatch) -> None:
    model = TinyHetero(planted.schema)
    adapter = GNNAdapter(model, planted.schema, forward=lambda model, data: model(data.x_dict, data.edge_index_dict))
    assert torch.equal(adapter.score(graphs).logits, GNNAdapter(model, planted.schema).score(graphs).logits)


def test_unknown_required_parameters_are_named(planted: Dataset, graphs: GraphBatch) -> None:
    class Odd(nn.Module):
        def forward(self, x_dict: dict, edge_index_dict: dict, weather: torch.Tensor) -> None: ...

    with pytest.raises(ModelMismatchError, match=r"needs weather, .*give forward="):
        GNNAdapter(Odd(), planted.schema).check(graphs)


# -- misfits ------------------------------------------------------------------------------------------


def test_wrong_feature_width_names_the_layer_and_the_columns(planted: Dataset, graphs: GraphBatch) -> None:
    model = TinyHetero(planted.schema)
    model.project["author"] = nn.Linear(7, 8)
    with pytest.raises(
        ModelMismatchError, match=r"'project.author' \(Linear from 7 to 8 columns\).*author 50, paper 60"
    ):
        GNNAdapter(model, planted.schema).check(graphs)


def test_unknown_edge_types_are_named(planted: Dataset, graphs: GraphBatch) -> None:
    model = TinyHetero(planted.schema)
    model.conv.convs["author__owns__paper"] = SAGEConv((8, 8), 8)
    with pytest.raises(ModelMismatchError, match=r"\('author', 'owns', 'paper'\), which the data does not have"):
        GNNAdapter(model, planted.schema).check(graphs)


def test_wrong_number_of_classes_is_named(planted: Dataset, graphs: GraphBatch) -> None:
    model = TinyHetero(planted.schema)
    model.head = nn.Linear(8, 3)
    with pytest.raises(ModelMismatchError, match=r"scores 3 classes, but the data has 4: database self-citer"):
        GNNAdapter(model, planted.schema).check(graphs)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda data: data["author"].x[:3, :4], r"returns 3 rows for \d+ nodes of type 'author'"),
        (lambda data: data["author"].x[:, 0], r"returns a tensor of shape \(\d+,\)"),
        (
            lambda data: {"paper": data["paper"].x[:, :4]},
            r"dictionary with \['paper'\], but no scores of nodes of",
        ),
        (lambda data: "yes", r"returns str"),
        (lambda data: data["author"].x[:, :4] * float("nan"), r"NaN"),
        (lambda data: torch.rand(data["author"].num_nodes, 4).add(5), r"differently each time"),
        (
            lambda data: torch.full((data["author"].num_nodes, 4), 0.25),
            r"return_type='probs' \(on the command line --return-type probs\)",
        ),
    ],
)
def test_what_a_model_may_not_return(planted: Dataset, graphs: GraphBatch, score: object, message: str) -> None:
    with pytest.raises(ModelMismatchError, match=message):
        GNNAdapter(score, planted.schema, return_type="raw").check(graphs)


def test_something_that_is_not_callable_is_refused(planted: Dataset) -> None:
    with pytest.raises(ModelMismatchError, match="The model is a dict"):
        GNNAdapter({}, planted.schema)


def test_a_model_that_mixes_graphs_is_scored_one_by_one(
    planted: Dataset, graphs: GraphBatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Mixing(TinyHetero):
        """Centres its scores over all nodes of the batch."""

        def forward(self, x_dict: dict, edge_index_dict: dict) -> torch.Tensor:
            scores = super().forward(x_dict, edge_index_dict)
            return scores - scores.mean(0)

    model = Mixing(planted.schema)
    adapter = GNNAdapter(model, planted.schema)
    adapter.check(graphs)
    assert adapter.one_by_one
    assert "one by one" in caplog.text
    alone = torch.cat([model(graph.x_dict, graph.edge_index_dict) for graph in to_pyg(graphs)])
    assert torch.allclose(adapter.score(graphs).logits, alone, atol=1e-5)


def test_graphs_without_a_target_node_have_no_scores(planted: Dataset, graphs: GraphBatch) -> None:
    without = graphs[:1]
    keep = (~without.target_mask[0]).nonzero()[:, 0]
    none = replace(
        without,
        node_type=without.node_type[:, keep],
        edge=without.edge[:, keep][:, :, keep],
        label=without.label[:, keep],
        row=without.row[:, keep],
    )
    adapter = GNNAdapter(TinyHetero(planted.schema), planted.schema)
    adapter.one_by_one = True
    mixed = GraphBatch.cat([graphs[:2], none, graphs[2:4]])
    scores = adapter.score(mixed)
    assert 2 not in scores.graph.tolist()
    assert torch.allclose(scores.logits, adapter.score(graphs[:4]).logits, atol=1e-6)
    assert len(adapter.score(none).graph) == 0


def test_a_failure_while_scoring_is_one_sentence_too(planted: Dataset, graphs: GraphBatch) -> None:
    class Fragile(TinyHetero):
        def forward(self, x_dict: dict, edge_index_dict: dict) -> torch.Tensor:
            if len(x_dict["author"]) > 20:
                raise RuntimeError("too many authors")
            return super().forward(x_dict, edge_index_dict)

    adapter = GNNAdapter(Fragile(planted.schema), planted.schema)
    adapter.check(graphs[:2])
    with pytest.raises(ModelMismatchError, match="too many authors"):
        adapter.score(graphs)


def test_a_model_that_never_saw_data_is_refused(planted: Dataset) -> None:
    with pytest.raises(ModelMismatchError, match="not trained"):
        GNNAdapter(SAGEConv(-1, 4), planted.schema)


def test_unknown_return_types_are_refused(planted: Dataset) -> None:
    with pytest.raises(ModelMismatchError, match="Unknown return_type 'prob'; choose from raw, probs, log_probs"):
        GNNAdapter(TinyHetero(planted.schema), planted.schema, return_type="prob")  # type: ignore[arg-type]


def test_relation_names_with_signs_fit_models_made_by_to_hetero() -> None:
    data = HeteroData()
    data["a"].x, data["b"].x, data["a"].y = torch.rand(4, 3), torch.rand(4, 2), torch.tensor([0, 1, 0, 1])
    data["a", "co-writes with", "b"].edge_index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    data["b", "rev:of", "a"].edge_index = torch.tensor([[1, 2, 3, 0], [0, 1, 2, 3]])
    schema = infer_schema(data, "a")

    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = SAGEConv((-1, -1), 2)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return self.conv(x, edge_index)

    model = to_hetero(Inner(), schema.metadata)
    model(data.x_dict, data.edge_index_dict)
    GNNAdapter(model, schema).check(from_pyg(data, schema))
